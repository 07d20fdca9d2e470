//! Sums with data at the top of a byte.
//!
//! A constant or a parameter can be added to a field in the upper bits of a byte of a header although it shares the byte:
//! the unit adds zeros to the lower bits, and the carry leaves at the top. The result has the same bits of a container of
//! 8 bits. A metadata field takes it, which owns its container (model: chip §2.2), above bits without meaning.

use super::moves::{Shape, Source, Write};
use sluice_asic::alu::AluOp;
use sluice_ir::{Field, Home, Program};
use std::collections::BTreeMap;

/// Returns the fields that such sums read or write, each with its lowest bit in its byte. Other operations on whole containers
/// take none of them.
pub(super) fn tops(program: &Program, writes: &[Write]) -> BTreeMap<Field, u8> {
    let mut sums: Vec<&Write> = writes.iter().filter(|w| is_sum(program, w)).collect();
    loop {
        let mut found = BTreeMap::new();
        for field in sums.iter().flat_map(|w| touched(w)) {
            found.insert(field, 8 - program.fields[field].width as u8);
        }
        let others = writes.iter().filter(|w| super::parts::is_whole_container(w.shape) && !sums.contains(w));
        let bad: Vec<Field> = others.flat_map(touched).filter(|f| found.contains_key(f)).collect();
        if bad.is_empty() {
            return found;
        }
        sums.retain(|w| !touched(w).any(|f| bad.contains(&f)));
    }
}

/// Returns true for a sum of such a field with data.
pub(super) fn is_sum(program: &Program, w: &Write) -> bool {
    let (Shape::Number(op @ (AluOp::Add | AluOp::Sub)), [a, b]) = (w.shape, w.moves.as_slice()) else {
        return false;
    };
    let width = program.fields[w.dst].width;
    let (field, data) = match (a.source, b.source) {
        (Source::Field(f, 0), Source::Data) => (f, b),
        (Source::Data, Source::Field(f, 0)) if op == AluOp::Add => (f, a),
        _ => return false,
    };
    let whole = a.width == width && data.width == width && program.fields[field].width == width;
    let metadata = program.fields[w.dst].home == Home::Metadata;
    whole && width < 8 && is_topmost(program, field) && metadata
}

/// Returns true for a field of a header that begins at a byte.
fn is_topmost(program: &Program, field: Field) -> bool {
    let Home::Header(header) = program.fields[field].home else { return false };
    program.field_offset(header, field).is_some_and(|offset| offset.is_multiple_of(8))
}

fn touched(w: &Write) -> impl Iterator<Item = Field> {
    w.sources().map(|(f, ..)| f).chain([w.dst])
}
