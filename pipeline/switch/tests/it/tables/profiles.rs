//! Action profiles and selectors, tables without key, direct counters, and the memories in a report.

use crate::tables::bench::{agree, both_chips, call, configured, entry, parsed, placed};
use sluice_asic::chip::ChipSpec;
use sluice_asic::select::{GroupShape, Selector, SelectorMode};
use sluice_control::{ControlOp, GroupMember, Then};
use sluice_exec::pass::Count;
use sluice_ir::text;
use sluice_ir::{KeyValue, Program};
use sluice_place::report::Report;
use sluice_report as report;

fn select(mode: &str, scramble: &str, most: u32) -> Program {
    parsed(&format!(
        "program select;
        header h : ingress {{ bit<64> key; bit<16> out; }}
        intrinsic : ingress {{ bit<9> ig_tm.ucast_egress_port; }}
        hash pick : ingress {{ algorithm = identity; inputs = {{ h.key }}; width = 64; }}
        profile hops : ingress {{
            size = 512; selector = {mode}(pick); groups = 4; max_group_size = {most}; {scramble}
        }}
        action to : ingress (bit<16> hop) {{ h.out = hop; ig_tm.ucast_egress_port = 9w8; }}
        action none : ingress () {{ ig_tm.ucast_egress_port = 9w8; }}
        metadata : ingress {{ bit<8> m.zero; }}
        table groups : ingress {{
            key = {{ m.zero : exact; }} actions = {{ to; }} default_action = none(); size = 4; profile = hops;
        }}
        parser ingress {{ start = first; state first {{ extract(h); transition accept; }} }}
        control ingress {{ apply groups; }}
        deparser ingress {{ emit(h); }}"
    ))
}

fn frame(key: u64) -> Vec<u8> {
    [&key.to_be_bytes()[..], &[0xff, 0xff], &[0; 60]].concat()
}

/// Returns operations that set members 0.. in one group; the members in `down` are not active.
fn group(p: &Program, size: u32, down: &[u32]) -> Vec<ControlOp> {
    let profile = p.profile_named("hops").unwrap();
    let member = |m: u32| ControlOp::SetMember { profile, member: m, call: call(p, "to", &[m.into()]) };
    let mut ops: Vec<ControlOp> = (0..size).map(member).collect();
    let place = |m: u32| GroupMember { member: m, weight: 1, active: !down.contains(&m) };
    ops.push(ControlOp::SetGroup { profile, group: 1, members: (0..size).map(place).collect() });
    let table = p.table_named("groups").unwrap();
    ops.push(ControlOp::InsertEntry {
        table,
        key: vec![KeyValue::Exact(0)],
        priority: 0,
        then: Then::Group(1),
    });
    ops
}

fn keys() -> Vec<u64> {
    let mix = |i: u64| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17) ^ i << 51;
    (0..300).map(mix).chain(0..100).collect()
}

fn picked(p: &Program, ops: &[ControlOp], keys: &[u64]) -> Vec<u16> {
    let frames: Vec<_> = keys.iter().map(|k| frame(*k)).collect();
    let ran = both_chips(p, ops, &frames);
    ran.packets.iter().map(|(_, b)| u16::from_be_bytes([b[8], b[9]])).collect()
}

#[test]
fn a_fair_selector_counts_the_living_and_a_resilient_one_keeps_them() {
    let keys = keys();
    let (fair, resilient) = (select("fair", "", 10), select("resilient", "", 10));
    let all: Vec<u16> = keys.iter().map(|k| ((k & 0x3fff) % 10) as u16).collect();
    assert_eq!(picked(&fair, &group(&fair, 10, &[]), &keys), all);
    assert_eq!(picked(&resilient, &group(&resilient, 10, &[]), &keys), all);
    // With members 3 and 7 down, fair divides by eight and takes that many of the living.
    let living = [0, 1, 2, 4, 5, 6, 8, 9];
    let fewer: Vec<u16> = keys.iter().map(|k| living[((k & 0x3fff) % 8) as usize]).collect();
    assert_eq!(picked(&fair, &group(&fair, 10, &[3, 7]), &keys), fewer);
    let moved = picked(&resilient, &group(&resilient, 10, &[3, 7]), &keys);
    for (before, after) in all.iter().zip(&moved) {
        assert!(living.contains(after));
        assert!(*after == *before || !living.contains(before), "{before} moved to {after}");
    }
}

#[test]
fn groups_of_several_words_and_the_scrambler() {
    let keys = keys();
    for (mode, word) in [(SelectorMode::Fair, "fair"), (SelectorMode::Resilient, "resilient")] {
        for (scramble, on) in [("", false), ("scramble = on;", true)] {
            let selector = if on { Selector::new(mode).scrambled() } else { Selector::new(mode) };
            for size in [7, 200, 400] {
                let p = select(word, scramble, 480);
                assert_eq!(text::print(&p).contains("scramble = on;"), on);
                let ops = group(&p, size, &[5, 6]);
                let slots = configured(&p, &ops).profiles[p.profile_named("hops").unwrap()].slots(1);
                let shape = slots.shape.unwrap();
                assert_eq!(shape.words().len() as u32, GroupShape::words_for(size));
                let pick = |k: &u64| {
                    slots.members[selector.pick((*k).into(), &shape).unwrap() as usize].unwrap() as u16
                };
                let wanted: Vec<u16> = keys.iter().map(pick).collect();
                assert_eq!(picked(&p, &ops, &keys), wanted, "{word} {scramble} {size}");
                // Neighbouring hashes are neighbouring members of a word only without the scrambler; members are dealt
                // to the words in turn.
                let step = GroupShape::words_for(size) as u16;
                let steps = keys[300..].windows(2).zip(wanted[300..].windows(2));
                let even = steps.filter(|(_, w)| w[1] == w[0] + step).count();
                assert_eq!(on, even < 40, "{word} {scramble} {size}: {even}");
            }
        }
    }
}

#[test]
fn entries_share_the_members_of_a_profile_without_selector() {
    let p = parsed(
        "program members;
        header h : ingress { bit<8> key; bit<8> out; }
        intrinsic : ingress { bit<9> ig_tm.ucast_egress_port; }
        profile hops : ingress { size = 4; }
        counter seen : ingress { kind = packets_and_bytes; direct = pick; }
        action to : ingress (bit<8> hop) { h.out = hop; ig_tm.ucast_egress_port = 9w8; count(seen); }
        action none : ingress () { ig_tm.ucast_egress_port = 9w8; }
        table pick : ingress { key = { h.key : exact; } actions = { to; } default_action = none(); size = 8; profile = hops; }
        parser ingress { start = first; state first { extract(h); transition accept; } }
        control ingress { apply pick; }
        deparser ingress { emit(h); }",
    );
    let (profile, table) = (p.profile_named("hops").unwrap(), p.table_named("pick").unwrap());
    let member = |member, hop| ControlOp::SetMember { profile, member, call: call(&p, "to", &[hop]) };
    let names = |key, m| ControlOp::InsertEntry {
        table,
        key: vec![KeyValue::Exact(key)],
        priority: 0,
        then: Then::Member(m),
    };
    let frames: Vec<Vec<u8>> = [1, 2, 3, 4, 1].map(|k| [&[k, 0xee][..], &[0; 60]].concat()).to_vec();
    let ops = [member(1, 7), member(2, 9), names(1, 1), names(2, 2), names(3, 1), member(1, 5)];
    let ran = both_chips(&p, &ops, &frames);
    assert_eq!(ran.byte(1), [5, 9, 5, 0xee, 5]);
    // One cell per entry, whatever member it shares.
    let cells = &ran.state.counters[p.direct_counter(table).unwrap()];
    let count = |packets| Count { packets, bytes: packets * 62 };
    assert_eq!(cells[..4], [count(2), count(1), count(1), count(0)]);
}

#[test]
fn a_table_without_key_has_its_default_action() {
    let p = parsed(
        "program keyless;
        header h : ingress { bit<8> out; }
        intrinsic : ingress { bit<9> ig_tm.ucast_egress_port; }
        action to : ingress (bit<8> v, bit<9> port) { h.out = v; ig_tm.ucast_egress_port = port; }
        table always : ingress { actions = { to; } default_action = to(3, 8); size = 0; }
        parser ingress { start = first; state first { extract(h); transition accept; } }
        control ingress { apply always; }
        deparser ingress { emit(h); }",
    );
    let table = p.table_named("always").unwrap();
    let frames = vec![[&[0xee][..], &[0; 60]].concat(); 3];
    assert_eq!(both_chips(&p, &[], &frames).byte(0), [3; 3]);
    let changed = ControlOp::SetDefault { table, call: call(&p, "to", &[0xab, 9]) };
    let ran = both_chips(&p, &[changed], &frames);
    assert_eq!(ran.byte(0), [0xab; 3]);
    assert_eq!(ran.packets[0].0.port, 9);
    let entry = entry(&p, "always", &[], 0, call(&p, "to", &[1, 8]));
    let mut control = configured(&p, &[]);
    assert_eq!(
        control.apply(&p, entry).unwrap_err().to_string(),
        "table `always` has no key, so it takes no entries; set its default action instead"
    );
}

#[test]
fn a_report_shows_ways_and_packing() {
    let p = parsed(
        "program layout;
        header h : ingress { bit<48> mac; bit<16> vid; bit<32> addr; bit<8> out; }
        intrinsic : ingress { bit<9> ig_tm.ucast_egress_port; }
        action to : ingress (bit<8> v) { h.out = v; ig_tm.ucast_egress_port = 9w8; }
        action none : ingress () { ig_tm.ucast_egress_port = 9w8; }
        table macs : ingress {
            key = { h.mac : exact; h.vid : exact; } actions = { to; } default_action = none(); size = 16384;
        }
        table acl : ingress { key = { h.addr : ternary; } actions = { none; } default_action = none(); size = 1024; }
        parser ingress { start = first; state first { extract(h); transition accept; } }
        control ingress { apply macs; apply acl; }
        deparser ingress { emit(h); }",
    );
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let placement = placed(&p, &chip);
        let report = Report::new(&p, &placement);
        let layout = |name: &str| report.tables.iter().find(|t| t.name == name).unwrap().layout.clone();
        assert_eq!(layout("acl"), ["1024 TCAM rows, 1 wide"]);
        let [macs] = &layout("macs")[..] else { panic!("{:?}", layout("macs")) };
        // Ways, words and entries per word multiply to at least what the table must hold.
        let numbers: Vec<u32> = macs.split([' ', ',', '+']).filter_map(|w| w.parse().ok()).collect();
        let [ways @ .., width, pack, version] = &numbers[..] else { panic!("{macs}") };
        assert!(ways.len() >= 4 && *version == 4 && *width >= 1, "{macs}");
        assert!(ways.iter().sum::<u32>() * pack * 1024 >= 16384, "{macs}");
        let ran = agree(&p, &placement, &configured(&p, &[]), &[vec![0xee; 64]]);
        assert_eq!(ran.byte(12), [0xee]);
        assert!(report::text(&report).contains(&format!("macs in stage 0: {macs}")));
        assert_eq!(report::json(&report)["tables"][0]["layout"][0], macs.as_str());
    }
}
