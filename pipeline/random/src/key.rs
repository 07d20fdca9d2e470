//! Draws key columns of entries.

use crate::Draw;
use sluice_ir::{Key, KeyValue, MatchKind, Program};

/// Draws a column of an entry for a key, often one that small values of packets match.
pub fn key_value(d: &mut Draw<'_>, key: &Key, program: &Program) -> KeyValue {
    let compared = key.compared(program);
    match column(d, key.kind, key.width(program)) {
        KeyValue::Exact(value) => KeyValue::Exact(value & compared),
        KeyValue::Ternary { value, mask } => KeyValue::Ternary { value: value & compared, mask },
        other => other,
    }
}

fn column(d: &mut Draw<'_>, kind: MatchKind, width: u16) -> KeyValue {
    let full = sluice_asic::alu::width_mask(u32::from(width));
    match kind {
        MatchKind::Exact => KeyValue::Exact(d.value(width)),
        MatchKind::Ternary => {
            let mask = match d.below(4) {
                0 => full,
                1 => 0,
                2 => d.value(width),
                _ => full ^ 3 & full,
            };
            KeyValue::Ternary { value: d.value(width) & mask, mask }
        }
        MatchKind::Range => {
            let (a, b) = (d.value(width), d.value(width));
            KeyValue::Range { lo: a.min(b), hi: a.max(b) }
        }
        MatchKind::Lpm => {
            let len = d.below(usize::from(width) + 1) as u16;
            let mask = if len == 0 { 0 } else { full << (width - len) & full };
            KeyValue::Lpm { value: d.value(width) & mask, len }
        }
    }
}
