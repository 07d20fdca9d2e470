//! Value sets: what they are in the program, and the keys that they are compared with.

use super::super::Res;
use super::super::name::Space;
use super::super::places::SlotHome;
use super::bits::Bits;
use super::frame::Point;
use super::key::{InSet, whole_keys};
use super::walk::Walk;
use crate::check::TyKind;
use crate::elaborate::{Binding, ValueSetId};
use crate::syntax::ast::{DeclKind, ExprId};
use sluice_ir::{self as ir, ParamData, ValueSetData};

impl Walk<'_, '_> {
    /// Notes in `found` that a case compares the values from `first` on with the value set that `key` names.
    pub(super) fn value_set(
        &mut self,
        point: Point,
        key: ExprId,
        values: &[Bits],
        first: usize,
        found: &mut Option<InSet>,
    ) -> Res<()> {
        let at = self.span(key);
        if found.is_some() {
            return Err(self.refuse(
                at,
                "a case of a `select` has two value sets",
                "use one value set whose elements are a struct with a field for each value",
            ));
        }
        let block = self.frames[point.frame.0].block;
        let binding = self.cx.checked.decl_of(key).and_then(|decl| self.cx.pipe.binding(block, decl));
        let Some(&Binding::ValueSet(id)) = binding else {
            return Err(self.refuse(
                at,
                "a case of a `select` names a value set of another parser",
                "declare the value set in the parser that selects",
            ));
        };
        let set = self.declared_set(id)?;
        let fields = self.cx.program.value_sets[set].fields.len();
        let slots = &self.cx.storage.slots;
        if !whole_keys(values, first, fields, |slot| match slots[slot].home {
            SlotHome::Intrinsic(which) => which.info().tofino2.into(),
            _ => slots[slot].width.into(),
        }) {
            return Err(self.refuse(
                at,
                "a value set is compared with parts of fields, or with one field twice",
                "select on whole fields, each once, or compare with values that have masks",
            ));
        }
        *found = Some(InSet { set, first, fields });
        Ok(())
    }

    /// Returns the value set of the program for an instance.
    fn declared_set(&mut self, id: ValueSetId) -> Res<ir::ValueSet> {
        if let Some(&set) = self.cx.value_sets.get(&id) {
            return Ok(set);
        }
        let (ast, pipe) = (self.cx.ast, self.cx.pipe);
        let data = &pipe.value_sets[id];
        let decl = &ast.decls[data.decl];
        let at = decl.name.span;
        let DeclKind::ValueSet { of, .. } = &decl.kind else { return Err(super::super::Refused) };
        let ty = pipe.concrete(ast, self.cx.checked, data.block, self.cx.checked.type_uses[*of]);
        let members = match self.cx.checked.types.kind(ty) {
            TyKind::Struct(decl, _) => match &ast.decls[*decl].kind {
                DeclKind::Struct(of) => {
                    let field =
                        |f: &_| (ast.text(ast.decls[*f].name).to_owned(), self.cx.checked.decl_types[*f]);
                    of.fields.iter().map(field).collect()
                }
                _ => Vec::new(),
            },
            // A set of plain values has one field, as for other control planes.
            _ => vec![("f1".to_owned(), ty)],
        };
        let mut fields = Vec::new();
        for (name, ty) in members {
            let Some(width) = self.cx.scalar(ty).and_then(|scalar| u16::try_from(scalar.width).ok()) else {
                let ty = self.cx.checked.types.describe(ast, ty);
                let text = format!("elements of a value set have a field of type {ty}");
                return Err(self.refuse(at, text, "use `bit`, `bool` and serializable enumerations"));
            };
            fields.push(ParamData { name, width });
        }
        let name = self.cx.short(&data.name).to_owned();
        let name = self.cx.names.take(Space::ValueSet, &name);
        let (gress, doc, loc) = (self.cx.gress, String::new(), self.cx.loc(at));
        let made = ValueSetData { name, gress, fields, size: data.size, doc, loc };
        let set = self.cx.program.value_sets.push(made);
        self.cx.value_sets.insert(id, set);
        Ok(set)
    }
}
