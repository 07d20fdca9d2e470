//! Traces for load balancers with state: queue depths for `drill`, path congestion from other switches for `conga` and
//! `hula`.

use super::l3_ecmp::{NEIGHBOUR, ROUTER, SampleError};
use super::lossless::Trace;
use crate::wire::{FrameBuilder, Payload, ipv4, udp, vxlan};
use std::net::Ipv4Addr;

/// Bytes of a frame that are captured: the headers and some.
const CAPTURED: usize = 64;
/// Network of the destinations of [`drill_burst`], which only the first two uplinks reach.
const NARROW: u8 = 2;
/// Network of most other destinations, which all uplinks reach.
const WIDE: u8 = 7;

/// Returns a frame of `length` bytes from a host to 10.`network`.0.`flow`.
fn frame(network: u8, flow: u8, id: u16, length: usize) -> Result<Vec<u8>, SampleError> {
    let to = Ipv4Addr::new(10, network, 0, flow);
    let ip = ipv4::Header { identification: id, ..ipv4::Header::new([10, 1, 0, 1].into(), to) };
    let mut frame = Vec::new();
    let ports = udp::Header::new(40_000 + u16::from(flow), 20_480);
    FrameBuilder::new(ROUTER, NEIGHBOUR).ipv4(ip).udp(ports).build_len(length, &mut frame)?;
    Ok(frame)
}

/// Makes the bytes of [`DRILL`](super::DRILL): 600 UDP frames of 200 B of 60 flows to 10.7.0.0/16, one every 40 ns.
pub fn drill() -> Result<Vec<u8>, SampleError> {
    let mut trace = Trace::new()?;
    for n in 0..600u16 {
        trace.at_ns(u64::from(n) * 40);
        trace.write_start(&frame(WIDE, (n % 60) as u8, n, 200)?, CAPTURED)?;
    }
    trace.finish()
}

/// Makes the bytes of [`DRILL_BURST`](super::DRILL_BURST): one frame 10 ns after the start, so that the trace begins
/// with the other trace's frame; from 5 us on, 120 frames of 1514 B back to back to 10.2.0.0/16, to which two uplinks
/// lead.
pub fn drill_burst() -> Result<Vec<u8>, SampleError> {
    let mut trace = Trace::new()?;
    trace.at_ns(10);
    trace.write_start(&frame(NARROW, 200, 0, 200)?, CAPTURED)?;
    trace.at(5);
    for n in 0..120u16 {
        trace.write_start(&frame(NARROW, (n % 30) as u8, n, 1_514)?, CAPTURED)?;
    }
    trace.finish()
}

/// Makes the bytes of [`CONGA`](super::CONGA): 60 UDP flows, of which every sixth goes to 10.2.0.0/16 and the others to
/// 10.7.0.0/16, begin 5 us one after the other; each has two frames of 500 B at once every 700 us, four times.
pub fn conga() -> Result<Vec<u8>, SampleError> {
    let mut trace = Trace::new()?;
    for n in 0..4 * 60u16 {
        let flow = (n % 60) as u8;
        trace.at(u64::from(n / 60) * 700 + u64::from(flow) * 5);
        for _ in 0..2 {
            let network = if flow % 6 == 5 { NARROW } else { WIDE };
            trace.write_start(&frame(network, flow, n, 500)?, CAPTURED)?;
        }
    }
    trace.finish()
}

/// Makes the bytes of [`CONGA_LEAF1`](super::CONGA_LEAF1): a wrapped frame of leaf 1 for a host of leaf 3 every 25 us
/// until 2.8 ms. All frames took leaf 1's second uplink and met congestion 3 there. Their feedback on leaf 3's uplinks
/// changes: until 500 us none; until 1200 us the first two uplinks are congested (7); until 1900 us the third is; then
/// none is.
pub fn conga_leaf1() -> Result<Vec<u8>, SampleError> {
    /// Congestion feedback as encoded on the wire: 8 to 15; 0 is no feedback.
    const TOLD: u8 = 8;
    let mut trace = Trace::new()?;
    for n in 0..112u16 {
        let us = u64::from(n) * 25;
        trace.at(us);
        let about = (n % 4) as u8;
        let feedback = match (us, about) {
            (0..500, _) => 0,
            (500..1_200, 0 | 1) | (1_200..1_900, 2) => TOLD + 7,
            _ => TOLD,
        };
        let mut wrapped = vxlan::Header { vni: 1 }.to_bytes().to_vec();
        if let Some(reserved) = wrapped.get_mut(1..4) {
            reserved.copy_from_slice(&[1 << 4 | about, TOLD + 3, feedback]);
        }
        wrapped.extend(frame(1, 1, n, 120)?);
        let ip = ipv4::Header::new([10, 255, 0, 1].into(), [10, 255, 0, 3].into());
        let mut bytes = Vec::new();
        let outer = FrameBuilder::new(ROUTER, NEIGHBOUR).ipv4(ip).udp(udp::Header::new(49_152, vxlan::PORT));
        outer.build(Payload::Bytes(&wrapped), &mut bytes)?;
        trace.write(&bytes)?;
    }
    trace.finish()
}

/// Makes the bytes of [`HULA`](super::HULA): 60 UDP flows to 10.7.0.0/16, each with a frame of 500 B every 300 us for
/// 2.4 ms, so that every frame starts a flowlet.
pub fn hula() -> Result<Vec<u8>, SampleError> {
    let mut trace = Trace::new()?;
    for n in 0..8 * 60u16 {
        let flow = (n % 60) as u8;
        trace.at(u64::from(n / 60) * 300 + u64::from(flow) * 5);
        trace.write_start(&frame(WIDE, flow, n, 500)?, CAPTURED)?;
    }
    trace.finish()
}

/// Makes the bytes of [`HULA_PROBES`](super::HULA_PROBES): probes of ToRs 1, 2, 4 and 5, one of each every 200 us, as
/// they arrive on the first and on the second uplink.
///
/// - The utilization of the first path is 40/128 until 1 ms, then 80/128;
/// - that of the second path is 30/128; its probes arrive only from 400 us to 1 ms.
pub fn hula_probes() -> Result<[Vec<u8>; 2], SampleError> {
    let mut ways = [Trace::new()?, Trace::new()?];
    let [first, second] = &mut ways;
    for n in 0..12u64 {
        let us = n * 200 + 100;
        first.at(us);
        second.at(us + 1);
        for tor in [1, 2, 4, 5] {
            first.write(&probe(tor, if us < 1_000 { 40 } else { 80 })?)?;
            if (400..1_000).contains(&us) {
                second.write(&probe(tor, 30)?)?;
            }
        }
    }
    let [first, second] = ways;
    Ok([first.finish()?, second.finish()?])
}

/// Returns a probe of ToR `tor` whose path has utilization `util`.
fn probe(tor: u16, util: u32) -> Result<Vec<u8>, SampleError> {
    const PROBE: u16 = 0x88b6;
    let mut body = [&tor.to_be_bytes()[..], &[0, 0], &util.to_be_bytes()].concat();
    body.resize(46, 0);
    let mut frame = Vec::new();
    FrameBuilder::new(ROUTER, NEIGHBOUR).ethertype(PROBE).build(Payload::Bytes(&body), &mut frame)?;
    Ok(frame)
}
