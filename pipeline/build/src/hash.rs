//! Hash computations.

use super::draft::Name;
use super::gress::GressBuilder;
use super::handles::HashRef;
use sluice_asic::hash::{HashAlgorithm, UnknownHashName};
use sluice_ir::verify::Diag;
use sluice_ir::{Expr, HashData, Loc};

/// Hash algorithm, given as a value or by its name (`"crc_16"`).
pub trait Algorithm {
    /// Returns the algorithm.
    ///
    /// # Errors
    /// Refuses a name that no algorithm has.
    fn algorithm(self) -> Result<HashAlgorithm, UnknownHashName>;
}

impl Algorithm for HashAlgorithm {
    fn algorithm(self) -> Result<HashAlgorithm, UnknownHashName> {
        Ok(self)
    }
}

impl Algorithm for &str {
    fn algorithm(self) -> Result<HashAlgorithm, UnknownHashName> {
        HashAlgorithm::from_name(self)
    }
}

impl<'b> GressBuilder<'b> {
    /// Declares a hash computation that keeps the low `W` bits of the algorithm's output; `W` is 1 to 64.
    #[track_caller]
    pub fn hash<const W: u16>(&self, algorithm: impl Algorithm) -> HashBuilder<'b, W> {
        const { assert!(W >= 1 && W <= 64, "a hash has 1 to 64 bits") };
        let loc = Loc::caller();
        let name = self.builder.take_name("hash", loc);
        let algorithm = algorithm.algorithm().unwrap_or_else(|unknown| {
            self.builder.draft().diags.push(Diag::error(loc, unknown.to_string()));
            HashAlgorithm::Identity
        });
        HashBuilder {
            gress: *self,
            name,
            algorithm,
            inputs: Vec::new(),
            symmetric: Vec::new(),
            seed: 0,
            rotate: 0,
            loc,
        }
    }
}

/// A hash computation under construction; [`HashBuilder::build`] declares it.
#[must_use = "the hash is declared by `.build()`"]
#[derive(Debug)]
pub struct HashBuilder<'b, const W: u16> {
    gress: GressBuilder<'b>,
    name: Name,
    algorithm: HashAlgorithm,
    inputs: Vec<Expr>,
    symmetric: Vec<[u16; 2]>,
    seed: u64,
    rotate: u16,
    loc: Loc,
}

impl<const W: u16> HashBuilder<'_, W> {
    /// Sets the hashed values, in order, most significant bit first: `list![ipv4.src, ipv4.dst]`.
    pub fn inputs<const N: usize>(mut self, inputs: [Expr; N]) -> Self {
        self.inputs.extend(inputs);
        self
    }

    /// Makes the hash independent of the order of two inputs, as `@symmetric` does in P4: both directions of
    /// a flow get the same value. Call it after [`HashBuilder::inputs`]: `.symmetric(list![ipv4.src,
    /// ipv4.dst])`.
    #[track_caller]
    pub fn symmetric(mut self, pair: [Expr; 2]) -> Self {
        let place = |e: &Expr| self.inputs.iter().position(|input| input == e).map(|at| at as u16);
        match [place(&pair[0]), place(&pair[1])] {
            [Some(a), Some(b)] => self.symmetric.push([a, b]),
            _ => {
                let text = "a symmetric pair names a value that the hash does not have as input";
                let diag = Diag::error(Loc::caller(), text).help("list both values in `.inputs(..)` before");
                self.gress.builder.draft().diags.push(diag);
            }
        }
        self
    }

    /// Sets a seed, which is XORed into the kept bits before the rotation.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the rotation to the right, in bits, within the kept bits. It is applied last.
    pub fn rotate(mut self, bits: u16) -> Self {
        self.rotate = bits;
        self
    }

    /// Declares the hash.
    pub fn build(self) -> HashRef<W> {
        let mut draft = self.gress.builder.draft();
        let name = self.name.unique(|n| draft.program.hashes.values().any(|h| h.name == n));
        HashRef(draft.program.hashes.push(HashData {
            name,
            gress: self.gress.gress,
            algorithm: self.algorithm,
            inputs: self.inputs,
            symmetric: self.symmetric,
            width: W,
            seed: self.seed,
            rotate: self.rotate,
            doc: self.name.doc,
            loc: self.loc,
        }))
    }
}
