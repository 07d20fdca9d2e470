//! From values to instructions.

use super::super::name::{Space, snake_case};
use super::super::places::{Place, Slot, SlotHome};
use super::super::simplify::{cast, is_leaf, joined, slice};
use super::super::{Lower, Res};
use super::{Body, Known};
use crate::source::Span;
use sluice_asic::alu::{AluOp, width_mask};
use sluice_ir::cfg::Var;
use sluice_ir::exchange::exchanges;
use sluice_ir::group::{reads, writes};
use sluice_ir::{
    Expr, Field, FieldData, Home, Intrinsic, Label, LabelData, LabelKind, Primitive, PrimitiveKind,
};

impl Lower<'_> {
    /// Returns the primitives of a body, each before those that write what it reads.
    pub(in crate::lower) fn emit(&mut self, body: Body) -> Res<Vec<Primitive>> {
        let Body { units, written, mut known, variables, .. } = body;
        let mut list = units;
        let mut refused = Ok(());
        for (slot, at) in written {
            if variables.contains(&slot) {
                continue;
            }
            if let Some(Known::Pieces(pieces)) = known.remove(&slot) {
                match self.instructions(slot, &pieces, at) {
                    Ok(primitives) => list.extend(primitives),
                    Err(error) => refused = Err(error),
                }
            }
        }
        refused?;
        self.ordered(list)
    }

    /// Returns the instructions that write a value to a field.
    fn instructions(&mut self, slot: Slot, pieces: &[Expr], at: Span) -> Res<Vec<Primitive>> {
        let loc = self.loc(at);
        let own = self.read(slot);
        let field = self.field(slot);
        let bits = self.program.fields[field].width;
        let mut pieces = joined(&self.program, pieces);
        if let Some(value) = widened(&self.program, &own, &pieces) {
            pieces = vec![value];
        }
        if let [value] = pieces.as_slice() {
            if *value == own {
                return Ok(Vec::new());
            }
            let value = self.fitted(value.clone(), bits);
            let value = self.one_operation(value, at)?;
            let kind = match self.storage.slots[slot].home {
                SlotHome::Intrinsic(Intrinsic::DropCtl) => {
                    let label = self.drop_label(at);
                    PrimitiveKind::DropCtl(field, value, label)
                }
                _ => PrimitiveKind::Set(field, value),
            };
            return Ok(vec![Primitive { kind, loc }]);
        }
        if self.storage.slots[slot].home == SlotHome::Intrinsic(Intrinsic::DropCtl) {
            let value = self.changed_bits(&own, &pieces, at)?;
            let label = self.drop_label(at);
            return Ok(vec![Primitive { kind: PrimitiveKind::DropCtl(field, value, label), loc }]);
        }
        let mut above = self.storage.slots[slot].width;
        let mut list = Vec::new();
        for piece in pieces {
            let (hi, lo) = (above - 1, above - piece.width(&self.program));
            above = lo;
            if piece == super::super::simplify::slice(&self.program, own.clone(), hi, lo) {
                continue;
            }
            let piece = if has_param(&piece) { piece } else { self.as_leaf(piece, at) };
            if !is_leaf(&piece) {
                return Err(self.refuse(
                    at,
                    "an ALU computes whole fields, and this is a computed part of one",
                    "write the result to a metadata field, and copy it to the part in a later action",
                ));
            }
            list.push(Primitive { kind: PrimitiveKind::SetSlice(field, hi, lo, piece), loc });
        }
        Ok(list)
    }

    /// Returns the value of a field of which constants set or clear some bits, by one operation on the whole field.
    fn changed_bits(&mut self, own: &Expr, pieces: &[Expr], at: Span) -> Res<Expr> {
        let width = own.width(&self.program);
        let all = width_mask(width.into());
        let (mut above, mut ones, mut zeros) = (width, 0, 0);
        if let [.., kept, bit] = pieces
            && above > 1
            && bit.width(&self.program) == 1
            && !matches!(bit, Expr::Const(..))
            && !has_param(bit)
            && pieces.len() == 2
            && *kept == slice(&self.program, own.clone(), above - 1, 1)
        {
            // The other bits and the new one meet in one operation.
            let others = Expr::Alu(AluOp::And, Box::new(own.clone()), Box::new(Expr::Const(all & !1, width)));
            let (others, bit) = (self.as_leaf(others, at), self.as_leaf(bit.clone(), at));
            let bit = self.as_leaf(cast(&self.program, bit, width), at);
            return Ok(Expr::Alu(AluOp::Or, Box::new(others), Box::new(bit)));
        }
        for piece in pieces {
            let (hi, lo) = (above - 1, above - piece.width(&self.program));
            above = lo;
            if *piece == slice(&self.program, own.clone(), hi, lo) {
                continue;
            }
            let Expr::Const(value, bits) = *piece else {
                let help = "write the whole field, or write constants to its bits";
                return Err(self.refuse(
                    at,
                    "a part of `drop_ctl` is written with a value that varies",
                    help,
                ));
            };
            ones |= value << lo;
            zeros |= (!value & width_mask(bits.into())) << lo;
        }
        let (op, mask) = match (ones, zeros) {
            (ones, 0) => (AluOp::Or, ones),
            (0, zeros) => (AluOp::And, !zeros & all),
            _ => {
                let help = "write the whole field, or set and clear in two actions";
                return Err(self.refuse(
                    at,
                    "an action sets some bits of `drop_ctl` and clears others",
                    help,
                ));
            }
        };
        Ok(Expr::Alu(op, Box::new(own.clone()), Box::new(Expr::Const(mask, width))))
    }

    /// Returns a value as wide as a field that is wider than the program has it.
    fn fitted(&self, value: Expr, bits: u16) -> Expr {
        let fit = |e: Expr| cast(&self.program, e, bits);
        match value {
            Expr::Alu(op, a, b) if a.width(&self.program) != bits => {
                Expr::Alu(op, Box::new(fit(*a)), Box::new(fit(*b)))
            }
            value => fit(value),
        }
    }

    /// Returns a value of one operation: of several, all but the last are computed before the action, unless they take its parameters.
    fn one_operation(&mut self, value: Expr, at: Span) -> Res<Expr> {
        let fits = match &value {
            Expr::Alu(_, a, b) | Expr::Funnel(a, b, _) => is_leaf(a) && is_leaf(b),
            value => is_leaf(value),
        };
        if fits {
            return Ok(value);
        }
        if !has_param(&value) {
            return Ok(self.simplified(value, at));
        }
        Err(self.refuse(
            at,
            "this value takes several operations, and an instruction does one",
            "write a part of the value to a metadata field in an earlier action",
        ))
    }

    /// Returns a value with its inner operations computed by earlier actions.
    fn simplified(&mut self, value: Expr, at: Span) -> Expr {
        match value {
            Expr::Alu(op, a, b) => {
                let (a, b) = (self.as_leaf(*a, at), self.as_leaf(*b, at));
                Expr::Alu(op, Box::new(a), Box::new(b))
            }
            Expr::Funnel(a, b, by) => {
                let (a, b) = (self.as_leaf(*a, at), self.as_leaf(*b, at));
                Expr::Funnel(Box::new(a), Box::new(b), by)
            }
            Expr::Slice(inner, hi, lo) => {
                let inner = self.as_leaf(*inner, at);
                slice(&self.program, inner, hi, lo)
            }
            Expr::Cast(inner, width) => {
                let inner = self.as_leaf(*inner, at);
                cast(&self.program, inner, width)
            }
            value => value,
        }
    }

    /// Returns a value that an earlier action computes into a field, unless it has no operation.
    pub(in crate::lower) fn as_leaf(&mut self, value: Expr, at: Span) -> Expr {
        if is_leaf(&value) {
            return value;
        }
        let value = self.simplified(value, at);
        if is_leaf(&value) {
            return value;
        }
        let width = value.width(&self.program);
        let field = self.field_before(width, at);
        let loc = self.loc(at);
        self.before.push(Primitive { kind: PrimitiveKind::Set(field, value), loc });
        Expr::Field(field)
    }

    /// Returns a field into which an earlier action writes a value.
    pub(in crate::lower) fn field_of(&mut self, value: Expr, at: Span) -> Expr {
        let value = self.simplified(value, at);
        let field = self.field_before(value.width(&self.program), at);
        let loc = self.loc(at);
        self.before.push(Primitive { kind: PrimitiveKind::Set(field, value), loc });
        Expr::Field(field)
    }

    /// Returns a hash that an earlier action computes into a field.
    pub(in crate::lower) fn hash_before(&mut self, hash: sluice_ir::Hash, at: Span) -> Expr {
        let field = self.field_before(self.program.hashes[hash].width, at);
        let loc = self.loc(at);
        self.before.push(Primitive { kind: PrimitiveKind::Hash(field, hash), loc });
        Expr::Field(field)
    }

    /// Returns a field into which an earlier action copies pieces, the most significant first.
    pub(in crate::lower) fn gather_before(&mut self, pieces: Vec<Expr>, width: u16, at: Span) -> Expr {
        let pieces: Vec<Expr> = pieces.into_iter().map(|piece| self.as_leaf(piece, at)).collect();
        let field = self.field_before(width, at);
        let (loc, mut above) = (self.loc(at), width);
        for piece in pieces {
            let (hi, lo) = (above - 1, above - piece.width(&self.program));
            above = lo;
            self.before.push(Primitive { kind: PrimitiveKind::SetSlice(field, hi, lo, piece), loc });
        }
        Expr::Field(field)
    }

    fn field_before(&mut self, width: u16, at: Span) -> Field {
        let (gress, loc) = (self.gress, self.loc(at));
        let name = self.names.take(Space::Field(gress), &format!("step_l{}", loc.line));
        let (home, doc) = (Home::Metadata, String::new());
        self.note(at, "a value of several steps", "an earlier action computes a part of it");
        self.program.fields.push(FieldData { name, gress, width, home, doc, loc })
    }

    /// Returns the label of a drop: action or block, and line.
    pub(in crate::lower) fn drop_label(&mut self, at: Span) -> Label {
        let loc = self.loc(at);
        if let Some((name, kind)) = self.reason {
            let known =
                self.program.labels.iter().find(|(_, label)| label.name == name && label.kind == kind);
            return known.map(|(label, _)| label).unwrap_or_else(|| {
                let name = self.names.take(Space::Label, name);
                self.program.labels.push(LabelData { name, kind, doc: String::new(), loc })
            });
        }
        let wanted = format!("{}_l{}", snake_case(&self.owner), loc.line);
        let name = self.names.take(Space::Label, &wanted);
        let doc = format!("`drop_ctl` is written in `{}`, line {}.", self.owner, loc.line);
        self.program.labels.push(LabelData { name, kind: LabelKind::Drop, doc, loc })
    }

    /// Orders primitives so that none reads what an earlier one writes, but for exchanges of values.
    fn ordered(&mut self, mut list: Vec<Primitive>) -> Res<Vec<Primitive>> {
        let mut done = Vec::new();
        while !list.is_empty() {
            let free = (0..list.len()).find(|&index| {
                let written = writes(&self.program, self.gress, &list[index].kind);
                let others = list.iter().enumerate().filter(|(other, _)| *other != index);
                !others.into_iter().any(|(_, other)| self.read_by(other, &list[index], &written))
            });
            let in_exchange = |index: &usize| exchanges(&self.program, &list, *index);
            let Some(free) = free.or_else(|| (0..list.len()).find(in_exchange)) else {
                self.break_cycle(&mut list)?;
                continue;
            };
            done.push(list.remove(free));
        }
        Ok(done)
    }

    /// Lets readers of a field read a copy that an earlier action makes, so that the field can be written: a unit reads what the
    /// action writes, or a slice goes to other bits of its own field.
    fn break_cycle(&mut self, list: &mut [Primitive]) -> Res<()> {
        let field = list.iter().find_map(|primitive| match primitive.kind {
            PrimitiveKind::Set(field, _) | PrimitiveKind::SetSlice(field, ..) => {
                let reader = |other: &Primitive| match &other.kind {
                    PrimitiveKind::Set(to, value) => *to != field && reads_of(value, field),
                    PrimitiveKind::SetSlice(.., value) => reads_of(value, field),
                    _ => false,
                };
                list.iter().any(reader).then_some(field)
            }
            _ => None,
        });
        let at = self.owner_at;
        let Some(field) = field else {
            let written: Vec<Var> =
                list.iter().flat_map(|p| writes(&self.program, self.gress, &p.kind)).collect();
            let names: Vec<String> = list
                .iter()
                .flat_map(|p| reads(&self.program, &p.kind))
                .filter(|var| written.contains(var))
                .map(|var| format!("`{}`", var.name(&self.program)))
                .collect();
            let text = format!(
                "a unit of this action reads a field that the action exchanges with another one: {}",
                names.join(", ")
            );
            return Err(self.refuse(at, text, "copy the field to a metadata field in an earlier action"));
        };
        let (name, width) = (self.program.fields[field].name.clone(), self.program.fields[field].width);
        let (gress, loc) = (self.gress, self.loc(at));
        let copy = self.names.take(Space::Field(gress), &format!("{name}.before"));
        let (home, doc) = (Home::Metadata, String::new());
        let copy = self.program.fields.push(FieldData { name: copy, gress, width, home, doc, loc });
        for primitive in list {
            match &mut primitive.kind {
                PrimitiveKind::Set(to, value) if *to != field => replace(value, field, copy),
                PrimitiveKind::SetSlice(.., value) => replace(value, field, copy),
                _ => {}
            }
        }
        self.before.push(Primitive { kind: PrimitiveKind::Set(copy, Expr::Field(field)), loc });
        self.note(
            at,
            format!("an exchange of values with `{name}`"),
            "an earlier action copies the field, where the chip does without the copy",
        );
        Ok(())
    }

    /// Returns true if a primitive reads what another one writes.
    fn read_by(&self, reader: &Primitive, writer: &Primitive, written: &[Var]) -> bool {
        let found = match (&reader.kind, &writer.kind) {
            (PrimitiveKind::HashInto(..), PrimitiveKind::SetSlice(..) | PrimitiveKind::HashInto(..))
            | (PrimitiveKind::SetSlice(..), PrimitiveKind::HashInto(..)) => {
                let mut found = Vec::new();
                reader.reads(&self.program, &mut |field| found.push(Var::Field(field)));
                found
            }
            // Slices of one field are deposited together; only the value is read.
            (PrimitiveKind::SetSlice(field, _, _, value), PrimitiveKind::SetSlice(other, hi, lo, _)) => {
                let mut found = false;
                value.field_bits(&self.program, &mut |f, high, low| {
                    found |= f == *other && low <= *hi && *lo <= high;
                });
                let _ = field;
                return found;
            }
            _ => reads(&self.program, &reader.kind),
        };
        found.iter().any(|var| written.contains(var))
    }

    /// Returns the value of a slot at this point of the body.
    pub(in crate::lower) fn current(&mut self, slot: Slot, at: Span) -> Res<Vec<Expr>> {
        if self.body.deposits.iter().any(|(other, ..)| *other == slot) {
            let name = self.storage.slots[slot].name.clone();
            return Err(self.refuse(
                at,
                format!("`{name}` takes a hash in this action, and is read in the same action"),
                "read it in a later action: the hash arrives when the instructions have run",
            ));
        }
        self.kept(slot, at)
    }

    /// Returns the value of a slot at this point of the body, with the bits that hashes replace as they were.
    pub(super) fn kept(&mut self, slot: Slot, at: Span) -> Res<Vec<Expr>> {
        match self.body.known.get(&slot) {
            Some(Known::Pieces(pieces)) => Ok(pieces.clone()),
            Some(&Known::Hash(hash)) => {
                let value = self.hash_before(hash, at);
                Ok(vec![value])
            }
            Some(Known::Result) => {
                let name = self.storage.slots[slot].name.clone();
                Err(self.refuse(
                    at,
                    format!("`{name}` takes the result of another unit in this action, and is read in the same action"),
                    "read it in a later action: the result arrives when the instructions have run",
                ))
            }
            None => Ok(vec![self.read(slot)]),
        }
    }

    /// Returns the hash whose result a place has at this point of the body.
    pub(in crate::lower) fn known_hash(&self, place: &Place) -> Option<sluice_ir::Hash> {
        let Place::Slot(slot) = place else { return None };
        match self.body.known.get(slot)? {
            Known::Hash(hash) => Some(*hash),
            _ => None,
        }
    }
}

/// Returns bitwise operations of bits of a field and constants as one operation on the whole field: the other bits have a
/// constant that leaves them as they are. `None` if the pieces are anything else.
fn widened(program: &sluice_ir::Program, own: &Expr, pieces: &[Expr]) -> Option<Expr> {
    let op = pieces.iter().find_map(|piece| match piece {
        Expr::Alu(op @ (AluOp::And | AluOp::Or | AluOp::Xor), ..) => Some(*op),
        _ => None,
    })?;
    let width = own.width(program);
    let (mut above, mut bits) = (width, 0u128);
    for piece in pieces {
        let (hi, lo) = (above - 1, above - piece.width(program));
        above = lo;
        let same = slice(program, own.clone(), hi, lo);
        let mask = width_mask(u32::from(hi - lo) + 1);
        let part = match piece {
            Expr::Alu(found, a, b) if *found == op => match (a.as_ref(), b.as_ref()) {
                (a, Expr::Const(value, _)) if *a == same => *value,
                (Expr::Const(value, _), b) if *b == same => *value,
                _ => return None,
            },
            piece if *piece == same => {
                if op == AluOp::And {
                    mask
                } else {
                    0
                }
            }
            _ => return None,
        };
        bits |= part << lo;
    }
    Some(Expr::Alu(op, Box::new(own.clone()), Box::new(Expr::Const(bits, width))))
}

fn reads_of(value: &Expr, field: Field) -> bool {
    let mut found = false;
    value.fields(&mut |f| found |= f == field);
    found
}

/// Replaces a field in a value.
fn replace(value: &mut Expr, field: Field, by: Field) {
    match value {
        Expr::Field(found) if *found == field => *found = by,
        Expr::Slice(inner, ..) | Expr::Cast(inner, _) => replace(inner, field, by),
        Expr::Alu(_, a, b) | Expr::Funnel(a, b, _) => {
            replace(a, field, by);
            replace(b, field, by);
        }
        Expr::Field(_) | Expr::Const(..) | Expr::Param(..) => {}
    }
}

/// Returns true if a value takes a parameter of the action.
pub(in crate::lower) fn has_param(value: &Expr) -> bool {
    match value {
        Expr::Param(..) => true,
        Expr::Field(_) | Expr::Const(..) => false,
        Expr::Slice(inner, ..) | Expr::Cast(inner, _) => has_param(inner),
        Expr::Alu(_, a, b) | Expr::Funnel(a, b, _) => has_param(a) || has_param(b),
    }
}
