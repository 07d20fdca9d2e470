//! Lists of fields and constants that a deparser sends or sums.

use super::super::frame::Frame;
use super::super::name::Space;
use super::super::{Lower, Res};
use crate::check::TyKind;
use crate::source::Span;
use crate::syntax::ast::{ExprId, ExprKind};
use sluice_asic::intrinsic::Architecture;
use sluice_ir::{self as ir, Expr, FieldData, Home, Loc};

/// A constant that a list names: the field that has it, and where the list is.
pub(in crate::lower) struct ListConstant {
    field: ir::Field,
    value: u128,
    loc: Loc,
}

impl Lower<'_> {
    /// Returns what a request carries. Members of a structure for the control plane begin with a byte each; other data are
    /// joined, with zeros that fill the last byte.
    pub(super) fn request_data(&mut self, frame: &Frame, data: ExprId, bytewise: bool) -> Res<Vec<Expr>> {
        let at = self.ast.exprs[data].span;
        let ty = self.ty(frame, data);
        let bytewise = bytewise && !matches!(self.checked.types.kind(ty), TyKind::Header(..));
        let scalars = self.scalars(frame, data)?;
        let layout = match self.checked.types.kind(ty).clone() {
            TyKind::Header(decl, args) | TyKind::Struct(decl, args) => self.scalars_of(decl, &args),
            _ => None,
        };
        let layout = layout.filter(|layout| layout.len() == scalars.len()).unwrap_or_default();
        let mut list = Vec::new();
        for (n, scalar) in scalars.into_iter().enumerate() {
            if bytewise {
                fill(&mut list, self.bits_of(&scalar));
            } else if let Some((at, _)) = layout.get(n) {
                let padding = at.saturating_sub(self.bits_of(&list));
                match self.padding_ahead(scalar.as_slice(), padding) {
                    Some(padding) => list.push(Expr::Field(padding)),
                    None => zeros(&mut list, padding as u16),
                }
            }
            for piece in scalar {
                let piece = if bytewise { self.in_whole_containers(frame, piece, at) } else { piece };
                self.list_item(frame, piece, &mut list, at)?;
            }
        }
        let missing = (8 - self.bits_of(&list) % 8) % 8;
        match self.padding_behind(list.last(), missing) {
            Some(padding) => list.push(Expr::Field(padding)),
            None => zeros(&mut list, missing as u16),
        }
        Ok(list)
    }

    /// Returns a copy of a header's field that begins or ends inside a byte: a list names whole containers, and those of the field
    /// have its neighbours too. The control makes the copy at its end.
    fn in_whole_containers(&mut self, frame: &Frame, value: Expr, at: Span) -> Expr {
        let Expr::Field(field) = value else { return value };
        let Home::Header(header) = self.program.fields[field].home else { return value };
        let width = self.program.fields[field].width;
        let offset = self.program.field_offset(header, field).unwrap_or(0);
        if offset.is_multiple_of(8) && width.is_multiple_of(8) {
            return value;
        }
        Expr::Field(self.copy_at_the_end(frame.gress, (header, field), at))
    }

    /// Returns the padding in front of a flexible member of a header: the containers of the member begin with it.
    fn padding_ahead(&self, scalar: &[Expr], bits: u32) -> Option<ir::Field> {
        let [Expr::Field(field)] = scalar else { return None };
        let Home::Header(header) = self.program.fields[*field].home else { return None };
        let instance = self.storage.instances.values().find(|of| of.header == Some(header))?;
        let fields = &self.program.headers[header].fields;
        let at = fields.iter().position(|other| other == field)?.checked_sub(1)?;
        let (padding, slot) = (*fields.get(at)?, instance.slots.get(at)?);
        let fits = u32::from(self.program.fields[padding].width) == bits;
        (instance.padding.contains(slot) && fits).then_some(padding)
    }

    /// Returns the padding that fills the last byte of a header behind this field: the containers of the field end with it.
    fn padding_behind(&self, last: Option<&Expr>, bits: u32) -> Option<ir::Field> {
        let Some(Expr::Field(field)) = last else { return None };
        let Home::Header(header) = self.program.fields[*field].home else { return None };
        let [.., before, padding] = self.program.headers[header].fields.as_slice() else { return None };
        let slots = &self.storage.instances.values().find(|of| of.header == Some(header))?.slots;
        let added = slots.len() < self.program.headers[header].fields.len();
        let fits = u32::from(self.program.fields[*padding].width) == bits;
        (added && before == field && fits).then_some(*padding)
    }

    fn bits_of(&self, list: &[Expr]) -> u32 {
        ir::list_bits(&self.program, list)
    }

    /// Returns the values of the scalars of a list, header, struct or scalar, in order, each in pieces.
    fn scalars(&mut self, frame: &Frame, id: ExprId) -> Res<Vec<Vec<Expr>>> {
        let ast = self.ast;
        let at = ast.exprs[id].span;
        if let Some(place) = self.place(frame, id) {
            let slots = self.storage.slots_of(&place);
            return slots.into_iter().map(|slot| self.current(slot, at)).collect();
        }
        let parts: Vec<ExprId> = match &ast.exprs[id].kind {
            ExprKind::List(parts) => parts.clone(),
            ExprKind::Record(parts) => parts.iter().map(|(_, part)| *part).collect(),
            ExprKind::Cast { operand, .. } if self.scalar_of(frame, id).is_none() => vec![*operand],
            _ => return self.pieces(frame, id).map(|pieces| vec![pieces]),
        };
        let mut scalars = Vec::new();
        for part in parts {
            scalars.extend(self.scalars(frame, part)?);
        }
        Ok(scalars)
    }

    /// Adds a value to a list that a deparser sends.
    fn list_item(&mut self, frame: &Frame, value: Expr, list: &mut Vec<Expr>, at: Span) -> Res<()> {
        match value {
            Expr::Const(0, width) => zeros(list, width),
            Expr::Const(value, width) => {
                let field = self.list_constant(frame, value, width, at);
                list.push(Expr::Field(field));
            }
            Expr::Field(_) => list.push(value),
            Expr::Slice(inner, hi, lo) if matches!(*inner, Expr::Field(_)) => {
                let Expr::Field(field) = *inner else { return Ok(()) };
                let above = self.program.fields[field].width - 1 - hi;
                let unset = lo == 0 && above == self.unset_bits(field);
                match list.last_mut() {
                    // The bits above are zeros on this chip: the whole field takes their place.
                    Some(Expr::Const(0, width)) if unset && *width >= above => {
                        *width -= above;
                        if *width == 0 {
                            list.pop();
                        }
                        list.push(Expr::Field(field));
                    }
                    _ => list.push(Expr::Slice(Box::new(Expr::Field(field)), hi, lo)),
                }
            }
            Expr::Cast(inner, width) if inner.width(&self.program) <= width => {
                zeros(list, width - inner.width(&self.program));
                self.list_item(frame, *inner, list, at)?;
            }
            _ => {
                let help = "compute the value in the control, write it to a member of the metadata, and name the member";
                return Err(self.refuse(at, "a list of a deparser has a computed value", help));
            }
        }
        Ok(())
    }

    /// Returns the high bits of an intrinsic field that the chip does not have.
    fn unset_bits(&self, field: ir::Field) -> u16 {
        match self.program.fields[field].home {
            Home::Intrinsic(which) if self.chip == Architecture::Tna => {
                let info = which.info();
                info.tofino2.saturating_sub(info.tofino)
            }
            _ => 0,
        }
    }

    /// Returns a field that has a constant, which the parser writes at its start.
    pub(super) fn list_constant(&mut self, frame: &Frame, value: u128, width: u16, at: Span) -> ir::Field {
        let loc = self.loc(at);
        let same = self.list_constants.iter().find(|known| {
            let data = &self.program.fields[known.field];
            known.value == value && data.width == width && data.gress == frame.gress && known.loc == loc
        });
        if let Some(known) = same {
            return known.field;
        }
        let name = self.names.take(Space::Field(frame.gress), &format!("constant_{value}"));
        let (gress, home, doc) = (frame.gress, Home::Metadata, String::new());
        let field = self.program.fields.push(FieldData { name, gress, width, home, doc, loc });
        self.list_constants.push(ListConstant { field, value, loc });
        field
    }

    /// Lets the first states of the parsers write the constants of lists.
    pub(in crate::lower) fn write_list_constants(&mut self) {
        for ListConstant { field, value, loc } in std::mem::take(&mut self.list_constants) {
            let data = &self.program.fields[field];
            let kind = ir::ParserOpKind::Set(field, Expr::Const(value, data.width));
            if let ir::Next::State(start) = self.program.pipes[data.gress.index()].start {
                self.program.states[start].ops.insert(0, ir::ParserOp { kind, loc });
            }
        }
    }
}

/// Adds zeros to a list.
fn zeros(list: &mut Vec<Expr>, more: u16) {
    match list.last_mut() {
        Some(Expr::Const(0, width)) => *width += more,
        _ if more > 0 => list.push(Expr::Const(0, more)),
        _ => {}
    }
}

/// Adds the zeros that a value of this many bits needs to end with a byte.
fn fill(list: &mut Vec<Expr>, bits: u32) {
    if !bits.is_multiple_of(8) {
        list.push(Expr::Const(0, (8 - bits % 8) as u16));
    }
}
