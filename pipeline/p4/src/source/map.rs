//! The source map: which file or expansion has which positions.

use super::Span;
use sluice_entity::EntityMap;
use sluice_entity::entities;
use std::sync::Arc;

entities! {
    /// One reading of a file: a file that is included twice has two.
    FileId = "file";
    /// A definition of a macro.
    MacroId = "macro";
}

/// The program has more than 2^32 bytes and tokens of expansions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// One reading of a file.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) base: u32,
    pub(super) name: Arc<str>,
    pub(super) text: Arc<str>,
    /// Offsets of the line feeds.
    pub(super) line_ends: Vec<u32>,
    /// The `#include` that this reading belongs to.
    pub(super) included_at: Span,
    /// Line markers: the offset of the first byte after the marker's line, and that byte's line and file name.
    pub(super) markers: Vec<Marker>,
}

#[derive(Clone, Debug)]
pub(super) struct Marker {
    pub(super) offset: usize,
    pub(super) line: u32,
    pub(super) name: Arc<str>,
}

#[derive(Clone, Debug)]
struct Macro {
    name: Arc<str>,
}

/// A use of a macro. Its token `i` has position `base + i` and is spelled at `spelled[first + i]`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expansion {
    pub(super) base: u32,
    pub(super) of: MacroId,
    pub(super) used_at: Span,
    first: u32,
    len: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chunk {
    File(FileId),
    Expansion(u32),
}

/// The files and macro expansions of a program.
#[derive(Clone, Debug)]
pub struct SourceMap {
    /// In order of their bases.
    chunks: Vec<(u32, Chunk)>,
    files: EntityMap<FileId, File>,
    macros: EntityMap<MacroId, Macro>,
    expansions: Vec<Expansion>,
    spelled: Vec<Span>,
    next: u32,
}

impl Default for SourceMap {
    fn default() -> Self {
        SourceMap {
            chunks: Vec::new(),
            files: EntityMap::new(),
            macros: EntityMap::new(),
            expansions: Vec::new(),
            spelled: Vec::new(),
            // Position 0 belongs to no text: `Span::NONE`.
            next: 1,
        }
    }
}

impl SourceMap {
    /// Makes a map without texts.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn reserve(&mut self, len: usize, chunk: Chunk) -> Result<u32, Full> {
        let base = self.next;
        let after = u32::try_from(len).ok().and_then(|len| base.checked_add(len)?.checked_add(1));
        self.next = after.ok_or(Full)?;
        self.chunks.push((base, chunk));
        Ok(base)
    }

    /// Adds a reading of a file; `included_at` is its `#include`, [`Span::NONE`] for the root.
    ///
    /// # Errors
    /// Refuses the file if no positions are left for its bytes.
    pub fn add_file(&mut self, name: &str, text: Arc<str>, included_at: Span) -> Result<FileId, Full> {
        let id = self.files.next_key();
        let base = self.reserve(text.len(), Chunk::File(id))?;
        let ends = text.bytes().zip(0..).filter(|(byte, _)| *byte == b'\n');
        let line_ends = ends.map(|(_, at)| at).collect();
        self.files.push(File { base, name: name.into(), text, line_ends, included_at, markers: Vec::new() });
        Ok(id)
    }

    /// Adds a definition of a macro.
    pub fn add_macro(&mut self, name: &str) -> MacroId {
        self.macros.push(Macro { name: name.into() })
    }

    /// Adds a use of a macro: the place of the use, and where each of the resulting tokens is spelled. Returns the position of
    /// the first token; each token takes one position.
    ///
    /// # Errors
    /// Refuses the expansion if no positions are left for its tokens.
    pub fn add_expansion(&mut self, of: MacroId, used_at: Span, spelled: &[Span]) -> Result<u32, Full> {
        let index = u32::try_from(self.expansions.len()).map_err(|_| Full)?;
        let first = u32::try_from(self.spelled.len()).map_err(|_| Full)?;
        let base = self.reserve(spelled.len(), Chunk::Expansion(index))?;
        self.spelled.extend_from_slice(spelled);
        self.expansions.push(Expansion { base, of, used_at, first, len: spelled.len() as u32 });
        Ok(base)
    }

    /// Adds a line marker: the text from byte `offset` of a file on is line `line` of the file `name`. Markers of a file come
    /// in order of their offsets.
    pub fn add_marker(&mut self, file: FileId, offset: usize, line: u32, name: &str) {
        self.files[file].markers.push(Marker { offset, line, name: name.into() });
    }

    /// Returns the span of bytes of a file.
    #[must_use]
    pub fn span(&self, file: FileId, bytes: std::ops::Range<usize>) -> Span {
        let base = self.files[file].base;
        Span::new(base + bytes.start as u32, base + bytes.end as u32)
    }

    /// Returns the position of a file's first byte.
    #[must_use]
    pub fn base(&self, file: FileId) -> u32 {
        self.files[file].base
    }

    /// Returns the text of a file.
    #[must_use]
    pub fn text(&self, file: FileId) -> &Arc<str> {
        &self.files[file].text
    }

    /// Returns the name of a file, without regard of line markers.
    #[must_use]
    pub fn name(&self, file: FileId) -> &str {
        &self.files[file].name
    }

    /// Returns all readings of files, in the order in which they were added.
    pub fn files(&self) -> impl Iterator<Item = FileId> + use<> {
        self.files.keys()
    }

    /// Returns the name of a macro.
    #[must_use]
    pub fn macro_name(&self, of: MacroId) -> &str {
        &self.macros[of].name
    }

    pub(super) fn file(&self, id: FileId) -> &File {
        &self.files[id]
    }

    pub(super) fn expansion(&self, index: u32) -> Expansion {
        self.expansions[index as usize]
    }

    /// Returns what has this position, and the base of it.
    pub(super) fn chunk(&self, position: u32) -> Option<(u32, Chunk)> {
        let after = self.chunks.partition_point(|&(base, _)| base <= position);
        after.checked_sub(1).map(|index| self.chunks[index])
    }

    /// Returns where tokens of an expansion are spelled, for a span of positions in it.
    pub(super) fn spelling(&self, expansion: Expansion, span: Span) -> Span {
        if expansion.len == 0 {
            return expansion.used_at;
        }
        let token = |position: u32| position.saturating_sub(expansion.base).min(expansion.len - 1);
        let at = |token: u32| self.spelled[(expansion.first + token) as usize];
        let first = at(token(span.start));
        if span.end <= span.start { first.at_start() } else { first.to(at(token(span.end - 1))) }
    }
}
