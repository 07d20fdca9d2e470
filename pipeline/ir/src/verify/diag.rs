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

/// A number of the chip that a program exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Path of the number in a chip file, for example `deparser.checksum_units`.
    pub key: &'static str,
    /// The chip's number; 0 for a feature that it lacks.
    pub has: u64,
    /// The number with which the program would keep this rule; 1 for a feature.
    pub needs: u64,
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
    /// The number of the chip that is exceeded; `None` if the rule has none, or not a single one.
    pub limit: Option<Box<Limit>>,
    /// True for what P4 leaves undefined and compilers of P4 accept: a mistake in a program that is written for Sluice alone.
    pub undefined: bool,
}

impl Diag {
    /// Makes an error.
    #[must_use]
    pub fn error(at: Loc, text: impl Into<String>) -> Diag {
        Diag {
            severity: Severity::Error,
            text: text.into(),
            at,
            also: Vec::new(),
            help: String::new(),
            limit: None,
            undefined: false,
        }
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

    /// Says that P4 leaves the matter undefined.
    #[must_use]
    pub fn undefined(mut self) -> Diag {
        self.undefined = true;
        self
    }

    /// Sets the number of the chip that is exceeded.
    #[must_use]
    pub fn limit(mut self, key: &'static str, has: impl Into<u64>, needs: impl Into<u64>) -> Diag {
        self.limit = Some(Box::new(Limit { key, has: has.into(), needs: needs.into() }));
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
