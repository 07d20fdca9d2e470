//! Exchanges: moves of one action by which fields get each other's values, such as `a = b; b = a;`.
//!
//! The chip reads all fields before it writes any, so these moves run at once. No order of them would do the same one after another; in
//! every other action, each move stands before those that write what it reads.

use crate::{Expr, Field, Primitive, PrimitiveKind, Program};

/// A move: the field and the bits that it writes, and the value.
fn moved<'p>(program: &Program, primitive: &'p Primitive) -> Option<(Field, (u16, u16), &'p Expr)> {
    match &primitive.kind {
        PrimitiveKind::Set(to, value) => Some((*to, (program.fields[*to].width.saturating_sub(1), 0), value)),
        PrimitiveKind::SetSlice(to, hi, lo, value) => Some((*to, (*hi, *lo), value)),
        _ => None,
    }
}

/// Returns true if a move reads bits of another field that another move writes.
fn reads(program: &Program, reader: &Primitive, writer: &Primitive) -> bool {
    let (Some((to, _, value)), Some((from, (hi, lo), _))) = (moved(program, reader), moved(program, writer))
    else {
        return false;
    };
    let mut found = false;
    value.field_bits(program, &mut |field, high, low| found |= field == from && low <= hi && lo <= high);
    found && to != from
}

/// Returns true if two moves of an action are parts of one exchange: `reader` reads what `writer` writes, and `writer` reads what
/// `reader` writes, or what other moves of the exchange write.
#[must_use]
pub fn is_exchange(program: &Program, body: &[Primitive], writer: usize, reader: usize) -> bool {
    let read_by = |one: usize, other: usize| match (body.get(one), body.get(other)) {
        (Some(one), Some(other)) => reads(program, one, other),
        _ => false,
    };
    let (mut seen, mut open) = (vec![false; body.len()], vec![writer]);
    while let Some(one) = open.pop() {
        for other in (0..body.len()).filter(|other| read_by(one, *other)) {
            if other == reader {
                return read_by(reader, writer);
            }
            if !std::mem::replace(&mut seen[other], true) {
                open.push(other);
            }
        }
    }
    false
}

/// Returns true if a move of an action is part of an exchange.
#[must_use]
pub fn exchanges(program: &Program, body: &[Primitive], of: usize) -> bool {
    (0..body.len()).any(|other| is_exchange(program, body, other, of))
}

/// Returns the fields that a move reads after an earlier move of the action has written them.
#[must_use]
pub fn exchanged(program: &Program, body: &[Primitive]) -> Vec<Field> {
    let mut fields = Vec::new();
    for (position, reader) in body.iter().enumerate() {
        let writers = body[..position].iter().filter(|writer| reads(program, reader, writer));
        fields.extend(writers.filter_map(|writer| moved(program, writer)).map(|(field, ..)| field));
    }
    fields.sort_unstable();
    fields.dedup();
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FieldData, Home, Loc};
    use sluice_asic::gress::Gress;

    /// Returns a program with fields of 8 bits, and the fields.
    fn fields<const N: usize>() -> (Program, [Field; N]) {
        let mut program = Program::default();
        let fields = std::array::from_fn(|n| {
            program.fields.push(FieldData {
                name: format!("f{n}"),
                gress: Gress::Ingress,
                width: 8,
                home: Home::Metadata,
                doc: String::new(),
                loc: Loc::default(),
            })
        });
        (program, fields)
    }

    fn set(to: Field, from: Field) -> Primitive {
        Primitive { kind: PrimitiveKind::Set(to, Expr::Field(from)), loc: Loc::default() }
    }

    #[test]
    fn moves_in_a_ring_are_an_exchange_and_moves_in_a_row_are_none() {
        let (program, [a, b, c, d]) = fields();
        let pair = [set(a, b), set(b, a)];
        assert!(is_exchange(&program, &pair, 0, 1) && exchanges(&program, &pair, 0));
        assert_eq!(exchanged(&program, &pair), [a]);
        let ring = [set(a, b), set(b, c), set(c, a), set(d, a)];
        assert!(is_exchange(&program, &ring, 0, 2) && exchanges(&program, &ring, 1));
        // `d` reads `a`, and nothing of the ring reads `d`.
        assert!(!is_exchange(&program, &ring, 0, 3) && !exchanges(&program, &ring, 3));
        let row = [set(a, b), set(b, c), set(c, d)];
        assert!((0..3).all(|one| !exchanges(&program, &row, one)) && exchanged(&program, &row).is_empty());
    }

    #[test]
    fn slices_are_exchanged_bit_by_bit() {
        let (program, [a, b]) = fields();
        let slice = |to: Field, from: Field, (hi, lo)| {
            let value = Expr::Slice(Box::new(Expr::Field(from)), hi, lo);
            Primitive { kind: PrimitiveKind::SetSlice(to, 3, 0, value), loc: Loc::default() }
        };
        assert!(exchanges(&program, &[slice(a, b, (3, 0)), slice(b, a, (3, 0))], 0));
        assert!(!exchanges(&program, &[slice(a, b, (3, 0)), slice(b, a, (7, 4))], 0));
    }
}
