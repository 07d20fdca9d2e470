//! ConWeave's bytes in RoCEv2 frames: the reserved bits of the base transport header and four bytes behind it (model:
//! conweave §1.16).

use sluice_pcaps::wire::roce;
use std::net::Ipv4Addr;

/// Byte at which ConWeave's header begins, if there is one: after the base transport header.
const HEADER: usize = roce::REACH;
/// Byte at which the base transport header begins.
const BTH: usize = HEADER - roce::BTH_LEN;
/// Bytes of ConWeave's header.
pub const HEADER_LEN: usize = 4;
/// Bytes that a reader looks at, at most.
pub const REACH: usize = HEADER + HEADER_LEN;

/// Values of [`Header::opcode`]; 0 is a frame without ConWeave's header.
pub mod opcode {
    /// DATA, RTT_REQUEST, TAIL, REROUTED.
    pub const DATA: u8 = 1;
    /// RTT_REPLY (phase 0) and CLEAR (phase 1).
    pub const REPLY: u8 = 2;
    /// NOTIFY.
    pub const NOTIFY: u8 = 3;
}

/// ConWeave's headers of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// PathID; in a NOTIFY the congested one.
    pub path: u8,
    /// See [`opcode`].
    pub opcode: u8,
    /// 1 in REROUTED packets and in CLEAR.
    pub phase: u8,
    /// Epoch modulo 4.
    pub epoch: u8,
    /// RTT_REQUEST and TAIL.
    pub ask_reply: bool,
    /// The last packet on the old path.
    pub tail: bool,
    /// When SrcToR sent it, in ticks of 1.024 us.
    pub ts_tx: u16,
    /// When SrcToR sent the epoch's TAIL; 0 before.
    pub ts_tail: u16,
}

impl Header {
    /// Puts it into a frame as its host sent it.
    pub fn put(self, frame: &mut Vec<u8>) {
        let flags = u8::from(self.ask_reply) << 1 | u8::from(self.tail);
        let bits = self.opcode << 5 | self.phase << 4 | self.epoch << 2 | flags;
        for (at, value) in [(BTH + 4, self.path), (BTH + 8, bits)] {
            if let Some(byte) = frame.get_mut(at) {
                *byte |= value;
            }
        }
        let at = HEADER.min(frame.len());
        frame.splice(at..at, [self.ts_tx.to_be_bytes(), self.ts_tail.to_be_bytes()].concat());
    }
}

/// A RoCEv2 frame over IPv4 as ConWeave sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// IPv4 source.
    pub src: Ipv4Addr,
    /// IPv4 destination.
    pub dst: Ipv4Addr,
    /// UDP source port.
    pub src_port: u16,
    /// Packet sequence number.
    pub psn: u32,
    /// ECN codepoint.
    pub ecn: u8,
    /// ConWeave's header; `opcode` is 0 between hosts and their ToRs.
    pub header: Header,
}

/// Reads a frame of which at least the first [`REACH`] bytes are given, if the frame has so many. Returns `None` if the frame
/// is not RoCEv2 over IPv4 without options.
#[must_use]
pub fn read(frame: &[u8]) -> Option<Frame> {
    let roce::Dissected { src, dst, src_port, ecn, psn, bth } = roce::dissect(frame)?;
    let word = |at: usize| Some(u16::from_be_bytes([*frame.get(at)?, *frame.get(at + 1)?]));
    let bits = bth[8];
    let opcode = bits >> 5 & 3;
    let (ts_tx, ts_tail) = if opcode == 0 { (0, 0) } else { (word(HEADER)?, word(HEADER + 2)?) };
    let header = Header {
        path: bth[4],
        opcode,
        phase: bits >> 4 & 1,
        epoch: bits >> 2 & 3,
        ask_reply: bits & 2 != 0,
        tail: bits & 1 != 0,
        ts_tx,
        ts_tail,
    };
    Some(Frame { src, dst, src_port, psn, ecn, header })
}

/// Returns true if a frame carries RDMA data of a reliable connection (SEND or WRITE), with ConWeave's header or without.
pub(super) fn is_data(frame: &[u8]) -> bool {
    read(frame).is_some_and(|of| of.header.opcode <= opcode::DATA)
        && frame.get(BTH).is_some_and(|operation| *operation < roce::opcode::RC_READ_REQUEST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_pcaps::wire::{FrameBuilder, MacAddr, Payload, ipv4, udp};

    #[test]
    fn what_is_put_in_is_read() {
        let (src, dst) = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 1, 2));
        let bth = roce::Bth::new(roce::opcode::RC_WRITE_MIDDLE, 7, 0x01_0203);
        let headers = roce::Headers { bth, extension: roce::Extension::None };
        let mut frame = Vec::new();
        FrameBuilder::new(MacAddr::from_u64(2), MacAddr::from_u64(4))
            .ipv4(ipv4::Header { ecn: 2, ..ipv4::Header::new(src, dst) })
            .roce(udp::Header::new(49_153, roce::PORT), headers)
            .build(Payload::Zeros(64), &mut frame)
            .unwrap();
        let plain = read(&frame).unwrap();
        let of_host = Frame { src, dst, src_port: 49_153, psn: 0x01_0203, ecn: 2, header: Header::default() };
        assert_eq!(plain, of_host);
        let header = Header {
            path: 3,
            opcode: opcode::DATA,
            phase: 1,
            epoch: 2,
            ask_reply: true,
            tail: true,
            ts_tx: 65_530,
            ts_tail: 10,
        };
        let length = frame.len();
        header.put(&mut frame);
        assert_eq!((frame.len(), read(&frame).unwrap()), (length + HEADER_LEN, Frame { header, ..of_host }));
        assert_eq!(read(&frame[..REACH]), read(&frame));
        assert_eq!((read(&frame[..REACH - 1]), read(&[])), (None, None));
    }
}
