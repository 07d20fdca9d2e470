//! Statements of a control block as recorded, before inline statements are grouped into actions.
//!
//! Recorded lines can be inserted into other lines (a subcontrol) and compared with other lines (the rows of a
//! decision table). [`lower`] turns the lines of a whole control block into the program's statements. Only then do
//! inline statements become keyless actions (module `implicit`), in program order.

use super::draft::Builder;
use sluice_asic::gress::Gress;
use sluice_ir::group::Group;
use sluice_ir::{
    Action, ActionData, ApplyArms, Block, Cond, Loc, PrimitiveKind, Program, Register, Stmt, StmtKind, Table,
};

/// A recorded statement. Equality ignores source locations.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    pub(super) kind: LineKind,
    pub(super) loc: Loc,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum LineKind {
    /// An inline statement.
    Primitive(PrimitiveKind),
    If(Cond, Vec<Line>, Vec<Line>),
    Apply(Table, Arms),
    Call(Action),
}

/// Arms of a table's lookup, as in [`ApplyArms`].
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Arms {
    pub(super) hit: Vec<Line>,
    pub(super) miss: Vec<Line>,
    pub(super) run: Vec<(Action, Vec<Line>)>,
}

/// Returns the statements of the program that the lines stand for, and declares the actions of inline statements.
pub(super) fn lower(builder: &Builder, gress: Gress, lines: Vec<Line>) -> Block {
    let mut lowering = Lowering { builder, gress, block: Block::new(), group: Group::new(gress) };
    lines.into_iter().for_each(|line| lowering.line(line));
    lowering.close_group();
    lowering.block
}

struct Lowering<'b> {
    builder: &'b Builder,
    gress: Gress,
    block: Block,
    /// Inline statements since the last table or branch.
    group: Group,
}

impl Lowering<'_> {
    fn line(&mut self, Line { kind, loc }: Line) {
        let kind = match kind {
            LineKind::Primitive(kind) => return self.primitive(kind, loc),
            LineKind::If(cond, then, otherwise) => {
                self.close_group();
                StmtKind::If(cond, self.nested(then), self.nested(otherwise))
            }
            LineKind::Apply(table, Arms { hit, miss, run }) => {
                self.close_group();
                let (hit, miss) = (self.nested(hit), self.nested(miss));
                let run = run.into_iter().map(|(action, lines)| (action, self.nested(lines))).collect();
                StmtKind::Apply(table, ApplyArms { hit, miss, run })
            }
            LineKind::Call(action) => {
                self.close_group();
                StmtKind::Call(action)
            }
        };
        self.block.push(Stmt { kind, loc });
    }

    fn nested(&self, lines: Vec<Line>) -> Block {
        lower(self.builder, self.gress, lines)
    }

    fn primitive(&mut self, kind: PrimitiveKind, loc: Loc) {
        self.builder.draft().declare_for(self.gress, &kind, loc);
        let admitted = self.group.admits(&self.builder.draft().program, &kind);
        if !admitted {
            self.close_group();
        }
        self.group.push(&self.builder.draft().program, kind, loc);
    }

    /// Turns the collected inline statements into an action.
    fn close_group(&mut self) {
        let Some(loc) = self.group.loc() else { return };
        let mut draft = self.builder.draft();
        let action = ActionData {
            name: draft.unique_action(&format!("{}_l{}", self.gress, loc.line)),
            gress: self.gress,
            params: Vec::new(),
            body: self.group.take(),
            doc: String::new(),
            loc,
        };
        let action = draft.program.actions.push(action);
        self.block.push(Stmt { kind: StmtKind::Call(action), loc });
    }
}

/// Collects the registers that the lines access, each once, in order of first access.
pub(super) fn registers(program: &Program, lines: &[Line], found: &mut Vec<Register>) {
    for line in lines {
        match &line.kind {
            LineKind::Primitive(kind) => accessed(program, kind, found),
            LineKind::If(_, then, otherwise) => {
                registers(program, then, found);
                registers(program, otherwise, found);
            }
            LineKind::Apply(table, arms) => {
                let table = &program.tables[*table];
                table
                    .actions
                    .iter()
                    .chain([&table.default.action])
                    .for_each(|a| by_action(program, *a, found));
                registers(program, &arms.hit, found);
                registers(program, &arms.miss, found);
                arms.run.iter().for_each(|(_, lines)| registers(program, lines, found));
            }
            LineKind::Call(action) => by_action(program, *action, found),
        }
    }
}

fn by_action(program: &Program, action: Action, found: &mut Vec<Register>) {
    program.actions[action].body.iter().for_each(|p| accessed(program, &p.kind, found));
}

fn accessed(program: &Program, kind: &PrimitiveKind, found: &mut Vec<Register>) {
    let PrimitiveKind::Register(access) = kind else { return };
    let register = program.accessed(access.action);
    found.extend(register.filter(|r| !found.contains(r)));
}
