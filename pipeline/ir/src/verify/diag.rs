//! Diagnostics about programs: what is wrong, where, against which limit, and what to do about it.

use crate::Loc;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The program cannot be used.
    Error,
    /// The program can be used, and probably does not do what its author meant.
    Warning,
}

/// One finding about a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diag {
    /// How bad it is.
    pub severity: Severity,
    /// The entity and what is wrong with it, found and expected, in one sentence without a full stop.
    pub text: String,
    /// Where the author wrote it.
    pub at: Loc,
    /// Other places that matter, with a word on each.
    pub also: Vec<(Loc, String)>,
    /// How to mend it; empty if nothing useful can be said.
    pub help: String,
}

impl Diag {
    /// An error.
    #[must_use]
    pub fn error(at: Loc, text: impl Into<String>) -> Diag {
        Diag { severity: Severity::Error, text: text.into(), at, also: Vec::new(), help: String::new() }
    }

    /// A warning.
    #[must_use]
    pub fn warning(at: Loc, text: impl Into<String>) -> Diag {
        Diag { severity: Severity::Warning, ..Diag::error(at, text) }
    }

    /// With a remedy.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Diag {
        self.help = help.into();
        self
    }

    /// With another place.
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
