//! Deparsers, their checksums and requests.

use crate::{Expr, Field, Header, Home, Intrinsic, Loc, Program};

/// A deparser.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Deparser {
    /// Checksums, computed in order before headers are emitted.
    pub checksums: Vec<ChecksumUpdate>,
    /// Headers in wire order; headers that are not valid are left out.
    pub emit: Vec<Header>,
    /// Requests, in order.
    pub requests: Vec<Request>,
}

impl Deparser {
    /// Returns true if the deparser reads a field: sends or sums it, decides by it, or finds a session in it; or if it
    /// writes the field. Emitted headers do not count.
    #[must_use]
    pub fn reads(&self, field: Field) -> bool {
        let mut found = false;
        for request in &self.requests {
            found |= request.kind == RequestKind::Mirror(field) || request.when == Some(field);
            request.fields(&mut |f| found |= f == field);
        }
        for update in &self.checksums {
            found |= update.field == field || update.when == Some(field);
            update.inputs.iter().for_each(|e| e.fields(&mut |f| found |= f == field));
        }
        found
    }
}

/// A request: something that a deparser makes in addition to the packet, if the type field of its kind has
/// its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Kind of the request.
    pub kind: RequestKind,
    /// Value of [`RequestKind::type_field`] that makes the request. Without `when` it is at least 1, because a type
    /// field is 0 before an action writes it.
    pub selector: u8,
    /// 1-bit field that must be 1, too; `None` if the type field alone decides. Actions that write the type field set it:
    /// then 0 is a type as well, and clearing it takes the request back.
    pub when: Option<Field>,
    /// What it carries, as on the wire: fields, slices of fields and zeros, whole bytes in all. The bytes precede the
    /// resubmitted packet or the copy, or are the digest. Headers of fields need not be valid.
    pub data: Vec<Expr>,
    /// Source location.
    pub loc: Loc,
}

impl Request {
    /// Returns the number of bits that it carries.
    #[must_use]
    pub fn bits(&self, program: &Program) -> u32 {
        list_bits(program, &self.data)
    }

    /// Calls `visit` for every field that it carries, repeats included.
    pub fn fields(&self, visit: &mut impl FnMut(Field)) {
        self.data.iter().for_each(|item| item.fields(visit));
    }

    /// Returns true if it carries a field of a header.
    #[must_use]
    pub fn carries(&self, program: &Program, header: Header) -> bool {
        let mut found = false;
        self.fields(&mut |f| found |= program.fields.get(f).is_some_and(|d| d.home == Home::Header(header)));
        found
    }
}

/// Bits of a list that a deparser sends or sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListItem {
    /// Bits `hi` to `lo` of a field.
    Bits(Field, u16, u16),
    /// This many zeros.
    Zeros(u16),
}

impl ListItem {
    /// Returns the item that an expression is; `None` if it is neither a field, nor a slice of one, nor zeros.
    #[must_use]
    pub fn of(program: &Program, value: &Expr) -> Option<ListItem> {
        match value {
            Expr::Const(0, width) => Some(ListItem::Zeros(*width)),
            Expr::Field(f) => Some(ListItem::Bits(*f, value.width(program).checked_sub(1)?, 0)),
            Expr::Slice(inner, hi, lo) => match **inner {
                Expr::Field(f) if lo <= hi && *hi < inner.width(program) => Some(ListItem::Bits(f, *hi, *lo)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the number of bits.
    #[must_use]
    pub const fn width(self) -> u16 {
        match self {
            ListItem::Bits(_, hi, lo) => hi + 1 - lo,
            ListItem::Zeros(width) => width,
        }
    }
}

/// Returns the number of bits of a list.
#[must_use]
pub fn list_bits(program: &Program, list: &[Expr]) -> u32 {
    list.iter().map(|item| u32::from(item.width(program))).sum()
}

/// Returns the header whose fields a list has, all and in order.
#[must_use]
pub fn list_header(program: &Program, list: &[Expr]) -> Option<Header> {
    let Some(Expr::Field(first)) = list.first() else { return None };
    let Home::Header(header) = program.fields.get(*first)?.home else { return None };
    let fields = &program.headers.get(header)?.fields;
    let same = fields.len() == list.len() && fields.iter().zip(list).all(|(f, e)| *e == Expr::Field(*f));
    same.then_some(header)
}

impl Program {
    /// Returns the list of a header's fields, in order.
    #[must_use]
    pub fn header_list(&self, header: Header) -> Vec<Expr> {
        self.headers[header].fields.iter().map(|f| Expr::Field(*f)).collect()
    }
}

/// Kinds of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// Resubmit: the packet, as it came in, goes through ingress once more. In that pass the request is
    /// ignored.
    Resubmit,
    /// Mirror copy, for the session in the field.
    Mirror(Field),
    /// Digest to the control plane.
    Digest,
    /// Trigger of the pipe's packet generator; applications compare the header's bytes. Tofino 2.
    Pktgen,
}

impl RequestKind {
    /// Returns the intrinsic field that selects among the requests of this kind.
    #[must_use]
    pub const fn type_field(self) -> Intrinsic {
        match self {
            RequestKind::Resubmit => Intrinsic::ResubmitType,
            RequestKind::Mirror(_) => Intrinsic::MirrorType,
            RequestKind::Digest => Intrinsic::DigestType,
            RequestKind::Pktgen => Intrinsic::Pktgen,
        }
    }

    /// Returns the name in the text form.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            RequestKind::Resubmit => "resubmit",
            RequestKind::Mirror(_) => "mirror",
            RequestKind::Digest => "digest",
            RequestKind::Pktgen => "pktgen",
        }
    }
}

/// A ones' complement checksum that the deparser computes if its header is valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChecksumUpdate {
    /// Header that must be valid.
    pub header: Header,
    /// 1-bit field that must be 1, too; `None` if validity alone decides.
    pub when: Option<Field>,
    /// 16-bit field to write.
    pub field: Field,
    /// Inputs, concatenated in order as on the wire: metadata, fields of headers that the deparser emits, and zeros.
    /// Fields of a header that is not valid count as zeros: each input keeps its place among the 16-bit words.
    pub inputs: Vec<Expr>,
    /// True if a checksum of 0 is written as 0xffff, as UDP requires (TNA's `zeros_as_ones`).
    pub zeros_as_ones: bool,
    /// Source location.
    pub loc: Loc,
}
