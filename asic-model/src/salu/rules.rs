//! Rules for one register action (model: chip §4).
//!
//! The chip must have the element format, the comparators and their kinds, and the output words. Operands must exist,
//! constants must fit, and an instruction has one number. The math unit feeds ALU2-lo. Divider, lane search and bit
//! instructions have restrictions on combinations. An action returns a single condition. The checks collect all errors.

use super::compare::Comparator;
use super::error::{SaluError, SaluPart};
use super::format::{Format, Half};
use super::lanes::LaneMask;
use super::predicate::Predicate;
use super::program::{Constant, DivideSource, OutputSource, SaluProgram, SourceA, SourceB, Update};
use super::register::compare_rows;
use crate::chip::SaluSpec;
use std::ops::RangeInclusive;

impl SaluProgram {
    /// Checks the action against a chip. `params` is the number of the register's parameters.
    ///
    /// # Errors
    /// Returns every rule that is broken.
    pub fn validate(&self, spec: &SaluSpec, params: usize) -> Result<(), Vec<SaluError>> {
        let mut check = Check { program: self, spec, params, errors: Vec::new() };
        check.format();
        check.kind();
        check.comparators();
        check.updates();
        check.divide();
        check.lanes();
        check.outputs();
        if check.errors.is_empty() { Ok(()) } else { Err(check.errors) }
    }
}

/// Checks of one action.
struct Check<'a> {
    program: &'a SaluProgram,
    spec: &'a SaluSpec,
    params: usize,
    errors: Vec<SaluError>,
}

impl Check<'_> {
    fn require(&mut self, holds: bool, error: impl FnOnce() -> SaluError) {
        if !holds {
            self.errors.push(error());
        }
    }

    fn format(&mut self) {
        let (format, spec) = (self.program.format, self.spec);
        let bits = format.half_bits();
        let fits = match (format.is_pair(), format.element_bits()) {
            (true, _) => bits <= spec.max_pair_bits,
            // 128 bits are handled as two halves of 64.
            (false, 128) => spec.max_pair_bits >= 64,
            (false, _) => bits <= spec.max_value_bits,
        };
        self.require(fits, || SaluError::Format {
            found: format,
            single: spec.max_value_bits,
            pair: spec.max_pair_bits,
            remedy: if format.element_bits() == 2 * spec.max_pair_bits && !format.is_pair() {
                "use a pair of half the width"
            } else {
                "use narrower elements, or two registers"
            },
        });
    }

    /// Checks the way in which the action updates its element.
    fn kind(&mut self) {
        let program = self.program;
        let updates = program.lo.iter().chain(&program.hi).any(Option::is_some) || program.divide.is_some();
        let mut bit = |holds: bool, found, remedy| {
            if !holds {
                self.errors.push(SaluError::Bit { found, remedy });
            }
        };
        if program.format == Format::BIT {
            let conditions = program.comparators.iter().any(Option::is_some);
            bit(!conditions, "has comparators", "use elements of 8 bits");
            bit(!updates && program.lanes.is_none(), "has updates", "use `bit`, or elements of 8 bits");
            bit(program.bit.is_some(), "has no instruction", "give it one");
        } else {
            bit(program.bit.is_none(), "is used on wider elements", "use one-bit elements");
        }
        if let Some(lanes) = program.lanes {
            let mut fail = |found, remedy| self.errors.push(SaluError::Lanes { op: lanes.op, found, remedy });
            if updates {
                fail("is combined with updates", "divide them into two actions");
            }
            if program.format.is_pair() || program.format.element_bits() != 128 {
                fail("is used on narrower elements", "use 128-bit elements");
            }
        }
    }

    fn comparators(&mut self) {
        let (program, spec) = (self.program, self.spec);
        for (unit, comparator) in program.comparators.iter().enumerate() {
            let Some(comparator) = comparator else { continue };
            let part = SaluPart::Comparator(unit as u8);
            self.require(unit < spec.comparators as usize, || SaluError::Comparators {
                part,
                limit: spec.comparators,
            });
            match comparator {
                Comparator::Compare(compare) => {
                    let masked = compare.memory.iter().chain(&compare.phv).any(|term| term.mask.is_some());
                    self.require(spec.compare_masks || !masked, || SaluError::Masks { part });
                    self.memory(part, compare.memory.map(|term| term.half));
                    self.constant(part, compare.constant, self.compare_range());
                    let param = usize::from(matches!(compare.constant, Constant::Param(_)));
                    let rows = compare_rows(comparator, spec).len() + param;
                    self.require(rows <= 1, || SaluError::ComparatorRows {
                        part,
                        found: rows,
                        min: spec.compare_constant_min,
                        max: spec.compare_constant_max,
                    });
                }
                Comparator::Ternary(ternary) => {
                    let limit = spec.ternary_matches;
                    self.require(unit < limit as usize, || SaluError::Ternary { part, limit });
                    self.memory(part, Some(ternary.memory));
                }
            }
        }
    }

    /// Constants that a comparator can add: as wide as the element and the register file's extra bits allow.
    fn compare_range(&self) -> RangeInclusive<i64> {
        let extra = self.spec.register_file_bits.saturating_sub(32);
        let top = 1_i64 << (self.program.format.math_bits() + extra).saturating_sub(1).min(62);
        -top..=top - 1
    }

    /// Constants that an update ALU can take: signed or unsigned at its width.
    fn update_range(&self) -> RangeInclusive<i64> {
        let format = self.program.format;
        let bits = format.math_bits();
        // In a wide half, the upper bits repeat the sign.
        let top = if format.half_bits() > 32 { 1_i64 << (bits - 1) } else { 1_i64 << bits };
        -(1_i64 << (bits - 1))..=top - 1
    }

    fn constant(&mut self, part: SaluPart, constant: Constant, range: RangeInclusive<i64>) {
        match constant {
            Constant::Value(found) => self.require(range.contains(&found), || SaluError::Constant {
                part,
                found,
                min: *range.start(),
                max: *range.end(),
            }),
            Constant::Param(found) => {
                let limit = self.params;
                self.require(usize::from(found) < limit, || SaluError::Param { part, found, limit });
            }
        }
    }

    fn memory(&mut self, part: SaluPart, half: Option<Half>) {
        let format = self.program.format;
        self.require(half != Some(Half::Hi) || format.has_hi(), || SaluError::NoHighHalf { part, format });
    }

    fn condition(&mut self, part: SaluPart, when: Predicate) {
        for (unit, comparator) in self.program.comparators.iter().enumerate() {
            let found = unit as u8;
            let defined = comparator.is_some() || !when.depends_on(unit);
            self.require(defined, || SaluError::Condition { part, found });
        }
    }

    fn updates(&mut self) {
        let program = self.program;
        for (half, updates) in [(Half::Lo, &program.lo), (Half::Hi, &program.hi)] {
            for (number, update) in updates.iter().enumerate() {
                if let Some(update) = update {
                    self.update(SaluPart::Update(half, number as u8), update);
                }
            }
        }
    }

    fn update(&mut self, part: SaluPart, update: &Update) {
        let (format, range) = (self.program.format, self.update_range());
        let names = |a, b| match (a, b) {
            (false, false) => "no operand",
            (true, false) => "the first operand",
            (false, true) => "the second operand",
            (true, true) => "both operands",
        };
        let expected = names(update.op.uses_a(), update.op.uses_b());
        let found = names(update.a.is_some(), update.b.is_some());
        self.require(expected == found, || SaluError::OperandCount { part, op: update.op, expected, found });
        let a_constant = match update.a {
            Some(SourceA::Memory(half)) => {
                self.memory(part, Some(half));
                None
            }
            Some(SourceA::Constant(constant)) => Some(constant),
            None => None,
        };
        let b_constant = match update.b {
            Some(SourceB::Constant(constant)) => Some(constant),
            Some(SourceB::MathMemory(half)) => {
                self.memory(part, Some(half));
                self.math(part);
                None
            }
            Some(SourceB::MathPhv(_)) => {
                self.math(part);
                None
            }
            Some(SourceB::Phv(_)) | None => None,
        };
        for constant in [a_constant, b_constant].into_iter().flatten() {
            self.constant(part, constant, range.clone());
        }
        let two = a_constant.is_some() && b_constant.is_some() && a_constant != b_constant;
        self.require(!two, || SaluError::TwoConstants { part });
        self.require(format.half_bits() <= 32 || update.op.fits_wide_half(), || SaluError::Wide {
            part,
            op: update.op,
            found: format.half_bits(),
            limit: format.math_bits(),
        });
        self.condition(part, update.when);
    }

    fn math(&mut self, part: SaluPart) {
        self.require(part == SaluPart::Update(Half::Lo, 1), || SaluError::MathPlace { part });
        self.require(self.program.math.is_some(), || SaluError::MathTable { part });
    }

    fn divide(&mut self) {
        let Some(divide) = self.program.divide else { return };
        let part = SaluPart::Divide;
        let remedy = "divide by a power of two with a shift, or use the math unit";
        self.require(self.spec.divide_bits != 0, || SaluError::Missing { part, remedy });
        self.require(self.program.hi[1].is_none(), || SaluError::DivideTaken);
        let range = self.update_range();
        let mut constants = Vec::new();
        for source in [divide.dividend, divide.divisor] {
            match source {
                DivideSource::Memory(half) => self.memory(part, Some(half)),
                DivideSource::Phv(_) => {}
                DivideSource::Constant(constant) => {
                    self.constant(part, constant, range.clone());
                    constants.push(constant);
                }
            }
        }
        let two = matches!(constants[..], [a, b] if a != b);
        self.require(!two, || SaluError::TwoConstants { part });
    }

    fn lanes(&mut self) {
        let Some(lanes) = self.program.lanes else { return };
        let part = SaluPart::Lanes;
        let remedy = "keep the extreme in a separate register, with min or max";
        self.require(self.spec.lane_min_max, || SaluError::Missing { part, remedy });
        if let LaneMask::Constant(mask) = lanes.mask {
            let max = (1_i64 << lanes.op.lanes()) - 1;
            let found = i64::from(mask);
            self.require(found <= max, || SaluError::Constant { part, found, min: 0, max });
        }
    }

    fn outputs(&mut self) {
        let (program, spec) = (self.program, self.spec);
        let mut condition: Option<(usize, Predicate)> = None;
        for (word, output) in program.outputs.iter().enumerate() {
            let Some(output) = output else { continue };
            let part = SaluPart::Output(word as u8);
            let limit = spec.output_words;
            self.require(word < limit as usize, || SaluError::OutputWords { part, limit });
            self.condition(part, output.when);
            if let OutputSource::Memory(half) = output.source {
                self.memory(part, Some(half));
            }
            if let Some((what, reason)) = self.refusal(word, output.source) {
                self.errors.push(SaluError::OutputSource { part, what, reason });
            }
            if matches!(output.source, OutputSource::Flag { .. } | OutputSource::OneHot) {
                let (first, when) = *condition.get_or_insert((word, output.when));
                self.require(when == output.when, || SaluError::TwoConditions {
                    part,
                    other: SaluPart::Output(first as u8),
                });
            }
        }
    }

    /// Returns why an output word cannot have this source: the source, and the reason with a remedy.
    fn refusal(&self, word: usize, source: OutputSource) -> Option<(&'static str, &'static str)> {
        let (program, spec) = (self.program, self.spec);
        let high = word >= 2 && program.format.half_bits() <= 32;
        let narrow = "has no bits above 32 in this format: use output word 0 or 1";
        let search = "needs a lane search: add one";
        match source {
            OutputSource::Memory(_) if high => Some(("memory", narrow)),
            OutputSource::Phv(_) if high => Some(("a PHV operand", narrow)),
            OutputSource::Alu(_) if high => Some(("an ALU's result", narrow)),
            _ if program.bit.is_some() && source != OutputSource::Alu(Half::Lo) => {
                Some(("an output other than `alu_lo`", "does not exist on a one-bit register: use `alu_lo`"))
            }
            OutputSource::Alu(_) if program.lanes.is_some() => Some((
                "an ALU's result",
                "does not exist in an action with a lane search: use the lane's value or index",
            )),
            OutputSource::Flag { shift } if shift > 31 => {
                Some(("a flag", "is above bit 31: use a lower bit"))
            }
            OutputSource::Address if spec.output_words < 2 => {
                Some(("the address", "cannot be returned by this chip: carry the index in a field"))
            }
            OutputSource::Quotient | OutputSource::Remainder if program.divide.is_none() => {
                Some(("quotient or remainder", "needs a division: add one"))
            }
            OutputSource::LaneValue | OutputSource::LaneChanged | OutputSource::LaneIndex
                if program.lanes.is_none() =>
            {
                Some(("a lane", search))
            }
            _ => None,
        }
    }
}
