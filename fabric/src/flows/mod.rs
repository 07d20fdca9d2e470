//! Flows: a key, where from, where to, how much.

mod capture;
mod generate;

pub use capture::{Extracted, extract};
pub use generate::{Generator, Workload};

use sluice_asic::hash::rank::rank;

/// Bytes of a flow's key: IPv4 source and destination, protocol, source and destination port, TTL.
pub const KEY_BYTES: usize = 14;

/// One flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Its key, in network order; the TTL is that at the source.
    pub key: [u8; KEY_BYTES],
    /// Edge that it starts at, as index.
    pub from: u32,
    /// Edge that it ends at, as index.
    pub to: u32,
    /// Bytes that it carries.
    pub bytes: u64,
}

/// Where an experiment's flows come from.
#[derive(Clone, Copy, Debug)]
pub enum Flows<'a> {
    /// They are made, each when it is needed.
    Made(&'a Generator),
    /// They are there, such as those of a capture.
    Given(&'a [Flow]),
}

impl Flows<'_> {
    /// How many.
    #[must_use]
    pub fn count(&self) -> u64 {
        match self {
            Flows::Made(generator) => generator.count(),
            Flows::Given(flows) => flows.len() as u64,
        }
    }

    /// Puts flow `first` and up to `most` of those after it into `into`, in place of what is there.
    pub fn read(&self, first: u64, most: usize, into: &mut Vec<Flow>) {
        into.clear();
        let end = self.count().min(first.saturating_add(most as u64));
        match self {
            Flows::Made(generator) => into.extend((first..end).map(|n| generator.flow(n))),
            Flows::Given(flows) => {
                into.extend_from_slice(flows.get(first as usize..end as usize).unwrap_or(&[]));
            }
        }
    }
}

/// How much flows differ: the rank of their keys' differences over GF(2), which bounds the hash bits that can be
/// told apart by any linear function (model: hashing §1.3).
#[derive(Clone, Debug, Default)]
pub struct Entropy {
    first: Option<u128>,
    basis: Vec<u128>,
}

impl Entropy {
    /// Looks at one more flow.
    pub fn add(&mut self, flow: &Flow) {
        let key = flow.key.iter().fold(0u128, |key, byte| key << 8 | u128::from(*byte));
        let first = *self.first.get_or_insert(key);
        let mut rest = key ^ first;
        // The basis is kept reduced: each vector's top bit is in no other.
        for vector in &self.basis {
            rest = rest.min(rest ^ vector);
        }
        if rest != 0 {
            self.basis.push(rest);
            self.basis.sort_unstable_by(|a, b| b.cmp(a));
        }
    }

    /// Bits: flows have at most two to the power of this many hashes.
    #[must_use]
    pub fn bits(&self) -> u32 {
        rank(self.basis.iter().copied())
    }
}
