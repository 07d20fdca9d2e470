//! Conversion of all paths through a body to ALU instructions and outputs.

use super::params;
use super::paths::{Env, Fault, Paths, Sym};
use crate::{LanePart, Loc};
use sluice_asic::chip::SaluSpec;
use sluice_asic::salu::{
    BitOp, Constant, Divide, DivideSource, Format, Half, LaneSearch, MathUnit, Output, OutputSource,
    Predicate, SaluOp, SaluProgram, SourceA, SourceB, Update,
};
use std::cell::Cell;

const OUTCOMES: u16 = 16;
const HALVES: [Half; 2] = [Half::Lo, Half::Hi];

/// Returns the program of an action.
pub(super) fn program(paths: &Paths, format: Format, spec: &SaluSpec) -> Result<SaluProgram, Fault> {
    comparisons(paths, format, spec)?;
    let shape = Shape { paths, format, spec, math: Cell::new(None) };
    if format == Format::BIT {
        return shape.bit();
    }
    let mut salu = SaluProgram::new(format);
    for (slot, unit) in salu.comparators.iter_mut().zip(&paths.comparators) {
        *slot = Some(unit.comparator);
    }
    if let Some(search) = shape.search()? {
        salu.lanes = Some(search);
        for word in 0..4 {
            shape.output(word, &mut salu)?;
        }
        return Ok(salu);
    }
    salu.lo = shape.updates(Half::Lo, |env| &env.halves[0], &Sym::Memory(Half::Lo), 0)?;
    if format.has_hi() {
        salu.hi = shape.updates(Half::Hi, |env| &env.halves[1], &Sym::Memory(Half::Hi), 1)?;
    }
    for word in 0..4 {
        shape.output(word, &mut salu)?;
    }
    salu.math = shape.math.get();
    Ok(salu)
}

/// Checks that the chip has enough comparators for the action.
fn comparisons(paths: &Paths, format: Format, spec: &SaluSpec) -> Result<(), Fault> {
    let (found, limit) = (paths.comparators.len(), spec.comparators as usize);
    if format == Format::BIT && found > 0 {
        let text = "has a condition, which a one-bit access cannot have";
        return Err(Fault::new(text, "use elements of 8 bits").at(paths.comparators[0].loc));
    }
    if found <= limit {
        return Ok(());
    }
    let text = format!("needs {found} comparisons; a stateful ALU of this chip has {limit}");
    let help = "a test and its opposite share one; decide one of them in an earlier stage and pass a bit";
    let mut fault = Fault::new(text, help).at(paths.comparators[limit].loc);
    for (n, unit) in paths.comparators.iter().enumerate().filter(|(n, _)| *n != limit) {
        fault = fault.also(unit.loc, format!("comparison {}", n + 1));
    }
    Err(fault)
}

/// Value that an output source gives for an outcome.
type Shows<'s> = Box<dyn Fn(u16, &Env) -> Sym + 's>;

struct Shape<'a> {
    paths: &'a Paths,
    format: Format,
    spec: &'a SaluSpec,
    /// Math unit that an instruction uses.
    math: Cell<Option<MathUnit>>,
}

impl Shape<'_> {
    /// Returns every outcome with its final values.
    fn ends(&self) -> impl Iterator<Item = (u16, &Env)> {
        (0..OUTCOMES).filter_map(|outcome| Some((1 << outcome, self.paths.end(outcome)?)))
    }

    /// Returns the distinct values other than `idle`, each with the outcomes that need it.
    fn alternatives<'e>(&'e self, of: impl Fn(&'e Env) -> &'e Sym, idle: &Sym) -> Vec<(Sym, u16, &'e Env)> {
        let mut list: Vec<(Sym, u16, &Env)> = Vec::new();
        for (bit, env) in self.ends() {
            let value = of(env);
            if value == idle {
                continue;
            }
            match list.iter_mut().find(|(sym, ..)| sym == value) {
                Some((_, table, _)) => *table |= bit,
                None => list.push((value.clone(), bit, env)),
            }
        }
        list
    }

    /// Returns the lane search, which must run on every path and be the only update of the element.
    fn search(&self) -> Result<Option<LaneSearch>, Fault> {
        let mut found = None;
        for (_, env) in self.ends() {
            let alone = env.halves == HALVES.map(Sym::Searched);
            match (found, env.search) {
                (None, Some(search)) if alone => found = Some(search),
                (None, None) => {}
                (Some(first), Some(search)) if first == search && alone => {}
                _ => {
                    let text = "searches lanes on some paths only, or also writes the element";
                    return Err(Fault::new(text, "split it into two actions").at(env.at[0]));
                }
            }
        }
        let none = self.ends().any(|(_, env)| env.search.is_none());
        if none && found.is_some() {
            return Err(Fault::new("searches lanes on some paths only", "split it into two actions"));
        }
        Ok(found)
    }

    fn updates<'e>(
        &'e self,
        half: Half,
        of: impl Fn(&'e Env) -> &'e Sym,
        idle: &Sym,
        at: usize,
    ) -> Result<[Option<Update>; 2], Fault> {
        let list = self.alternatives(of, idle);
        if let Some((_, _, env)) = list.get(2) {
            let text = format!(
                "gives {} {} different values; each half has two update ALUs",
                self.half_name(half),
                list.len()
            );
            let help = "compute one of the values in an earlier stage, or keep one by not writing it";
            return Err(Fault::new(text, help).at(env.at[at]));
        }
        let mut updates = [None; 2];
        for (slot, (sym, table, env)) in updates.iter_mut().zip(&list) {
            *slot = Some(self.update(Predicate::from_table(*table), sym, env.at[at])?);
        }
        let math = |u: &Option<Update>| {
            matches!(u.and_then(|u| u.b), Some(SourceB::MathMemory(_) | SourceB::MathPhv(_)))
        };
        if math(&updates[0]) {
            // The math unit feeds the second ALU.
            updates.swap(0, 1);
        }
        if math(&updates[0]) {
            let text =
                format!("gives {} two values of the math unit; it feeds one ALU", self.half_name(half));
            return Err(Fault::new(text, "compute one of them in another way").at(list[0].2.at[at]));
        }
        Ok(updates)
    }

    fn half_name(&self, half: Half) -> &'static str {
        match half {
            _ if !self.format.has_hi() => "the element",
            Half::Lo => "the low half",
            Half::Hi => "the high half",
        }
    }

    /// Returns a constant in the form that instructions take: small constants are signed, so that they need
    /// no row of the register file.
    fn constant(&self, value: u64) -> Constant {
        let spare = 64 - self.format.half_bits();
        let signed = ((value << spare) as i64) >> spare;
        let small = i64::from(self.spec.constant_min)..=i64::from(self.spec.constant_max);
        let wide = self.format.half_bits() > 32;
        Constant::Value(if small.contains(&signed) || wide { signed } else { value as i64 })
    }

    /// Returns the instruction that computes a value.
    fn update(&self, when: Predicate, sym: &Sym, loc: Loc) -> Result<Update, Fault> {
        let (op, a, b) = match sym {
            Sym::Const(value) => return Ok(Update::set_constant(when, self.constant(*value))),
            Sym::Param(n) => return Ok(Update::set_constant(when, params::row(*n, false))),
            Sym::Memory(half) => return Ok(Update::set_memory(when, *half)),
            Sym::Phv(n) => return Ok(Update::set_phv(when, operand(*n))),
            Sym::Op(op, a, b) => (*op, a, b),
            Sym::Math(..) => {
                let b = self.source_b(sym);
                return Ok(Update { when, op: SaluOp::AluB, a: None, b });
            }
            _ => {
                let text = "stores a value that can only be returned";
                return Err(Fault::new(text, "return it and store it in the next pass").at(loc));
            }
        };
        if !op.uses_b() {
            if let Some(a) = self.source_a(a) {
                return Ok(Update { when, op, a: Some(a), b: None });
            }
        } else if !op.uses_a() {
            if let Some(b) = self.source_b(b) {
                return Ok(Update { when, op, a: None, b: Some(b) });
            }
        } else if let (Some(a), Some(b)) = (self.source_a(a), self.source_b(b)) {
            return Ok(Update::binary(when, op, a, b));
        } else if let (Some(op), Some(a), Some(b)) = (swapped(op), self.source_a(b), self.source_b(a)) {
            return Ok(Update::binary(when, op, a, b));
        }
        let text = match (&**a, &**b) {
            (Sym::Op(..), _) | (_, Sym::Op(..)) => {
                "computes several operations in one value; an update ALU does one"
            }
            (Sym::Phv(_), Sym::Phv(_)) => {
                "computes on two values from the packet; an update ALU takes one of them and a half or a constant"
            }
            _ => "computes on both halves; an update ALU takes one half and a packet value or a constant",
        };
        Err(Fault::new(text, "compute a part of it in an earlier stage and pass it as a packet value")
            .at(loc))
    }

    fn source_a(&self, sym: &Sym) -> Option<SourceA> {
        match sym {
            Sym::Memory(half) => Some(SourceA::Memory(*half)),
            Sym::Const(value) => Some(SourceA::Constant(self.constant(*value))),
            Sym::Param(n) => Some(SourceA::Constant(params::row(*n, false))),
            _ => None,
        }
    }

    fn source_b(&self, sym: &Sym) -> Option<SourceB> {
        match sym {
            Sym::Phv(n) => Some(SourceB::Phv(operand(*n))),
            Sym::Const(value) => Some(SourceB::Constant(self.constant(*value))),
            Sym::Param(n) => Some(SourceB::Constant(params::row(*n, false))),
            Sym::Math(unit, of) if self.math.get().is_none_or(|m| m == *unit) => {
                self.math.set(Some(*unit));
                match **of {
                    Sym::Memory(half) => Some(SourceB::MathMemory(half)),
                    Sym::Phv(n) => Some(SourceB::MathPhv(operand(n))),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Returns the division whose quotient or remainder is an output.
    fn divide(&self, list: &[(Sym, u16, &Env)]) -> Option<Divide> {
        let source = |sym: &Sym| match sym {
            Sym::Memory(half) => Some(DivideSource::Memory(*half)),
            Sym::Phv(n) => Some(DivideSource::Phv(operand(*n))),
            Sym::Const(value) => Some(DivideSource::Constant(self.constant(*value))),
            Sym::Param(n) => Some(DivideSource::Constant(params::row(*n, false))),
            _ => None,
        };
        list.iter().find_map(|(sym, ..)| match sym {
            Sym::Quotient(a, b) | Sym::Remainder(a, b) => {
                Some(Divide { dividend: source(a)?, divisor: source(b)? })
            }
            _ => None,
        })
    }

    /// Finds the source of an output word.
    fn output(&self, word: usize, salu: &mut SaluProgram) -> Result<(), Fault> {
        let nothing = Sym::Const(0);
        let list = self.alternatives(|env| &env.outputs[word], &nothing);
        let Some((_, _, first)) = list.first() else { return Ok(()) };
        let divide = self.divide(&list);
        for (source, shows) in self.sources(&list) {
            if let Some(when) = self.when(word, &*shows) {
                if matches!(source, OutputSource::Quotient | OutputSource::Remainder) {
                    if salu.divide.is_some() && salu.divide != divide {
                        let text = "divides twice; a stateful ALU has one divider";
                        return Err(Fault::new(text, "use two registers").at(first.at[2 + word]));
                    }
                    salu.divide = divide;
                }
                salu.outputs[word] = Some(Output { when, source });
                return Ok(());
            }
        }
        let free = !self.format.has_hi() && salu.hi == [None; 2];
        if free && list.len() <= 2 {
            // A single element leaves the high ALUs idle, so they can compute an output that is not stored.
            salu.hi = self.updates(Half::Hi, |env| &env.outputs[word], &nothing, 2 + word)?;
            salu.outputs[word] = Some(Output::always(OutputSource::Alu(Half::Hi)));
            return Ok(());
        }
        let text = "returns different values in different cases; an output word shows one source or 0";
        let help =
            "return the old or the new value of one half, or a 1-bit flag, and choose in the next stage";
        Err(Fault::new(text, help).at(first.at[2 + word]))
    }

    /// Returns the possible sources of a word, with the value that each gives for an outcome.
    fn sources<'s>(&self, list: &[(Sym, u16, &Env)]) -> Vec<(OutputSource, Shows<'s>)> {
        let mut all: Vec<(OutputSource, Shows<'s>)> = Vec::new();
        for half in HALVES.into_iter().take(if self.format.has_hi() { 2 } else { 1 }) {
            all.push((OutputSource::Memory(half), Box::new(move |_, _| Sym::Memory(half))));
            all.push((
                OutputSource::Alu(half),
                Box::new(move |_, env: &Env| env.halves[half as usize].clone()),
            ));
        }
        for n in 0..2 {
            all.push((OutputSource::Phv(operand(n)), Box::new(move |_, _| Sym::Phv(n))));
        }
        if let [(Sym::Const(value), ..)] = list
            && value.is_power_of_two()
            && let shift @ 0..=31 = value.trailing_zeros()
        {
            let value = *value;
            all.push((OutputSource::Flag { shift: shift as u8 }, Box::new(move |_, _| Sym::Const(value))));
        }
        for (sym, ..) in list {
            let source = match sym {
                Sym::Outcome(_) => {
                    // Comparators that do not exist are always false.
                    let units = (1u16 << self.paths.comparators.len().min(4)) - 1;
                    all.push((
                        OutputSource::OneHot,
                        Box::new(move |outcome, _| Sym::Outcome(outcome & units)),
                    ));
                    continue;
                }
                Sym::Address => OutputSource::Address,
                Sym::Quotient(..) => OutputSource::Quotient,
                Sym::Remainder(..) => OutputSource::Remainder,
                Sym::Lane(LanePart::Value) => OutputSource::LaneValue,
                Sym::Lane(LanePart::Changed) => OutputSource::LaneChanged,
                Sym::Lane(LanePart::Index) => OutputSource::LaneIndex,
                _ => continue,
            };
            let shown = sym.clone();
            all.push((source, Box::new(move |_, _| shown.clone())));
        }
        all
    }

    /// Returns the outcomes for which a source must be selected so that the word is correct in all of them.
    fn when(&self, word: usize, shows: &dyn Fn(u16, &Env) -> Sym) -> Option<Predicate> {
        let mut table = 0;
        for (bit, env) in self.ends() {
            let wanted = &env.outputs[word];
            if *wanted == shows(bit.trailing_zeros() as u16, env) {
                table |= bit;
            } else if *wanted != Sym::Const(0) {
                return None;
            }
        }
        Some(Predicate::from_table(table))
    }

    /// Returns the instruction of a one-bit access: it writes the bit, and outputs the old bit or its
    /// complement.
    fn bit(&self) -> Result<SaluProgram, Fault> {
        let Some(env) = self.paths.end(0) else { return Ok(SaluProgram::new(self.format)) };
        let old = Sym::Memory(Half::Lo);
        let complement = match &env.outputs[0] {
            out if *out == old || *out == Sym::Const(0) => false,
            Sym::Op(SaluOp::Nota, a, _) if **a == old => true,
            Sym::Op(SaluOp::Xor, a, b) if **a == old && **b == Sym::Const(1) => true,
            _ => {
                let text = "returns something other than the old bit; a one-bit access returns that or its complement";
                return Err(Fault::new(text, "return the bit before it is written").at(env.at[2]));
            }
        };
        let op = match (&env.halves[0], complement) {
            (Sym::Const(1), false) => BitOp::Set,
            (Sym::Const(1), true) => BitOp::SetC,
            (Sym::Const(0), false) => BitOp::Clr,
            (Sym::Const(0), true) => BitOp::ClrC,
            (new, false) if *new == old => BitOp::Read,
            (new, true) if *new == old => BitOp::ReadC,
            _ => {
                let text = "computes the bit; a one-bit access sets it, clears it or leaves it";
                return Err(Fault::new(text, "use elements of 8 bits").at(env.at[0]));
            }
        };
        let mut salu = SaluProgram::new(self.format);
        salu.bit = Some(op);
        for word in 1..4 {
            if env.outputs[word] != Sym::Const(0) {
                let text = format!("writes output word {word}; a one-bit access has word 0 only");
                return Err(Fault::new(text, "use one output").at(env.at[2 + word]));
            }
        }
        if env.outputs[0] != Sym::Const(0) {
            salu.outputs[0] = Some(Output::always(OutputSource::Alu(Half::Lo)));
        }
        Ok(salu)
    }
}

fn operand(n: usize) -> Half {
    if n == 0 { Half::Lo } else { Half::Hi }
}

/// Returns the instruction with exchanged operands, if there is one.
const fn swapped(op: SaluOp) -> Option<SaluOp> {
    Some(match op {
        SaluOp::Sub => SaluOp::Subr,
        SaluOp::Subr => SaluOp::Sub,
        SaluOp::Ssubu => SaluOp::Ssubru,
        SaluOp::Ssubru => SaluOp::Ssubu,
        SaluOp::Ssubs => SaluOp::Ssubrs,
        SaluOp::Ssubrs => SaluOp::Ssubs,
        SaluOp::Andca => SaluOp::Andcb,
        SaluOp::Andcb => SaluOp::Andca,
        SaluOp::Orca => SaluOp::Orcb,
        SaluOp::Orcb => SaluOp::Orca,
        SaluOp::Add
        | SaluOp::Saddu
        | SaluOp::Sadds
        | SaluOp::Minu
        | SaluOp::Mins
        | SaluOp::Maxu
        | SaluOp::Maxs
        | SaluOp::Nor
        | SaluOp::Xor
        | SaluOp::Nand
        | SaluOp::And
        | SaluOp::Xnor
        | SaluOp::Or => op,
        SaluOp::Setz | SaluOp::Nota | SaluOp::Notb | SaluOp::AluA | SaluOp::AluB | SaluOp::Sethi => {
            return None;
        }
    })
}
