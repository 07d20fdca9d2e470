//! The programs that are judged: shipped programs, samples of the repository, and random programs.
//!
//! `SLUICE_REFERENCE_INPUTS` is the number of inputs per shipped program, of about 200 packets each; `SLUICE_REFERENCE_RANDOM` is the
//! number of random programs, and `SLUICE_REFERENCE_FIRST` the first one's number.

use super::{Counts, Failed, Subject};
use crate::tree::Tree;
use sluice_asic::chip::ChipSpec;
use sluice_asic::intrinsic::Architecture;
use sluice_asic::port::PortMap;
use sluice_catalogue::StageProgram;
use sluice_control::{ControlOp, ControlState};
use sluice_fuzz::hunt::{Corpus, Maker, Subject as Hunted, words};
use sluice_fuzz::{Case, Limits};
use sluice_ir::Program;
use sluice_p4::lower::findings;
use sluice_p4::write::write;
use sluice_place::{Placement, place};
use std::collections::BTreeMap;

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn chip(architecture: Architecture) -> ChipSpec {
    match architecture {
        Architecture::Tna => ChipSpec::tofino(),
        Architecture::T2na => ChipSpec::tofino2(),
    }
}

/// Returns a lowered program with the names that the entries of the shipped program have.
fn renamed(lowered: &Program, of: &Program) -> Program {
    let mut twin = lowered.clone();
    let short = |name: &mut String| {
        let rest = name.split_once('.').filter(|(gress, _)| ["Ingress", "Egress", "Ghost"].contains(gress));
        if let Some((_, rest)) = rest {
            *name = rest.to_owned();
        }
    };
    twin.tables.values_mut().for_each(|data| short(&mut data.name));
    twin.actions.values_mut().for_each(|data| short(&mut data.name));
    twin.profiles.values_mut().for_each(|data| short(&mut data.name));
    twin.counters.values_mut().for_each(|data| short(&mut data.name));
    twin.registers.values_mut().for_each(|data| short(&mut data.name));
    twin.meters.values_mut().for_each(|data| short(&mut data.name));
    twin.hashes.values_mut().for_each(|data| short(&mut data.name));
    (twin.name, twin.params) = (of.name.clone(), of.params.clone());
    twin
}

/// A shipped program as P4, lowered and placed, with its default entries.
pub(super) struct Shipped {
    pub(super) tree: Tree,
    pub(super) lowered: Program,
    pub(super) placement: Placement,
    pub(super) control: ControlState,
    pub(super) ports: PortMap,
    twin: Program,
}

impl Shipped {
    /// Writes a program as P4 and reads it back.
    pub(super) fn of(stage: &dyn StageProgram) -> Shipped {
        let name = stage.name();
        let program = stage.build(&stage.hunt()).unwrap();
        let mut tree = Tree::of(&write(&program).unwrap(), Architecture::T2na).unwrap();
        let lowered = tree.parsed.lower(Architecture::T2na).unwrap().program;
        let twin = renamed(&lowered, &program);
        let chip = ChipSpec::tofino2();
        let ports = PortMap::default_for(&chip).unwrap();
        let placement = place(&lowered, &chip).unwrap_or_else(|error| panic!("{name}: {error}"));
        let setup = stage.default_setup(&twin, &ports).unwrap();
        let control = Hunted::entries(&twin, setup.ops).unwrap();
        Shipped { tree, lowered, placement, control, ports, twin }
    }

    /// Returns the packets of an input of the hunt, by port and bytes.
    pub(super) fn packets(&self, number: u64) -> Vec<(u16, Vec<u8>)> {
        let catalogue = sluice_programs::catalogue();
        let (twin, placement) = (self.twin.clone(), self.placement.clone());
        let (ports, control) = (self.ports.clone(), self.control.clone());
        let hunted = Hunted::new(&catalogue, twin, placement, ports, control, Vec::new);
        let input = Maker::new(&hunted).input(11, number, &Corpus::default());
        input.shots.iter().map(|shot| (shot.port, shot.bytes.clone())).collect()
    }
}

fn shipped(stage: &dyn StageProgram, inputs: u64) -> Result<Counts, Failed> {
    let shipped = Shipped::of(stage);
    let Shipped { tree, lowered: program, placement, control, .. } = &shipped;
    let subject = Subject { tree, program, placement, control };
    let mut counts = Counts::default();
    for number in 0..inputs {
        counts += subject.judge(&shipped.packets(number))?;
    }
    Ok(counts)
}

#[test]
fn shipped_programs_do_what_their_p4_says() {
    let inputs = number("SLUICE_REFERENCE_INPUTS", 3);
    let only = std::env::var("SLUICE_REFERENCE_PROGRAM").ok();
    let mut failed = Vec::new();
    for stage in sluice_programs::catalogue().programs() {
        let name = stage.name();
        if only.as_ref().is_some_and(|only| only != name) {
            continue;
        }
        match shipped(stage.as_ref(), inputs) {
            Ok(counts) if counts.sent == 0 => failed.push(format!("{name}: nothing is sent")),
            Ok(counts) => println!("{name}: {counts:?}"),
            Err(Failed::Missing(text) | Failed::Differs(text)) => {
                println!("{name}: {text}");
                failed.push(format!("{name}: {text}"));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

/// Returns the result for a P4 text on a chip, with entries and packets drawn from words; `Ok(None)` if the front end or the
/// placer refuses it.
fn drawn(text: &str, architecture: Architecture, drawn: &[u32]) -> Result<Option<Counts>, Failed> {
    let Ok(mut tree) = Tree::of(text, architecture) else { return Ok(None) };
    let Ok(lowered) = tree.parsed.lower(architecture) else { return Ok(None) };
    let program = lowered.program;
    if findings(&program).iter().any(|one| one.severity == sluice_ir::verify::Severity::Error) {
        return Ok(None);
    }
    let Ok(placement) = place(&program, &chip(architecture)) else { return Ok(None) };
    let case = Case::with(program.clone(), drawn, &Limits::default());
    let mut control = ControlState::new(&program);
    for op in case.ops {
        // The parser counter and port metadata of a random program have no names in its text.
        if !matches!(op, ControlOp::SetPortMetadata { .. }) {
            control.apply(&program, op).unwrap();
        }
    }
    let subject = Subject { tree: &tree, program: &program, placement: &placement, control: &control };
    subject.judge(&case.frames).map(Some)
}

#[test]
fn samples_do_what_their_text_says() {
    let samples = [
        ("a-whole-pipe", include_str!("../../../../../fuzz/corpus/p4/a-whole-pipe.p4")),
        ("t2na", include_str!("../../../../../fuzz/corpus/p4/t2na.p4")),
        ("shell", include_str!("../../../../p4/tests/it/parde/shell.p4")),
        ("p4info", include_str!("../../../../p4/tests/it/p4info/p4info.p4")),
        ("two_checksums", include_str!("../../../../../cli/tests/it/hostile/two_checksums.p4")),
        ("forward", include_str!("../forward.p4")),
    ];
    let mut failed = Vec::new();
    for (name, text) in samples {
        for architecture in Architecture::ALL {
            for seed in 0..3 {
                let draws: Vec<u32> = words(seed).take(400).collect();
                match drawn(text, architecture, &draws) {
                    Ok(counts) => println!("{name} {architecture:?}: {counts:?}"),
                    Err(Failed::Missing(text)) => println!("{name} {architecture:?}: missing: {text}"),
                    Err(Failed::Differs(text)) => failed.push(format!("{name} {architecture:?}: {text}")),
                }
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

#[test]
fn random_programs_do_what_their_p4_says() {
    let first = number("SLUICE_REFERENCE_FIRST", 0);
    let limits = Limits::default();
    let (mut all, mut programs, mut reasons) = (Counts::default(), 0, BTreeMap::<String, usize>::new());
    let mut failed = Vec::new();
    for seed in first..first + number("SLUICE_REFERENCE_RANDOM", 40) {
        let program = sluice_random::numbered(seed, &limits);
        let mut count = |reason: &str| *reasons.entry(reason.to_owned()).or_default() += 1;
        let Ok(text) = write(&program) else {
            count("not written as P4");
            continue;
        };
        let draws: Vec<u32> = words(!seed).take(400).collect();
        match drawn(&text, Architecture::T2na, &draws) {
            Ok(Some(counts)) => {
                programs += 1;
                all += counts;
            }
            Ok(None) => count("refused or not placed"),
            Err(Failed::Missing(text)) => count(text.lines().next().unwrap_or_default()),
            Err(Failed::Differs(text)) => {
                println!("random program {seed}: {text}");
                failed.push(format!("random program {seed}: {text}"));
            }
        }
    }
    println!("{programs} programs: {all:?}; {reasons:?}");
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
    assert!(all.sent > 0, "nothing is sent");
}
