//! Datagrams on the wire: Ethernet, IPv4, UDP (RFC 768), and the first bytes of the payload.
//!
//! ```text
//! payload:  message number (32 bits) | last (1 bit) | datagram number (31 bits) | zeros
//! ```
//!
//! The zeros are not stored.

use sluice_pcaps::wire::{Checksum, MacAddr, ethernet, ipv4, udp};
use std::net::Ipv4Addr;

/// Bytes of the numbers at the start of the payload.
pub(super) const MARKER: u32 = 8;
/// Offsets of headers.
const IP: usize = ethernet::HEADER_LEN;
const UDP: usize = IP + ipv4::HEADER_LEN;
const PAYLOAD: usize = UDP + udp::HEADER_LEN;
/// Stored bytes.
const STORED: usize = PAYLOAD + MARKER as usize;
/// Flag of the last datagram.
const LAST: u32 = 1 << 31;
/// Values of the ECN field: ECT(0) and CE.
const ECT0: u8 = 2;
const CE: u8 = 3;

/// A datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Datagram {
    pub(super) from: Ipv4Addr,
    pub(super) to: Ipv4Addr,
    /// Source and destination port.
    pub(super) ports: [u16; 2],
    pub(super) dscp: u8,
    /// True if it is ECN-capable.
    pub(super) ecn: bool,
    /// Payload bytes, at least [`MARKER`].
    pub(super) payload: u32,
    pub(super) pair: u32,
    pub(super) number: u32,
    /// True if it is the last one of its message.
    pub(super) last: bool,
}

fn mac_of(address: Ipv4Addr) -> MacAddr {
    MacAddr::from_u64(0x0a00_0000_0000 | u64::from(address.to_bits()))
}

impl Datagram {
    /// Returns the stored bytes, and the length on the wire without FCS.
    pub(super) fn store(&self) -> ([u8; STORED], u32) {
        let mut bytes = [0; STORED];
        let length = udp::HEADER_LEN as u32 + self.payload;
        let link = ethernet::Header {
            destination: mac_of(self.to),
            source: mac_of(self.from),
            ethertype: ethernet::TYPE_IPV4,
        };
        bytes[..IP].copy_from_slice(&link.to_bytes());
        let ip = ipv4::Header {
            dscp: self.dscp,
            ecn: if self.ecn { ECT0 } else { 0 },
            total_len: (ipv4::HEADER_LEN as u32 + length) as u16,
            protocol: ipv4::PROTOCOL_UDP,
            ..ipv4::Header::new(self.from, self.to)
        };
        bytes[IP..UDP].copy_from_slice(&ip.with_checksum().to_bytes());
        let number = self.number | if self.last { LAST } else { 0 };
        bytes[PAYLOAD..PAYLOAD + 4].copy_from_slice(&self.pair.to_be_bytes());
        bytes[PAYLOAD + 4..].copy_from_slice(&number.to_be_bytes());
        let mut header =
            udp::Header { length: length as u16, ..udp::Header::new(self.ports[0], self.ports[1]) };
        let pseudo = Checksum::pseudo_ipv4(self.from, self.to, ipv4::PROTOCOL_UDP, header.length);
        // 0 would mean that there is no checksum.
        header.checksum = match pseudo.with(&header.to_bytes()).with(&bytes[PAYLOAD..]).finish() {
            0 => 0xffff,
            sum => sum,
        };
        bytes[UDP..PAYLOAD].copy_from_slice(&header.to_bytes());
        (bytes, (IP as u32 + ipv4::HEADER_LEN as u32 + length).max(ethernet::MIN_FRAME_LEN))
    }

    /// Parses a datagram to this address and port, and returns true with it if it has CE; `None` for other frames.
    pub(super) fn read(own: Ipv4Addr, port: u16, frame: &[u8]) -> Option<(Datagram, bool)> {
        let link = ethernet::View::new(frame).ok().filter(|l| l.ethertype() == ethernet::TYPE_IPV4)?;
        let ip = ipv4::View::new(link.payload()).ok()?;
        if ip.protocol() != ipv4::PROTOCOL_UDP || ip.destination() != own || !ip.options().is_empty() {
            return None;
        }
        let view = udp::View::new(frame.get(UDP..)?).ok().filter(|view| view.destination_port() == port)?;
        let word = |at: usize| Some(u32::from_be_bytes(*frame.get(at..)?.first_chunk()?));
        let (pair, number) = (word(PAYLOAD)?, word(PAYLOAD + 4)?);
        let datagram = Datagram {
            from: ip.source(),
            to: own,
            ports: [view.source_port(), port],
            dscp: ip.dscp(),
            ecn: ip.ecn() != 0,
            payload: u32::from(view.length()).checked_sub(udp::HEADER_LEN as u32)?,
            pair,
            number: number & !LAST,
            last: number & LAST != 0,
        };
        Some((datagram, ip.ecn() == CE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_are_read_as_they_were_made() {
        let [from, to] = [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 1, 2)];
        for (payload, last, orig_len) in [(8, true, 60), (1_472, false, 1_514)] {
            let ports = [49_152, 5_001];
            let made =
                Datagram { from, to, ports, dscp: 3, ecn: true, payload, pair: 0x12_3456, number: 9, last };
            let (bytes, len) = made.store();
            assert_eq!(len, orig_len);
            assert_eq!(Datagram::read(to, 5_001, &bytes), Some((made, false)));
            assert_eq!([Datagram::read(to, 5_002, &bytes), Datagram::read(from, 5_001, &bytes)], [None; 2]);
            assert_eq!(Datagram::read(to, 5_001, &bytes[..49]), None);
            let mut frame = bytes.to_vec();
            frame.resize(14 + 28 + payload as usize, 0);
            let pseudo = Checksum::pseudo_ipv4(from, to, ipv4::PROTOCOL_UDP, 8 + payload as u16);
            assert_eq!(pseudo.with(&frame[UDP..]).finish(), 0);
        }
    }
}
