//! Type fields that have been written.
//!
//! On the chip a type field that nothing wrote is invalid, and makes no request; 0 is a type like others. A type field of the
//! program is 0 at the start. So where 0 is a type, a field of one bit says that an action wrote the type.

use super::super::Lower;
use super::super::name::Space;
use sluice_asic::gress::Gress;
use sluice_ir::{self as ir, Expr, FieldData, Home, Intrinsic, Loc, ParserOpKind, Primitive, PrimitiveKind};

impl Lower<'_> {
    /// Returns the field that says whether a type field was written.
    pub(in crate::lower) fn written_flag(&mut self, gress: Gress, of: Intrinsic) -> ir::Field {
        if let Some(flag) = self.known_flag(gress, of) {
            return flag;
        }
        let own = of.info().name.rsplit('.').next().unwrap_or_default();
        let name = self.names.take(Space::Field(gress), &format!("{own}.$valid"));
        let (home, doc, loc) = (Home::Metadata, String::new(), Loc::default());
        let flag = self.program.fields.push(FieldData { name, gress, width: 1, home, doc, loc });
        self.written_flags.push((gress, of, flag));
        flag
    }

    /// Returns the flag of a type field if there is one.
    pub(super) fn known_flag(&self, gress: Gress, of: Intrinsic) -> Option<ir::Field> {
        let known = self.written_flags.iter().find(|(g, which, _)| (*g, *which) == (gress, of));
        known.map(|(.., flag)| *flag)
    }

    /// Sets the flags where type fields are written.
    pub(in crate::lower) fn set_written_flags(&mut self) {
        let one = Expr::Const(1, 1);
        for (gress, of, flag) in self.written_flags.clone() {
            let Some(of) = self.program.intrinsic(gress, of) else { continue };
            for action in self.program.actions.values_mut().filter(|a| a.gress == gress) {
                let flagged = action.body.iter().any(|p| writes(&p.kind, flag));
                let loc = action.body.iter().find(|p| writes(&p.kind, of)).map(|p| p.loc);
                if let Some(loc) = loc.filter(|_| !flagged) {
                    action.body.push(Primitive { kind: PrimitiveKind::Set(flag, one.clone()), loc });
                }
            }
            for state in self.program.states.values_mut().filter(|s| s.gress == gress) {
                let writes =
                    state.ops.iter().find(|op| matches!(&op.kind, ParserOpKind::Set(f, _) if *f == of));
                if let Some(loc) = writes.map(|op| op.loc) {
                    let kind = ParserOpKind::Set(flag, one.clone());
                    state.ops.push(ir::ParserOp { kind, loc });
                }
            }
        }
    }
}

/// Returns true if a primitive writes a field.
fn writes(kind: &PrimitiveKind, field: ir::Field) -> bool {
    match kind {
        PrimitiveKind::Set(to, _)
        | PrimitiveKind::SetSlice(to, ..)
        | PrimitiveKind::SetMasked(to, ..)
        | PrimitiveKind::Hash(to, _)
        | PrimitiveKind::HashSlice(to, ..)
        | PrimitiveKind::HashInto(to, ..)
        | PrimitiveKind::Random(to, _) => *to == field,
        PrimitiveKind::Register(access) => access.outputs.iter().any(|(_, to)| *to == field),
        PrimitiveKind::Meter(access) => access.to == field,
        _ => false,
    }
}
