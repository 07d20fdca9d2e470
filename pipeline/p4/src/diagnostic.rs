//! Errors and warnings of the front end.

use crate::source::{FileId, Region, SourceMap, Span};
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};

/// Severities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The program can be used.
    Warning,
    /// The program cannot be used.
    Error,
}

/// What a diagnostic is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// A file that cannot be included.
    Include,
    /// Another mistake in a directive or a macro.
    Preprocessor,
    /// Characters that are no token.
    Token,
    /// Tokens in a wrong order.
    Syntax,
    /// A part of the language, or an architecture, that Sluice does not have.
    Unsupported,
    /// A program beyond a limit of the front end.
    Limit,
    /// A name that is not declared, or declared twice.
    Name,
    /// A value of the wrong type.
    Type,
    /// A constant that is not known or out of range.
    Constant,
}

impl Class {
    /// Returns the word for the class in tables: `include`, `syntax`, ...
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Class::Include => "include",
            Class::Preprocessor => "preprocessor",
            Class::Token => "token",
            Class::Syntax => "syntax",
            Class::Unsupported => "unsupported",
            Class::Limit => "limit",
            Class::Name => "name",
            Class::Type => "type",
            Class::Constant => "constant",
        }
    }
}

/// An error or a warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// What it is about.
    pub class: Class,
    /// What was found and what was expected.
    pub message: String,
    /// Places with notes; the first is where the mistake is. A note may be empty.
    pub labels: Vec<(Span, String)>,
    /// How to correct the program; empty if there is no useful advice.
    pub help: String,
}

impl Diagnostic {
    /// Makes an error at a place.
    #[must_use]
    pub fn error(class: Class, at: Span, message: impl Into<String>) -> Diagnostic {
        let labels = vec![(at, String::new())];
        Diagnostic { severity: Severity::Error, class, message: message.into(), labels, help: String::new() }
    }

    /// Makes a warning at a place.
    #[must_use]
    pub fn warning(class: Class, at: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(class, at, message) }
    }

    /// Adds a note to the first place.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Diagnostic {
        if let Some(first) = self.labels.first_mut() {
            first.1 = note.into();
        }
        self
    }

    /// Adds another place, with its note.
    #[must_use]
    pub fn also(mut self, at: Span, note: impl Into<String>) -> Diagnostic {
        self.labels.push((at, note.into()));
        self
    }

    /// Adds advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = help.into();
        self
    }
}

/// Diagnostics in the order in which they were found, up to a limit of errors.
#[derive(Clone, Debug)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    limit: usize,
    errors: usize,
}

impl Default for Diagnostics {
    fn default() -> Self {
        Diagnostics::new(Diagnostics::LIMIT)
    }
}

impl Diagnostics {
    /// The default limit of errors.
    pub const LIMIT: usize = 20;

    /// Makes an empty list that keeps at most `limit` errors, and as many warnings.
    #[must_use]
    pub fn new(limit: usize) -> Diagnostics {
        Diagnostics { list: Vec::new(), limit, errors: 0 }
    }

    /// Adds a diagnostic. Beyond the limit, it is counted and not kept. Nothing is added if the list has the same message at
    /// the same place.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let error = diagnostic.severity == Severity::Error;
        let kept = if error { self.errors } else { self.list.len() - self.errors.min(self.limit) };
        if kept < self.limit && self.list.contains(&diagnostic) {
            return;
        }
        if kept < self.limit {
            self.list.push(diagnostic);
        }
        self.errors += usize::from(error);
    }

    /// Returns true if the limit of errors is reached, so that a pass can stop.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.errors >= self.limit
    }

    /// Returns the number of errors, also of those beyond the limit.
    #[must_use]
    pub fn errors(&self) -> usize {
        self.errors
    }

    /// Returns the diagnostics that were kept.
    #[must_use]
    pub fn list(&self) -> &[Diagnostic] {
        &self.list
    }
}

/// Returns a diagnostic as text, with its source lines, macros and includes.
#[must_use]
pub fn render(sources: &SourceMap, diagnostic: &Diagnostic) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let notes = notes(sources, diagnostic);
    let title = level.primary_title(&diagnostic.message);
    let mut group = Group::with_title(title);
    let mut rest = notes.as_slice();
    while let Some(first) = rest.first() {
        let same = rest.iter().take_while(|note| note.region.file == first.region.file).count();
        group = group.element(snippet(sources, &rest[..same]));
        rest = &rest[same..];
    }
    if !diagnostic.help.is_empty() {
        group = group.element(Level::HELP.message(&diagnostic.help));
    }
    Renderer::plain().render(&[group])
}

/// The greatest number of macros, the innermost first, whose definitions are shown for a place.
const SHOWN_MACROS: usize = 3;

/// A place that is shown, and the note on it.
struct Note {
    region: Region,
    kind: AnnotationKind,
    text: String,
}

/// Returns all places to show: the labels, and for those in macros also the definitions.
fn notes(sources: &SourceMap, diagnostic: &Diagnostic) -> Vec<Note> {
    let mut notes = Vec::new();
    for (index, (span, text)) in diagnostic.labels.iter().enumerate() {
        let Some(place) = sources.place(*span) else { continue };
        let kind = if index == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
        let included = includer(sources, &place.region).filter(|_| index == 0);
        notes.push(Note { region: place.region, kind, text: text.clone() });
        if let Some(region) = included {
            notes.push(Note { region, kind: AnnotationKind::Context, text: "included here".to_owned() });
        }
        for expanded in place.expanded.into_iter().take(SHOWN_MACROS) {
            let Some(region) = expanded.definition else { continue };
            let text = format!("in the definition of macro `{}`", sources.macro_name(expanded.of));
            notes.push(Note { region, kind: AnnotationKind::Context, text });
        }
    }
    notes
}

/// Returns the place of the user's `#include` that leads to a place in a built-in file.
fn includer(sources: &SourceMap, region: &Region) -> Option<Region> {
    let is_built_in = |file: FileId| sources.name(file).starts_with('<');
    let mut includers = sources.included_at(region.file).into_iter();
    if is_built_in(region.file) { includers.find(|region| !is_built_in(region.file)) } else { None }
}

/// Returns the source lines of notes in one file.
fn snippet<'s>(sources: &'s SourceMap, notes: &'s [Note]) -> Snippet<'s, Annotation<'s>> {
    let file = notes[0].region.file;
    let text = sources.text(file);
    let first = notes.iter().map(|note| note.region.bytes.start).min().unwrap_or(0);
    let last = notes.iter().map(|note| note.region.bytes.end).max().unwrap_or(0);
    let from = text[..first].rfind('\n').map_or(0, |at| at + 1);
    let until = text[last..].find('\n').map_or(text.len(), |at| last + at);
    let (name, line, _) = sources.line(file, first);
    let annotations = notes.iter().map(|note| {
        let bytes = note.region.bytes.start - from..note.region.bytes.end - from;
        let annotation = note.kind.span(bytes);
        if note.text.is_empty() { annotation } else { annotation.label(&note.text) }
    });
    Snippet::source(&text[from..until]).line_start(line as usize).path(name).annotations(annotations)
}
