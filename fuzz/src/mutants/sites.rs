//! Sites of a program at which each mutation operator applies.

use super::edit::{Edit, parts, same_kind, statements};
use sluice_asic::alu::AluOp;
use sluice_asic::gress::Gress;
use sluice_exec::cover::Point;
use sluice_ir::verify::{has_errors, verify};
use sluice_ir::words;
use sluice_ir::{
    Action, ApplyArms, Block, CellStmtKind, Cond, Expr, Hash, Header, Index, KeySource, KeyValue, Next,
    Operand, ParserOp, ParserOpKind, PrimitiveKind, Profile, Program, RegisterAction, SelectKey, StmtKind,
    Table, list_header,
};

/// A mutation with the coverage points of its site.
#[derive(Clone, Debug, PartialEq)]
pub struct Mutant {
    /// Edit.
    pub edit: Edit,
    /// Site, in the program's names.
    pub site: String,
    /// Coverage points of the site: only packets that reach one of them can tell the mutant. Empty if none is known.
    pub needs: Vec<Point>,
}

/// Returns all mutants of a program that differ from it and that the verifier accepts, in program order, and the number of
/// mutants that it refuses.
#[must_use]
pub fn mutants(program: &Program) -> (Vec<Mutant>, usize) {
    some_mutants(program, usize::MAX)
}

/// Returns at most `most` mutants, spread evenly over the program, and the number of mutants that were refused on the way.
#[must_use]
pub fn some_mutants(program: &Program, most: usize) -> (Vec<Mutant>, usize) {
    let mut sites = Sites { p: program, list: Vec::new() };
    sites.parsers();
    sites.actions();
    for gress in Gress::ALL {
        sites.control(gress);
        sites.deparser(gress);
    }
    sites.tables();
    sites.registers();
    sites.hashes();
    let legal = |m: &Mutant| {
        let mutated = m.edit.apply(program);
        mutated != *program && !has_errors(&verify(&mutated))
    };
    let (mut left, mut kept, mut refused) =
        (sites.list.into_iter().enumerate().collect::<Vec<_>>(), vec![], 0);
    // Verifying all mutants of a large program takes long, so only as many as wanted are verified; others replace the
    // refused.
    while !left.is_empty() && kept.len() < most {
        let (all, want) = (left.len(), (most - kept.len()).min(left.len()));
        let takes = |n: usize| (n * want) / all != ((n + 1) * want) / all;
        let mut rest = Vec::new();
        for (n, (at, mutant)) in left.into_iter().enumerate() {
            if !takes(n) {
                rest.push((at, mutant));
            } else if legal(&mutant) {
                kept.push((at, mutant));
            } else {
                refused += 1;
            }
        }
        left = rest;
    }
    kept.sort_by_key(|(at, _)| *at);
    (kept.into_iter().map(|(_, mutant)| mutant).collect(), refused)
}

struct Sites<'p> {
    p: &'p Program,
    list: Vec<Mutant>,
}

impl Sites<'_> {
    fn add(&mut self, edit: Edit, site: String, needs: Vec<Point>) {
        self.list.push(Mutant { edit, site, needs });
    }

    fn parsers(&mut self) {
        let p = self.p;
        for (state, data) in p.states.iter() {
            let needs = || vec![Point::State(state)];
            let site = |what: &str| format!("{} parser state {}: {what}", data.gress, data.name);
            for (i, op) in data.ops.iter().enumerate() {
                if !matches!(op.kind, ParserOpKind::Extract(_) | ParserOpKind::ExtractNext(_)) {
                    self.add(Edit::DropParserOp(state, i), site(&format!("operation {i}")), needs());
                }
            }
            for (i, arm) in data.arms.iter().enumerate() {
                self.add(Edit::DropArm(state, i), site(&format!("arm {i}")), needs());
                for (k, (_, mask)) in arm.values.iter().enumerate() {
                    let counter =
                        matches!(data.select[k], SelectKey::CounterIsZero | SelectKey::CounterIsNegative);
                    if *mask != 0 && !counter {
                        self.add(Edit::ArmValue(state, i, k), site(&format!("arm {i} key {k}")), needs());
                    }
                }
            }
            if !matches!(data.default, Next::State(_)) {
                self.add(Edit::FlipDefault(state), site("default"), needs());
            }
        }
    }

    /// Returns the points at which an action runs.
    fn runs(&self, action: Action) -> Vec<Point> {
        let p = self.p;
        let of = |t: &Table| p.tables[*t].actions.contains(&action) || p.tables[*t].default.action == action;
        let tables = p.tables.keys().filter(of).map(|t| Point::Ran(Some(t), action));
        tables.chain([Point::Ran(None, action)]).collect()
    }

    /// Returns the points at which an action with such a primitive runs.
    fn doing(&self, does: impl Fn(&PrimitiveKind) -> bool) -> Vec<Point> {
        let all = self.p.actions.iter().filter(|(_, data)| data.body.iter().any(|p| does(&p.kind)));
        all.flat_map(|(action, _)| self.runs(action)).collect()
    }

    /// Returns the points at which a header becomes valid.
    fn valid(&self, gress: Gress, header: Header) -> Vec<Point> {
        let p = self.p;
        let takes = |op: &ParserOp| match &op.kind {
            ParserOpKind::Extract(h) | ParserOpKind::SetValid(h, true) => *h == header,
            ParserOpKind::ExtractNext(stack) => p.stacks[*stack].headers.contains(&header),
            _ => false,
        };
        let states = p.states.iter().filter(|(_, s)| s.gress == gress && s.ops.iter().any(takes));
        let set = self.doing(|kind| match kind {
            PrimitiveKind::SetValid(h, valid) => *h == header && *valid,
            PrimitiveKind::CopyValid(h, _) => *h == header,
            _ => false,
        });
        states.map(|(state, _)| Point::State(state)).chain(set).collect()
    }

    /// Returns the points at which a register action runs.
    fn accesses(&self, action: RegisterAction) -> Vec<Point> {
        self.doing(|kind| matches!(kind, PrimitiveKind::Register(access) if access.action == action))
    }

    /// Returns the points at which a hash is computed; empty if users other than actions and selectors compute it.
    fn hashed(&self, hash: Hash) -> Vec<Point> {
        let p = self.p;
        let at = |index: &Index| matches!(index, Index::Hash(h) if *h == hash);
        let inside =
            |action: RegisterAction| p.register_actions[action].operands().contains(&Operand::Hash(hash));
        let mut list = self.doing(|kind| match kind {
            PrimitiveKind::Hash(_, h)
            | PrimitiveKind::HashSlice(_, h, _)
            | PrimitiveKind::HashInto(.., h, _) => *h == hash,
            PrimitiveKind::Register(access) => at(&access.index) || inside(access.action),
            PrimitiveKind::Meter(access) => at(&access.index),
            _ => false,
        });
        let selects =
            |profile: &Profile| p.profiles[*profile].selector.as_ref().is_some_and(|s| s.hash == hash);
        let tables = p.tables.iter().filter(|(_, t)| t.profile.as_ref().is_some_and(selects));
        list.extend(tables.map(|(table, _)| Point::Hit(table)));
        list
    }

    fn actions(&mut self) {
        let p = self.p;
        for (action, data) in p.actions.iter() {
            for (i, primitive) in data.body.iter().enumerate() {
                // Names stand without quotes here, statements with them.
                let who = match words::unnamed(&data.name).filter(|_| !data.loc.text.is_empty()) {
                    Some(_) => words::subject(data),
                    None => format!("action {}", data.name),
                };
                let site = |what: &str| format!("{} {}: {what} {i}", data.gress, who);
                let needs = self.runs(action);
                self.add(Edit::DropPrimitive(action, i), site("primitive"), needs.clone());
                match &primitive.kind {
                    PrimitiveKind::Set(_, Expr::Const(..))
                    | PrimitiveKind::SetSlice(.., Expr::Const(..))
                    | PrimitiveKind::DropCtl(_, Expr::Const(..), _) => {
                        self.add(Edit::ConstOffByOne(action, i), site("constant of primitive"), needs);
                    }
                    PrimitiveKind::Set(_, Expr::Alu(AluOp::Add | AluOp::Sub, ..)) => {
                        self.add(Edit::SwapAlu(action, i), site("operation of primitive"), needs);
                    }
                    PrimitiveKind::SetValid(..) => {
                        self.add(Edit::FlipValid(action, i), site("validity of primitive"), needs);
                    }
                    PrimitiveKind::Drop(label) => {
                        let other = p.labels.keys().find(|l| l != label && same_kind(p, *l, *label));
                        if let Some(other) = other {
                            self.add(Edit::OtherLabel(action, i, other), site("reason of primitive"), needs);
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    fn control(&mut self, gress: Gress) {
        let p = self.p;
        let mut all = Vec::new();
        statements(&p.pipe(gress).control, &mut |stmt| all.push(stmt));
        let mut ways = Vec::new();
        ways_to(&p.pipe(gress).control, gress, None, &mut ways);
        for ((at, stmt), way) in all.into_iter().enumerate().zip(ways) {
            let node = sluice_ir::entity::Entity::new(at);
            match &stmt.kind {
                StmtKind::If(cond, ..) => {
                    let needs = || [true, false].map(|holds| Point::Branch(gress, node, holds)).to_vec();
                    let site = |what: &str| match &*stmt.loc.text {
                        "" => format!("{gress} condition, statement {at}{what}"),
                        text => format!("{gress} condition `{text}`{what}"),
                    };
                    self.add(Edit::Negate(gress, at), site(""), needs());
                    self.add(Edit::DropStatement(gress, at), site(""), needs());
                    for (n, part) in parts(cond).into_iter().enumerate() {
                        let site = || site(&format!(", part {n}"));
                        match part {
                            Cond::Cmp(_, _, Expr::Const(..)) => {
                                self.add(Edit::OtherComparison(gress, at, n), site(), needs());
                                self.add(Edit::CondOffByOne(gress, at, n), site(), needs());
                            }
                            Cond::Cmp(..) => self.add(Edit::OtherComparison(gress, at, n), site(), needs()),
                            Cond::And(..) | Cond::Or(..) => {
                                self.add(Edit::SwapAndOr(gress, at, n), site(), needs());
                            }
                            Cond::Valid(_) | Cond::Not(_) => {}
                        }
                    }
                }
                StmtKind::Apply(table, arms) => {
                    let needs = || vec![Point::Hit(*table), Point::Miss(*table)];
                    let site = || format!("{gress} table {}, statement {at}", p.tables[*table].name);
                    self.add(Edit::DropStatement(gress, at), site(), needs());
                    if !arms.hit.is_empty() || !arms.miss.is_empty() {
                        self.add(Edit::SwapArms(gress, at), site(), needs());
                    }
                }
                StmtKind::Call(action) => {
                    let site = format!("{gress} call of {}, statement {at}", words::action(p, *action));
                    // An action may be called in several places.
                    let needs = vec![way.unwrap_or(Point::Ran(None, *action))];
                    self.add(Edit::DropStatement(gress, at), site, needs);
                }
            }
        }
    }

    fn deparser(&mut self, gress: Gress) {
        let d = &self.p.pipe(gress).deparser;
        let name = |h| &self.p.headers[h].name;
        let sums: Vec<String> = d.checksums.iter().map(|c| name(c.header).clone()).collect();
        let emits: Vec<String> = d.emit.iter().map(|h| name(*h).clone()).collect();
        let requests = d.requests.len();
        let (summed, emitted): (Vec<Header>, Vec<Header>) =
            (d.checksums.iter().map(|c| c.header).collect(), d.emit.clone());
        for (i, name) in sums.into_iter().enumerate() {
            let needs = self.valid(gress, summed[i]);
            self.add(Edit::DropChecksum(gress, i), format!("{gress} check sum of {name}"), needs);
        }
        for (i, name) in emits.iter().enumerate() {
            let needs = self.valid(gress, emitted[i]);
            self.add(Edit::DropEmit(gress, i), format!("{gress} deparser: {name}"), needs.clone());
            if i + 1 < emits.len() {
                let both = format!("{gress} deparser: {name} and {}", emits[i + 1]);
                self.add(Edit::SwapEmit(gress, i), both, needs);
            }
        }
        for i in 0..requests {
            self.add(Edit::DropRequest(gress, i), format!("{gress} deparser: request {i}"), Vec::new());
        }
        self.lists(gress);
    }

    /// Adds the mutants of lists of fields and of flags. Headers as lists have none: their fields have mutants of their own.
    fn lists(&mut self, gress: Gress) {
        let p = self.p;
        let d = &p.pipe(gress).deparser;
        let lists = d.requests.iter().enumerate().filter(|(_, r)| list_header(p, &r.data).is_none());
        let items: Vec<(usize, usize, String)> = lists
            .flat_map(|(i, r)| {
                let fields = r.data.iter().enumerate().filter(|(_, e)| !matches!(e, Expr::Const(..)));
                fields.map(move |(item, e)| (i, item, e.name(p)))
            })
            .collect();
        let requests = d.requests.iter().map(|r| r.when.is_some() && r.selector > 0);
        let sums = d.checksums.iter().map(|c| c.when.is_some());
        let flags: Vec<usize> =
            (0..).zip(requests.chain(sums)).filter(|(_, flag)| *flag).map(|(i, _)| i).collect();
        for (i, item, name) in items {
            let site = format!("{gress} deparser: {name} of request {i}");
            self.add(Edit::ClearListItem(gress, i, item), site, Vec::new());
        }
        for i in flags {
            self.add(Edit::DropWhen(gress, i), format!("{gress} deparser: flag {i}"), Vec::new());
        }
    }

    fn tables(&mut self) {
        let p = self.p;
        for (table, data) in p.tables.iter() {
            let needs = || vec![Point::Hit(table), Point::Miss(table)];
            let site = |what: &str| format!("table {}: {what}", data.name);
            for (i, key) in data.keys.iter().enumerate() {
                let KeySource::Field(field) = key.what else { continue };
                let width = p.fields[field].width;
                let other = p.fields.iter().find(|(f, d)| {
                    *f != field && d.gress == data.gress && d.width == width && d.home == p.fields[field].home
                });
                if let Some((other, _)) = other {
                    self.add(Edit::WrongKey(table, i, other), site(&format!("key {i}")), needs());
                }
            }
            if let Some(&other) = data.actions.iter().find(|a| **a != data.default.action) {
                self.add(Edit::OtherDefault(table, other), site("default action"), vec![Point::Miss(table)]);
            }
            for (i, entry) in data.entries.iter().enumerate() {
                self.add(Edit::DropEntry(table, i), site(&format!("entry {i}")), needs());
                for (c, value) in entry.key.iter().enumerate() {
                    let any =
                        matches!(value, KeyValue::Ternary { mask: 0, .. } | KeyValue::Lpm { len: 0, .. });
                    if !any {
                        self.add(
                            Edit::EntryValue(table, i, c),
                            site(&format!("entry {i} column {c}")),
                            needs(),
                        );
                    }
                }
            }
        }
    }

    fn registers(&mut self) {
        let p = self.p;
        for (action, data) in p.register_actions.iter() {
            let needs = self.accesses(action);
            let mut kinds = Vec::new();
            data.statements(&mut |stmt| kinds.push(&stmt.kind));
            for (n, kind) in kinds.into_iter().enumerate() {
                let site = || format!("register action {}: statement {n}", data.name);
                match kind {
                    CellStmtKind::If(..) => self.add(Edit::NegateCell(action, n), site(), needs.clone()),
                    CellStmtKind::Write(..) => self.add(Edit::DropWrite(action, n), site(), needs.clone()),
                    CellStmtKind::Output(..) => self.add(Edit::DropOutput(action, n), site(), needs.clone()),
                    CellStmtKind::Search(_) => {}
                }
                self.add(Edit::CellOffByOne(action, n), site(), needs.clone());
            }
        }
    }

    fn hashes(&mut self) {
        let p = self.p;
        for (hash, data) in p.hashes.iter() {
            let site = |what: &str| format!("hash {}: {what}", data.name);
            let needs = self.hashed(hash);
            self.add(Edit::HashSeed(hash), site("seed"), needs.clone());
            if data.inputs.len() > 1 {
                for i in 0..data.inputs.len() {
                    self.add(Edit::DropHashInput(hash, i), site(&format!("input {i}")), needs.clone());
                }
            }
        }
        for (header, data) in p.headers.iter() {
            let site = format!("{} conditions on {}", data.gress, data.name);
            self.add(Edit::NeverValid(header), site, Vec::new());
        }
    }
}

/// Lists, for each statement in order, the branch of the innermost condition around it; `None` if only tables are
/// around it.
fn ways_to(block: &Block, gress: Gress, way: Option<Point>, list: &mut Vec<Option<Point>>) {
    for stmt in block {
        let node = sluice_ir::entity::Entity::new(list.len());
        list.push(way);
        match &stmt.kind {
            StmtKind::If(_, then, otherwise) => {
                ways_to(then, gress, Some(Point::Branch(gress, node, true)), list);
                ways_to(otherwise, gress, Some(Point::Branch(gress, node, false)), list);
            }
            StmtKind::Apply(_, ApplyArms { hit, miss, run }) => {
                // A table's outcome is not a branch of a condition.
                for block in [hit, miss].into_iter().chain(run.iter().map(|(_, block)| block)) {
                    ways_to(block, gress, None, list);
                }
            }
            StmtKind::Call(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_needs_the_branch_around_it() {
        let program = sluice_programs::catalogue().get("int").unwrap().build(&[]).unwrap();
        let (mut all, mut ways) = (Vec::new(), Vec::new());
        for gress in Gress::ALL {
            let control = &program.pipe(gress).control;
            ways.clear();
            ways_to(control, gress, None, &mut ways);
            all.clear();
            statements(control, &mut |stmt| all.push(stmt));
            assert_eq!(all.len(), ways.len());
            for way in ways.iter().flatten() {
                let Point::Branch(_, node, _) = way else { panic!("{way:?}") };
                let node = sluice_ir::entity::Entity::index(*node);
                assert!(matches!(all[node].kind, StmtKind::If(..)));
            }
        }
        // One action is called twice: two mutants with different needs.
        let mut sites = Sites { p: &program, list: Vec::new() };
        sites.control(Gress::Egress);
        let calls = |m: &&Mutant| m.site.contains("call of refuse_2,");
        let needs: Vec<_> = sites.list.iter().filter(calls).map(|m| m.needs.clone()).collect();
        assert!(needs.len() > 1 && needs[0] != needs[1], "{needs:?}");
    }
}
