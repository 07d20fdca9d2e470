//! ConWeave's ToRs and spines in a network: a cable becomes slow, flows move to other cables, and hosts receive packets
//! in order.

use crate::network::deployed::{NoFiles, defaults, hosts, ready};
use sluice_asic::units::{Duration, Time};
use sluice_fabric::deploy::{Deployment, deploy};
use sluice_fabric::network::{LinkChange, LinkFrame, Network, Observer, SwitchId, Way};
use sluice_fabric::topology::{Blueprint, Happening, built};
use sluice_pcaps::wire::{FrameBuilder, MacAddr, Payload, ipv4, roce, udp};
use sluice_programs::catalogue;
use sluice_switch::{Left, RxFrame};
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

/// Offset of the base transport header.
const BTH: usize = 14 + 20 + 8;
/// A flow by source address and UDP port: all flows of these tests have the same receiver.
type Flow = (Ipv4Addr, u16);

fn flow(frame: &[u8]) -> Flow {
    let address: [u8; 4] = frame[26..30].try_into().unwrap();
    (Ipv4Addr::from(address), u16::from_be_bytes([frame[34], frame[35]]))
}

fn psn(frame: &[u8]) -> u32 {
    u32::from_be_bytes([0, frame[BTH + 9], frame[BTH + 10], frame[BTH + 11]])
}

/// Masks and values in ConWeave's header: the opcode, DATA, TAIL.
const OPCODE: u8 = 0x60;
const DATA: u8 = 0x20;
const TAIL: u8 = 1;

fn data(from: Ipv4Addr, to: Ipv4Addr, port: u16, psn: u32) -> Vec<u8> {
    let headers = roce::Headers {
        bth: roce::Bth::new(roce::opcode::RC_WRITE_MIDDLE, 7, psn),
        extension: roce::Extension::None,
    };
    let builder = FrameBuilder::new(MacAddr::from_u64(2), MacAddr::from_u64(4));
    let builder = builder.ipv4(ipv4::Header { ecn: 2, ..ipv4::Header::new(from, to) });
    let mut frame = Vec::new();
    builder
        .roce(udp::Header::new(port, roce::PORT), headers)
        .build(Payload::Zeros(1000), &mut frame)
        .unwrap();
    frame
}

/// DATA that arrived at the destination's ToR, and packets that hosts received.
#[derive(Default)]
struct Seen {
    /// Cables that lead to the ToR.
    into_tor: Vec<(u32, Way)>,
    arrived: Vec<(Time, Flow, u32)>,
    paths: BTreeMap<Flow, BTreeSet<u8>>,
    tails: u32,
    delivered: Vec<(SwitchId, u16, Vec<u8>)>,
}

impl Observer for Seen {
    fn on_link(&mut self, from: SwitchId, frame: &LinkFrame, head: &[u8], tail: &[u8]) {
        let bytes = [head, tail].concat();
        if bytes[BTH + 8] & OPCODE != DATA {
            return;
        }
        if from == SwitchId(0) {
            self.paths.entry(flow(&bytes)).or_default().insert(bytes[BTH + 4]);
            self.tails += u32::from(bytes[BTH + 8] & TAIL);
        } else if self.into_tor.contains(&(frame.link.0, frame.way)) {
            self.arrived.push((frame.fate.unwrap(), flow(&bytes), psn(&bytes)));
        }
    }

    fn delivered(&mut self, from: SwitchId, frame: &Left, head: &[u8], tail: &[u8]) {
        self.delivered.push((from, frame.egress_port, [head, tail].concat()));
    }
}

fn by_flow(frames: impl Iterator<Item = (Flow, u32)>) -> BTreeMap<Flow, Vec<u32>> {
    let mut all = BTreeMap::<Flow, Vec<u32>>::new();
    frames.for_each(|(flow, psn)| all.entry(flow).or_default().push(psn));
    all
}

/// Packets per flow, and time between two packets of a host's four flows.
const PACKETS: u32 = 600;
const GAP: Duration = Duration::from_nanos(125);

/// Runs four flows of every host of the first ToR to the first host of the second ToR.
fn run(deployment: Deployment, plan: &Blueprint) -> Seen {
    let all = hosts(&deployment.positions);
    let to = *all.iter().find(|h| h.0 == SwitchId(1)).unwrap();
    let mut network = Network::new(deployment.network, &catalogue()).unwrap_or_else(|e| panic!("{e}"));
    for (switch, port, from) in all.iter().filter(|h| h.0 == SwitchId(0)) {
        let ports = &network.setup(*switch).unwrap().ports;
        let port = ports.iter().find(|p| p.dev_port.number() == *port).unwrap().dev_port;
        for n in 0..PACKETS {
            for flow in 0..4 {
                let bytes = data(*from, to.2, 49_152 + flow, n);
                let rx = RxFrame { bytes: &bytes, orig_len: bytes.len() as u32, tag: 0 };
                let time = Time::ORIGIN + GAP * u64::from(4 * n + u32::from(flow));
                network.inject(*switch, port, time, rx).unwrap();
            }
        }
    }
    let into_tor = |(number, c): (u32, &sluice_fabric::topology::CablePlan)| match c.ends {
        [1, _] => Some((number, Way::Back)),
        [_, 1] => Some((number, Way::Forth)),
        _ => None,
    };
    let into_tor = (0..).zip(&plan.cables).filter_map(into_tor).collect();
    let mut seen = Seen { into_tor, ..Seen::default() };
    network.drain(Time::ORIGIN + Duration::from_millis(10), &mut seen).unwrap();
    let totals = network.totals();
    assert!(totals.is_conserved(), "{totals:?}");
    assert!(seen.delivered.iter().all(|d| (d.0, d.1) == (to.0, to.1)), "all go to one host");
    seen
}

#[test]
fn a_cable_gets_slow_flows_move_and_hosts_see_order() {
    let mut plan = built("two-tor:spines=4,hosts=2").unwrap();
    let number = plan.cables.iter().position(|c| c.ends.contains(&0) && c.ends.contains(&2)).unwrap();
    let way = Some(if plan.cables[number].ends[0] == 0 { Way::Forth } else { Way::Back });
    let change = LinkChange::ExtraDelay(Duration::from_micros(20));
    let slow = Happening::Cable { cable: number as u32, way, change };
    plan.events.push((Time::from_nanos(100_000), slow));
    let deployment = ready(&plan, "conweave");
    let programs: Vec<&str> =
        deployment.network.switches.iter().map(|s| s.placed.program.name.as_str()).collect();
    let spine = "conweave-spine";
    assert_eq!(programs, ["conweave", "conweave", spine, spine, spine, spine]);
    let mut seen = run(deployment, &plan);
    // Packets overtake each other in the network.
    seen.arrived.sort_unstable();
    let arrived = by_flow(seen.arrived.iter().map(|(_, flow, psn)| (*flow, *psn)));
    let early = arrived.values().filter(|psns| !psns.is_sorted()).count();
    assert!(early >= 1 && seen.tails >= 1, "{early} flows out of order, {} TAILs", seen.tails);
    assert!(seen.paths.values().any(|paths| paths.len() > 1), "{:?}", seen.paths);
    // Hosts receive packets in order, without ConWeave's header.
    let got = by_flow(seen.delivered.iter().map(|(.., bytes)| (flow(bytes), psn(bytes))));
    assert_eq!(got.len(), 8);
    for (flow, psns) in got {
        assert_eq!(psns, (0..PACKETS).collect::<Vec<_>>(), "{flow:?}");
    }
    for (.., bytes) in &seen.delivered {
        let (address, port) = flow(bytes);
        let sent = data(address, Ipv4Addr::new(10, 0, 1, 1), port, psn(bytes));
        assert_eq!((&bytes[..15], &bytes[26..]), (&sent[..15], &sent[26..]), "but for TTL, ECN, checksum");
    }
}

#[test]
fn without_a_slow_cable_nothing_moves() {
    let plan = built("two-tor:spines=2,hosts=1").unwrap();
    let seen = run(ready(&plan, "conweave"), &plan);
    assert_eq!((seen.tails, seen.delivered.len()), (0, 4 * PACKETS as usize));
    assert!(seen.paths.values().all(|paths| paths.len() == 1), "{:?}", seen.paths);
}

const FILE: &str = r#"
name = "named"
[[switch]]
name = "tor0"
hosts = 2
program = "conweave"
[[switch]]
name = "tor1"
hosts = 1
program = "conweave"
[[switch]]
name = "spine"
stage = 2
program = "conweave-spine"
[[cable]]
between = ["tor0", "spine"]
ports = [6, 3]
[[cable]]
between = ["tor1", "spine"]
"#;

#[test]
fn a_file_names_programs_and_positions_give_ports() {
    let plan = Blueprint::from_toml(FILE, "named.toml").unwrap();
    let deployment = ready(&plan, "l3-ecmp");
    let param = |n: usize, key: &str| {
        let program = &deployment.network.switches[n].placed.program;
        program.params.iter().find(|p| p.key == key).unwrap().value.clone()
    };
    assert_eq!((param(0, "hosts"), param(0, "uplinks")), ("0-1".into(), "6".into()));
    assert_eq!((param(1, "hosts"), param(1, "uplinks")), ("0".into(), "1".into()));
    assert_eq!(deployment.network.switches[2].placed.program.name, "conweave-spine");
    let seen = run(deployment, &plan);
    assert_eq!(seen.delivered.len(), 2 * 4 * PACKETS as usize);
}

#[test]
fn ports_and_rows_that_do_not_do_are_named() {
    let plan = built("two-tor:spines=2,hosts=2").unwrap();
    let refused = |key: &str, value: &str| {
        let mut defaults = defaults("conweave");
        defaults.params.push((key.to_owned(), value.to_owned()));
        deploy(&plan, &catalogue(), &defaults, &NoFiles).unwrap_err().to_string()
    };
    assert_eq!(
        refused("uplinks", "3-4"),
        "switch `leaf0`: program `conweave` cannot run here: port 2 of `leaf0` leads to a switch, but uplinks=3-4; \
         leave `uplinks` out or have it cover the port"
    );
    assert_eq!(
        refused("flows", "16"),
        "switch `leaf0`: program `conweave` cannot run here: 16 rows are too few for the 32 flows of its hosts \
         (row 0 is none); raise `flows`, lower `known`, or give the switches `entries` of their own"
    );
}
