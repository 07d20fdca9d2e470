//! Port maps of both chips.

use sluice_asic::chip::ChipSpec;
use sluice_asic::port::{DevPort, FrontPort, MacId, Pipe, PortKind, PortMap, PortName, TmPort};
use sluice_asic::units::BitRate;
use std::collections::BTreeSet;

fn map(chip: &ChipSpec, gbps: u64) -> PortMap {
    PortMap::new(chip, BitRate::from_gbps(gbps)).unwrap()
}

fn dev(number: u16) -> DevPort {
    DevPort::new(number).unwrap()
}

#[test]
fn default_front_panels() {
    let (tofino, tofino2) = (ChipSpec::tofino(), ChipSpec::tofino2());
    let first = PortMap::default_for(&tofino).unwrap();
    let second = PortMap::default_for(&tofino2).unwrap();
    assert_eq!((first.front_ports().len(), first.speed()), (64, BitRate::from_gbps(100)));
    assert_eq!((second.front_ports().len(), second.speed()), (32, BitRate::from_gbps(400)));
    let dev_ports = |map: &PortMap, ports: [u16; 4]| {
        ports.map(|port| map.front(FrontPort(port)).unwrap().dev_port.number())
    };
    assert_eq!(dev_ports(&first, [0, 1, 15, 16]), [0, 4, 60, 128]);
    assert_eq!(dev_ports(&second, [0, 1, 7, 8]), [8, 16, 64, 136]);
}

#[test]
fn splits_share_the_lanes() {
    for (chip, splits) in [
        (ChipSpec::tofino2(), vec![(400, 32), (200, 64), (100, 128), (50, 256), (25, 256), (10, 256)]),
        (ChipSpec::tofino(), vec![(100, 64), (50, 128), (40, 64), (25, 256), (10, 256)]),
    ] {
        for (gbps, count) in splits {
            let map = map(&chip, gbps);
            assert_eq!(map.front_ports().len(), count, "{} {gbps}", chip.name);
            let mut lanes = BTreeSet::new();
            for (index, port) in map.front_ports().iter().enumerate() {
                assert_eq!(port.front(), Some(FrontPort(u16::try_from(index).unwrap())));
                for lane in 0..port.lanes {
                    assert!(lanes.insert((port.pipe(), port.mac, port.lane + lane)), "lane shared at {gbps}");
                    assert!(u32::from(port.lane + lane) < chip.ports.lanes_per_mac);
                }
            }
        }
    }
    let error = PortMap::new(&ChipSpec::tofino(), BitRate::from_gbps(400)).unwrap_err().to_string();
    assert_eq!(error, "port speed 400Gbps: tofino has ports of 100Gbps, 50Gbps, 40Gbps, 25Gbps, 10Gbps");
}

#[test]
fn the_worked_example_of_advanced_flow_control() {
    // model: tm §5: dev_port 137 is pipe 1, MAC 1, and its queue 0 is the MAC's queue 16.
    let map = map(&ChipSpec::tofino2(), 50);
    let port = map.dev(dev(137)).unwrap();
    assert_eq!((port.pipe(), port.mac, port.queue_base, port.queues), (Pipe(1), MacId(1), 16, 16));
    assert_eq!((port.tm_port, port.lane), (TmPort(72 + 9), 1));
    assert_eq!(map.resolve("dev:137".parse().unwrap()), Ok(port));
}

#[test]
fn lookups_agree_both_ways() {
    for (chip, gbps) in [(ChipSpec::tofino(), 25), (ChipSpec::tofino2(), 400), (ChipSpec::tofino2(), 10)] {
        let map = map(&chip, gbps);
        let mut tm_ports = BTreeSet::new();
        for port in map.iter() {
            assert_eq!(map.dev(port.dev_port), Some(port));
            assert_eq!(DevPort::from_parts(port.pipe(), port.dev_port.local()), Some(port.dev_port));
            if let Some(front) = port.front() {
                assert_eq!(map.front(front), Some(port));
            }
            assert!(tm_ports.insert(port.tm_port));
            assert!(u32::from(port.tm_port.0) < chip.ports.ports_per_pipe * chip.ports.pipes);
            assert!(u32::from(port.parser) < chip.parser.instances);
            assert!(u32::from(port.mac.0) < chip.tm.port_groups);
            let name: PortName = port.to_string().parse().unwrap();
            assert_eq!(map.resolve(name), Ok(port));
        }
    }
}

#[test]
fn special_ports() {
    // model: tm §10.
    let (tofino, tofino2) = (map(&ChipSpec::tofino(), 100), map(&ChipSpec::tofino2(), 400));
    assert_eq!(tofino.cpu().map(|port| port.dev_port), Some(dev(64)));
    assert_eq!(tofino2.cpu().map(|port| port.dev_port), Some(dev(2)));
    let list = |map: &PortMap, pipe| {
        map.recirculation(Pipe(pipe)).map(|port| port.dev_port.number()).collect::<Vec<_>>()
    };
    assert_eq!(list(&tofino, 0), [68, 69, 70, 71]);
    assert_eq!(list(&tofino, 1), [192, 193, 194, 195, 196, 197, 198, 199]);
    assert_eq!(list(&tofino2, 0), [1, 6, 7]);
    assert_eq!(list(&tofino2, 3), [384, 385, 386, 387, 388, 389, 390, 391]);
    let port = tofino2.dev(dev(6)).unwrap();
    assert_eq!((port.kind, port.speed), (PortKind::Recirculation, BitRate::from_gbps(400)));
}

#[test]
fn parsers_serve_4_ports_on_tofino_and_2_on_tofino2() {
    assert_eq!(map(&ChipSpec::tofino(), 25).dev(dev(71)).unwrap().parser, 17);
    assert_eq!(map(&ChipSpec::tofino2(), 50).dev(dev(71)).unwrap().parser, 35);
}

#[test]
fn refusals_say_what_is_valid() {
    let map = map(&ChipSpec::tofino2(), 400);
    let resolve =
        |text: &str| text.parse().and_then(|name| map.resolve(name).copied()).unwrap_err().to_string();
    assert_eq!(resolve("32"), "front-panel port 32: tofino2 at 400Gbps per port has ports 0 to 31");
    let dev = resolve("dev:9");
    assert!(
        dev.starts_with("dev:9: no port of tofino2 at 400Gbps per port; its dev_ports are 1-2, 6-8, 16, "),
        "{dev}"
    );
    for bad in ["", "x", "-1", "+1", "dev:", "dev:512", "dev:-1", "70000", "1.5", "front:1"] {
        assert!(resolve(bad).starts_with(&format!("`{bad}` is not a port")), "{bad}");
    }
}
