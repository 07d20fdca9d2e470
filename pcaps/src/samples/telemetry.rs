//! Traces for `int` and `hpcc-int`: packets of hosts, and packets to which other nodes have added telemetry.

use super::l3_ecmp::{NEIGHBOUR, ROUTER, SampleError};
use super::lossless::Trace;
use crate::wire::{FrameBuilder, Payload, ipv4, ipv6, roce, tcp, udp};
use std::net::{Ipv4Addr, Ipv6Addr};

/// Destinations: another node, a host of this switch, and the host with the slow line. They match the default routes of
/// the programs.
const NODE: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 7);
const HOME: Ipv4Addr = Ipv4Addr::new(10, 2, 0, 7);
const SLOW: Ipv4Addr = Ipv4Addr::new(10, 9, 9, 9);

/// DSCP of packets with INT.
const INT_DSCP: u8 = 0x17;

/// Returns a frame with a UDP checksum of 0, as sent by hosts that compute no checksum.
fn unsummed(ip: ipv4::Header, ports: udp::Header, payload: &[u8]) -> Result<Vec<u8>, SampleError> {
    let mut frame = Vec::new();
    FrameBuilder::new(ROUTER, NEIGHBOUR).ipv4(ip).udp(ports).build(Payload::Bytes(payload), &mut frame)?;
    const CHECKSUM: std::ops::Range<usize> = 40..42;
    if let Some(checksum) = frame.get_mut(CHECKSUM) {
        checksum.fill(0);
    }
    Ok(frame)
}

/// Makes the bytes of [`INT`](super::INT).
///
/// - 60 UDP, 60 TCP and 30 IPv6 packets to another node, 200 ns apart: this switch is their INT source;
/// - 2 packets that look as if they had INT already, and 2 with TTL 1;
/// - from 60 µs on a burst of 480 UDP packets of 1,000 B to the slow host: its queue becomes deep, then full.
pub fn int() -> Result<Vec<u8>, SampleError> {
    let mut trace = Trace::new()?;
    let host = |n: u16| Ipv4Addr::new(10, 8, 0, (n % 8) as u8 + 1);
    let net = |net: u16, last: u16| Ipv6Addr::new(0x2001, 0xdb8, net, 0, 0, 0, 0, last);
    let routed = FrameBuilder::new(ROUTER, NEIGHBOUR);
    for n in 0..150u16 {
        trace.at_ns(u64::from(n) * 200);
        let ip = ipv4::Header { identification: n, ..ipv4::Header::new(host(n), NODE) };
        let builder = match n % 5 {
            0 | 1 => routed.ipv4(ip).udp(udp::Header::new(40_000 + n % 8, 20_480)),
            2 | 3 => routed.ipv4(ip).tcp(tcp::Header::new(50_000 + n % 8, 80)),
            _ => routed.ipv6(ipv6::Header::new(net(0, n), net(1, 7))).udp(udp::Header::new(n, 20_480)),
        };
        let mut frame = Vec::new();
        builder.build_len(90 + usize::from(n) * 7, &mut frame)?;
        trace.write(&frame)?;
    }
    trace.at(40);
    for n in 0..2u16 {
        let looks = ipv4::Header { dscp: INT_DSCP, ..ipv4::Header::new(host(n), NODE) };
        trace.write(&unsummed(looks, udp::Header::new(9, 20_480), &[0x10; 60])?)?;
        let dies = ipv4::Header { ttl: 1, ..ipv4::Header::new(host(n), NODE) };
        trace.write(&unsummed(dies, udp::Header::new(9, 33_434), &[0; 60])?)?;
    }
    trace.at(60);
    for n in 0..480 {
        trace.ipv4(SLOW, (0, 0), n, 1_000)?;
    }
    trace.finish()
}

/// Returns an INT-MD shim, header and stack for node ID and queue, without complement, of nodes 101, 102, and so on,
/// the last node first. The header lets `hops` further nodes add metadata.
fn md(nodes: u8, hops: u8) -> Vec<u8> {
    const BITMAP: u16 = 0x9000;
    const WORDS: u8 = 2;
    let mut bytes = vec![0x10, 3 + WORDS * nodes, 0, 0, 0x20, 0, WORDS, hops];
    bytes.extend(BITMAP.to_be_bytes());
    bytes.extend([0; 6]);
    for node in (0..nodes).rev() {
        bytes.extend((101 + u32::from(node)).to_be_bytes());
        bytes.extend([0, 0, 0, 9 * node]);
    }
    bytes
}

/// Makes the bytes of [`INT_NODE`](super::INT_NODE).
///
/// - 30 packets with metadata of two nodes, to a host of this switch: INT ends here, and each packet is reported;
/// - 10 packets with metadata of one node, to another node, and 5 whose remaining hop count is 0;
/// - a probe, which no host may receive; a packet of INT version 1; a packet whose shim claims more bytes than it has.
pub fn int_node() -> Result<Vec<u8>, SampleError> {
    let mut trace = Trace::new()?;
    let mut packet = |us: u64, to: Ipv4Addr, n: u16, int: &[u8]| -> Result<(), SampleError> {
        trace.at(us);
        let from = Ipv4Addr::new(10, 7, 0, (n % 8) as u8 + 1);
        let ip = ipv4::Header { dscp: INT_DSCP, identification: n, ..ipv4::Header::new(from, to) };
        let payload = [int, &[n as u8; 200]].concat();
        trace.write(&unsummed(ip, udp::Header::new(41_000 + n % 8, 20_480), &payload)?)
    };
    for n in 0..30 {
        packet(u64::from(n), HOME, n, &md(2, 6))?;
    }
    for n in 0..10 {
        packet(30 + u64::from(n), NODE, n, &md(1, 7))?;
    }
    for n in 0..5 {
        packet(42 + u64::from(n), NODE, n, &md(2, 0))?;
    }
    let mut probe = md(2, 6);
    let mut old = md(1, 7);
    let mut broken = md(1, 7);
    for (bytes, at, value) in [(&mut probe, 4, 0x28), (&mut old, 4, 0x10), (&mut broken, 1, 80)] {
        if let Some(byte) = bytes.get_mut(at) {
            *byte = value;
        }
    }
    for (us, bytes) in [(50, &probe), (51, &old), (52, &broken)] {
        packet(us, HOME, 99, bytes)?;
    }
    trace.finish()
}

/// Makes the bytes of [`HPCC_INT`](super::HPCC_INT).
///
/// - From 0 on, a burst of 120 RoCEv2 data packets of 1,000 B without records, from 8 senders to the slow host;
/// - from 20 µs on, 20 data packets with records of two switches, 1 µs apart, and 3 with records of five, to
///   another node;
/// - 4 acknowledgements with records, 3 packets without telemetry, and 1 that claims nine records.
pub fn hpcc_int() -> Result<Vec<u8>, SampleError> {
    let mut trace = Trace::new()?;
    let mut packet = |ns: u64, to: Ipv4Addr, n: u16, opcode: u8, int: &[u8], len: usize| {
        trace.at_ns(ns);
        let from = Ipv4Addr::new(10, 8, 0, (n % 8) as u8 + 1);
        let ip = ipv4::Header { dscp: 3, ecn: 1, identification: n, ..ipv4::Header::new(from, to) };
        let bth = roce::Bth::new(opcode, 0x100 + u32::from(n % 8), n.into()).to_bytes();
        let payload = [int, &bth, &vec![0x5a; len]].concat();
        trace.write(&unsummed(ip, udp::Header::new(49_152 + n % 8, roce::PORT), &payload)?)
    };
    /// Returns nHop and pathID, and the records of ports of 100G.
    fn records(hops: u8) -> Vec<u8> {
        let mut bytes = vec![hops << 4, 0x2a];
        for hop in 0..hops {
            let word = 2u64 << 60 | (0x1_0000 + 2_000 * u64::from(hop)) << 36 | (700 + u64::from(hop)) << 16;
            bytes.extend(word.to_be_bytes());
        }
        bytes
    }
    for n in 0..120 {
        packet(0, SLOW, n, roce::opcode::RC_WRITE_MIDDLE, &records(0), 1_000)?;
    }
    for n in 0..20u16 {
        packet(20_000 + 1_000 * u64::from(n), NODE, n, roce::opcode::RC_WRITE_MIDDLE, &records(2), 1_000)?;
    }
    for n in 0..3u16 {
        packet(45_000 + 1_000 * u64::from(n), NODE, n, roce::opcode::RC_WRITE_MIDDLE, &records(5), 1_000)?;
    }
    for n in 0..4u16 {
        packet(50_000 + 1_000 * u64::from(n), NODE, n, roce::opcode::RC_ACKNOWLEDGE, &records(3), 4)?;
    }
    packet(60_000, NODE, 7, roce::opcode::RC_WRITE_MIDDLE, &[0x90, 0x01], 1_000)?;
    for id in 0..3 {
        trace.ipv4(NODE, (0, 0), id, 500)?;
    }
    trace.finish()
}
