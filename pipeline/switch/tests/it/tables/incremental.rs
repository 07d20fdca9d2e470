//! Entries changed one by one: a table that is updated equals a table that is built anew.

use crate::tables::bench::{call, parsed, placed, run};
use proptest::prelude::*;
use sluice_asic::chip::ChipSpec;
use sluice_control::{Change, ControlOp, ControlState, Entry, GroupMember, Then};
use sluice_exec::engine::Engine;
use sluice_exec::pass::Executor;
use sluice_exec::reference::Reference;
use sluice_ir::{KeyValue, Program};
use sluice_place::Placement;
use std::sync::OnceLock;

/// Returns a program with one table of each kind, one after the other, each with a separate byte to write.
fn program() -> Program {
    parsed(
        "program churn;
        header h : ingress {
            bit<8> small; bit<32> wide; bit<16> more; bit<32> addr; bit<8> vrf; bit<16> port;
            bit<8> o0; bit<8> o1; bit<8> o2; bit<8> o3; bit<8> o4; bit<16> o5;
        }
        intrinsic : ingress { bit<9> ig_tm.ucast_egress_port; }
        hash pick : ingress { algorithm = identity; inputs = { h.port }; width = 14; }
        counter seen : ingress { kind = packets; direct = pairs; }
        profile hops : ingress { size = 8; selector = fair(pick); groups = 4; max_group_size = 8; }
        action s0 : ingress (bit<8> v) { h.o0 = v; }
        action s1 : ingress (bit<8> v) { h.o1 = v; count(seen); }
        action s2 : ingress (bit<8> v) { h.o2 = v; }
        action s3 : ingress (bit<8> v) { h.o3 = v; }
        action s4 : ingress (bit<8> v) { h.o4 = v; }
        action s5 : ingress (bit<8> v, bit<8> w) { h.o4 = v; h.o3 = w; }
        action s6 : ingress (bit<16> v) { h.o5 = v; }
        action none : ingress () { ig_tm.ucast_egress_port = 9w2; }
        table index : ingress { key = { h.small : exact; } actions = { s0; } default_action = none(); size = 256; }
        table pairs : ingress {
            key = { h.wide : exact; h.more : exact; } actions = { s1; } default_action = none(); size = 1024;
        }
        table routes : ingress { key = { h.addr : lpm; } actions = { s2; } default_action = none(); size = 1024; }
        table vroutes : ingress {
            key = { h.vrf : exact; h.addr : lpm; } actions = { s6; } default_action = none(); size = 1024;
        }
        table rules : ingress {
            key = { h.addr : ternary; h.port : range; } actions = { s4; s5; } default_action = none(); size = 1024;
        }
        table grouped : ingress {
            key = { h.small : exact; } actions = { s3; } default_action = none(); size = 64; profile = hops;
        }
        parser ingress { start = first; state first { extract(h); transition accept; } }
        control ingress {
            apply index; apply pairs; apply routes; apply vroutes; apply grouped; apply rules;
        }
        deparser ingress { emit(h); }",
    )
}

fn world() -> &'static (Program, Placement) {
    static WORLD: OnceLock<(Program, Placement)> = OnceLock::new();
    WORLD.get_or_init(|| {
        let program = program();
        let placement = placed(&program, &ChipSpec::tofino2());
        (program, placement)
    })
}

/// Few values, so that entries overlap, repeat and cover each other.
fn value(draw: u64, bits: u32) -> u128 {
    let picks = [0_u64, 1, 0x0a00_0001, 0x0a00_0100, 0x0a01_ffff, 0xffff_ffff, 0x0a00_00ff, 0xc0a8_0101];
    let spread = if draw & 8 == 0 { draw >> 4 & 3 } else { draw >> 8 & 0x3fff };
    u128::from(picks[(draw & 7) as usize].wrapping_add(spread)) & ((1 << bits) - 1)
}

fn prefix(draw: u64) -> KeyValue {
    let len = [0, 1, 7, 8, 15, 16, 17, 20, 24, 25, 31, 32][(draw >> 40) as usize % 12];
    let mask = if len == 0 { 0 } else { 0xffff_ffff_u128 << (32 - len) & 0xffff_ffff };
    KeyValue::Lpm { value: value(draw, 32) & mask, len }
}

/// An operation that may be refused.
fn op(p: &Program, control: &ControlState, draw: [u64; 3]) -> ControlOp {
    let [a, b, c] = draw;
    let names = ["index", "pairs", "routes", "vroutes", "rules", "grouped"];
    let which = (a >> 8) as usize % names.len();
    let table = p.table_named(names[which]).unwrap();
    let profile = p.profile_named("hops").unwrap();
    let slots = control.tables[table].slots.len().max(1) as u64;
    let arg = u128::from(c >> 20 & 0xff);
    let then = match which {
        0 => Then::Call(call(p, "s0", &[arg])),
        1 => Then::Call(call(p, "s1", &[arg])),
        2 => Then::Call(call(p, "s2", &[arg])),
        3 => Then::Call(call(p, "s6", &[arg])),
        4 if c & 1 == 0 => Then::Call(call(p, "s4", &[arg])),
        4 => Then::Call(call(p, "s5", &[arg, (arg + 1) & 0xff])),
        _ if c & 1 == 0 => Then::Member((c >> 4) as u32 % 8),
        _ => Then::Group((c >> 4) as u32 % 4),
    };
    match a % 16 {
        0..=2 => ControlOp::DeleteEntry { table, entry: (b % slots) as u32 },
        3 => ControlOp::ModifyEntry { table, entry: (b % slots) as u32, then },
        4 => ControlOp::SetMember { profile, member: b as u32 % 8, call: call(p, "s3", &[arg]) },
        5 => {
            let list = |i: u32| GroupMember {
                member: i,
                weight: 1 + (c >> i & 1) as u32,
                active: c >> (i + 8) & 3 != 0,
            };
            let members = (0..8).filter(|i| b >> (8 + i) & 1 == 1).map(list).collect();
            ControlOp::SetGroup { profile, group: b as u32 % 4, members }
        }
        6 => ControlOp::SetMemberActive {
            profile,
            group: b as u32 % 4,
            member: c as u32 % 8,
            active: c >> 8 & 1 == 1,
        },
        7 if which != 5 || c & 6 == 0 => ControlOp::SetDefault {
            table,
            call: call(p, if c & 8 == 0 { "none" } else { "s3" }, if c & 8 == 0 { &[] } else { &[7] }),
        },
        8 => ControlOp::DeleteMember { profile, member: b as u32 % 8 },
        9 => ControlOp::DeleteGroup { profile, group: b as u32 % 4 },
        _ => {
            let (lo, hi) = (value(c, 16), value(c >> 3, 16));
            let key = match which {
                0 | 5 => vec![KeyValue::Exact(value(b, 8))],
                1 => vec![KeyValue::Exact(value(b, 32)), KeyValue::Exact(value(b >> 16, 16))],
                2 => vec![prefix(b)],
                3 => vec![KeyValue::Exact(u128::from(b >> 50 & 3)), prefix(b)],
                _ => {
                    let mask = [0, 0xffff_ffff, 0xff00_0000, 0xffff, 0xf0f0_f0f0][(b >> 40) as usize % 5];
                    let addr = KeyValue::Ternary { value: value(b, 32) & mask, mask };
                    vec![addr, KeyValue::Range { lo: lo.min(hi), hi: lo.max(hi) }]
                }
            };
            let priority = if which == 4 { (b >> 48) as u32 % 5 } else { 0 };
            ControlOp::InsertEntry { table, key, priority, then }
        }
    }
}

fn frames(draws: &[[u64; 3]]) -> Vec<Vec<u8>> {
    let frame = |d: &[u64; 3]| {
        let mut bytes = vec![value(d[1], 8) as u8];
        bytes.extend((value(d[1], 32) as u32).to_be_bytes());
        bytes.extend((value(d[1] >> 16, 16) as u16).to_be_bytes());
        bytes.extend((value(d[1], 32) as u32).to_be_bytes());
        bytes.push((d[1] >> 50 & 3) as u8);
        bytes.extend((value(d[2], 16) as u16).to_be_bytes());
        bytes.extend([0xee; 60]);
        bytes
    };
    draws.iter().map(frame).collect()
}

/// Notifies an executor, as the device does, of a change and of the entry that it changed.
fn tell(executor: &mut dyn Executor, change: Change, was: Option<&Entry>, control: &ControlState) {
    match change {
        Change::Inserted(t, e) | Change::Modified(t, e) | Change::Deleted(t, e) => {
            executor.entry_changed(t, e, was, control);
        }
        Change::Default(t) => executor.default_changed(t, control),
        Change::Member(p, m) => executor.member_changed(p, m, control),
        Change::Group(p, g) => executor.group_changed(p, g, control),
        _ => {}
    }
}

fn follow(draws: &[[u64; 3]], frames: &[Vec<u8>], looks: usize) {
    let (p, placement) = world();
    let mut control = ControlState::new(p);
    let mut engine = Engine::new(p, placement, &control).unwrap();
    let mut reference = Reference::new(p, &control, Default::default());
    for (i, draw) in draws.iter().enumerate() {
        let op = op(p, &control, *draw);
        let was = match &op {
            ControlOp::DeleteEntry { table, entry } | ControlOp::ModifyEntry { table, entry, .. } => {
                control.tables[*table].slots.get(*entry as usize).cloned().flatten()
            }
            _ => None,
        };
        let Ok(change) = control.apply(p, op) else { continue };
        tell(&mut engine, change, was.as_ref(), &control);
        tell(&mut reference, change, was.as_ref(), &control);
        if i % looks == 0 || i + 1 == draws.len() {
            let mut anew = Engine::new(p, placement, &control).unwrap();
            let rebuilt = run(&mut anew, frames, 64);
            assert_eq!(run(&mut engine, frames, 64).packets, rebuilt.packets, "after operation {i}");
            assert_eq!(run(&mut reference, frames, 64).packets, rebuilt.packets, "after operation {i}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn followed_changes_leave_what_a_new_table_has(
        draws in prop::collection::vec(any::<[u64; 3]>(), 1..300),
        probes in prop::collection::vec(any::<[u64; 3]>(), 64),
    ) {
        // Half of the probes are of keys that operations name.
        let mut probes = probes;
        probes.extend(draws.iter().take(64));
        follow(&draws, &frames(&probes), 60);
    }
}

/// Enough entries for hash tables to grow, groups of rules to split and join, and roots to come and go.
#[test]
fn tables_fill_and_drain() {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state ^ state >> 29
    };
    let mut draws: Vec<[u64; 3]> = (0..1500).map(|_| [next() & !15 | 10, next(), next()]).collect();
    let probes = frames(&draws[..200]);
    draws.extend((0..2500).map(|_| [next() & !15, next(), next()]));
    draws.extend((0..300).map(|_| [next() & !15 | 10, next(), next()]));
    follow(&draws, &probes, 1100);
}
