//! How many public programs preprocess, parse, type-check and elaborate: a measurement over the folder that
//! `SLUICE_P4_CORPUS` names.
//!
//! The folder has a file `LIST.txt` with a program per line: its group, its root file, the chips (`1`, `2` or `12`), and flags
//! (`-I folder`, `-D name=value`), separated by blanks. Names are relative to the folder. Without the variable, the test is
//! skipped with a printed word. Folders of the name `p4include` are left out, so that programs see Sluice's declarations of
//! the architectures; with `SLUICE_P4_VENDOR`, they see the files in these folders.

use sluice_asic::intrinsic::Architecture;
use sluice_p4::check::check;
use sluice_p4::diagnostic::{Diagnostics, Severity, render};
use sluice_p4::elaborate::elaborate;
use sluice_p4::prelude::WithPrelude;
use sluice_p4::source::{Include, IncludeKind, LoadError, Loaded, Loader, SourceMap};
use sluice_p4::{Define, Options, Target, parse};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Reads files below the corpus.
pub(crate) struct Files {
    pub(crate) folders: Vec<PathBuf>,
}

impl Loader for Files {
    fn load(&self, include: &Include<'_>) -> Result<Loaded, LoadError> {
        let beside = Path::new(include.from).parent().filter(|_| include.kind == IncludeKind::Quoted);
        let root = (include.kind == IncludeKind::Root).then_some(Path::new(""));
        let folders = beside.into_iter().chain(root).chain(self.folders.iter().map(PathBuf::as_path));
        for folder in folders {
            let path = folder.join(include.name);
            match std::fs::read(&path) {
                Ok(bytes) => {
                    let text = String::from_utf8_lossy(&bytes).into_owned().into();
                    return Ok(Loaded { name: path.display().to_string(), text });
                }
                Err(_) => continue,
            }
        }
        Err(LoadError::NotFound { searched: Vec::new() })
    }
}

/// A line of the list.
pub(crate) struct Program {
    pub(crate) group: String,
    pub(crate) root: PathBuf,
    pub(crate) chips: Vec<Target>,
    pub(crate) folders: Vec<PathBuf>,
    pub(crate) defines: Vec<Define>,
}

pub(crate) fn program(folder: &Path, line: &str) -> Program {
    let mut words = line.split_whitespace();
    let mut word = || words.next().unwrap_or_default();
    let (group, root, chips) = (word().to_owned(), folder.join(word()), word());
    assert!(!chips.is_empty(), "a line of LIST.txt has no chips: {line}");
    let chips =
        chips.chars().map(|chip| if chip == '1' { Target::Tofino } else { Target::Tofino2 }).collect();
    let (mut folders, mut defines) = (Vec::new(), Vec::new());
    while let Some(flag) = words.next() {
        match (flag, words.next()) {
            ("-I", Some(path)) => folders.push(folder.join(path)),
            ("-D", Some(text)) => defines.push(Define::Define(text.to_owned())),
            _ => assert!(flag.is_empty(), "unknown flag `{flag}` in LIST.txt: {line}"),
        }
    }
    Program { group, root, chips, folders, defines }
}

/// What became of the programs of a group.
#[derive(Default)]
struct Count {
    programs: usize,
    /// Programs that passed the steps up to each.
    passed: [usize; STEPS.len()],
    /// The class of the first error of the others.
    failures: BTreeMap<&'static str, usize>,
}

const STEPS: [&str; 3] = ["parsed", "checked", "instances"];

/// Why a program failed.
struct Failure {
    /// The index of the step.
    step: usize,
    /// The class of the first error.
    class: &'static str,
    /// The first error.
    text: String,
}

/// Takes all steps for a chip, and returns the first error.
fn failure(program: &Program, target: Target, vendor: bool) -> Option<Failure> {
    let chip = match target {
        Target::Tofino => Architecture::Tna,
        Target::Tofino2 => Architecture::T2na,
    };
    let folders = program.folders.iter().filter(|folder| vendor || !folder.ends_with("p4include"));
    let loader = WithPrelude::new(Files { folders: folders.cloned().collect() }, chip);
    let options = Options { target, defines: program.defines.clone(), includes: Vec::new() };
    let parsed = parse(&loader, &program.root.to_string_lossy(), &options);
    let error = |step: usize, diagnostics: &Diagnostics, sources: &SourceMap| {
        let first = diagnostics.list().iter().find(|diagnostic| diagnostic.severity == Severity::Error)?;
        Some(Failure { step, class: first.class.word(), text: render(sources, first) })
    };
    if let Some(failure) = error(0, &parsed.diagnostics, &parsed.sources) {
        return Some(failure);
    }
    let mut diagnostics = parsed.diagnostics;
    let mut checked = check(&parsed.ast, &mut diagnostics);
    if let Some(failure) = error(1, &diagnostics, &parsed.sources) {
        return Some(failure);
    }
    elaborate(&parsed.ast, &mut checked, &mut diagnostics);
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
        let failed = program.chips.iter().find_map(|&target| failure(&program, target, vendor));
        let passed = failed.as_ref().map_or(STEPS.len(), |failure| failure.step);
        count.passed[..passed].iter_mut().for_each(|count| *count += 1);
        if let Some(Failure { step, class, text }) = failed {
            *count.failures.entry(class).or_default() += 1;
            println!("{}, {class}: {}\n{text}\n", STEPS[step], program.root.display());
        }
    }
    println!("{:<24} {:>9} {:>9} {:>9} {:>9}  failures", "group", "programs", STEPS[0], STEPS[1], STEPS[2]);
    for (group, count) in &counts {
        let failures: Vec<String> = count.failures.iter().map(|(class, n)| format!("{class} {n}")).collect();
        let [parsed, checked, instances] = count.passed;
        let failures = failures.join(", ");
        println!("{group:<24} {:>9} {parsed:>9} {checked:>9} {instances:>9}  {failures}", count.programs);
    }
    assert!(!counts.is_empty(), "LIST.txt names no programs");
}
