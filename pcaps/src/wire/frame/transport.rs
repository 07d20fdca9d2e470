//! Parts of a frame above IP: transport headers with their checksums, and RoCEv2's trailer.

use super::{FrameBuilder, Network, Payload};
use crate::wire::{Checksum, WireError, icmp, ipv4, roce, tcp, udp, vxlan};

/// The headers above IP.
#[derive(Debug, Clone, Copy)]
pub(super) enum Transport {
    None,
    Udp(udp::Header),
    Tcp(tcp::Header),
    Icmp(icmp::Header),
    Vxlan(udp::Header, vxlan::Header),
    Roce(udp::Header, roce::Headers),
}

impl Transport {
    /// Returns the bytes before the payload.
    pub(super) const fn header_len(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Udp(_) => udp::HEADER_LEN,
            Self::Tcp(_) => tcp::HEADER_LEN,
            Self::Icmp(_) => icmp::HEADER_LEN,
            Self::Vxlan(..) => udp::HEADER_LEN + vxlan::HEADER_LEN,
            Self::Roce(_, headers) => udp::HEADER_LEN + headers.byte_len(),
        }
    }

    /// Returns the bytes after a payload of `payload` bytes.
    pub(super) const fn trailer_len(&self, payload: usize) -> usize {
        match self {
            Self::Roce(..) => padding(payload) + roce::ICRC_LEN,
            _ => 0,
        }
    }

    /// Returns the IP protocol number; `icmp` is the number of ICMP over this IP version.
    pub(super) const fn protocol(&self, icmp: u8) -> Option<u8> {
        match self {
            Self::None => None,
            Self::Udp(_) | Self::Vxlan(..) | Self::Roce(..) => Some(ipv4::PROTOCOL_UDP),
            Self::Tcp(_) => Some(ipv4::PROTOCOL_TCP),
            Self::Icmp(_) => Some(icmp),
        }
    }

    /// Writes the headers of an IP payload of `len` bytes, whose pseudo-header sums to `pseudo`.
    #[inline]
    pub(super) fn write(
        &self,
        pseudo: Checksum,
        over_ipv6: bool,
        len: u16,
        payload: Payload<'_>,
        out: &mut Vec<u8>,
    ) {
        let over = |sum: Checksum, header: &[u8]| sum.with(header).with(payload.summed()).finish();
        match *self {
            Self::None => {}
            Self::Udp(mut header) => {
                (header.length, header.checksum) = (len, 0);
                header.checksum = present(over(pseudo, &header.to_bytes()));
                out.extend_from_slice(&header.to_bytes());
            }
            Self::Tcp(mut header) => {
                header.checksum = 0;
                header.checksum = over(pseudo, &header.to_bytes());
                out.extend_from_slice(&header.to_bytes());
            }
            Self::Icmp(mut header) => {
                header.checksum = 0;
                // ICMP over IPv4 has no pseudo-header.
                let start = if over_ipv6 { pseudo } else { Checksum::new() };
                header.checksum = over(start, &header.to_bytes());
                out.extend_from_slice(&header.to_bytes());
            }
            Self::Vxlan(mut outer, inner) => {
                (outer.length, outer.checksum) = (len, 0);
                let inner = inner.to_bytes();
                if over_ipv6 {
                    outer.checksum = present(over(pseudo.with(&outer.to_bytes()), &inner));
                }
                out.extend_from_slice(&outer.to_bytes());
                out.extend_from_slice(&inner);
            }
            Self::Roce(mut outer, mut headers) => {
                // The checksum is computed after the trailer is written.
                (outer.length, outer.checksum) = (len, 0);
                headers.bth.pad = padding(payload.byte_len()) as u8;
                out.extend_from_slice(&outer.to_bytes());
                headers.write(out);
            }
        }
    }
}

impl FrameBuilder {
    /// Writes padding and invariant CRC after the payload of a packet that starts at `ip_start`, and then, over IPv6,
    /// the UDP checksum.
    pub(super) fn finish_roce(
        &self,
        ip_start: usize,
        payload: Payload<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), WireError> {
        out.resize(out.len() + padding(payload.byte_len()), 0);
        let packet = &out[ip_start..];
        let icrc = match payload {
            Payload::Bytes(_) => roce::icrc(packet)?,
            Payload::Zeros(_) => {
                let zeros = payload.byte_len().next_multiple_of(4);
                let (start, len) = roce::invariant(packet)?;
                start.with(&packet[len..packet.len() - zeros]).with_zeros(zeros as u32).finish()
            }
        };
        out.extend_from_slice(&icrc.to_le_bytes());
        if let Network::Ipv6(header) = self.network {
            let start = self.header_len() - self.transport.header_len();
            let len = (out.len() - start) as u32;
            let pseudo = Checksum::pseudo_ipv6(header.source, header.destination, ipv4::PROTOCOL_UDP, len);
            let sum = match payload {
                Payload::Bytes(_) => pseudo.with(&out[start..]),
                Payload::Zeros(_) => pseudo.with(&out[start..self.header_len()]).with(&icrc.to_le_bytes()),
            };
            out[start + 6..start + 8].copy_from_slice(&present(sum.finish()).to_be_bytes());
        }
        Ok(())
    }
}

/// Returns the bytes that bring a RoCEv2 payload to a multiple of four.
const fn padding(payload: usize) -> usize {
    payload.next_multiple_of(4) - payload
}

/// Returns a UDP checksum with 0 replaced by ffff, because 0 means that there is none.
const fn present(sum: u16) -> u16 {
    if sum == 0 { 0xffff } else { sum }
}
