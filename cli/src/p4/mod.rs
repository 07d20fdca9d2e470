//! P4 programs: options of the preprocessor, programs of the catalogue, and `sluice check FILE.p4`.

mod files;
mod stage;

pub(crate) use stage::P4Program;

use crate::check::counts;
use crate::fail::{Failure, print_error};
use clap::Args;
use files::Files;
use serde_json::{Value, json};
use sluice_asic::chip::ChipSpec;
use sluice_asic::intrinsic::Architecture;
use sluice_ir::Program;
use sluice_ir::verify::{self as ir, Diag, for_chip};
use sluice_p4::check::check;
use sluice_p4::diagnostic::{Class, Diagnostic, Severity, render};
use sluice_p4::elaborate::elaborate;
use sluice_p4::lower::{Lowered, Source, findings, lower};
use sluice_p4::prelude::WithPrelude;
use sluice_p4::source::{Include, LoadError, Loaded, Loader};
use sluice_p4::{Define, Options, Parsed, Target, p4info, parse};
use std::cell::RefCell;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Options of the P4 preprocessor, spelled as p4c spells them.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct P4Args {
    /// P4: folder to search for included files, repeatable. A folder with `tna.p4` takes the place of the built-in one
    #[arg(short = 'I', value_name = "DIR", help_heading = "P4")]
    folders: Vec<PathBuf>,
    /// P4: define a macro, repeatable; without a value it is 1
    #[arg(short = 'D', value_name = "NAME[=VALUE]", help_heading = "P4")]
    defines: Vec<String>,
    /// P4: undefine a macro after all definitions, repeatable
    #[arg(short = 'U', value_name = "NAME", help_heading = "P4")]
    undefines: Vec<String>,
    /// P4: file to read before the program, repeatable (p4c's `-include`)
    #[arg(long = "include", value_name = "FILE", help_heading = "P4")]
    includes: Vec<String>,
}

/// Returns true if a file is a P4 program.
pub(crate) fn is_p4(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "p4")
}

impl P4Args {
    fn options(&self, target: Target) -> Options {
        let define = self.defines.iter().cloned().map(Define::Define);
        let undefine = self.undefines.iter().cloned().map(Define::Undefine);
        Options { target, defines: define.chain(undefine).collect(), includes: self.includes.clone() }
    }
}

/// A P4 program that was read as far as its errors allow.
struct Reading {
    parsed: Parsed,
    lowered: Option<Lowered>,
    /// Findings of the verifier, if there is a program.
    diags: Vec<Diag>,
}

/// Returns the architecture of a chip, and the target of the preprocessor.
fn target_of(chip: &ChipSpec) -> (Architecture, Target) {
    let architecture = Architecture::of(chip);
    let target = match architecture {
        Architecture::Tna => Target::Tofino,
        Architecture::T2na => Target::Tofino2,
    };
    (architecture, target)
}

/// Returns the loader of files from disk, and of the declarations of a chip's architecture.
fn loader<'a>(args: &'a P4Args, chip: &ChipSpec) -> WithPrelude<Files<'a>> {
    WithPrelude::new(Files { folders: &args.folders }, target_of(chip).0)
}

/// Reads, lowers and verifies a P4 program for a chip.
fn reading(origin: &str, args: &P4Args, chip: &ChipSpec) -> Reading {
    let (architecture, target) = target_of(chip);
    let mut parsed = parse(&loader(args, chip), origin, &args.options(target));
    let mut lowered = lowered(&mut parsed, architecture);
    if let Some(lowered) = &mut lowered {
        lowered.program.name = name_of(Path::new(origin));
    }
    let mut diags = Vec::new();
    if let Some(lowered) = &lowered {
        diags = findings(&lowered.program);
        if !diags.iter().any(|diag| diag.severity == ir::Severity::Error) {
            diags.extend(for_chip(&lowered.program, chip));
        }
    }
    Reading { parsed, lowered, diags }
}

/// Returns the name of a program: the file's, in kebab-case as other programs have it.
fn name_of(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    stem.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect()
}

/// Takes all steps that errors allow.
fn lowered(parsed: &mut Parsed, chip: Architecture) -> Option<Lowered> {
    if parsed.ast.top.is_empty() {
        return None;
    }
    let Parsed { ast, sources, diagnostics } = parsed;
    let mut tables = check(ast, diagnostics);
    if diagnostics.errors() > 0 {
        return None;
    }
    let pipe = elaborate(ast, &mut tables, diagnostics)?;
    lower(Source { ast, pipe: &pipe, texts: sources, chip }, &mut tables, diagnostics)
}

impl Reading {
    /// Returns the program without mistakes.
    fn program(&self) -> Option<&Program> {
        let wrong = self.diags.iter().any(|diag| diag.severity == ir::Severity::Error);
        self.lowered.as_ref().map(|lowered| &lowered.program).filter(|_| !wrong)
    }

    /// Returns the mistakes as the failure of a command.
    fn failure(&self) -> Failure {
        let mut text = messages(&self.parsed, Severity::Error);
        for diag in self.diags.iter().filter(|diag| diag.severity == ir::Severity::Error) {
            text.push_str(&found(diag));
        }
        Failure::snippets(&text)
    }

    /// Returns warnings, and what the program approximates or ignores, as text.
    fn warnings(&self) -> String {
        let mut text = messages(&self.parsed, Severity::Warning);
        for note in self.lowered.iter().flat_map(|lowered| &lowered.notes) {
            let diagnostic =
                Diagnostic::warning(Class::Unsupported, note.at, format!("{}: {}", note.what, note.effect));
            text.push_str(&render(&self.parsed.sources, &diagnostic));
            text.push('\n');
        }
        for diag in self.diags.iter().filter(|diag| diag.severity == ir::Severity::Warning) {
            text.push_str(&found(diag));
        }
        text.trim_end().to_owned()
    }
}

/// Returns a finding of the verifier as text.
fn found(diag: &Diag) -> String {
    let word = if diag.severity == ir::Severity::Error { "error" } else { "warning" };
    let Diag { text, at, help, .. } = diag;
    let help = if help.is_empty() { String::new() } else { format!("   = help: {help}\n") };
    format!("{word}: {text}\n  --> {}:{}:{}\n{help}", at.file, at.line, at.col)
}

/// Reads a P4 program without a word on its warnings.
pub(crate) fn program(path: &Path, args: &P4Args, chip: &ChipSpec) -> Result<Program, Failure> {
    let reading = reading(&path.display().to_string(), args, chip);
    reading.program().cloned().ok_or_else(|| reading.failure())
}

/// Returns the `P4Info` of a P4 program, which needs no lowering.
pub(crate) fn info(path: &Path, args: &P4Args, chip: &ChipSpec) -> Result<String, Failure> {
    let origin = path.display().to_string();
    let (architecture, target) = target_of(chip);
    let mut parsed = parse(&loader(args, chip), &origin, &args.options(target));
    let mut tables = check(&parsed.ast, &mut parsed.diagnostics);
    let pipe = match parsed.diagnostics.errors() {
        0 => elaborate(&parsed.ast, &mut tables, &mut parsed.diagnostics),
        _ => None,
    };
    let Some(pipe) = pipe else { return Err(Failure::snippets(&messages(&parsed, Severity::Error))) };
    let name = if architecture == Architecture::Tna { "tna" } else { "t2na" };
    Ok(p4info::print(&parsed.ast, &mut tables, &pipe, name))
}

/// Returns the chips that a program is written for: those whose architecture it includes when it is read for the chip.
pub(crate) fn chips(path: &Path, args: &P4Args) -> Vec<ChipSpec> {
    let origin = path.display().to_string();
    let asks = |chip: &ChipSpec, file: &str| {
        let loader = Asked { inner: loader(args, chip), names: RefCell::default() };
        let (_, target) = target_of(chip);
        // The files are what counts: a program with mistakes is written for its chips all the same.
        drop(parse(&loader, &origin, &args.options(target)));
        loader.names.into_inner().iter().any(|name| name.ends_with(file))
    };
    let (tofino, tofino2) = (ChipSpec::tofino(), ChipSpec::tofino2());
    let first = asks(&tofino, "tna.p4") && !asks(&tofino, "t2na.p4");
    let second = asks(&tofino2, "t2na.p4");
    [(first, tofino), (second, tofino2)].into_iter().filter_map(|(is, chip)| is.then_some(chip)).collect()
}

/// A loader that remembers which files were asked for.
struct Asked<L> {
    inner: L,
    names: RefCell<Vec<String>>,
}

impl<L: Loader> Loader for Asked<L> {
    fn load(&self, include: &Include<'_>) -> Result<Loaded, LoadError> {
        self.names.borrow_mut().push(include.name.to_owned());
        self.inner.load(include)
    }
}

/// Reads a P4 program for the catalogue. Warnings go to stderr.
pub(crate) fn open(path: &Path, args: &P4Args, chip: &ChipSpec) -> Result<P4Program, Failure> {
    let origin = path.display().to_string();
    let reading = reading(&origin, args, chip);
    let program = reading.program().ok_or_else(|| reading.failure())?.clone();
    let warnings = reading.warnings();
    if !warnings.is_empty() {
        print_error(format!("{warnings}\n"));
    }
    Ok(P4Program::new(program, &origin))
}

/// Checks a P4 program, and prints its mistakes and warnings, or what the program has.
pub(crate) fn run(path: &Path, args: &P4Args, chip: &ChipSpec, as_json: bool) -> Result<Program, Failure> {
    let origin = path.display().to_string();
    let reading = reading(&origin, args, chip);
    let program = reading.program();
    let mut out = std::io::stdout().lock();
    if as_json {
        let mut findings: Vec<Value> =
            reading.parsed.diagnostics.list().iter().map(|one| json_of(&reading.parsed, one)).collect();
        findings.extend(reading.diags.iter().map(json_of_diag));
        let value = json!({ "schema": "sluice.check/1", "file": origin, "ok": program.is_some(), "findings": findings });
        writeln!(out, "{value}")?;
    }
    let warnings = reading.warnings();
    let Some(program) = program else {
        if !warnings.is_empty() {
            print_error(format!("{warnings}\n"));
        }
        return Err(reading.failure());
    };
    if !as_json {
        if !warnings.is_empty() {
            writeln!(out, "{warnings}\n")?;
        }
        writeln!(out, "{origin}: program `{}`: {}; no mistakes", program.name, counts(program))?;
    }
    Ok(program.clone())
}

/// Returns all messages of a severity, with their source lines.
fn messages(parsed: &Parsed, severity: Severity) -> String {
    let some = parsed.diagnostics.list().iter().filter(|diagnostic| diagnostic.severity == severity);
    some.map(|diagnostic| render(&parsed.sources, diagnostic)).collect::<Vec<_>>().join("\n")
}

fn json_of(parsed: &Parsed, diagnostic: &Diagnostic) -> Value {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let place = diagnostic.labels.first().and_then(|(span, _)| parsed.sources.place(*span));
    let (file, line, column) =
        place.map_or(("", 0, 0), |place| parsed.sources.line(place.region.file, place.region.bytes.start));
    json!({
        "severity": severity, "class": diagnostic.class.word(), "file": file, "line": line, "column": column,
        "message": diagnostic.message, "help": diagnostic.help,
    })
}

fn json_of_diag(diag: &Diag) -> Value {
    let severity = if diag.severity == ir::Severity::Error { "error" } else { "warning" };
    json!({
        "severity": severity, "class": "program", "file": diag.at.file, "line": diag.at.line, "column": diag.at.col,
        "message": diag.text, "help": diag.help,
    })
}
