//! Where the fields of a packet stand, by the way that a parser takes through its bytes.

use super::beyond::Beyond;
use sluice_asic::gress::Gress;
use sluice_ir::{Field, Header, Next, ParserOpKind, Program, SelectArm, SelectKey, Stack, StateData};
use std::collections::BTreeMap;

/// States that a way has at most.
const MOST_STATES: usize = 64;

/// Bits of a packet, none if it has not so many.
pub(super) fn bits(bytes: &[u8], at: usize, width: u16) -> Option<u128> {
    let end = at + usize::from(width);
    if width > 128 || end > bytes.len() * 8 {
        return None;
    }
    Some((at..end).fold(0, |value, n| value << 1 | u128::from(bytes[n / 8] >> (7 - n % 8) & 1)))
}

/// Sets bits of a packet that has them.
pub(super) fn set_bits(bytes: &mut [u8], at: usize, width: u16, value: u128) {
    for n in 0..usize::from(width) {
        let one = value >> (usize::from(width) - 1 - n) & 1 == 1;
        if let Some(byte) = bytes.get_mut((at + n) / 8) {
            let bit = 0x80 >> ((at + n) % 8);
            *byte = if one { *byte | bit } else { *byte & !bit };
        }
    }
}

/// A way under way.
struct Way<'a> {
    program: &'a Program,
    bytes: &'a [u8],
    /// What is on no wire.
    beyond: Option<&'a Beyond>,
    place: usize,
    found: Vec<(Field, usize)>,
    taken: BTreeMap<Stack, usize>,
}

/// The fields that are whole in the packet, each with its first bit. What a parser counts is not looked at, nor what is put in
/// front of a packet inside: there the first arm that may be is taken.
pub(super) fn located(program: &Program, beyond: Option<&Beyond>, bytes: &[u8]) -> Vec<(Field, usize)> {
    let gress = if beyond.is_some() { Gress::Egress } else { Gress::Ingress };
    let mut way = Way { program, bytes, beyond, place: 0, found: Vec::new(), taken: BTreeMap::new() };
    let mut next = program.pipe(gress).start;
    for _ in 0..MOST_STATES {
        let Next::State(state) = next else { break };
        next = way.state(&program.states[state]);
        if way.place > bytes.len() * 8 {
            break;
        }
    }
    way.found
}

impl Way<'_> {
    fn state(&mut self, data: &StateData) -> Next {
        let mut last = None;
        for op in &data.ops {
            match &op.kind {
                ParserOpKind::Extract(header) => self.extract(*header),
                ParserOpKind::ExtractNext(stack) => {
                    let taken = self.taken.entry(*stack).or_insert(0);
                    let Some(header) = self.program.stacks[*stack].headers.get(*taken) else {
                        return Next::Accept;
                    };
                    *taken += 1;
                    last = Some(*header);
                    self.extract(*header);
                }
                ParserOpKind::Advance(bytes) => self.place += usize::from(*bytes) * 8,
                _ => {}
            }
        }
        let takes = |arm: &&SelectArm| {
            data.select.iter().zip(&arm.values).all(|(key, (value, mask))| {
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
                return bits(self.bytes, self.place + usize::from(look.at), look.width);
            }
            SelectKey::CounterIsZero | SelectKey::CounterIsNegative => return None,
        };
        let (_, at) = self.found.iter().rev().find(|(f, _)| *f == field)?;
        bits(self.bytes, *at, self.program.fields[field].width)
    }

    fn extract(&mut self, header: Header) {
        if self.beyond.is_some_and(|beyond| beyond.inside.contains(&header)) {
            return;
        }
        for field in &self.program.headers[header].fields {
            let width = usize::from(self.program.fields[*field].width);
            if self.place + width <= self.bytes.len() * 8 {
                self.found.push((*field, self.place));
            }
            self.place += width;
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
            let found = located(&program, None, frame);
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
