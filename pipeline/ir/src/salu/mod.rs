//! Mapping of register actions onto the stateful ALU of a chip.
//!
//! The statements of [`crate::RegisterActionData`] become a [`SaluProgram`]. The mapping decides whether an
//! action is legal, and reports count its units.
//!
//! 1. `paths` runs the body once for every combination of comparison results, with symbols for the element's
//!    old value and for the packet's values.
//! 2. `compare` brings comparisons to a normal form, so that a test and its opposite share a comparator.
//! 3. `shape` finds for each half the at most two values that it can take, each under a truth table over the
//!    comparators, and one source for each output word.

mod compare;
mod params;
mod paths;
mod shape;
mod summary;

pub use params::{ParamRow, values};
pub use summary::summary;

use crate::verify::Diag;
use crate::{Expr, Loc, Operand, Program, Register, RegisterAction};
use paths::Paths;
use sluice_asic::chip::ChipSpec;
use sluice_asic::salu::{SaluError, SaluProgram, validate_register};

/// A register's actions, mapped onto one stateful ALU.
#[derive(Clone, Debug, PartialEq)]
pub struct Mapped {
    /// Packet values, low operand first: at most two, shared by all actions (model: chip §1.3, §4.4).
    pub operands: Vec<Operand>,
    /// The actions in order of declaration.
    pub actions: Vec<(RegisterAction, SaluProgram)>,
    /// For each action, the statements that its comparators decide, in order of the comparators.
    pub decides: Vec<Vec<Loc>>,
    /// Rows of the register file that hold run-time parameters.
    pub rows: Vec<ParamRow>,
}

impl Mapped {
    /// Returns the program of one action.
    #[must_use]
    pub fn program(&self, action: RegisterAction) -> Option<&SaluProgram> {
        self.actions.iter().find(|(a, _)| *a == action).map(|(_, program)| program)
    }
}

/// Maps all actions of a register onto one stateful ALU of the chip.
///
/// # Errors
/// Refuses actions that do not fit the ALU. Each diagnostic has the author's line, the need, the limit and a
/// fix.
pub fn map(program: &Program, register: Register, chip: &ChipSpec) -> Result<Mapped, Vec<Diag>> {
    let data = &program.registers[register];
    let (mut diags, mut actions, mut operands) = (Vec::new(), Vec::new(), Vec::new());
    let mut decides = Vec::new();
    for (action, code) in program.actions_of(register) {
        for e in code.operands() {
            if !operands.contains(&e) {
                operands.push(e);
            }
        }
        let who = format!("register action `{}`", code.name);
        let mapped = Paths::of(code, data.format, &operands, &chip.salu).and_then(|paths| {
            let places = paths.comparators.iter().map(|unit| unit.loc).collect();
            Ok((shape::program(&paths, data.format, &chip.salu)?, places))
        });
        match mapped {
            Ok((salu, places)) => {
                // Rows are assigned after all actions are known.
                for error in salu.validate(&chip.salu, usize::MAX).err().unwrap_or_default() {
                    diags.push(Diag::error(code.loc, format!("{who}: {error}")));
                }
                actions.push((action, salu));
                decides.push(places);
            }
            Err(fault) => diags.push(fault.diag(&who, code.loc)),
        }
    }
    let rows = params::deal(actions.iter_mut().map(|(_, program)| program));
    let limit = chip.salu.phv_operands as usize;
    if operands.len() > limit {
        let names: Vec<String> = operands.iter().map(|e| operand_name(program, e)).collect();
        let text = format!(
            "the actions of register `{}` take {} values from the packet ({}); a stateful ALU takes {limit}",
            data.name,
            operands.len(),
            names.join(", ")
        );
        let help =
            "compute one value from several in an earlier stage, or let the actions share a metadata field";
        let diag = Diag::error(data.loc, text).help(help);
        diags.push(diag.limit("salu.phv_operands", limit as u64, operands.len() as u64));
    }
    let programs: Vec<SaluProgram> = actions.iter().map(|(_, p)| p.clone()).collect();
    let own: Vec<SaluError> =
        programs.iter().flat_map(|p| p.validate(&chip.salu, rows.len()).err().unwrap_or_default()).collect();
    let together = validate_register(&programs, rows.len(), &chip.salu).err().unwrap_or_default();
    for error in together.into_iter().filter(|e| !own.contains(e)) {
        diags.push(Diag::error(data.loc, format!("register `{}`: {error}", data.name)));
    }
    if diags.is_empty() { Ok(Mapped { operands, actions, decides, rows }) } else { Err(diags) }
}

/// Returns the name of a packet value in messages and reports.
fn operand_name(program: &Program, operand: &Operand) -> String {
    let e = match operand {
        Operand::Phv(e) => e,
        Operand::Hash(hash) => return format!("hash {}", program.hashes[*hash].name),
    };
    let mut name = String::new();
    e.fields(&mut |f| name.clone_from(&program.fields[f].name));
    match e {
        Expr::Slice(_, hi, lo) => format!("{name}[{hi}:{lo}]"),
        _ => name,
    }
}
