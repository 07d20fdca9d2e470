//! The deparser. What may not live here: which headers are valid.

use super::fields::Hdr;
use super::gress::GressBuilder;
use super::value::Bits;
use crate::ir::{ChecksumUpdate, Field, Loc};

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

impl Deparser<'_> {
    /// Writes the ones' complement checksum over `inputs` to `field` whenever `header` is valid.
    #[track_caller]
    pub fn checksum<T, const N: usize>(self, header: Hdr<T>, field: Bits<16>, inputs: [Field; N]) -> Self {
        let update = ChecksumUpdate {
            header: header.id(),
            field: field.0,
            inputs: inputs.to_vec(),
            loc: Loc::caller(),
        };
        self.gress.builder.draft().program.pipes[self.gress.gress.index()].deparser.checksums.push(update);
        self
    }

    /// Emits the header after those before it, if it is valid then.
    pub fn emit<T>(self, header: Hdr<T>) -> Self {
        self.gress.builder.draft().program.pipes[self.gress.gress.index()].deparser.emit.push(header.id());
        self
    }
}
