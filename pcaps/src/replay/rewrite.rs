//! [`Rewrite`]: new IP addresses in each turn, so that a capture's flows become new flows.
//!
//! Checksums are updated by the difference (RFC 1624): a correct checksum stays correct, and a wrong one stays wrong.
//! RoCEv2's invariant CRC is updated as well.

use crate::wire::{ethernet, ipv4, ipv6, roce, udp};

/// Tags that may precede the EtherType: 802.1Q, 802.1ad and the latter's predecessor.
const TAGS: [u16; 3] = [ethernet::TYPE_VLAN, 0x88a8, 0x9100];

/// Addresses that change from turn to turn.
///
/// An address moves by the number of the turn, modulo 2^32; of an IPv6 address, its last 32 bits move. Multicast,
/// broadcast and unspecified addresses, ARP, and the contents of tunnels do not change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rewrite {
    /// The source address moves up.
    Source,
    /// The destination address moves up.
    Destination,
    /// The lower address moves up and the higher one down, so that both directions of a flow remain one flow.
    Both,
}

impl Rewrite {
    /// Moves the addresses of a frame by `turn`. Frames that are not IP, or cut before its addresses end, stay.
    pub fn apply(self, frame: &mut [u8], turn: u32) {
        if turn == 0 {
            return;
        }
        if let Some(packet) = Packet::find(frame) {
            let icrc = Icrc::find(frame, &packet);
            self.shift(frame, &packet, turn);
            if let Some(icrc) = icrc {
                icrc.renew(frame, &packet);
            }
        }
    }

    fn shift(self, frame: &mut [u8], packet: &Packet, turn: u32) {
        let address = |frame: &[u8], at: usize| be32(&frame[at..]);
        let (source, destination) = (address(frame, packet.source), address(frame, packet.destination));
        let (up, down) = (|a: u32| a.wrapping_add(turn), |a: u32| a.wrapping_sub(turn));
        let (source, destination) = match self {
            Self::Source => (up(source), destination),
            Self::Destination => (source, up(destination)),
            Self::Both if packet.source_below(frame) => (up(source), down(destination)),
            Self::Both => (down(source), up(destination)),
        };
        for (at, moves, new) in [
            (packet.source, packet.source_moves, source),
            (packet.destination, packet.destination_moves, destination),
        ] {
            if moves {
                packet.replace(frame, at, new);
            }
        }
    }
}

/// An invariant CRC that was correct before the rewrite.
struct Icrc {
    at: usize,
}

impl Icrc {
    /// Finds the invariant CRC of a complete RoCEv2 datagram.
    fn find(frame: &[u8], packet: &Packet) -> Option<Self> {
        // A datagram's checksum is at its byte 6.
        let start = packet.transport_sum.filter(|sum| sum.optional)?.at - 6;
        let header = frame.get(start..start + udp::HEADER_LEN)?;
        let len = usize::from(be16(&header[4..]));
        if be16(&header[2..]) != roce::PORT || !len.is_multiple_of(4) {
            return None;
        }
        let at = (start + len).checked_sub(roce::ICRC_LEN)?;
        let found = frame.get(at..start + len)?;
        let right = roce::icrc(frame.get(packet.start..at)?).ok()?;
        (found == right.to_le_bytes()).then_some(Self { at })
    }

    /// Writes the new CRC and updates the datagram's checksum.
    fn renew(&self, frame: &mut [u8], packet: &Packet) {
        let Some(Ok(icrc)) = frame.get(packet.start..self.at).map(roce::icrc) else { return };
        let old = be32(&frame[self.at..]);
        let new = u32::from_be_bytes(icrc.to_le_bytes());
        frame[self.at..self.at + roce::ICRC_LEN].copy_from_slice(&new.to_be_bytes());
        if let Some(sum) = packet.transport_sum {
            sum.update(frame, old, new);
        }
    }
}

/// Offsets of the parts of an IP packet in its frame.
struct Packet {
    start: usize,
    /// The last 32 bits of the addresses.
    source: usize,
    destination: usize,
    source_moves: bool,
    destination_moves: bool,
    address_len: usize,
    /// IPv4's header checksum.
    header_sum: Option<usize>,
    /// Transport checksum, which covers the addresses.
    transport_sum: Option<Sum>,
}

#[derive(Clone, Copy)]
struct Sum {
    at: usize,
    /// UDP: a checksum of 0 means that there is none.
    optional: bool,
}

impl Packet {
    fn find(frame: &[u8]) -> Option<Self> {
        let mut at = ethernet::HEADER_LEN;
        while TAGS.contains(&be16(frame.get(at - 2..at)?)) {
            at += 4;
        }
        match be16(frame.get(at - 2..at)?) {
            ethernet::TYPE_IPV4 => Self::v4(frame, at),
            ethernet::TYPE_IPV6 => Self::v6(frame, at),
            _ => None,
        }
    }

    fn v4(frame: &[u8], at: usize) -> Option<Self> {
        let header = frame.get(at..at + ipv4::HEADER_LEN)?;
        let len = usize::from(header[0] & 0xf) * 4;
        if header[0] >> 4 != 4 || len < ipv4::HEADER_LEN {
            return None;
        }
        let first = be16(&header[6..]) & 0x1fff == 0;
        let moves = |address: &[u8]| !matches!(address[0], 224..) && address != [0; 4];
        Some(Self {
            start: at,
            source: at + 12,
            destination: at + 16,
            source_moves: moves(&header[12..16]),
            destination_moves: moves(&header[16..20]),
            address_len: 4,
            header_sum: Some(at + 10),
            transport_sum: first.then(|| sum_of(header[9], at + len)).flatten(),
        })
    }

    fn v6(frame: &[u8], at: usize) -> Option<Self> {
        let header = frame.get(at..at + ipv6::HEADER_LEN)?;
        if header[0] >> 4 != 6 {
            return None;
        }
        let moves = |address: &[u8]| address[0] != 0xff && address != [0; 16];
        Some(Self {
            start: at,
            source: at + 20,
            destination: at + 36,
            source_moves: moves(&header[8..24]),
            destination_moves: moves(&header[24..40]),
            address_len: 16,
            header_sum: None,
            transport_sum: v6_transport(frame, header[6], at + ipv6::HEADER_LEN),
        })
    }

    fn source_below(&self, frame: &[u8]) -> bool {
        let whole = |last: usize| &frame[last + 4 - self.address_len..last + 4];
        whole(self.source) < whole(self.destination)
    }

    /// Writes the last 32 bits of an address and updates the checksums.
    fn replace(&self, frame: &mut [u8], at: usize, new: u32) {
        let old = be32(&frame[at..]);
        frame[at..at + 4].copy_from_slice(&new.to_be_bytes());
        let sums = [self.header_sum.map(|at| Sum { at, optional: false }), self.transport_sum];
        sums.into_iter().flatten().for_each(|sum| sum.update(frame, old, new));
    }
}

impl Sum {
    /// Updates the checksum after 32 bits under it changed from `old` to `new`.
    fn update(self, frame: &mut [u8], old: u32, new: u32) {
        let Some(field) = frame.get_mut(self.at..self.at + 2) else { return };
        let before = be16(field);
        if self.optional && before == 0 {
            return;
        }
        let after = match updated(before, old, new) {
            0 if self.optional => 0xffff,
            after => after,
        };
        field.copy_from_slice(&after.to_be_bytes());
    }
}

/// Returns the transport of an IPv6 packet after its extension headers; `None` for fragments after the first.
fn v6_transport(frame: &[u8], mut next: u8, mut at: usize) -> Option<Sum> {
    loop {
        let extension = match next {
            // Hop-by-hop, routing, destination options; fragment; authentication.
            0 | 43 | 44 | 51 | 60 => frame.get(at..at + 8)?,
            _ => return sum_of(next, at),
        };
        at += match next {
            44 if be16(&extension[2..]) & 0xfff8 != 0 => return None,
            44 => 8,
            51 => (usize::from(extension[1]) + 2) * 4,
            _ => (usize::from(extension[1]) + 1) * 8,
        };
        next = extension[0];
    }
}

/// Returns the place of the checksum of a transport that begins at `at`.
fn sum_of(protocol: u8, at: usize) -> Option<Sum> {
    match protocol {
        ipv4::PROTOCOL_TCP => Some(Sum { at: at + 16, optional: false }),
        ipv4::PROTOCOL_UDP => Some(Sum { at: at + 6, optional: true }),
        ipv6::NEXT_ICMPV6 => Some(Sum { at: at + 2, optional: false }),
        _ => None,
    }
}

/// Returns a checksum over 32 bits that went from `old` to `new`: RFC 1624, equation 3.
fn updated(sum: u16, old: u32, new: u32) -> u16 {
    let halves = |word: u32| (word >> 16) + (word & 0xffff);
    let mut total = u32::from(!sum) + halves(!old) + halves(new);
    while total > 0xffff {
        total = (total >> 16) + (total & 0xffff);
    }
    !(total as u16)
}

fn be16(bytes: &[u8]) -> u16 {
    bytes.first_chunk().map_or(0, |bytes| u16::from_be_bytes(*bytes))
}

fn be32(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc_1624_example() {
        // One word goes from 0x5555 to 0x3285 under a sum of 0xdd2f.
        assert_eq!(updated(0xdd2f, 0x5555, 0x3285), 0x0000);
    }

    #[test]
    fn whatever_the_bytes_nothing_panics() {
        for len in 0..120 {
            for fill in [0, 0x08, 0x45, 0x60, 0x81, 0xff] {
                let mut frame = vec![fill; len];
                for ethertype in [[8, 0], [0x86, 0xdd], [0x81, 0]] {
                    if let Some(field) = frame.get_mut(12..14) {
                        field.copy_from_slice(&ethertype);
                    }
                    Rewrite::Both.apply(&mut frame, 3);
                    assert_eq!(frame.len(), len);
                }
            }
        }
    }
}
