//! Every scheme: the port is the planner's, and the bytes are those of the frame with its TTL decremented.

use crate::balance::world::{World, frame, keys, sets};
use sluice_asic::chip::ChipSpec;
use sluice_asic::select::{GroupShape, Selector};
use sluice_build::params::Params as _;
use sluice_catalogue::ProgramError;
use sluice_control::{ControlOp, ControlState};
use sluice_hashing::cv::Cv;
use sluice_ir::text;
use sluice_programs::balance::{EcmpParams, Plan, Side, WcmpParams};
use sluice_programs::catalogue;

const SCHEMES: [(&str, &[&str]); 22] = [
    ("ecmp", &[]),
    ("ecmp", &["scheme=plain", "seed=0xdeadbeef", "selection=fair"]),
    ("ecmp", &["scheme=plain", "functions=crc_32", "seed=0x1234", "selection=plain-modulo"]),
    ("ecmp", &["scheme=ttl", "functions=crc_16,crc_32", "selection=fair"]),
    ("ecmp", &["scheme=per-stage", "seed=3", "stage=3"]),
    ("ecmp", &["scheme=per-port", "stage=2"]),
    ("ecmp", &["scheme=per-port", "stage=4", "functions=xor16,bisync,ccitt,crc32_lo", "selection=fair"]),
    ("ecmp", &["scheme=recombine", "stage=3", "functions=ccitt,bisync,crc32_lo"]),
    ("ecmp", &["scheme=coprime", "upstream=8,9", "target=100", "order=blocked"]),
    ("ecmp", &["scheme=coprime", "members=57", "functions=bisync"]),
    ("ecmp", &["functions=crc32_hi"]),
    ("ecmp", &["functions=crc16_xor1", "seed=0xdeadbeef", "selection=plain-modulo", "scheme=plain"]),
    ("ecmp", &["functions=crc16_xor2", "seed=7"]),
    ("ecmp", &["functions=crc16_xor4"]),
    ("ecmp", &["functions=crc16_xor8,crc32_hi", "scheme=per-port", "stage=3", "seed=0x12345678"]),
    ("ecmp", &["functions=crc32_hi,crc16_xor4,ccitt", "scheme=per-port", "stage=2", "seed=5"]),
    ("ecmp", &["functions=crc32_hi,xor16,ccitt", "scheme=recombine", "stage=4", "selection=fair"]),
    ("wcmp", &["functions=crc16_xor8", "seed=99"]),
    ("wcmp", &[]),
    ("wcmp", &["method=naive", "weights=4,3,2,1", "members=57", "selection=fair"]),
    ("wcmp", &["method=largest-remainder", "weights=9,1,0,5", "target=100"]),
    ("wcmp", &["weights=300,100", "order=blocked", "functions=xor16", "upstream=none"]),
];

fn plan(program: &str, params: &[&str]) -> Plan {
    let mut ecmp = EcmpParams::default();
    let mut wcmp = WcmpParams::default();
    for (key, value) in sets(params) {
        if program == "ecmp" { ecmp.set(&key, &value) } else { wcmp.set(&key, &value) }.unwrap();
    }
    if program == "ecmp" { Plan::ecmp(&ecmp, "ecmp") } else { Plan::wcmp(&wcmp, "wcmp") }.unwrap()
}

/// Returns the port of a side for a key, by the definition of the hash, the selector and the member table.
fn port(side: &Side, plan: &Plan, key: &[u8; 14]) -> u32 {
    let hash = u128::from(side.setting.hash(key));
    let wide = hash | hash << 16 | hash << 32 | hash << 48;
    let shape = GroupShape::balanced(side.table.len() as u32).unwrap();
    let mode = plan.selection.mode();
    let bits = if plan.selection == sluice_programs::l3_ecmp::Selection::PlainModulo { hash } else { wide };
    side.table[Selector::new(mode).pick(bits, &shape).unwrap() as usize]
}

#[test]
fn every_scheme_sends_every_flow_where_the_plan_says() {
    for chip in [ChipSpec::tofino2(), ChipSpec::tofino()] {
        for (name, params) in SCHEMES {
            let world = World::new(name, params, &chip);
            let plan = plan(name, params);
            // Up from a southern port, down from a northern one.
            for (network, front, first, side) in [(7, 20, 8, &plan.north), (1, 8, 0, &plan.south)] {
                let keys = keys(100, network);
                let frames: Vec<Vec<u8>> = keys.iter().map(|k| frame(k, 64)).collect();
                for (key, fate) in keys.iter().zip(world.send(front, &frames)) {
                    let wanted = world.dev_port((first + port(side, &plan, key)) as u16);
                    assert_eq!(fate, Ok((wanted, frame(key, 63))), "{name} {params:?} on {}", chip.name);
                }
            }
        }
    }
}

#[test]
fn what_cannot_be_forwarded_says_why() {
    let world = World::new("ecmp", &[], &ChipSpec::tofino2());
    let key = keys(1, 7)[0];
    let mut broken = frame(&key, 64);
    broken[24] ^= 1;
    let mut arp = frame(&key, 64);
    arp[12..14].copy_from_slice(&[8, 6]);
    let fates = world.send(0, &[frame(&key, 1), broken, arp]);
    let reasons: Vec<&str> = fates.iter().map(|f| f.as_ref().unwrap_err().as_str()).collect();
    assert_eq!(reasons, ["ttl_expired", "ipv4_checksum", "not_ipv4"]);
}

#[test]
fn parameters_print_back_and_wrong_ones_are_refused() {
    for (name, params) in SCHEMES {
        let program = catalogue().get(name).unwrap().build(&sets(params)).unwrap();
        assert_eq!(text::parse(&text::print(&program)).as_ref(), Ok(&program), "{name} {params:?}");
        let all: Vec<(String, String)> =
            program.params.iter().map(|p| (p.key.clone(), p.value.clone())).collect();
        assert_eq!(catalogue().get(name).unwrap().build(&all), Ok(program));
    }
    let message = |name: &str, params: &[&str]| -> String {
        let error: ProgramError = catalogue().get(name).unwrap().build(&sets(params)).unwrap_err();
        error.to_string()
    };
    assert!(message("ecmp", &["members=121"]).contains("one selector word of 120"));
    assert!(message("ecmp", &["members=7"]).contains("8 ports need at least as many members"));
    assert!(message("ecmp", &["functions=none"]).contains("at least one hash function"));
    assert!(message("ecmp", &["scheme=ttl"]).contains("RTAG7 has no bin for the TTL"));
    assert!(message("ecmp", &["scheme=recombine", "functions=ccitt,bisync"]).contains("need 3 colours"));
    assert!(message("ecmp", &["upstream=8,57", "target=1"]).contains("no size from 8 to 120"));
    assert!(message("wcmp", &["weights=0"]).contains("a port with a weight above 0"));
    assert!(message("wcmp", &["weights=none"]).contains("1 to 16 ports"));
    assert!(message("ecmp", &["scheme=fancy"]).contains("per-port, recombine"));
}

/// Returns the northern ports' shares of the flows that an upstream switch of eight ports sent this way.
fn shares(params: &[&str]) -> Vec<u64> {
    let world = World::new("ecmp", params, &ChipSpec::tofino2());
    let upstream = plan("ecmp", &["scheme=plain", "selection=fair"]);
    let sent = keys(8_000, 7).into_iter().filter(|key| port(&upstream.north, &upstream, key) == 3);
    let frames: Vec<Vec<u8>> = sent.map(|key| frame(&key, 64)).collect();
    let mut shares = vec![0; 8];
    for fate in world.send(20, &frames) {
        let (port, _) = fate.unwrap();
        shares[(0..8).find(|n| world.dev_port(8 + n) == port).unwrap() as usize] += 1;
    }
    shares
}

#[test]
fn scenario_40_replay_polarization_through_the_program() {
    // The flows on one output of an upstream switch, replayed through this switch.
    let same = shares(&["scheme=plain", "selection=fair"]);
    assert_eq!(same.iter().filter(|n| **n > 0).count(), 1, "{same:?}");
    let seeded = shares(&["scheme=plain", "selection=fair", "seed=0x12345678"]);
    assert_eq!(seeded.iter().filter(|n| **n > 0).count(), 1, "a seed moves the line, it does not spread it");
    for better in [&["scheme=coprime"][..], &["scheme=recombine", "stage=2"]] {
        let spread = shares(better);
        assert!(Cv::of(&spread).at_most(170), "{better:?}: {spread:?}");
    }
}

#[test]
fn a_dead_port_moves_its_own_flows_only_in_a_resilient_group() {
    for (selection, others_move) in [("selection=resilient", false), ("selection=fair", true)] {
        let mut world = World::new("ecmp", &["members=57", selection], &ChipSpec::tofino2());
        let frames: Vec<Vec<u8>> = keys(300, 7).iter().map(|k| frame(k, 64)).collect();
        let ports = |world: &World| -> Vec<u16> {
            world.send(20, &frames).into_iter().map(|fate| fate.unwrap().0).collect()
        };
        let before = ports(&world);
        let dead = world.dev_port(8);
        let profile = world.program.profile_named("members").unwrap();
        let is_dead = |control: &ControlState, member: u32| {
            control.profiles[profile].members[&member].args == [u128::from(dead)]
        };
        let members: Vec<u32> = (0..57).filter(|m| is_dead(&world.control, *m)).collect();
        assert_eq!(members.len(), 8);
        for member in members {
            world.apply(ControlOp::SetMemberActive { profile, group: 1, member, active: false });
        }
        let after = ports(&world);
        assert!(after.iter().all(|p| *p != dead) && before.contains(&dead));
        let moved = before.iter().zip(&after).any(|(b, a)| *b != dead && a != b);
        assert_eq!(moved, others_move, "{selection}");
    }
}
