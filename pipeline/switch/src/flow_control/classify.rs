//! Header fields that the device reads and writes without the program: ECN and MAC control frames.
//!
//! Like a chip's port, this code reads the frame as it arrived.

use sluice_asic::tm::ecn::Ecn;

const TYPE_AT: usize = 12;
const MAC_CONTROL: [u8; 2] = [0x88, 0x08];

/// An IP header within a frame.
enum Ip {
    V4(usize),
    V6(usize),
}

/// Returns the IP header, after up to two VLAN tags.
fn find(frame: &[u8]) -> Option<Ip> {
    let word = |at: usize| Some([*frame.get(at)?, *frame.get(at + 1)?]);
    let mut at = TYPE_AT;
    for _ in 0..2 {
        if !matches!(word(at), Some([0x81, 0x00] | [0x88, 0xa8])) {
            break;
        }
        at += 4;
    }
    let version = |at: usize| frame.get(at).map(|byte| byte >> 4);
    match word(at) {
        Some([0x08, 0x00]) if version(at + 2) == Some(4) && frame.len() >= at + 22 => Some(Ip::V4(at + 2)),
        Some([0x86, 0xdd]) if version(at + 2) == Some(6) && frame.len() >= at + 42 => Some(Ip::V6(at + 2)),
        _ => None,
    }
}

/// Returns the ECN field of a frame; a frame that is not IP has none and cannot be marked.
pub(super) fn ecn(frame: &[u8]) -> Ecn {
    let traffic_class = match find(frame) {
        Some(Ip::V4(at)) => frame.get(at + 1).copied(),
        Some(Ip::V6(at)) => frame.get(at + 1).map(|byte| byte >> 4),
        None => None,
    };
    traffic_class.map_or(Ecn::NotEct, Ecn::from_bits)
}

/// The ECN field of a packet that met congestion.
pub(crate) const CE: u8 = 3;

/// Sets the ECN field and updates the IPv4 checksum. Returns the field that was there; `None` if the frame is not IP.
pub(crate) fn set_ecn(frame: &mut [u8], field: u8) -> Option<u8> {
    match find(frame)? {
        Ip::V4(at) => {
            let old = u16::from_be_bytes([frame[at], frame[at + 1]]);
            let new = old & !3 | u16::from(field & 3);
            let sum = u16::from_be_bytes([frame[at + 10], frame[at + 11]]);
            // RFC 1624: ~(~sum + ~old + new).
            let mut total = u32::from(!sum) + u32::from(!old) + u32::from(new);
            while total > 0xffff {
                total = (total & 0xffff) + (total >> 16);
            }
            frame[at + 1] = new as u8;
            frame[at + 10..at + 12].copy_from_slice(&(!(total as u16)).to_be_bytes());
            Some(old as u8 & 3)
        }
        Ip::V6(at) => {
            let old = frame[at + 1] >> 4 & 3;
            frame[at + 1] = frame[at + 1] & !0x30 | (field & 3) << 4;
            Some(old)
        }
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
    fn ecn_fields() {
        assert_eq!(ecn(&ipv4(3 << 2 | 2, &[])), Ecn::Ect);
        assert_eq!(ecn(&ipv4(48 << 2 | 3, &[0xa064])), Ecn::Ce);
        let mut arp = ipv4(3, &[0xa064]);
        arp[16..18].copy_from_slice(&[0x08, 0x06]);
        assert_eq!(ecn(&arp), Ecn::NotEct);
        assert_eq!(ecn(&[0; 20]), Ecn::NotEct);
        assert_eq!(ecn(&[]), Ecn::NotEct);
        let mut v6 = vec![0; 60];
        // Traffic class 0x11: DSCP 4, ECT(1).
        v6[12..16].copy_from_slice(&[0x86, 0xdd, 0x61, 0x10]);
        assert_eq!(ecn(&v6), Ecn::Ect);
        assert_eq!(set_ecn(&mut v6, CE), Some(1));
        assert_eq!(ecn(&v6), Ecn::Ce);
        assert_eq!((set_ecn(&mut v6, 1), ecn(&v6)), (Some(CE), Ecn::Ect));
    }

    #[test]
    fn marks_keep_checksums() {
        for tags in [&[][..], &[0x0064], &[0x0064, 0x2065]] {
            for tos in 0..=255 {
                let mut frame = ipv4(tos, tags);
                assert_eq!(set_ecn(&mut frame, CE), Some(tos & 3));
                let at = 14 + 4 * tags.len();
                assert_eq!((frame[at + 1], checksum(&frame[at..at + 20])), (tos | 3, 0), "{tos} {tags:?}");
            }
        }
        assert_eq!(set_ecn(&mut [0; 64], CE), None);
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
