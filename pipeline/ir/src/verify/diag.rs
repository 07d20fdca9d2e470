//! Diagnostics of programs: mistake, place, limit and fix.

use crate::Loc;

/// Severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Error: the program cannot be used.
    Error,
    /// Warning: the program can be used, but probably does not do what its author meant.
    Warning,
}

/// A diagnostic about a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diag {
    /// Severity.
    pub severity: Severity,
    /// The entity and its mistake, found and expected: one sentence without a full stop.
    pub text: String,
    /// Source location.
    pub at: Loc,
    /// Other relevant locations, each with a note.
    pub also: Vec<(Loc, String)>,
    /// How to fix it; empty if there is no useful advice.
    pub help: String,
}

impl Diag {
    /// Makes an error.
    #[must_use]
    pub fn error(at: Loc, text: impl Into<String>) -> Diag {
        Diag { severity: Severity::Error, text: text.into(), at, also: Vec::new(), help: String::new() }
    }

    /// Makes a warning.
    #[must_use]
    pub fn warning(at: Loc, text: impl Into<String>) -> Diag {
        Diag { severity: Severity::Warning, ..Diag::error(at, text) }
    }

    /// Sets how to fix it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Diag {
        self.help = help.into();
        self
    }

    /// Adds another location.
    #[must_use]
    pub fn also(mut self, at: Loc, note: impl Into<String>) -> Diag {
        self.also.push((at, note.into()));
        self
    }
}

impl std::fmt::Display for Diag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let word = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        write!(f, "{word}: {}", self.text)?;
        if !self.at.is_unknown() {
            write!(f, "\n  --> {}", self.at)?;
        }
        for (at, note) in &self.also {
            write!(f, "\n  --> {at}  {note}")?;
        }
        if !self.help.is_empty() {
            write!(f, "\n  = help: {}", self.help)?;
        }
        Ok(())
    }
}
