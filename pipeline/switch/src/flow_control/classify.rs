//! Header fields that the device reads and writes without the program: class code points, ECN, MAC control
//! frames.
//!
//! Like a chip's port, this code reads the frame as it arrived.

use sluice_asic::tm::buffer::CodePoint;
use sluice_asic::tm::ecn::Ecn;

const TYPE_AT: usize = 12;
const MAC_CONTROL: [u8; 2] = [0x88, 0x08];

/// Code point and ECN field of a frame, which decide its class and its marking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) point: CodePoint,
    pub(super) ecn: Ecn,
}

/// An IP header within a frame.
enum Ip {
    V4(usize),
    V6(usize),
}

/// Returns the IP header, after up to two VLAN tags, and the outer tag's priority.
fn find(frame: &[u8]) -> (Option<Ip>, Option<u8>) {
    let word = |at: usize| Some([*frame.get(at)?, *frame.get(at + 1)?]);
    let (mut at, mut pcp) = (TYPE_AT, None);
    for _ in 0..2 {
        if !matches!(word(at), Some([0x81, 0x00] | [0x88, 0xa8])) {
            break;
        }
        pcp = pcp.or(frame.get(at + 2).map(|byte| byte >> 5));
        at += 4;
    }
    let version = |at: usize| frame.get(at).map(|byte| byte >> 4);
    let ip = match word(at) {
        Some([0x08, 0x00]) if version(at + 2) == Some(4) && frame.len() >= at + 22 => Some(Ip::V4(at + 2)),
        Some([0x86, 0xdd]) if version(at + 2) == Some(6) && frame.len() >= at + 42 => Some(Ip::V6(at + 2)),
        _ => None,
    };
    (ip, pcp)
}

/// Classifies a frame: an IP packet by its DSCP, other tagged frames by their PCP.
pub(super) fn look(frame: &[u8]) -> Seen {
    let (ip, pcp) = find(frame);
    let traffic_class = match ip {
        Some(Ip::V4(at)) => frame.get(at + 1).copied(),
        Some(Ip::V6(at)) => frame.get(at).zip(frame.get(at + 1)).map(|(a, b)| a << 4 | b >> 4),
        None => None,
    };
    match (traffic_class, pcp) {
        (Some(tc), _) => Seen { point: CodePoint::Dscp(tc >> 2), ecn: Ecn::from_bits(tc) },
        (None, Some(pcp)) => Seen { point: CodePoint::Pcp(pcp), ecn: Ecn::NotEct },
        (None, None) => Seen { point: CodePoint::None, ecn: Ecn::NotEct },
    }
}

/// Sets the ECN field to CE and updates the IPv4 checksum. Returns true if the frame has an IP header with
/// ECT.
pub(super) fn mark(frame: &mut [u8]) -> bool {
    match find(frame).0 {
        Some(Ip::V4(at)) => {
            let old = u16::from_be_bytes([frame[at], frame[at + 1]]);
            let new = old | 3;
            let sum = u16::from_be_bytes([frame[at + 10], frame[at + 11]]);
            // RFC 1624: ~(~sum + ~old + new).
            let mut total = u32::from(!sum) + u32::from(!old) + u32::from(new);
            while total > 0xffff {
                total = (total & 0xffff) + (total >> 16);
            }
            frame[at + 1] = new as u8;
            frame[at + 10..at + 12].copy_from_slice(&(!(total as u16)).to_be_bytes());
            true
        }
        Some(Ip::V6(at)) => {
            frame[at + 1] |= 3 << 4;
            true
        }
        None => false,
    }
}

/// Returns the bytes after the EtherType of a MAC control frame.
pub(super) fn mac_control(frame: &[u8]) -> Option<&[u8]> {
    (frame.get(TYPE_AT..TYPE_AT + 2)? == MAC_CONTROL).then(|| &frame[TYPE_AT + 2..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_pcaps::wire::{FrameBuilder, MacAddr, Payload};

    /// Returns an IPv4 header with its checksum, after an Ethernet header and these tags.
    fn ipv4(tos: u8, tags: &[u16]) -> Vec<u8> {
        let mut frame = Vec::new();
        let builder = FrameBuilder::new(MacAddr::from_u64(1), MacAddr::from_u64(2)).ethertype(0x0800);
        let header = [0x45, tos, 0, 46, 0, 1, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        let mut bytes = header.to_vec();
        bytes.resize(46, 0);
        builder.build(Payload::Bytes(&bytes), &mut frame).unwrap();
        for tag in tags {
            let [a, b] = tag.to_be_bytes();
            frame.splice(12..12, [0x81, 0x00, a, b]);
        }
        let at = 14 + 4 * tags.len();
        let sum = checksum(&frame[at..at + 20]);
        frame[at + 10..at + 12].copy_from_slice(&sum.to_be_bytes());
        frame
    }

    fn checksum(header: &[u8]) -> u16 {
        let mut sum: u32 = header.chunks(2).map(|w| u32::from(u16::from_be_bytes([w[0], w[1]]))).sum();
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        !(sum as u16)
    }

    #[test]
    fn code_points() {
        let seen = look(&ipv4(3 << 2 | 2, &[]));
        assert_eq!(seen, Seen { point: CodePoint::Dscp(3), ecn: Ecn::Ect });
        assert_eq!(look(&ipv4(48 << 2, &[0xa064])).point, CodePoint::Dscp(48));
        let mut arp = ipv4(0, &[0xa064]);
        arp[16..18].copy_from_slice(&[0x08, 0x06]);
        assert_eq!(look(&arp).point, CodePoint::Pcp(5));
        assert_eq!(look(&[0; 20]).point, CodePoint::None);
        assert_eq!(look(&[]).point, CodePoint::None);
        let mut v6 = vec![0; 60];
        v6[12..16].copy_from_slice(&[0x86, 0xdd, 0x61, 0x10]);
        // Traffic class 0x11: DSCP 4, ECT(1).
        assert_eq!(look(&v6), Seen { point: CodePoint::Dscp(4), ecn: Ecn::Ect });
        assert!(mark(&mut v6));
        assert_eq!(look(&v6), Seen { point: CodePoint::Dscp(4), ecn: Ecn::Ce });
    }

    #[test]
    fn marks_keep_checksums() {
        for tags in [&[][..], &[0x0064], &[0x0064, 0x2065]] {
            for tos in 0..=255 {
                let mut frame = ipv4(tos, tags);
                assert!(mark(&mut frame));
                let at = 14 + 4 * tags.len();
                assert_eq!((frame[at + 1], checksum(&frame[at..at + 20])), (tos | 3, 0), "{tos} {tags:?}");
            }
        }
        assert!(!mark(&mut [0; 64]));
    }

    #[test]
    fn mac_control_frames() {
        let mut frame = vec![0; 60];
        assert_eq!(mac_control(&frame), None);
        frame[12..14].copy_from_slice(&MAC_CONTROL);
        assert_eq!(mac_control(&frame).map(<[u8]>::len), Some(46));
        assert_eq!(mac_control(&frame[..13]), None);
    }
}
