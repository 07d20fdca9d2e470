//! Load balancers on paths of different rates, with senders of fixed rates. Scenarios 38 and 40 of model: flowlets §9,
//! as far as they need no hosts that react.

use crate::network::deployed::{NoFiles, defaults, hosts};
use sluice_asic::units::{BitRate, Time};
use sluice_fabric::deploy::deploy;
use sluice_fabric::network::{LinkFrame, Network, Observer, SwitchId};
use sluice_fabric::topology::{Blueprint, built};
use sluice_pcaps::wire::{FrameBuilder, MacAddr, ethernet, ipv4, udp};
use sluice_programs::catalogue;
use sluice_switch::{Left, RxFrame};
use std::collections::BTreeMap;

/// Rate of cables and hosts: the chip's lanes run at 50G, while the papers' cables run at 40G. Shares are the same.
const RATE: BitRate = BitRate::from_gbps(50);
/// Frame length without FCS: 1500 bytes on the wire, 240 ns at 50G.
const LENGTH: usize = 1_476;
const ON_THE_LINE: u64 = 240;
/// Number of flows per host.
const FLOWS: u64 = 200;
/// Measured window, ns: the second half of a run.
const WINDOW: std::ops::Range<u64> = 150_000..300_000;

/// Figure 1b of CONGA's testbed (model: flowlets §5.1): two leaves and two spines with two cables between each leaf and
/// spine, without one cable from leaf 1 to the second spine. A leaf sends 200G, and at most 150G arrive.
fn figure_1b() -> Blueprint {
    let mut plan = built("leaf-spine:leaves=2,spines=2,hosts=4,parallel=2").unwrap();
    let gone = plan.cables.iter().position(|c| c.ends == [1, 3]).unwrap();
    plan.cables.remove(gone);
    all_at(&mut plan, RATE);
    plan
}

fn all_at(plan: &mut Blueprint, rate: BitRate) {
    plan.cables.iter_mut().for_each(|cable| cable.rate = Some(rate));
    plan.hosts.iter_mut().flat_map(|host| &mut host.at).for_each(|at| at.rate = Some(rate));
}

/// Frames to leaf 1: bytes that it delivered in the window, and bytes on each cable, with 24 bytes of overhead per
/// frame.
#[derive(Default, Debug, PartialEq, Eq)]
struct Seen {
    delivered: u64,
    cables: BTreeMap<u32, u64>,
    /// Delivered frames and bytes of each flow, over the whole run.
    flows: BTreeMap<(u32, u32), (u64, u64)>,
}

impl Observer for Seen {
    fn on_link(&mut self, _: SwitchId, frame: &LinkFrame, head: &[u8], tail: &[u8]) {
        if head.len() + tail.len() > 1_000 && WINDOW.contains(&frame.left.first_bit.as_nanos()) {
            *self.cables.entry(frame.link.0).or_default() += (head.len() + tail.len() + 24) as u64;
        }
    }

    fn delivered(&mut self, _: SwitchId, frame: &Left, head: &[u8], tail: &[u8]) {
        let bytes = [head, tail].concat();
        if bytes.len() < 1_000 {
            return;
        }
        if WINDOW.contains(&frame.first_bit.as_nanos()) {
            self.delivered += bytes.len() as u64 + 24;
        }
        let ip = ipv4::View::new(ethernet::View::new(&bytes).unwrap().payload()).unwrap();
        let flow = (ip.source().to_bits(), u32::from(u16::from_be_bytes([bytes[34], bytes[35]])));
        let entry = self.flows.entry(flow).or_default();
        *entry = (entry.0 + 1, entry.1 + bytes.len() as u64);
    }
}

/// Result of a run: the share of the offered traffic from leaf 0 to leaf 1 that arrived, and the utilisation of the
/// cables between pairs of switches, each relative to its rate.
struct Run {
    arrived: f64,
    used: BTreeMap<[u32; 2], f64>,
    seen: Seen,
    sent: u64,
}

/// Runs traffic: every host of leaf 0 sends at `load` percent of its line rate to a host of leaf 1, one flow after the
/// other.
fn run(plan: &Blueprint, program: &str, params: &[(&str, &str)], load: u64) -> Run {
    let mut with = defaults(program);
    with.params = params.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let deployment = deploy(plan, &catalogue(), &with, &NoFiles).unwrap_or_else(|e| panic!("{program}: {e}"));
    let all = hosts(&deployment.positions);
    let mut network =
        Network::new(deployment.network, &catalogue()).unwrap_or_else(|e| panic!("{program}: {e}"));
    let of = |switch: u32| all.iter().filter(move |host| host.0 == SwitchId(switch));
    let (mut list, until) = (Vec::new(), WINDOW.end);
    // Small packets return, like acknowledgements, and carry the leaves' feedback.
    let kinds = [(0, 1, LENGTH, ON_THE_LINE * 100 / load), (1, 0, 100, 400)];
    for (source, sink, length, gap) in kinds {
        for (number, (from, to)) in (0u64..).zip(of(source).zip(of(sink))) {
            let ports = &network.setup(SwitchId(source)).unwrap().ports;
            let port = ports.iter().find(|p| p.dev_port.number() == from.1).unwrap().dev_port;
            for n in 0..(until - number * 37).div_ceil(gap) {
                let mut bytes = Vec::new();
                let ports = udp::Header::new((1_000 + n % FLOWS) as u16, 4_791);
                let builder = FrameBuilder::new(MacAddr::from_u64(1), MacAddr::from_u64(2));
                let builder = builder.ipv4(ipv4::Header::new(from.2, to.2)).udp(ports);
                builder.build_len(length, &mut bytes).unwrap();
                list.push((number * 37 + n * gap, source, port, bytes));
            }
        }
    }
    list.sort_by_key(|(ns, at, port, _)| (*ns, *at, port.number()));
    let sent = list.iter().filter(|(_, at, ..)| *at == 0).count() as u64;
    let offered = list.iter().filter(|(ns, at, ..)| *at == 0 && WINDOW.contains(ns)).count() as f64;
    for (ns, at, port, bytes) in &list {
        let rx = RxFrame { bytes, orig_len: bytes.len() as u32, tag: 0 };
        network.inject(SwitchId(*at), *port, Time::from_nanos(*ns), rx).unwrap();
    }
    let mut seen = Seen::default();
    network.drain(Time::MAX, &mut seen).unwrap();
    assert!(network.totals().is_conserved(), "{program}");
    let window = (WINDOW.end - WINDOW.start) as f64;
    let mut used = BTreeMap::new();
    for (cable, bytes) in &seen.cables {
        let plan = &plan.cables[*cable as usize];
        let gbps = plan.rate.unwrap_or(RATE).as_bps() as f64 / 1e9;
        let share = *bytes as f64 * 8.0 / window / gbps;
        let most = used.entry(plan.ends).or_insert(0.0f64);
        *most = most.max(share);
    }
    Run { arrived: seen.delivered as f64 / (offered * (LENGTH + 24) as f64), used, seen, sent }
}

/// Timeouts shorter than the pauses of flows, and estimators that converge within the short run.
const CONGA: &[(&str, &str)] = &[("timeout", "2us"), ("tau", "10us"), ("period", "5us"), ("leaves", "8")];

fn settings(program: &str) -> &'static [(&'static str, &'static str)] {
    match program {
        "conga" => CONGA,
        "letflow" => &[("timeout", "2us")],
        _ => &[],
    }
}

#[test]
fn scenario_38_equal_shares_are_held_to_the_slow_cable() {
    // Leaf 0 has 2 x 50G; the first spine's cable carries a fifth of that. 40G are offered, and 60G fit.
    let mut plan = built("leaf-spine:leaves=2,spines=2,hosts=2").unwrap();
    all_at(&mut plan, RATE);
    plan.cables.iter_mut().filter(|c| c.ends == [0, 2]).for_each(|c| c.rate = Some(BitRate::from_gbps(10)));
    for program in ["spray", "presto"] {
        let found = run(&plan, program, settings(program), 40);
        assert!((found.arrived - 30.0 / 40.0).abs() < 0.04, "{program}: {}", found.arrived);
    }
    let found = run(&plan, "conga", CONGA, 40);
    assert!(found.arrived > 0.95, "{} {:?}", found.arrived, found.used);
}

#[test]
fn scenario_40_flows_and_bytes_are_conserved_and_the_same_seed_tells_the_same() {
    let plan = figure_1b();
    for program in ["letflow", "conga"] {
        let first = run(&plan, program, settings(program), 40);
        // Every flow that started is complete, and every frame is whole.
        let frames: u64 = first.seen.flows.values().map(|(frames, _)| frames).sum();
        assert_eq!((first.seen.flows.len() as u64, frames), (4 * FLOWS, first.sent), "{program}");
        assert!(
            first.seen.flows.values().all(|(frames, bytes)| *bytes == frames * LENGTH as u64),
            "{program}"
        );
        assert_eq!(run(&plan, program, settings(program), 40).seen, first.seen, "{program}");
    }
}
