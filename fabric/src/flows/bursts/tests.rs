use super::*;
use sluice_pcaps::capture::CaptureTime;
use sluice_pcaps::capture::write::PcapWriter;
use sluice_pcaps::wire::roce::{Bth, Extension, Headers, opcode};
use sluice_pcaps::wire::{FrameBuilder, MacAddr, Payload, ipv4, roce, tcp, udp};

const A: [u8; 4] = [10, 0, 0, 1];
const B: [u8; 4] = [10, 0, 1, 1];

fn start(from: [u8; 4], to: [u8; 4]) -> FrameBuilder {
    let link = FrameBuilder::new(MacAddr::from_u64(1), MacAddr::from_u64(2));
    link.ipv4(ipv4::Header::new(from.into(), to.into()))
}

fn built(builder: FrameBuilder, payload: usize) -> Vec<u8> {
    let mut out = Vec::new();
    builder.build(Payload::Zeros(payload), &mut out).unwrap();
    out
}

/// Reads frames at these times in ns, of which the capture keeps 60 bytes.
fn read(frames: &[(u64, Vec<u8>)], gap: u64) -> Bursts {
    let mut writer = PcapWriter::new(Vec::new()).unwrap();
    for (ns, bytes) in frames {
        let time = CaptureTime::from_secs(7).checked_add_ps(ns * 1_000).unwrap();
        writer.write(time, &bytes[..bytes.len().min(60)], &[], bytes.len() as u32).unwrap();
    }
    let file = writer.finish().unwrap();
    let mut reader = CaptureReader::from_bytes(&file, "test").unwrap();
    bursts(&mut reader, Duration::from_nanos(gap)).unwrap()
}

fn burst(from: [u8; 4], to: [u8; 4], port: u16, ns: u64, bytes: u64) -> Burst {
    let start = Duration::from_nanos(ns);
    Burst { from: IpAddr::from(from), to: IpAddr::from(to), port, start, bytes }
}

#[test]
fn a_gap_begins_a_burst_of_its_own_flow_alone() {
    let datagram = |port, bytes| built(start(A, B).udp(udp::Header::new(port, 80)), bytes);
    let found = read(
        &[
            (0, datagram(1000, 100)),
            (50, datagram(2000, 7)),
            (100, datagram(1000, 200)),
            (200, datagram(1000, 300)),
            (301, datagram(1000, 400)),
            (320, vec![0; 60]),
        ],
        100,
    );
    // 100 ns after the last frame is no gap, 101 ns is one.
    let all = [burst(A, B, 1000, 0, 600), burst(A, B, 2000, 50, 7), burst(A, B, 1000, 301, 400)];
    assert_eq!((found.bursts.as_slice(), found.frames, found.skipped), (&all[..], 6, 1));
}

#[test]
fn what_tcp_sends_again_counts_once() {
    let segment = |sequence: u32, flags: u8, bytes| {
        let header = tcp::Header { sequence, flags, ..tcp::Header::new(1000, 80) };
        built(start(A, B).tcp(header), bytes)
    };
    let near = u32::MAX - 99;
    let found = read(
        &[
            (0, segment(near - 1, 2, 0)),
            (10, segment(near, 16, 1_000)),
            (20, segment(near.wrapping_add(1_000), 16, 1_000)),
            // The first again, then one that is half new, and a keep-alive.
            (30, segment(near, 16, 1_000)),
            (40, segment(near.wrapping_add(1_500), 16, 1_000)),
            (50, segment(near.wrapping_add(2_499), 16, 1)),
            (60, segment(near.wrapping_add(2_500), 17, 0)),
        ],
        1_000,
    );
    assert_eq!(found.bursts, [burst(A, B, 1000, 10, 2_500)]);
}

#[test]
fn rdma_payload_counts_without_headers_and_repetitions() {
    let packet = |operation, psn, bytes| {
        let headers = Headers { bth: Bth::new(operation, 5, psn), extension: Extension::None };
        built(start(A, B).roce(udp::Header::new(50_000, roce::PORT), headers), bytes)
    };
    let reth = Extension::Reth { address: 0, key: 0, length: 2_498 };
    let first = Headers { bth: Bth::new(opcode::RC_WRITE_FIRST, 5, 0xff_ffff), extension: reth };
    let found = read(
        &[
            (0, built(start(A, B).roce(udp::Header::new(50_000, roce::PORT), first), 1_000)),
            (10, packet(opcode::RC_WRITE_MIDDLE, 0, 1_000)),
            (20, packet(opcode::RC_WRITE_MIDDLE, 0, 1_000)),
            (30, packet(opcode::RC_WRITE_LAST, 1, 498)),
            (35, built(start(B, A).roce(udp::Header::new(50_000, roce::PORT), Headers::cnp(5)), 0)),
        ],
        1_000,
    );
    // A payload is padded to four bytes.
    assert_eq!(found.bursts, [burst(A, B, 50_000, 0, 2_498)]);
    assert_eq!(found.skipped, 1);
}
