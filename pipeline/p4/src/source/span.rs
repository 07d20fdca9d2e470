//! Positions and spans in the global position space.

/// A range of source text, as two positions of a [`SourceMap`](super::SourceMap).
///
/// All files and macro expansions of a program share one space of positions, so that a span is eight bytes and can be copied.
/// The first position may be in a file and the second in a macro expansion, or the reverse; `start` is then not necessarily
/// less than `end`. Only the source map interprets the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// Position of the first byte.
    pub start: u32,
    /// Position after the last byte.
    pub end: u32,
}

impl Span {
    /// The span of what no source text stands for, such as an implied declaration.
    pub const NONE: Span = Span { start: 0, end: 0 };

    /// Returns the span from position `start` up to position `end`.
    #[must_use]
    pub fn new(start: u32, end: u32) -> Span {
        Span { start, end }
    }

    /// Returns the span from the beginning of `self` to the end of `last`.
    #[must_use]
    pub fn to(self, last: Span) -> Span {
        if self == Span::NONE {
            last
        } else if last == Span::NONE {
            self
        } else {
            Span { start: self.start, end: last.end }
        }
    }

    /// Returns the empty span at the beginning of `self`.
    #[must_use]
    pub fn at_start(self) -> Span {
        Span { start: self.start, end: self.start }
    }

    /// Returns the empty span after the end of `self`.
    #[must_use]
    pub fn at_end(self) -> Span {
        Span { start: self.end, end: self.end }
    }
}
