//! INT over networks: compares the reports with the events at the switches, and the packets that hosts receive with INT
//! on and off.

use crate::network::deployed::{NoFiles, defaults, hosts};
use crate::network::support::{Recorder, Seen};
use proptest::prelude::*;
use sluice_asic::gress::Gress;
use sluice_asic::units::{Duration, Time};
use sluice_catalogue::position::{Position, Prefix};
use sluice_fabric::deploy::{Deployment, deploy};
use sluice_fabric::network::{Network, NetworkSetup, SwitchId};
use sluice_fabric::topology::{Blueprint, built};
use sluice_pcaps::int::{Hop, HpccHop, IntPacket, Marks, Telemetry, decode};
use sluice_pcaps::wire::{FrameBuilder, MacAddr, Payload, ipv4, ipv6, roce, tcp, udp};
use sluice_programs::catalogue;
use sluice_programs::hpcc_int::speed_code;
use sluice_switch::{Left, PassEvent, QueueEvent, RxFrame};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::OnceLock;

/// Data-plane clock at time zero, ns: the device's default.
const ORIGIN_NS: u64 = 1_000_000_000;

fn ready(plan: &Blueprint, program: &str, params: &[(&str, &str)]) -> Deployment {
    let mut defaults = defaults(program);
    defaults.params = params.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
    deploy(plan, &catalogue(), &defaults, &NoFiles).unwrap_or_else(|e| panic!("{e}"))
}

/// A packet between two hosts of a network.
#[derive(Clone, Debug)]
struct Sent {
    from: usize,
    to: usize,
    kind: u8,
    len: usize,
    /// Time after the previous packet of the same host, ns.
    gap: u64,
}

fn bytes(from: Ipv4Addr, to: Ipv4Addr, s: &Sent) -> Vec<u8> {
    let builder = FrameBuilder::new(MacAddr::from_u64(1), MacAddr::from_u64(2));
    let v4 = ipv4::Header { dscp: 8 * (s.kind / 2), ..ipv4::Header::new(from, to) };
    let v6 = ipv6::Header::new(Prefix::host(from).ipv6().0, Prefix::host(to).ipv6().0);
    let port = 1_000 + (s.len as u16 & 0xff);
    let builder = match s.kind % 4 {
        0 | 1 => builder.ipv4(v4).udp(udp::Header::new(port, 20_480)),
        2 => builder.ipv4(v4).tcp(tcp::Header::new(port, 80)),
        _ => builder.ipv6(v6).udp(udp::Header::new(port, 20_480)),
    };
    let payload: Vec<u8> = (0..s.len).map(|i| (i * 31 + s.len) as u8).collect();
    let mut out = Vec::new();
    builder.build(Payload::Bytes(&payload), &mut out).unwrap();
    if s.kind % 4 == 1 {
        out[40..42].fill(0);
    }
    // Hosts' MACs pad short frames, and no switch removes the padding.
    out.resize(out.len().max(60), 0);
    out
}

/// Sends all packets; tags count them from 0.
fn run(setup: &NetworkSetup, positions: &[Position], packets: &[Vec<u8>], sent: &[Sent]) -> Recorder {
    let all = hosts(positions);
    let mut network = Network::new(setup.clone(), &catalogue()).unwrap_or_else(|e| panic!("{e}"));
    let mut free = vec![Time::from_nanos(1_000); all.len()];
    let mut frames: Vec<(Time, usize, u64)> = Vec::new();
    for (tag, s) in (0..).zip(sent) {
        free[s.from] += Duration::from_nanos(s.gap);
        frames.push((free[s.from], s.from, tag));
        free[s.from] += Duration::from_nanos((packets[tag as usize].len() as u64 + 24) / 40);
    }
    frames.sort_unstable();
    for (time, host, tag) in frames {
        let (switch, dev, _) = all[host];
        let ports = &network.setup(switch).unwrap().ports;
        let port = ports.iter().find(|p| p.dev_port.number() == dev).unwrap().dev_port;
        let bytes = &packets[tag as usize];
        network.inject(switch, port, time, RxFrame { bytes, orig_len: bytes.len() as u32, tag }).unwrap();
    }
    let mut seen = Recorder::default();
    network.drain(Time::MAX, &mut seen).unwrap();
    assert!(network.totals().is_conserved());
    seen
}

/// Events of a packet at one switch.
#[derive(Clone, Debug, Default)]
struct Visit {
    arrived: u32,
    left: Option<Left>,
    /// The packet as sent.
    bytes: Vec<u8>,
    egress: Option<PassEvent>,
    dequeued: Option<QueueEvent>,
}

type Visits = BTreeMap<(SwitchId, u64), Visit>;

/// Returns the visits of packets; for a copied packet, those of the original.
fn visits(seen: &Recorder) -> Visits {
    let mut visits = Visits::new();
    for (at, event) in &seen.seen {
        match event {
            Seen::Entered(e) => visits.entry((*at, e.tag)).or_default().arrived = e.bytes,
            Seen::OnLink(frame, bytes) if !frame.left.made => {
                let visit = visits.entry((*at, frame.left.tag)).or_default();
                (visit.left, visit.bytes) = (Some(frame.left), bytes.clone());
            }
            Seen::Delivered(left, bytes) if !left.made => {
                let visit = visits.entry((*at, left.tag)).or_default();
                (visit.left, visit.bytes) = (Some(*left), bytes.clone());
            }
            Seen::Pass(pass) if pass.gress == Gress::Egress => {
                visits.entry((*at, pass.tag)).or_default().egress.get_or_insert(*pass);
            }
            Seen::Dequeued(event) => {
                visits.entry((*at, event.tag)).or_default().dequeued.get_or_insert(*event);
            }
            _ => {}
        }
    }
    visits
}

fn stamp(time: Time) -> u64 {
    ORIGIN_NS + time.as_ps() / 1_000
}

/// For each switch and egress port: time of a packet in egress in ps, its tag, and its bytes.
type Departures = BTreeMap<(SwitchId, u16), Vec<(u64, u64, u32)>>;

/// Returns the visits by switch and egress port, in order of their time in egress.
fn by_port(visits: &Visits) -> Departures {
    let mut ports = Departures::new();
    for ((at, tag), visit) in visits {
        if let (Some(left), Some(pass)) = (visit.left, visit.egress) {
            let of = ports.entry((*at, left.egress_port)).or_default();
            of.push((pass.entered.as_ps(), *tag, visit.arrived));
        }
    }
    ports.values_mut().for_each(|of| of.sort_unstable());
    ports
}

/// Returns the expected value of instruction bit 7 for each packet: bytes of the port's last window of 65536 ns that
/// had packets.
fn utilisation(visits: &Visits) -> BTreeMap<(SwitchId, u64), u32> {
    let mut all = BTreeMap::new();
    for ((at, _), passes) in by_port(visits) {
        let (mut window, mut bytes, mut last) = (0, 0, 0);
        for (time, tag, length) in passes {
            let now = stamp(Time::from_ps(time)) >> 16;
            if now != window {
                last = if bytes > 0 { bytes } else { last };
                (window, bytes) = (now, 0);
            }
            bytes += length;
            all.insert((at, tag), last);
        }
    }
    all
}

fn int_of(frame: &[u8]) -> Option<IntPacket> {
    match decode(frame, &Marks::default()).unwrap_or_else(|e| panic!("{e}")) {
        Some(Telemetry::Int(packet)) => Some(packet),
        _ => None,
    }
}

/// Returns the record that a node must write for the default instructions. `complement` is the value that keeps the
/// checksum right.
fn truth(at: SwitchId, visit: &Visit, utilisation: u32, complement: Option<u32>) -> Hop {
    let (left, pass, dequeued) = (visit.left.unwrap(), visit.egress.unwrap(), visit.dequeued.unwrap());
    let (came, leaves) = (stamp(left.received), stamp(pass.entered));
    Hop {
        node: Some(at.0 + 1),
        ingress_port: Some(left.ingress_port),
        egress_port: Some(left.egress_port),
        latency: Some((leaves - came) as u32),
        queue: Some(dequeued.qid),
        occupancy: Some(dequeued.depth.get()),
        ingress_time: Some(came),
        egress_time: Some(leaves),
        utilisation: Some(utilisation),
        complement,
        ..Hop::default()
    }
}

/// The same network with INT on and with INT off.
struct Pair {
    name: &'static str,
    on: NetworkSetup,
    off: NetworkSetup,
    positions: Vec<Position>,
}

fn pairs() -> &'static [Pair] {
    static PAIRS: OnceLock<Vec<Pair>> = OnceLock::new();
    PAIRS.get_or_init(|| {
        let names =
            ["chain:switches=4,hosts=2", "leaf-spine:leaves=3,spines=2,hosts=2", "fat-tree:k=4,hosts=1"];
        let pair = |name| {
            let plan = built(name).unwrap();
            let [on, off] = ["all", "none"].map(|watch| ready(&plan, "int", &[("watch", watch)]));
            Pair { name, on: on.network, off: off.network, positions: on.positions }
        };
        names.into_iter().map(pair).collect()
    })
}

/// Checks the records of all hops that INT covers: all switches except the last.
fn check(pair: &Pair, sent: &[Sent]) {
    let all = hosts(&pair.positions);
    let packets: Vec<Vec<u8>> = sent.iter().map(|s| bytes(all[s.from].2, all[s.to].2, s)).collect();
    let (on, off) =
        (run(&pair.on, &pair.positions, &packets, sent), run(&pair.off, &pair.positions, &packets, sent));
    let visits = visits(&on);
    let utilisation = utilisation(&visits);
    for (tag, s) in (0..).zip(sent) {
        let mut path: Vec<(&SwitchId, &Visit)> =
            visits.iter().filter(|((_, t), _)| *t == tag).map(|((at, _), visit)| (at, visit)).collect();
        path.sort_by_key(|(_, visit)| visit.left.map(|l| l.received));
        let (last, before) = path.split_last().unwrap();
        let mut hops: Vec<Hop> = Vec::new();
        for (at, visit) in before {
            let found =
                int_of(&visit.bytes).unwrap_or_else(|| panic!("{}: {tag} has no INT at {at:?}", pair.name));
            assert_eq!(found.hops.len(), hops.len() + 1, "{}: packet {tag}", pair.name);
            assert_eq!(found.hops[..hops.len()], hops, "{}: packet {tag}", pair.name);
            assert_eq!(usize::from(found.remaining), 7 - found.hops.len());
            let newest = *found.hops.last().unwrap();
            assert_eq!(
                newest,
                truth(**at, visit, utilisation[&(**at, tag)], newest.complement),
                "{}",
                pair.name
            );
            hops = found.hops;
        }
        assert_eq!((*last.0, last.1.left.unwrap().egress_port), (all[s.to].0, all[s.to].1));
        assert_eq!(int_of(&last.1.bytes), None);
    }
    let delivered = |seen: &Recorder| -> BTreeMap<u64, (SwitchId, u16, Vec<u8>)> {
        let own = seen.delivered().filter(|(_, left, _)| !left.made);
        own.map(|(at, left, bytes)| (left.tag, (at, left.egress_port, bytes.to_vec()))).collect()
    };
    let (with, without) = (delivered(&on), delivered(&off));
    assert_eq!(with.len(), sent.len());
    assert!(with == without, "{}: hosts get other packets with INT", pair.name);
    // The last switch reports every packet that had INT, and no other packet.
    let reports: Vec<_> = on.delivered().filter(|(_, left, _)| left.made).collect();
    let crossing = sent.iter().filter(|s| all[s.from].0 != all[s.to].0).count();
    assert_eq!(reports.len(), crossing, "{}", pair.name);
    for (at, left, bytes) in reports {
        let found = decode(bytes, &Marks::default()).unwrap_or_else(|e| panic!("{e}"));
        let Some(Telemetry::Reports(list)) = found else { panic!("no report") };
        let (report, _) = &list[0];
        let visit = &visits[&(at, left.tag)];
        let expected = truth(at, visit, 0, None);
        let found = Hop { node: Some(report.node), utilisation: Some(0), ..report.metadata.hop };
        assert_eq!(found, expected, "{}: report of packet {}", pair.name, left.tag);
    }
}

#[test]
fn a_burst_over_every_network_is_told_as_it_was() {
    for pair in pairs() {
        let count = hosts(&pair.positions).len();
        // All hosts send to the last one at the same time, so that queues fill on the way.
        let burst = (0..150).map(|n| Sent {
            from: n % (count - 1),
            to: count - 1,
            kind: n as u8 % 8,
            len: 64 + n * 37 % 1_200,
            gap: if n % 20 == 0 { 70_000 } else { 0 },
        });
        check(pair, &burst.collect::<Vec<_>>());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn any_traffic_over_any_network_is_told_as_it_was(
        network in 0..3usize,
        drawn in prop::collection::vec((any::<u16>(), any::<u16>(), 0..8u8, 10..1_400usize, 0..400u64), 1..40),
    ) {
        let pair = &pairs()[network];
        let count = hosts(&pair.positions).len();
        let sent = drawn.into_iter().map(|(from, to, kind, len, gap)| {
            let from = usize::from(from) % count;
            Sent { from, to: (from + 1 + usize::from(to) % (count - 1)) % count, kind, len, gap }
        });
        check(pair, &sent.collect::<Vec<_>>());
    }
}

/// 100G links in a network of 400G ports, so that queues and speeds differ by hop.
const MIXED: &str = r#"
name = "mixed"
[[switch]]
name = "leaf0"
hosts = 2
[[switch]]
name = "leaf1"
hosts = 2
[[switch]]
name = "spine0"
stage = 2
[[switch]]
name = "spine1"
stage = 2
[[cable]]
between = ["leaf0", "spine0"]
rate = "100G"
[[cable]]
between = ["leaf0", "spine1"]
[[cable]]
between = ["leaf1", "spine0"]
[[cable]]
between = ["leaf1", "spine1"]
rate = "200G"
"#;

#[test]
fn hpcc_records_are_what_ports_and_queues_were() {
    let ready = ready(&Blueprint::from_toml(MIXED, "mixed.toml").unwrap(), "hpcc-int", &[]);
    let all = hosts(&ready.positions);
    let sent: Vec<Sent> = (0..120)
        .map(|n| Sent {
            from: n % 2,
            to: 2 + n / 2 % 2,
            kind: 0,
            len: 100 + n * 11 % 900,
            gap: n as u64 % 3 * 10,
        })
        .collect();
    let packet = |s: &Sent| {
        let bth = roce::Bth::new(roce::opcode::RC_WRITE_MIDDLE, 5, 1).to_bytes();
        let ports = udp::Header::new(50_000 + s.len as u16, roce::PORT);
        let builder = FrameBuilder::new(MacAddr::from_u64(1), MacAddr::from_u64(2));
        let builder = builder.ipv4(ipv4::Header::new(all[s.from].2, all[s.to].2)).udp(ports);
        let mut out = Vec::new();
        builder.build(Payload::Bytes(&[&[0, 0][..], &bth, &vec![7; s.len]].concat()), &mut out).unwrap();
        out
    };
    let packets: Vec<Vec<u8>> = sent.iter().map(packet).collect();
    let seen = run(&ready.network, &ready.positions, &packets, &sent);
    let visits = visits(&seen);
    let mut before = BTreeMap::new();
    for ((at, _), passes) in by_port(&visits) {
        let mut bytes = 0u64;
        for (_, tag, length) in passes {
            before.insert((at, tag), bytes);
            bytes += u64::from(length);
        }
    }
    let marks = Marks { hpcc_port: Some(roce::PORT), ..Marks::default() };
    let (mut deepest, mut codes) = (0, Vec::new());
    for (tag, _) in (0..).zip(&sent) {
        let mut path: Vec<_> = visits.iter().filter(|((_, t), _)| *t == tag).collect();
        path.sort_by_key(|(_, visit)| visit.left.map(|l| l.received));
        assert_eq!(path.len(), 3);
        let Ok(Some(Telemetry::Hpcc(path_id, records))) = decode(&path[2].1.bytes, &marks) else {
            panic!("no records")
        };
        assert_eq!(path_id, path.iter().fold(0, |id, ((at, _), _)| id ^ (at.0 as u16 + 1)));
        for (((at, _), visit), record) in path.iter().zip(&records) {
            let position = &ready.positions[at.0 as usize];
            let port = visit.left.unwrap().egress_port;
            let used = position.ports.iter().find(|used| used.dev_port == port).unwrap();
            let expected = HpccHop {
                speed: speed_code(used.speed),
                time: (stamp(visit.egress.unwrap().entered) & 0xff_ffff) as u32,
                bytes: (before[&(*at, tag)] >> 7) as u32 & 0xf_ffff,
                queue: visit.dequeued.unwrap().depth.get(),
            };
            assert_eq!(*record, expected, "packet {tag} at {}", position.name);
            deepest = deepest.max(record.queue);
            codes.push(record.speed);
        }
        assert_eq!(behind(&path[2].1.bytes), behind(&packets[tag as usize]));
    }
    codes.sort_unstable();
    codes.dedup();
    assert!(deepest > 5 && codes.len() == 3, "{deepest} cells, codes {codes:?}");
}

/// Returns the bytes after the records.
fn behind(packet: &[u8]) -> &[u8] {
    &packet[44 + 8 * usize::from(packet[42] >> 4)..]
}
