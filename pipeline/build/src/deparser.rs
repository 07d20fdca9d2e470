//! The deparser.

use super::fields::Hdr;
use super::gress::GressBuilder;
use super::stack::HdrStack;
use super::value::Bits;
use sluice_ir::{self as ir, ChecksumUpdate, Field, Loc, Request, RequestKind};

impl<'b> GressBuilder<'b> {
    /// Adds to what leaves this gress: checksums, then headers in wire order, then the bytes that the parser
    /// did not extract.
    pub fn deparser(&self) -> Deparser<'b> {
        self.builder.forget_name();
        Deparser { gress: *self }
    }
}

/// Adds checksums and headers to a gress' deparser.
#[derive(Clone, Copy, Debug)]
pub struct Deparser<'b> {
    gress: GressBuilder<'b>,
}

/// The header of a request: a header, or `()` for none.
pub trait RequestData {
    /// The header in the program.
    fn header(self) -> Option<ir::Header>;
}

impl RequestData for () {
    fn header(self) -> Option<ir::Header> {
        None
    }
}

impl<T> RequestData for Hdr<T> {
    fn header(self) -> Option<ir::Header> {
        Some(self.id())
    }
}

impl Deparser<'_> {
    /// Sends the packet, as it came in, through ingress once more when `resubmit_type` is `selector` (1 to 7).
    /// The data stand in front of it: the parser extracts them if `resubmit_flag` is 1. At most 8 bytes on
    /// Tofino, 16 on Tofino 2 (model: chip §6.4). A resubmitted packet cannot be resubmitted again.
    #[track_caller]
    pub fn resubmit(self, selector: u8, data: impl RequestData) -> Self {
        self.request(RequestKind::Resubmit, selector, data, Loc::caller())
    }

    /// Makes a copy for the mirror session in `session` when `mirror_type` is `selector` (1 to 7, on Tofino 2
    /// to 15). The data stand in front of it: with the session's number at most 32 bytes on Tofino, 48 on
    /// Tofino 2. A dropped packet is copied as well.
    #[track_caller]
    pub fn mirror(self, selector: u8, session: Bits<10>, data: impl RequestData) -> Self {
        self.request(RequestKind::Mirror(session.0), selector, data, Loc::caller())
    }

    /// Sends the data to the control plane when `digest_type` is `selector` (1 to 7). At most 48 bytes.
    #[track_caller]
    pub fn digest<T>(self, selector: u8, data: Hdr<T>) -> Self {
        self.request(RequestKind::Digest, selector, data, Loc::caller())
    }

    /// Asks the packet generator of the pipe for packets when `pktgen` is 1: applications with a request trigger
    /// compare the data, at most 16 bytes. Tofino 2 only.
    #[track_caller]
    pub fn pktgen(self, data: impl RequestData) -> Self {
        self.request(RequestKind::Pktgen, 1, data, Loc::caller())
    }

    fn request(self, kind: RequestKind, selector: u8, data: impl RequestData, loc: Loc) -> Self {
        let request = Request { kind, selector, header: data.header(), loc };
        self.gress.builder.draft().program.pipes[self.gress.gress.index()].deparser.requests.push(request);
        self
    }

    /// Writes the ones' complement checksum over `inputs` to `field` whenever `header` is valid. Inputs are metadata
    /// and fields of headers that this deparser emits; those of a header that is invalid then are left out. An
    /// incremental update (RFC 1624) sums the complement of the old checksum, a metadata field, and what came in.
    #[track_caller]
    pub fn checksum<T, const N: usize>(self, header: Hdr<T>, field: Bits<16>, inputs: [Field; N]) -> Self {
        self.update(header, field, inputs.to_vec(), false, Loc::caller())
    }

    /// As [`Deparser::checksum`], over inputs that were collected.
    #[track_caller]
    pub fn checksum_over<T>(self, header: Hdr<T>, field: Bits<16>, inputs: Vec<Field>) -> Self {
        self.update(header, field, inputs, false, Loc::caller())
    }

    /// As [`Deparser::checksum_over`], and writes 0xffff for 0, which UDP uses for "none".
    #[track_caller]
    pub fn udp_checksum_over<T>(self, header: Hdr<T>, field: Bits<16>, inputs: Vec<Field>) -> Self {
        self.update(header, field, inputs, true, Loc::caller())
    }

    fn update<T>(
        self,
        header: Hdr<T>,
        field: Bits<16>,
        inputs: Vec<Field>,
        zeros_as_ones: bool,
        loc: Loc,
    ) -> Self {
        let update = ChecksumUpdate { header: header.id(), field: field.0, inputs, zeros_as_ones, loc };
        self.gress.builder.draft().program.pipes[self.gress.gress.index()].deparser.checksums.push(update);
        self
    }

    /// Emits the header after those before it, if it is valid then; of a stack the valid elements in order.
    pub fn emit(self, headers: impl Emits) -> Self {
        let list = headers.emitted();
        self.gress.builder.draft().program.pipes[self.gress.gress.index()].deparser.emit.extend(list);
        self
    }
}

/// What a deparser emits: a header, or a stack.
pub trait Emits {
    /// The headers in wire order.
    fn emitted(self) -> Vec<ir::Header>;
}

impl<T> Emits for Hdr<T> {
    fn emitted(self) -> Vec<ir::Header> {
        vec![self.id()]
    }
}

impl<T, const N: usize> Emits for HdrStack<T, N> {
    fn emitted(self) -> Vec<ir::Header> {
        self.headers().to_vec()
    }
}
