//! P4 programs: options of the preprocessor, programs of the catalogue, and `sluice check FILE.p4`.

mod files;
mod own;
mod stage;

pub(crate) use files::FileOfProgram;
pub use own::P4Crate;
pub(crate) use stage::P4Program;

use crate::check::Checked;
use crate::fail::Failure;
use crate::snippet;
use crate::terminal;
use clap::{Args, Parser};
use files::{Files, Remembering};
use serde_json::{Value, json};
use sluice_asic::chip::ChipSpec;
use sluice_asic::intrinsic::Architecture;
use sluice_ir::Program;
use sluice_ir::verify::{self as ir, Diag, for_chip};
use sluice_p4::check::check;
use sluice_p4::diagnostic::{Class, Diagnostic, Severity, render};
use sluice_p4::elaborate::elaborate;
use sluice_p4::lower::{Lowered, Note, Source, findings, lower};
use sluice_p4::prelude::WithPrelude;
use sluice_p4::source::{Include, LoadError, Loaded, Loader, Span};
use sluice_p4::{Define, Options, Parsed, Target, p4info, parse};
use sluice_place::report::SourceNote;
use sluice_program_file::ProgramFile;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::OsString;
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
    /// P4: architecture, tna or t2na, as p4c takes it. It follows from the chip and from what the program includes; so this is only
    /// checked. (p4c's `--target` is another spelling of --chip.)
    #[arg(long = "arch", value_name = "ARCH", help_heading = "P4")]
    architecture: Option<String>,
}

/// Returns true if a file is a P4 program.
pub(crate) fn is_p4(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "p4")
}

/// Returns the file of declarations beside a P4 program: `leaf.p4.sluice` for `leaf.p4`.
pub(crate) fn declarations(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".sluice");
    PathBuf::from(name)
}

/// Returns the arguments of a command line with p4c's `-include` as `--include`.
pub(crate) fn as_p4c(arguments: impl Iterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    arguments.map(|argument| if argument == "-include" { "--include".into() } else { argument })
}

/// The options by themselves.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Line {
    #[command(flatten)]
    p4: P4Args,
}

impl P4Args {
    /// Returns the options of these words of a command line.
    pub(crate) fn of_words(words: &[String]) -> Result<P4Args, Failure> {
        let line = Line::try_parse_from(as_p4c(words.iter().map(OsString::from)));
        line.map(|line| line.p4).map_err(|e| {
            let text = e.to_string();
            Failure::input(text.trim_start_matches("error: ").trim_end())
        })
    }

    /// Returns the folders of `-I`.
    pub(crate) fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Returns the files that are read before the program.
    pub(crate) fn first_files(&self) -> &[String] {
        &self.includes
    }

    /// Returns `-D` and `-U`, each with its value.
    pub(crate) fn definitions(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let defines = self.defines.iter().map(|value| ("-D", value.as_str()));
        defines.chain(self.undefines.iter().map(|value| ("-U", value.as_str())))
    }

    /// Makes all paths relative to a folder.
    fn relative_to(&mut self, folder: &Path) {
        self.folders.iter_mut().for_each(|one| *one = folder.join(&*one));
        self.includes.iter_mut().for_each(|one| *one = folder.join(&*one).display().to_string());
    }

    /// Returns all options as words of a command line that runs elsewhere; `back` leads from there to this folder.
    pub(crate) fn words_from(&self, back: &Path) -> Vec<String> {
        let mut moved = self.clone();
        moved.relative_to(back);
        let folders = moved.folders.iter().map(|folder| format!("-I {}", folder.display()));
        folders.chain(moved.options_text()).collect()
    }

    /// Returns the options that change what a program says, as text; `None` without such options.
    pub(crate) fn options_text(&self) -> Option<String> {
        let first = self.includes.iter().map(|file| format!("--include {file}"));
        let all: Vec<String> =
            self.definitions().map(|(flag, value)| format!("{flag} {value}")).chain(first).collect();
        (!all.is_empty()).then(|| all.join(" "))
    }

    /// Refuses an architecture that Sluice or the chip does not have.
    fn check(&self, chip: &ChipSpec) -> Result<(), Failure> {
        match (self.architecture.as_deref(), Architecture::of(chip)) {
            (None | Some("tna"), _) | (Some("t2na"), Architecture::T2na) => Ok(()),
            (Some("t2na"), Architecture::Tna) => Err(Failure::with_help(
                format!("--arch t2na: the architecture of {} is tna", chip.name),
                "give --chip tofino2, or --arch tna",
            )),
            (Some(other), _) => Err(Failure::with_help(
                format!("--arch {other}: Sluice reads P4 programs for tna and t2na"),
                "programs for v1model, PSA and other architectures need TNA's parsers, controls and externs first",
            )),
        }
    }

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

/// Returns the mistakes of a program as the failure of a command. If the program has none on the other chip, advice says so: an
/// author who wrote for one chip may not have named it.
fn failure(reading: &Reading, args: &P4Args, origin: &str, chip: &ChipSpec) -> Failure {
    let text = reading.mistakes();
    let other = match Architecture::of(chip) {
        Architecture::Tna => ChipSpec::tofino2(),
        Architecture::T2na => ChipSpec::tofino(),
    };
    match self::reading(origin, args, &other).program() {
        None => Failure::snippets(&text),
        Some(_) => Failure::with_help(
            text.trim_start_matches("error: "),
            format!("the program has no mistakes on {0}: give --chip {0}", other.name),
        ),
    }
}

/// Returns the name of a program: the file's, in kebab-case as other programs have it.
fn name_of(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    stem.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect()
}

/// Takes all steps that errors allow.
fn lowered(parsed: &mut Parsed, chip: Architecture) -> Option<Lowered> {
    if parsed.ast.top.is_empty() {
        if parsed.diagnostics.errors() == 0 {
            let error = Diagnostic::error(Class::Syntax, Span::NONE, "the program declares nothing");
            let help = "is this the right file? a program includes <tna.p4> or <t2na.p4> and ends with `Switch(pipe) main;`";
            parsed.diagnostics.push(error.help(help));
        }
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

    /// Returns the mistakes as text, with their source lines.
    fn mistakes(&self) -> String {
        let mut text = messages(&self.parsed, Severity::Error);
        for diag in self.diags.iter().filter(|diag| diag.severity == ir::Severity::Error) {
            text.push_str(&found(diag));
            text.push('\n');
        }
        text
    }

    /// Returns what the program approximates or ignores.
    fn notes(&self) -> Vec<SourceNote> {
        let sources = &self.parsed.sources;
        let note = |note: &Note| {
            let place = sources.place(note.at);
            let (file, line, _) =
                place.map_or(("", 0, 0), |place| sources.line(place.region.file, place.region.bytes.start));
            SourceNote { file: file.to_owned(), line, what: note.what.clone(), effect: note.effect.clone() }
        };
        self.lowered.iter().flat_map(|lowered| &lowered.notes).map(note).collect()
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
        let mut places = BTreeSet::new();
        for diag in self.diags.iter().filter(|diag| diag.severity == ir::Severity::Warning) {
            // One read of a header that may be invalid is enough for a line: its other fields are the same mistake.
            let at = diag.at;
            if diag.undefined && !places.insert((at.file, at.line, at.col, diag.help.clone())) {
                continue;
            }
            text.push_str(&found(diag));
            text.push('\n');
        }
        text.trim_end().to_owned()
    }
}

/// Returns a finding of the verifier as text, in P4's words.
fn found(diag: &Diag) -> String {
    let mut diag = diag.clone();
    diag.help = diag.help.replace("is_valid()", "isValid()");
    snippet::of(&diag)
}

/// Reads a P4 program without a word on its warnings.
pub(crate) fn program(path: &Path, args: &P4Args, chip: &ChipSpec) -> Result<Program, Failure> {
    args.check(chip)?;
    let origin = path.display().to_string();
    let reading = reading(&origin, args, chip);
    reading.program().cloned().ok_or_else(|| failure(&reading, args, &origin, chip))
}

/// Returns the `P4Info` of a P4 program, which needs no lowering.
pub(crate) fn info(path: &Path, args: &P4Args, chip: &ChipSpec) -> Result<String, Failure> {
    args.check(chip)?;
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

/// Returns the files on disk that a program consists of, the root first.
pub(crate) fn files_of(path: &Path, args: &P4Args, chip: &ChipSpec) -> Result<Vec<FileOfProgram>, Failure> {
    let (architecture, target) = target_of(chip);
    let loader = Remembering { inner: Files { folders: &args.folders }, read: RefCell::default() };
    let loader = WithPrelude::new(loader, architecture);
    let parsed = parse(&loader, &path.display().to_string(), &args.options(target));
    if parsed.diagnostics.errors() > 0 {
        return Err(Failure::snippets(&messages(&parsed, Severity::Error)));
    }
    let mut files = loader.into_inner().read.into_inner();
    // Files of `--include` are read before the root.
    let root = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    files.sort_by_key(|file| file.path != root);
    Ok(files)
}

/// Reads a P4 program for the catalogue. Warnings go to stderr.
pub(crate) fn open(path: &Path, args: &P4Args, chip: &ChipSpec) -> Result<P4Program, Failure> {
    let (program, warnings) = read_quietly(path, args, chip)?;
    if !warnings.is_empty() {
        terminal::note(format_args!("{warnings}\n"));
    }
    Ok(program)
}

/// Reads a P4 program for the catalogue; returns it with its warnings.
fn read_quietly(path: &Path, args: &P4Args, chip: &ChipSpec) -> Result<(P4Program, String), Failure> {
    args.check(chip)?;
    let origin = path.display().to_string();
    let reading = reading(&origin, args, chip);
    let program = reading.program().ok_or_else(|| failure(&reading, args, &origin, chip))?.clone();
    let warnings = reading.warnings();
    let file = declarations(path);
    let beside = match file.is_file() {
        true => {
            let text = crate::door::text(&file)?;
            let read = ProgramFile::beside(&file.display().to_string(), &text, &program);
            Some(read.map_err(|e| Failure::snippets(&e.text))?)
        }
        false => None,
    };
    Ok((P4Program::new(program, &origin, reading.notes(), beside), warnings))
}

/// Checks a P4 program. Warnings on a program with mistakes go to stderr.
pub(crate) fn checked(path: &Path, args: &P4Args, chip: &ChipSpec) -> Result<Checked, Failure> {
    args.check(chip)?;
    let origin = path.display().to_string();
    let reading = reading(&origin, args, chip);
    let mut findings: Vec<Value> =
        reading.parsed.diagnostics.list().iter().map(|one| json_of(&reading.parsed, one)).collect();
    findings.extend(reading.diags.iter().map(json_of_diag));
    let warnings = reading.warnings();
    let program = reading.program().cloned();
    if program.is_none() && !warnings.is_empty() {
        terminal::note(format_args!("{warnings}\n"));
    }
    Ok(Checked {
        program: program.ok_or_else(|| failure(&reading, args, &origin, chip)),
        warnings: vec![warnings],
        findings,
        notes: Some(json!(reading.notes())),
    })
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
