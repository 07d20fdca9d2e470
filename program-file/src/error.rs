//! Errors of a file, with the source lines that they are about.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use sluice_ir::Loc;
use sluice_ir::text::ParseError;
use sluice_ir::verify::{Diag, Severity};
use std::ops::Range;
use std::path::Path;

/// Mistakes in a file of a program. The text has, for each mistake, the place, the source line and advice.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct FileError {
    /// All mistakes, as they are printed.
    pub text: String,
    /// Each mistake, for programs that read them.
    pub mistakes: Vec<Mistake>,
}

/// A mistake and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Severity.
    pub severity: Severity,
    /// What it is about: `program`, or for mistakes of P4's front end the word of their [`Class`](sluice_p4::diagnostic::Class).
    pub class: &'static str,
    /// File, as messages name it; empty if the mistake has no place.
    pub file: String,
    /// Line from 1; 0 if the mistake has no place.
    pub line: u32,
    /// Column from 1, in characters.
    pub col: u32,
    /// The mistake: found and expected.
    pub text: String,
    /// How to correct it; empty if there is no useful advice.
    pub help: String,
}

impl Mistake {
    pub(crate) fn of(diag: &Diag) -> Mistake {
        Mistake {
            severity: diag.severity,
            class: "program",
            file: diag.at.file.to_owned(),
            line: diag.at.line,
            col: diag.at.col,
            text: diag.text.clone(),
            help: diag.help.clone(),
        }
    }
}

/// Returns the error of a text that cannot be read.
pub(crate) fn syntax(origin: &str, source: &str, error: &ParseError) -> FileError {
    let loc = Loc { file: "", line: error.line, col: error.col, text: sluice_ir::SourceText::default() };
    let found = format!("found {}, expected {}", error.found, error.expected);
    findings(origin, source, &[Diag::error(loc, found).help(error.help.clone())])
}

/// Returns the error of these findings.
pub(crate) fn findings(origin: &str, source: &str, diags: &[Diag]) -> FileError {
    // The places of a program from one text are all in it, whatever they are called.
    let text = |_: &str| Some(source);
    let texts: Vec<String> = diags.iter().map(|diag| rendered_as(diag, &text, Some(origin))).collect();
    FileError { text: texts.join("\n"), mistakes: diags.iter().map(Mistake::of).collect() }
}

/// Returns true if findings are shown with the lines of a file: those of a user's programs. Programs of a crate have places in Rust.
#[must_use]
pub fn has_lines(file: &str) -> bool {
    let extension = Path::new(file).extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| ["p4", "sluice", "p4h", "h", "inc"].contains(&extension))
}

/// Returns a finding with its source lines; `source` returns the text of a file. Places in files without a text are left out.
#[must_use]
pub fn rendered<'s>(diag: &'s Diag, source: &dyn Fn(&str) -> Option<&'s str>) -> String {
    rendered_as(diag, source, None)
}

/// As [`rendered`]; with `origin`, all places are in the file of that name.
fn rendered_as<'s>(
    diag: &'s Diag,
    source: &dyn Fn(&str) -> Option<&'s str>,
    origin: Option<&'s str>,
) -> String {
    let level = match diag.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(&diag.text);
    let mut group = Group::with_title(title);
    let places =
        std::iter::once((diag.at, "")).chain(diag.also.iter().map(|(at, note)| (*at, note.as_str())));
    let mut places: Vec<(usize, Loc, &str)> = places
        .enumerate()
        .filter(|(_, (at, _))| !at.is_unknown())
        .map(|(n, (at, note))| (n, at, note))
        .collect();
    while let Some(file) = places.first().map(|(_, at, _)| origin.unwrap_or(at.file)) {
        let (here, rest): (Vec<_>, Vec<_>) =
            places.into_iter().partition(|(_, at, _)| origin.unwrap_or(at.file) == file);
        places = rest;
        let Some(text) = source(file) else { continue };
        let marks = here.into_iter().map(|(number, at, note)| {
            let kind = if number == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
            let mark = kind.span(span(text, at));
            if note.is_empty() { mark } else { mark.label(note) }
        });
        group = group.element(Snippet::source(text).path(file).annotations(marks));
    }
    if !diag.help.is_empty() {
        group = group.element(Level::HELP.message(&diag.help));
    }
    Renderer::plain().render(&[group])
}

/// Returns the bytes of the word at a place, or of the one character there.
fn span(source: &str, at: Loc) -> Range<usize> {
    let line_start: usize =
        source.split_inclusive('\n').take(at.line.saturating_sub(1) as usize).map(str::len).sum();
    let rest = source.get(line_start..).unwrap_or_default();
    let line = rest.split('\n').next().unwrap_or_default();
    let column: usize = line.chars().take(at.col.saturating_sub(1) as usize).map(char::len_utf8).sum();
    let word = line.get(column..).unwrap_or_default();
    let length: usize = word
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '-'))
        .map(char::len_utf8)
        .sum();
    let one = word.chars().next().map_or(0, char::len_utf8);
    let start = line_start + column;
    start..start + length.max(one)
}
