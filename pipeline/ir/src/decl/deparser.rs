//! Deparsers, their checksums and requests.

use crate::{Field, Header, Intrinsic, Loc};

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

/// A request: something that a deparser makes in addition to the packet, if the type field of its kind has
/// its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Kind of the request.
    pub kind: RequestKind,
    /// Value of [`RequestKind::type_field`] that makes the request, from 1; 0 makes none.
    pub selector: u8,
    /// Header whose bytes it carries, valid or not: they precede the resubmitted packet or the copy, or are
    /// the digest.
    pub header: Option<Header>,
    /// Source location.
    pub loc: Loc,
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
    /// 16-bit field to write.
    pub field: Field,
    /// Inputs, concatenated in order as on the wire: metadata, and fields of headers that the deparser emits.
    /// Fields of a header that is not valid are left out.
    pub inputs: Vec<Field>,
    /// True if a checksum of 0 is written as 0xffff, as UDP requires (TNA's `zeros_as_ones`).
    pub zeros_as_ones: bool,
    /// Source location.
    pub loc: Loc,
}
