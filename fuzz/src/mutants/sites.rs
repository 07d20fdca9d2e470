//! Every place at which each operator applies. What may not live here: the change itself.

use super::edit::{Edit, parts, same_kind, statements};
use sluice_asic::alu::AluOp;
use sluice_asic::gress::Gress;
use sluice_pipeline::cover::Point;
use sluice_pipeline::ir::{
    Action, CellStmtKind, Cond, Expr, KeyValue, Next, ParserOpKind, PrimitiveKind, Program, SelectKey,
    StmtKind, Table,
};
use sluice_pipeline::verify::{has_errors, verify};

/// A change at a site, and what packets must reach for it to matter.
#[derive(Clone, Debug, PartialEq)]
pub struct Mutant {
    /// The change.
    pub edit: Edit,
    /// Where, in the program's names.
    pub site: String,
    /// Points of which packets must reach one; empty if nothing is known.
    pub needs: Vec<Point>,
}

/// All mutants of a program that differ from it and that the verifier lets pass, in order of the program; and how many
/// it does not let pass.
#[must_use]
pub fn mutants(program: &Program) -> (Vec<Mutant>, usize) {
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
    let all = sites.list.len();
    let legal = |m: &Mutant| {
        let mutated = m.edit.apply(program);
        mutated != *program && !has_errors(&verify(&mutated))
    };
    let list: Vec<Mutant> = sites.list.into_iter().filter(legal).collect();
    let refused = all - list.len();
    (list, refused)
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

    /// Where an action runs.
    fn runs(&self, action: Action) -> Vec<Point> {
        let p = self.p;
        let of = |t: &Table| p.tables[*t].actions.contains(&action) || p.tables[*t].default.action == action;
        let tables = p.tables.keys().filter(of).map(|t| Point::Ran(Some(t), action));
        tables.chain([Point::Ran(None, action)]).collect()
    }

    fn actions(&mut self) {
        let p = self.p;
        for (action, data) in p.actions.iter() {
            for (i, primitive) in data.body.iter().enumerate() {
                let site = |what: &str| format!("{} action {}: {what} {i}", data.gress, data.name);
                let needs = self.runs(action);
                self.add(Edit::DropPrimitive(action, i), site("primitive"), needs.clone());
                match &primitive.kind {
                    PrimitiveKind::Set(_, Expr::Const(..)) => {
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
        for (at, stmt) in all.into_iter().enumerate() {
            let node = sluice_pipeline::entity::Entity::new(at);
            match &stmt.kind {
                StmtKind::If(cond, ..) => {
                    let needs = || [true, false].map(|holds| Point::Branch(gress, node, holds)).to_vec();
                    let site = |what: &str| format!("{gress} condition, statement {at}{what}");
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
                    let site = format!("{gress} call of {}, statement {at}", p.actions[*action].name);
                    self.add(Edit::DropStatement(gress, at), site, vec![Point::Ran(None, *action)]);
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
        for (i, name) in sums.into_iter().enumerate() {
            self.add(Edit::DropChecksum(gress, i), format!("{gress} check sum of {name}"), Vec::new());
        }
        for (i, name) in emits.iter().enumerate() {
            self.add(Edit::DropEmit(gress, i), format!("{gress} deparser: {name}"), Vec::new());
            if i + 1 < emits.len() {
                let both = format!("{gress} deparser: {name} and {}", emits[i + 1]);
                self.add(Edit::SwapEmit(gress, i), both, Vec::new());
            }
        }
        for i in 0..requests {
            self.add(Edit::DropRequest(gress, i), format!("{gress} deparser: request {i}"), Vec::new());
        }
    }

    fn tables(&mut self) {
        let p = self.p;
        for (table, data) in p.tables.iter() {
            let needs = || vec![Point::Hit(table), Point::Miss(table)];
            let site = |what: &str| format!("table {}: {what}", data.name);
            for (i, key) in data.keys.iter().enumerate() {
                let width = p.fields[key.field].width;
                let other = p.fields.iter().find(|(f, d)| {
                    *f != key.field
                        && d.gress == data.gress
                        && d.width == width
                        && d.home == p.fields[key.field].home
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
            let mut kinds = Vec::new();
            data.statements(&mut |stmt| kinds.push(&stmt.kind));
            for (n, kind) in kinds.into_iter().enumerate() {
                let site = || format!("register action {}: statement {n}", data.name);
                match kind {
                    CellStmtKind::If(..) => self.add(Edit::NegateCell(action, n), site(), Vec::new()),
                    CellStmtKind::Write(..) => self.add(Edit::DropWrite(action, n), site(), Vec::new()),
                    CellStmtKind::Output(..) => self.add(Edit::DropOutput(action, n), site(), Vec::new()),
                    CellStmtKind::Search(_) => {}
                }
                self.add(Edit::CellOffByOne(action, n), site(), Vec::new());
            }
        }
    }

    fn hashes(&mut self) {
        let p = self.p;
        for (hash, data) in p.hashes.iter() {
            let site = |what: &str| format!("hash {}: {what}", data.name);
            self.add(Edit::HashSeed(hash), site("seed"), Vec::new());
            if data.inputs.len() > 1 {
                for i in 0..data.inputs.len() {
                    self.add(Edit::DropHashInput(hash, i), site(&format!("input {i}")), Vec::new());
                }
            }
        }
        for (header, data) in p.headers.iter() {
            let site = format!("{} conditions on {}", data.gress, data.name);
            self.add(Edit::NeverValid(header), site, Vec::new());
        }
    }
}
