//! Value sets: the control plane writes the values that an arm compares.

use crate::parsers::{Front, frame, program};
use crate::registers::bench::placed;
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_build::*;
use sluice_control::{ControlOp, ControlState, Schema, entries, lines, template, toml};
use sluice_exec::engine::Engine;
use sluice_exec::packet::{HeadLayout, PacketStore};
use sluice_exec::pass::{Executor, Pass, PassIn};
use sluice_exec::reference::Reference;
use sluice_ir::{Program, ValueSet};

/// Four bytes after the front.
#[allow(dead_code, reason = "it only gives the layout")]
#[derive(Header)]
struct Tag {
    value: Bits<32>,
}

/// Packets whose first bytes are in one of two sets carry a tag, which is removed; `pairs` marks them as well.
#[stage_program]
fn tagged(ig: &GressBuilder<'_>) {
    let front = ig.header::<Front>();
    let tag = ig.header::<Tag>();
    let pair = ig.header::<Mark>();
    /// Kinds with tags
    let kinds = ig.value_set(2, [("f1", 8)]);
    /// Two bytes with which tagged and marked packets begin
    let pairs = ig.value_set(3, [("kind", 8), ("a", 8)]);
    let start = ig.state().extract(front).select(list![front.kind, front.a]);
    let only_kind = ig.state().select(front.kind);
    let with_tag = ig.state().extract(tag);
    let with_both = ig.state().extract(pair).extract(tag);
    start.on_tuple([(0xee, 0xff), (0, 0)], with_both);
    start.on_member(pairs, with_both);
    start.otherwise(only_kind);
    only_kind.on_member(kinds, with_tag);
    only_kind.otherwise(Accept);
    ig.start(start);
    ig.control(|c| {
        if pair.is_valid() {
            front.b = 0x7777;
            pair.set_invalid();
        }
        if tag.is_valid() {
            tag.set_invalid();
        }
    });
    ig.deparser().emit(front).emit(pair).emit(tag);
}

/// A byte between front and tag.
#[allow(dead_code, reason = "it only gives the layout")]
#[derive(Header)]
struct Mark {
    value: Bits<8>,
}

fn sets(program: &Program) -> [ValueSet; 2] {
    let named = |name| program.value_sets.iter().find(|(_, d)| d.name == name).map(|(s, _)| s).unwrap();
    [named("kinds"), named("pairs")]
}

fn run(executor: &mut dyn Executor, frames: &[Vec<u8>], batch: usize) -> Vec<Vec<u8>> {
    let mut store = PacketStore::new(HeadLayout::default());
    let mut out = Vec::new();
    for frames in frames.chunks(batch) {
        let pass = |f: &Vec<u8>| Pass::new(store.insert(f, 0), PassIn { port: 8, ..PassIn::default() });
        let mut passes: Vec<Pass> = frames.iter().map(pass).collect();
        executor.run(Gress::Ingress, &mut passes, &mut store);
        for pass in passes {
            out.push([store.head(pass.packet), store.tail(pass.packet)].concat());
            store.remove(pass.packet);
        }
    }
    out
}

/// A frame with these first bytes: its front, and more that can be a mark and a tag.
fn first(kind: u8, a: u8) -> Vec<u8> {
    frame(&[kind, a, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8])
}

/// Lengths that are left, by the bytes that packets lose.
fn lost(frames: &[Vec<u8>], found: &[Vec<u8>]) -> Vec<usize> {
    frames.iter().zip(found).map(|(frame, found)| frame.len() - found.len()).collect()
}

#[test]
fn members_choose_the_state_and_change_at_run_time() {
    let program = program(tagged);
    let [kinds, pairs] = sets(&program);
    let frames = [first(1, 9), first(2, 9), first(2, 0x1f), first(0xee, 0), first(0x42, 3), first(0x4f, 7)];
    let insert = |set, value| ControlOp::InsertValue { set, value };
    let delete = |set, value| ControlOp::DeleteValue { set, value };
    // Each step: an operation, and the bytes that every frame loses after it.
    let steps = [
        (insert(kinds, vec![(1, 0xff)]), [4, 0, 0, 5, 0, 0]),
        (insert(pairs, vec![(2, 0xff), (0x10, 0xf0)]), [4, 0, 5, 5, 0, 0]),
        (insert(kinds, vec![(0x40, 0xf0)]), [4, 0, 5, 5, 4, 4]),
        (insert(pairs, vec![(0, 0), (3, 0xff)]), [4, 0, 5, 5, 5, 4]),
        (delete(kinds, vec![(1, 0xff)]), [0, 0, 5, 5, 5, 4]),
        (insert(pairs, vec![(0, 0), (0, 0)]), [5; 6]),
        (delete(pairs, vec![(0, 0), (0, 0)]), [0, 0, 5, 5, 5, 4]),
    ];
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let placement = placed(&program, &chip);
        let mut control = ControlState::new(&program);
        let mut reference = Reference::new(&program, &control, Default::default());
        let mut engines =
            [1, 3, 64].map(|batch| (batch, Engine::new(&program, &placement, &control).unwrap()));
        assert_eq!(lost(&frames, &run(&mut reference, &frames, 1)), [0, 0, 0, 5, 0, 0]);
        for (op, expected) in steps.clone() {
            let set = match &op {
                ControlOp::InsertValue { set, .. } | ControlOp::DeleteValue { set, .. } => *set,
                _ => continue,
            };
            control.apply(&program, op).unwrap();
            reference.value_set_changed(set, &control);
            let all = run(&mut reference, &frames, 1);
            assert_eq!(lost(&frames, &all), expected);
            for (batch, engine) in &mut engines {
                engine.value_set_changed(set, &control);
                assert_eq!(run(engine, &frames, *batch), all);
            }
            let mut again = Engine::new(&program, &placement, &control).unwrap();
            assert_eq!(run(&mut again, &frames, 64), all);
        }
    }
}

#[test]
fn a_set_takes_as_many_rows_as_members() {
    let small = program(tagged);
    let mut large = small.clone();
    let [kinds, _] = sets(&large);
    large.value_sets[kinds].size = 100;
    let rows = |program: &Program| placed(program, &ChipSpec::tofino()).gress(Gress::Ingress).parser.rows;
    assert_eq!(rows(&large), rows(&small) + 98);
    large.value_sets[kinds].size = 300;
    let refused = sluice_place::place(&large, &ChipSpec::tofino()).unwrap_err();
    assert!(format!("{refused:?}").contains("TCAM rows"), "{refused:?}");
}

#[test]
fn both_file_formats_write_members_and_the_toml_form_comes_back() {
    let program = program(tagged);
    let script = "value_set_add kinds 1\nvalue_set_add pairs 2 0x10&&&0xf0\nvalue_set_add pairs * 3\n\
                  value_set_add kinds 7\nvalue_set_delete kinds 1\nin_pipe 1 value_set_add kinds 9\n";
    let mut control = ControlState::new(&program);
    lines::parse(&program, script, "l").unwrap().apply(&program, &mut control).unwrap();
    let [kinds, pairs] = sets(&program);
    assert_eq!(control.value_sets[kinds], [vec![(7, 0xff)]]);
    assert_eq!(control.value_sets[pairs], [vec![(2, 0xff), (0x10, 0xf0)], vec![(0, 0), (3, 0xff)]]);
    assert_eq!(control.of_pipe(1).value_sets[kinds], [vec![(7, 0xff)], vec![(9, 0xff)]]);
    assert!(control.looks_up_alone(1) && !control.looks_up_alone(0));
    let text = entries::print(&program, &control);
    let mut again = ControlState::new(&program);
    toml::parse(&program, &text, "t").unwrap().apply(&program, &mut again).unwrap();
    assert_eq!(again, control, "{text}");
    let example = template::print(&Schema::of(&program));
    let lines = [
        "## Value set pairs of the ingress parser: 3 members - Two bytes with which tagged and marked packets begin",
        "##   field kind: ternary, 8 bits",
    ];
    lines.iter().for_each(|line| assert!(example.contains(line), "{example}"));
    let uncommented: String =
        example.lines().filter_map(|l| l.strip_prefix("# ")).map(|l| format!("{l}\n")).collect();
    let mut again = ControlState::new(&program);
    toml::parse(&program, &uncommented, "t").unwrap().apply(&program, &mut again).unwrap();
    assert_eq!((again.value_sets[kinds].len(), again.value_sets[pairs].len()), (1, 1));
}

#[test]
fn members_that_do_not_fit_are_refused() {
    let program = program(tagged);
    let [kinds, pairs] = sets(&program);
    let mut control = ControlState::new(&program);
    let mut apply = |op| control.apply(&program, op).map_err(|e| e.to_string());
    let insert = |set, value| ControlOp::InsertValue { set, value };
    let pairs_of_one = apply(insert(pairs, vec![(1, 1)])).unwrap_err();
    assert_eq!(pairs_of_one, "members of value set `pairs` have 2 fields (kind, a), not 1");
    let wide = apply(insert(kinds, vec![(0x100, 0x1ff)])).unwrap_err();
    assert_eq!(wide, "field `f1` of value set `kinds` is 8 bits wide; 0x100 does not fit");
    let beyond = apply(insert(kinds, vec![(0x12, 0xf0)])).unwrap_err();
    assert!(beyond.ends_with("0x12 under mask 0xf0; write 0x10"), "{beyond}");
    apply(insert(kinds, vec![(1, 0xff)])).unwrap();
    let twice = apply(insert(kinds, vec![(1, 0xff)])).unwrap_err();
    assert_eq!(twice, "value set `kinds` already has the member f1 = 1; a member is in a set once");
    apply(insert(kinds, vec![(2, 0xff)])).unwrap();
    let full = apply(insert(kinds, vec![(3, 0xff)])).unwrap_err();
    assert_eq!(full, "value set `kinds` is full: it holds 2 members");
    let absent = apply(ControlOp::DeleteValue { set: kinds, value: vec![(3, 0xff)] }).unwrap_err();
    assert!(absent.starts_with("value set `kinds` has no member f1 = 3"), "{absent}");
    let errors = lines::parse(&program, "value_set_add kind 1\nvalue_set_add pairs 1\n", "f").unwrap_err();
    assert!(errors[0].to_string().contains("did you mean `kinds`?"), "{}", errors[0]);
    assert!(errors[1].to_string().contains("have 2 fields (kind, a), not 1"), "{}", errors[1]);
    let toml = "[[value_set.pairs]]\nkey = { kin = 1 }\n";
    let errors = toml::parse(&program, toml, "f").unwrap_err();
    assert!(errors[0].to_string().contains("did you mean `kind`?"), "{}", errors[0]);
}
