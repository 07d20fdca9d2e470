//! The trace for `conweave`: a flow that leaves a ToR, and two that come to it out of order.

use std::net::Ipv4Addr;

use super::l3_ecmp::{NEIGHBOUR, PORT_RATE, ROUTER, SampleError, instant};
use crate::capture::CaptureTime;
use crate::capture::write::PcapWriter;
use crate::generate::{Pace, Schedule};
use crate::wire::{FrameBuilder, Payload, ipv4, roce, udp};

const PS_PER_US: u64 = 1_000_000;
/// Payload of a DATA frame, and bytes of a frame that are captured: the headers and some.
const PAYLOAD: usize = 1_024;
const CAPTURED: usize = 80;
/// Bytes in front of the base transport header, and with it.
const BTH: usize = 14 + 20 + 8;
const CWH: usize = BTH + roce::BTH_LEN;

/// What ConWeave writes into a frame (facts: conweave §1.16).
#[derive(Clone, Copy, Debug, Default)]
struct Cw {
    path: u8,
    opcode: u8,
    phase: u8,
    epoch: u8,
    ask: bool,
    tail: bool,
    ts_tx: u16,
    ts_tail: u16,
}

impl Cw {
    fn put(self, frame: &mut Vec<u8>) {
        let flags = u8::from(self.ask) << 1 | u8::from(self.tail);
        let bits = self.opcode << 5 | self.phase << 4 | self.epoch << 2 | flags;
        for (at, value) in [(BTH + 4, self.path), (BTH + 8, bits)] {
            if let Some(byte) = frame.get_mut(at) {
                *byte |= value;
            }
        }
        let stamps = [self.ts_tx.to_be_bytes(), self.ts_tail.to_be_bytes()].concat();
        frame.splice(CWH..CWH, stamps);
    }
}

/// Makes the bytes of [`CONWEAVE`](super::CONWEAVE), for a ToR with the hosts 10.0.1.1 to 10.0.1.4 that knows the flows
/// between 10.0.1.x and 10.0.2.x from UDP port 49152. Of every frame 80 bytes are captured:
///
/// - 40 DATA frames from 10.0.1.1 to 10.0.2.1, one a microsecond, to which no RTT_REPLY comes but the CLEAR of their
///   first epoch, 25 µs after the first;
/// - from 60 µs on an epoch from 10.0.2.2 to 10.0.1.2 whose ten REROUTED frames come 10 µs before its TAIL;
/// - from 120 µs on an epoch from 10.0.2.3 to 10.0.1.3 whose TAIL is lost.
pub fn conweave() -> Result<Vec<u8>, SampleError> {
    let mut trace: Vec<(CaptureTime, u32, Vec<u8>)> = Vec::new();
    let mut add = |us: u64, [src, dst]: [u8; 2], away: bool, psn: u32, cw: Cw| -> Result<(), SampleError> {
        let (near, far) = (Ipv4Addr::new(10, 0, 1, src), Ipv4Addr::new(10, 0, 2, dst));
        let (from, to) = if away { (near, far) } else { (far, near) };
        let data = cw.opcode < 2;
        let bth = roce::Bth::new(roce::opcode::RC_WRITE_MIDDLE, 7, psn);
        let headers = roce::Headers { bth, extension: roce::Extension::None };
        let ip = ipv4::Header { ecn: 2, ..ipv4::Header::new(from, to) };
        let builder =
            FrameBuilder::new(ROUTER, NEIGHBOUR).ipv4(ip).roce(udp::Header::new(49_152, roce::PORT), headers);
        let mut frame = Vec::new();
        builder.build(Payload::Zeros(if data { PAYLOAD } else { 0 }), &mut frame)?;
        if cw.opcode > 0 {
            cw.put(&mut frame);
        }
        let length = frame.len() as u32;
        frame.truncate(CAPTURED);
        trace.push((instant(us * PS_PER_US), length, frame));
        Ok(())
    };
    for n in 0..40u32 {
        add(n.into(), [1, 1], true, n, Cw::default())?;
    }
    add(25, [1, 1], false, 0, Cw { opcode: 2, phase: 1, epoch: 1, ..Cw::default() })?;
    for (start, host, with_tail) in [(60u64, 2u8, true), (120, 3, false)] {
        let old = |tx: u16| Cw { path: 1, opcode: 1, epoch: 1, ts_tx: tx, ..Cw::default() };
        add(start, [host, host], false, 0, Cw { ask: true, ..old(100) })?;
        for n in 0..10u16 {
            let early = Cw { path: 2, phase: 1, ts_tail: 120, ..old(121 + n) };
            add(start + 10 + u64::from(n), [host, host], false, 12 + u32::from(n), early)?;
            add(start + 10 + u64::from(n), [host, host], false, 1 + u32::from(n), old(110 + n))?;
        }
        if with_tail {
            add(start + 20, [host, host], false, 11, Cw { ask: true, tail: true, ts_tail: 120, ..old(120) })?;
        }
    }
    trace.sort_by_key(|(time, ..)| *time);
    let mut writer = PcapWriter::new(Vec::new())?;
    let mut line_free = CaptureTime::EPOCH;
    for (time, length, frame) in &trace {
        let mut line = Schedule::new(line_free.max(*time), Pace::BackToBack { bits_per_second: PORT_RATE });
        writer.write(line.next(*length), frame, &[], *length)?;
        line_free = line.next(0);
    }
    Ok(writer.finish()?)
}
