//! `sluice test`: packet tests in STF and TOML, on both engines.

mod subject;

use crate::console::fail::Failure;
use crate::console::terminal;
use crate::console::text_file::{self, read_text};
use crate::open::door::Door;
use crate::open::p4::{Disk, P4Args, is_p4};
use crate::open::resolve;
use crate::open::target::Placing;
use crate::output::verdict::{self, Ended, VerdictFiles};
use clap::Args;
use serde_json::{Value, json};
use sluice_asic::chip::ChipSpec;
use sluice_catalogue::Catalogue;
use sluice_replay::interpreter;
use sluice_replay::packet_test::{Failed, TestRun};
use std::io::Write;
use std::path::{Path, PathBuf};
use subject::{Source, Unready, is_toml};

#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// Packet tests (.stf or .toml), or folders with such files. The program of x.stf is x.p4 beside it, that of x.toml is the
    /// one that it names; --program names another
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Program of all tests: a .p4 or .sluice file, or a name of `sluice programs`
    #[arg(long, value_name = "PROGRAM")]
    program: Option<String>,
    /// Chip, repeatable: tofino, tofino2, or a TOML file that changes one of them. Without it, each P4 program runs on the chips
    /// whose architecture it includes, and other programs run on tofino2
    #[arg(long = "chip", alias = "target", value_name = "CHIP")]
    chips: Vec<String>,
    /// Parameter of a program that is no P4 program, repeatable
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = crate::open::target::key_value)]
    sets: Vec<(String, String)>,
    #[command(flatten)]
    p4: P4Args,
    #[command(flatten)]
    verdicts: VerdictFiles,
    #[command(flatten)]
    placing: Placing,
}

/// Settings and programs that all tests of a command share.
struct Shared<'a> {
    args: &'a TestArgs,
    /// The catalogue with the program of all tests, if that is a file in the text form.
    catalogue: Catalogue,
    /// The program of all tests: a P4 file, or a name of the catalogue.
    program: Option<String>,
    /// Reads the files of P4 programs.
    disk: Disk,
}

impl<'a> Shared<'a> {
    fn of(args: &'a TestArgs, catalogue: &Catalogue) -> Result<Shared<'a>, Failure> {
        let mut shared = Shared {
            args,
            catalogue: catalogue.clone(),
            program: args.program.clone(),
            disk: args.p4.disk(),
        };
        if let Some(program) = args.program.as_deref().filter(|program| !is_p4(Path::new(program))) {
            let mut door = Door::new(catalogue, &P4Args::default(), &ChipSpec::tofino2());
            shared.program = Some(door.open(program, Path::new(""))?);
            shared.catalogue = door.into_catalogue();
        }
        Ok(shared)
    }
}

/// How a test ended on one chip.
enum Verdict {
    /// It ran on both engines, which agree.
    Ran(TestRun),
    /// The engines differ: interpreter and engine.
    Differs(TestRun, TestRun),
    /// The program is refused, or the test cannot be read.
    Refused(String),
    /// The program does not fit the chip.
    DoesNotFit(String),
}

impl Verdict {
    const fn word(&self) -> &'static str {
        match self {
            Verdict::Ran(run) if run.failed.is_empty() => "pass",
            Verdict::Ran(_) => "fail",
            Verdict::Differs(..) => "engines differ",
            Verdict::Refused(_) => "refused",
            Verdict::DoesNotFit(_) => "does not fit",
        }
    }
}

/// Numbers of tests by their verdict.
#[derive(Default)]
struct Tally {
    passed: usize,
    others: Vec<(&'static str, usize)>,
}

impl Tally {
    fn add(&mut self, verdict: &Verdict) {
        let word = verdict.word();
        if word == "pass" {
            self.passed += 1;
        } else if let Some((_, number)) = self.others.iter_mut().find(|(known, _)| *known == word) {
            *number += 1;
        } else {
            self.others.push((word, 1));
        }
    }

    fn text(&self) -> String {
        let others: String = self.others.iter().map(|(word, number)| format!(", {number} {word}")).collect();
        format!("{} passed{others}", self.passed)
    }
}

/// Runs the tests, and prints each with what did not come true.
pub(crate) fn run(args: &TestArgs, catalogue: &Catalogue, as_json: bool) -> Result<(), Failure> {
    let shared = Shared::of(args, catalogue)?;
    let named: Vec<ChipSpec> = args.chips.iter().map(|name| resolve::chip(name)).collect::<Result<_, _>>()?;
    let files = files(&args.paths)?;
    let (mut out, mut tally, mut all) = (terminal::results(as_json), Tally::default(), Vec::new());
    let mut verdicts = Vec::new();
    for file in &files {
        let source = Source::read(file);
        let chips = match &source {
            Ok(source) if named.is_empty() => source.chips(&shared, file)?,
            Err(_) if named.is_empty() => vec![resolve::chip("tofino2")?],
            _ => named.clone(),
        };
        for chip in &chips {
            let verdict = match &source {
                Ok(source) => verdict(&shared, (file, source), chip),
                Err(failure) => refused(failure),
            };
            tally.add(&verdict);
            verdicts.push(for_ci(file, chip, &verdict));
            if as_json {
                all.push(json_of(file, chip, &verdict));
            } else {
                writeln!(out, "{:<14} {} ({})", verdict.word(), file.display(), chip.name)?;
                out.write_all(details(file, &verdict).as_bytes())?;
            }
        }
    }
    if as_json {
        let value = json!({ "schema": "sluice.test/1", "passed": tally.passed, "tests": all });
        writeln!(out, "{value}")?;
    } else {
        writeln!(out, "{}", tally.text())?;
    }
    args.verdicts.write("test", &verdicts)?;
    if tally.others.is_empty() { Ok(()) } else { Err(Failure::Property) }
}

/// Returns true if a file of a folder is a test: STF, or TOML with steps.
fn is_test(path: &Path) -> bool {
    let has_steps = || text_file::text(path).is_ok_and(|text| text.contains("[[step]]"));
    path.extension().is_some_and(|extension| extension == "stf") || is_toml(path) && has_steps()
}

/// Returns the test files that the arguments name, those of folders in the order of their names.
fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            read_text(path)?;
            files.push(path.clone());
            continue;
        }
        let entries = std::fs::read_dir(path).map_err(|e| Failure::file("read", path, &e))?;
        let mut found = Vec::new();
        for entry in entries {
            found.push(entry.map_err(|e| Failure::file("read", path, &e))?.path());
        }
        found.retain(|path| is_test(path));
        found.sort();
        if found.is_empty() {
            return Err(Failure::with_help(
                format!("{}: the folder has no packet test", path.display()),
                "packet tests are files that end in .stf, and .toml files with [[step]]",
            ));
        }
        files.extend(found);
    }
    Ok(files)
}

fn verdict(shared: &Shared<'_>, (test, source): (&Path, &Source), chip: &ChipSpec) -> Verdict {
    let (test, placed) = match source.prepare(shared, test, chip) {
        Ok(ready) => ready,
        Err(Unready::Refused(failure)) => return refused(&failure),
        Err(Unready::DoesNotFit(why)) => return Verdict::DoesNotFit(why),
    };
    let run = || -> Result<[TestRun; 2], String> {
        let setup = test.setup();
        let engine = shared.catalogue.engine(&placed.program, &placed.placement, &setup.control);
        let engine = engine.map_err(|e| e.to_string())?;
        let runs = [test.run(Box::new(interpreter(setup))), test.run(Box::new(engine))];
        let [of_interpreter, of_engine] = runs;
        Ok([of_interpreter.map_err(|e| e.to_string())?, of_engine.map_err(|e| e.to_string())?])
    };
    match run() {
        Ok([of_interpreter, of_engine]) if of_interpreter == of_engine => Verdict::Ran(of_engine),
        Ok([of_interpreter, of_engine]) => Verdict::Differs(of_interpreter, of_engine),
        Err(text) => Verdict::Refused(text),
    }
}

fn refused(failure: &Failure) -> Verdict {
    let help = failure.help().map_or(String::new(), |help| format!("\n= help: {help}"));
    Verdict::Refused(format!("{failure}{help}"))
}

/// Returns what did not come true, as lines.
fn details(test: &Path, verdict: &Verdict) -> String {
    let failed = |run: &TestRun| -> String {
        run.failed
            .iter()
            .map(|Failed { line, text }| format!("  {}:{line}: {text}\n", test.display()))
            .collect()
    };
    match verdict {
        Verdict::Ran(run) => failed(run),
        Verdict::Differs(one, other) => format!(
            "  interpreter: {} packets, {} lines failed\n{}  engine: {} packets, {} lines failed\n{}",
            one.sent.len(),
            one.failed.len(),
            failed(one),
            other.sent.len(),
            other.failed.len(),
            failed(other)
        ),
        Verdict::Refused(text) | Verdict::DoesNotFit(text) => {
            text.lines().map(|line| format!("  {line}\n")).collect()
        }
    }
}

fn for_ci(test: &Path, chip: &ChipSpec, verdict: &Verdict) -> verdict::Verdict {
    let text = || details(test, verdict).trim_end().to_owned();
    let (ended, line) = match verdict {
        Verdict::Ran(run) => match run.failed.first() {
            None => (Ended::Passed, None),
            Some(first) => (Ended::Failed(text()), Some(first.line as usize)),
        },
        Verdict::Differs(..) => (Ended::Failed(text()), None),
        Verdict::Refused(_) | Verdict::DoesNotFit(_) => (Ended::Broken(text()), None),
    };
    let file = test.display().to_string();
    verdict::Verdict { suite: file.clone(), name: chip.name.clone(), ended, at: Some((file, line)) }
}

fn json_of(test: &Path, chip: &ChipSpec, verdict: &Verdict) -> Value {
    let failed = |run: &TestRun| -> Vec<Value> {
        run.failed.iter().map(|failed| json!({ "line": failed.line, "text": failed.text })).collect()
    };
    let (checks, failed, reason) = match verdict {
        Verdict::Ran(run) => (Some(run.checks), failed(run), None),
        Verdict::Differs(of_interpreter, of_engine) => {
            let both = [failed(of_interpreter), failed(of_engine)].concat();
            (Some(of_engine.checks), both, None)
        }
        Verdict::Refused(text) | Verdict::DoesNotFit(text) => (None, Vec::new(), Some(text)),
    };
    json!({
        "test": test.display().to_string(), "chip": chip.name, "verdict": verdict.word(), "checks": checks,
        "failed": failed, "reason": reason,
    })
}
