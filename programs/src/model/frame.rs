//! Fields of a frame, and the frame that a router sends.

/// EtherType of IPv4.
pub(crate) const IPV4: u16 = 0x0800;
/// EtherType of IPv6.
pub(crate) const IPV6: u16 = 0x86dd;
/// EtherType of an 802.1Q tag.
const VLAN: u16 = 0x8100;
const TCP: u8 = 6;
const UDP: u8 = 17;

/// The reason for which the device drops a frame that ends inside a header.
pub(crate) const TOO_SHORT: &str = "parser_partial_header";

/// Fields of an IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ip {
    /// True for IPv6.
    pub(crate) v6: bool,
    /// Source address; an IPv4 address is in the low 32 bits.
    pub(crate) src: u128,
    /// Destination address.
    pub(crate) dst: u128,
    /// Protocol or next header.
    pub(crate) protocol: u8,
    /// TCP or UDP source port; 0 for fragments, other protocols, and IPv4 with options.
    pub(crate) src_port: u16,
    /// TCP or UDP destination port, as `src_port`.
    pub(crate) dst_port: u16,
    /// TTL or hop limit.
    pub(crate) hops: u8,
    /// Differentiated services code point.
    pub(crate) dscp: u8,
    /// Flow label; 0 for IPv4.
    pub(crate) flow_label: u32,
    /// True if the first 20 bytes of an IPv4 header sum up to the checksum; true for IPv6.
    pub(crate) checksum_ok: bool,
    /// True for an IPv4 header whose length field is not 5 words.
    pub(crate) options: bool,
}

/// Parts of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parts {
    /// Content of the 802.1Q tag; `None` without a tag.
    pub(crate) tag: Option<u16>,
    /// EtherType after the tag.
    pub(crate) ether_type: u16,
    /// Position of the byte after the EtherType.
    pub(crate) at: usize,
    /// The IP packet; `None` for other frames.
    pub(crate) ip: Option<Ip>,
}

/// Returns the big-endian number of `len` bytes.
fn number(frame: &[u8], at: usize, len: usize) -> Option<u128> {
    let bytes = frame.get(at..at + len)?;
    Some(bytes.iter().fold(0, |value, byte| value << 8 | u128::from(*byte)))
}

/// Returns the parts of a frame, and one 802.1Q tag if `tags`. `None`: the frame ends inside a header, where the ports of TCP
/// and UDP count as a header.
pub(crate) fn parts(frame: &[u8], tags: bool) -> Option<Parts> {
    let (mut ether_type, mut at, mut tag) = (number(frame, 12, 2)? as u16, 14, None);
    if tags && ether_type == VLAN {
        tag = Some(number(frame, 14, 2)? as u16);
        ether_type = number(frame, 16, 2)? as u16;
        at = 18;
    }
    let ip = match ether_type {
        IPV4 => Some(ipv4(frame, at)?),
        IPV6 => Some(ipv6(frame, at)?),
        _ => None,
    };
    Some(Parts { tag, ether_type, at, ip })
}

fn ipv4(frame: &[u8], at: usize) -> Option<Ip> {
    let header = frame.get(at..at + 20)?;
    let options = header[0] & 15 != 5;
    let protocol = header[9];
    // More-fragments flag, or a fragment offset.
    let fragment = header[6] & 0x3f != 0 || header[7] != 0;
    let has_ports = !options && !fragment && (protocol == TCP || protocol == UDP);
    let (src_port, dst_port) = if has_ports { ports(frame, at + 20)? } else { (0, 0) };
    Some(Ip {
        v6: false,
        src: number(header, 12, 4)?,
        dst: number(header, 16, 4)?,
        protocol,
        src_port,
        dst_port,
        hops: header[8],
        dscp: header[1] >> 2,
        flow_label: 0,
        checksum_ok: sum(header) == 0xffff,
        options,
    })
}

fn ipv6(frame: &[u8], at: usize) -> Option<Ip> {
    let header = frame.get(at..at + 40)?;
    let protocol = header[6];
    let has_ports = protocol == TCP || protocol == UDP;
    let (src_port, dst_port) = if has_ports { ports(frame, at + 40)? } else { (0, 0) };
    Some(Ip {
        v6: true,
        src: number(header, 8, 16)?,
        dst: number(header, 24, 16)?,
        protocol,
        src_port,
        dst_port,
        hops: header[7],
        dscp: (header[0] << 2 | header[1] >> 6) & 0x3f,
        flow_label: number(header, 0, 4)? as u32 & 0xf_ffff,
        checksum_ok: true,
        options: false,
    })
}

fn ports(frame: &[u8], at: usize) -> Option<(u16, u16)> {
    Some((number(frame, at, 2)? as u16, number(frame, at + 2, 2)? as u16))
}

/// Returns the ones' complement sum of the 16-bit words of a header.
fn sum(header: &[u8]) -> u16 {
    let words =
        header.chunks(2).map(|pair| u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |b| u32::from(*b)));
    let total: u32 = words.sum();
    let folded = (total & 0xffff) + (total >> 16);
    ((folded & 0xffff) + (folded >> 16)) as u16
}

/// Writes the checksum of the IPv4 header without options at this position.
pub(crate) fn write_checksum(frame: &mut [u8], at: usize) {
    if let Some(header) = frame.get_mut(at..at + 20) {
        header[10..12].fill(0);
        let checksum = !sum(header);
        header[10..12].copy_from_slice(&checksum.to_be_bytes());
    }
}

/// Decrements TTL or hop limit of the IP packet at this position, and writes the IPv4 checksum.
pub(crate) fn hop(frame: &mut [u8], at: usize, ip: &Ip) {
    if let Some(hops) = frame.get_mut(at + if ip.v6 { 7 } else { 8 }) {
        *hops = hops.wrapping_sub(1);
    }
    if !ip.v6 {
        write_checksum(frame, at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10.0.0.1 to 10.0.0.2, UDP, TTL 64; the checksum was computed by hand.
    const HEADER: [u8; 20] = [0x45, 0xb8, 0, 28, 0, 1, 0x40, 0, 64, 17, 0x26, 0x16, 10, 0, 0, 1, 10, 0, 0, 2];

    fn frame(tagged: bool) -> Vec<u8> {
        let mut frame = vec![0; 12];
        if tagged {
            frame.extend([0x81, 0, 0x60, 5]);
        }
        frame.extend([8, 0]);
        frame.extend(HEADER);
        frame.extend([0, 7, 0, 9, 0, 8, 0, 0]);
        frame
    }

    #[test]
    fn fields_are_those_of_the_wire() {
        let untagged = parts(&frame(false), true).unwrap();
        let ip = untagged.ip.unwrap();
        assert_eq!((untagged.tag, untagged.at, ip.src_port, ip.dst_port), (None, 14, 7, 9));
        assert_eq!((ip.src, ip.dst, ip.dscp, ip.hops), (0x0a00_0001, 0x0a00_0002, 46, 64));
        assert!(ip.checksum_ok && !ip.options);
        let tagged = parts(&frame(true), true).unwrap();
        assert_eq!((tagged.tag, tagged.at, tagged.ip), (Some(0x6005), 18, untagged.ip));
        assert_eq!(parts(&frame(true), false).unwrap().ip, None);
        assert_eq!(parts(&frame(false)[..37], true), None);
    }

    #[test]
    fn a_hop_keeps_the_checksum_right() {
        let mut sent = frame(false);
        let ip = parts(&sent, false).unwrap().ip.unwrap();
        hop(&mut sent, 14, &ip);
        assert_eq!(sent[22..26], [63, 17, 0x27, 0x16]);
        assert!(parts(&sent, false).unwrap().ip.unwrap().checksum_ok);
    }
}
