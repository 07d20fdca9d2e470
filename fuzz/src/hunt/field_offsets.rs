//! Bit offsets of a packet's fields, found by running a parser over its bytes.

use super::egress_headers::EgressHeaders;
use bitvec::field::BitField;
use bitvec::order::Msb0;
use bitvec::view::BitView;
use sluice_asic::gress::Gress;
use sluice_ir::{Field, Header, Next, ParserOpKind, Program, SelectArm, SelectKey, Stack, StateData};
use std::collections::BTreeMap;

/// Most states that are visited.
const MOST_STATES: usize = 64;

/// Returns `width` bits of a packet from bit `at` on; `None` if the packet is shorter or `width` is not in 1..=128.
pub(super) fn bits(bytes: &[u8], at: usize, width: u16) -> Option<u128> {
    let found = bytes.view_bits::<Msb0>().get(at..at + usize::from(width))?;
    (1..=128).contains(&width).then(|| found.load_be())
}

/// Sets `width` bits of a packet from bit `at` on; bits after its end are ignored.
pub(super) fn set_bits(bytes: &mut [u8], at: usize, width: u16, value: u128) {
    let bits = bytes.view_bits_mut::<Msb0>();
    let (end, wanted) = (bits.len(), at + usize::from(width));
    if at < end.min(wanted) {
        bits[at..end.min(wanted)].store_be(value >> wanted.saturating_sub(end));
    }
}

/// State of a run of the parser.
struct ParserRun<'a> {
    program: &'a Program,
    bytes: &'a [u8],
    /// Headers of the egress parser if that one runs; `None` for the ingress parser.
    egress: Option<&'a EgressHeaders>,
    /// Offset of the next bit.
    offset: usize,
    found: Vec<(Field, usize)>,
    /// Extracted elements of each header stack.
    elements: BTreeMap<Stack, usize>,
}

/// Returns the fields that are in the packet as a whole, each with the offset of its first bit. Runs the egress parser if
/// `egress` is given, else the ingress parser. The parser counter and prepended headers are unknown: a select on them takes
/// the first arm that the known keys allow.
pub(super) fn field_offsets(
    program: &Program,
    egress: Option<&EgressHeaders>,
    bytes: &[u8],
) -> Vec<(Field, usize)> {
    let mut run = ParserRun::new(program, egress, bytes);
    run.all();
    run.found
}

/// Returns true if the ingress parser accepts the packet, as far as its bytes decide it; unknown keys are as in
/// [`field_offsets`].
#[cfg(feature = "strategies")]
pub(super) fn accepts(program: &Program, bytes: &[u8]) -> bool {
    ParserRun::new(program, None, bytes).all() == Next::Accept
}

impl<'a> ParserRun<'a> {
    fn new(program: &'a Program, egress: Option<&'a EgressHeaders>, bytes: &'a [u8]) -> ParserRun<'a> {
        ParserRun { program, bytes, egress, offset: 0, found: Vec::new(), elements: BTreeMap::new() }
    }

    /// Runs the parser to its end, or to the end of the packet.
    fn all(&mut self) -> Next {
        let gress = if self.egress.is_some() { Gress::Egress } else { Gress::Ingress };
        let mut next = self.program.pipe(gress).start;
        for _ in 0..MOST_STATES {
            let Next::State(state) = next else { break };
            next = self.state(&self.program.states[state]);
            if self.offset > self.bytes.len() * 8 {
                return Next::Reject;
            }
        }
        next
    }
    fn state(&mut self, data: &StateData) -> Next {
        let mut last = None;
        for op in &data.ops {
            match &op.kind {
                ParserOpKind::Extract(header) => self.extract(*header),
                ParserOpKind::ExtractNext(stack) => {
                    let elements = self.elements.entry(*stack).or_insert(0);
                    let Some(header) = self.program.stacks[*stack].headers.get(*elements) else {
                        return Next::Accept;
                    };
                    *elements += 1;
                    last = Some(*header);
                    self.extract(*header);
                }
                ParserOpKind::Advance(bytes) => self.offset += usize::from(*bytes) * 8,
                _ => {}
            }
        }
        let takes = |arm: &&SelectArm| {
            // Whether a packet is in a value set is not known here.
            arm.set.is_none()
                && data.select.iter().zip(&arm.values).all(|(key, (value, mask))| {
                    self.key(key, last).is_none_or(|found| found & mask == value & mask)
                })
        };
        data.arms.iter().find(takes).map_or(data.default, |arm| arm.next)
    }

    fn key(&self, key: &SelectKey, last: Option<Header>) -> Option<u128> {
        let field = match key {
            SelectKey::Field(field) => *field,
            SelectKey::Last(_, position) => {
                *self.program.headers[last?].fields.get(usize::from(*position))?
            }
            SelectKey::Lookahead(look) => {
                return bits(self.bytes, self.offset + usize::from(look.at), look.width);
            }
            SelectKey::CounterIsZero | SelectKey::CounterIsNegative => return None,
        };
        let (_, at) = self.found.iter().rev().find(|(f, _)| *f == field)?;
        bits(self.bytes, *at, self.program.fields[field].width)
    }

    fn extract(&mut self, header: Header) {
        if self.egress.is_some_and(|egress| egress.inside.contains(&header)) {
            return;
        }
        for field in &self.program.headers[header].fields {
            let width = usize::from(self.program.fields[*field].width);
            if self.offset + width <= self.bytes.len() * 8 {
                self.found.push((*field, self.offset));
            }
            self.offset += width;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_packet_are_found() {
        let program = sluice_programs::catalogue().get("ecmp").unwrap().build(&[]).unwrap();
        let mut frame = vec![0; 60];
        frame[12..24].copy_from_slice(&[8, 0, 0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17]);
        let named = |frame: &[u8]| -> BTreeMap<String, usize> {
            let found = field_offsets(&program, None, frame);
            found.into_iter().map(|(f, at)| (program.fields[f].name.clone(), at)).collect()
        };
        let found = named(&frame);
        assert_eq!((found["ipv4.ttl"], found["ipv4.dst"]), (22 * 8, 30 * 8));
        assert!(found.keys().all(|name| !name.starts_with("ipv6")));
        assert!(!named(&frame[..32]).contains_key("ipv4.dst"));
        assert_eq!(bits(&frame, 22 * 8, 8), Some(64));
        set_bits(&mut frame, 22 * 8, 8, 7);
        assert_eq!((frame[21], frame[22], frame[23]), (0, 7, 17));
        assert_eq!(bits(&frame, 60 * 8 - 4, 8), None);
    }
}
