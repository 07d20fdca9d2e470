//! From spans to places that a reader can open.

use super::map::Chunk;
use super::{FileId, MacroId, SourceMap, Span};
use std::ops::Range;

/// Bytes of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// The file.
    pub file: FileId,
    /// Bytes of its text.
    pub bytes: Range<usize>,
}

/// Where a span is for a reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The text in a file: the span itself, an argument of a macro, or the use of a macro.
    pub region: Region,
    /// The macros whose expansion the text is, the innermost first; empty for text that is spelled at `region`.
    pub expanded: Vec<Expanded>,
}

/// A macro that a span is an expansion of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expanded {
    /// The macro.
    pub of: MacroId,
    /// The text in its `#define` that the span is spelled as; `None` if the text is in no file, as for `-D`.
    pub definition: Option<Region>,
}

impl SourceMap {
    /// Returns the place of a span; `None` for [`Span::NONE`].
    #[must_use]
    pub fn place(&self, span: Span) -> Option<Position> {
        let mut span = span;
        let mut expanded = Vec::new();
        // Every step leads to a chunk that was added earlier, or from a spelling to the argument that it is in.
        loop {
            let (start, end) = (self.chunk(span.start)?, self.chunk(last_position(span))?);
            if start.0 != end.0 {
                span = self.lift(span)?;
                continue;
            }
            match start.1 {
                Chunk::File(file) => {
                    let bytes =
                        (span.start - start.0) as usize..(span.end.max(span.start) - start.0) as usize;
                    return Some(Position { region: Region { file, bytes }, expanded });
                }
                Chunk::Expansion(index) => {
                    let expansion = self.expansion(index);
                    let spelled = self.spelling(expansion, span);
                    if let Some(argument) = self.within(spelled, expansion.used_at) {
                        span = argument;
                    } else {
                        let definition = self.in_file(spelled);
                        expanded.push(Expanded { of: expansion.of, definition });
                        span = expansion.used_at;
                    }
                }
            }
        }
    }

    /// Returns the line and column of a byte of a file, both from 1, and the file's name, after line markers. Columns count
    /// characters.
    #[must_use]
    pub fn line(&self, file: FileId, offset: usize) -> (&str, u32, u32) {
        let file = self.file(file);
        let offset = offset.min(file.text.len());
        let marker = file.markers.iter().rev().find(|marker| marker.offset <= offset);
        let (name, first, from) = marker.map_or((&file.name, 1, 0), |m| (&m.name, m.line, m.offset));
        let before = |offset: usize| file.line_ends.partition_point(|end| (*end as usize) < offset);
        let lines = before(offset).saturating_sub(before(from));
        let start = before(offset).checked_sub(1).map_or(0, |last| file.line_ends[last] as usize + 1);
        let column = file.text.get(start..offset).map_or(offset - start, |text| text.chars().count());
        (name, first.saturating_add(lines as u32), column as u32 + 1)
    }

    /// Returns the places of the `#include`s that lead to a file, the innermost first.
    #[must_use]
    pub fn included_at(&self, file: FileId) -> Vec<Region> {
        let mut list = Vec::new();
        let mut at = self.file(file).included_at;
        while let Some(place) = self.place(at) {
            at = self.file(place.region.file).included_at;
            list.push(place.region);
        }
        list
    }

    /// Returns the bytes of a span that begins and ends in one file.
    fn in_file(&self, span: Span) -> Option<Region> {
        let (base, chunk) = self.chunk(span.start)?;
        let Chunk::File(file) = chunk else { return None };
        let is_same = self.chunk(last_position(span))?.0 == base && span.start <= span.end;
        is_same.then(|| Region { file, bytes: (span.start - base) as usize..(span.end - base) as usize })
    }

    /// Moves the end of a span that is in the later chunk to the place where that chunk is used or included.
    fn lift(&self, span: Span) -> Option<Span> {
        let (start, end) = (self.chunk(span.start)?, self.chunk(last_position(span))?);
        let later = if start.0 > end.0 { start.1 } else { end.1 };
        let used_at = match later {
            Chunk::File(file) => self.file(file).included_at,
            Chunk::Expansion(index) => self.expansion(index).used_at,
        };
        if used_at == Span::NONE {
            None
        } else if start.0 > end.0 {
            Some(Span::new(used_at.start, span.end))
        } else {
            Some(Span::new(span.start, used_at.end))
        }
    }

    /// Returns `inner`, lifted to the chunk of `outer`, if it is inside `outer` there.
    fn within(&self, inner: Span, outer: Span) -> Option<Span> {
        let (target, _) = self.chunk(outer.start)?;
        let mut span = inner;
        loop {
            let (start, end) = (self.chunk(span.start)?.0, self.chunk(last_position(span))?.0);
            if start == target && end == target {
                let inside = outer.start <= span.start && span.end <= outer.end;
                return inside.then_some(span);
            }
            if start != end {
                span = self.lift(span)?;
            } else if start < target {
                return None;
            } else {
                let Chunk::Expansion(index) = self.chunk(span.start)?.1 else { return None };
                span = self.expansion(index).used_at;
            }
        }
    }
}

/// Returns the position of the last byte or token of a span.
fn last_position(span: Span) -> u32 {
    if span.end == 0 {
        0
    } else if span.end == span.start {
        span.end
    } else {
        span.end - 1
    }
}
