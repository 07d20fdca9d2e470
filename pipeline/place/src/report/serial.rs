//! Forms in which parts of a report are serialised.

use super::Usage;
use serde::{Serialize, Serializer};
use sluice_asic::chip::Column;
use sluice_ir::Loc;

/// Serialises units by the id of their column.
pub(super) fn by_column<S: Serializer>(used: &Usage, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(Column::ALL.iter().zip(used))
}

/// Serialises a text; an empty one as nothing.
pub(super) fn unless_empty<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    (!text.is_empty()).then_some(text).serialize(serializer)
}

/// Serialises a place as its file and line.
pub(super) fn place<S: Serializer>(at: &Loc, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct SourceLine {
        file: &'static str,
        line: u32,
    }
    SourceLine { file: at.file, line: at.line }.serialize(serializer)
}
