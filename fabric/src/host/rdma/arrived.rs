//! Frames that arrive at RoCEv2 hosts, read by offset.
//!
//! Bytes after the headers may be missing, which the views of `wire` would need.

use super::super::hpcc::{TelemetryFormat, echo, split};
use super::frames::{BECN, BTH, CE, IP, SEQUENCE_ERROR, UDP, UDP_PROTOCOL};
use sluice_pcaps::int::HpccLayout;
use sluice_pcaps::wire::{ethernet, roce};
use std::net::Ipv4Addr;

/// A received frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrived<'a> {
    /// A data packet, with the records that switches have added.
    Data { from: Ipv4Addr, port: u16, pair: u32, packet: DataPacket, records: &'a [u8] },
    /// An acknowledgement or a NACK.
    Answer { pair: u32, answer: AnswerPacket, records: &'a [u8] },
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

/// A received acknowledgement or NACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AnswerPacket {
    /// Lower 24 bits of the expected packet: all before it have arrived.
    pub(super) expected: u32,
    /// True for a NACK: the expected packet is missing.
    pub(super) missing: bool,
    /// Message sequence number of the AETH: of a NACK the packet that has arrived, of a receiver that accepts any order
    /// the number of packets that it has, otherwise the expected packet; the lower 24 bits.
    pub(super) msn: u32,
    /// True if its BECN notifies of congestion.
    pub(super) notifies: bool,
}

/// Length of BTH and AETH.
const ANSWER: usize = roce::BTH_LEN + 4;

fn u24(bytes: &[u8], at: usize) -> Option<u32> {
    let [a, b, c] = *bytes.get(at..)?.first_chunk()?;
    Some(u32::from_be_bytes([0, a, b, c]))
}

/// Splits the bytes after UDP into telemetry, which may be empty, and the rest from the BTH on. `None` if the frame is
/// neither RoCEv2 nor to the port of telemetry in one of these formats.
fn after_udp<'a>(frame: &'a [u8], formats: &[TelemetryFormat]) -> Option<(&'a [u8], &'a [u8])> {
    let port = u16::from_be_bytes(*frame.get(UDP + 2..)?.first_chunk()?);
    if *frame.get(IP + 9)? != UDP_PROTOCOL {
        return None;
    }
    let after = frame.get(BTH..)?;
    match formats.iter().find(|format| format.port == port) {
        Some(format) => split(format.layout, after),
        None => (port == roce::PORT).then_some((&[], after)),
    }
}

/// Returns the queue pair of a RoCEv2 packet; `None` if the frame is another one. Packets to the ports of these formats have
/// telemetry.
pub(in crate::host) fn pair(frame: &[u8], formats: &[TelemetryFormat]) -> Option<u32> {
    u24(after_udp(frame, formats)?.1, 5)
}

/// Returns true if the frame is an acknowledgement, a NACK or a CNP.
pub(in crate::host) fn is_answer(frame: &[u8], formats: &[TelemetryFormat]) -> bool {
    let opcode = after_udp(frame, formats).and_then(|(_, bth)| bth.first());
    matches!(opcode, Some(&(roce::opcode::RC_ACKNOWLEDGE | roce::opcode::CNP)))
}

/// Parses a frame to the address `own`; `None` for other frames and unknown kinds.
pub(super) fn read<'a>(
    own: Ipv4Addr,
    frame: &'a [u8],
    telemetry: Option<&TelemetryFormat>,
) -> Option<Arrived<'a>> {
    const PLAIN: u8 = 0x45;
    let link = ethernet::View::new(frame).ok()?;
    let ip = frame.get(IP..UDP).filter(|ip| ip[0] == PLAIN)?;
    if link.ethertype() != ethernet::TYPE_IPV4 || ip.get(16..20)? != own.octets() {
        return None;
    }
    let from = Ipv4Addr::from(*ip.get(12..16)?.first_chunk::<4>()?);
    let port = u16::from_be_bytes(*frame.get(UDP..)?.first_chunk()?);
    let (int, bth) = after_udp(frame, telemetry.map_or(&[], std::slice::from_ref))?;
    let (opcode, pair, psn) = (*bth.first()?, u24(bth, 5)?, u24(bth, 9)?);
    let layout = telemetry.map(|format| format.layout);
    match opcode {
        roce::opcode::RC_SEND_FIRST..=roce::opcode::RC_SEND_ONLY => {
            let last = matches!(opcode, roce::opcode::RC_SEND_LAST | roce::opcode::RC_SEND_ONLY);
            let packet = DataPacket { psn, marked: ip[1] & 3 == CE, last };
            let records = layout.map_or(&[][..], |layout| echo(layout, int));
            Some(Arrived::Data { from, port, pair, packet, records })
        }
        roce::opcode::RC_ACKNOWLEDGE => {
            let (syndrome, msn) = (*bth.get(roce::BTH_LEN)?, u24(bth, roce::BTH_LEN + 1)?);
            let missing = syndrome == SEQUENCE_ERROR;
            let expected = if missing { psn } else { psn.wrapping_add(1) & roce::MAX_U24 };
            let notifies = bth.get(4)? & BECN != 0;
            let answer = AnswerPacket { expected, missing, msn, notifies };
            let records = match layout {
                Some(HpccLayout::Ns3) => {
                    let padding = usize::from(bth.get(1)? >> 4 & 3);
                    let end = bth.len().saturating_sub(roce::ICRC_LEN + padding);
                    bth.get(ANSWER..end).unwrap_or_default()
                }
                _ => int,
            };
            Some(Arrived::Answer { pair, answer, records })
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
