//! Where the author of a program wrote something. Travels with every entity and statement; never part of
//! a program's meaning.

/// A place in a source file: what diagnostics point at.
///
/// Two programs that differ only in places are equal: `Loc` compares equal to every other `Loc`.
#[derive(Clone, Copy, Debug, Default, Eq)]
pub struct Loc {
    /// Source file as the compiler (or another front end) names it; empty when there is none.
    pub file: &'static str,
    /// Line from 1; 0 when unknown.
    pub line: u32,
    /// Column from 1; 0 when unknown.
    pub col: u32,
}

impl PartialEq for Loc {
    fn eq(&self, _: &Loc) -> bool {
        true
    }
}

impl Loc {
    /// The place of the caller, through every `#[track_caller]` step between.
    #[track_caller]
    #[must_use]
    pub fn caller() -> Loc {
        let at = std::panic::Location::caller();
        Loc { file: at.file(), line: at.line(), col: at.column() }
    }

    /// True when nobody said where.
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
