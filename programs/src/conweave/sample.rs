//! The traces for `conweave`, embedded in the binary and made by the generators here; a test compares the two.

use std::net::Ipv4Addr;

use super::wire::Header;
use sluice_pcaps::capture::CaptureTime;
use sluice_pcaps::capture::write::PcapWriter;
use sluice_pcaps::generate::{Pace, Schedule};
use sluice_pcaps::samples::{NEIGHBOUR, PORT_RATE, ROUTER, SampleError, instant};
use sluice_pcaps::wire::{FrameBuilder, Payload, ipv4, roce, udp};

/// The trace of one ToR: a nanosecond pcap of 84 frames in 139 µs on one 400G port. See [`conweave`] for what is in it.
pub const CONWEAVE: &[u8] = include_bytes!("../../samples/conweave.pcap");

/// The traces of three hosts of the first ToR of a two-tor network: nanosecond pcaps of 184 frames in 36 µs each. See
/// [`conweave_hosts`] for what is in them.
pub const CONWEAVE_HOSTS: [&[u8]; 3] = [
    include_bytes!("../../samples/conweave-host0.pcap"),
    include_bytes!("../../samples/conweave-host1.pcap"),
    include_bytes!("../../samples/conweave-host2.pcap"),
];

/// The sample of one ToR: file name and bytes.
pub(crate) const OF_ONE: (&str, &[u8]) = ("conweave.pcap", CONWEAVE);

/// The samples of a two-tor network: port, file name and bytes of each.
pub(crate) fn of_network() -> Vec<(&'static str, &'static str, &'static [u8])> {
    let hosts = [
        ("leaf0:0", "conweave-host0.pcap"),
        ("leaf0:1", "conweave-host1.pcap"),
        ("leaf0:2", "conweave-host2.pcap"),
    ];
    hosts.into_iter().zip(CONWEAVE_HOSTS).map(|((port, file), bytes)| (port, file, bytes)).collect()
}

const PS_PER_US: u64 = 1_000_000;
/// Payload of a DATA frame, and bytes of a frame that are captured: the headers and some.
const PAYLOAD: usize = 1_024;
const CAPTURED: usize = 80;

/// Hosts that send in [`conweave_hosts`], the rate of each, and for how long.
const HOSTS: u8 = 3;
const HOST_RATE: u64 = 170_000_000_000;
const HOST_TIME: u64 = 36 * PS_PER_US;
/// Payload of their frames: RDMA's largest path MTU; bytes of a frame that are captured.
const MTU: usize = 4_096;
const HEADERS: usize = 60;

/// Makes the bytes of [`CONWEAVE_HOSTS`], for the first three hosts of the first ToR of a
/// two-tor network: host n sends DATA from 10.0.0.n to 10.0.1.n, UDP port 49152, for 36 µs at 170 Gb/s. All begin within
/// 0.2 µs, in the same tick of the ToR's clock, so all take the same path, which is too much for it. Of every frame
/// 60 bytes are captured.
pub fn conweave_hosts() -> Result<Vec<Vec<u8>>, SampleError> {
    let of = |host: u8| -> Result<Vec<u8>, SampleError> {
        let (src, dst) = (Ipv4Addr::new(10, 0, 0, host), Ipv4Addr::new(10, 0, 1, host));
        let mut writer = PcapWriter::new(Vec::new())?;
        let start = instant(u64::from(host - 1) * 70_000);
        let mut line = Schedule::new(start, Pace::BackToBack { bits_per_second: HOST_RATE });
        for psn in 0.. {
            let bth = roce::Bth::new(roce::opcode::RC_WRITE_MIDDLE, 7, psn);
            let headers = roce::Headers { bth, extension: roce::Extension::None };
            let ip = ipv4::Header { ecn: 2, ..ipv4::Header::new(src, dst) };
            let udp = udp::Header::new(49_152, roce::PORT);
            let mut frame = Vec::new();
            FrameBuilder::new(ROUTER, NEIGHBOUR)
                .ipv4(ip)
                .roce(udp, headers)
                .build(Payload::Zeros(MTU), &mut frame)?;
            let length = frame.len() as u32;
            let time = line.next(length);
            if time.ps_since(start).is_none_or(|ps| ps >= HOST_TIME) {
                break;
            }
            frame.truncate(HEADERS);
            writer.write(time, &frame, &[], length)?;
        }
        Ok(writer.finish()?)
    };
    (1..=HOSTS).map(of).collect()
}

/// Makes the bytes of [`CONWEAVE`], for a ToR with the hosts 10.0.1.1 to 10.0.1.4 that knows the flows
/// between 10.0.1.x and 10.0.2.x from UDP port 49152. Of every frame 80 bytes are captured:
///
/// - 40 DATA frames from 10.0.1.1 to 10.0.2.1, one a microsecond, to which no RTT_REPLY comes but the CLEAR of their
///   first epoch, 25 µs after the first;
/// - from 60 µs on an epoch from 10.0.2.2 to 10.0.1.2 whose ten REROUTED frames come 10 µs before its TAIL;
/// - from 120 µs on an epoch from 10.0.2.3 to 10.0.1.3 whose TAIL is lost.
pub fn conweave() -> Result<Vec<u8>, SampleError> {
    let mut trace: Vec<(CaptureTime, u32, Vec<u8>)> = Vec::new();
    let mut add =
        |us: u64, [src, dst]: [u8; 2], away: bool, psn: u32, cw: Header| -> Result<(), SampleError> {
            let (near, far) = (Ipv4Addr::new(10, 0, 1, src), Ipv4Addr::new(10, 0, 2, dst));
            let (from, to) = if away { (near, far) } else { (far, near) };
            let data = cw.opcode < 2;
            let bth = roce::Bth::new(roce::opcode::RC_WRITE_MIDDLE, 7, psn);
            let headers = roce::Headers { bth, extension: roce::Extension::None };
            let ip = ipv4::Header { ecn: 2, ..ipv4::Header::new(from, to) };
            let builder = FrameBuilder::new(ROUTER, NEIGHBOUR)
                .ipv4(ip)
                .roce(udp::Header::new(49_152, roce::PORT), headers);
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
        add(n.into(), [1, 1], true, n, Header::default())?;
    }
    add(25, [1, 1], false, 0, Header { opcode: 2, phase: 1, epoch: 1, ..Header::default() })?;
    for (start, host, with_tail) in [(60u64, 2u8, true), (120, 3, false)] {
        let old = |tx: u16| Header { path: 1, opcode: 1, epoch: 1, ts_tx: tx, ..Header::default() };
        add(start, [host, host], false, 0, Header { ask_reply: true, ..old(100) })?;
        for n in 0..10u16 {
            let early = Header { path: 2, phase: 1, ts_tail: 120, ..old(121 + n) };
            add(start + 10 + u64::from(n), [host, host], false, 12 + u32::from(n), early)?;
            add(start + 10 + u64::from(n), [host, host], false, 1 + u32::from(n), old(110 + n))?;
        }
        if with_tail {
            add(
                start + 20,
                [host, host],
                false,
                11,
                Header { ask_reply: true, tail: true, ts_tail: 120, ..old(120) },
            )?;
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
