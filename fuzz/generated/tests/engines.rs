//! Compares generated code with the reference interpreter: random programs, and the shipped ones with random entries.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::port::PortMap;
use sluice_catalogue::{Catalogue, StageProgram};
use sluice_control::ControlState;
use sluice_exec::cover::{Coverage, Points};
use sluice_exec::engine::generated::Generated;
use sluice_exec::engine::{Engine, LowerError};
use sluice_exec::packet::{HeadLayout, PacketStore};
use sluice_exec::pass::{Executor, GhostUpdate, Pass, PassIn};
use sluice_fuzz::hunt::{Campaign, Subject, hunt, words};
use sluice_fuzz::{Case, Limits, compare_by};
use sluice_fuzz_generated::{CODE, chip_of, counts, program, written};
use sluice_ir::Program;
use sluice_place::{Placement, place};
use std::sync::Arc;

/// Number of cases, each with entries and packets, for each program.
const WORLDS: u64 = 6;

/// Builds the engine of a program.
type Make<'a> = &'a dyn Fn(&Program, &Placement, &ControlState) -> Result<Engine, LowerError>;

/// Returns the cases of a program.
fn worlds(program: &Program) -> impl Iterator<Item = Case> + '_ {
    let limits = Limits { frames: 200, ..Limits::default() };
    (0..WORLDS).map(move |world| {
        let draws: Vec<u32> = words(0x67e_0000 + world).take(limits.choices * 4).collect();
        Case::with(program.clone(), &draws, &limits)
    })
}

/// Compares the results on several cases; returns the number of packets sent.
fn agree(program: &Program, placement: &Placement, make: Make<'_>) -> usize {
    let mut out = 0;
    for case in worlds(program) {
        let ran = compare_by(&case, placement, |program, placement, control| {
            let engine = make(program, placement, control)?;
            assert!(engine.runs_generated(), "no code for {}", program.name);
            Ok(engine)
        });
        match ran {
            Ok(ran) => out += ran.out,
            Err(difference) => panic!("{} on {}: {difference}\n{case:?}", program.name, placement.chip.name),
        }
    }
    out
}

/// Compares the coverage that generated code counts with that of the engine's steps: packets one by one through both
/// gresses, and updates of the ghost thread. Returns the number of points and constant entries reached.
fn count_alike(program: &Program, placement: &Placement, code: &[Generated]) -> usize {
    let points = Points::of(program, &placement.chip);
    let covered = |control: &ControlState, code| {
        Engine::covered(program, placement, control, points.clone(), code).unwrap()
    };
    agree(program, placement, &|_, _, control| Ok(covered(control, code)));
    let mut reached = 0;
    for case in worlds(program) {
        let mut control = ControlState::new(program);
        case.ops.iter().for_each(|op| _ = control.apply(program, op.clone()));
        let [by_code, by_steps] = [code, &[]].map(|code| {
            let mut engine = covered(&control, code);
            assert_eq!(engine.runs_generated(), !code.is_empty());
            run(&mut engine, &case);
            let mut coverage = Coverage::new(&points);
            engine.take_coverage(&mut coverage);
            coverage
        });
        let name = |n: &u32| points.list().get(*n as usize).map(|p| p.name.as_str());
        let differs =
            |n: &u32| by_code.count(*n) != by_steps.count(*n) || by_code.has(*n) != by_steps.has(*n);
        let differing: Vec<_> = (0..points.list().len() as u32).filter(differs).map(|n| name(&n)).collect();
        assert_eq!(by_code, by_steps, "{} on {}: {differing:?}", program.name, placement.chip.name);
        reached += by_code.reached().count() + by_code.found().count();
    }
    reached
}

/// Sends the frames of a case through both gresses of an engine.
fn run(engine: &mut Engine, case: &Case) {
    let mut store = PacketStore::new(HeadLayout::default());
    for (n, (port, bytes)) in case.frames.iter().enumerate() {
        if n % 16 == 0 {
            engine.ghost(&GhostUpdate { qlength: n as u32 * 999, qid: n as u16, ..GhostUpdate::default() });
        }
        for gress in Gress::ALL {
            let now = 1000 * n as u64;
            let input =
                PassIn { port: *port, global_tstamp: now, deq_qdepth: now as u32, ..PassIn::default() };
            let mut passes = [Pass::new(store.insert(bytes, 0), input)];
            engine.run(gress, &mut passes, &mut store);
        }
    }
}

/// Checks that a hunt finds the same with generated code as with the engine's steps: nothing.
fn hunts_alike(stage: &Arc<dyn StageProgram>, program: &Program, placement: &Placement, code: &[Generated]) {
    let ports = PortMap::default_for(&placement.chip).unwrap();
    let campaign = Campaign { seed: 7, cases: Some(8), jobs: 1, ..Campaign::default() };
    let [by_code, by_steps] = [code, &[]].map(|code| {
        let setup = stage.default_setup(program, &ports).unwrap();
        let control = Subject::entries(program, setup.ops).unwrap();
        let (catalogue, own) = (Catalogue::new().with_code(code), || stage.properties(program));
        let subject =
            Subject::new(&catalogue, program.clone(), placement.clone(), ports.clone(), control, own);
        hunt(&subject, &campaign, |_| true).unwrap()
    });
    assert_eq!(by_code.failures, [], "{}", program.name);
    assert_eq!(by_code, by_steps, "{}", program.name);
}

#[test]
fn random_programs_agree() {
    let (mut fit, mut out, mut reached) = (0, 0, 0);
    for number in written() {
        let program = program(number);
        let Ok(placement) = place(&program, &chip_of(number)) else { continue };
        fit += 1;
        if counts(number) {
            reached += count_alike(&program, &placement, CODE);
        } else {
            let make: Make<'_> =
                &|program, placement, control| Engine::generated(program, placement, control, CODE);
            out += agree(&program, &placement, make);
        }
    }
    // The comparison means nothing if programs do not fit, or packets do not get through.
    let programs = written().count();
    assert!(2 * fit > programs, "{fit} of {programs} programs fit");
    assert!(out > 1000, "{out} packets left");
    assert!(reached > 1000, "{reached} points were reached");
}

#[test]
fn shipped_programs_agree_with_other_constants_too() {
    let catalogue = sluice_generated::catalogue();
    let has_code = |name: &str| catalogue.code().iter().any(|code| code.program == name);
    for stage in catalogue.programs().iter().filter(|stage| has_code(stage.name())) {
        for sets in [Vec::new(), stage.hunt()] {
            let program = stage.build(&sets).unwrap();
            let placement = place(&program, &ChipSpec::tofino2()).unwrap();
            agree(&program, &placement, &|program, placement, control| {
                catalogue.engine(program, placement, control)
            });
            count_alike(&program, &placement, catalogue.code());
            hunts_alike(stage, &program, &placement, catalogue.code());
        }
    }
}
