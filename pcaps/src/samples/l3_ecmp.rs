//! Trace for `l3-ecmp`: flows over all next hops, packets that the program drops or absorbs, and one incast burst.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::capture::CaptureTime;
use crate::capture::write::{PcapWriter, WriteError};
use crate::generate::{FlowMix, MixError, Pace, Prefix, PrefixError, Schedule};
use crate::wire::{FrameBuilder, MacAddr, WireError, arp, ipv4, ipv6, tcp, udp};

/// Rate of the port on which the trace arrives.
pub const PORT_RATE: u64 = 400_000_000_000;
const PS_PER_US: u64 = 1_000_000;
/// Start of the trace in seconds since the epoch, an arbitrary fixed value.
const ORIGIN_S: u64 = 1_700_000_000;

/// MAC address of the switch to which the samples are sent.
pub const ROUTER: MacAddr = MacAddr::from_u64(0x02_00_00_00_00_01);
/// MAC address of the sender of the samples.
pub const NEIGHBOUR: MacAddr = MacAddr::from_u64(0x02_00_00_00_01_00);

/// Incast burst: number of frames of this length from many senders to one host.
const INCAST_FRAMES: u32 = 400;
const INCAST_LEN: usize = 1_500;
const INCAST_SENDERS: u32 = 40;
const INCAST_HOST: Ipv4Addr = Ipv4Addr::new(10, 9, 9, 9);

/// Reason for which the trace could not be generated; cannot occur with the constants of this module.
#[derive(Debug, thiserror::Error)]
pub enum SampleError {
    /// A flow mix was refused.
    #[error(transparent)]
    Mix(#[from] MixError),
    /// A prefix was refused.
    #[error(transparent)]
    Prefix(#[from] PrefixError),
    /// A frame was refused.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// The capture was refused.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// Makes the bytes of [`L3_ECMP`](super::L3_ECMP).
///
/// All frames go to the router's MAC 02:00:00:00:00:01, but for ARP, and never overlap on a 400G link:
///
/// - 320 frames of 240 UDP and TCP flows to 10.1.0.0/16 … 10.4.0.0/16, a tenth of the flows in VLAN 100;
/// - 60 frames of 24 IPv6 flows, with flow labels, to 2001:db8:1::/48 … 2001:db8:4::/48;
/// - 4 IPv4 frames with TTL 1 and 4 IPv6 frames with hop limit 1;
/// - 6 frames to port 23 (TCP and UDP) and 6 from 192.0.2.0/24;
/// - 3 ARP requests for 10.0.0.1;
/// - an incast: 400 frames of 1500 B back to back from 40 senders to 10.9.9.9, from 120 µs on.
pub fn l3_ecmp() -> Result<Vec<u8>, SampleError> {
    let mut trace = Vec::new();
    spread(&mut trace)?;
    specials(&mut trace)?;
    incast(&mut trace)?;
    // The sort is stable, so frames of one instant stay in this order.
    trace.sort_by_key(|timed| timed.time);
    serialise(&trace)
}

struct Timed {
    time: CaptureTime,
    frame: Vec<u8>,
}

/// Returns the instant `ps` picoseconds into the trace.
pub fn instant(ps: u64) -> CaptureTime {
    CaptureTime::from_ps(CaptureTime::from_secs(ORIGIN_S).as_ps() + u128::from(ps))
}

fn spread(trace: &mut Vec<Timed>) -> Result<(), SampleError> {
    let v4_networks = (1..=4).map(|net| Prefix::new([10, net, 0, 0].into(), 16));
    let v6_networks = (1..=4).map(|net| {
        let network = Ipv6Addr::new(0x2001, 0xdb8, net, 0, 0, 0, 0, 0);
        Prefix::new(network.into(), 48)
    });
    let v4 = FlowMix {
        packets: 320,
        flows: 240,
        size: 64..=256,
        pace: Pace::Spacing { ps: 600_000 },
        start: instant(0),
        seed: 1,
        destination_mac: ROUTER,
        source_mac: NEIGHBOUR,
        source_v4: "10.0.0.0/16".parse()?,
        source_v6: "2001:db8::/48".parse()?,
        destinations: v4_networks.collect::<Result<_, _>>()?,
        ipv6_percent: 0,
        tcp_percent: 35,
        vlan_percent: 10,
        vlan_id: 100,
    };
    let v6 = FlowMix {
        packets: 60,
        flows: 24,
        size: 80..=256,
        pace: Pace::Spacing { ps: 3_100_000 },
        start: instant(200_000),
        seed: 2,
        destinations: v6_networks.collect::<Result<_, _>>()?,
        ipv6_percent: 100,
        vlan_percent: 0,
        ..v4.clone()
    };
    for mix in [v4, v6] {
        let mut frames = mix.frames()?;
        while let Some((time, frame)) = frames.next_frame() {
            trace.push(Timed { time, frame: frame.to_vec() });
        }
    }
    Ok(())
}

/// Adds one frame of each kind that the program treats specially, spread over the trace.
fn specials(trace: &mut Vec<Timed>) -> Result<(), SampleError> {
    let routed = FrameBuilder::new(ROUTER, NEIGHBOUR);
    let host = |last| Ipv4Addr::new(10, 0, 200, last);
    let inside = |net, last| Ipv4Addr::new(10, net, 0, last);
    let mut add = |at_us: u64, builder: FrameBuilder| -> Result<(), WireError> {
        let mut frame = Vec::new();
        builder.build_len(128, &mut frame)?;
        trace.push(Timed { time: instant(at_us * PS_PER_US + 100_000), frame });
        Ok(())
    };
    for n in 1..=4u8 {
        let at_us = u64::from(n) * 20;
        let expiring = ipv4::Header { ttl: 1, ..ipv4::Header::new(host(n), inside(n, 1)) };
        add(at_us, routed.ipv4(expiring).udp(udp::Header::new(50_000, 33_434)))?;
        let to = Ipv6Addr::new(0x2001, 0xdb8, n.into(), 0, 0, 0, 0, 1);
        let from = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, n.into());
        let expiring = ipv6::Header { hop_limit: 1, flow_label: n.into(), ..ipv6::Header::new(from, to) };
        add(at_us + 2, routed.ipv6(expiring).udp(udp::Header::new(50_000, 33_434)))?;
        let telnet = tcp::Header::new(50_001, 23);
        add(at_us + 4, routed.ipv4(ipv4::Header::new(host(n), inside(n, 2))).tcp(telnet))?;
    }
    for n in 1..=2u8 {
        let ip = ipv4::Header::new(host(n), inside(n, 3));
        add(u64::from(n) * 20 + 6, routed.ipv4(ip).udp(udp::Header::new(50_002, 23)))?;
    }
    for n in 1..=6u8 {
        let ip = ipv4::Header::new(Ipv4Addr::new(192, 0, 2, n), inside(n % 4 + 1, 4));
        add(u64::from(n) * 15 + 8, routed.ipv4(ip).udp(udp::Header::new(50_003, 20_480)))?;
    }
    for n in 1..=3u8 {
        let request = arp::Packet {
            operation: arp::REQUEST,
            sender_mac: NEIGHBOUR,
            sender_ip: host(n),
            target_mac: MacAddr::default(),
            target_ip: Ipv4Addr::new(10, 0, 0, 1),
        };
        let broadcast = FrameBuilder::new(MacAddr::BROADCAST, NEIGHBOUR).arp(request);
        let mut frame = Vec::new();
        broadcast.build_len(60, &mut frame)?;
        trace.push(Timed { time: instant(u64::from(n) * 50 * PS_PER_US), frame });
    }
    Ok(())
}

/// Adds the burst to one host, at the rate of the port.
fn incast(trace: &mut Vec<Timed>) -> Result<(), SampleError> {
    let pace = Pace::BackToBack { bits_per_second: PORT_RATE };
    let mut schedule = Schedule::new(instant(120 * PS_PER_US), pace);
    for index in 0..INCAST_FRAMES {
        let sender = (index % INCAST_SENDERS) as u8;
        let ip = ipv4::Header {
            identification: index as u16,
            ..ipv4::Header::new(Ipv4Addr::new(10, 8, 0, sender + 1), INCAST_HOST)
        };
        let ports = udp::Header::new(40_000 + u16::from(sender), 20_481);
        let mut frame = Vec::new();
        FrameBuilder::new(ROUTER, NEIGHBOUR).ipv4(ip).udp(ports).build_len(INCAST_LEN, &mut frame)?;
        trace.push(Timed { time: schedule.next(INCAST_LEN as u32), frame });
    }
    Ok(())
}

/// Writes the frames. Each starts when it is due and the previous one has left the port.
fn serialise(trace: &[Timed]) -> Result<Vec<u8>, SampleError> {
    let mut writer = PcapWriter::new(Vec::new())?;
    let mut line_free = CaptureTime::EPOCH;
    for Timed { time, frame } in trace {
        let len = frame.len() as u32;
        let mut line = Schedule::new(line_free.max(*time), Pace::BackToBack { bits_per_second: PORT_RATE });
        writer.write(line.next(len), frame, &[], len)?;
        line_free = line.next(0);
    }
    Ok(writer.finish()?)
}
