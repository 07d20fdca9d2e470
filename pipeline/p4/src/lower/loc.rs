//! Source locations of the program's parts.

use super::Lower;
use crate::source::Span;
use sluice_ir::Loc;
use std::collections::BTreeSet;
use std::sync::{Mutex, OnceLock, PoisonError};

impl Lower<'_> {
    /// Returns the location of a span: of text from a macro, that of the outermost use.
    pub(super) fn loc(&self, at: Span) -> Loc {
        let Some(place) = self.texts.place(at) else { return Loc::default() };
        let (name, line, col) = self.texts.line(place.region.file, place.region.bytes.start);
        Loc { file: interned(name), line, col }
    }
}

/// Returns a file name that lives as long as the process. Equal names are kept once, because a watched program is lowered often.
fn interned(name: &str) -> &'static str {
    static NAMES: OnceLock<Mutex<BTreeSet<&'static str>>> = OnceLock::new();
    let mut names = NAMES.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return known;
    }
    let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
    names.insert(name);
    name
}
