//! How many public programs type-check and elaborate: a measurement over the folder that `SLUICE_P4_CORPUS` names.
//!
//! The folder is that of module `corpus`. Folders of the name `p4include` are left out, so that programs see Sluice's declarations
//! of the architectures; with `SLUICE_P4_VENDOR`, they see the files in these folders. A program passes if it passes on one
//! of its chips: the list names both where the program does not say.

use crate::corpus::{Files, Program, program};
use sluice_asic::intrinsic::Architecture;
use sluice_p4::check::check;
use sluice_p4::diagnostic::{Diagnostics, Severity, render};
use sluice_p4::elaborate::elaborate;
use sluice_p4::prelude::WithPrelude;
use sluice_p4::source::SourceMap;
use sluice_p4::{Options, parse};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const STEPS: [&str; 3] = ["parsed", "checked", "instances"];

/// What became of the programs of a group.
#[derive(Default)]
struct Count {
    programs: usize,
    /// Programs that passed the steps up to each.
    passed: [usize; STEPS.len()],
    /// The class of the first error of the others.
    failures: BTreeMap<&'static str, usize>,
    /// The longest time that parsing took, and the longest that the later steps took.
    longest: [Duration; 2],
}

/// Why a program failed.
struct Failure {
    /// The index of the step.
    step: usize,
    /// The class of the first error.
    class: &'static str,
    /// The first error.
    text: String,
}

/// Returns the first error of a step.
fn error(step: usize, diagnostics: &Diagnostics, sources: &SourceMap) -> Result<(), Failure> {
    let first = diagnostics.list().iter().find(|diagnostic| diagnostic.severity == Severity::Error);
    first.map_or(Ok(()), |first| {
        Err(Failure { step, class: first.class.word(), text: render(sources, first) })
    })
}

/// Takes all steps for a chip.
fn steps(
    program: &Program,
    chip: Architecture,
    vendor: bool,
    longest: &mut [Duration; 2],
) -> Result<(), Failure> {
    let folders = program.files.folders.iter().filter(|folder| vendor || !folder.ends_with("p4include"));
    let loader = WithPrelude::new(Files { folders: folders.cloned().collect() }, chip);
    let options = Options { chip, defines: program.defines.clone(), includes: Vec::new() };
    let start = Instant::now();
    let parsed = parse(&loader, &program.root.to_string_lossy(), &options);
    longest[0] = longest[0].max(start.elapsed());
    error(0, &parsed.diagnostics, &parsed.sources)?;
    let mut diagnostics = parsed.diagnostics;
    let start = Instant::now();
    let mut checked = check(&parsed.ast, &mut diagnostics);
    error(1, &diagnostics, &parsed.sources)?;
    elaborate(&parsed.ast, &mut checked, &mut diagnostics);
    longest[1] = longest[1].max(start.elapsed());
    error(2, &diagnostics, &parsed.sources)
}

#[test]
fn public_programs_type_check() {
    let Some(folder) = std::env::var_os("SLUICE_P4_CORPUS").map(PathBuf::from) else {
        println!("skipped: SLUICE_P4_CORPUS names no folder of P4 programs");
        return;
    };
    let list = std::fs::read_to_string(folder.join("LIST.txt")).expect("the corpus has a LIST.txt");
    let only = std::env::var("SLUICE_P4_GROUP").ok();
    let vendor = std::env::var_os("SLUICE_P4_VENDOR").is_some();
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    for line in list.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        let program = program(&folder, line);
        if only.as_ref().is_some_and(|only| *only != program.group) {
            continue;
        }
        let count = counts.entry(program.group.clone()).or_default();
        count.programs += 1;
        let longest = &mut count.longest;
        let results: Vec<Result<(), Failure>> =
            program.chips.iter().map(|&chip| steps(&program, chip, vendor, longest)).collect();
        let failed = match results.iter().all(Result::is_err) {
            true => results.into_iter().filter_map(Result::err).max_by_key(|failure| failure.step),
            false => None,
        };
        let passed = failed.as_ref().map_or(STEPS.len(), |failure| failure.step);
        count.passed[..passed].iter_mut().for_each(|count| *count += 1);
        if let Some(Failure { step, class, text }) = failed {
            *count.failures.entry(class).or_default() += 1;
            println!("{}, {class}: {}\n{text}\n", STEPS[step], program.root.display());
        }
    }
    let [parsed, checked, instances] = STEPS;
    println!("{:<20} programs {parsed:>9} {checked:>9} {instances:>9}  failures", "group");
    for (group, count) in &counts {
        let failures: Vec<String> = count.failures.iter().map(|(class, n)| format!("{class} {n}")).collect();
        let [parsed, checked, instances] = count.passed;
        let failures = failures.join(", ");
        println!("{group:<20} {:>8} {parsed:>9} {checked:>9} {instances:>9}  {failures}", count.programs);
    }
    for at in 0..2 {
        let longest = counts.values().map(|count| count.longest[at]).max().unwrap_or_default();
        println!("longest time of {}: {longest:?}", ["parsing", "the later steps"][at]);
    }
    assert!(!counts.is_empty(), "LIST.txt names no programs");
}
