//! Control blocks: tables, branches and statements in program order.
//!
//! Inline statements between tables and branches become keyless actions (module `implicit`).

use super::cond::{Test, TestKind};
use super::draft::Builder;
use super::handles::ActionRef;
use super::implicit::Group;
use super::step::{ActionRun, ControlStep, StepKind};
use super::value::{Place, Rhs};
use sluice_asic::gress::Gress;
use sluice_ir::verify::Diag;
use sluice_ir::{ActionData, ApplyArms, Block, Loc, PrimitiveKind, Stmt, StmtKind};

/// Records the control block of one gress.
#[derive(Debug)]
pub struct Control<'b> {
    builder: &'b Builder,
    gress: Gress,
    block: Block,
    /// Inline statements since the last table or branch.
    group: Group,
}

impl<'b> Control<'b> {
    pub(super) fn new(builder: &'b Builder, gress: Gress) -> Self {
        Control { builder, gress, block: Block::new(), group: Group::new(gress) }
    }

    /// Returns the recorded statements.
    pub(super) fn into_block(mut self) -> Block {
        self.close_group();
        self.block
    }

    /// Assigns `value` to `place`: `place = value`.
    #[track_caller]
    pub fn set<const W: u16>(&mut self, place: impl Place<W>, value: impl Rhs<W>) {
        self.primitive(value.assign(place.place()), Loc::caller());
    }

    /// Adds one step: `table.apply()`, `action.call()`, `drop(label)`, `header.set_valid()`,
    /// `counter.count(index)`.
    #[track_caller]
    pub fn run(&mut self, step: impl ControlStep) {
        let loc = Loc::caller();
        match step.control_step().0 {
            StepKind::Primitive(kind) => self.primitive(kind, loc),
            StepKind::Apply(table) => self.push(StmtKind::Apply(table, ApplyArms::default()), loc),
            StepKind::Call(action) => self.push(StmtKind::Call(action), loc),
            StepKind::Together(list) => list.into_iter().for_each(|kind| self.primitive(kind, loc)),
        }
    }

    /// Runs `body` on this block, so that a function can return a data-plane closure whose statements are
    /// added here.
    pub fn block(&mut self, body: impl FnOnce(&mut Self)) {
        body(self);
    }

    /// Branches: `if test { then }`. [`Else::else_`] adds the other arm.
    ///
    /// If the test is decided while the program is built, only the arm taken is added.
    #[track_caller]
    pub fn if_(&mut self, test: impl Test, then: impl FnOnce(&mut Self)) -> Else<'_, 'b> {
        let loc = Loc::caller();
        let kind = match test.test().0 {
            TestKind::Known(true) => {
                then(self);
                return Else { control: self, arm: OtherArm::Never };
            }
            TestKind::Element => {
                let text = "a condition of the control block compares an element of a register";
                let help = "elements are seen by register actions only: let one return the result to a field";
                self.builder.draft().diags.push(Diag::error(loc, text).help(help));
                return Else { control: self, arm: OtherArm::Never };
            }
            TestKind::Known(false) => return Else { control: self, arm: OtherArm::Always },
            TestKind::Cond(cond) => StmtKind::If(cond, self.nested(then), Block::new()),
            TestKind::Hit(table) => {
                StmtKind::Apply(table, ApplyArms { hit: self.nested(then), ..ApplyArms::default() })
            }
            TestKind::Miss(table) => {
                let arms = ApplyArms { miss: self.nested(then), ..ApplyArms::default() };
                self.push(StmtKind::Apply(table, arms), loc);
                return Else { control: self, arm: OtherArm::Hit };
            }
        };
        self.push(kind, loc);
        Else { control: self, arm: OtherArm::ElseOrMiss }
    }

    /// Branches on the action that ran: `match table.apply().action_run() { .. }`. [`Switch::case`] adds an
    /// action's arm.
    #[track_caller]
    pub fn switch(&mut self, on: ActionRun) -> Switch<'_, 'b> {
        self.push(StmtKind::Apply(on.0, ApplyArms::default()), Loc::caller());
        Switch { control: self }
    }

    fn primitive(&mut self, kind: PrimitiveKind, loc: Loc) {
        self.builder.draft().declare_for(self.gress, &kind, loc);
        let admitted = self.group.admits(&self.builder.draft().program, &kind);
        if !admitted {
            self.close_group();
        }
        self.group.push(&self.builder.draft().program, kind, loc);
    }

    fn push(&mut self, kind: StmtKind, loc: Loc) {
        self.close_group();
        self.block.push(Stmt { kind, loc });
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

    /// Returns the statements that `inner` records, as a separate block.
    fn nested(&mut self, inner: impl FnOnce(&mut Self)) -> Block {
        self.close_group();
        let outer = std::mem::take(&mut self.block);
        inner(self);
        self.close_group();
        std::mem::replace(&mut self.block, outer)
    }
}

/// The arm that a following `else` fills.
#[derive(Debug)]
enum OtherArm {
    /// None: the test is known to be true.
    Never,
    /// The block itself: the test is known to be false.
    Always,
    /// The `else` of the last statement, or the miss arm of its table.
    ElseOrMiss,
    /// The hit arm of the last statement's table.
    Hit,
}

/// An `if` that may still get its `else`.
#[derive(Debug)]
pub struct Else<'c, 'b> {
    control: &'c mut Control<'b>,
    arm: OtherArm,
}

impl<'b> Else<'_, 'b> {
    /// Adds the other arm: `else { otherwise }`.
    pub fn else_(self, otherwise: impl FnOnce(&mut Control<'b>)) {
        let control = self.control;
        match self.arm {
            OtherArm::Never => return,
            OtherArm::Always => return otherwise(control),
            OtherArm::ElseOrMiss | OtherArm::Hit => {}
        }
        let block = control.nested(otherwise);
        match (control.block.last_mut().map(|s| &mut s.kind), self.arm) {
            (Some(StmtKind::If(_, _, other)), _) => *other = block,
            (Some(StmtKind::Apply(_, arms)), OtherArm::Hit) => arms.hit = block,
            (Some(StmtKind::Apply(_, arms)), _) => arms.miss = block,
            _ => {}
        }
    }
}

/// Lookup of a table whose actions may each get an arm.
#[derive(Debug)]
pub struct Switch<'c, 'b> {
    control: &'c mut Control<'b>,
}

impl<'b> Switch<'_, 'b> {
    /// Runs `then` if `action` ran, either from an entry or as the default action.
    pub fn case(self, action: ActionRef, then: impl FnOnce(&mut Control<'b>)) -> Self {
        let block = self.control.nested(then);
        if let Some(StmtKind::Apply(_, arms)) = self.control.block.last_mut().map(|s| &mut s.kind) {
            arms.run.push((action.0, block));
        }
        self
    }
}
