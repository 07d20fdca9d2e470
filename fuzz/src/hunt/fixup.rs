//! Fixes lengths and checksums of a packet, as hosts and tunnel endpoints would set them.

use sluice_pcaps::wire::{Checksum, ipv4, tcp, udp, vxlan};

/// Sets the lengths of IP and UDP and the checksums of IPv4, TCP and UDP, also inside VXLAN. A UDP checksum of 0 (none) stays
/// 0.
pub(super) fn fix_lengths_and_checksums(frame: &mut [u8]) {
    fix_with(frame, true);
}

/// As [`fix_lengths_and_checksums`], but removes the UDP checksum if `udp_checksum` is false.
pub(super) fn fix_with(frame: &mut [u8], udp_checksum: bool) {
    let mut at = 12;
    let word = |frame: &[u8], at: usize| frame.get(at..at + 2).map(|b| u16::from_be_bytes([b[0], b[1]]));
    while matches!(word(frame, at), Some(0x8100 | 0x88a8)) {
        at += 4;
    }
    let (ethertype, ip) = (word(frame, at), at + 2);
    let length = frame.len().saturating_sub(ip);
    let (protocol, l4, pseudo) = match ethertype {
        Some(0x0800) if length >= 20 => {
            frame[ip] = 0x45;
            frame[ip + 2..ip + 4].copy_from_slice(&(length.min(0xffff) as u16).to_be_bytes());
            frame[ip + 10..ip + 12].fill(0);
            let sum = Checksum::new().with(&frame[ip..ip + 20]).finish();
            frame[ip + 10..ip + 12].copy_from_slice(&sum.to_be_bytes());
            (frame[ip + 9], ip + 20, Checksum::new().with(&frame[ip + 12..ip + 20]))
        }
        Some(0x86dd) if length >= 40 => {
            frame[ip] = 0x60 | frame[ip] & 15;
            frame[ip + 4..ip + 6].copy_from_slice(&((length - 40).min(0xffff) as u16).to_be_bytes());
            (frame[ip + 6], ip + 40, Checksum::new().with(&frame[ip + 8..ip + 40]))
        }
        _ => return,
    };
    let segment = (frame.len() - l4).min(0xffff);
    let sum = match protocol {
        ipv4::PROTOCOL_UDP if segment >= udp::HEADER_LEN => {
            frame[l4 + 4..l4 + 6].copy_from_slice(&(segment as u16).to_be_bytes());
            // The outer checksum covers the inner packet, so the inner packet comes first.
            if word(frame, l4 + 2) == Some(vxlan::PORT)
                && let Some(inside) = frame.get_mut(l4 + udp::HEADER_LEN + vxlan::HEADER_LEN..)
            {
                fix_with(inside, udp_checksum);
            }
            l4 + 6
        }
        ipv4::PROTOCOL_TCP if segment >= tcp::HEADER_LEN => l4 + 16,
        _ => return,
    };
    let none = word(frame, sum) == Some(0) || !udp_checksum;
    frame[sum..sum + 2].fill(0);
    if protocol == ipv4::PROTOCOL_UDP && none {
        return;
    }
    let pseudo = pseudo.with_u16(protocol.into()).with_u16(segment as u16);
    let right = match pseudo.with(&frame[l4..l4 + segment]).finish() {
        0 if protocol == ipv4::PROTOCOL_UDP => 0xffff,
        right => right,
    };
    frame[sum..sum + 2].copy_from_slice(&right.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_switch::property::well_formed;

    /// Returns a TCP segment in UDP of VXLAN with all lengths and sums wrong.
    fn overlay(vni: u8) -> Vec<u8> {
        let mut inside = vec![0; 14 + 20 + 30];
        inside[12..24].copy_from_slice(&[8, 0, 0x45, 0, 0, 9, 0, 0, 0, 0, 64, 6]);
        let mut frame = vec![0; 14 + 20 + 8 + 8];
        frame[12..24].copy_from_slice(&[8, 0, 0x45, 0, 0, 7, 0, 0, 0, 0, 64, 17]);
        frame[36..42].copy_from_slice(&[0x12, 0xb5, 0, 1, 0, 1]);
        frame[48] = vni;
        frame.extend(inside);
        frame
    }

    #[test]
    fn outer_and_inner_packet_become_well_formed() {
        let (mut frame, mut other) = (overlay(1), overlay(2));
        fix_lengths_and_checksums(&mut frame);
        assert_eq!((well_formed(&frame), well_formed(&frame[50..])), (Ok(()), Ok(())));
        let sum = |l4: &[u8], source: &[u8], protocol| {
            let pseudo = Checksum::new().with(source).with_u16(protocol).with_u16(l4.len() as u16);
            pseudo.with(l4).finish()
        };
        assert_eq!(sum(&frame[34..], &frame[26..34], 17), 0);
        assert_eq!(sum(&frame[84..], &frame[76..84], 6), 0);
        fix_with(&mut other, false);
        assert_eq!((&other[40..42], &other[50..]), (&[0, 0][..], &frame[50..]));
        // Another UDP port is not VXLAN.
        let mut plain = overlay(1);
        plain[37] = 0xb6;
        fix_lengths_and_checksums(&mut plain);
        assert_eq!((well_formed(&plain), well_formed(&plain[50..]).is_err()), (Ok(()), true));
    }
}
