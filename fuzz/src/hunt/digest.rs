//! What a run did, as one number that does not depend on the order in which ports report. What may not live here:
//! what is compared.

use sluice_pipeline::switch::{Left, Lost, Reason};
use std::hash::Hasher;

/// A sum over everything that left or ended, each with its time and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Digest(u64);

impl Digest {
    /// A packet that left.
    pub(crate) fn left(&mut self, p: &Left, head: &[u8], tail: &[u8]) {
        let words = [1, p.tag, p.egress_port.into(), p.qid.into(), p.first_bit.as_ps(), p.bytes.into()];
        self.add(words, head, tail);
    }

    /// A packet that ended inside.
    pub(crate) fn lost(&mut self, p: &Lost, head: &[u8], tail: &[u8]) {
        let reason = match p.reason {
            Reason::Label(label) => sluice_pipeline::entity::Entity::index(label) as u64,
            Reason::Device(d) => 1 << 32 | d as u64,
            Reason::Buffer(rule) => 1 << 33 | rule as u64,
        };
        self.add([2, p.tag, p.port.into(), reason, p.time.as_ps(), p.bytes.into()], head, tail);
    }

    fn add(&mut self, words: [u64; 6], head: &[u8], tail: &[u8]) {
        let mut hasher = rustc_hash::FxHasher::default();
        words.iter().for_each(|w| hasher.write_u64(*w));
        hasher.write(head);
        hasher.write(tail);
        // A sum needs words that are spread well.
        let mut word = hasher.finish();
        word = (word ^ word >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = self.0.wrapping_add(word ^ word >> 29);
    }
}
