//! Trace for `ecmp` and `wcmp`: flows that an earlier switch with the same hash has selected.

use super::l3_ecmp::{NEIGHBOUR, ROUTER, SampleError};
use super::lossless::Trace;
use crate::wire::{FrameBuilder, MacAddr, arp, ipv4, roce, udp};
use std::net::Ipv4Addr;

/// Sender of all flows, and the destinations to the north and to the south.
const SENDER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const NORTH: Ipv4Addr = Ipv4Addr::new(10, 2, 0, 1);
const SOUTH: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 1);

/// Masks of UDP source port bits, and the parity of the bits under each mask, for flows to the north: the parities say
/// that the flow's RTAG7 value by the programs' first function is 0 modulo 8. Three parities suffice because the
/// function is linear.
const PICKED: [(u16, bool); 3] = [(0x06b, false), (0x1a3, true), (0x68f, false)];

const FLOWS: usize = 64;
const LENGTH: usize = 256;

/// Returns the UDP source ports of the flows that a switch of eight ways sends on its first way.
fn picked() -> impl Iterator<Item = u16> {
    let odd = |bits: u16| bits.count_ones() % 2 == 1;
    (20_000..).filter(move |port| PICKED.iter().all(|(mask, is)| odd(port & mask) == *is)).take(FLOWS)
}

/// Makes the bytes of [`ECMP`](super::ECMP).
///
/// - 64 RoCEv2 flows of four frames of 256 B each from 10.0.0.1 to 10.2.0.1: all that a switch of eight ways and
///   the same hash function has sent one way. A switch that divides their hash by 8, 4 or 2 again sends them
///   all one way;
/// - 16 flows of four frames to 10.1.0.1, whatever their hash;
/// - 4 frames with TTL 1, 4 with a wrong checksum, 3 ARP requests.
pub fn ecmp() -> Result<Vec<u8>, SampleError> {
    let mut trace = Trace::new()?;
    let routed = FrameBuilder::new(ROUTER, NEIGHBOUR);
    for n in 0..4u16 {
        trace.at_ns(u64::from(n) * 5_000);
        let header = |to| ipv4::Header { identification: n, ..ipv4::Header::new(SENDER, to) };
        let flows = picked().map(|port| (port, NORTH)).chain((40_000..40_016).map(|port| (port, SOUTH)));
        for (port, to) in flows {
            let mut frame = Vec::new();
            routed.ipv4(header(to)).udp(udp::Header::new(port, roce::PORT)).build_len(LENGTH, &mut frame)?;
            trace.write(&frame)?;
        }
        let mut frame = Vec::new();
        let expiring = ipv4::Header { ttl: 1, ..header(NORTH) };
        routed.ipv4(expiring).udp(udp::Header::new(50_000, 33_434)).build_len(LENGTH, &mut frame)?;
        trace.write(&frame)?;
        frame.clear();
        routed.ipv4(header(NORTH)).udp(udp::Header::new(50_001, 20_480)).build_len(LENGTH, &mut frame)?;
        // The lower byte of the header's checksum.
        if let Some(byte) = frame.get_mut(25) {
            *byte ^= 1;
        }
        trace.write(&frame)?;
        if n > 0 {
            let request = arp::Packet {
                operation: arp::REQUEST,
                sender_mac: NEIGHBOUR,
                sender_ip: SENDER,
                target_mac: MacAddr::default(),
                target_ip: Ipv4Addr::new(10, 0, 0, 254),
            };
            let mut frame = Vec::new();
            let broadcast = FrameBuilder::new(MacAddr::BROADCAST, NEIGHBOUR).arp(request);
            broadcast.build_len(60, &mut frame)?;
            trace.write(&frame)?;
        }
    }
    trace.finish()
}
