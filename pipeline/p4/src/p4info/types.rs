//! Types of keys, parameters, registers and digests.

use super::{Writer, own_name};
use crate::check::{Ty, TyKind, Value};
use crate::syntax::ast::{DeclId, DeclKind};
use std::collections::BTreeSet;

impl Writer<'_> {
    /// Returns the width of a type in bits; 0 for one that is no number.
    pub(super) fn width(&self, ty: Ty) -> u32 {
        match *self.checked.types.kind(self.checked.base(self.ast, ty)) {
            TyKind::Bits(width) | TyKind::Signed(width) => width,
            TyKind::Bool => 1,
            _ => 0,
        }
    }

    /// Writes the width of a type, and its name if `type` declares it.
    pub(super) fn bit_width(&mut self, ty: Ty) {
        self.out.field("bitwidth", self.width(ty));
        if let TyKind::Newtype(decl) = *self.checked.types.kind(ty) {
            self.struct_name("type_name", decl);
        }
    }

    /// Writes a `P4DataTypeSpec` under a name.
    pub(super) fn type_spec(&mut self, name: &str, ty: Ty) {
        self.out.open(name);
        match self.checked.types.kind(ty).clone() {
            TyKind::Struct(decl, _) => self.struct_name("struct", decl),
            TyKind::Header(decl, _) => self.struct_name("header", decl),
            TyKind::Newtype(decl) => self.struct_name("new_type", decl),
            TyKind::Bool => self.out.message("bool", |_| {}),
            TyKind::Tuple(parts) => {
                self.out.open("tuple");
                parts.iter().for_each(|part| self.type_spec("members", *part));
                self.out.close();
            }
            TyKind::Signed(_) => self.bits("int", ty),
            _ => self.bits("bit", ty),
        }
        self.out.close();
    }

    fn bits(&mut self, kind: &str, ty: Ty) {
        let width = self.width(ty);
        self.out.message("bitstring", |text| text.message(kind, |text| text.field("bitwidth", width)));
    }

    fn struct_name(&mut self, kind: &str, decl: DeclId) {
        self.named.insert(decl);
        let name = self.ast.text(self.ast.decls[decl].name);
        self.out.message(kind, |text| text.string("name", name));
    }

    /// Writes the types that other messages name, and those that these name.
    pub(super) fn type_info(&mut self) {
        let mut told = BTreeSet::new();
        while let Some(decl) = self.named.difference(&told).next().copied() {
            if told.is_empty() {
                self.out.open("type_info");
            }
            told.insert(decl);
            self.named_type(decl);
        }
        if !told.is_empty() {
            self.out.close();
        }
    }

    fn named_type(&mut self, decl: DeclId) {
        let ast = self.ast;
        let (list, fields) = match &ast.decls[decl].kind {
            DeclKind::Struct(of) => ("structs", of.fields.as_slice()),
            DeclKind::Header(of) => ("headers", of.fields.as_slice()),
            _ => ("new_types", [].as_slice()),
        };
        self.out.open(list);
        self.out.string("key", ast.text(ast.decls[decl].name));
        self.out.open("value");
        if let Some(own) = self.checked.representation(ast, decl).filter(|_| list == "new_types") {
            self.type_spec("original_type", own);
        }
        for field in fields {
            self.out.open("members");
            self.out.string("name", &own_name(ast, *field));
            let ty = self.checked.decl_types[*field];
            if list == "headers" {
                // Fields of headers are nothing but bits, so their message has one level less.
                let kind = if matches!(self.checked.types.kind(ty), TyKind::Signed(_)) { "int" } else { "bit" };
                let width = self.width(ty);
                self.out.message("type_spec", |text| text.message(kind, |text| text.field("bitwidth", width)));
            } else {
                self.type_spec("type_spec", ty);
            }
            self.out.close();
        }
        self.out.close();
        self.out.close();
    }

    /// Returns the unit that a counter or meter counts in.
    pub(super) fn unit(&self, value: Option<&Value>) -> &'static str {
        let Some(Value::Member(decl)) = value else { return "BOTH" };
        match self.ast.text(self.ast.decls[*decl].name) {
            "PACKETS" => "PACKETS",
            "BYTES" => "BYTES",
            _ => "BOTH",
        }
    }
}
