//! Frames of RoCEv2 hosts: data, acknowledgements, CNPs.
//!
//! The simulator stores only the headers of data frames, and their length on the wire, so that a packet of 1000 bytes
//! costs as much to copy as an acknowledgement. Acknowledgements and CNPs are complete, including the invariant CRC.
//!
//! Packets of HPCC have telemetry between UDP and the base transport header (BTH), which the invariant CRC does not cover,
//! because switches change it. In the layout of the simulator answers have the copy of the records after the AETH instead,
//! and RoCEv2's port, because switches would write into every packet to the port of the telemetry.

use super::super::hpcc::{TelemetryFormat, room};
use sluice_asic::tm::pfc::PfcTimes;
use sluice_pcaps::int::HpccLayout;
use sluice_pcaps::wire::{Checksum, FrameBuilder, MacAddr, Payload, ethernet, ipv4, pause, roce, udp};
use std::net::Ipv4Addr;

/// Length of Ethernet, IPv4, UDP header and BTH.
pub(super) const HEADERS: usize = 14 + 20 + 8 + roce::BTH_LEN;
/// Length of the headers and of the longest telemetry of a data packet at its sender.
const LONGEST: usize = HEADERS + room(HpccLayout::Ns3);
/// Offsets of headers.
pub(super) const IP: usize = 14;
pub(super) const UDP: usize = IP + 20;
pub(super) const BTH: usize = UDP + 8;
/// AETH syndrome of a NAK: "PSN sequence error" (InfiniBand, §9.7.5.2.8).
pub(super) const SEQUENCE_ERROR: u8 = 0x60;
/// Values of an IPv4 header's ECN field: ECT(0), and CE (congestion experienced).
const ECT0: u8 = 2;
pub(super) const CE: u8 = 3;
/// Protocol number of UDP.
pub(super) const UDP_PROTOCOL: u8 = 17;
/// BECN in byte 4 of the BTH.
pub(super) const BECN: u8 = 0x40;

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
    /// Format of the records that packets carry, if they do.
    pub(super) telemetry: Option<TelemetryFormat>,
}

impl Address {
    fn builder(&self) -> FrameBuilder {
        let ecn = if self.capable { ECT0 } else { 0 };
        let ip = ipv4::Header { dscp: self.dscp, ecn, ..ipv4::Header::new(self.from, self.to) };
        FrameBuilder::new(mac_of(self.to), mac_of(self.from)).ipv4(ip)
    }

    /// Builds a complete frame with these transport headers.
    pub(super) fn frame(&self, headers: roce::Headers, payload: Payload<'_>) -> Vec<u8> {
        let mut frame = Vec::new();
        let udp = udp::Header::new(self.port, roce::PORT);
        // Building fails only above the longest IPv4 packet, and payloads are at most a few kilobytes.
        let built = self.builder().roce(udp, headers).build(payload, &mut frame);
        debug_assert!(built.is_ok(), "{built:?}");
        frame
    }
}

/// Returns a RoCEv2 frame with telemetry between UDP and BTH, to another UDP port.
pub(super) fn with_telemetry(frame: &[u8], telemetry: &[u8], port: u16) -> Vec<u8> {
    let (before, after) = frame.split_at(BTH.min(frame.len()));
    let mut longer = [before, telemetry, after].concat();
    let added = telemetry.len() as u16;
    let mut add = |at: usize| {
        if let Some(length) = longer.get_mut(at..).and_then(<[u8]>::first_chunk_mut::<2>) {
            *length = u16::from_be_bytes(*length).wrapping_add(added).to_be_bytes();
        }
    };
    /// Offsets of the IPv4 length and checksum, and of the UDP length.
    const LENGTHS: [usize; 2] = [IP + 2, UDP + 4];
    const CHECKSUM: usize = IP + 10;
    LENGTHS.into_iter().for_each(&mut add);
    longer[UDP + 2..UDP + 4].copy_from_slice(&port.to_be_bytes());
    longer[CHECKSUM..CHECKSUM + 2].fill(0);
    let checksum = Checksum::new().with(&longer[IP..UDP]).finish();
    longer[CHECKSUM..CHECKSUM + 2].copy_from_slice(&checksum.to_be_bytes());
    longer
}

/// Returns a host's MAC address, which contains its IPv4 address.
fn mac_of(address: Ipv4Addr) -> MacAddr {
    MacAddr::from_u64(0x0a00_0000_0000 | u64::from(address.to_bits()))
}

/// Data packets of a message: one template for full packets and one for the last packet.
#[derive(Clone, Debug)]
pub(super) struct Data {
    packets: u64,
    /// Offset of the BTH.
    bth: usize,
    full: Template,
    last: Template,
}

/// Headers of a data packet, and its length on the wire without FCS.
#[derive(Clone, Debug)]
struct Template {
    head: [u8; LONGEST],
    len: u32,
}

impl Data {
    /// Creates the packets of a message of `bytes` bytes, at least 1, with `mtu` payload bytes each.
    pub(super) fn new(address: &Address, bytes: u64, mtu: u32) -> Data {
        let packets = bytes.div_ceil(u64::from(mtu)).max(1);
        let rest = bytes - (packets - 1) * u64::from(mtu);
        let room = address.telemetry.map_or(0, |format| room(format.layout));
        let template = |payload: u64| {
            let bth = roce::Bth::new(roce::opcode::RC_SEND_MIDDLE, address.pair, 0);
            let headers = roce::Headers { bth, extension: roce::Extension::None };
            let mut frame = address.frame(headers, Payload::Zeros(payload as usize));
            if let Some(format) = &address.telemetry {
                frame = with_telemetry(&frame, &[0; LONGEST][..room], format.port);
            }
            let mut head = [0; LONGEST];
            head.iter_mut().zip(&frame).for_each(|(to, from)| *to = *from);
            Template { head, len: frame.len().max(60) as u32 }
        };
        Data { packets, bth: BTH + room, full: template(u64::from(mtu)), last: template(rest) }
    }

    /// Returns the number of packets.
    pub(super) const fn packets(&self) -> u64 {
        self.packets
    }

    /// Returns the length of packet `psn` on the wire without FCS.
    pub(super) const fn len(&self, psn: u64) -> u32 {
        if psn + 1 == self.packets { self.last.len } else { self.full.len }
    }

    /// Returns the headers of packet `psn`.
    pub(super) fn head(&mut self, psn: u64) -> &[u8] {
        let (first, last) = (psn == 0, psn + 1 == self.packets);
        let Template { head, .. } = if last { &mut self.last } else { &mut self.full };
        let Some(bth) = head.get_mut(self.bth..).and_then(<[u8]>::first_chunk_mut::<{ roce::BTH_LEN }>)
        else {
            return &[];
        };
        bth[0] = match (first, last) {
            (true, true) => roce::opcode::RC_SEND_ONLY,
            (true, false) => roce::opcode::RC_SEND_FIRST,
            (false, true) => roce::opcode::RC_SEND_LAST,
            (false, false) => roce::opcode::RC_SEND_MIDDLE,
        };
        // Sets the AckReq bit in every packet.
        bth[8] = 0x80;
        bth[9..].copy_from_slice(&(psn as u32).to_be_bytes()[1..]);
        &head[..self.bth + roce::BTH_LEN]
    }
}

/// Returns the PFC frame by which the host with this address pauses its switch, without FCS.
pub(in crate::host) fn pause_frame(from: Ipv4Addr, times: PfcTimes) -> [u8; 14 + pause::PACKET_LEN] {
    let mut frame = [0; 14 + pause::PACKET_LEN];
    let packet = pause::Packet::Pfc { enabled: times.enabled, quanta: times.quanta }.to_bytes();
    frame[..6].copy_from_slice(&pause::DESTINATION.0);
    frame[6..12].copy_from_slice(&mac_of(from).0);
    frame[12..14].copy_from_slice(&ethernet::TYPE_MAC_CONTROL.to_be_bytes());
    frame[14..].copy_from_slice(&packet);
    frame
}

/// Returns the pauses of a PFC frame; `None` if the frame is not PFC.
pub(in crate::host) fn pause(frame: &[u8]) -> Option<PfcTimes> {
    let link = ethernet::View::new(frame).ok().filter(|l| l.ethertype() == ethernet::TYPE_MAC_CONTROL)?;
    match pause::View::new(link.payload()).ok()?.packet() {
        pause::Packet::Pfc { enabled, quanta } => Some(PfcTimes { enabled, quanta }),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
