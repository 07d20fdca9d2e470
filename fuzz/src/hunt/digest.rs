//! Digest of a run: one number that does not depend on the order in which ports report.

use sluice_ir::entity::Entity;
use sluice_switch::{self as switch, IdleEntry, Left, Lost, Reason};
use std::hash::Hasher;

/// Sum of the hashes of all sent packets, dropped packets and messages to the control plane, each with its time and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Digest(u64);

impl Digest {
    /// Adds a sent packet.
    pub(crate) fn left(&mut self, p: &Left, head: &[u8], tail: &[u8]) {
        let words = [1, p.tag, p.egress_port.into(), p.qid.into(), p.first_bit.as_ps(), p.bytes.into()];
        self.add(words, head, tail);
    }

    /// Adds a packet that was dropped or absorbed.
    pub(crate) fn lost(&mut self, p: &Lost, head: &[u8], tail: &[u8]) {
        let reason = match p.reason {
            Reason::Label(label) => label.index() as u64,
            Reason::Device(d) => 1 << 32 | d as u64,
            Reason::Buffer(rule) => 1 << 33 | rule as u64,
        };
        self.add([2, p.tag, p.port.into(), reason, p.time.as_ps(), p.bytes.into()], head, tail);
    }

    /// Adds a digest message to the control plane.
    pub(crate) fn told(&mut self, d: &switch::Digest, data: &[u8]) {
        self.add([3, d.tag, d.pipe.into(), d.kind.into(), d.time.as_ps(), 0], data, &[]);
    }

    /// Adds an entry whose time to live expired.
    pub(crate) fn idle(&mut self, e: &IdleEntry) {
        self.add([4, e.table.index() as u64, e.entry.into(), e.time.as_ps(), 0, 0], &[], &[]);
    }

    fn add(&mut self, words: [u64; 6], head: &[u8], tail: &[u8]) {
        let mut hasher = rustc_hash::FxHasher::default();
        words.iter().for_each(|w| hasher.write_u64(*w));
        hasher.write(head);
        hasher.write(tail);
        // The words are mixed, because a sum does not mix them.
        let mut word = hasher.finish();
        word = (word ^ word >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = self.0.wrapping_add(word ^ word >> 29);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_asic::units::Time;

    #[test]
    fn what_is_told_counts_with_its_bytes_in_any_order() {
        let told = |tag, kind| switch::Digest { tag, pipe: 1, kind, time: Time::ORIGIN };
        let idle = |entry| IdleEntry { table: Entity::new(2), entry, time: Time::ORIGIN };
        let (mut one, mut other) = (Digest::default(), Digest::default());
        one.told(&told(4, 1), b"flow");
        one.idle(&idle(7));
        other.idle(&idle(7));
        other.told(&told(4, 1), b"flow");
        assert_eq!(one, other);
        let mut all = vec![one];
        for (tag, kind, data, entry) in
            [(5, 1, b"flow", 7), (4, 2, b"flow", 7), (4, 1, b"slow", 7), (4, 1, b"flow", 8)]
        {
            let mut digest = Digest::default();
            digest.told(&told(tag, kind), data);
            digest.idle(&idle(entry));
            assert!(!all.contains(&digest), "{tag} {kind} {data:?} {entry}");
            all.push(digest);
        }
    }
}
