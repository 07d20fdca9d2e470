//! RoCEv2 frames with and without ConWeave's header, written and read byte by byte.

use sluice_pcaps::wire::{FrameBuilder, MacAddr, Payload, ipv4, roce, udp};
use std::net::Ipv4Addr;

/// Offset of the base transport header.
pub(crate) const BTH: usize = 14 + 20 + 8;
/// Offset of ConWeave's header.
const CWH: usize = BTH + roce::BTH_LEN;

/// A flow of the tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Flow {
    pub(crate) src: Ipv4Addr,
    pub(crate) dst: Ipv4Addr,
    pub(crate) src_port: u16,
}

impl Flow {
    /// Returns the `n`-th flow from host `from` of ToR 1 to host `to` of ToR 2.
    pub(crate) fn new(from: u8, to: u8, n: u16) -> Flow {
        Flow { src: Ipv4Addr::new(10, 0, 1, from), dst: Ipv4Addr::new(10, 0, 2, to), src_port: 49_152 + n }
    }
}

/// Returns a frame of an RDMA operation as its host sends it.
pub(crate) fn operation(flow: Flow, opcode: u8, psn: u32, len: usize) -> Vec<u8> {
    let (a, b) = (MacAddr::from_u64(0x02_00_00_00_00_01), MacAddr::from_u64(0x02_00_00_00_00_02));
    let ip = ipv4::Header { ecn: 2, ..ipv4::Header::new(flow.src, flow.dst) };
    let headers = roce::Headers { bth: roce::Bth::new(opcode, 7, psn), extension: roce::Extension::None };
    let builder = FrameBuilder::new(b, a).ipv4(ip).roce(udp::Header::new(flow.src_port, roce::PORT), headers);
    let mut frame = Vec::new();
    builder.build(Payload::Zeros(len), &mut frame).unwrap();
    frame
}

/// Returns a DATA frame as its host sends it.
pub(crate) fn data(flow: Flow, psn: u32) -> Vec<u8> {
    operation(flow, roce::opcode::RC_WRITE_MIDDLE, psn, 1000)
}

/// ConWeave's header of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cw {
    pub(crate) path: u8,
    pub(crate) opcode: u8,
    pub(crate) phase: u8,
    pub(crate) epoch: u8,
    pub(crate) ask: bool,
    pub(crate) tail: bool,
    pub(crate) ts_tx: u16,
    pub(crate) ts_tail: u16,
}

impl Cw {
    /// Inserts the header into a host's frame.
    pub(crate) fn put(self, frame: &[u8]) -> Vec<u8> {
        let mut bytes = frame[..CWH].to_vec();
        bytes[BTH + 4] = self.path;
        bytes[BTH + 8] = bytes[BTH + 8] & 0x80
            | self.opcode << 5
            | self.phase << 4
            | self.epoch << 2
            | u8::from(self.ask) << 1
            | u8::from(self.tail);
        bytes.extend(self.ts_tx.to_be_bytes());
        bytes.extend(self.ts_tail.to_be_bytes());
        bytes.extend(&frame[CWH..]);
        bytes
    }
}

/// Fields of a frame that the tests read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) flow: Flow,
    pub(crate) ecn: u8,
    pub(crate) flags: u8,
    pub(crate) psn: u32,
    pub(crate) cw: Cw,
    pub(crate) len: usize,
}

/// Reads a RoCEv2 frame; `None` for any other.
pub(crate) fn read(frame: &[u8]) -> Option<Seen> {
    let at = |i: usize| frame.get(i).copied();
    if frame.get(12..14)? != [0x08, 0x00] || at(23)? != 17 || frame.get(36..38)? != roce::PORT.to_be_bytes() {
        return None;
    }
    let address = |i: usize| Some(Ipv4Addr::new(at(i)?, at(i + 1)?, at(i + 2)?, at(i + 3)?));
    let word = |i: usize| Some(u16::from_be_bytes([at(i)?, at(i + 1)?]));
    let bits = at(BTH + 8)?;
    let opcode = bits >> 5 & 3;
    let (ts_tx, ts_tail) = if opcode == 0 { (0, 0) } else { (word(CWH)?, word(CWH + 2)?) };
    Some(Seen {
        flow: Flow { src: address(26)?, dst: address(30)?, src_port: word(34)? },
        ecn: at(15)? & 3,
        flags: at(BTH + 1)?,
        psn: u32::from_be_bytes([0, at(BTH + 9)?, at(BTH + 10)?, at(BTH + 11)?]),
        cw: Cw {
            path: at(BTH + 4)?,
            opcode,
            phase: bits >> 4 & 1,
            epoch: bits >> 2 & 3,
            ask: bits & 2 != 0,
            tail: bits & 1 != 0,
            ts_tx,
            ts_tail,
        },
        len: frame.len(),
    })
}

/// Sets the ECN bits of a frame, with its checksum.
pub(crate) fn with_ecn(mut frame: Vec<u8>, ecn: u8) -> Vec<u8> {
    frame[15] = frame[15] & !3 | ecn;
    summed(frame)
}

/// Sets the TTL of a frame, with its checksum.
pub(crate) fn with_ttl(mut frame: Vec<u8>, ttl: u8) -> Vec<u8> {
    frame[22] = ttl;
    summed(frame)
}

/// Returns the frame with a valid IPv4 checksum.
fn summed(mut frame: Vec<u8>) -> Vec<u8> {
    frame[24..26].fill(0);
    let mut sum: u32 = frame[14..34].chunks(2).map(|w| u32::from(w[0]) << 8 | u32::from(w[1])).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    frame[24..26].copy_from_slice(&(!sum as u16).to_be_bytes());
    frame
}
