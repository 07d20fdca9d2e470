//! Trace for load balancers: bursts with pauses between them, and one flow without pauses.

use super::l3_ecmp::{NEIGHBOUR, PORT_RATE, ROUTER, SampleError, instant};
use crate::capture::CaptureTime;
use crate::capture::write::PcapWriter;
use crate::generate::{Pace, Schedule};
use crate::wire::{FrameBuilder, ipv4, tcp};
use std::net::Ipv4Addr;

/// Bytes of a frame: 1460 of TCP payload.
const LENGTH: u32 = 1_514;
/// Bytes of it in the capture: the headers and some.
const CAPTURED: usize = 64;
const PS_PER_US: u64 = 1_000_000;
const FLOWS: u64 = 48;
const BURSTS: u64 = 5;
const BURST: u64 = 4;
const ELEPHANT: u64 = 120;

/// Makes the bytes of [`FLOWLETS`](super::FLOWLETS). All frames have 1514 bytes, of which 64 are captured:
///
/// - 48 TCP flows, each five bursts of four frames 2 µs apart, with pauses of 90 to 278 µs between the bursts of a
///   flow, the same for all of its pauses; every sixth flow goes to 10.2.0.0/16, the others to 10.7.0.0/16;
/// - one TCP flow of 120 frames, one every 9 µs, 175,200 bytes of payload.
pub fn flowlets() -> Result<Vec<u8>, SampleError> {
    let mut trace: Vec<(CaptureTime, Vec<u8>)> = Vec::new();
    let frame = |flow: u64, to: Ipv4Addr, n: u64| -> Result<Vec<u8>, SampleError> {
        let ip = ipv4::Header { identification: n as u16, ..ipv4::Header::new([10, 1, 0, 1].into(), to) };
        let tcp = tcp::Header { sequence: n as u32 * 1_460, ..tcp::Header::new(40_000 + flow as u16, 80) };
        let mut frame = Vec::new();
        FrameBuilder::new(ROUTER, NEIGHBOUR).ipv4(ip).tcp(tcp).build_len(LENGTH as usize, &mut frame)?;
        frame.truncate(CAPTURED);
        Ok(frame)
    };
    for flow in 0..FLOWS {
        let network = if flow % 6 == 5 { 2 } else { 7 };
        let pause = (90 + 4 * flow) * PS_PER_US;
        for n in 0..BURSTS * BURST {
            let at = flow * 517_000 + n * 2 * PS_PER_US + n / BURST * pause;
            trace.push((instant(at), frame(flow, [10, network, 0, flow as u8].into(), n)?));
        }
    }
    for n in 0..ELEPHANT {
        trace.push((instant(n * 9 * PS_PER_US + 333_000), frame(FLOWS, [10, 7, 0, 200].into(), n)?));
    }
    trace.sort_by_key(|(time, _)| *time);
    let mut writer = PcapWriter::new(Vec::new())?;
    let mut line_free = CaptureTime::EPOCH;
    for (time, frame) in &trace {
        let mut line = Schedule::new(line_free.max(*time), Pace::BackToBack { bits_per_second: PORT_RATE });
        writer.write(line.next(LENGTH), frame, &[], LENGTH)?;
        line_free = line.next(0);
    }
    Ok(writer.finish()?)
}
