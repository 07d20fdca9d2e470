//! Rules over all actions of one register (model: chip §4.1, §4.4).
//!
//! One SALU holds all actions of a register: a limited number of instructions, one register file for large constants,
//! masks and parameters, one math table, one mask per ternary unit.

use super::compare::Comparator;
use super::error::SaluError;
use super::lanes::{LaneMask, PostAmount};
use super::program::{Constant, DivideSource, OutputSource, SaluProgram, SourceA, SourceB, Update};
use crate::chip::SaluSpec;
use std::collections::BTreeSet;

/// Checks all actions of one register, individually and together.
///
/// # Errors
/// Returns every broken rule.
pub fn validate_register(
    programs: &[SaluProgram],
    params: usize,
    spec: &SaluSpec,
) -> Result<(), Vec<SaluError>> {
    let mut errors: Vec<SaluError> = programs
        .iter()
        .flat_map(|program| program.validate(spec, params).err().unwrap_or_default())
        .collect();
    if programs.len() > spec.instructions as usize {
        errors.push(SaluError::Actions { found: programs.len(), limit: spec.instructions });
    }
    let constants = register_file_rows(programs, spec);
    if constants + params > spec.register_file_rows as usize {
        errors.push(SaluError::FileRows {
            found: constants + params,
            constants,
            params,
            limit: spec.register_file_rows,
            min: spec.constant_min,
            max: spec.constant_max,
        });
    }
    shared(programs, &mut errors);
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Returns the register file rows that the actions' constants, compare masks and lane masks take; equal values share a
/// row. Each register parameter takes a further row.
pub fn register_file_rows(programs: &[SaluProgram], spec: &SaluSpec) -> usize {
    let mut rows = BTreeSet::new();
    for program in programs {
        for update in program.lo.iter().chain(&program.hi).flatten() {
            rows.extend(
                update_constants(update).into_iter().flatten().filter_map(|value| alu_row(value, spec)),
            );
        }
        for source in program.divide.iter().flat_map(|divide| [divide.dividend, divide.divisor]) {
            if let DivideSource::Constant(Constant::Value(value)) = source {
                rows.extend(alu_row(value, spec));
            }
        }
        rows.extend(
            program.comparators.iter().flatten().flat_map(|comparator| compare_rows(comparator, spec)),
        );
        rows.extend(lane_row(program));
    }
    rows.len()
}

/// Returns the row's content for a constant of an update ALU, if the constant takes a row.
fn alu_row(value: i64, spec: &SaluSpec) -> Option<i64> {
    let small = i64::from(spec.constant_min)..=i64::from(spec.constant_max);
    (!small.contains(&value)).then(|| row_of(value, spec))
}

/// Returns the content of a row. Rows are signed, so a large unsigned constant has the row of the negative number with
/// the same bits.
fn row_of(value: i64, spec: &SaluSpec) -> i64 {
    let spare = 64_u32.saturating_sub(spec.register_file_bits).min(63);
    value << spare >> spare
}

/// Returns the rows that one comparator reads: for a large constant, and for a mask that is not a small number.
pub(super) fn compare_rows(comparator: &Comparator, spec: &SaluSpec) -> BTreeSet<i64> {
    let Comparator::Compare(compare) = comparator else { return BTreeSet::new() };
    let small = i64::from(spec.compare_constant_min)..=i64::from(spec.compare_constant_max);
    let mut rows = BTreeSet::new();
    let constant = match compare.constant {
        Constant::Value(value) => Some(value),
        Constant::Param(_) => None,
    };
    if let Some(value) = constant.filter(|value| !small.contains(value)) {
        rows.insert(row_of(value, spec));
    }
    for mask in compare.memory.iter().chain(&compare.phv).filter_map(|term| term.mask) {
        // Mask and constant share the instruction's one small number.
        let as_number = i64::from(mask as i32);
        let free = constant.is_none_or(|value| value == as_number || !small.contains(&value));
        if !(free && small.contains(&as_number)) {
            rows.insert(row_of(mask.into(), spec));
        }
    }
    rows
}

/// Returns the row that holds the mask and the change of a lane search.
fn lane_row(program: &SaluProgram) -> Option<i64> {
    let lanes = program.lanes?;
    let mask = match lanes.mask {
        LaneMask::Constant(mask) => Some(i64::from(mask)),
        LaneMask::Phv => None,
    };
    let amount = match lanes.post.map(|post| post.amount) {
        Some(PostAmount::Constant(amount)) => Some(i64::from(amount)),
        Some(PostAmount::Phv) | None => None,
    };
    let shift = if mask.is_some() { lanes.op.lanes() } else { 0 };
    (mask.is_some() || amount.is_some()).then(|| mask.unwrap_or(0) | amount.unwrap_or(0) << shift)
}

fn update_constants(update: &Update) -> [Option<i64>; 2] {
    let value = |constant| match constant {
        Constant::Value(value) => Some(value),
        Constant::Param(_) => None,
    };
    let a = update.a.and_then(|a| if let SourceA::Constant(constant) = a { value(constant) } else { None });
    let b = update.b.and_then(|b| if let SourceB::Constant(constant) = b { value(constant) } else { None });
    [a, b]
}

/// Checks the parts that all actions of a register share: element size, math unit, masks of the ternary units, flag
/// position.
fn shared(programs: &[SaluProgram], errors: &mut Vec<SaluError>) {
    agree(programs, errors, "element size", "give the register one format", |p| {
        Some(p.format.element_bits())
    });
    agree(programs, errors, "the math unit's table", "use one function, or two registers", |p| p.math);
    for unit in 0..4 {
        let remedy = "use one mask per ternary unit";
        agree(programs, errors, "a ternary match's mask", remedy, |p| match p.comparators[unit] {
            Some(Comparator::Ternary(ternary)) => Some(ternary.mask),
            _ => None,
        });
    }
    agree(programs, errors, "the bit of a returned flag", "return all flags in one bit", |program| {
        program.outputs.iter().flatten().find_map(|output| match output.source {
            OutputSource::Flag { shift } => Some(shift),
            _ => None,
        })
    });
}

fn agree<T: PartialEq>(
    programs: &[SaluProgram],
    errors: &mut Vec<SaluError>,
    what: &'static str,
    remedy: &'static str,
    part: impl Fn(&SaluProgram) -> Option<T>,
) {
    let mut values = programs.iter().enumerate().filter_map(|(at, program)| Some((at, part(program)?)));
    let Some((first, value)) = values.next() else { return };
    if let Some((second, _)) = values.find(|(_, other)| *other != value) {
        errors.push(SaluError::Shared { first, second, what, remedy });
    }
}
