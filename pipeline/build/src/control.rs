//! Control blocks: tables, branches and statements in program order.
//!
//! Statements are recorded as lines (module `lines`), which become statements of the program when the block is
//! complete.

use super::cond::{Test, TestKind};
use super::draft::Builder;
use super::handles::ActionRef;
use super::lines::{Arms, Line, LineKind};
use super::step::{ActionRun, ControlStep, StepKind};
use super::value::{LValue, Rhs};
use sluice_asic::gress::Gress;
use sluice_ir::verify::Diag;
use sluice_ir::{Loc, PrimitiveKind};

/// Records the control block of one gress, or a block in it.
#[derive(Debug)]
pub struct Control<'b> {
    builder: &'b Builder,
    gress: Gress,
    lines: Vec<Line>,
}

impl<'b> Control<'b> {
    pub(super) fn new(builder: &'b Builder, gress: Gress) -> Self {
        Control { builder, gress, lines: Vec::new() }
    }

    /// Returns the recorded statements.
    pub(super) fn into_lines(self) -> Vec<Line> {
        self.lines
    }

    /// Returns the builder and the gress that statements are recorded for.
    pub(super) fn context(&self) -> (&'b Builder, Gress) {
        (self.builder, self.gress)
    }

    /// Adds recorded statements.
    pub(super) fn extend(&mut self, lines: Vec<Line>) {
        self.lines.extend(lines);
    }

    /// Assigns `value` to `place`: `place = value`.
    #[track_caller]
    pub fn set<const W: u16>(&mut self, place: impl LValue<W>, value: impl Rhs<W>) {
        self.primitive(value.assign(place.place(), self.builder), Loc::caller());
    }

    /// Adds one step: `table.apply()`, `subcontrol.apply()`, `action.call()`, `drop(label)`,
    /// `header.set_valid()`, `counter.count(index)`.
    #[track_caller]
    pub fn run(&mut self, step: impl ControlStep) {
        let loc = Loc::caller();
        match step.control_step(self.builder).0 {
            StepKind::Primitive(kind) => self.primitive(kind, loc),
            StepKind::Apply(table) => self.push(LineKind::Apply(table, Arms::default()), loc),
            StepKind::Call(action) => self.push(LineKind::Call(action), loc),
            StepKind::Insert(subcontrol) => self.insert(subcontrol, loc),
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
        self.branch(test.test().0, &mut once(then), Loc::caller())
    }

    fn branch(&mut self, test: TestKind, then: &mut dyn FnMut(&mut Self), loc: Loc) -> Else<'_, 'b> {
        let kind = match test {
            TestKind::Known(true) => {
                then(self);
                return Else { control: self, arm: OtherArm::Never };
            }
            TestKind::Element => {
                self.refuse_element(loc);
                return Else { control: self, arm: OtherArm::Never };
            }
            TestKind::Known(false) => return Else { control: self, arm: OtherArm::Always },
            TestKind::Cond(cond) => LineKind::If(cond, self.nested(then), Vec::new()),
            TestKind::Hit(table) => {
                LineKind::Apply(table, Arms { hit: self.nested(then), ..Arms::default() })
            }
            TestKind::Miss(table) => {
                let arms = Arms { miss: self.nested(then), ..Arms::default() };
                self.push(LineKind::Apply(table, arms), loc);
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
        self.push(LineKind::Apply(on.0, Arms::default()), Loc::caller());
        Switch { control: self }
    }

    fn primitive(&mut self, kind: PrimitiveKind, loc: Loc) {
        self.push(LineKind::Primitive(kind), loc);
    }

    fn push(&mut self, kind: LineKind, loc: Loc) {
        self.lines.push(Line { kind, loc });
    }

    /// Inserts the lines of a subcontrol.
    fn insert(&mut self, subcontrol: usize, loc: Loc) {
        let mut draft = self.builder.draft();
        let draft = &mut *draft;
        if let Some(found) = draft.subcontrols.get_mut(subcontrol) {
            self.lines.extend(found.insert(self.gress, loc, &mut draft.diags));
        }
    }

    pub(super) fn refuse_element(&self, loc: Loc) {
        let text = "a condition of the control block compares an element of a register";
        let help = "elements are seen by register actions only: let one return the result to a field";
        self.builder.draft().diags.push(Diag::error(loc, text).help(help));
    }

    /// Returns the statements that `inner` records, as a separate block.
    fn nested(&mut self, inner: &mut dyn FnMut(&mut Self)) -> Vec<Line> {
        let outer = std::mem::take(&mut self.lines);
        inner(self);
        std::mem::replace(&mut self.lines, outer)
    }
}

/// Returns a closure that runs `body` when it is first called.
///
/// Every block of a program is a type of its own. Passed on as `&mut dyn FnMut`, blocks share the code that records them, which
/// would be compiled for each of them otherwise.
pub(super) fn once<A>(body: impl FnOnce(&mut A)) -> impl FnMut(&mut A) {
    let mut body = Some(body);
    move |act| {
        if let Some(body) = body.take() {
            body(act);
        }
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
        self.otherwise(&mut once(otherwise));
    }

    fn otherwise(self, otherwise: &mut dyn FnMut(&mut Control<'b>)) {
        let control = self.control;
        match self.arm {
            OtherArm::Never => return,
            OtherArm::Always => return otherwise(control),
            OtherArm::ElseOrMiss | OtherArm::Hit => {}
        }
        let block = control.nested(otherwise);
        match (control.lines.last_mut().map(|s| &mut s.kind), self.arm) {
            (Some(LineKind::If(_, _, other)), _) => *other = block,
            (Some(LineKind::Apply(_, arms)), OtherArm::Hit) => arms.hit = block,
            (Some(LineKind::Apply(_, arms)), _) => arms.miss = block,
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
        let block = self.control.nested(&mut once(then));
        if let Some(LineKind::Apply(_, arms)) = self.control.lines.last_mut().map(|s| &mut s.kind) {
            arms.run.push((action.0, block));
        }
        self
    }
}
