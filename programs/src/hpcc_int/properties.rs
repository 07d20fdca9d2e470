//! What must hold of every packet: it leaves as it came, or with one record more behind those that it has. What may not
//! live here: the program.

use super::Params;
use super::headers::MAX_HOPS;
use crate::properties::{HopLimit, equal, lasting};
use sluice_pcaps::wire::{ethernet, ipv4, udp};
use sluice_pipeline::property::{Departed, Finding, Property, well_formed};

/// Bytes of a record.
const RECORD: usize = 8;
/// Where UDP's check sum stands in a frame without tags and options.
const SUM: usize = ethernet::HEADER_LEN + ipv4::HEADER_LEN + 6;
/// Where nHop and pathID stand.
const COMMON: usize = ethernet::HEADER_LEN + ipv4::HEADER_LEN + udp::HEADER_LEN;

/// What is judged of `hpcc-int` with these parameters.
pub(super) fn all(p: &Params) -> Vec<Box<dyn Property>> {
    vec![Box::new(HopLimit), Box::new(OneRecord { udp_port: p.udp_port })]
}

/// A packet leaves as it came, but for what forwarding changes, or so with one record more and nHop one higher. UDP's
/// check sum and pathID, whose change is a matter of entries, are not looked at then.
#[derive(Clone, Copy, Debug)]
struct OneRecord {
    udp_port: u16,
}

fn word(frame: &[u8], at: usize) -> Option<u16> {
    frame.get(at..at + 2).map(|b| u16::from_be_bytes([b[0], b[1]]))
}

fn put(frame: &mut [u8], at: usize, value: u16) {
    if let Some(to) = frame.get_mut(at..at + 2) {
        to.copy_from_slice(&value.to_be_bytes());
    }
}

impl OneRecord {
    /// The frame without its last record, which this switch has put in; `None` if there is none.
    fn without(self, frame: &[u8]) -> Option<Vec<u8>> {
        let ip = ethernet::HEADER_LEN;
        let udp = word(frame, 12)? == ethernet::TYPE_IPV4
            && *frame.get(ip)? == 0x45
            && *frame.get(ip + 9)? == ipv4::PROTOCOL_UDP
            && word(frame, COMMON - 6)? == self.udp_port;
        let common = word(frame, COMMON)?;
        let hops = usize::from(common >> 12);
        if !udp || !(1..=MAX_HOPS).contains(&hops) {
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

    fn left(&mut self, packet: &Departed<'_>) -> Finding {
        let Some(from) = packet.from.filter(|_| !packet.left.made) else { return Ok(()) };
        if well_formed(from.bytes).is_err() {
            return Ok(());
        }
        if packet.bytes.len() == from.bytes.len() {
            return equal(&lasting(from.bytes), &lasting(packet.bytes));
        }
        let Some(left) = self.without(packet.bytes) else {
            let (found, expected) = (packet.bytes.len(), from.bytes.len());
            return Err(format!("found {found} bytes and no record, expected the {expected} that came"));
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
    use sluice_pipeline::property::Origin;

    /// A packet with so many records, right but for check sums that nobody looks at.
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
        let mut property = OneRecord { udp_port: 4791 };
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
}
