//! Header validity: headers that can be valid at each point, and reads of headers that are not.

use super::header_set::{Bit, HeaderSet};
use super::possible::Possible;
use super::{Diag, papercut};
use crate::entity::EntityMap;
use crate::parser_unroll::{Successor, UnrolledParser};
use crate::{
    Action, ApplyArms, Block, Cond, CounterLoad, Expr, Field, Hash, Header, Home, Index, Intrinsic, Loc,
    Next, Operand, ParserOpKind, PrimitiveKind, Program, SelectKey, StmtKind, Table,
};
use sluice_asic::gress::Gress;

/// The headers of a gress.
pub(super) struct Validity<'p> {
    p: &'p Program,
    gress: Gress,
    bits: EntityMap<Header, Bit>,
    count: usize,
}

/// Result of following a parser.
pub(super) struct Parsed {
    /// Before the operations of each place.
    pub(super) before: Vec<Possible>,
    /// At the start of the control block.
    pub(super) end: Possible,
}

impl<'p> Validity<'p> {
    pub(super) fn new(p: &'p Program, gress: Gress) -> Self {
        let (mut bits, mut count) = (EntityMap::new(), 0);
        for data in p.headers.values() {
            let own = data.gress == gress;
            bits.push(own.then_some(count));
            count += usize::from(own);
        }
        Validity { p, gress, bits, count }
    }

    /// Returns the position of a header in sets.
    pub(super) fn bit(&self, h: Header) -> Bit {
        self.bits[h]
    }

    /// Returns the names of a set of headers.
    pub(super) fn names(&self, set: &HeaderSet) -> String {
        let inside = self.p.headers.iter().filter(|(h, _)| set.has(self.bits[*h]));
        inside.map(|(_, d)| d.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// Follows the places of a parser. Loops are followed until nothing new comes around.
    pub(super) fn parse(&self, unrolled: &UnrolledParser) -> Parsed {
        let p = self.p;
        let sees_errors = p.intrinsic(self.gress, Intrinsic::ParserErr).is_some();
        let before = vec![Possible::never(); unrolled.nodes.len()];
        let mut parsed = Parsed { before, end: Possible::never() };
        let none = Possible::one(HeaderSet::empty(self.count));
        match parsed.before.first_mut() {
            Some(first) => *first = none,
            None => parsed.go(Successor::End(p.pipe(self.gress).start), &none, sees_errors),
        }
        loop {
            let old = unrolled.is_bounded_by_packet().then(|| parsed.before.clone());
            self.pass(unrolled, &mut parsed, sees_errors);
            if old.is_none_or(|old| old == parsed.before) {
                return parsed;
            }
        }
    }

    fn pass(&self, unrolled: &UnrolledParser, parsed: &mut Parsed, sees_errors: bool) {
        let p = self.p;
        for (i, node) in unrolled.nodes.iter().enumerate() {
            let data = &p.states[node.config.state];
            let mut at = parsed.before[i].clone();
            let mut extracted = node.effect.extracted.iter();
            for op in &data.ops {
                let fails = match &op.kind {
                    ParserOpKind::Set(..)
                    | ParserOpKind::SetSlice(..)
                    | ParserOpKind::SetValid(..)
                    | ParserOpKind::VerifyChecksum(..)
                    | ParserOpKind::SubtractChecksum(..)
                    | ParserOpKind::SetCounter(CounterLoad::Const(_))
                    | ParserOpKind::PushCounter(CounterLoad::Const(_), _)
                    | ParserOpKind::PopCounter
                    | ParserOpKind::AddCounter(_) => false,
                    ParserOpKind::Extract(_)
                    | ParserOpKind::ExtractNext(_)
                    | ParserOpKind::Advance(_)
                    | ParserOpKind::Lookahead(..)
                    | ParserOpKind::SetCounter(_)
                    | ParserOpKind::PushCounter(..) => true,
                };
                if fails && sees_errors {
                    parsed.go(Successor::End(Next::Accept), &at, true);
                }
                match op.kind {
                    ParserOpKind::Extract(_) | ParserOpKind::ExtractNext(_) => {
                        let Some(&h) = extracted.next() else { break };
                        at = at.with(self.bit(h), true);
                    }
                    ParserOpKind::SetValid(h, valid) => at = at.with(self.bit(h), valid),
                    _ => {}
                }
            }
            if sees_errors && data.select.iter().any(|k| matches!(k, SelectKey::Lookahead(_))) {
                parsed.go(Successor::End(Next::Accept), &at, true);
            }
            for successor in &node.successors {
                parsed.go(*successor, &at, sees_errors);
            }
        }
    }
}

impl Parsed {
    fn go(&mut self, successor: Successor, at: &Possible, sees_errors: bool) {
        match successor {
            Successor::Node(n) => {
                let before = std::mem::replace(&mut self.before[n], Possible::never());
                self.before[n] = before.join(at);
            }
            Successor::End(Next::Reject) if !sees_errors => {}
            Successor::End(_) => self.end = self.end.clone().join(at),
        }
    }
}

/// Follows a gress through parser and control. Returns the headers that can be valid at its deparser, `None`
/// if the parser loops.
pub(super) fn check(p: &Program, gress: Gress, d: &mut Vec<Diag>) -> Option<Possible> {
    let unrolled = UnrolledParser::of(p, gress).ok()?;
    let validity = Validity::new(p, gress);
    let parsed = validity.parse(&unrolled);
    Some(Walk { p, v: &validity, d }.block(&p.pipe(gress).control, parsed.end))
}

pub(super) struct Walk<'w> {
    pub(super) p: &'w Program,
    pub(super) v: &'w Validity<'w>,
    pub(super) d: &'w mut Vec<Diag>,
}

impl Walk<'_> {
    fn block(&mut self, block: &Block, mut at: Possible) -> Possible {
        for stmt in block {
            if at.is_never() {
                let text = "no packet reaches this: the headers that the conditions above require are never valid together";
                self.d.push(Diag::warning(stmt.loc, text).help("remove the statement or fix the condition"));
                return at;
            }
            at = match &stmt.kind {
                StmtKind::Call(a) => self.action(*a, at),
                StmtKind::Apply(t, arms) => self.apply(*t, arms, &at, stmt.loc),
                StmtKind::If(cond, then, otherwise) => {
                    self.cond(cond, &at, stmt.loc);
                    let yes = self.assume(cond, true, &at);
                    let no = self.assume(cond, false, &at);
                    self.block(then, yes).join(&self.block(otherwise, no))
                }
            };
        }
        at
    }

    fn apply(&mut self, t: Table, arms: &ApplyArms, at: &Possible, loc: Loc) -> Possible {
        let p = self.p;
        let data = &p.tables[t];
        let who = format!("table `{}`", data.name);
        for key in &data.keys {
            if let Some(field) = key.field() {
                self.key(field, at, &data.name, loc);
            }
        }
        if let Some(s) = data.profile.and_then(|x| p.profiles[x].selector.as_ref()) {
            self.hash(s.hash, at, &who, loc);
        }
        let mut hit = Possible::never();
        let mut ran: Vec<(Action, Possible)> = Vec::new();
        // A table without keys always misses.
        for &a in data.actions.iter().filter(|_| !data.keys.is_empty()) {
            let after = self.action(a, at.clone());
            hit = hit.join(&after);
            ran.push((a, after));
        }
        let miss = self.action(data.default.action, at.clone());
        if arms.run.is_empty() {
            let hit = if hit.is_never() { hit } else { self.block(&arms.hit, hit) };
            return self.block(&arms.miss, miss).join(&hit);
        }
        match ran.iter_mut().find(|(a, _)| *a == data.default.action) {
            Some((_, after)) => *after = after.clone().join(&miss),
            None => ran.push((data.default.action, miss)),
        }
        let mut end = Possible::never();
        for (a, after) in ran {
            let arm = arms.run.iter().find(|(of, _)| *of == a);
            end = end.join(&arm.map_or_else(|| after.clone(), |(_, block)| self.block(block, after.clone())));
        }
        end
    }

    pub(super) fn action(&mut self, a: Action, mut at: Possible) -> Possible {
        let p = self.p;
        let data = &p.actions[a];
        let who = crate::words::subject(data);
        // All primitives read the PHV as it was before the action.
        let before = at.clone();
        for primitive in &data.body {
            match &primitive.kind {
                // A move of a stack also moves elements that are not valid.
                PrimitiveKind::Set(dst, Expr::Field(src)) if self.within_stack(*dst, *src) => {}
                PrimitiveKind::Set(_, value)
                | PrimitiveKind::SetSlice(.., value)
                | PrimitiveKind::DropCtl(_, value, _)
                | PrimitiveKind::Count(_, value) => {
                    self.expr(value, &before, &who, primitive.loc);
                }
                PrimitiveKind::CopyValid(to, from) => {
                    // No earlier primitive writes the source's bit.
                    let (to, from) = (self.v.bit(*to), self.v.bit(*from));
                    let of = |valid| at.assume(from, valid).with(to, valid);
                    at = of(true).join(&of(false));
                }
                PrimitiveKind::Hash(_, hash)
                | PrimitiveKind::HashSlice(_, hash, _)
                | PrimitiveKind::HashInto(.., hash, _) => self.hash(*hash, &before, &who, primitive.loc),
                PrimitiveKind::SetValid(h, valid) => at = at.with(self.v.bit(*h), *valid),
                PrimitiveKind::Register(access) => {
                    self.index(&access.index, &before, &who, primitive.loc);
                    for operand in self.p.register_actions[access.action].operands() {
                        match operand {
                            Operand::Phv(e) => self.expr(&e, &before, &who, primitive.loc),
                            Operand::Hash(hash) => self.hash(hash, &before, &who, primitive.loc),
                        }
                    }
                }
                PrimitiveKind::Meter(access) => {
                    self.index(&access.index, &before, &who, primitive.loc);
                    if let Some(input) = &access.input {
                        self.expr(input, &before, &who, primitive.loc);
                    }
                }
                PrimitiveKind::CountDirect(_)
                | PrimitiveKind::Drop(_)
                | PrimitiveKind::Random(..)
                | PrimitiveKind::SetMasked(..) => {}
            }
        }
        at
    }

    fn index(&mut self, index: &Index, at: &Possible, who: &str, loc: Loc) {
        match index {
            Index::At(e) => self.expr(e, at, who, loc),
            Index::Entry => {}
            Index::Hash(hash) => self.hash(*hash, at, who, loc),
        }
    }

    /// Checks reads of a condition. The second part of `&&` and `||` is read only if the first did not
    /// decide.
    fn cond(&mut self, cond: &Cond, at: &Possible, loc: Loc) {
        match cond {
            Cond::Cmp(_, a, b) => {
                self.expr(a, at, "a condition", loc);
                self.expr(b, at, "a condition", loc);
            }
            Cond::Valid(_) => {}
            Cond::Not(a) => self.cond(a, at, loc),
            Cond::And(a, b) | Cond::Or(a, b) => {
                self.cond(a, at, loc);
                let open = self.assume(a, matches!(cond, Cond::And(..)), at);
                if !open.is_never() {
                    self.cond(b, &open, loc);
                }
            }
        }
    }

    pub(super) fn assume(&self, cond: &Cond, truth: bool, at: &Possible) -> Possible {
        match cond {
            Cond::Cmp(..) => at.clone(),
            Cond::Valid(h) if self.v.bit(*h).is_none() => at.clone(),
            Cond::Valid(h) => at.assume(self.v.bit(*h), truth),
            Cond::Not(a) => self.assume(a, !truth, at),
            Cond::And(a, b) | Cond::Or(a, b) => {
                let both = matches!(cond, Cond::And(..));
                // `a || b` is false if both are false, as `a && b` is true if both are true.
                let open = self.assume(a, both, at);
                let through = self.assume(b, truth, &open);
                if truth == both { through } else { self.assume(a, !both, at).join(&through) }
            }
        }
    }

    fn expr(&mut self, e: &Expr, at: &Possible, who: &str, loc: Loc) {
        e.fields(&mut |f| self.read(f, at, who, loc));
    }

    fn hash(&mut self, hash: Hash, at: &Possible, who: &str, loc: Loc) {
        let data = &self.p.hashes[hash];
        let who = format!("{who} (hash `{}`)", data.name);
        for input in &data.inputs {
            self.expr(input, at, &who, loc);
        }
    }

    /// Returns true if both are the same field of elements of one stack.
    fn within_stack(&self, a: Field, b: Field) -> bool {
        let place = |f: Field| {
            let Home::Header(h) = self.p.fields[f].home else { return None };
            let (stack, _) = self.p.stack_of(h)?;
            Some((stack, self.p.headers[h].fields.iter().position(|x| *x == f)?))
        };
        place(a).is_some_and(|at| place(b) == Some(at))
    }

    /// Returns the header of a field, if it is a header of this gress.
    fn home(&self, f: Field) -> Option<(Header, Bit)> {
        let Home::Header(h) = self.p.fields[f].home else { return None };
        Some((h, self.v.bit(h))).filter(|(_, bit)| bit.is_some())
    }

    fn read(&mut self, f: Field, at: &Possible, who: &str, loc: Loc) {
        let Some((h, bit)) = self.home(f) else { return };
        let (name, header) = (&self.p.fields[f].name, &self.p.headers[h].name);
        if !at.may(bit) {
            let text = format!("`{name}` is read by {who} but header `{header}` is never valid here");
            let help = format!(
                "no parser path extracts `{header}` and reaches this, and no action makes it valid before"
            );
            self.d.push(Diag::error(loc, text).help(help).undefined());
        } else if !at.must(bit) {
            let text = format!("`{name}` is read by {who} where header `{header}` may be invalid");
            self.d.push(Diag::warning(loc, text).help(self.guard(at, bit, header)));
        }
    }

    /// Checks a key. A key of a header that may be invalid is legal: a validity column, or the value zero,
    /// tells the cases apart.
    fn key(&mut self, f: Field, at: &Possible, table: &str, loc: Loc) {
        let Some((h, bit)) = self.home(f) else { return };
        let (name, header) = (&self.p.fields[f].name, &self.p.headers[h].name);
        if !at.may(bit) {
            self.d.push(papercut::key_of_absent_header(name, table, header, loc));
        }
    }

    fn guard(&self, at: &Possible, bit: Bit, header: &str) -> String {
        let seen = at.example_without(bit).map_or(String::new(), |set| {
            format!("a packet with valid headers [{}] gets here; ", self.v.names(set))
        });
        format!("{seen}guard with `{header}.is_valid()`")
    }
}
