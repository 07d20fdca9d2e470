//! Building with parameters, the text form, and promises of the catalogue.

use crate::l3_ecmp::device::sets;
use sluice_asic::chip::ChipSpec;
use sluice_asic::port::PortMap;
use sluice_build::params::Params as _;
use sluice_catalogue::ProgramError;
use sluice_control::ControlState;
use sluice_ir::text;
use sluice_programs::catalogue;
use sluice_programs::l3_ecmp::{Params, program};

const SETS: [&[&str]; 7] = [
    &[],
    &["ipv4_routes=100000", "ipv6_routes=30000"],
    &["selection=resilient"],
    &["selection=plain-modulo", "hash_width=1"],
    &["hash_algorithm=xor16", "hash_seed=0x3fff", "hash_rotate=13"],
    &["hash_fields_v4=0x0:4,vlan,ingress_port,length", "hash_fields_v6=flow_label", "hash_seed_style=prefix"],
    &["ecmp_groups=1", "ecmp_members=8", "ecmp_group_size=8", "neighbors=64", "macs=16", "port_vlans=8"],
];

fn build(params: &[&str]) -> Result<sluice_ir::Program, ProgramError> {
    catalogue().get("l3-ecmp").unwrap().build(&sets(params))
}

#[test]
fn every_set_builds_says_what_it_was_built_with_and_prints_back() {
    for params in SETS {
        let built = build(params).unwrap();
        for (key, value) in sets(params) {
            let found = built.params.iter().find(|p| p.key == key).unwrap();
            assert_eq!(found.value, value, "{key}");
        }
        let printed = text::print(&built);
        assert_eq!(text::parse(&printed).as_ref(), Ok(&built));
    }
}

#[test]
fn the_listed_defaults_are_the_defaults() {
    let catalogue = catalogue();
    let shipped = catalogue.get("l3-ecmp").unwrap();
    let listed = shipped.params();
    let all: Vec<(String, String)> = listed.iter().map(|p| (p.key.clone(), p.value.clone())).collect();
    assert_eq!(shipped.build(&all), shipped.build(&[]));
    assert_eq!(shipped.build(&[]), program(&Params::default()));
    assert_eq!(listed, Params::default().list());
}

#[test]
fn wrong_parameters_name_the_right_ones() {
    let message = |params: &[&str]| build(params).unwrap_err().to_string();
    let unknown = message(&["ipv4_route=5"]);
    assert!(
        unknown.starts_with("program `l3-ecmp`: unknown parameter `ipv4_route`; did you mean `ipv4_routes`?")
    );
    assert!(unknown.contains("hash_rotate, selection)"), "{unknown}");
    assert_eq!(
        message(&["ecmp_group_size=121"]),
        "program `l3-ecmp`: parameter `ecmp_group_size` is `121`; expected 1 to 120"
    );
    assert!(message(&["hash_fields_v4=src,prot"]).contains("`prot` is none of src, dst, protocol"));
    assert!(message(&["selection=random"]).contains("expected fair, resilient or plain-modulo"));
    let conflict = message(&["hash_seed=0x4000"]);
    assert!(conflict.contains("the 14-bit hash") && conflict.contains("hash_seed_style=prefix"));
    assert!(build(&["hash_seed=0x4000", "hash_width=15"]).is_ok());
    assert!(build(&["hash_seed=0xffffffff", "hash_seed_style=prefix"]).is_ok());
}

#[test]
fn the_default_entries_fit_every_chip_and_port_speed() {
    let catalogue = catalogue();
    let shipped = catalogue.get("l3-ecmp").unwrap();
    let built = shipped.build(&[]).unwrap();
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        for speed in &chip.ports.speeds {
            let ports = PortMap::new(&chip, speed.speed).unwrap();
            let setup = shipped.default_setup(&built, &ports).unwrap();
            let mut control = ControlState::new(&built);
            for op in setup.ops {
                control.apply(&built, op).unwrap();
            }
            let [(slow, rate)] = setup.port_speeds[..] else { panic!("one slow port") };
            assert!(ports.front(slow).is_some());
            assert_eq!(rate.as_bps() * 4, speed.speed.as_bps());
        }
    }
}

#[test]
fn tiny_tables_still_take_the_default_entries() {
    let catalogue = catalogue();
    let shipped = catalogue.get("l3-ecmp").unwrap();
    let small = ["ipv4_routes=7", "ipv6_routes=4", "ipv4_acl_rules=3", "ipv6_acl_rules=2", "macs=1"];
    let built = build(&small).unwrap();
    let ports = PortMap::default_for(&ChipSpec::tofino2()).unwrap();
    let mut control = ControlState::new(&built);
    for op in shipped.default_setup(&built, &ports).unwrap().ops {
        control.apply(&built, op).unwrap();
    }
}
