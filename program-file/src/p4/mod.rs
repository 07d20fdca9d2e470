//! P4 programs: read as far as their mistakes allow, and as programs of a catalogue.

mod program;
mod warnings;

pub use program::P4Program;
pub use sluice_p4::core::PASSES;
pub use warnings::{Warning, by_kind};

use crate::error::{FileError, Mistake, has_lines, rendered};
use crate::open::{OpenError, ReadOptions};
use sluice_asic::chip::ChipSpec;
use sluice_asic::intrinsic::Architecture;
use sluice_ir::Program;
use sluice_ir::verify::{self as ir, Diag, for_chip};
use sluice_p4::diagnostic::{Class, Diagnostic, Severity, render};
use sluice_p4::lower::{Lowered, Note, findings};
use sluice_p4::prelude::WithPrelude;
use sluice_p4::source::{Include, IncludeKind, LoadError, Loaded, Loader};
use sluice_p4::{Parsed, p4info, parse};
use sluice_place::report::SourceNote;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Returns true if a file is a P4 program.
#[must_use]
pub fn is_p4(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "p4")
}

/// Returns the file of declarations beside a P4 program: `leaf.p4.sluice` for `leaf.p4`.
#[must_use]
pub fn declarations(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".sluice");
    PathBuf::from(name)
}

/// A P4 program that was read as far as its mistakes allow.
#[derive(Clone, Debug)]
pub struct P4Reading {
    origin: String,
    parsed: Parsed,
    lowered: Option<Lowered>,
    /// Findings of the verifier, each with its source lines; none without a lowered program.
    verified: Vec<(Diag, String)>,
}

impl P4Reading {
    /// Reads, lowers and verifies a program. `origin` is the name of its file for the loader.
    #[must_use]
    pub fn read(loader: &dyn Loader, origin: &str, options: &ReadOptions) -> P4Reading {
        let architecture = Architecture::of(&options.chip);
        let mut parsed = parsed(loader, origin, options);
        let mut lowered = parsed.lower(architecture).ok();
        let mut diags = Vec::new();
        if let Some(lowered) = &mut lowered {
            lowered.program.name = name_of(Path::new(origin));
            diags = findings(&lowered.program);
            diags.retain(|diag| !lowered.refutes(diag));
            if !diags.iter().any(|diag| diag.severity == ir::Severity::Error) {
                diags.extend(for_chip(&lowered.program, &options.chip));
            }
        }
        let verified = diags.into_iter().map(|diag| (with_lines(&diag, &parsed, loader), diag));
        let verified = verified.map(|(text, diag)| (diag, text)).collect();
        P4Reading { origin: origin.to_owned(), parsed, lowered, verified }
    }

    /// Returns the program; `None` if it has mistakes.
    #[must_use]
    pub fn program(&self) -> Option<&Program> {
        let wrong = self.verified.iter().any(|(diag, _)| diag.severity == ir::Severity::Error);
        self.lowered.as_ref().map(|lowered| &lowered.program).filter(|_| !wrong)
    }

    /// Returns the program. The loader and the options are those with which it was read.
    ///
    /// # Errors
    /// If the program has mistakes. The error has the name of the other chip if the program has none there: an author who wrote
    /// for one chip may not have named it.
    pub fn legal(&self, loader: &dyn Loader, options: &ReadOptions) -> Result<&Program, OpenError> {
        self.program().ok_or_else(|| {
            let chip = match Architecture::of(&options.chip) {
                Architecture::Tna => ChipSpec::tofino2(),
                Architecture::T2na => ChipSpec::tofino(),
            };
            let other = ReadOptions { chip, ..options.clone() };
            let is_legal = P4Reading::read(loader, &self.origin, &other).program().is_some();
            OpenError::Mistakes { error: self.errors(), other_chip: is_legal.then_some(other.chip.name) }
        })
    }

    /// Returns the program as one of a catalogue, with the declarations of the file beside it; parameters as of
    /// [`P4Reading::legal`].
    ///
    /// # Errors
    /// If the program or the declarations have mistakes.
    pub fn stage(&self, loader: &dyn Loader, options: &ReadOptions) -> Result<P4Program, OpenError> {
        let program = self.legal(loader, options)?;
        let beside = crate::open::beside(loader, &declarations(Path::new(&self.origin)), program)?;
        Ok(P4Program::new(program.clone(), &self.origin, self.notes(), beside))
    }

    /// Returns what the program approximates or ignores.
    #[must_use]
    pub fn notes(&self) -> Vec<SourceNote> {
        let sources = &self.parsed.sources;
        let note = |note: &Note| {
            let place = sources.place(note.at);
            let (file, line, _) =
                place.map_or(("", 0, 0), |place| sources.line(place.region.file, place.region.bytes.start));
            SourceNote { file: file.to_owned(), line, what: note.what.clone(), effect: note.effect.clone() }
        };
        self.lowered.iter().flat_map(|lowered| &lowered.notes).map(note).collect()
    }

    /// Returns the mistakes: their text has source lines, and the list has all findings.
    #[must_use]
    pub fn errors(&self) -> FileError {
        let mut text = messages(&self.parsed, Severity::Error).join("\n");
        for (_, found) in self.verified.iter().filter(|(diag, _)| diag.severity == ir::Severity::Error) {
            text.push_str(found);
            text.push('\n');
        }
        FileError { text, mistakes: self.findings() }
    }

    /// Returns all mistakes and warnings, in the order in which they were found.
    #[must_use]
    pub fn findings(&self) -> Vec<Mistake> {
        let of_front = self.parsed.diagnostics.list().iter().map(|one| mistake(&self.parsed, one));
        of_front.chain(self.verified.iter().map(|(diag, _)| Mistake::of(diag))).collect()
    }

    /// Returns the warnings, and what the program approximates or ignores.
    #[must_use]
    pub fn warnings(&self) -> Vec<Warning> {
        let front = self.parsed.diagnostics.list().iter();
        let front = front.filter(|diagnostic| diagnostic.severity == Severity::Warning).cloned();
        let notes = self.lowered.iter().flat_map(|lowered| &lowered.notes);
        let notes = notes.map(|note| {
            Diagnostic::warning(Class::Unsupported, note.at, format!("{}: {}", note.what, note.effect))
        });
        let mut all: Vec<Warning> = front
            .chain(notes)
            .map(|diagnostic| {
                let Mistake { file, line, text: message, .. } = mistake(&self.parsed, &diagnostic);
                Warning { file, line, message, text: render(&self.parsed.sources, &diagnostic) }
            })
            .collect();
        let mut lines = BTreeSet::new();
        for (diag, found) in self.verified.iter().filter(|(diag, _)| diag.severity == ir::Severity::Warning) {
            // One read of a header that may be invalid is enough for a line: its other fields are the same mistake.
            let at = diag.at;
            if diag.undefined && !lines.insert((at.file, at.line, at.col, diag.help.clone())) {
                continue;
            }
            let (file, message, text) = (at.file.to_owned(), diag.text.clone(), found.clone());
            all.push(Warning { file, line: at.line, message, text });
        }
        all
    }
}

/// Returns what a P4Runtime controller must know of a program, as `P4Info` in text form. The program need not lower.
///
/// # Errors
/// If the program has mistakes before its lowering.
pub fn p4info(loader: &dyn Loader, origin: &str, options: &ReadOptions) -> Result<String, FileError> {
    let mut parsed = parsed(loader, origin, options);
    let Ok((mut checked, pipe)) = parsed.elaborate() else {
        return Err(of_front(&parsed));
    };
    let name = match Architecture::of(&options.chip) {
        Architecture::Tna => "tna",
        Architecture::T2na => "t2na",
    };
    Ok(p4info::print(&parsed.ast, &mut checked, &pipe, name))
}

/// Returns the declarations of a program's author as P4 after a pass of [`sluice_p4::core`]; before the first one if the name is
/// empty. The program need not lower.
///
/// # Errors
/// If the program has mistakes before the passes.
pub fn core_after(
    loader: &dyn Loader,
    origin: &str,
    options: &ReadOptions,
    pass: &str,
) -> Result<String, FileError> {
    let mut parsed = parsed(loader, origin, options);
    parsed.dump(pass).map_err(|_| of_front(&parsed))
}

/// Returns the mistakes of a program that has no instances.
fn of_front(parsed: &Parsed) -> FileError {
    let mistakes = parsed.diagnostics.list().iter().map(|one| mistake(parsed, one)).collect();
    FileError { text: messages(parsed, Severity::Error).join("\n"), mistakes }
}

/// Returns the chips that a program is written for: those whose architecture it includes when it is read for the chip. The chip
/// of the options does not count.
#[must_use]
pub fn chips(loader: &dyn Loader, origin: &str, options: &ReadOptions) -> Vec<ChipSpec> {
    let asks = |chip: &ChipSpec, file: &str| {
        let loader = Asked { inner: loader, names: RefCell::default() };
        // The files are what counts: a program with mistakes is written for its chips all the same.
        drop(parsed(&loader, origin, &ReadOptions { chip: chip.clone(), ..options.clone() }));
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

/// Parses a program with the declarations of the chip's architecture.
fn parsed(loader: &dyn Loader, origin: &str, options: &ReadOptions) -> Parsed {
    let chip = Architecture::of(&options.chip);
    let (defines, includes) = (options.defines.clone(), options.includes.clone());
    parse(&WithPrelude::new(loader, chip), origin, &sluice_p4::Options { chip, defines, includes })
}

/// Returns the name of a program: the file's, in kebab-case as other programs have it.
fn name_of(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    stem.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect()
}

/// Returns a finding of the verifier with its source lines, in P4's words.
fn with_lines(diag: &Diag, parsed: &Parsed, loader: &dyn Loader) -> String {
    let mut diag = diag.clone();
    diag.help = diag.help.replace("is_valid()", "isValid()");
    let places = || std::iter::once(diag.at).chain(diag.also.iter().map(|(at, _)| *at));
    let texts: Vec<_> = places().filter_map(|at| Some((at.file, text(at.file, parsed, loader)?))).collect();
    let source = |file: &str| texts.iter().find(|(name, _)| *name == file).map(|(_, text)| &**text);
    if source(diag.at.file).is_none() { diag.to_string() } else { rendered(&diag, &source) }
}

/// Returns the text of a file of a program, or of a file that a line marker names.
fn text(file: &str, parsed: &Parsed, loader: &dyn Loader) -> Option<std::sync::Arc<str>> {
    if !has_lines(file) {
        return None;
    }
    let sources = &parsed.sources;
    match sources.files().find(|id| sources.name(*id) == file) {
        Some(id) => Some(sources.text(id).clone()),
        None => {
            let include = Include { name: file, kind: IncludeKind::Root, from: "" };
            loader.load(&include).ok().map(|loaded| loaded.text)
        }
    }
}

/// Returns all messages of a severity, with their source lines.
fn messages(parsed: &Parsed, severity: Severity) -> Vec<String> {
    let some = parsed.diagnostics.list().iter().filter(|diagnostic| diagnostic.severity == severity);
    some.map(|diagnostic| render(&parsed.sources, diagnostic)).collect()
}

fn mistake(parsed: &Parsed, diagnostic: &Diagnostic) -> Mistake {
    let severity = match diagnostic.severity {
        Severity::Error => ir::Severity::Error,
        Severity::Warning => ir::Severity::Warning,
    };
    let place = diagnostic.labels.first().and_then(|(span, _)| parsed.sources.place(*span));
    let (file, line, col) =
        place.map_or(("", 0, 0), |place| parsed.sources.line(place.region.file, place.region.bytes.start));
    let (text, help) = (diagnostic.message.clone(), diagnostic.help.clone());
    Mistake { severity, class: diagnostic.class.word(), file: file.to_owned(), line, col, text, help }
}
