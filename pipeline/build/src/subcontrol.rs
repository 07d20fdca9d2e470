//! Named blocks of a control block, recorded where their state is declared and inserted where they are applied.

use super::control::{Control, once};
use super::draft::Builder;
use super::gress::GressBuilder;
use super::handles::{PairRef, RegisterRef, SubcontrolRef};
use super::lines::{Line, registers};
use super::step::{ControlStep, Recorded, StepKind};
use sluice_asic::gress::Gress;
use sluice_ir::verify::Diag;
use sluice_ir::{self as ir, Loc};

/// A recorded block.
#[derive(Debug)]
pub(super) struct Subcontrol {
    name: String,
    gress: Gress,
    lines: Vec<Line>,
    /// True once a control block or another subcontrol contains the block.
    applied: bool,
    loc: Loc,
}

impl<'b> GressBuilder<'b> {
    /// Records a named block of statements: `let data = ig.subcontrol(|c| ..)`. `data.apply()` inserts the
    /// statements where it is called, in a control block or in another subcontrol of the same gress.
    ///
    /// With it, a function can declare registers and tables, record all code that uses them, and return one handle.
    /// If a block is applied at two places, its statements are inserted at both; the verifier still allows each
    /// table at one place only, and one access per packet to a register. A block that is never applied is refused.
    #[track_caller]
    pub fn subcontrol(&self, body: impl FnOnce(&mut Control<'b>)) -> SubcontrolRef {
        self.record_subcontrol(&mut once(body), Loc::caller())
    }

    fn record_subcontrol(&self, body: &mut dyn FnMut(&mut Control<'b>), loc: Loc) -> SubcontrolRef {
        let name = self.builder.take_name("subcontrol", loc);
        let mut control = Control::new(self.builder, self.gress);
        body(&mut control);
        let lines = control.into_lines();
        let mut draft = self.builder.draft();
        let name = name.unique(|n| draft.subcontrols.iter().any(|s| s.name == n));
        draft.subcontrols.push(Subcontrol { name, gress: self.gress, lines, applied: false, loc });
        SubcontrolRef(draft.subcontrols.len() - 1)
    }
}

impl Subcontrol {
    /// Returns the lines for a control block of `gress`; none if the block belongs to the other gress.
    pub(super) fn insert(&mut self, gress: Gress, loc: Loc, diags: &mut Vec<Diag>) -> Vec<Line> {
        self.applied = true;
        if self.gress == gress {
            return self.lines.clone();
        }
        let text = format!("subcontrol `{}` of {} is applied in {gress}", self.name, self.gress);
        let help = format!("declare a subcontrol on the builder of {gress}: the gresses share no fields");
        diags.push(Diag::error(loc, text).help(help));
        Vec::new()
    }

    /// Returns an error if the block was never applied.
    pub(super) fn never_applied(&self) -> Option<Diag> {
        let text = || format!("subcontrol `{}` is never applied", self.name);
        (!self.applied)
            .then(|| Diag::error(self.loc, text()).help("apply it in the control block, or remove it"))
    }
}

/// Insertion of a subcontrol.
#[must_use = "a subcontrol is not inserted until it is run: `c.run(subcontrol.apply())`"]
#[derive(Debug)]
pub struct Inserted(usize);

impl SubcontrolRef {
    /// Inserts the recorded statements here.
    pub fn apply(self) -> Inserted {
        Inserted(self.0)
    }
}

impl ControlStep for Inserted {
    fn control_step(self, _: &Builder) -> Recorded {
        Recorded(StepKind::Insert(self.0))
    }
}

/// State that packets of several ports share: a register, or all registers that a subcontrol accesses.
pub trait SharedState {
    /// Returns the registers, each once.
    fn registers(self, builder: &Builder) -> Vec<ir::Register>;
}

impl SharedState for ir::Register {
    fn registers(self, _: &Builder) -> Vec<ir::Register> {
        vec![self]
    }
}

impl<const W: u16> SharedState for RegisterRef<W> {
    fn registers(self, _: &Builder) -> Vec<ir::Register> {
        vec![self.0]
    }
}

impl<const W: u16> SharedState for PairRef<W> {
    fn registers(self, _: &Builder) -> Vec<ir::Register> {
        vec![self.0]
    }
}

impl SharedState for SubcontrolRef {
    fn registers(self, builder: &Builder) -> Vec<ir::Register> {
        let draft = builder.draft();
        let mut found = Vec::new();
        let lines = draft.subcontrols.get(self.0).map_or(&[][..], |s| &s.lines);
        registers(&draft.program, lines, &mut found);
        found
    }
}
