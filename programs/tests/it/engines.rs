//! `l3-ecmp` on both engines: they agree on every packet, and an illegal placement is noticed.

use crate::placed::place;
use proptest::prelude::*;
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::port::PortMap;
use sluice_control::ControlState;
use sluice_exec::engine::Engine;
use sluice_exec::packet::{HeadLayout, PacketStore};
use sluice_exec::pass::{Executor, Pass, PassIn, PassOut, Verdict};
use sluice_exec::reference::Reference;
use sluice_ir::Program;
use sluice_ir::cfg::NodeKind;
use sluice_pcaps::capture::CaptureReader;
use sluice_pcaps::samples;
use sluice_place::{Placement, verify};
use std::sync::OnceLock;

struct World {
    program: Program,
    placement: Placement,
    control: ControlState,
}

fn world(chip: &ChipSpec, sets: &[(&str, &str)]) -> World {
    let sets: Vec<(String, String)> = sets.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let catalogue = sluice_programs::catalogue();
    let stage = catalogue.get("l3-ecmp").unwrap();
    let program = stage.build(&sets).unwrap_or_else(|e| panic!("{e}"));
    let placement = place(&program, chip).unwrap_or_else(|e| panic!("{}\n{:?}", e.reason(), e));
    let mut control = ControlState::new(&program);
    let ports = PortMap::default_for(chip).unwrap();
    for op in stage.default_setup(&program, &ports).unwrap().ops {
        control.apply(&program, op).unwrap();
    }
    World { program, placement, control }
}

/// One executor with its own packets: ingress, then egress on the port that ingress chose.
fn run(
    executor: &mut dyn Executor,
    frames: &[Vec<u8>],
    batch: usize,
) -> Vec<(PassOut, Option<PassOut>, Vec<u8>)> {
    let mut store = PacketStore::new(HeadLayout::default());
    let mut results = Vec::new();
    for frames in frames.chunks(batch) {
        let mut passes: Vec<Pass> = frames
            .iter()
            .map(|f| Pass::new(store.insert(f, 0), PassIn { port: 8, ..PassIn::default() }))
            .collect();
        executor.run(Gress::Ingress, &mut passes, &mut store);
        let ingress: Vec<PassOut> = passes.iter().map(|p| p.output).collect();
        let mut onward: Vec<Pass> = passes
            .iter()
            .filter(|p| p.output.verdict == Verdict::Forward)
            .map(|p| {
                Pass::new(p.packet, PassIn { port: p.output.port, qid: p.output.qid, ..PassIn::default() })
            })
            .collect();
        executor.run(Gress::Egress, &mut onward, &mut store);
        let mut egress = onward.iter();
        for (pass, out) in passes.iter().zip(ingress) {
            let second = (out.verdict == Verdict::Forward).then(|| egress.next().unwrap().output);
            let bytes = [store.head(pass.packet), store.tail(pass.packet)].concat();
            results.push((out, second, bytes));
            store.remove(pass.packet);
        }
    }
    results
}

fn sample_frames() -> Vec<Vec<u8>> {
    let mut reader = CaptureReader::from_bytes(samples::L3_ECMP, "l3-ecmp.pcap").unwrap();
    let mut frames = Vec::new();
    while let Some(frame) = reader.next_frame().unwrap() {
        frames.push(frame.data.to_vec());
    }
    frames
}

fn agree(w: &World, frames: &[Vec<u8>]) {
    let mut reference = Reference::new(&w.program, &w.control, Default::default());
    let expected = run(&mut reference, frames, 1);
    for batch in [1, 7, 64] {
        let mut engine = Engine::new(&w.program, &w.placement, &w.control).unwrap();
        let found = run(&mut engine, frames, batch);
        for (i, (e, f)) in expected.iter().zip(&found).enumerate() {
            let strip = |o: &PassOut| PassOut { parser_cycles: 0, ..*o };
            assert_eq!(strip(&e.0), strip(&f.0), "ingress of frame {i}, batch {batch}: {:02x?}", frames[i]);
            assert_eq!(
                e.1.as_ref().map(strip),
                f.1.as_ref().map(strip),
                "egress of frame {i}, batch {batch}"
            );
            assert_eq!(e.2, f.2, "bytes of frame {i}, batch {batch}");
        }
        for (counter, data) in w.program.counters.iter() {
            let cells = reference.state().counters[counter].iter().zip(&engine.state().counters[counter]);
            for (i, (e, f)) in cells.enumerate() {
                assert_eq!(e, f, "counter {}[{i}], batch {batch}", data.name);
            }
        }
    }
}

#[test]
fn fits_both_chips_and_the_independent_verifier_agrees() {
    for chip in [ChipSpec::tofino2(), ChipSpec::tofino()] {
        let w = world(&chip, &[]);
        let findings = verify(&w.program, &w.placement);
        assert!(findings.is_empty(), "{}: {findings:#?}", chip.name);
    }
}

#[test]
fn engine_and_reference_agree_on_the_sample() {
    for chip in [ChipSpec::tofino2(), ChipSpec::tofino()] {
        agree(&world(&chip, &[]), &sample_frames());
    }
}

/// Returns the placement with one node of ingress moved to another stage.
fn moved(w: &World, table: &str, stage: u8) -> Placement {
    let mut placement = w.placement.clone();
    let gress = &mut placement.gresses[0];
    let wanted = w.program.table_named(table).unwrap();
    let node = gress.cfg.nodes.iter().find(|(_, d)| d.kind == NodeKind::Table(wanted)).unwrap().0;
    for part in &mut gress.nodes[node].parts {
        part.stage = stage;
    }
    placement
}

#[test]
fn a_corrupted_placement_is_caught_by_the_verifier_and_by_the_engine() {
    let w = world(&ChipSpec::tofino2(), &[]);
    let frames = sample_frames();
    let mut reference = Reference::new(&w.program, &w.control, Default::default());
    let expected: Vec<Vec<u8>> =
        run(&mut reference, &frames, 64).into_iter().map(|(.., bytes)| bytes).collect();
    // The group before the route that chooses it; the next hop before the group; the VLAN's table last.
    for (table, stage) in [("ecmp", 0), ("neighbor", 0), ("vlan", 19)] {
        let corrupted = moved(&w, table, stage);
        assert!(!verify(&w.program, &corrupted).is_empty(), "{table} in stage {stage}");
        let mut engine = Engine::new(&w.program, &corrupted, &w.control).unwrap();
        let found: Vec<Vec<u8>> =
            run(&mut engine, &frames, 64).into_iter().map(|(.., bytes)| bytes).collect();
        if table != "vlan" {
            assert_ne!(expected, found, "{table} in stage {stage}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Arbitrary bytes, and frames of the sample with bytes changed and cut off.
    #[test]
    fn engines_agree_on_arbitrary_bytes(
        junk in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 1..40),
        changes in prop::collection::vec((0..803_usize, 0..120_usize, any::<u8>(), 0..300_usize), 1..60),
    ) {
        let sample = sample_frames();
        let mut frames = junk;
        for (frame, at, value, cut) in changes {
            let mut bytes = sample[frame].clone();
            if let Some(byte) = bytes.get_mut(at) {
                *byte = value;
            }
            bytes.truncate(cut.max(1));
            frames.push(bytes);
        }
        agree(WORLD.get_or_init(|| world(&ChipSpec::tofino2(), &[])), &frames);
    }
}

static WORLD: OnceLock<World> = OnceLock::new();
