//! Source locations of entities and statements. They are never part of a program's meaning.

/// A place in a source file, which diagnostics point at.
///
/// `Loc` compares equal to every other `Loc`, so that two programs that differ only in locations are equal.
#[derive(Clone, Copy, Debug, Default, Eq)]
pub struct Loc {
    /// Source file as the compiler (or another front end) names it; empty if unknown.
    pub file: &'static str,
    /// Line number from 1; 0 if unknown.
    pub line: u32,
    /// Column from 1; 0 if unknown.
    pub col: u32,
}

impl PartialEq for Loc {
    fn eq(&self, _: &Loc) -> bool {
        true
    }
}

impl Loc {
    /// Returns the location of the caller, through every `#[track_caller]` function in between.
    #[track_caller]
    #[must_use]
    pub fn caller() -> Loc {
        let at = std::panic::Location::caller();
        Loc { file: at.file(), line: at.line(), col: at.column() }
    }

    /// Returns true if the location is unknown.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.line == 0
    }
}

impl std::fmt::Display for Loc {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.is_unknown() {
            f.write_str("(no place)")
        } else {
            write!(f, "{}:{}:{}", self.file, self.line, self.col)
        }
    }
}
