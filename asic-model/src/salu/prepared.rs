//! Register actions prepared for many accesses.
//!
//! An action on halves of at most 32 bits becomes a few sums, instructions and choices over one small file of words, in
//! which memory, operands and constants have fixed places. The compiler knows the number of each per shape, so a loop
//! over packets has no branch that does not depend on the packet.

use super::bit::BitOp;
use super::compare::{Comparator, Relation, Sense, Term};
use super::execute::{Operands, State};
use super::format::{Format, Half};
use super::op::SaluOp;
use super::predicate::Predicate;
use super::program::{Constant, OutputSource, SaluProgram, SourceA, SourceB, Update};
use arrayvec::ArrayVec;

/// Places of the file: the halves of the element, the operands, the results of the ALUs per half, the comparators'
/// outcome as one bit of sixteen, the address; then constants.
const MEMORY: usize = 0;
const PHV: usize = 2;
const ALU: usize = 4;
const ONE_HOT: usize = 6;
const ADDRESS: usize = 7;
const CONSTANTS: usize = 8;
const WORDS: usize = 16;
/// No register parameter.
const NO_ROW: u8 = u8::MAX;

/// A term of a sum: a word under a mask, its sign spread, negated or not.
#[derive(Debug, Clone, Copy)]
struct Addend {
    at: u8,
    mask: u32,
    /// The sign's bit of a number in two's complement; 0 for a number without sign.
    sign: i64,
    /// -1 to subtract, 0 to add.
    flip: i64,
}

/// A comparison.
#[derive(Debug, Clone, Copy)]
struct Sum {
    terms: [Addend; 2],
    constant: i64,
    /// A register parameter that is added: its row; [`NO_ROW`] for none.
    row: u8,
    /// Bits cut off above the sum before its sign is read.
    spare: u8,
    /// Bit 0: true below zero, bit 1: at zero, bit 2: above.
    holds: u8,
}

/// An instruction of an update ALU.
#[derive(Debug, Clone, Copy)]
struct Step {
    when: Predicate,
    op: SaluOp,
    a: u8,
    b: u8,
}

/// An output word.
#[derive(Debug, Clone, Copy)]
struct Shown {
    when: Predicate,
    at: u8,
}

/// A register action, ready for many accesses.
#[derive(Debug, Clone)]
pub struct Prepared(Form);

#[derive(Debug, Clone)]
enum Form {
    Short(Box<Short>),
    /// Any action, part by part.
    Program(Box<SaluProgram>),
}

/// The form of the usual actions.
#[derive(Debug, Clone, Copy)]
struct Short {
    sums: [Sum; 4],
    /// Sums in use.
    compares: u8,
    lo: [Step; 2],
    hi: [Step; 2],
    shown: [Shown; 4],
    /// The file before an access: the constants.
    file: [u32; WORDS],
    /// Place of each register parameter in the file; [`NO_ROW`] if it has none.
    params: [u8; Constant::PARAMS],
    half_mask: u32,
    hi_mask: u32,
    bits: u32,
    shape: Shape,
}

/// Numbers of an action's parts.
#[derive(Debug, Clone, Copy)]
struct Shape {
    updates: Updates,
    /// Output word 0 at most.
    one_word: bool,
}

#[derive(Debug, Clone, Copy)]
enum Updates {
    None,
    /// One ALU of the low half.
    Low,
    /// One ALU of each half.
    OneEach,
    All,
}

/// A loop over accesses, generic over the action's shape.
pub trait Accesses {
    /// Result of the shape's function.
    type Result;

    /// Makes the accesses. `access` takes an element, the PHV operands and the element's address, changes the element
    /// and gives back the output words.
    fn each(self, access: impl Fn(&mut State, [u64; 2], u32) -> [u32; 4]) -> Self::Result;
}

impl Prepared {
    /// Prepares an action.
    pub fn new(program: &SaluProgram) -> Self {
        Self(match program.short() {
            Some(short) => Form::Short(Box::new(short)),
            None => Form::Program(Box::new(program.clone())),
        })
    }

    /// Returns true if the action has the short form. Halves above 32 bits, a math unit, a division or a lane search
    /// exclude it.
    pub const fn is_short(&self) -> bool {
        matches!(self.0, Form::Short(_))
    }

    /// Makes accesses with the action, under these register parameters.
    #[inline]
    pub fn make<A: Accesses>(&self, params: &[i64; Constant::PARAMS], accesses: A) -> A::Result {
        match &self.0 {
            Form::Short(short) if short.has_params() => short.under(params).make(accesses),
            Form::Short(short) => short.make(accesses),
            Form::Program(program) => accesses.each(|cell, [lo, hi], address| {
                let operands = Operands { lo, hi, address, params: *params };
                let outcome = program.execute(*cell, &operands);
                *cell = outcome.state;
                outcome.outputs
            }),
        }
    }
}

impl SaluProgram {
    fn short(&self) -> Option<Short> {
        let other_bit = self.bit.is_some() && self.format != Format::BIT;
        if self.format.half_bits() > 32 || self.divide.is_some() || self.lanes.is_some() || other_bit {
            return None;
        }
        let words = std::iter::repeat_n(0, CONSTANTS).collect();
        let mut file = File { words, params: [NO_ROW; Constant::PARAMS] };
        let mut program = self.clone();
        if let Some(op) = program.bit.take() {
            as_updates(&mut program, op);
        }
        let sums = program.comparators.each_ref().map(|c| self.sum(c.as_ref()));
        let compares = last(&program.comparators).len() as u8;
        let lo = steps(&program.lo, &mut file)?;
        let hi = steps(&program.hi, &mut file)?;
        let mut shown = [Shown { when: Predicate::NEVER, at: 0 }; 4];
        for (number, output) in program.outputs.iter().enumerate() {
            let Some(output) = output else { continue };
            let at = match output.source {
                // Words 2 and 3 show bits that no half of 32 bits has.
                OutputSource::Memory(_) | OutputSource::Phv(_) | OutputSource::Alu(_) if number >= 2 => {
                    file.constant(0)?
                }
                OutputSource::Memory(half) => place(MEMORY, half),
                OutputSource::Phv(half) => place(PHV, half),
                OutputSource::Alu(half) => place(ALU, half),
                OutputSource::Flag { shift } => file.constant(1 << (shift & 31))?,
                OutputSource::OneHot => ONE_HOT as u8,
                OutputSource::Address => ADDRESS as u8,
                _ => return None,
            };
            shown[number] = Shown { when: output.when, at };
        }
        let updates = match (last(&program.lo).len(), last(&program.hi).len()) {
            (0, 0) => Updates::None,
            (1, 0) => Updates::Low,
            (0 | 1, 1) => Updates::OneEach,
            _ => Updates::All,
        };
        let half_mask = self.format.half_mask() as u32;
        Some(Short {
            sums,
            compares,
            lo,
            hi,
            shown,
            file: std::array::from_fn(|at| file.words.get(at).copied().unwrap_or(0)),
            params: file.params,
            half_mask,
            hi_mask: if self.format.has_hi() { half_mask } else { 0 },
            bits: self.format.half_bits(),
            shape: Shape { updates, one_word: program.outputs[1..].iter().all(Option::is_none) },
        })
    }

    /// Returns a comparator as a sum. A missing comparator never holds; a ternary match is a difference of zero under
    /// its mask.
    fn sum(&self, comparator: Option<&Comparator>) -> Sum {
        let math_mask = self.format.math_mask();
        let addend = |file: usize, term: Option<Term>, sense: Sense| {
            let Some(term) = term else { return Addend { at: 0, mask: 0, sign: 0, flip: 0 } };
            let sign = if sense == Sense::Signed { 1i64 << (self.format.math_bits() - 1) } else { 0 };
            let flip = if term.negate { -1 } else { 0 };
            Addend { at: place(file, term.half), mask: math_mask & term.mask.unwrap_or(u32::MAX), sign, flip }
        };
        let none = addend(MEMORY, None, Sense::Unsigned);
        let row = NO_ROW;
        match comparator {
            None => Sum { terms: [none; 2], constant: 0, row, spare: 0, holds: 0 },
            Some(Comparator::Compare(compare)) => {
                let memory = addend(MEMORY, compare.memory, compare.sense);
                let phv = addend(PHV, compare.phv, compare.sense);
                let (constant, row) = match compare.constant {
                    Constant::Value(constant) => (constant, row),
                    Constant::Param(row) => (0, row),
                };
                let serial = compare.sense == Sense::Serial;
                let spare = if serial { 64 - self.format.math_bits() as u8 } else { 0 };
                Sum { terms: [memory, phv], constant, row, spare, holds: table(compare.relation) }
            }
            Some(Comparator::Ternary(ternary)) => {
                let term = |half, negate| Some(Term { half, negate, mask: Some(ternary.mask as u32) });
                let memory = addend(MEMORY, term(ternary.memory, false), Sense::Unsigned);
                let phv = addend(PHV, term(ternary.phv, true), Sense::Unsigned);
                Sum { terms: [memory, phv], constant: 0, row, spare: 0, holds: table(Relation::Equ) }
            }
        }
    }
}

/// A bit's instruction as updates: the new value on the low ALU, the old one's complement on the high one.
fn as_updates(program: &mut SaluProgram, op: BitOp) {
    let always = Predicate::ALWAYS;
    let set = |value| Update::set_constant(always, Constant::Value(value));
    let (new, complement) = match op {
        BitOp::Set => (Some(set(1)), false),
        BitOp::SetC => (Some(set(1)), true),
        BitOp::Clr => (Some(set(0)), false),
        BitOp::ClrC => (Some(set(0)), true),
        BitOp::Read => (None, false),
        BitOp::ReadC => (None, true),
    };
    let not = Update { when: always, op: SaluOp::Nota, a: Some(SourceA::Memory(Half::Lo)), b: None };
    program.lo = [new, None];
    program.hi = [complement.then_some(not), None];
    let out = if complement { OutputSource::Alu(Half::Hi) } else { OutputSource::Memory(Half::Lo) };
    for output in program.outputs.iter_mut().flatten() {
        output.source = match output.source {
            OutputSource::Alu(Half::Lo) => out,
            // This ALU does not exist.
            OutputSource::Alu(Half::Hi) => OutputSource::Memory(Half::Hi),
            other => other,
        };
    }
}

/// Returns the parts up to the last one in use.
fn last<T>(parts: &[Option<T>]) -> std::slice::Iter<'_, Option<T>> {
    let used = parts.iter().rposition(Option::is_some).map_or(0, |at| at + 1);
    parts[..used].iter()
}

const fn place(first: usize, half: Half) -> u8 {
    first as u8 + half as u8
}

const fn table(relation: Relation) -> u8 {
    match relation {
        Relation::Equ => 0b010,
        Relation::Neq => 0b101,
        Relation::Grt => 0b100,
        Relation::Leq => 0b011,
        Relation::Geq => 0b110,
        Relation::Lss => 0b001,
    }
}

/// The file while its constants are handed out.
struct File {
    words: ArrayVec<u32, WORDS>,
    params: [u8; Constant::PARAMS],
}

impl File {
    /// Returns the place of a constant; `None` if there is no room, which only a few actions with random constants
    /// meet.
    fn constant(&mut self, value: u32) -> Option<u8> {
        let found = (CONSTANTS..self.words.len())
            .find(|&at| self.words[at] == value && !self.params.contains(&(at as u8)));
        if let Some(at) = found {
            return Some(at as u8);
        }
        self.words.try_push(value).ok()?;
        Some(self.words.len() as u8 - 1)
    }

    fn number(&mut self, constant: Constant) -> Option<u8> {
        match constant {
            Constant::Value(value) => self.constant(value as u32),
            Constant::Param(row) => self.param(row),
        }
    }

    /// Returns the place of a register parameter; a parameter that does not exist is 0.
    fn param(&mut self, row: u8) -> Option<u8> {
        match self.params.get(usize::from(row)) {
            None => self.constant(0),
            Some(&at) if at != NO_ROW => Some(at),
            Some(_) => {
                // Not shared with an equal constant, because the parameter's value is set later.
                self.words.try_push(0).ok()?;
                self.params[usize::from(row)] = self.words.len() as u8 - 1;
                Some(self.params[usize::from(row)])
            }
        }
    }
}

fn steps(updates: &[Option<Update>; 2], file: &mut File) -> Option<[Step; 2]> {
    let mut steps = [Step { when: Predicate::NEVER, op: SaluOp::Setz, a: 0, b: 0 }; 2];
    for (step, update) in steps.iter_mut().zip(updates) {
        let Some(update) = update else { continue };
        let a = match update.a {
            None => file.constant(0)?,
            Some(SourceA::Memory(half)) => place(MEMORY, half),
            Some(SourceA::Constant(constant)) => file.number(constant)?,
        };
        let b = match update.b {
            None => file.constant(0)?,
            Some(SourceB::Phv(half)) => place(PHV, half),
            Some(SourceB::Constant(constant)) => file.number(constant)?,
            Some(SourceB::MathMemory(_) | SourceB::MathPhv(_)) => return None,
        };
        *step = Step { when: update.when, op: update.op, a, b };
    }
    Some(steps)
}

impl Short {
    fn has_params(&self) -> bool {
        let sums = self.sums.iter().map(|sum| sum.row);
        self.params.into_iter().chain(sums).any(|at| at != NO_ROW)
    }

    /// Returns the action with its register parameters replaced by constants.
    fn under(&self, params: &[i64; Constant::PARAMS]) -> Self {
        let mut fixed = *self;
        for (&at, &value) in self.params.iter().zip(params) {
            if let Some(word) = fixed.file.get_mut(usize::from(at)) {
                *word = value as u32;
            }
        }
        for sum in &mut fixed.sums {
            let value = params.get(usize::from(sum.row)).copied().unwrap_or(0);
            sum.constant = sum.constant.wrapping_add(value);
        }
        fixed
    }

    #[inline]
    fn make<A: Accesses>(&self, accesses: A) -> A::Result {
        match (self.compares, self.shape.one_word) {
            (0, true) => self.updates::<A, 0, 1>(accesses),
            (1, true) => self.updates::<A, 1, 1>(accesses),
            (2, true) => self.updates::<A, 2, 1>(accesses),
            (0, false) => self.updates::<A, 0, 4>(accesses),
            (_, _) => self.updates::<A, 4, 4>(accesses),
        }
    }

    #[inline]
    fn updates<A: Accesses, const C: usize, const W: usize>(&self, accesses: A) -> A::Result {
        match self.shape.updates {
            Updates::None => self.shaped::<A, C, 0, 0, W>(accesses),
            Updates::Low => self.shaped::<A, C, 1, 0, W>(accesses),
            Updates::OneEach => self.shaped::<A, C, 1, 1, W>(accesses),
            Updates::All => self.shaped::<A, C, 2, 2, W>(accesses),
        }
    }

    #[inline(never)]
    fn shaped<A: Accesses, const C: usize, const L: usize, const H: usize, const W: usize>(
        &self,
        accesses: A,
    ) -> A::Result {
        accesses.each(|cell, phv, address| self.access::<C, L, H, W>(cell, phv, address))
    }

    /// Performs one access with at most `C` comparisons, `L` and `H` updates of the halves, and `W` output words.
    #[inline(always)]
    fn access<const C: usize, const L: usize, const H: usize, const W: usize>(
        &self,
        cell: &mut State,
        phv: [u64; 2],
        address: u32,
    ) -> [u32; 4] {
        let mut file = self.file;
        let memory = [cell.lo as u32 & self.half_mask, cell.hi as u32 & self.hi_mask];
        [file[MEMORY], file[MEMORY + 1]] = memory;
        [file[PHV], file[PHV + 1]] = phv.map(|operand| operand as u32 & self.half_mask);
        let mut outcome = 0;
        if C > 0 {
            for (unit, sum) in self.sums.iter().take(C.min(self.compares.into())).enumerate() {
                outcome |= sum.holds(&file) << unit;
            }
        }
        file[ONE_HOT] = 1 << outcome;
        file[ADDRESS] = address;
        let lo = self.half::<L>(&self.lo, &file, outcome, memory[0]);
        let hi = self.half::<H>(&self.hi, &file, outcome, memory[1]);
        *cell = State::pair(lo.into(), (hi & self.hi_mask).into());
        [file[ALU], file[ALU + 1]] = [lo, hi];
        let mut words = [0; 4];
        for (word, shown) in words.iter_mut().zip(&self.shown).take(W) {
            let value = file[usize::from(shown.at) % WORDS];
            *word = if shown.when.holds(outcome) { value } else { 0 };
        }
        words
    }

    /// Returns the results of `A` ALUs on a half.
    #[inline(always)]
    fn half<const A: usize>(&self, steps: &[Step; 2], file: &[u32; WORDS], outcome: u8, old: u32) -> u32 {
        let result = |step: &Step| {
            let (a, b) = (file[usize::from(step.a) % WORDS], file[usize::from(step.b) % WORDS]);
            match step.op {
                SaluOp::Add => a.wrapping_add(b) & self.half_mask,
                SaluOp::Sub => a.wrapping_sub(b) & self.half_mask,
                SaluOp::AluA => a & self.half_mask,
                SaluOp::AluB => b & self.half_mask,
                rare => evaluated(rare, a, b, self.bits),
            }
        };
        let [first, second] = steps;
        match A {
            0 => old,
            1 if first.when.holds(outcome) => result(first),
            1 => old,
            _ => match (first.when.holds(outcome), second.when.holds(outcome)) {
                (false, false) => old,
                (true, false) => result(first),
                (false, true) => result(second),
                (true, true) => result(first) | result(second),
            },
        }
    }
}

/// Evaluates any instruction. The function is out of line, because the loops of all shapes contain it.
#[inline(never)]
fn evaluated(op: SaluOp, a: u32, b: u32, bits: u32) -> u32 {
    op.eval(a, b, bits)
}

impl Sum {
    #[inline(always)]
    fn holds(&self, file: &[u32; WORDS]) -> u8 {
        let term = |t: &Addend| {
            let raw = i64::from(file[usize::from(t.at) % WORDS] & t.mask);
            let value = (raw ^ t.sign) - t.sign;
            (value ^ t.flip) - t.flip
        };
        let [a, b] = &self.terms;
        let sum = term(a).wrapping_add(term(b)).wrapping_add(self.constant);
        let sum = sum << (self.spare & 63) >> (self.spare & 63);
        self.holds >> (u8::from(sum >= 0) + u8::from(sum > 0)) & 1
    }
}
