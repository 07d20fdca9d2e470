//! The deparser: checksums, emitted headers, resubmit, mirror, digest and packet-generator requests.

use super::fields::Hdr;
use super::gress::GressBuilder;
use super::stack::HdrStack;
use super::value::Bits;
use sluice_ir::{self as ir, ChecksumUpdate, Expr, Field, Loc, Program, Request, RequestKind};

impl<'b> GressBuilder<'b> {
    /// Extends the deparser of this gress. It emits headers in wire order, then the bytes that the parser did
    /// not extract; checksums are computed first.
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

/// What a request carries: a header, a list of fields and zeros (`list![ipv4.src, constant::<7>(0), m.port]`), or `()` for
/// nothing.
pub trait RequestData {
    /// Returns the values in the order of the wire.
    fn values(self, program: &Program) -> Vec<Expr>;
}

impl RequestData for () {
    fn values(self, _: &Program) -> Vec<Expr> {
        Vec::new()
    }
}

impl<T> RequestData for Hdr<T> {
    fn values(self, program: &Program) -> Vec<Expr> {
        program.header_list(self.id())
    }
}

impl<const N: usize> RequestData for [Expr; N] {
    fn values(self, _: &Program) -> Vec<Expr> {
        self.to_vec()
    }
}

impl Deparser<'_> {
    /// Resubmits the packet if `resubmit_type` is `selector` (1 to 7): the packet, as it came in, goes
    /// through ingress once more. `data` precedes the packet: at most 8 bytes on Tofino, 16 on Tofino 2
    /// (model: chip §6.4). The parser extracts it if `resubmit_flag` is 1. A resubmitted packet cannot be
    /// resubmitted again.
    #[track_caller]
    pub fn resubmit(self, selector: u8, data: impl RequestData) -> Self {
        self.request(RequestKind::Resubmit, selector, data, Loc::caller())
    }

    /// Makes a copy for mirror session `session` if `mirror_type` is `selector` (1 to 7; on Tofino 2, 1 to
    /// 15). `data` precedes the copy. Data and session number together have at most 32 bytes on Tofino, 48 on
    /// Tofino 2. A dropped packet is also copied.
    #[track_caller]
    pub fn mirror(self, selector: u8, session: Bits<10>, data: impl RequestData) -> Self {
        self.request(RequestKind::Mirror(session.0), selector, data, Loc::caller())
    }

    /// Sends `data` to the control plane as a digest if `digest_type` is `selector` (1 to 7). At most 48
    /// bytes.
    #[track_caller]
    pub fn digest(self, selector: u8, data: impl RequestData) -> Self {
        self.request(RequestKind::Digest, selector, data, Loc::caller())
    }

    /// Triggers the packet generator of the pipe if `pktgen` is 1. Applications with a request trigger
    /// compare `data`, at most 16 bytes. Tofino 2 only.
    #[track_caller]
    pub fn pktgen(self, data: impl RequestData) -> Self {
        self.request(RequestKind::Pktgen, 1, data, Loc::caller())
    }

    fn request(self, kind: RequestKind, selector: u8, data: impl RequestData, loc: Loc) -> Self {
        let program = &mut self.gress.builder.draft().program;
        let data = data.values(program);
        let request = Request { kind, selector, when: None, data, loc };
        program.pipes[self.gress.gress.index()].deparser.requests.push(request);
        self
    }

    /// Makes the last request only if a field of the metadata is 1, too. Actions that write the type field set it, so that 0
    /// is a type as well.
    #[must_use]
    pub fn when(self, flag: Bits<1>) -> Self {
        let program = &mut self.gress.builder.draft().program;
        if let Some(last) = program.pipes[self.gress.gress.index()].deparser.requests.last_mut() {
            last.when = Some(flag.0);
        }
        self
    }

    /// Writes a checksum like [`Deparser::checksum`], but only if a field of the metadata is 1, too. Inputs are fields and
    /// zeros (`list![m.src, constant::<8>(0), ipv4.protocol]`).
    #[track_caller]
    #[must_use]
    pub fn checksum_when<T, const N: usize>(
        self,
        header: Hdr<T>,
        flag: Bits<1>,
        field: Bits<16>,
        inputs: [Expr; N],
    ) -> Self {
        self.sum((header.id(), Some(flag.0)), field, inputs.to_vec(), false, Loc::caller())
    }

    /// Writes the ones' complement checksum over `inputs` to `field` if `header` is valid.
    ///
    /// Inputs are metadata fields, and fields of headers that this deparser emits; fields of a header that is not
    /// valid then are left out. For an incremental update (RFC 1624), the inputs are the metadata field of
    /// [`StateRef::subtract_checksum`](super::StateRef::subtract_checksum) and the fields with their new values.
    #[track_caller]
    pub fn checksum<T, const N: usize>(self, header: Hdr<T>, field: Bits<16>, inputs: [Field; N]) -> Self {
        self.update(header, field, inputs.to_vec(), false, Loc::caller())
    }

    /// Writes a checksum like [`Deparser::checksum`]; takes the inputs as a vector.
    #[track_caller]
    pub fn checksum_over<T>(self, header: Hdr<T>, field: Bits<16>, inputs: Vec<Field>) -> Self {
        self.update(header, field, inputs, false, Loc::caller())
    }

    /// Writes a checksum like [`Deparser::checksum_over`], with 0xffff in place of 0, which means "no
    /// checksum" in UDP.
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
        let inputs = inputs.into_iter().map(Expr::Field).collect();
        self.sum((header.id(), None), field, inputs, zeros_as_ones, loc)
    }

    fn sum(
        self,
        (header, when): (ir::Header, Option<Field>),
        field: Bits<16>,
        inputs: Vec<Expr>,
        zeros_as_ones: bool,
        loc: Loc,
    ) -> Self {
        let update = ChecksumUpdate { header, when, field: field.0, inputs, zeros_as_ones, loc };
        self.gress.builder.draft().program.pipes[self.gress.gress.index()].deparser.checksums.push(update);
        self
    }

    /// Emits the header after the headers emitted so far, if it is valid then. A stack emits its valid
    /// elements in order.
    pub fn emit(self, headers: impl Emits) -> Self {
        let list = headers.emitted();
        self.gress.builder.draft().program.pipes[self.gress.gress.index()].deparser.emit.extend(list);
        self
    }
}

/// Header or header stack that a deparser emits.
pub trait Emits {
    /// Returns the headers in wire order.
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
