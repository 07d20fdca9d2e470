//! Traces for `ecn-mark` and `pfc`: bursts to a slow host, and pauses.

use super::l3_ecmp::SampleError;
use crate::capture::CaptureTime;
use crate::capture::write::PcapWriter;
use crate::generate::{Pace, Schedule};
use crate::wire::pause::{self, Packet};
use crate::wire::{FrameBuilder, MacAddr, Payload, ethernet, ipv4, ipv6, udp};
use std::net::{Ipv4Addr, Ipv6Addr};

const PORT_RATE: u64 = 400_000_000_000;
const ORIGIN_S: u64 = 1_700_000_000;
const ROUTER: MacAddr = MacAddr::from_u64(0x02_00_00_00_00_01);
const NEIGHBOUR: MacAddr = MacAddr::from_u64(0x02_00_00_00_01_00);
const HOST: Ipv4Addr = Ipv4Addr::new(10, 9, 9, 9);

const NOT_ECT: u8 = 0;
const ECT_1: u8 = 1;
const ECT_0: u8 = 2;

/// A trace under construction: frames go onto the line of a 400G port as soon as it is free.
pub(super) struct Trace {
    writer: PcapWriter<Vec<u8>>,
    free: CaptureTime,
}

impl Trace {
    pub(super) fn new() -> Result<Self, SampleError> {
        Ok(Self { writer: PcapWriter::new(Vec::new())?, free: CaptureTime::from_secs(ORIGIN_S) })
    }

    /// Delays the next frame to at least `us` microseconds after the start of the trace.
    pub(super) fn at(&mut self, us: u64) {
        self.at_ns(us * 1_000);
    }

    /// Delays the next frame to at least `ns` nanoseconds after the start of the trace.
    pub(super) fn at_ns(&mut self, ns: u64) {
        let ps = CaptureTime::from_secs(ORIGIN_S).as_ps() + u128::from(ns) * 1_000;
        self.free = self.free.max(CaptureTime::from_ps(ps));
    }

    pub(super) fn write(&mut self, frame: &[u8]) -> Result<(), SampleError> {
        self.write_start(frame, frame.len())
    }

    /// Writes a frame of which only the first `captured` bytes are captured.
    pub(super) fn write_start(&mut self, frame: &[u8], captured: usize) -> Result<(), SampleError> {
        let len = frame.len() as u32;
        let mut line = Schedule::new(self.free, Pace::BackToBack { bits_per_second: PORT_RATE });
        let captured = frame.get(..captured).unwrap_or(frame);
        self.writer.write(line.next(len), captured, &[], len)?;
        self.free = line.next(0);
        Ok(())
    }

    /// Returns an IPv4 frame of a flow.
    pub(super) fn ipv4(
        &mut self,
        to: Ipv4Addr,
        (dscp, ecn): (u8, u8),
        id: u16,
        len: usize,
    ) -> Result<(), SampleError> {
        let from = Ipv4Addr::new(10, 8, 0, (id % 8) as u8 + 1);
        let ip = ipv4::Header { dscp, ecn, identification: id, ..ipv4::Header::new(from, to) };
        let mut frame = Vec::new();
        let ports = udp::Header::new(40_000 + id % 8, 20_480);
        FrameBuilder::new(ROUTER, NEIGHBOUR).ipv4(ip).udp(ports).build_len(len, &mut frame)?;
        self.write(&frame)
    }

    pub(super) fn finish(self) -> Result<Vec<u8>, SampleError> {
        Ok(self.writer.finish()?)
    }
}

/// Makes the bytes of [`ECN_MARK`](super::ECN_MARK).
///
/// - From 0 on, a burst of 330 frames of 1,000 B to 10.9.9.9 with DSCP 3, from 8 senders: of ten frames, eight are
///   ECT(0), one is ECT(1), and one is not-ECT;
/// - within the burst, 6 frames of 78 B with DSCP 48, ECT(0), like congestion notifications;
/// - from 200 µs on, 10 frames that find an empty queue;
/// - 4 IPv6 frames, ECT(0).
pub fn ecn_mark() -> Result<Vec<u8>, SampleError> {
    let mut trace = Trace::new()?;
    for id in 0..330u16 {
        let ecn = match id % 10 {
            8 => ECT_1,
            9 => NOT_ECT,
            _ => ECT_0,
        };
        trace.ipv4(HOST, (3, ecn), id, 1_000)?;
        if id % 60 == 30 {
            trace.ipv4(HOST, (48, ECT_0), id, 78)?;
        }
    }
    trace.at(200);
    for id in 0..10 {
        trace.ipv4(HOST, (3, ECT_0), 1_000 + id, 1_000)?;
    }
    for n in 1..=4u16 {
        let net = |last| Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, last);
        let ip = ipv6::Header { ecn: ECT_0, ..ipv6::Header::new(net(n), net(99)) };
        let mut frame = Vec::new();
        FrameBuilder::new(ROUTER, NEIGHBOUR)
            .ipv6(ip)
            .udp(udp::Header::new(n, 20_480))
            .build_len(200, &mut frame)?;
        trace.write(&frame)?;
    }
    trace.finish()
}

/// Makes the bytes of [`PFC`](super::PFC).
///
/// - From 0 on, a burst of 200 frames of 1,000 B with DSCP 3 to 10.9.9.9, faster than its line;
/// - at 100 µs, a PFC frame that pauses priorities 3 and 4 for 20,000 quanta, 25.6 µs at 400G; after it, 20 frames each
///   with DSCP 3 and with DSCP 0 to 10.0.0.1, the host on the trace's port;
/// - at 150 µs, a pause of 65,535 quanta of priority 3, 10 frames of that priority, and 10 µs later the frame that ends
///   the pause.
pub fn pfc() -> Result<Vec<u8>, SampleError> {
    let mut trace = Trace::new()?;
    let back = Ipv4Addr::new(10, 0, 0, 1);
    let pause = |vector: u8, quanta: u16| -> Result<Vec<u8>, SampleError> {
        let mut frame = Vec::new();
        FrameBuilder::new(pause::DESTINATION, NEIGHBOUR)
            .ethertype(ethernet::TYPE_MAC_CONTROL)
            .build(Payload::Bytes(&Packet::pfc(vector, quanta).to_bytes()), &mut frame)?;
        Ok(frame)
    };
    for id in 0..200 {
        trace.ipv4(HOST, (3, NOT_ECT), id, 1_000)?;
    }
    trace.at(100);
    trace.write(&pause(0x18, 20_000)?)?;
    for id in 0..20 {
        trace.ipv4(back, (3, NOT_ECT), id, 500)?;
        trace.ipv4(back, (0, NOT_ECT), id, 500)?;
    }
    trace.at(150);
    trace.write(&pause(0x08, 0xffff)?)?;
    for id in 0..10 {
        trace.ipv4(back, (3, NOT_ECT), 100 + id, 500)?;
    }
    trace.at(160);
    trace.write(&pause(0x08, 0)?)?;
    trace.finish()
}
