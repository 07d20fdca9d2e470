//! References: every entity that is named exists and belongs to the right gress.

use super::{Diag, Site};
use crate::entity::Entity;
use crate::{
    Action, ActionCall, Algorithmic, Block, Cond, Counter, CounterHome, CounterLoad, Expr, Field, Hash,
    Header, Home, Index, KeySource, Label, Meter, Next, Operand, ParserOpKind, ParserState, PrimitiveKind,
    Profile, Program, Random, Register, RegisterAction, RequestKind, SelectKey, Stack, StmtKind, Table,
    ValueSet, list_header,
};
use sluice_asic::gress::Gress;

/// Entity that a reference names.
#[derive(Clone, Copy)]
enum Target {
    Field(Field),
    Header(Header),
    State(ParserState),
    Action(Action),
    Table(Table),
    Profile(Profile),
    Counter(Counter),
    Hash(Hash),
    Register(Register),
    RegisterAction(RegisterAction),
    Label(Label),
    Stack(Stack),
    ValueSet(ValueSet),
    Meter(Meter),
    Random(Random),
}

impl Target {
    const fn word(self) -> &'static str {
        match self {
            Target::Field(_) => "field",
            Target::Header(_) => "header",
            Target::State(_) => "state",
            Target::Action(_) => "action",
            Target::Table(_) => "table",
            Target::Profile(_) => "profile",
            Target::Counter(_) => "counter",
            Target::Hash(_) => "hash",
            Target::Register(_) => "register",
            Target::RegisterAction(_) => "register action",
            Target::Label(_) => "label",
            Target::Stack(_) => "stack",
            Target::ValueSet(_) => "value set",
            Target::Meter(_) => "meter",
            Target::Random(_) => "generator of random numbers",
        }
    }

    /// Returns name and gress; if the entity does not exist, its index and the number of entities.
    fn find(self, p: &Program) -> Result<(&str, Option<Gress>), (usize, usize)> {
        macro_rules! look {
            ($map:ident, $key:expr) => {
                match p.$map.get($key) {
                    Some(d) => Ok((d.name.as_str(), Some(d.gress))),
                    None => Err(($key.index(), p.$map.len())),
                }
            };
        }
        match self {
            Target::Field(k) => look!(fields, k),
            Target::Header(k) => look!(headers, k),
            Target::State(k) => look!(states, k),
            Target::Action(k) => look!(actions, k),
            Target::Table(k) => look!(tables, k),
            Target::Profile(k) => look!(profiles, k),
            Target::Counter(k) => look!(counters, k),
            Target::Hash(k) => look!(hashes, k),
            Target::Register(k) => look!(registers, k),
            Target::Meter(k) => look!(meters, k),
            Target::Random(k) => look!(randoms, k),
            Target::RegisterAction(k) => match p.register_actions.get(k) {
                Some(d) => Ok((d.name.as_str(), p.registers.get(d.register).map(|r| r.gress))),
                None => Err((k.index(), p.register_actions.len())),
            },
            Target::Stack(k) => look!(stacks, k),
            Target::ValueSet(k) => look!(value_sets, k),
            Target::Label(k) => match p.labels.get(k) {
                Some(d) => Ok((d.name.as_str(), None)),
                None => Err((k.index(), p.labels.len())),
            },
        }
    }
}

/// Reports wrong references. Returns true if all entities exist, so that they can be looked up safely.
pub(super) fn check(p: &Program, d: &mut Vec<Diag>) -> bool {
    let mut walk = Walk { p, d, dangling: false };
    walk.declarations();
    walk.register_actions();
    walk.stacks();
    walk.parsers();
    walk.actions();
    walk.tables();
    for gress in Gress::ALL {
        walk.pipe(gress);
    }
    for t in &p.together {
        let who = format!("together `{}`", t.name);
        let site = Site { who: &who, gress: None, loc: t.loc };
        t.registers.iter().for_each(|r| walk.see(site, Target::Register(*r)));
    }
    for rule in &p.container_rules {
        let site = Site { who: "a rule about containers", gress: None, loc: rule.loc };
        walk.see(site, Target::Field(rule.field));
    }
    let site = Site { who: "ghost control", gress: Some(Gress::Ingress), loc: Default::default() };
    walk.block(site, &p.ghost);
    !walk.dangling
}

struct Walk<'p, 'd> {
    p: &'p Program,
    d: &'d mut Vec<Diag>,
    dangling: bool,
}

impl Walk<'_, '_> {
    fn see(&mut self, site: Site<'_>, target: Target) {
        let (word, who) = (target.word(), site.who);
        match target.find(self.p) {
            Err((index, count)) => {
                self.dangling = true;
                let text = format!("{who} names {word} {index}, but the program has {count}");
                self.d.push(Diag::error(site.loc, text).help(format!("add the {word} before it is used")));
            }
            Ok((name, Some(theirs))) if site.gress.is_some_and(|ours| ours != theirs) => {
                let ours = site.gress.map_or("", Gress::name);
                let text = format!("{who} works in {ours} and cannot use {word} `{name}` of {theirs}");
                let help = match target {
                    Target::Field(_) | Target::Header(_) => {
                        "only bytes cross between the gresses: let ingress emit a bridged header and egress extract it"
                            .to_owned()
                    }
                    _ => format!("declare a {word} of {ours}"),
                };
                self.d.push(Diag::error(site.loc, text).help(help));
            }
            Ok(_) => {}
        }
    }

    fn fields(&mut self, site: Site<'_>, fields: &[Field]) {
        for &f in fields {
            self.see(site, Target::Field(f));
        }
    }

    fn expr(&mut self, site: Site<'_>, e: &Expr) {
        e.fields(&mut |f| self.see(site, Target::Field(f)));
    }

    fn index(&mut self, site: Site<'_>, index: &Index) {
        match index {
            Index::At(e) => self.expr(site, e),
            Index::Entry => {}
            Index::Hash(hash) => self.see(site, Target::Hash(*hash)),
        }
    }

    fn next(&mut self, site: Site<'_>, next: Next) {
        if let Next::State(s) = next {
            self.see(site, Target::State(s));
        }
    }

    fn declarations(&mut self) {
        let p = self.p;
        for data in p.fields.values() {
            if let Home::Header(h) = data.home {
                let who = format!("field `{}`", data.name);
                self.see(Site { who: &who, gress: Some(data.gress), loc: data.loc }, Target::Header(h));
            }
        }
        for data in p.headers.values() {
            let who = format!("header `{}`", data.name);
            self.fields(Site { who: &who, gress: Some(data.gress), loc: data.loc }, &data.fields);
        }
        for data in p.hashes.values() {
            let who = format!("hash `{}`", data.name);
            for e in &data.inputs {
                self.expr(Site { who: &who, gress: Some(data.gress), loc: data.loc }, e);
            }
        }
        let counters = p.counters.values().map(|d| ("counter", &d.name, d.gress, d.home, d.loc));
        let registers = p.registers.values().map(|d| ("register", &d.name, d.gress, d.home, d.loc));
        let meters = p.meters.values().map(|d| ("meter", &d.name, d.gress, d.home, d.loc));
        for (word, name, gress, home, loc) in counters.chain(registers).chain(meters) {
            if let CounterHome::Direct(t) = home {
                let who = format!("{word} `{name}`");
                self.see(Site { who: &who, gress: Some(gress), loc }, Target::Table(t));
            }
        }
        for data in p.profiles.values() {
            if let Some(s) = &data.selector {
                let who = format!("profile `{}`", data.name);
                self.see(Site { who: &who, gress: Some(data.gress), loc: data.loc }, Target::Hash(s.hash));
            }
        }
    }

    fn register_actions(&mut self) {
        for data in self.p.register_actions.values() {
            let who = format!("register action `{}`", data.name);
            let site = Site { who: &who, gress: None, loc: data.loc };
            self.see(site, Target::Register(data.register));
            let gress = self.p.registers.get(data.register).map(|r| r.gress);
            for operand in data.operands() {
                let site = Site { gress, ..site };
                match operand {
                    Operand::Phv(e) => self.expr(site, &e),
                    Operand::Hash(hash) => self.see(site, Target::Hash(hash)),
                }
            }
        }
    }

    fn stacks(&mut self) {
        for data in self.p.stacks.values() {
            let who = format!("stack `{}`", data.name);
            for &h in &data.headers {
                let site = Site { who: &who, gress: Some(data.gress), loc: data.loc };
                self.see(site, Target::Header(h));
            }
        }
    }

    fn parsers(&mut self) {
        for data in self.p.states.values() {
            let who = format!("state `{}`", data.name);
            let site = Site { who: &who, gress: Some(data.gress), loc: data.loc };
            for op in &data.ops {
                let site = Site { loc: op.loc, ..site };
                match &op.kind {
                    ParserOpKind::Extract(h) => self.see(site, Target::Header(*h)),
                    ParserOpKind::SetValid(h, _) => self.see(site, Target::Header(*h)),
                    ParserOpKind::Set(f, e) | ParserOpKind::SetSlice(f, _, _, e) => {
                        self.see(site, Target::Field(*f));
                        self.expr(site, e);
                    }
                    ParserOpKind::VerifyChecksum(f, inputs) | ParserOpKind::SubtractChecksum(f, inputs) => {
                        self.see(site, Target::Field(*f));
                        inputs.iter().for_each(|input| self.expr(site, input));
                    }
                    ParserOpKind::Lookahead(f, _) => self.see(site, Target::Field(*f)),
                    ParserOpKind::SetCounter(CounterLoad::Field { field, .. })
                    | ParserOpKind::PushCounter(CounterLoad::Field { field, .. }, _) => {
                        self.see(site, Target::Field(*field));
                    }
                    ParserOpKind::ExtractNext(stack) => self.see(site, Target::Stack(*stack)),
                    ParserOpKind::Advance(_)
                    | ParserOpKind::SetCounter(CounterLoad::Const(_) | CounterLoad::Ahead { .. })
                    | ParserOpKind::PushCounter(CounterLoad::Const(_) | CounterLoad::Ahead { .. }, _)
                    | ParserOpKind::PopCounter
                    | ParserOpKind::AddCounter(_) => {}
                }
            }
            for key in &data.select {
                match key {
                    SelectKey::Field(f) => self.see(site, Target::Field(*f)),
                    SelectKey::Last(stack, _) => self.see(site, Target::Stack(*stack)),
                    SelectKey::Lookahead(_) | SelectKey::CounterIsZero | SelectKey::CounterIsNegative => {}
                }
            }
            for arm in &data.arms {
                if let Some(of) = arm.set {
                    self.see(site, Target::ValueSet(of.set));
                }
                self.next(site, arm.next);
            }
            self.next(site, data.default);
        }
    }

    fn actions(&mut self) {
        for data in self.p.actions.values() {
            let who = crate::words::subject(data);
            for primitive in &data.body {
                let site = Site { who: &who, gress: Some(data.gress), loc: primitive.loc };
                match &primitive.kind {
                    PrimitiveKind::Set(f, e) | PrimitiveKind::SetSlice(f, _, _, e) => {
                        self.see(site, Target::Field(*f));
                        self.expr(site, e);
                    }
                    PrimitiveKind::DropCtl(f, e, l) => {
                        self.see(site, Target::Field(*f));
                        self.expr(site, e);
                        self.see(site, Target::Label(*l));
                    }
                    PrimitiveKind::SetValid(h, _) => self.see(site, Target::Header(*h)),
                    PrimitiveKind::Hash(f, h)
                    | PrimitiveKind::HashSlice(f, h, _)
                    | PrimitiveKind::HashInto(f, _, _, h, _) => {
                        self.see(site, Target::Field(*f));
                        self.see(site, Target::Hash(*h));
                    }
                    PrimitiveKind::Count(c, e) => {
                        self.see(site, Target::Counter(*c));
                        self.expr(site, e);
                    }
                    PrimitiveKind::CountDirect(c) => self.see(site, Target::Counter(*c)),
                    PrimitiveKind::Register(access) => {
                        self.see(site, Target::RegisterAction(access.action));
                        self.index(site, &access.index);
                        for (_, f) in &access.outputs {
                            self.see(site, Target::Field(*f));
                        }
                    }
                    PrimitiveKind::Drop(l) => self.see(site, Target::Label(*l)),
                    PrimitiveKind::SetMasked(f, value, mask) => {
                        self.see(site, Target::Field(*f));
                        self.expr(site, value);
                        self.expr(site, mask);
                    }
                    PrimitiveKind::CopyValid(to, from) => {
                        self.see(site, Target::Header(*to));
                        self.see(site, Target::Header(*from));
                    }
                    PrimitiveKind::Meter(access) => {
                        self.see(site, Target::Meter(access.meter));
                        self.index(site, &access.index);
                        access.input.iter().for_each(|e| self.expr(site, e));
                        self.see(site, Target::Field(access.to));
                    }
                    PrimitiveKind::Random(f, r) => {
                        self.see(site, Target::Field(*f));
                        self.see(site, Target::Random(*r));
                    }
                }
            }
        }
    }

    fn tables(&mut self) {
        for data in self.p.tables.values() {
            let who = format!("table `{}`", data.name);
            let site = Site { who: &who, gress: Some(data.gress), loc: data.loc };
            for key in &data.keys {
                match key.what {
                    KeySource::Field(f) | KeySource::Slice(f, ..) => self.see(site, Target::Field(f)),
                    KeySource::Valid(h) => self.see(site, Target::Header(h)),
                }
            }
            let called = |call: &ActionCall| Target::Action(call.action);
            for target in data.actions.iter().map(|&a| Target::Action(a)).chain([called(&data.default)]) {
                self.see(site, target);
            }
            for entry in &data.entries {
                self.see(site, called(&entry.then));
            }
            if let Some(Algorithmic::Atcam { partition, .. }) = data.algorithmic {
                self.see(site, Target::Field(partition));
            }
            if let Some(profile) = data.profile {
                self.see(site, Target::Profile(profile));
            }
        }
    }

    fn pipe(&mut self, gress: Gress) {
        let pipe = self.p.pipe(gress);
        let parts = ["parser", "control", "deparser"].map(|part| format!("{gress} {part}"));
        let site = |part: usize| Site { who: &parts[part], gress: Some(gress), loc: Default::default() };
        self.next(site(0), pipe.start);
        self.block(site(1), &pipe.control);
        for update in &pipe.deparser.checksums {
            let site = Site { loc: update.loc, ..site(2) };
            self.see(site, Target::Header(update.header));
            self.see(site, Target::Field(update.field));
            update.when.into_iter().for_each(|f| self.see(site, Target::Field(f)));
            update.inputs.iter().for_each(|e| self.expr(site, e));
        }
        for &h in &pipe.deparser.emit {
            self.see(site(2), Target::Header(h));
        }
        for request in &pipe.deparser.requests {
            let site = Site { loc: request.loc, ..site(2) };
            if let RequestKind::Mirror(session) = request.kind {
                self.see(site, Target::Field(session));
            }
            request.when.into_iter().for_each(|f| self.see(site, Target::Field(f)));
            match list_header(self.p, &request.data) {
                Some(header) => self.see(site, Target::Header(header)),
                None => request.data.iter().for_each(|e| self.expr(site, e)),
            }
        }
    }

    fn block(&mut self, site: Site<'_>, block: &Block) {
        for stmt in block {
            let site = Site { loc: stmt.loc, ..site };
            match &stmt.kind {
                StmtKind::Call(a) => self.see(site, Target::Action(*a)),
                StmtKind::Apply(t, arms) => {
                    self.see(site, Target::Table(*t));
                    self.block(site, &arms.hit);
                    self.block(site, &arms.miss);
                    for (a, block) in &arms.run {
                        self.see(site, Target::Action(*a));
                        self.block(site, block);
                    }
                }
                StmtKind::If(cond, then, otherwise) => {
                    self.cond(site, cond);
                    self.block(site, then);
                    self.block(site, otherwise);
                }
            }
        }
    }

    fn cond(&mut self, site: Site<'_>, cond: &Cond) {
        match cond {
            Cond::Cmp(_, a, b) => {
                self.expr(site, a);
                self.expr(site, b);
            }
            Cond::Valid(h) => self.see(site, Target::Header(*h)),
            Cond::Not(a) => self.cond(site, a),
            Cond::And(a, b) | Cond::Or(a, b) => {
                self.cond(site, a);
                self.cond(site, b);
            }
        }
    }
}
