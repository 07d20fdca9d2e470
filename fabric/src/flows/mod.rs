//! Flows, each with a key, source, destination and size: generated, or from a capture.

mod bursts;
mod capture;
mod generate;

pub use bursts::{Burst, Bursts, bursts};
pub use capture::{Extracted, extract, frame_key};
pub use generate::{Generator, Workload};

use sluice_asic::hash::rank::rank;

/// Bytes of a flow's key: IPv4 source and destination, protocol, source and destination port, TTL.
pub const KEY_BYTES: usize = 14;

/// A flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Key in network order, as sent by the source.
    pub key: [u8; KEY_BYTES],
    /// Index of the edge where the flow starts.
    pub from: u32,
    /// Index of the edge where the flow ends.
    pub to: u32,
    /// Bytes that the flow carries.
    pub bytes: u64,
}

/// Source of an experiment's flows.
#[derive(Clone, Copy, Debug)]
pub enum Flows<'a> {
    /// A generator, which makes each flow when it is read.
    Made(&'a Generator),
    /// A list of flows, such as those of a capture.
    Given(&'a [Flow]),
}

impl Flows<'_> {
    /// Returns the number of flows.
    #[must_use]
    pub fn count(&self) -> u64 {
        match self {
            Flows::Made(generator) => generator.count(),
            Flows::Given(flows) => flows.len() as u64,
        }
    }

    /// Replaces the content of `into` by flow `first` and the flows after it, at most `most`.
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

/// Entropy of flow keys: the rank of their differences over GF(2). The rank bounds the number of hash bits that a
/// linear function can distinguish (model: hashing §1.3).
#[derive(Clone, Debug, Default)]
pub struct Entropy {
    first: Option<u128>,
    basis: Vec<u128>,
}

impl Entropy {
    /// Adds a flow.
    pub fn add(&mut self, flow: &Flow) {
        let key = flow.key.iter().fold(0u128, |key, byte| key << 8 | u128::from(*byte));
        let first = *self.first.get_or_insert(key);
        let mut rest = key ^ first;
        // The basis is reduced: the top bit of each vector is in no other vector.
        for vector in &self.basis {
            rest = rest.min(rest ^ vector);
        }
        if rest != 0 {
            self.basis.push(rest);
            self.basis.sort_unstable_by(|a, b| b.cmp(a));
        }
    }

    /// Returns the rank `r`: a linear hash has at most 2^r values on these flows.
    #[must_use]
    pub fn bits(&self) -> u32 {
        rank(self.basis.iter().copied())
    }
}
