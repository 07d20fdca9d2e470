//! Builds the frames of trains.

use super::forward::NOWHERE;
use sluice_pcaps::wire::roce::{self, Headers};
use sluice_pcaps::wire::{FrameBuilder, MacAddr, Payload, ethernet, ipv4, pause, udp, vlan};

/// DSCP of SONiC's traffic classes 0 to 6 (model: buffer §1.8); class 7 has none.
const DSCP_OF_CLASS: [u8; 7] = [8, 0, 5, 3, 4, 46, 48];

/// IPv4's protocol number of IPv4.
const IP_IN_IP: u8 = 4;

/// Target of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    /// A dev_port.
    Port(u16),
    /// A multicast group.
    Group(u16),
}

/// Field that carries a frame's class.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mark {
    /// IPv4 with this DSCP and ECN field.
    Ip {
        /// DSCP.
        dscp: u8,
        /// ECN.
        ecn: u8,
    },
    /// An IPv4-in-IPv4 tunnel with these DSCPs.
    Tunnel {
        /// DSCP of the outer header.
        outer: u8,
        /// DSCP of the inner header.
        inner: u8,
    },
    /// A VLAN tag with this PCP, without IP.
    Pcp(u8),
}

/// Returns the DSCP of a traffic class.
pub(crate) fn dscp_of(class: u8) -> Result<u8, String> {
    DSCP_OF_CLASS.get(usize::from(class)).copied().ok_or_else(|| {
        format!("class {class} has no DSCP; expected a class from 0 to 6, or `dscp` in its place")
    })
}

/// Starts a frame with MAC addresses that send it to the target.
fn towards(target: Target) -> FrameBuilder {
    let (port, group) = match target {
        Target::Port(port) => (port, 0),
        Target::Group(group) => (NOWHERE, group),
    };
    let destination = MacAddr::from_u64(0x02_00_00_00_00_00 | u64::from(group));
    FrameBuilder::new(destination, MacAddr::from_u64(0x02_01_00_00_00_00 | u64::from(port)))
}

/// Builds a CNP to a queue pair: the one that is published as a capture (model: buffer §7).
pub(crate) fn cnp(target: Target, qp: u32) -> Result<Vec<u8>, String> {
    let header = ipv4::Header::new([10, 0, 17, 1].into(), [10, 0, 18, 1].into());
    let header = ipv4::Header { dscp: 48, ecn: 2, identification: 0x718c, ..header };
    let mut frame = Vec::new();
    towards(target)
        .ipv4(header)
        .roce(udp::Header::new(0, roce::PORT), Headers::cnp(qp))
        .build(Payload::Zeros(0), &mut frame)
        .map_err(|e| e.to_string())?;
    Ok(frame)
}

/// Builds a frame of `size` bytes without FCS.
pub(crate) fn data(target: Target, mark: Mark, size: usize) -> Result<Vec<u8>, String> {
    let builder = towards(target);
    let mut frame = Vec::new();
    let header = ipv4::Header::new([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
    let builder = match mark {
        Mark::Tunnel { outer, inner } => {
            let builder = builder.ipv4(ipv4::Header { dscp: outer, protocol: IP_IN_IP, ..header });
            let room = size.saturating_sub(builder.header_len()).max(ipv4::HEADER_LEN);
            let inside =
                ipv4::Header { dscp: inner, total_len: room as u16, protocol: ipv4::PROTOCOL_UDP, ..header };
            let mut payload = inside.with_checksum().to_bytes().to_vec();
            payload.resize(room, 0);
            builder.build(Payload::Bytes(&payload), &mut frame).map_err(|e| e.to_string())?;
            return Ok(frame);
        }
        Mark::Ip { dscp, ecn } => {
            builder.ipv4(ipv4::Header { dscp, ecn, protocol: ipv4::PROTOCOL_UDP, ..header })
        }
        // The EtherType for local experiments (IEEE 802).
        Mark::Pcp(pcp) => {
            let tag = vlan::Tag { pcp, dei: false, vid: 2, ethertype: 0 };
            builder.vlan(tag).ethertype(0x88b5)
        }
    };
    builder.build_len(size, &mut frame).map_err(|e| e.to_string())?;
    Ok(frame)
}

/// Builds a PFC frame.
pub(crate) fn pfc(priorities: &[u8], quanta: u16) -> Result<Vec<u8>, String> {
    let mut times = [0; pause::CLASSES];
    let mut enabled = 0;
    for &priority in priorities {
        let time = times.get_mut(usize::from(priority));
        *time.ok_or_else(|| format!("there is no priority {priority}; priorities are 0 to 7"))? = quanta;
        enabled |= 1 << priority;
    }
    let mut frame = Vec::new();
    FrameBuilder::new(pause::DESTINATION, MacAddr::from_u64(0x02_02_00_00_00_00))
        .ethertype(ethernet::TYPE_MAC_CONTROL)
        .build(Payload::Bytes(&pause::Packet::Pfc { enabled, quanta: times }.to_bytes()), &mut frame)
        .map_err(|e| e.to_string())?;
    Ok(frame)
}

/// Parses a hex text; blanks are ignored.
pub(crate) fn hex(text: &str) -> Result<Vec<u8>, String> {
    let digits: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    let byte = |pair: &[char]| {
        let text: String = pair.iter().collect();
        u8::from_str_radix(&text, 16).ok().filter(|_| pair.len() == 2)
    };
    let bytes: Option<Vec<u8>> = digits.chunks(2).map(byte).collect();
    bytes.filter(|b| !b.is_empty()).ok_or_else(|| format!("`{text}` is not hex; expected pairs of digits"))
}

/// Returns true if bytes match a hex pattern, in which `..` matches any byte and `00*34` is 34 times the byte 00.
pub(crate) fn matches(bytes: &[u8], pattern: &str) -> bool {
    let mut pairs = Vec::new();
    for word in pattern.split_whitespace() {
        let (word, times) = match word.split_once('*') {
            None => (word, 1),
            Some((word, times)) => (word, times.parse().unwrap_or(0)),
        };
        let digits: Vec<char> = word.chars().collect();
        let own: Vec<String> = digits.chunks(2).map(|pair| pair.iter().collect()).collect();
        (0..times).for_each(|_| pairs.extend_from_slice(&own));
    }
    pairs.len() == bytes.len()
        && pairs.iter().zip(bytes).all(|(pair, byte)| pair == ".." || *pair == format!("{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_have_their_size_and_marks() {
        let frame = data(Target::Port(9), Mark::Ip { dscp: 3, ecn: 2 }, 64).unwrap();
        assert_eq!((frame.len(), frame[15], &frame[10..12]), (64, 3 << 2 | 2, &[0u8, 9][..]));
        let tagged = data(Target::Group(5), Mark::Pcp(4), 100).unwrap();
        assert_eq!((tagged.len(), tagged[5], tagged[14] >> 5), (100, 5, 4));
        assert_eq!(&tagged[10..12], &[1, 0xff]);
        let tunnel = data(Target::Port(9), Mark::Tunnel { outer: 3, inner: 4 }, 100).unwrap();
        assert_eq!((tunnel.len(), tunnel[15], tunnel[23], tunnel[35]), (100, 3 << 2, 4, 4 << 2));
        assert!(dscp_of(7).is_err() && dscp_of(3) == Ok(3));
    }

    #[test]
    fn hex_texts() {
        let frame = pfc(&[3], 0xffff).unwrap();
        assert_eq!(frame.len(), 60);
        let pattern = "0180c2000001 ..*6 8808 0101 0008 000000000000ffff 00*34";
        assert!(matches(&frame, pattern), "{frame:02x?}");
        assert!(!matches(&frame, "01"));
        assert_eq!(hex("0a 0B"), Ok(vec![10, 11]));
        assert!(hex("0").is_err() && hex("").is_err() && hex("zz").is_err() && pfc(&[8], 1).is_err());
    }
}
