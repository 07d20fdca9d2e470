//! Source locations of entities and statements. They are never part of a program's meaning.

/// The most characters of [`Loc::text`].
pub const MOST_TEXT: usize = 48;

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
    /// The author's words there, in one line of at most [`MOST_TEXT`] characters; empty if the front end does not keep it.
    pub text: SourceText,
}

/// An author's words at a place; it reads as a text. It is a thin pointer, because errors carry places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourceText(Option<&'static &'static str>);

impl SourceText {
    /// Returns these words of an author.
    #[must_use]
    pub const fn new(text: &'static &'static str) -> SourceText {
        SourceText(Some(text))
    }
}

impl std::ops::Deref for SourceText {
    type Target = str;

    fn deref(&self) -> &str {
        self.0.map_or("", |text| *text)
    }
}

impl std::fmt::Display for SourceText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self)
    }
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
        Loc { file: at.file(), line: at.line(), col: at.column(), text: SourceText::default() }
    }

    /// Returns the place as the outputs for authors have it, `leaf.p4:80`, without folders; `None` for a location without a text.
    #[must_use]
    pub fn short(&self) -> Option<String> {
        let name = self.file.rsplit(['/', '\\']).next().unwrap_or_default();
        (!self.text.is_empty() && !self.is_unknown()).then(|| format!("{name}:{}", self.line))
    }

    /// Returns true if both locations are the same place; `==` ignores places.
    #[must_use]
    pub fn is_at(&self, other: &Loc) -> bool {
        (self.file, self.line, self.col) == (other.file, other.line, other.col)
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
