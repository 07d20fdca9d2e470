//! Register parameters, and the rows of the register file that hold them.
//!
//! An update ALU reads a row unchanged. A comparator adds the row, so that a subtracted parameter needs a row
//! with the negated number. The control plane then writes both rows.

use sluice_asic::salu::{Comparator, Constant, DivideSource, SaluProgram, SourceA, SourceB};

/// A row: the parameter, and true if the row holds its negation.
pub type ParamRow = (u8, bool);

/// Mark of a negated parameter before rows are assigned.
const OPPOSITE: u8 = 0x80;

/// Returns the row of a parameter, before rows are assigned.
pub(super) const fn row(param: u8, opposite: bool) -> Constant {
    Constant::Param(param | if opposite { OPPOSITE } else { 0 })
}

/// Assigns the rows that the actions of a register use, in order of first use.
pub(super) fn deal<'p>(programs: impl Iterator<Item = &'p mut SaluProgram>) -> Vec<ParamRow> {
    let mut rows: Vec<ParamRow> = Vec::new();
    for program in programs {
        each(program, |constant| {
            if let Constant::Param(n) = constant {
                let wanted = (*n & !OPPOSITE, *n & OPPOSITE != 0);
                let at = rows.iter().position(|row| *row == wanted).unwrap_or_else(|| {
                    rows.push(wanted);
                    rows.len() - 1
                });
                *n = at as u8;
            }
        });
    }
    rows
}

/// Calls `change` for every constant of the action.
fn each(program: &mut SaluProgram, mut change: impl FnMut(&mut Constant)) {
    for comparator in program.comparators.iter_mut().flatten() {
        if let Comparator::Compare(compare) = comparator {
            change(&mut compare.constant);
        }
    }
    for update in program.lo.iter_mut().chain(&mut program.hi).flatten() {
        if let Some(SourceA::Constant(constant)) = &mut update.a {
            change(constant);
        }
        if let Some(SourceB::Constant(constant)) = &mut update.b {
            change(constant);
        }
    }
    if let Some(divide) = &mut program.divide {
        for source in [&mut divide.dividend, &mut divide.divisor] {
            if let DivideSource::Constant(constant) = source {
                change(constant);
            }
        }
    }
}

/// Returns the contents of the rows.
#[must_use]
pub fn values(rows: &[ParamRow], params: &[u32; Constant::PARAMS]) -> [i64; Constant::PARAMS] {
    let mut values = [0; Constant::PARAMS];
    for (value, (param, opposite)) in values.iter_mut().zip(rows) {
        let number = params.get(usize::from(*param)).copied().map_or(0, i64::from);
        *value = if *opposite { -number } else { number };
    }
    values
}
