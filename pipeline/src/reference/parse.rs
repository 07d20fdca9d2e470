//! The parser: walks the state graph over the packet's head. What may not live here: control flow.

use super::checksum::ones_complement_sum;
use super::eval::Env;
use super::trace::Event;
use super::{Run, Tracer};
use crate::ir::{Header, Next, ParserOp, ParserOpKind, ParserState, StateData};

/// States that a parser may enter for one packet before its hardware timeout strikes. No legal graph comes
/// near it: a graph with a cycle does, if no state of the cycle runs out of packet.
pub const PARSER_FUEL: u32 = 256;

/// `parser_err` bits that the interpreter can set (facts: asic §10).
mod error {
    /// No select arm matched.
    pub(super) const NO_MATCH: u16 = 0x001;
    /// The packet ended inside a header.
    pub(super) const PARTIAL_HEADER: u16 = 0x002;
    /// Hardware timeout.
    pub(super) const TIMEOUT: u16 = 0x010;
}

/// `width` bits of a packet's head from bit `at` on, most significant first; the caller has checked the length.
fn bits(head: &[u8], at: usize, width: usize) -> u128 {
    (at..at + width).fold(0, |value, bit| value << 1 | u128::from(head[bit / 8] >> (7 - bit % 8) & 1))
}

/// How parsing ended.
pub(super) struct Parsed {
    /// Bytes that headers took from the packet.
    pub(super) bytes: usize,
    /// `parser_err`.
    pub(super) error: u16,
    /// Clock cycles of the states entered.
    pub(super) cycles: u16,
}

impl<T: Tracer> Run<'_, T> {
    pub(super) fn parse(&mut self, head: &[u8]) -> Parsed {
        let mut parsed = Parsed { bytes: 0, error: 0, cycles: 0 };
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

    /// Runs one state; `None` when parsing ended in an error, which is in `parsed`.
    fn state(&mut self, state: ParserState, head: &[u8], parsed: &mut Parsed) -> Option<Next> {
        let data = &self.program.states[state];
        let cycles = self.options.parser_cycles[self.gress.index()].get(state).copied().unwrap_or(1);
        parsed.cycles = parsed.cycles.saturating_add(cycles);
        self.tell(&Event::State { state, offset: parsed.bytes, cycles });
        for op in &data.ops {
            self.parser_op(op, head, parsed)?;
        }
        Some(self.select(state, data))
    }

    fn parser_op(&mut self, op: &ParserOp, head: &[u8], parsed: &mut Parsed) -> Option<()> {
        match &op.kind {
            ParserOpKind::Extract(header) => self.extract(*header, head, parsed)?,
            ParserOpKind::Set(field, value) => {
                let new = Env { program: self.program, phv: self.phv, args: &[] }.value(value);
                self.write(*field, new, op.loc);
            }
            ParserOpKind::VerifyChecksum(field, inputs) => {
                let sum = ones_complement_sum(self.program, self.phv, inputs);
                let wrong = sum != u16::MAX;
                self.tell(&Event::Verified { field: *field, wrong, loc: op.loc });
                self.write(*field, wrong.into(), op.loc);
            }
        }
        Some(())
    }

    fn extract(&mut self, header: Header, head: &[u8], parsed: &mut Parsed) -> Option<()> {
        let bytes = self.program.header_bits(header).div_ceil(8) as usize;
        if parsed.bytes + bytes > head.len() {
            parsed.error |= error::PARTIAL_HEADER;
            return None;
        }
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

    fn select(&mut self, state: ParserState, data: &StateData) -> Next {
        let values: Vec<u128> = data.select.iter().map(|&f| self.phv.field(f)).collect();
        let arm = data.arms.iter().find(|arm| {
            arm.values.iter().zip(&values).all(|(&(value, mask), found)| value & mask == found & mask)
        });
        let next = arm.map_or(data.default, |arm| arm.next);
        self.tell(&Event::Selected { state, values: &values, next });
        next
    }
}
