//! Parts of fields that operations on whole containers take.
//!
//! An operation on bits `hi` to `lo` of a wide field needs a container that holds these bits alone, from bit 0 on. The
//! other bits of the field can be anywhere. A field that has to be one number as a whole has no parts.

use super::moves::{Shape, Write};
use sluice_ir::verify::Diag;
use sluice_ir::{Field, Home, Program};
use std::collections::BTreeSet;

/// Bits of a field that have containers of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) lo: u16,
    pub(super) width: u16,
    /// True if the bits are one number, in one container.
    pub(super) number: bool,
}

impl Part {
    /// Returns the bit above the part.
    pub(super) fn end(self) -> u16 {
        self.lo + self.width
    }

    /// Returns true if a cut at this bit would divide the number.
    pub(super) fn is_divided_at(self, bit: u16) -> bool {
        self.number && (self.lo + 1..self.end()).contains(&bit)
    }

    /// Returns the bits of the containers that bytes of packets fill, of a field of this width. The bits above the part go
    /// to the padding of the result.
    pub(super) fn grown(self, field: u16) -> Part {
        let sizes = [8, 16, 32];
        let size = sizes
            .into_iter()
            .find(|s| self.number && *s >= self.width)
            .unwrap_or(self.width.next_multiple_of(8));
        let width = if self.lo + size <= field { size } else { self.width };
        Part { width, ..self }
    }

    fn meets(self, other: Part) -> bool {
        self.lo < other.end() && other.lo < self.end()
    }
}

/// Adds a part; parts that overlap become one.
pub(super) fn add(parts: &mut Vec<Part>, mut part: Part) {
    let (joined, mut apart): (Vec<Part>, Vec<Part>) = parts.iter().partition(|p| p.meets(part));
    for p in joined {
        let (lo, end) = (part.lo.min(p.lo), part.end().max(p.end()));
        part = Part { lo, width: end - lo, number: part.number || p.number };
    }
    apart.push(part);
    apart.sort_by_key(|p| p.lo);
    *parts = apart;
}

/// Returns the fields of which operations on whole containers take parts: those that are too wide for one container, and
/// these others, of which an operation takes some proper part.
pub(super) fn parted(program: &Program, writes: &[Write], others: &BTreeSet<Field>) -> BTreeSet<Field> {
    let mut found = BTreeSet::new();
    for w in writes.iter().filter(|w| is_whole_container(w.shape)) {
        for (f, _, m) in w.sources() {
            let width = program.fields[f].width;
            if m.width < width && (width > 32 || others.contains(&f)) {
                found.insert(f);
            }
        }
    }
    found
}

/// Returns true for operations on whole containers.
pub(super) fn is_whole_container(shape: Shape) -> bool {
    matches!(shape, Shape::Lanes | Shape::Number(_) | Shape::Funnel)
}

/// Returns what is wrong with a part of a field that cannot have containers of its own.
pub(super) fn unfit(program: &Program, field: Field, part: Part) -> Option<Diag> {
    let data = &program.fields[field];
    let (hi, lo) = (part.end() - 1, part.lo);
    let name = format!("bits {hi} to {lo} of `{}`", data.name);
    if part.number && part.width > 32 {
        let text = format!(
            "{name} are an operand of whole-container arithmetic, which has at most 32 bits of a field"
        );
        return Some(Diag::error(data.loc, text).help("copy them to a metadata field, and compute there"));
    }
    // Bits from the part's end back to a byte boundary.
    let beside = match data.home {
        Home::Metadata => return None,
        Home::Header(header) => program.field_offset(header, field)? + u32::from(data.width - lo),
        Home::Intrinsic(_) | Home::PortMetadata => u32::from(lo),
    };
    let filled = if part.number { matches!(part.width, 8 | 16 | 32) } else { part.width.is_multiple_of(8) };
    if beside.is_multiple_of(8) && filled {
        return None;
    }
    let text = format!(
        "{name} are an operand of a whole-container operation, but cannot have containers of their own: that takes {} \
         bits on a byte boundary",
        if part.number { "8, 16 or 32" } else { "a multiple of 8" }
    );
    Some(Diag::error(data.loc, text).help("copy them to a metadata field, and compute there"))
}
