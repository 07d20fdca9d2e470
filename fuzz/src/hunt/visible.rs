//! Visible results of a run: bytes, port, fate and order of packets. Times, queues and state are not visible.

use rustc_hash::FxHasher;
use sluice_ir::entity::Entity;
use sluice_switch::{Left, Lost, Reason};
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

/// Digest of the packets of a run: for each port the sequence of sent packets with their bytes, and the reasons for which
/// packets ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct VisibleDigest {
    /// By port: digest of the sequence of sent packets.
    ports: BTreeMap<u16, u64>,
    /// Sum over the packets that ended inside, because these have no order.
    ended: u64,
}

impl VisibleDigest {
    /// Adds a sent packet. The caller reports the packets of a port in the order in which they were sent.
    pub(crate) fn left(&mut self, packet: &Left, head: &[u8], tail: &[u8]) {
        let sequence = self.ports.entry(packet.egress_port).or_default();
        let mut hasher = FxHasher::default();
        (*sequence, packet.tag, packet.bytes).hash(&mut hasher);
        // The parts of a packet are not distinguished.
        head.iter().chain(tail).for_each(|byte| hasher.write_u8(*byte));
        *sequence = hasher.finish();
    }

    /// Adds a packet that was dropped or absorbed.
    pub(crate) fn lost(&mut self, packet: &Lost) {
        let reason = match packet.reason {
            Reason::Label(label) => (0, label.index() as u64),
            Reason::Device(reason) => (1, reason as u64),
            Reason::Buffer(rule) => (2, rule as u64),
        };
        let mut hasher = FxHasher::default();
        (packet.tag, packet.absorbed, reason).hash(&mut hasher);
        let word = hasher.finish();
        // The words are mixed, because a sum does not mix them.
        let word = (word ^ word >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.ended = self.ended.wrapping_add(word ^ word >> 29);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_asic::units::{Duration, Time};

    fn left(tag: u64, port: u16, at: u64) -> Left {
        let time = Time::ORIGIN + Duration::from_nanos(at);
        Left {
            tag,
            ingress_port: 1,
            egress_port: port,
            received: time,
            first_bit: time,
            last_bit: time,
            queued: Duration::from_nanos(at),
            qid: at as u8,
            bytes: 4,
            made: false,
            marked: None,
        }
    }

    fn lost(tag: u64, label: usize, at: u64) -> Lost {
        let time = Time::ORIGIN + Duration::from_nanos(at);
        let reason = Reason::Label(Entity::new(label));
        Lost { tag, port: 1, received: time, time, reason, absorbed: false, bytes: 4 }
    }

    fn of(sent: &[(u64, u16, u64, &[u8])], ended: &[(u64, usize, u64)]) -> VisibleDigest {
        let mut digest = VisibleDigest::default();
        for (tag, port, at, bytes) in sent {
            digest.left(&left(*tag, *port, *at), &bytes[..1], &bytes[1..]);
        }
        ended.iter().for_each(|(tag, label, at)| digest.lost(&lost(*tag, *label, *at)));
        digest
    }

    #[test]
    fn bytes_port_fate_and_order_are_visible() {
        let one = of(&[(0, 1, 10, b"abcd"), (1, 1, 20, b"efgh")], &[(2, 3, 30)]);
        let others = [
            of(&[(0, 1, 10, b"abcd"), (1, 1, 20, b"efgx")], &[(2, 3, 30)]),
            of(&[(0, 1, 10, b"abcd"), (1, 2, 20, b"efgh")], &[(2, 3, 30)]),
            of(&[(1, 1, 10, b"efgh"), (0, 1, 20, b"abcd")], &[(2, 3, 30)]),
            of(&[(0, 1, 10, b"abcd"), (1, 1, 20, b"efgh")], &[(2, 4, 30)]),
            of(&[(0, 1, 10, b"abcd")], &[(2, 3, 30), (1, 3, 30)]),
        ];
        for other in others {
            assert_ne!(other, one);
        }
    }

    #[test]
    fn times_queues_and_the_order_of_ports_are_not_visible() {
        let one = of(&[(0, 1, 10, b"abcd"), (1, 2, 20, b"efgh")], &[(2, 3, 30), (3, 3, 30)]);
        let later = of(&[(1, 2, 50, b"efgh"), (0, 1, 40, b"abcd")], &[(3, 3, 70), (2, 3, 80)]);
        assert_eq!(one, later);
    }
}
