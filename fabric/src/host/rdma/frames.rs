//! Frames of RoCEv2 hosts: data, acknowledgements, CNPs.
//!
//! The simulator stores only the headers of data frames, and their length on the wire, so that a packet of 1000 bytes
//! costs as much to copy as an acknowledgement. Acknowledgements and CNPs are complete, including the invariant CRC.

use super::super::recovery::Answer;
use sluice_asic::tm::pfc::PfcTimes;
use sluice_pcaps::wire::{FrameBuilder, MacAddr, Payload, ethernet, ipv4, pause, roce, udp};
use std::net::Ipv4Addr;

/// Length of Ethernet, IPv4, UDP header and BTH.
const HEADERS: usize = 14 + 20 + 8 + roce::BTH_LEN;
/// Offsets of headers.
const IP: usize = 14;
const UDP: usize = IP + 20;
const BTH: usize = UDP + 8;
/// AETH syndromes: acknowledgement without credits, and NAK "PSN sequence error" (InfiniBand, §9.7.5.2.8).
const ACK: u8 = 0x1f;
const SEQUENCE_ERROR: u8 = 0x60;
/// Values of an IPv4 header's ECN field: ECT(0), and CE (congestion experienced).
const ECT0: u8 = 2;
const CE: u8 = 3;
/// Protocol number of UDP.
const UDP_PROTOCOL: u8 = 17;
/// BECN in byte 4 of the BTH.
const BECN: u8 = 0x40;

/// Addresses and marking of a queue pair's packets in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) from: Ipv4Addr,
    pub(super) to: Ipv4Addr,
    pub(super) port: u16,
    pub(super) pair: u32,
    pub(super) dscp: u8,
    /// True if packets are ECN-capable.
    pub(super) capable: bool,
}

impl Address {
    fn builder(&self) -> FrameBuilder {
        let ecn = if self.capable { ECT0 } else { 0 };
        let ip = ipv4::Header { dscp: self.dscp, ecn, ..ipv4::Header::new(self.from, self.to) };
        FrameBuilder::new(mac_of(self.to), mac_of(self.from)).ipv4(ip)
    }

    /// Builds a complete frame with these transport headers.
    fn frame(&self, headers: roce::Headers, payload: usize) -> Vec<u8> {
        let mut frame = Vec::with_capacity(HEADERS + 24 + payload);
        let udp = udp::Header::new(self.port, roce::PORT);
        // Building fails only above the longest IPv4 packet, and payloads are at most a few kilobytes.
        let built = self.builder().roce(udp, headers).build(Payload::Zeros(payload), &mut frame);
        debug_assert!(built.is_ok(), "{built:?}");
        frame
    }

    /// Builds the frame of an answer: an acknowledgement or a NACK, with BECN if it notifies of congestion.
    pub(super) fn answer(&self, answer: Answer, notifies: bool) -> Vec<u8> {
        let (psn, syndrome, msn) = match answer {
            Answer::Ack(expected) => (expected.wrapping_sub(1), ACK, expected),
            Answer::Nack { expected, received } => (expected, SEQUENCE_ERROR, received),
        };
        let bth = roce::Bth::new(roce::opcode::RC_ACKNOWLEDGE, self.pair, psn as u32 & roce::MAX_U24);
        let bth = roce::Bth { becn: notifies, ..bth };
        let extension = roce::Extension::Aeth { syndrome, msn: msn as u32 & roce::MAX_U24 };
        self.frame(roce::Headers { bth, extension }, 0)
    }

    /// Builds a CNP.
    pub(super) fn notification(&self) -> Vec<u8> {
        self.frame(roce::Headers::cnp(self.pair), 0)
    }
}

/// Returns a host's MAC address, which contains its IPv4 address.
fn mac_of(address: Ipv4Addr) -> MacAddr {
    MacAddr::from_u64(0x0200_0000_0000 | u64::from(address.to_bits()))
}

/// Data packets of a message: one template for full packets and one for the last packet, each with its length on the
/// wire.
#[derive(Clone, Debug)]
pub(super) struct Data {
    packets: u64,
    full: ([u8; HEADERS], u32),
    last: ([u8; HEADERS], u32),
}

impl Data {
    /// Creates the packets of a message of `bytes` bytes, at least 1, with `mtu` payload bytes each.
    pub(super) fn new(address: &Address, bytes: u64, mtu: u32) -> Data {
        let packets = bytes.div_ceil(u64::from(mtu)).max(1);
        let rest = bytes - (packets - 1) * u64::from(mtu);
        let template = |payload: u64| {
            let bth = roce::Bth::new(roce::opcode::RC_SEND_MIDDLE, address.pair, 0);
            let headers = roce::Headers { bth, extension: roce::Extension::None };
            let frame = address.frame(headers, payload as usize);
            let mut head = [0; HEADERS];
            head.iter_mut().zip(&frame).for_each(|(to, from)| *to = *from);
            (head, frame.len().max(60) as u32)
        };
        Data { packets, full: template(u64::from(mtu)), last: template(rest) }
    }

    /// Returns the number of packets.
    pub(super) const fn packets(&self) -> u64 {
        self.packets
    }

    /// Returns the headers of packet `psn`, and its length on the wire without FCS.
    pub(super) fn packet(&self, psn: u64) -> ([u8; HEADERS], u32) {
        let (first, last) = (psn == 0, psn + 1 == self.packets);
        let (mut head, len) = if last { self.last } else { self.full };
        head[BTH] = match (first, last) {
            (true, true) => roce::opcode::RC_SEND_ONLY,
            (true, false) => roce::opcode::RC_SEND_FIRST,
            (false, true) => roce::opcode::RC_SEND_LAST,
            (false, false) => roce::opcode::RC_SEND_MIDDLE,
        };
        // Sets the AckReq bit in every packet.
        head[BTH + 8] = 0x80;
        head[BTH + 9..].copy_from_slice(&(psn as u32).to_be_bytes()[1..]);
        (head, len)
    }
}

/// A received frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrived {
    /// A data packet.
    Data { from: Ipv4Addr, port: u16, pair: u32, packet: DataPacket },
    /// An acknowledgement of all packets before `expected`; a NACK if `expected` is missing although `received` has
    /// arrived. It notifies of congestion if its BECN is set.
    Answer { pair: u32, expected: u32, received: Option<u32>, notifies: bool },
    /// A CNP.
    Notification { pair: u32 },
}

/// A received data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DataPacket {
    /// Lower 24 bits of its number.
    pub(super) psn: u32,
    /// True if it has CE.
    pub(super) marked: bool,
    /// True if it is the last packet of its message.
    pub(super) last: bool,
}

fn u24(bytes: &[u8], at: usize) -> Option<u32> {
    let [a, b, c] = *bytes.get(at..)?.first_chunk()?;
    Some(u32::from_be_bytes([0, a, b, c]))
}

/// Returns the pauses of a PFC frame; `None` if the frame is not PFC.
pub(in crate::host) fn pause(frame: &[u8]) -> Option<PfcTimes> {
    let link = ethernet::View::new(frame).ok().filter(|l| l.ethertype() == ethernet::TYPE_MAC_CONTROL)?;
    match pause::View::new(link.payload()).ok()?.packet() {
        pause::Packet::Pfc { enabled, quanta } => Some(PfcTimes { enabled, quanta }),
        _ => None,
    }
}

/// Returns the queue pair of a RoCEv2 packet; `None` if the frame is another one.
pub(in crate::host) fn pair(frame: &[u8]) -> Option<u32> {
    let roce =
        frame.get(UDP + 2..UDP + 4)? == roce::PORT.to_be_bytes() && *frame.get(IP + 9)? == UDP_PROTOCOL;
    roce.then(|| u24(frame, BTH + 5)).flatten()
}

/// Parses a frame to the address `own`; `None` for other frames and unknown kinds.
pub(super) fn read(own: Ipv4Addr, frame: &[u8]) -> Option<Arrived> {
    let link = ethernet::View::new(frame).ok()?;
    // Bytes after the headers may be missing. The views of `wire` would need them, so headers are read by offset.
    const PLAIN: u8 = 0x45;
    let ip = frame.get(IP..UDP).filter(|ip| ip[0] == PLAIN && ip[9] == UDP_PROTOCOL)?;
    if link.ethertype() != ethernet::TYPE_IPV4 || ip.get(16..20)? != own.octets() {
        return None;
    }
    let from = Ipv4Addr::from(*ip.get(12..16)?.first_chunk::<4>()?);
    let ports = frame.get(UDP..BTH)?;
    let [port, to] = [0, 2].map(|at| u16::from_be_bytes([ports[at], ports[at + 1]]));
    if to != roce::PORT {
        return None;
    }
    let (opcode, pair, psn) = (*frame.get(BTH)?, u24(frame, BTH + 5)?, u24(frame, BTH + 9)?);
    match opcode {
        roce::opcode::RC_SEND_FIRST..=roce::opcode::RC_SEND_ONLY => {
            let last = matches!(opcode, roce::opcode::RC_SEND_LAST | roce::opcode::RC_SEND_ONLY);
            let packet = DataPacket { psn, marked: ip[1] & 3 == CE, last };
            Some(Arrived::Data { from, port, pair, packet })
        }
        roce::opcode::RC_ACKNOWLEDGE => {
            let (syndrome, msn) = (*frame.get(HEADERS)?, u24(frame, HEADERS + 1)?);
            let (expected, received) = match syndrome {
                SEQUENCE_ERROR => (psn, Some(msn)),
                _ => (psn.wrapping_add(1) & roce::MAX_U24, None),
            };
            let notifies = frame.get(BTH + 4)? & BECN != 0;
            Some(Arrived::Answer { pair, expected, received, notifies })
        }
        roce::opcode::CNP => Some(Arrived::Notification { pair }),
        _ => None,
    }
}

/// Returns the number that is nearest to `near` among those with these lower 24 bits.
pub(super) fn unwrap(near: u64, bits: u32) -> u64 {
    const TURN: u64 = 1 << 24;
    let ahead = u64::from(bits).wrapping_sub(near) & (TURN - 1);
    if ahead < TURN / 2 || near + ahead < TURN { near + ahead } else { near + ahead - TURN }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address() -> Address {
        let [from, to] = [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 1, 2)];
        Address { from, to, port: 49_152, pair: 0x01_0203, dscp: 3, capable: true }
    }

    #[test]
    fn data_is_read_as_it_was_made() {
        let address = address();
        let data = Data::new(&address, 2_500, 1_000);
        assert_eq!(data.packets(), 3);
        let (lens, opcodes): (Vec<u32>, Vec<u8>) =
            (0..3).map(|psn| data.packet(psn)).map(|(head, len)| (len, head[BTH])).unzip();
        // 54 bytes of headers and 4 of invariant CRC.
        assert_eq!((lens, opcodes), (vec![1_058, 1_058, 558], vec![0, 1, 2]));
        let (head, _) = data.packet(2);
        let Address { from, to, port, pair, .. } = address;
        let packet = DataPacket { psn: 2, marked: false, last: true };
        assert_eq!(read(to, &head), Some(Arrived::Data { from, port, pair, packet }));
        assert_eq!(read(from, &head), None, "it is somebody else's");
        let mut marked = head;
        marked[IP + 1] |= CE;
        assert!(matches!(
            read(to, &marked),
            Some(Arrived::Data { packet: DataPacket { marked: true, .. }, .. })
        ));
        // The lengths in the headers are those of the whole packet, and the IPv4 checksum is right.
        let whole = address.frame(
            roce::Headers {
                bth: roce::Bth::new(roce::opcode::RC_SEND_MIDDLE, pair, 0),
                extension: roce::Extension::None,
            },
            500,
        );
        assert_eq!(head[..BTH], whole[..BTH]);
    }

    #[test]
    fn answers_are_read_as_they_were_made() {
        let address = address();
        let (to, pair) = (address.to, address.pair);
        let answer = |expected, received, notifies| Arrived::Answer { pair, expected, received, notifies };
        for notifies in [false, true] {
            let ack = address.answer(Answer::Ack(0x0200_0000), notifies);
            assert_eq!(read(to, &ack), Some(answer(0, None, notifies)));
            let nack = address.answer(Answer::Nack { expected: 7, received: 0x0100_0009 }, notifies);
            assert_eq!(read(to, &nack), Some(answer(7, Some(9), notifies)));
        }
        let notification = address.notification();
        assert_eq!((notification.len(), read(to, &notification)), (74, Some(Arrived::Notification { pair })));
        assert_eq!(read(to, &notification[..60]), Some(Arrived::Notification { pair }));
        assert_eq!(read(to, &notification[..50]), None);
    }

    #[test]
    fn sequence_numbers_unwrap_to_the_nearest() {
        for (near, bits, found) in [
            (0, 5, 5),
            (5, 0, 0),
            (0x0100_0000, 0xff_ffff, 0xff_ffff),
            (0x00ff_fffe, 1, 0x0100_0001),
            (3, 0xff_ffff, 0xff_ffff),
        ] {
            assert_eq!(unwrap(near, bits), found, "{bits:#x} near {near:#x}");
        }
    }
}
