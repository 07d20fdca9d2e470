//! CONGA's leaves and spines in a network: flows avoid the spine that other flows have to use (model: flowlets §5.1,
//! figure 1a).

use crate::network::deployed::{NoFiles, defaults, hosts};
use sluice_asic::units::Time;
use sluice_fabric::deploy::deploy;
use sluice_fabric::network::{LinkFrame, Network, Observer, SwitchId};
use sluice_fabric::topology::built;
use sluice_pcaps::wire::{FrameBuilder, MacAddr, ipv4, udp};
use sluice_programs::catalogue;
use sluice_switch::{Left, RxFrame};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

fn packet(from: Ipv4Addr, to: Ipv4Addr, flow: u16, length: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let builder = FrameBuilder::new(MacAddr::from_u64(1), MacAddr::from_u64(2));
    let builder = builder.ipv4(ipv4::Header::new(from, to)).udp(udp::Header::new(1000 + flow, 4791));
    builder.build_len(length, &mut out).unwrap();
    out
}

/// Packets from leaf 1 by the spine that they use, counted from a given time on.
#[derive(Default)]
struct Seen {
    spines: BTreeMap<u32, u32>,
    delivered: usize,
    from: Time,
    /// Maps cables of leaf 1 to the spine at the other end.
    cables: BTreeMap<u32, u32>,
}

impl Observer for Seen {
    fn on_link(&mut self, from: SwitchId, frame: &LinkFrame, head: &[u8], tail: &[u8]) {
        let large = head.len() + tail.len() > 1_000;
        if from == SwitchId(1) && large && frame.fate.is_ok_and(|at| at > self.from) {
            *self.spines.entry(self.cables[&frame.link.0]).or_default() += 1;
        }
    }

    fn delivered(&mut self, _: SwitchId, _: &Left, _: &[u8], _: &[u8]) {
        self.delivered += 1;
    }
}

/// Returns the share of leaf 1's packets to leaf 2 that use the first spine, which all of leaf 0's packets must use.
fn share_of_the_busy_spine(program: &str, spines: u32) -> f64 {
    let mut plan = built(&format!("leaf-spine:leaves=3,spines={spines},hosts=1,rate=100G")).unwrap();
    plan.cables.retain(|c| !c.ends.contains(&0) || c.ends.iter().all(|end| *end <= 3));
    let mut with = defaults(program);
    with.port_speed = "100G".parse().ok();
    let set = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    with.params = vec![set("timeout", "8us")];
    if program == "conga" {
        with.params.extend([set("tau", "40us"), set("period", "20us"), set("leaves", "8")]);
        // Leaf 0 has one uplink, and must know more LBTags than its own.
        with.params.push(set("remote_uplinks", &spines.to_string()));
    }
    let deployment = deploy(&plan, &catalogue(), &with, &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    let all = hosts(&deployment.positions);
    let other_end = |ends: [u32; 2]| if ends[0] == 1 { ends[1] } else { ends[0] };
    let cables = (0u32..).zip(&plan.cables).filter(|(_, c)| c.ends.contains(&1));
    let cables = cables.map(|(n, c)| (n, other_end(c.ends))).collect();
    let mut network = Network::new(deployment.network, &catalogue()).unwrap_or_else(|e| panic!("{e}"));
    let port = |network: &Network, switch: SwitchId| {
        let ports = &network.setup(switch).unwrap().ports;
        let wanted = all.iter().find(|h| h.0 == switch).unwrap().1;
        ports.iter().find(|p| p.dev_port.number() == wanted).unwrap().dev_port
    };
    let address = |switch: u32| all.iter().find(|h| h.0 == SwitchId(switch)).unwrap().2;
    // Source, destination, ns between packets, flows, bytes: 0.77 of a link from leaf 0, 0.2 of a link from leaf 1, and
    // a little traffic from leaf 2 back to both.
    let kinds = [
        (0u32, 2u32, 160, 40, 1_500),
        (1, 2, 640, 40, 1_500),
        (2, 0, 1_600, 20, 100),
        (2, 1, 1_600, 20, 100),
    ];
    let mut list: Vec<(u64, u32, Vec<u8>)> = Vec::new();
    for (from, to, gap, flows, length) in kinds {
        let of = |n: u64| (n * gap, from, packet(address(from), address(to), (n % flows) as u16, length));
        list.extend((0..480_000 / gap).map(of));
    }
    list.sort_by_key(|(ns, from, _)| (*ns, *from));
    for (ns, from, bytes) in &list {
        let rx = RxFrame { bytes, orig_len: bytes.len() as u32, tag: 0 };
        let inward = port(&network, SwitchId(*from));
        network.inject(SwitchId(*from), inward, Time::from_nanos(*ns), rx).unwrap();
    }
    let sent = list.len();
    let mut seen = Seen { cables, from: Time::from_nanos(240_000), ..Seen::default() };
    network.drain(Time::MAX, &mut seen).unwrap();
    assert!(network.totals().is_conserved());
    assert_eq!(seen.delivered, sent, "{program}");
    let by = |spine: u32| f64::from(seen.spines.get(&spine).copied().unwrap_or(0));
    by(3) / (3..3 + spines).map(by).sum::<f64>()
}

#[test]
fn flows_leave_the_spine_that_others_must_use() {
    for spines in [2, 8] {
        let of = |program| share_of_the_busy_spine(program, spines);
        let (conga, letflow, fair) = (of("conga"), of("letflow"), 1.0 / f64::from(spines));
        assert!(conga < 0.4 * fair, "{spines}: {conga}");
        assert!((letflow - fair).abs() < 0.3 * fair, "{spines}: {letflow}");
    }
}
