//! Segments on the wire: Ethernet, IPv4 (RFC 791), TCP (RFC 9293) and its options.
//!
//! The payload of data segments is not stored: a frame has the headers and the length of the whole packet. Checksums are those
//! of a payload of zeros, so they are correct for what a capture of the headers means. Options are laid out as Linux does:
//!
//! ```text
//! SYN:    MSS (RFC 9293 §3.7.1), SACK-permitted (RFC 2018 §2), timestamps (RFC 7323 §3), window scale (RFC 7323 §2)
//! others: timestamps, SACK blocks (RFC 2018 §3)                       NOPs align options to four bytes
//! ```

use sluice_pcaps::wire::{Checksum, MacAddr, ethernet, ipv4, tcp};
use std::net::Ipv4Addr;

/// Offsets of headers.
const IP: usize = ethernet::HEADER_LEN;
const TCP: usize = IP + ipv4::HEADER_LEN;
/// Most bytes of headers: TCP has at most 40 bytes of options.
const MOST: usize = TCP + 60;
/// Kinds of options.
mod kind {
    pub(super) const END: u8 = 0;
    pub(super) const NOP: u8 = 1;
    pub(super) const MSS: u8 = 2;
    pub(super) const WINDOW_SCALE: u8 = 3;
    pub(super) const SACK_PERMITTED: u8 = 4;
    pub(super) const SACK: u8 = 5;
    pub(super) const TIMESTAMPS: u8 = 8;
}
/// Bytes of the timestamps option with its NOPs.
pub(super) const TIMESTAMPS_LEN: u32 = 12;
/// Value of an IPv4 header's ECN field: congestion experienced.
pub(super) const CE: u8 = 3;
/// ECN-capable transport, ECT(0).
pub(super) const ECT0: u8 = 2;

/// Up to four SACK blocks, as sequence numbers of the first byte and of the byte after the last one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SackBlocks {
    blocks: [(u32, u32); 4],
    count: u8,
}

impl SackBlocks {
    /// Adds a block if fewer than `most`, at most four, are there.
    pub(super) fn push(&mut self, block: (u32, u32), most: usize) {
        let count = usize::from(self.count);
        if let Some(place) = self.blocks.get_mut(count).filter(|_| count < most) {
            *place = block;
            self.count += 1;
        }
    }

    pub(super) fn as_slice(&self) -> &[(u32, u32)] {
        self.blocks.get(..usize::from(self.count)).unwrap_or_default()
    }
}

/// Options of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) mss: Option<u16>,
    pub(super) window_scale: Option<u8>,
    pub(super) sack_permitted: bool,
    /// TSval and TSecr.
    pub(super) timestamps: Option<(u32, u32)>,
    pub(super) sack: SackBlocks,
}

/// Addresses, ports and traffic class of one direction of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Path {
    pub(super) from: Ipv4Addr,
    pub(super) to: Ipv4Addr,
    pub(super) source_port: u16,
    pub(super) destination_port: u16,
}

/// A segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) path: Path,
    pub(super) dscp: u8,
    /// ECN field of the IPv4 header.
    pub(super) ecn: u8,
    pub(super) sequence: u32,
    pub(super) acknowledgement: u32,
    pub(super) flags: u8,
    pub(super) window: u16,
    pub(super) options: Options,
    /// Bytes of payload.
    pub(super) payload: u32,
}

/// The stored bytes of a frame, and its length on the wire.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stored {
    bytes: [u8; MOST],
    len: u8,
    /// Length on the wire without FCS, at least 60.
    pub(super) orig_len: u32,
}

impl Stored {
    pub(super) fn bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or_default()
    }
}

/// Options while they are written.
struct Writer {
    bytes: [u8; 40],
    len: usize,
}

impl Writer {
    fn put(&mut self, bytes: &[u8]) {
        // Callers write at most 40 bytes: an unfitting option would be left out.
        if let Some(room) = self.bytes.get_mut(self.len..self.len + bytes.len()) {
            room.copy_from_slice(bytes);
            self.len += bytes.len();
        }
    }
}

impl Options {
    fn write(&self) -> Writer {
        let mut out = Writer { bytes: [kind::NOP; 40], len: 0 };
        if let Some(mss) = self.mss {
            let [high, low] = mss.to_be_bytes();
            out.put(&[kind::MSS, 4, high, low]);
        }
        match (self.sack_permitted, self.timestamps.is_some()) {
            (true, true) => out.put(&[kind::SACK_PERMITTED, 2]),
            (true, false) => out.put(&[kind::NOP, kind::NOP, kind::SACK_PERMITTED, 2]),
            (false, true) => out.put(&[kind::NOP, kind::NOP]),
            (false, false) => {}
        }
        if let Some((value, echo)) = self.timestamps {
            out.put(&[kind::TIMESTAMPS, 10]);
            out.put(&value.to_be_bytes());
            out.put(&echo.to_be_bytes());
        }
        if let Some(shift) = self.window_scale {
            out.put(&[kind::NOP, kind::WINDOW_SCALE, 3, shift]);
        }
        let blocks = self.sack.as_slice();
        if !blocks.is_empty() {
            out.put(&[kind::NOP, kind::NOP, kind::SACK, 2 + 8 * blocks.len() as u8]);
            for (start, end) in blocks {
                out.put(&start.to_be_bytes());
                out.put(&end.to_be_bytes());
            }
        }
        out
    }

    /// Parses options; stops at an unfinished one.
    fn read(mut bytes: &[u8]) -> Options {
        let mut options = Options::default();
        while let Some((&kind, rest)) = bytes.split_first() {
            if kind == kind::END {
                break;
            }
            if kind == kind::NOP {
                bytes = rest;
                continue;
            }
            let Some(len) = rest.first().map(|len| usize::from(*len)).filter(|len| *len >= 2) else { break };
            let Some((option, after)) = bytes.split_at_checked(len) else { break };
            options.read_one(kind, option.get(2..).unwrap_or_default());
            bytes = after;
        }
        options
    }

    fn read_one(&mut self, kind: u8, data: &[u8]) {
        match (kind, data) {
            (kind::MSS, [high, low]) => self.mss = Some(u16::from_be_bytes([*high, *low])),
            (kind::WINDOW_SCALE, [shift]) => self.window_scale = Some((*shift).min(14)),
            (kind::SACK_PERMITTED, []) => self.sack_permitted = true,
            (kind::TIMESTAMPS, _) => self.timestamps = pair(data),
            (kind::SACK, _) => {
                data.chunks_exact(8).filter_map(pair).for_each(|block| self.sack.push(block, 4));
            }
            _ => {}
        }
    }
}

/// Returns two 32-bit words.
fn pair(data: &[u8]) -> Option<(u32, u32)> {
    let (words, _) = data.as_chunks::<4>();
    let [first, second] = words.first_chunk::<2>()?;
    Some((u32::from_be_bytes(*first), u32::from_be_bytes(*second)))
}

/// Returns a host's MAC address, which contains its IPv4 address.
fn mac_of(address: Ipv4Addr) -> MacAddr {
    MacAddr::from_u64(0x0a00_0000_0000 | u64::from(address.to_bits()))
}

impl Segment {
    /// Returns the frame. Payloads are shorter than an IPv4 packet, so all lengths fit.
    pub(super) fn store(&self) -> Stored {
        let Path { from, to, source_port, destination_port } = self.path;
        let options = self.options.write();
        let options = options.bytes.get(..options.len).unwrap_or_default();
        let transport = tcp::HEADER_LEN + options.len();
        let len = TCP + transport;
        let total = (ipv4::HEADER_LEN + transport) as u32 + self.payload;
        let mut bytes = [0; MOST];
        let link = ethernet::Header {
            destination: mac_of(to),
            source: mac_of(from),
            ethertype: ethernet::TYPE_IPV4,
        };
        bytes[..IP].copy_from_slice(&link.to_bytes());
        let ip = ipv4::Header {
            dscp: self.dscp,
            ecn: self.ecn,
            total_len: total as u16,
            protocol: ipv4::PROTOCOL_TCP,
            ..ipv4::Header::new(from, to)
        };
        bytes[IP..TCP].copy_from_slice(&ip.with_checksum().to_bytes());
        let header = tcp::Header {
            sequence: self.sequence,
            acknowledgement: self.acknowledgement,
            flags: self.flags,
            window: self.window,
            ..tcp::Header::new(source_port, destination_port)
        };
        bytes[TCP..TCP + tcp::HEADER_LEN].copy_from_slice(&header.to_bytes());
        bytes[TCP + 12] = ((transport / 4) as u8) << 4;
        bytes[TCP + tcp::HEADER_LEN..len].copy_from_slice(options);
        let in_transport = (total as usize - ipv4::HEADER_LEN) as u16;
        let pseudo = Checksum::pseudo_ipv4(from, to, ipv4::PROTOCOL_TCP, in_transport);
        let sum = pseudo.with(&bytes[TCP..len]).finish();
        bytes[TCP + 16..TCP + 18].copy_from_slice(&sum.to_be_bytes());
        let orig_len = (IP as u32 + total).max(ethernet::MIN_FRAME_LEN);
        // A frame without payload is stored whole, with its padding.
        let stored = if self.payload == 0 { orig_len } else { len as u32 };
        Stored { bytes, len: stored as u8, orig_len }
    }

    /// Parses a frame to the address `own`; `None` if it is not TCP over IPv4 without IP options, or its headers are cut.
    pub(super) fn read(own: Ipv4Addr, frame: &[u8]) -> Option<Segment> {
        let link = ethernet::View::new(frame).ok().filter(|l| l.ethertype() == ethernet::TYPE_IPV4)?;
        let ip = ipv4::View::new(link.payload()).ok()?;
        if ip.protocol() != ipv4::PROTOCOL_TCP || ip.destination() != own || !ip.options().is_empty() {
            return None;
        }
        let view = tcp::View::new(link.payload().get(ipv4::HEADER_LEN..)?).ok()?;
        let headers = ipv4::HEADER_LEN + tcp::HEADER_LEN + view.options().len();
        let header = view.header();
        Some(Segment {
            path: Path {
                from: ip.source(),
                to: own,
                source_port: header.source_port,
                destination_port: header.destination_port,
            },
            dscp: ip.dscp(),
            ecn: ip.ecn(),
            sequence: header.sequence,
            acknowledgement: header.acknowledgement,
            flags: header.flags,
            window: header.window,
            options: Options::read(view.options()),
            payload: u32::from(ip.total_len()).checked_sub(headers as u32)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment() -> Segment {
        let [from, to] = [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 1, 2)];
        Segment {
            path: Path { from, to, source_port: 49_152, destination_port: 5_001 },
            dscp: 0,
            ecn: ECT0,
            sequence: 0x0102_0304,
            acknowledgement: 0xffff_fffe,
            flags: tcp::ACK,
            window: 0xabcd,
            options: Options::default(),
            payload: 0,
        }
    }

    fn whole(segment: &Segment) -> Vec<u8> {
        let stored = segment.store();
        let mut frame = stored.bytes().to_vec();
        frame.resize(stored.orig_len as usize, 0);
        frame
    }

    /// Lengths of the options as in Linux's captures: 20 bytes in a SYN, 12 with timestamps, 12 + 4 + 8 n with n blocks.
    #[test]
    fn segments_are_read_as_they_were_made() {
        let mut sack = SackBlocks::default();
        (0..5).for_each(|n| sack.push((n * 10, n * 10 + 5), 3));
        assert_eq!(sack.as_slice().len(), 3);
        let timestamps = Some((7, 9));
        let syn = Options {
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            timestamps,
            sack: SackBlocks::default(),
        };
        for (options, payload, len, orig_len) in [
            (Options::default(), 0, 60, 60),
            (Options::default(), 1, 54, 60),
            (Options { timestamps, ..Options::default() }, 1448, 66, 1514),
            (syn, 0, 74, 74),
            (Options { timestamps: None, ..syn }, 0, 66, 66),
            (Options { sack_permitted: false, ..syn }, 0, 74, 74),
            (Options { timestamps, sack, ..Options::default() }, 0, 94, 94),
        ] {
            let made = Segment { options, payload, ..segment() };
            let stored = made.store();
            assert_eq!((stored.bytes().len(), stored.orig_len), (len, orig_len), "{options:?}");
            assert_eq!(Segment::read(made.path.to, stored.bytes()), Some(made));
            assert_eq!(Segment::read(made.path.from, stored.bytes()), None, "another host's");
            // Both checksums are right for a payload of zeros.
            let frame = whole(&made);
            let ip = ipv4::View::new(&frame[IP..]).unwrap();
            assert!(ip.checksum_ok());
            let transport = ip.payload();
            let pseudo = Checksum::pseudo_ipv4(ip.source(), ip.destination(), 6, transport.len() as u16);
            assert_eq!(pseudo.with(transport).finish(), 0);
        }
    }

    #[test]
    fn damaged_options_are_skipped() {
        assert_eq!(Options::read(&[kind::NOP, kind::MSS, 0, 1]), Options::default(), "a length below two");
        assert_eq!(Options::read(&[kind::MSS, 40, 5, 5]), Options::default(), "a length beyond the header");
        let unknown = [99, 3, 0, kind::MSS, 4, 1, 2, kind::END, kind::MSS, 4, 9, 9];
        assert_eq!(Options::read(&unknown).mss, Some(0x0102));
        let stored = segment().store();
        assert_eq!((0..54).find_map(|len| Segment::read(segment().path.to, &stored.bytes()[..len])), None);
    }
}
