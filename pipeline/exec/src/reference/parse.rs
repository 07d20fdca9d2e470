//! The parser: walks the state graph over the packet's head.

use super::checksum::sum_of_values;
use super::eval::Env;
use super::trace::Event;
use super::{Run, Tracer};
use bitvec::field::BitField;
use bitvec::order::Msb0;
use bitvec::view::BitView;
use sluice_asic::alu::width_mask;
use sluice_control::has_match;
use sluice_ir::entity::EntityMap;
use sluice_ir::parser_unroll::LOOP_REACH;
use sluice_ir::{
    CounterLoad, Expr, Header, Loc, Lookahead, Next, ParserOp, ParserOpKind, ParserState, SelectArm,
    SelectKey, Stack, StateData,
};

/// Most states that a parser may enter for one packet before its hardware timeout. No verified program reaches this limit.
pub const PARSER_FUEL: u32 = 1 << 14;

/// `parser_err` bits that the interpreter can set (model: chip §10).
mod error {
    /// No select arm matched, or a header stack is full.
    pub(super) const NO_MATCH: u16 = 0x001;
    /// The packet ends inside a header.
    pub(super) const PARTIAL_HEADER: u16 = 0x002;
    /// The counter was loaded from a field above the largest value allowed.
    pub(super) const COUNTER_RANGE: u16 = 0x004;
    /// An extractor takes bytes that the packet does not have; only of a parser that writes once.
    pub(super) const SOURCE_EXTRACTOR: u16 = 0x020;
    /// Hardware timeout.
    pub(super) const TIMEOUT: u16 = 0x010;
    /// A header is extracted a second time by a parser that writes once.
    pub(super) const SECOND_WRITE: u16 = 0x100;
    /// A verified checksum is wrong.
    pub(super) const CHECKSUM: u16 = 0x1000;
}

/// Returns `width` bits of a packet's head from bit `at` on, most significant first. The caller has checked the length; the
/// verifier refuses widths other than 1 to 128.
fn bits(head: &[u8], at: usize, width: usize) -> u128 {
    head.view_bits::<Msb0>()[at..at + width].load_be()
}

/// Result of parsing.
#[derive(Default)]
pub(super) struct Parsed {
    /// Bytes that were extracted or skipped.
    pub(super) bytes: usize,
    /// `parser_err` bits of the error that ended parsing.
    pub(super) error: u16,
    /// `parser_err` bits of errors that did not end parsing.
    pub(super) flags: u16,
    /// Clock cycles of the states entered.
    pub(super) cycles: u16,
    counter: i8,
    /// Counter stack; true for values that change with the one above.
    pushed: Vec<(i8, bool)>,
    /// Extracted elements of each header stack.
    taken: EntityMap<Stack, usize>,
    /// Headers extracted so far.
    extracted: Vec<Header>,
}

impl<T: Tracer> Run<'_, T> {
    pub(super) fn parse(&mut self, head: &[u8]) -> Parsed {
        let taken = EntityMap::filled(self.program.stacks.len(), |_| 0);
        let mut parsed = Parsed { taken, ..Parsed::default() };
        let reach = if self.loops[self.gress.index()] { LOOP_REACH as usize } else { head.len() };
        let head = &head[..reach.min(head.len())];
        let mut next = self.program.pipe(self.gress).start;
        let mut fuel = PARSER_FUEL;
        while let Next::State(state) = next {
            if fuel == 0 {
                parsed.error |= error::TIMEOUT;
                return parsed;
            }
            fuel -= 1;
            match self.state(state, head, &mut parsed) {
                Some(n) => next = n,
                None => return parsed,
            }
        }
        if next == Next::Reject {
            parsed.error |= error::NO_MATCH;
        }
        parsed
    }

    /// Runs one state and returns its successor; `None` if parsing ended with an error, which is in `parsed`.
    fn state(&mut self, state: ParserState, head: &[u8], parsed: &mut Parsed) -> Option<Next> {
        let data = &self.program.states[state];
        let cycles = self.options.parser_cycles[self.gress.index()].get(state).copied().unwrap_or(1);
        parsed.cycles = parsed.cycles.saturating_add(cycles);
        self.tell(&Event::State { state, offset: parsed.bytes, cycles });
        for (at, op) in data.ops.iter().enumerate() {
            if self.parser_op(op, head, parsed).is_none() {
                let missing = parsed.error & error::PARTIAL_HEADER != 0 && self.options.writes_once;
                if missing && data.ops[at..].iter().any(|op| self.extracts(op)) {
                    parsed.error |= error::SOURCE_EXTRACTOR;
                }
                return None;
            }
        }
        self.select(state, data, head, parsed)
    }

    /// Returns true if an operation needs an extractor that takes bytes of the packet.
    fn extracts(&self, op: &ParserOp) -> bool {
        match op.kind {
            ParserOpKind::Extract(header) => self.program.header_bits(header) > 0,
            ParserOpKind::ExtractNext(_) | ParserOpKind::Lookahead(..) => true,
            _ => false,
        }
    }

    fn parser_op(&mut self, op: &ParserOp, head: &[u8], parsed: &mut Parsed) -> Option<()> {
        match &op.kind {
            ParserOpKind::Extract(header) => self.extract(*header, head, parsed)?,
            ParserOpKind::Set(field, value) => {
                let new = Env { program: self.program, phv: self.phv, args: &[] }.value(value);
                self.write(*field, new, op.loc);
            }
            ParserOpKind::SetSlice(field, hi, lo, value) => {
                let new = Env { program: self.program, phv: self.phv, args: &[] }.value(value);
                let mask = width_mask(u32::from(*hi) + 1) & !width_mask(u32::from(*lo));
                self.write(*field, self.phv.field(*field) & !mask | new << lo & mask, op.loc);
            }
            ParserOpKind::SetValid(header, valid) => {
                self.phv.set_valid(*header, *valid);
                self.tell(&Event::Validity { header: *header, valid: *valid, loc: op.loc });
            }
            ParserOpKind::VerifyChecksum(field, inputs) => {
                let sum = self.sum(inputs);
                let wrong = sum != u16::MAX;
                self.tell(&Event::Verified { field: *field, wrong, loc: op.loc });
                let before = self.phv.field(*field);
                self.write(*field, before | u128::from(wrong), op.loc);
                if wrong {
                    parsed.flags |= error::CHECKSUM;
                }
            }
            ParserOpKind::SubtractChecksum(field, inputs) => {
                // Subtracting a sum is adding its complement.
                let out = !self.sum(inputs);
                let (rest, carry) = (self.phv.field(*field) as u16).overflowing_add(out);
                self.write(*field, (rest + u16::from(carry)).into(), op.loc);
            }
            ParserOpKind::Advance(bytes) => {
                let bytes = usize::from(*bytes);
                parsed.holds(head, bytes * 8)?;
                self.tell(&Event::Skipped { bytes, offset: parsed.bytes });
                parsed.bytes += bytes;
            }
            ParserOpKind::Lookahead(field, at) => {
                let ahead = Lookahead { at: *at, width: self.program.fields[*field].width };
                let value = parsed.ahead(head, ahead)?;
                self.write(*field, value, op.loc);
            }
            ParserOpKind::SetCounter(load) => {
                parsed.counter = self.load_counter(*load, head, op.loc, parsed)?;
            }
            ParserOpKind::PushCounter(load, linked) => {
                let value = self.load_counter(*load, head, op.loc, parsed)?;
                parsed.pushed.push((std::mem::replace(&mut parsed.counter, value), *linked));
            }
            // The verifier has checked that the counter stack is not empty.
            ParserOpKind::PopCounter => {
                parsed.counter = parsed.pushed.pop().unwrap_or_default().0;
                self.tell(&Event::ParserCounter { value: parsed.counter, loc: op.loc });
            }
            ParserOpKind::AddCounter(by) => {
                parsed.counter = parsed.counter.wrapping_add(*by);
                let below = parsed.pushed.iter_mut().rev().take_while(|(_, linked)| *linked);
                below.for_each(|(value, _)| *value = value.wrapping_add(*by));
                self.tell(&Event::ParserCounter { value: parsed.counter, loc: op.loc });
            }
            ParserOpKind::ExtractNext(stack) => {
                let next = self.program.stacks[*stack].headers.get(parsed.taken[*stack]).copied();
                let Some(header) = next else {
                    parsed.error |= error::NO_MATCH;
                    return None;
                };
                self.extract(header, head, parsed)?;
                parsed.taken[*stack] += 1;
            }
        }
        Some(())
    }

    /// Returns the ones' complement sum of fields and zeros.
    fn sum(&self, inputs: &[Expr]) -> u16 {
        let env = Env { program: self.program, phv: self.phv, args: &[] };
        sum_of_values(inputs.iter().map(|input| (env.value(input), input.width(self.program))))
    }

    fn load_counter(&mut self, load: CounterLoad, head: &[u8], loc: Loc, parsed: &mut Parsed) -> Option<i8> {
        let from = match load {
            CounterLoad::Const(_) => 0,
            CounterLoad::Ahead { at, .. } => parsed.ahead(head, Lookahead { at, width: 8 })? as u8,
            CounterLoad::Field { field, .. } => self.phv.field(field) as u8,
        };
        let value = load.value(from);
        match value {
            Some(value) => self.tell(&Event::ParserCounter { value, loc }),
            None => parsed.error |= error::COUNTER_RANGE,
        }
        value
    }

    fn extract(&mut self, header: Header, head: &[u8], parsed: &mut Parsed) -> Option<()> {
        let bytes = self.program.header_bits(header).div_ceil(8) as usize;
        if self.options.writes_once && parsed.extracted.contains(&header) {
            parsed.error |= error::SECOND_WRITE;
            return None;
        }
        parsed.holds(head, bytes * 8)?;
        parsed.extracted.push(header);
        let mut at = parsed.bytes * 8;
        for &field in &self.program.headers[header].fields {
            let width = usize::from(self.program.fields[field].width);
            self.phv.set(self.program, field, bits(head, at, width));
            at += width;
        }
        self.phv.set_valid(header, true);
        self.tell(&Event::Extracted { header, offset: parsed.bytes });
        parsed.bytes += bytes;
        Some(())
    }

    fn select(
        &mut self,
        state: ParserState,
        data: &StateData,
        head: &[u8],
        parsed: &mut Parsed,
    ) -> Option<Next> {
        let keys = data.select.iter().map(|&k| self.key(k, head, parsed));
        let values: Vec<u128> = keys.collect::<Option<_>>()?;
        let arm = data.arms.iter().position(|arm| self.takes(arm, &values));
        let next = arm.map_or(data.default, |arm| data.arms[arm].next);
        self.tell(&Event::Selected { state, values: &values, arm, next });
        Some(next)
    }

    /// Returns true if the keys of a select have the values of an arm, and are in its value set if it has one.
    fn takes(&self, arm: &SelectArm, keys: &[u128]) -> bool {
        let fits = arm.values.iter().zip(keys).all(|(&(value, mask), key)| value & mask == key & mask);
        fits && arm.set.is_none_or(|of| {
            let from = keys.get(usize::from(of.first)..).unwrap_or_default();
            has_match(&self.control.value_sets[of.set], from)
        })
    }

    fn key(&self, key: SelectKey, head: &[u8], parsed: &mut Parsed) -> Option<u128> {
        match key {
            SelectKey::Field(f) => Some(self.phv.field(f)),
            SelectKey::Lookahead(ahead) => parsed.ahead(head, ahead),
            SelectKey::CounterIsZero => Some((parsed.counter == 0).into()),
            SelectKey::CounterIsNegative => Some((parsed.counter < 0).into()),
            // The verifier has checked that an element was extracted.
            SelectKey::Last(stack, position) => {
                let last = parsed.taken[stack].checked_sub(1);
                let header = last.and_then(|at| self.program.stacks[stack].headers.get(at))?;
                let field = self.program.headers[*header].fields.get(usize::from(position))?;
                Some(self.phv.field(*field))
            }
        }
    }
}

impl Parsed {
    /// Ends parsing unless the packet has this many more bits.
    fn holds(&mut self, head: &[u8], bits: usize) -> Option<()> {
        let enough = self.bytes * 8 + bits <= head.len() * 8;
        if !enough {
            self.error |= error::PARTIAL_HEADER;
        }
        enough.then_some(())
    }

    /// Returns bits ahead of the current position.
    fn ahead(&mut self, head: &[u8], ahead: Lookahead) -> Option<u128> {
        let (at, width) = (usize::from(ahead.at), usize::from(ahead.width));
        self.holds(head, ahead.reach() as usize * 8)?;
        Some(bits(head, self.bytes * 8 + at, width))
    }
}
