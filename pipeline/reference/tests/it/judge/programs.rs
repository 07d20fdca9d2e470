//! The programs that are judged: shipped programs, samples of the repository, and random programs.
//!
//! `SLUICE_REFERENCE_PROGRAMS` names a folder of P4 files in addition, each with all that it includes, and `SLUICE_REFERENCE_DRAWS` the
//! number of draws of entries and packets for each. `SLUICE_REFERENCE_INPUTS` is the number of inputs per shipped program, of about 200 packets each; `SLUICE_REFERENCE_RANDOM` is the
//! number of random programs, and `SLUICE_REFERENCE_FIRST` the first one's number.

use super::plain::plain;
use super::{Counts, Failed, Subject};
use crate::tree::{Tree, after, lowered};
use sluice_asic::chip::ChipSpec;
use sluice_asic::intrinsic::Architecture;
use sluice_asic::port::PortMap;
use sluice_catalogue::StageProgram;
use sluice_control::{ControlOp, ControlState};
use sluice_fuzz::hunt::{Corpus, Maker, Subject as Hunted, words};
use sluice_fuzz::{Case, Limits};
use sluice_ir::Program;
use sluice_p4::core::{PASSES, Pass};
use sluice_p4::lower::findings;
use sluice_p4::write::write;
use sluice_place::{Placement, place};
use std::collections::BTreeMap;

/// Bytes of the shortest frame of Ethernet, without the FCS.
const SHORTEST: usize = 60;

/// Packets, by port and bytes.
type Frames = [(u16, Vec<u8>)];

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
        let text = write(&program).unwrap();
        let tree = Tree::of(&text, Architecture::T2na).unwrap();
        let lowered = lowered(&text, Architecture::T2na).unwrap();
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

/// A P4 text that is lowered and placed.
struct Text<'t> {
    text: &'t str,
    architecture: Architecture,
    tree: Tree,
    program: Program,
    placement: Placement,
}

impl Text<'_> {
    /// Lowers and places a text; `None` if the front end or the placer refuses it.
    fn of(text: &str, architecture: Architecture) -> Option<Text<'_>> {
        let tree = Tree::of(text, architecture).ok()?;
        let program = lowered(text, architecture)?;
        let refused = findings(&program).iter().any(|one| one.severity == sluice_ir::verify::Severity::Error);
        let placement = place(&program, &chip(architecture)).ok().filter(|_| !refused)?;
        Some(Text { text, architecture, tree, program, placement })
    }

    /// Judges the text with entries and packets drawn from words, and if asked after each pass of the core.
    fn judge(&self, words: &[u32], each_pass: bool) -> Result<Counts, Failed> {
        let Text { program, placement, tree, .. } = self;
        let mut case = Case::with(program.clone(), words, &Limits::default());
        if self.text.contains("lookahead") {
            // The front end leaves out what nothing needs, and with it the error of a packet that ends before it.
            case.frames.iter_mut().for_each(|(_, bytes)| bytes.resize(bytes.len().max(SHORTEST), 0));
        }
        let mut control = ControlState::new(program);
        for op in case.ops {
            // The parser counter and port metadata of a random program have no names in its text.
            if !matches!(op, ControlOp::SetPortMetadata { .. }) {
                control.apply(program, op).unwrap();
            }
        }
        let subject = Subject { tree, program, placement, control: &control };
        let judged = subject.judge(&case.frames).and_then(|counts| {
            if each_pass {
                passes(self, &subject, &case.frames)?;
            }
            Ok(counts)
        });
        judged.map_err(|failed| match failed {
            Failed::Differs(found) => {
                Failed::Differs(format!("{found}\n{}", blamed(self, &subject, &case.frames)))
            }
            missing => missing,
        })
    }

    /// Returns the tree after a pass of the core.
    fn after(&self, pass: &Pass) -> Result<Tree, String> {
        Tree::of(&after(pass.name, self.text, self.architecture), self.architecture)
    }
}

/// Judges the tree after each pass of the core, which does what the lowered program does.
fn passes(text: &Text<'_>, subject: &Subject<'_>, frames: &Frames) -> Result<(), Failed> {
    PASSES.iter().try_for_each(|pass| {
        let tree = text.after(pass).map_err(Failed::Differs)?;
        Subject { tree: &tree, ..*subject }.judge(frames).map(drop).map_err(|failed| match failed {
            Failed::Differs(found) => Failed::Differs(format!("after pass `{}`: {found}", pass.name)),
            missing => missing,
        })
    })
}

/// Names the pass after which the tree does what the lowered program does.
fn blamed(text: &Text<'_>, subject: &Subject<'_>, frames: &Frames) -> String {
    let agrees = |pass: &&Pass| {
        text.after(pass).is_ok_and(|tree| Subject { tree: &tree, ..*subject }.judge(frames).is_ok())
    };
    match PASSES.iter().find(agrees) {
        Some(pass) => {
            format!("pass `{}` changes what the program does, or this interpreter is wrong", pass.name)
        }
        None => "no pass of the core changes it: the lowering does, the placer, or this interpreter is wrong"
            .to_owned(),
    }
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
        ("passes", include_str!("passes.p4")),
    ];
    let (mut failed, mut judged) = (Vec::new(), 0);
    for (name, text) in samples {
        for architecture in Architecture::ALL {
            let Some(text) = Text::of(text, architecture) else { continue };
            judged += 1;
            for seed in 0..3 {
                let draws: Vec<u32> = words(seed).take(400).collect();
                match text.judge(&draws, true) {
                    Ok(counts) => println!("{name} {architecture:?}: {counts:?}"),
                    Err(Failed::Missing(text)) => println!("{name} {architecture:?}: missing: {text}"),
                    Err(Failed::Differs(text)) => failed.push(format!("{name} {architecture:?}: {text}")),
                }
            }
        }
    }
    assert!(judged >= samples.len(), "samples are refused");
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

#[test]
fn programs_of_a_folder_do_what_their_text_says() {
    let Some(folder) = std::env::var_os("SLUICE_REFERENCE_PROGRAMS") else {
        println!("skipped: SLUICE_REFERENCE_PROGRAMS names no folder of P4 files");
        return;
    };
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|of| of == "p4"));
    files.sort();
    let draws = number("SLUICE_REFERENCE_DRAWS", 10);
    let mut failed = Vec::new();
    for file in files {
        let (name, text) =
            (file.file_stem().unwrap().to_string_lossy(), std::fs::read_to_string(&file).unwrap());
        for architecture in Architecture::ALL {
            let Some(text) = Text::of(&text, architecture) else { continue };
            let mut counts = Counts::default();
            for seed in 0..draws {
                let words: Vec<u32> = words(seed).take(2000).collect();
                match text.judge(&words, false) {
                    Ok(found) => counts += found,
                    Err(Failed::Missing(text)) => {
                        println!("{name} {architecture:?}: missing: {text}");
                        break;
                    }
                    Err(Failed::Differs(text)) => {
                        failed.push(format!("{name} {architecture:?}, draw {seed}: {text}"));
                        break;
                    }
                }
            }
            println!("{name} {architecture:?}: {counts:?}");
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
    for seed in first..first + number("SLUICE_REFERENCE_RANDOM", 200) {
        let mut program = sluice_random::numbered(seed, &limits);
        plain(&mut program);
        let mut count = |reason: &str| *reasons.entry(reason.to_owned()).or_default() += 1;
        let text = match write(&program) {
            Ok(text) => text,
            Err(refused) => {
                count(&format!("not written as P4: {}", refused[0]));
                continue;
            }
        };
        let draws: Vec<u32> = words(!seed).take(400).collect();
        let Some(judged) = Text::of(&text, Architecture::T2na) else {
            count("refused or not placed");
            continue;
        };
        match judged.judge(&draws, false) {
            Ok(counts) => {
                programs += 1;
                all += counts;
            }
            Err(Failed::Missing(text)) => count(text.lines().next().unwrap_or_default()),
            Err(Failed::Differs(found)) => {
                println!("{text}");
                failed.push(format!("random program {seed}: {found}"));
            }
        }
    }
    println!("{programs} programs: {all:?}; {reasons:?}");
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
    assert!(all.sent > 0, "nothing is sent");
}
