//! Structs of field handles: headers, metadata, intrinsic metadata.

use super::draft::Builder;
use super::value::{Bits, Ro};
use sluice_asic::gress::Gress;
use sluice_ir::{self as ir, FieldData, Home, Loc};
use std::ops::Deref;

/// A struct whose fields are handles; `#[derive(Header)]` implements it.
pub trait Fields: Copy {
    /// Doc comment of the struct.
    const DOC: &'static str;
    /// Declares every field in order.
    fn declare(declarer: &mut Declarer<'_>) -> Self;
}

/// A field handle that a header or metadata struct may contain.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a field handle",
    note = "fields of headers and metadata are `Bits<W>` with their width in bits"
)]
pub trait Handle {
    /// Declares a field of this handle's width.
    fn declare(declarer: &mut Declarer<'_>, name: &str, doc: &str) -> Self;
}

impl<const W: u16> Handle for Bits<W> {
    fn declare(declarer: &mut Declarer<'_>, name: &str, doc: &str) -> Self {
        const { assert!(W >= 1 && W <= 128, "a field has 1 to 128 bits") };
        Bits(declarer.add(name, W, doc))
    }
}

/// Declares the fields of one struct, in order.
#[derive(Debug)]
pub struct Declarer<'b> {
    pub(super) builder: &'b Builder,
    pub(super) gress: Gress,
    pub(super) prefix: String,
    pub(super) home: Home,
    pub(crate) fields: Vec<ir::Field>,
    pub(super) loc: Loc,
}

impl Declarer<'_> {
    fn add(&mut self, name: &str, width: u16, doc: &str) -> ir::Field {
        let data = FieldData {
            name: format!("{}.{name}", self.prefix),
            gress: self.gress,
            width,
            home: self.home,
            doc: doc.to_owned(),
            loc: self.loc,
        };
        let field = self.builder.draft().program.fields.push(data);
        self.fields.push(field);
        field
    }
}

/// A struct of intrinsic metadata of [`tna`](super::tna).
pub trait IntrinsicFields: Copy {
    /// Declares every field that the gress does not have yet.
    fn declare(declarer: &mut IntrinsicDeclarer<'_>) -> Self;
}

/// Handle of an intrinsic field: [`Bits`] if programs may write the field, otherwise [`Ro`].
pub trait IntrinsicHandle {
    /// Width of the field in bits, on Tofino 2.
    const WIDTH: u16;
    /// True if programs may write the field.
    const WRITABLE: bool;
    /// Returns the handle of a declared field.
    fn of(field: ir::Field) -> Self;
}

impl<const W: u16> IntrinsicHandle for Bits<W> {
    const WIDTH: u16 = W;
    const WRITABLE: bool = true;
    fn of(field: ir::Field) -> Self {
        Bits(field)
    }
}

impl<const W: u16> IntrinsicHandle for Ro<W> {
    const WIDTH: u16 = W;
    const WRITABLE: bool = false;
    fn of(field: ir::Field) -> Self {
        Ro(field)
    }
}

/// Declares intrinsic fields of one gress, each once.
#[derive(Debug)]
pub struct IntrinsicDeclarer<'b> {
    pub(super) builder: &'b Builder,
    pub(super) gress: Gress,
    pub(super) loc: Loc,
}

impl IntrinsicDeclarer<'_> {
    /// Returns the field of `which`; declares it at first use.
    pub fn field<H: IntrinsicHandle>(&mut self, which: ir::Intrinsic, doc: &str) -> H {
        H::of(self.builder.draft().intrinsic(self.gress, which, doc, self.loc))
    }
}

/// A header instance: its fields and its validity.
#[derive(Clone, Copy, Debug)]
pub struct Hdr<T> {
    fields: T,
    id: ir::Header,
}

impl<T> Hdr<T> {
    pub(crate) fn new(fields: T, id: ir::Header) -> Hdr<T> {
        Hdr { fields, id }
    }

    /// Returns the header in the finished program.
    #[must_use]
    pub fn id(&self) -> ir::Header {
        self.id
    }
}

impl<T> Deref for Hdr<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.fields
    }
}

impl<T> From<Hdr<T>> for ir::Header {
    fn from(header: Hdr<T>) -> ir::Header {
        header.id
    }
}
