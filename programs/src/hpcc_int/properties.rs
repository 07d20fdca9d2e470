//! Properties of every packet: it is sent as it was received, or with one more record after those that it has, or with
//! a record in the next slot.

use super::Params;
use super::headers::MAX_HOPS;
use super::params::Layout;
use crate::forwarding::model::RoutedModel;
use crate::model::Judge;
use sluice_catalogue::properties::{HopLimit, equal, lasting};
use sluice_pcaps::wire::{ethernet, ipv4, udp};
use sluice_switch::property::{Departed, Finding, Property, well_formed};

/// Bytes of a record.
const RECORD: usize = 8;
/// Offset of the UDP checksum in a frame without tags and options.
const SUM: usize = ethernet::HEADER_LEN + ipv4::HEADER_LEN + 6;
/// Offset of nHop and pathID.
const COMMON: usize = ethernet::HEADER_LEN + ipv4::HEADER_LEN + udp::HEADER_LEN;

/// Returns the properties of `hpcc-int` with these parameters.
pub(super) fn all(p: &Params) -> Vec<Box<dyn Property>> {
    vec![
        Box::new(HopLimit),
        Box::new(OneRecord { udp_port: p.udp_port, layout: p.layout, changed: false }),
        Box::new(Judge::new(RoutedModel { except: Box::new(|_| false) })),
    ]
}

/// A sent packet equals the received one except for fields that forwarding changes, or has one record
/// more and nHop one higher. Then the UDP checksum and pathID are not checked, because their change
/// depends on entries. In the simulator's layout the record is in slot (nHop modulo 5); packets are not
/// checked once entries change, because entries choose the slot.
#[derive(Clone, Copy, Debug)]
struct OneRecord {
    udp_port: u16,
    layout: Layout,
    changed: bool,
}

/// Bytes between UDP and the slots of the simulator's layout.
const SEQUENCE: usize = 6;

fn word(frame: &[u8], at: usize) -> Option<u16> {
    frame.get(at..at + 2).map(|b| u16::from_be_bytes([b[0], b[1]]))
}

fn put(frame: &mut [u8], at: usize, value: u16) {
    if let Some(to) = frame.get_mut(at..at + 2) {
        to.copy_from_slice(&value.to_be_bytes());
    }
}

impl OneRecord {
    /// Returns true if the frame may contain records.
    fn carries(self, frame: &[u8]) -> bool {
        let ip = ethernet::HEADER_LEN;
        word(frame, 12) == Some(ethernet::TYPE_IPV4)
            && frame.get(ip) == Some(&0x45)
            && frame.get(ip + 9) == Some(&ipv4::PROTOCOL_UDP)
            && word(frame, COMMON - 6) == Some(self.udp_port)
    }

    /// Returns both frames without the slot that this hop writes, if the sent frame has one hop more.
    fn without_slot(self, came: &[u8], left: &[u8]) -> Option<[Vec<u8>; 2]> {
        let at = COMMON + SEQUENCE;
        let count = at + MAX_HOPS * RECORD;
        let hops = [came, left].map(|frame| word(frame, count).map(u16::swap_bytes));
        let [Some(before), Some(after)] = hops else { return None };
        let slot = at + usize::from(before) % MAX_HOPS * RECORD;
        (self.carries(left) && after == before.wrapping_add(1)).then(|| {
            [came, left].map(|frame| {
                let mut frame = frame.to_vec();
                put(&mut frame, SUM, 0);
                put(&mut frame, count, 0);
                frame.drain(slot..slot + RECORD);
                frame
            })
        })
    }

    /// Returns the frame without its last record, which this switch added; `None` if there is none.
    fn without(self, frame: &[u8]) -> Option<Vec<u8>> {
        let ip = ethernet::HEADER_LEN;
        let common = word(frame, COMMON)?;
        let hops = usize::from(common >> 12);
        if !self.carries(frame) || !(1..=MAX_HOPS).contains(&hops) {
            return None;
        }
        let at = COMMON + 2 + RECORD * (hops - 1);
        let mut frame = frame.to_vec();
        frame.get(at..at + RECORD)?;
        frame.drain(at..at + RECORD);
        put(&mut frame, COMMON, (common - 0x1000) & 0xf000);
        for length in [ip + 2, COMMON - 4] {
            let old = word(&frame, length)?;
            put(&mut frame, length, old.wrapping_sub(RECORD as u16));
        }
        put(&mut frame, SUM, 0);
        Some(frame)
    }
}

impl Property for OneRecord {
    fn name(&self) -> &'static str {
        "one_record"
    }

    fn changed(&mut self) {
        self.changed = true;
    }

    fn left(&mut self, packet: &Departed<'_>) -> Finding {
        let Some(from) = packet.from.filter(|_| !packet.left.made) else { return Ok(()) };
        if well_formed(from.bytes).is_err() || self.layout == Layout::Ns3 && self.changed {
            return Ok(());
        }
        if self.layout == Layout::Ns3
            && let Some([came, left]) = self.without_slot(from.bytes, packet.bytes)
        {
            return equal(&lasting(&came), &lasting(&left))
                .map_err(|text| format!("without its slot, {text}"));
        }
        if self.layout == Layout::Ns3 || packet.bytes.len() == from.bytes.len() {
            return equal(&lasting(from.bytes), &lasting(packet.bytes));
        }
        let Some(left) = self.without(packet.bytes) else {
            let (found, expected) = (packet.bytes.len(), from.bytes.len());
            return Err(format!("found {found} bytes and no record, expected {expected} bytes as received"));
        };
        let mut came = from.bytes.to_vec();
        put(&mut came, SUM, 0);
        let common = word(&came, COMMON).unwrap_or(0);
        put(&mut came, COMMON, common & 0xf000);
        equal(&lasting(&came), &lasting(&left)).map_err(|text| format!("without its last record, {text}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_switch::property::Origin;

    /// Returns a packet with this number of records, valid except for checksums that the property does not check.
    fn packet(hops: u16, path: u16) -> Vec<u8> {
        let mut frame = vec![0; COMMON + 2 + RECORD * usize::from(hops)];
        frame[12..16].copy_from_slice(&[8, 0, 0x45, 0]);
        let length = frame.len() as u16 - 14 + 20;
        put(&mut frame, 16, length);
        frame[23] = ipv4::PROTOCOL_UDP;
        put(&mut frame, COMMON - 6, 4791);
        put(&mut frame, COMMON - 4, length - 20);
        put(&mut frame, COMMON, hops << 12 | path);
        frame.extend([9; 20]);
        let sum = sluice_pcaps::wire::Checksum::new().with(&frame[14..34]).finish();
        put(&mut frame, 24, sum);
        frame
    }

    #[test]
    fn a_packet_gets_one_record_or_none() {
        let mut property = OneRecord { udp_port: 4791, layout: Layout::Paper, changed: false };
        let mut judged = |came: &[u8], left: &[u8]| {
            let origin = Origin { port: 1, time: Default::default(), bytes: came };
            property.left(&Departed::of(left, 2, Some(origin)))
        };
        assert_eq!(judged(&packet(0, 0), &packet(1, 1)), Ok(()));
        assert_eq!(judged(&packet(3, 5), &packet(4, 4)), Ok(()));
        assert_eq!(judged(&packet(3, 5), &packet(3, 5)), Ok(()));
        assert!(judged(&packet(3, 5), &[packet(3, 5), vec![0; 8]].concat()).is_err(), "no room was made");
        assert!(judged(&packet(3, 5), &packet(5, 4)).is_err(), "two records");
        let mut other = packet(4, 4);
        *other.last_mut().unwrap() = 8;
        assert!(judged(&packet(3, 5), &other).is_err());
    }

    #[test]
    fn a_packet_with_slots_gets_one_written_and_counts_it() {
        let mut property = OneRecord { udp_port: 4791, layout: Layout::Ns3, changed: false };
        let (at, count) = (COMMON + SEQUENCE, COMMON + SEQUENCE + MAX_HOPS * RECORD);
        let with = |hops: u8, slot: Option<usize>| {
            let mut frame = packet(5, 0);
            frame[count..count + 2].copy_from_slice(&[hops, 0]);
            slot.into_iter().for_each(|n| frame[at + n * RECORD..at + (n + 1) * RECORD].fill(0xaa));
            frame
        };
        let mut judged = |came: &[u8], left: &[u8]| {
            let origin = Origin { port: 1, time: Default::default(), bytes: came };
            property.left(&Departed::of(left, 2, Some(origin)))
        };
        assert_eq!(judged(&with(3, None), &with(4, Some(3))), Ok(()));
        assert_eq!(judged(&with(7, None), &with(8, Some(2))), Ok(()), "over an earlier one");
        assert_eq!(judged(&with(3, None), &with(3, None)), Ok(()));
        assert!(judged(&with(3, None), &with(4, Some(2))).is_err(), "another's slot");
        assert!(judged(&with(3, None), &with(5, Some(3))).is_err(), "two hops");
        assert!(judged(&with(3, None), &with(3, Some(3))).is_err(), "not counted");
    }
}
