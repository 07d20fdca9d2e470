//! Type fields that have been written.
//!
//! On the chip a type field that nothing wrote is invalid, and makes no request; 0 is a type like others. A type field of the
//! program is 0 at the start. So where 0 is a type, a field of one bit says that an action wrote the type.

use super::super::condition::Decision;
use super::super::frame::Frame;
use super::super::name::Space;
use super::super::places::{Place, SlotHome};
use super::super::{Lower, Res};
use crate::source::Span;
use crate::syntax::ast::ExprId;
use sluice_asic::gress::Gress;
use sluice_asic::intrinsic::Architecture;
use sluice_ir::{
    self as ir, CmpOp, Cond, Expr, FieldData, Home, Intrinsic, Loc, ParserOpKind, Primitive, PrimitiveKind,
};

/// Annotation of a program whose mirrors may have type 0. In others, mirrors of type 0 are the vendor's drops at the end of Tofino's
/// ingress, whose parser writes the type.
const OWN_TYPE_0: &str = "disable_reserved_i2e_drop_implementation";

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

    /// Lowers `is_validated(field)`: whether something wrote the field.
    pub(in crate::lower) fn is_validated(&mut self, frame: &Frame, field: ExprId, at: Span) -> Res<Decision> {
        let (which, width) = match self.place(frame, field) {
            Some(Place::Slot(slot)) => (self.storage.slots[slot].home, self.storage.slots[slot].width),
            _ => (SlotHome::Metadata, 0),
        };
        let of = match which {
            SlotHome::Intrinsic(
                of @ (Intrinsic::MirrorType | Intrinsic::ResubmitType | Intrinsic::DigestType),
            ) => of,
            SlotHome::Intrinsic(Intrinsic::UcastEgressPort) => {
                let (field, none) = (self.value(frame, field)?, Intrinsic::NO_PORT.into());
                return Ok(Decision::By(Cond::Cmp(CmpOp::Ne, field, Expr::Const(none, width))));
            }
            _ => {
                return Err(self.refuse(
                    at,
                    "nothing says whether this field is valid",
                    "ask for a type of a request or the egress port; ask `isValid` of a header",
                ));
            }
        };
        let drops =
            (self.chip, frame.gress, of) == (Architecture::Tna, Gress::Ingress, Intrinsic::MirrorType);
        if drops && !self.has_annotation(OWN_TYPE_0) {
            return Err(self.refuse(
                at,
                "the parser of Tofino's ingress makes `mirror_type` valid",
                format!("put `@{OWN_TYPE_0}` on a declaration, or leave the condition out: it is true"),
            ));
        }
        let flag = self.written_flag(frame.gress, of);
        Ok(Decision::By(Cond::Cmp(CmpOp::Eq, Expr::Field(flag), Expr::Const(1, 1))))
    }

    fn has_annotation(&self, name: &str) -> bool {
        let ast = self.ast;
        ast.decls.values().flat_map(|decl| &decl.annotations).any(|one| ast.text(one.name) == name)
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
