//! Topologies and flows.

use sluice_fabric::flows::{Entropy, Flow, Flows, Generator, Workload, extract};
use sluice_fabric::polarization::{Compiled, Picker, Question, plan, run};
use sluice_fabric::topology::{Clos, DRing, Network, TopologyError, Wan};
use sluice_hashing::replicas::Order;
use sluice_hashing::scheme::{Scheme, Terms};
use sluice_hashing::wcmp::Method;
use sluice_pcaps::capture::CaptureReader;
use sluice_pcaps::samples::L3_ECMP;
use std::num::NonZero;

const TWO_TIERS: &str = r#"
name = "two tiers"
switch = [
    { name = "leaf0", stage = 1, block = 0, edge = true },
    { name = "leaf1", stage = 1, block = 1, edge = true },
    { name = "spine0", stage = 2, block = 2 },
    { name = "spine1", stage = 2, block = 3 },
]
cable = [
    { between = ["leaf0", "spine0"], weight = 3 },
    { between = ["leaf0", "spine1"], weight = 1 },
    { between = ["leaf1", "spine0"], links = 2 },
    { between = ["leaf1", "spine1"], links = 2 },
]
"#;

fn question(scheme: Scheme) -> Question {
    let supply = vec!["crc_16".parse().unwrap(), "crc_32".parse().unwrap(), "xor16".parse().unwrap()];
    Question {
        scheme,
        terms: Terms { supply, seed: 1, hash_bits: 16, width: 120, target: 50, order: Order::Interleaved },
        picker: Picker::Modulo16,
        members: None,
        method: Method::LargestRemainder,
    }
}

#[test]
fn every_network_delivers_every_flow() {
    let networks = [
        Clos::default().build().unwrap(),
        Clos { blocks: 3, width: 2, parallel: 1 }.build().unwrap(),
        DRing::default().build().unwrap(),
        DRing { blocks: 5, width: 3, parallel: 1 }.build().unwrap(),
        Wan::default().build().unwrap(),
        Network::from_toml(TWO_TIERS, "two.toml").unwrap(),
    ];
    for network in networks {
        network.check().unwrap();
        let schemes = [Scheme::Plain, Scheme::Ttl, Scheme::PerStage, Scheme::PerPort, Scheme::Coprime];
        for question in schemes.map(question) {
            let planned = match plan(&network, &question) {
                Ok(planned) => planned,
                Err(e) => panic!("{}, {}: {e}", network.name, question.scheme),
            };
            let compiled = Compiled::new(&network, &planned, question.picker);
            for flow in Generator::new(Workload::Datacenter, &network, 300, 7).flows() {
                let path = compiled.path(&flow);
                let (group, port) = *path.last().unwrap();
                let (link, _) = network.groups[group as usize].links[port as usize];
                let end = network.links[link as usize].to;
                assert_eq!(end, network.edges[flow.to as usize], "{} {flow:?}", network.name);
                let start = network.groups[path[0].0 as usize].switch;
                assert_eq!(start, network.edges[flow.from as usize]);
            }
        }
    }
}

#[test]
fn sizes_out_of_range_and_bad_files_are_named() {
    assert!(matches!(Clos { blocks: 1, ..Clos::default() }.build(), Err(TopologyError::Range { .. })));
    assert!(DRing { blocks: 4, ..DRing::default() }.build().is_err());
    assert!(Wan { width: 0, ..Wan::default() }.build().is_err());
    let refused = |text: &str| Network::from_toml(text, "net.toml").unwrap_err().to_string();
    assert!(refused("name = 3").starts_with("net.toml:1: "));
    assert!(refused(&TWO_TIERS.replace("spine1\", stage", "spine7\", stage")).contains("`spine1`"));
    assert!(refused(&TWO_TIERS.replace("edge = true", "edge = false")).contains("at least two"));
    assert!(refused(&TWO_TIERS.replace("links = 2", "links = 0")).contains("1 to 1024"));
    let cut = TWO_TIERS.replace("[\"leaf0\", \"spine0\"]", "[\"spine1\", \"spine0\"]");
    let cut = cut.replace("[\"leaf0\", \"spine1\"]", "[\"spine1\", \"spine0\"]");
    assert!(refused(&cut).contains("has no path to"), "{}", refused(&cut));
}

#[test]
fn weights_are_shares() {
    let network = Network::from_toml(TWO_TIERS, "two.toml").unwrap();
    let flows = Generator::new(Workload::Uniform, &network, 40_000, 1);
    let results =
        run(&network, &question(Scheme::Coprime), Flows::Made(&flows), NonZero::<usize>::MIN).unwrap();
    let leaf = results.points.iter().find(|p| p.name == "stage-1-up").unwrap();
    assert!(leaf.cv[2] < 0.06, "flows per weight: {leaf:?}");
    let links = results.groups.iter().find(|g| network.groups[g.group as usize].links[0].1 == 3).unwrap();
    assert!(links.cv_flows < 0.06);
}

#[test]
fn a_capture_gives_its_flows() {
    let network = Clos::default().build().unwrap();
    let mut reader = CaptureReader::from_bytes(L3_ECMP, "sample").unwrap();
    let found = extract(&mut reader, &network).unwrap();
    // 803 frames, of which 64 are IPv6 and three are ARP.
    assert_eq!((found.frames, found.skipped), (803, 3));
    let v4 = found.flows.iter().filter(|f| f.key[0] == 10 || f.key[0] == 192).count();
    assert!(v4 > 250 && found.flows.len() > v4, "{v4} of {}", found.flows.len());
    let incast = found.flows.iter().filter(|f| f.key[4..8] == [10, 9, 9, 9]);
    let incast: Vec<u64> = incast.map(|f| f.bytes).collect();
    assert_eq!((incast.len(), incast.iter().sum()), (40, 600_000u64), "the incast's senders and bytes");
    for flow in &found.flows {
        assert!(network.goes(network.edges[flow.from as usize], network.edges[flow.to as usize]));
    }
    let results =
        run(&network, &question(Scheme::Plain), Flows::Given(&found.flows), NonZero::<usize>::MIN).unwrap();
    assert!(results.entropy >= 16 && results.flows > 250);
}

#[test]
fn generators_repeat_and_differ_by_seed() {
    let network = Clos::default().build().unwrap();
    for (_, workload) in Workload::ALL {
        let flows = |seed| -> Vec<Flow> { Generator::new(workload, &network, 50, seed).flows().collect() };
        assert_eq!(flows(1), flows(1));
        assert_ne!(flows(1), flows(2));
        let mut entropy = Entropy::default();
        flows(1).iter().for_each(|f| entropy.add(f));
        assert_eq!(entropy.bits() == 4, workload == Workload::LowEntropy);
    }
    let zipf: Vec<u64> = Generator::new(Workload::Zipf, &network, 3, 1).flows().map(|f| f.bytes).collect();
    assert_eq!(zipf, [1_000_000_000, 500_000_000, 333_333_333]);
    let hot = Generator::new(Workload::Uniform, &network, 50, 1).from_block(3);
    assert!(hot.flows().all(|f| (24..32).contains(&f.from)));
}
