//! The header in front of a generated packet.
//!
//! Layout:
//!
//! ```text
//! byte   0                     1    2 3           4 5
//!        app, pipe above it    0    batch         packet      timers; requests and matches on Tofino 2
//!        app, pipe             0    dev_port      packet      port down
//!        app, pipe             key[1..4]          packet      matches on Tofino, batch added to the low 16 bits
//!        app, pipe             0 0 0 0 0                      PFC
//! ```
//! The application has 3 bits on Tofino and 4 on Tofino 2 (model: tm §10; the architectures' headers; behavioural
//! model).

use super::app::{Event, Shot};
use arrayvec::ArrayVec;

/// Bytes of a header that is followed by a key.
const LONGEST: usize = 22;

/// The header of a generated packet.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PktgenHeader(ArrayVec<u8, LONGEST>);

impl PktgenHeader {
    /// Returns the bytes of the header: 6, or 22 with a key or PFC header.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the header of a packet of application `app`, whose number has `app_bits` bits.
    pub(super) fn new(pipe: u32, app: u32, app_bits: u32, shot: &Shot, copy_key: bool) -> Self {
        let first = (pipe << app_bits | app) as u8;
        let [batch, packet] = [shot.batch, shot.packet].map(|number| (number as u16).to_be_bytes());
        let (middle, number, behind): ([u8; 3], [u8; 2], Option<&[u8; 16]>) = match &shot.event {
            Event::Timer => ([0, batch[0], batch[1]], packet, None),
            Event::PortDown(port) => {
                let [high, low] = ((pipe << 7 | port) as u16).to_be_bytes();
                ([0, high, low], packet, None)
            }
            Event::Matched(key) if app_bits < 4 => {
                let low = u16::from_be_bytes([key[2], key[3]]).wrapping_add(shot.batch as u16).to_be_bytes();
                ([key[1], low[0], low[1]], packet, None)
            }
            Event::Matched(key) | Event::Requested { key, .. } => {
                ([0, batch[0], batch[1]], packet, copy_key.then_some(key))
            }
            Event::Pfc(header) => ([0; 3], [0; 2], Some(header)),
        };
        let short = [first, middle[0], middle[1], middle[2], number[0], number[1]];
        Self(short.iter().chain(behind.into_iter().flatten()).copied().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(pipe: u32, app: u32, app_bits: u32, event: Event, key: bool) -> Vec<u8> {
        let shot = Shot { event, batch: 0x0102, packet: 0x0304 };
        PktgenHeader::new(pipe, app, app_bits, &shot, key).bytes().to_vec()
    }

    #[test]
    fn every_kind_on_both_chips() {
        let key: [u8; 16] = core::array::from_fn(|i| 0xa0 + i as u8);
        assert_eq!(bytes(2, 5, 3, Event::Timer, false), [0b10_101, 0, 1, 2, 3, 4]);
        assert_eq!(bytes(2, 5, 4, Event::Timer, false), [0b10_0101, 0, 1, 2, 3, 4]);
        // dev_port 3 * 128 + 68 = 0x1c4 has nine bits.
        assert_eq!(bytes(3, 0, 3, Event::PortDown(68), false), [0b11_000, 0, 1, 0xc4, 3, 4]);
        assert_eq!(bytes(0, 1, 3, Event::Matched(key), false), [1, 0xa1, 0xa3, 0xa5, 3, 4]);
        assert_eq!(bytes(0, 15, 4, Event::Matched(key), false), [15, 0, 1, 2, 3, 4]);
        let long = bytes(1, 1, 4, Event::Requested { key, offset: 0, length: 0 }, true);
        assert_eq!((long.len(), &long[..6], &long[6..]), (22, &[0x11, 0, 1, 2, 3, 4][..], &key[..]));
        assert_eq!(bytes(0, 2, 4, Event::Pfc(key), false)[..7], [2, 0, 0, 0, 0, 0, 0xa0]);
    }
}
