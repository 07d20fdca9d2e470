//! One access: element and operands in, element and output words out.
//!
//! The data flow is that of model: chip §4.2, without allocation and without checks: the caller has checked the rules.
//! The result of a program that breaks a rule is defined, but it is not the chip's.

use super::format::{Format, Half};
use super::lanes::FoundLane;
use super::program::{Constant, Divide, DivideSource, OutputSource, SaluProgram, SourceA, SourceB, Update};

/// The value of a register element, right-aligned. A single element has no high half, except for 128 bits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct State {
    /// The low half, or all of a single element.
    pub lo: u64,
    /// The high half.
    pub hi: u64,
}

impl State {
    /// Creates a single element.
    pub const fn single(value: u64) -> Self {
        Self { lo: value, hi: 0 }
    }

    /// Creates a pair.
    pub const fn pair(lo: u64, hi: u64) -> Self {
        Self { lo, hi }
    }

    /// Creates a 128-bit element.
    pub const fn word(word: u128) -> Self {
        Self { lo: word as u64, hi: (word >> 64) as u64 }
    }

    /// Returns the value as a 128-bit element.
    pub const fn to_word(self) -> u128 {
        (self.hi as u128) << 64 | self.lo as u128
    }
}

/// Operands of an access.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Operands {
    /// The low PHV operand.
    pub lo: u64,
    /// The high PHV operand.
    pub hi: u64,
    /// The element's address, for [`OutputSource::Address`].
    pub address: u32,
    /// The register's parameters.
    pub params: [i64; Constant::PARAMS],
}

/// Result of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Outcome {
    /// The element's new value.
    pub state: State,
    /// The output words; an unused one is 0.
    pub outputs: [u32; 4],
    /// The comparators' results, comparator 0 as the lowest bit.
    pub comparators: u8,
    /// True if an ALU, a bit instruction or a lane search wrote the element, even with an unchanged value.
    pub written: bool,
}

/// The element before and the operands, cut to the format.
struct Access<'a> {
    format: Format,
    memory: [u64; 2],
    phv: [u64; 2],
    operands: &'a Operands,
}

/// Values that an output can select.
struct Results {
    memory: [u64; 2],
    alu: [u64; 2],
    found: Option<FoundLane>,
    outcome: u8,
}

impl SaluProgram {
    /// Runs the action on one element.
    #[inline]
    pub fn execute(&self, state: State, operands: &Operands) -> Outcome {
        let mask = self.format.half_mask();
        let hi = if self.format.has_hi() { state.hi & mask } else { 0 };
        let access = Access {
            format: self.format,
            memory: [state.lo & mask, hi],
            phv: [operands.lo & mask, operands.hi & mask],
            operands,
        };
        let outcome = self.compare(&access);
        let memory = access.memory;
        let (state, alu, found, written) = if let Some(op) = self.bit {
            let (bit, out) = op.apply(memory[0] & 1 != 0);
            (State::single(bit.into()), [u64::from(out), 0], None, true)
        } else if let Some(lanes) = &self.lanes {
            let join = |halves: [u64; 2]| State::pair(halves[0], halves[1]).to_word();
            let found = lanes.run(join(memory), join(access.phv));
            (State::word(found.word), [0, 0], Some(found), lanes.post.is_some() && !lanes.from_phv)
        } else {
            let lo = access.half(&self.lo, self, outcome);
            let hi = access.half(&self.hi, self, outcome);
            let stored_hi = if self.format.has_hi() { hi } else { None };
            let state = State::pair(lo.unwrap_or(memory[0]), stored_hi.unwrap_or(memory[1]));
            let alu = [lo.unwrap_or(memory[0]), hi.unwrap_or(memory[1])];
            (state, alu, None, lo.is_some() || stored_hi.is_some())
        };
        let outputs = self.show(&access, &Results { memory, alu, found, outcome });
        Outcome { state, outputs, comparators: outcome, written }
    }

    #[inline]
    fn compare(&self, access: &Access<'_>) -> u8 {
        let mut outcome = 0;
        for (unit, comparator) in self.comparators.iter().enumerate() {
            if let Some(comparator) = comparator {
                let params = &access.operands.params;
                let holds = comparator.holds(access.memory, access.phv, params, access.format);
                outcome |= u8::from(holds) << unit;
            }
        }
        outcome
    }

    #[inline]
    fn show(&self, access: &Access<'_>, results: &Results) -> [u32; 4] {
        let mut words = [0; 4];
        for (number, output) in self.outputs.iter().enumerate() {
            let Some(output) = output else { continue };
            if !output.when.holds(results.outcome) {
                continue;
            }
            let high = if number < 2 { 0 } else { 32 };
            let cut = |halves: [u64; 2], half: Half| (halves[half as usize] >> high) as u32;
            words[number] = match output.source {
                OutputSource::Memory(half) => cut(results.memory, half),
                OutputSource::Phv(half) => cut(access.phv, half),
                OutputSource::Alu(half) => cut(results.alu, half),
                OutputSource::Flag { shift } => 1 << (shift & 31),
                OutputSource::OneHot => 1 << results.outcome,
                OutputSource::Address => access.operands.address,
                OutputSource::Quotient => self.divide.map_or(0, |divide| access.quotient(divide)),
                OutputSource::Remainder => self.divide.map_or(0, |divide| access.remainder(divide)),
                OutputSource::LaneValue => results.found.map_or(0, |found| found.value),
                OutputSource::LaneChanged => results.found.map_or(0, |found| found.changed),
                OutputSource::LaneIndex => results.found.map_or(0, |found| found.index),
            };
        }
        words
    }
}

impl Access<'_> {
    /// Returns the new value of a half, or `None` if neither of its ALUs acts.
    #[inline]
    fn half(&self, updates: &[Option<Update>; 2], program: &SaluProgram, outcome: u8) -> Option<u64> {
        let mut result = None;
        for update in updates.iter().flatten() {
            if update.when.holds(outcome) {
                let value = self.update(update, program);
                result = Some(result.unwrap_or(0) | value);
            }
        }
        result
    }

    /// Returns the instruction's result. It is computed on at most 32 bits; the bits above are those of the first
    /// operand if that is memory, otherwise of the second (model).
    #[inline]
    fn update(&self, update: &Update, program: &SaluProgram) -> u64 {
        let a = match update.a {
            Some(SourceA::Memory(half)) => self.memory[half as usize],
            Some(SourceA::Constant(constant)) => self.number(constant),
            None => 0,
        };
        let math = |input: u64| program.math.map_or(0, |math| u64::from(math.eval(input as u32)));
        let b = match update.b {
            Some(SourceB::Phv(half)) => self.phv[half as usize],
            Some(SourceB::Constant(constant)) => self.number(constant),
            Some(SourceB::MathMemory(half)) => math(self.memory[half as usize]),
            Some(SourceB::MathPhv(half)) => math(self.phv[half as usize]),
            None => 0,
        };
        let low = u64::from(update.op.eval(a as u32, b as u32, self.format.math_bits()));
        if self.format.half_bits() <= 32 {
            return low;
        }
        let through = match (update.a, update.b) {
            (Some(SourceA::Memory(_)), _) | (_, None) => a,
            (_, Some(_)) => b,
        };
        low | through & !u64::from(u32::MAX)
    }

    /// Returns a number as an update ALU sees it. In a wide half, its 32 bits are sign-extended.
    #[inline]
    fn number(&self, constant: Constant) -> u64 {
        let value = constant.resolve(&self.operands.params);
        if self.format.half_bits() > 32 { i64::from(value as i32) as u64 } else { value as u64 }
    }

    #[inline]
    fn divide_operand(&self, source: DivideSource) -> i32 {
        let value = match source {
            DivideSource::Memory(half) => self.memory[half as usize],
            DivideSource::Phv(half) => self.phv[half as usize],
            DivideSource::Constant(constant) => self.number(constant),
        };
        // A narrower half is signed at its own width before the divider takes 16 bits of it.
        let spare = 32 - self.format.math_bits();
        i32::from((((value as u32) << spare) as i32 >> spare) as i16)
    }

    /// Returns the quotient of a 16-bit two's complement division towards zero. By zero it is the number of the
    /// dividend's sign that is furthest from zero (model).
    fn quotient(&self, divide: Divide) -> u32 {
        let (a, b) = (self.divide_operand(divide.dividend), self.divide_operand(divide.divisor));
        let quotient = match a.checked_div(b) {
            Some(quotient) => quotient,
            None if a >= 0 => i32::from(i16::MAX),
            None => i32::from(i16::MIN),
        };
        quotient as u32 & 0xffff
    }

    /// Returns the remainder of a division towards minus infinity: it has the divisor's sign. By zero it is the
    /// dividend (model).
    fn remainder(&self, divide: Divide) -> u32 {
        let (a, b) = (self.divide_operand(divide.dividend), self.divide_operand(divide.divisor));
        let remainder = match a.checked_rem(b) {
            Some(0) => 0,
            Some(rest) if (rest < 0) != (b < 0) => rest + b,
            Some(rest) => rest,
            None => a,
        };
        remainder as u32 & 0xffff
    }
}
