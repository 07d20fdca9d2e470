//! The key of a frame's flow.

/// Address family, protocol, ports, source and destination address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowKey([u8; 38]);

const IPV4: [u8; 2] = [0x08, 0x00];
const IPV6: [u8; 2] = [0x86, 0xdd];
/// EtherTypes of VLAN tags: 802.1Q and 802.1ad.
const TAGS: [[u8; 2]; 2] = [[0x81, 0x00], [0x88, 0xa8]];

/// Returns the five-tuple of an IPv4 or IPv6 frame, after up to two VLAN tags; `None` for other frames. The ports are 0
/// in fragments, packets with IPv4 options, and protocols other than TCP and UDP, as in the programs of a leaf. Frames
/// may be truncated after the ports.
#[must_use]
pub fn flow_key(frame: &[u8]) -> Option<FlowKey> {
    let mut at = 12;
    for _ in 0..2 {
        if TAGS.iter().any(|tag| frame.get(at..at + 2) == Some(tag)) {
            at += 4;
        }
    }
    let (kind, ip) = (frame.get(at..at + 2)?, frame.get(at + 2..)?);
    let mut key = [0; 38];
    let ports_at = if kind == IPV4 {
        let header = ip.get(..20)?;
        key[..2].copy_from_slice(&[4, header[9]]);
        key[6..10].copy_from_slice(&header[12..16]);
        key[22..26].copy_from_slice(&header[16..20]);
        // Ports are read if there are no options, the offset is 0, and no more fragments follow.
        (header[0] == 0x45 && header[6] & 0x3f == 0 && header[7] == 0).then_some(20)
    } else if kind == IPV6 {
        let header = ip.get(..40)?;
        key[..2].copy_from_slice(&[6, header[6]]);
        key[6..22].copy_from_slice(&header[8..24]);
        key[22..].copy_from_slice(&header[24..40]);
        Some(40)
    } else {
        return None;
    };
    let ports = ports_at.filter(|_| matches!(key[1], 6 | 17)).and_then(|at| ip.get(at..at + 4));
    if let Some(ports) = ports {
        key[2..6].copy_from_slice(ports);
    }
    Some(FlowKey(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_pcaps::samples::FLOWLETS;
    use sluice_pcaps::wire::{FrameBuilder, MacAddr, ipv4, ipv6, udp};

    fn built(builder: FrameBuilder) -> Vec<u8> {
        let mut frame = Vec::new();
        assert!(builder.build_len(90, &mut frame).is_ok());
        frame
    }

    #[test]
    fn addresses_protocol_and_ports_tell_flows_apart() {
        let start = || FrameBuilder::new(MacAddr::from_u64(1), MacAddr::from_u64(2));
        let ip = |last| ipv4::Header::new([10, 0, 0, 1].into(), [10, 0, 0, last].into());
        let one = built(start().ipv4(ip(2)).udp(udp::Header::new(1, 2)));
        assert_eq!(flow_key(&one), flow_key(&one[..38]));
        assert_ne!(flow_key(&one), flow_key(&built(start().ipv4(ip(3)).udp(udp::Header::new(1, 2)))));
        assert_ne!(flow_key(&one), flow_key(&built(start().ipv4(ip(2)).udp(udp::Header::new(2, 1)))));
        let mut tagged = one.clone();
        tagged.splice(12..12, [0x81, 0, 0, 5]);
        assert_eq!(flow_key(&tagged), flow_key(&one));
        let mut fragment = one.clone();
        fragment[20] |= 0x20;
        assert_ne!(flow_key(&fragment), flow_key(&one));
        let six = ipv6::Header::new(std::net::Ipv6Addr::LOCALHOST, std::net::Ipv6Addr::LOCALHOST);
        assert!(flow_key(&built(start().ipv6(six).udp(udp::Header::new(1, 2)))).is_some());
        let mut arp = one.clone();
        arp[12..14].copy_from_slice(&[8, 6]);
        assert_eq!(flow_key(&arp), None);
    }

    #[test]
    fn captures_that_were_cut_show_their_flows() {
        let mut reader = sluice_pcaps::capture::CaptureReader::from_bytes(FLOWLETS, "sample").unwrap();
        let mut keys = std::collections::BTreeSet::new();
        while let Some(frame) = reader.next_frame().unwrap() {
            keys.insert(flow_key(frame.data).unwrap());
        }
        assert_eq!(keys.len(), 49);
    }
}
