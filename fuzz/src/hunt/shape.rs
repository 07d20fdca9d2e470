//! Draws packets for a program by random walks through its parser, with field values from its tables and conditions.

use super::egress_headers::EgressHeaders;
#[cfg(feature = "strategies")]
use super::field_offsets::accepts;
use super::field_offsets::{bits, field_offsets, set_bits};
use super::fixup::{fix_lengths_and_checksums, fix_with};
use super::pools::{Masked, Pools};
use crate::Draw;
use sluice_asic::gress::Gress;
use sluice_ir::{Field, Header, Next, ParserOpKind, ParserState, Program, SelectArm, SelectKey, StateData};
use std::collections::BTreeMap;

/// Most states of a walk.
const MOST_STATES: usize = 48;
/// Most bytes of headers.
const MOST_BYTES: usize = 400;
/// Most packets that are drawn until the parser accepts one.
#[cfg(feature = "strategies")]
const TRIES: usize = 16;

/// Draws and mutates packets for a program.
#[derive(Clone, Copy, Debug)]
pub struct Packets<'p> {
    program: &'p Program,
    pools: &'p Pools,
}

impl<'p> Packets<'p> {
    /// Returns a source of packets for `program`.
    #[must_use]
    pub fn new(program: &'p Program, pools: &'p Pools) -> Packets<'p> {
        Packets { program, pools }
    }

    /// Draws a packet: headers along a path of the parser, `wanted` values in the fields that the packet has, and a payload.
    /// Some packets are cut short, have a flipped bit, or wrong lengths and checksums.
    #[must_use]
    pub fn draw(&self, wanted: &[(Field, Masked)], d: &mut Draw<'_>) -> Vec<u8> {
        let mut bytes = self.walked(wanted, d);
        if !d.chance(1, 8) {
            fix_with(&mut bytes, !d.chance(1, 8));
        }
        self.harm(&mut bytes, d);
        bytes
    }

    /// Draws a packet that the ingress parser accepts, with right lengths and checksums, in at most [`TRIES`] tries.
    #[cfg(feature = "strategies")]
    pub(crate) fn whole(&self, d: &mut Draw<'_>) -> Vec<u8> {
        let mut bytes = Vec::new();
        for _ in 0..TRIES {
            bytes = self.walked(&[], d);
            fix_lengths_and_checksums(&mut bytes);
            if accepts(self.program, &bytes) {
                break;
            }
        }
        bytes
    }

    /// Draws headers along a path of the parser, with `wanted` values, and a payload.
    fn walked(&self, wanted: &[(Field, Masked)], d: &mut Draw<'_>) -> Vec<u8> {
        // Half of the packets follow the egress parser, if it extracts headers that ingress does not.
        let egress = self.pools.egress.as_ref().filter(|_| d.chance(1, 2));
        let (at, taken) = (BTreeMap::new(), BTreeMap::new());
        let mut walk = Walk { of: self, bytes: Bits::default(), at, taken, egress };
        walk.run(wanted, d);
        let mut bytes = walk.bytes.bytes;
        let payload = [46, 6, 0, 1, 64, 300, 1400][d.below(7)];
        let fill = d.word() as u8;
        bytes.extend((0..payload).map(|i| fill.wrapping_add(i as u8)));
        bytes
    }

    /// Gives one field of a packet another value; returns false if the packet has no fields. All fields are equally likely,
    /// whatever their width.
    fn other_field(&self, bytes: &mut [u8], d: &mut Draw<'_>) -> bool {
        let egress = self.pools.egress.as_ref().filter(|_| d.chance(1, 2));
        let fields = field_offsets(self.program, egress, bytes);
        let Some((field, at)) = d.pick(&fields) else { return false };
        let width = self.program.fields[field].width;
        let Some(was) = bits(bytes, at, width) else { return false };
        let value = match d.below(4) {
            0 => was ^ 1 << d.below(usize::from(width.min(128))),
            1 => was.wrapping_add([1, u128::MAX][d.below(2)]),
            _ => {
                let twin = egress.and_then(|b| b.twins.get(&field)).filter(|_| d.chance(1, 2));
                self.pools.value(twin.copied().unwrap_or(field), width, d)
            }
        };
        set_bits(bytes, at, width, value);
        true
    }

    /// Returns the packet with the `wanted` values in the fields that it has.
    pub(crate) fn with(&self, bytes: &[u8], wanted: &[(Field, Masked)], d: &mut Draw<'_>) -> Vec<u8> {
        let mut frame = bytes.to_vec();
        let fields = field_offsets(self.program, self.egress_for(wanted, d), bytes);
        for (field, (value, mask)) in wanted {
            let width = self.program.fields[*field].width;
            for (_, at) in fields.iter().filter(|(f, _)| f == field) {
                let was = bits(bytes, *at, width).unwrap_or_default();
                set_bits(&mut frame, *at, width, was & !mask | value & mask);
            }
        }
        if !d.chance(1, 8) {
            fix_with(&mut frame, !d.chance(1, 4));
        }
        frame
    }

    /// Returns the egress headers if a wanted field belongs to egress, else in half of the cases.
    fn egress_for(&self, wanted: &[(Field, Masked)], d: &mut Draw<'_>) -> Option<&'p EgressHeaders> {
        let egress = wanted.iter().any(|(w, _)| self.program.fields[*w].gress == Gress::Egress);
        self.pools.egress.as_ref().filter(|_| egress || d.chance(1, 2))
    }

    /// Returns copies of the packet in which one field counts up, so that a value that must agree with another field occurs
    /// in one of them. In three of four cases the field shares a header with a wanted field.
    pub(crate) fn sweep(
        &self,
        bytes: &[u8],
        wanted: &[(Field, Masked)],
        frames: usize,
        d: &mut Draw<'_>,
    ) -> Vec<Vec<u8>> {
        let egress = self.egress_for(wanted, d);
        let home = |field: &Field| self.program.fields[*field].home;
        let mut fields = field_offsets(self.program, egress, bytes);
        if d.chance(3, 4) {
            let beside = |(field, _): &(Field, usize)| {
                wanted.iter().any(|(w, _)| w != field && home(w) == home(field))
            };
            let near: Vec<(Field, usize)> = fields.iter().copied().filter(beside).collect();
            fields = if near.is_empty() { fields } else { near };
        }
        let Some((field, at)) = d.pick(&fields) else { return Vec::new() };
        let width = self.program.fields[field].width;
        let Some(was) = bits(bytes, at, width) else { return Vec::new() };
        // From 0 up, or around the packet's own value.
        let first = if d.chance(1, 2) { 0 } else { was.wrapping_sub(frames as u128 / 2) };
        let right = !d.chance(1, 8);
        let frame = |n: usize| {
            let mut frame = bytes.to_vec();
            let value = first.wrapping_add(n as u128) & sluice_asic::alu::width_mask(width.into());
            set_bits(&mut frame, at, width, value);
            if right {
                fix_lengths_and_checksums(&mut frame);
            }
            frame
        };
        (0..frames).map(frame).collect()
    }

    /// Cuts one packet in twelve short, and flips a bit of one in twelve.
    fn harm(&self, bytes: &mut Vec<u8>, d: &mut Draw<'_>) {
        if d.chance(1, 12) {
            let len = 1 + d.below(bytes.len());
            bytes.truncate(len);
        }
        if d.chance(1, 12) && !bytes.is_empty() {
            let at = d.below(bytes.len().min(64));
            bytes[at] ^= 1 << d.below(8);
        }
    }

    /// Changes a packet: a field, a byte or word among its headers, its end, or its checksums.
    pub(crate) fn mutate(&self, bytes: &mut Vec<u8>, d: &mut Draw<'_>) {
        if d.chance(1, 2) && self.other_field(bytes, d) {
            if !d.chance(1, 8) {
                fix_lengths_and_checksums(bytes);
            }
            return;
        }
        let at = d.below(bytes.len().min(96));
        let Some(byte) = bytes.get_mut(at) else { return };
        match d.below(7) {
            0 => *byte = d.value(8) as u8,
            1 => *byte ^= 1 << d.below(8),
            2 => *byte = byte.wrapping_add(1),
            3 => *byte = byte.wrapping_sub(1),
            4 => {
                let value = (d.value(16) as u16).to_be_bytes();
                bytes.iter_mut().skip(at).zip(value).for_each(|(to, v)| *to = v);
            }
            5 => {
                let value = (d.value(32) as u32).to_be_bytes();
                bytes.iter_mut().skip(at).zip(value).for_each(|(to, v)| *to = v);
            }
            _ => self.harm(bytes, d),
        }
        if !d.chance(1, 8) {
            fix_lengths_and_checksums(bytes);
        }
    }
}

/// State of a walk through the parser.
struct Walk<'w, 'p> {
    of: &'w Packets<'p>,
    bytes: Bits,
    /// Bit offset of each extracted field.
    at: BTreeMap<Field, usize>,
    /// Extracted elements of each header stack.
    taken: BTreeMap<sluice_ir::Stack, usize>,
    /// Headers of the egress parser if the walk follows that one; `None` for the ingress parser.
    egress: Option<&'w EgressHeaders>,
}

impl Walk<'_, '_> {
    fn run(&mut self, aim: &[(Field, Masked)], d: &mut Draw<'_>) {
        let program = self.of.program;
        let mut wanted = self.of.pools.wanted(d);
        // Of several values for a field, the last one counts.
        wanted.extend_from_slice(aim);
        // Bits ahead of the place where a select looks at them.
        let mut ahead: Vec<(usize, u16, Masked)> = Vec::new();
        let gress = if self.egress.is_some() { Gress::Egress } else { Gress::Ingress };
        let mut next = program.pipe(gress).start;
        for _ in 0..MOST_STATES {
            let Next::State(state) = next else { break };
            if self.bytes.len() / 8 > MOST_BYTES {
                break;
            }
            next = self.state(state, &wanted, &mut ahead, d);
        }
        for (at, width, value) in ahead {
            // The bytes ahead that a select compares must exist.
            while self.bytes.len() < at + usize::from(width) {
                self.bytes.push(d.value(8), 8);
            }
            self.bytes.set(at, width, value);
        }
    }

    fn state(
        &mut self,
        state: ParserState,
        wanted: &[(Field, Masked)],
        ahead: &mut Vec<(usize, u16, Masked)>,
        d: &mut Draw<'_>,
    ) -> Next {
        let program = self.of.program;
        let data = &program.states[state];
        let (mut last, mut full) = (None, false);
        for op in &data.ops {
            match &op.kind {
                ParserOpKind::Extract(header) => self.extract(*header, wanted, d),
                ParserOpKind::ExtractNext(stack) => {
                    let taken = self.taken.entry(*stack).or_insert(0);
                    let header = program.stacks[*stack].headers.get(*taken).copied();
                    *taken += 1;
                    match header {
                        Some(header) => {
                            self.extract(header, wanted, d);
                            last = Some(header);
                        }
                        None => full = true,
                    }
                }
                ParserOpKind::Advance(bytes) => (0..*bytes).for_each(|_| self.bytes.push(d.value(8), 8)),
                _ => {}
            }
        }
        if full {
            return Next::Accept;
        }
        let Some(arm) = self.arm(data, d) else { return data.default };
        let values = self.of.pools.arm_values(arm, d);
        for (key, value) in data.select.iter().zip(&values) {
            let field = match key {
                SelectKey::Field(field) => Some(*field),
                SelectKey::Last(_, position) => {
                    last.and_then(|h| program.headers[h].fields.get(usize::from(*position)).copied())
                }
                SelectKey::Lookahead(look) => {
                    ahead.push((self.bytes.len() + usize::from(look.at), look.width, *value));
                    None
                }
                SelectKey::CounterIsZero | SelectKey::CounterIsNegative => None,
            };
            if let Some((field, at)) = field.and_then(|f| Some((f, *self.at.get(&f)?))) {
                self.bytes.set(at, program.fields[field].width, *value);
            }
        }
        arm.next
    }

    /// Draws an arm of a select; `None` for the default. A walk through egress mostly takes arms towards headers that
    /// ingress does not extract.
    fn arm<'a>(&self, data: &'a StateData, d: &mut Draw<'_>) -> Option<&'a SelectArm> {
        if let Some(egress) = self.egress
            && d.chance(3, 4)
        {
            let leads = |next: Next| matches!(next, Next::State(s) if egress.leads.contains(&s));
            let arms: Vec<usize> = (0..data.arms.len()).filter(|n| leads(data.arms[*n].next)).collect();
            if let Some(n) = d.pick(&arms) {
                return data.arms.get(n);
            }
        }
        let taken = d.below(data.arms.len() + 1).checked_sub(1).and_then(|n| data.arms.get(n));
        // The device sets intrinsic metadata, so an arm that no packet from the front panel can take is replaced by the
        // default. Otherwise half of the packets would not have the headers that the parser expects.
        taken.filter(|arm| self.egress.is_some() || self.of.pools.can_come(self.of.program, data, arm))
    }

    fn extract(&mut self, header: Header, wanted: &[(Field, Masked)], d: &mut Draw<'_>) {
        let program = self.of.program;
        if self.egress.is_some_and(|egress| egress.inside.contains(&header)) {
            return;
        }
        for &field in &program.headers[header].fields {
            let width = program.fields[field].width;
            // Tables of ingress know the same field by another name.
            let twin = self.egress.and_then(|egress| egress.twins.get(&field));
            let known = twin.filter(|_| d.chance(1, 2)).copied().unwrap_or(field);
            let mut value = self.of.pools.value(known, width, d);
            for (_, (want, mask)) in wanted.iter().filter(|(f, _)| *f == field || Some(f) == twin) {
                value = value & !mask | want & mask;
            }
            self.at.insert(field, self.bytes.len());
            self.bytes.push(value, width);
        }
    }
}

/// Bits in wire order.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    /// Number of unused bits of the last byte.
    spare: usize,
}

impl Bits {
    fn len(&self) -> usize {
        self.bytes.len() * 8 - self.spare
    }

    fn push(&mut self, value: u128, width: u16) {
        let at = self.len();
        let end = at + usize::from(width);
        self.bytes.resize(end.div_ceil(8), 0);
        self.spare = self.bytes.len() * 8 - end;
        self.set(at, width, (value, u128::MAX));
    }

    /// Sets the bits of a value that its mask selects.
    fn set(&mut self, at: usize, width: u16, (value, mask): Masked) {
        let whole = sluice_asic::alu::width_mask(u32::from(width));
        if (at | usize::from(width)).is_multiple_of(8) && mask & whole == whole {
            // The common case: whole bytes.
            let (from, len) = (at / 8, usize::from(width / 8));
            let bytes = value.to_be_bytes();
            let own = bytes.len().saturating_sub(len);
            for (to, byte) in self.bytes.iter_mut().skip(from).zip(&bytes[own..]) {
                *to = *byte;
            }
            return;
        }
        for i in 0..usize::from(width) {
            let shift = usize::from(width) - 1 - i;
            if mask >> shift & 1 == 1 {
                let bit = 0x80 >> ((at + i) % 8);
                let byte = &mut self.bytes[(at + i) / 8];
                *byte = *byte & !bit | if value >> shift & 1 == 1 { bit } else { 0 };
            }
        }
    }
}
