//! The advanced-flow-control word that a deparser hands to the traffic manager (Tofino 2).
//!
//! Layout (model: tm §5):
//!
//! ```text
//! 31   30 29   28 25    24 22   21 15    14 0
//! qfc  pipe    MAC      0       queue    credit
//! ```

use crate::chip::ChipSpec;
use crate::port::{DevPort, MacId, Pipe, PortMap};
use thiserror::Error;

/// Meaning of the credit field of a flow-control word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AfcMode {
    /// Credit 1 pauses the queue, credit 0 resumes it.
    Xoff,
    /// Signed number that is added to the queue's credit. The units and the rule for stopping are not public
    /// (model: tm §12 item 1).
    Credit,
}

/// Effect of a flow-control word on its queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AfcEffect {
    /// The queue stops sending; packets that were already dequeued are sent.
    Pause,
    /// The queue may send again.
    Resume,
    /// The queue's credit changes by this number.
    Credit(i16),
}

/// Flow-control word for one queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AfcWord {
    /// True if the word is a message to a queue.
    pub qfc: bool,
    /// Pipe of the queue, 0 to 3.
    pub pipe: u8,
    /// MAC (port group) of the queue, 0 to 15.
    pub mac: u8,
    /// Queue within the port group, 0 to 127.
    pub queue: u8,
    /// Credit, 15 bits.
    pub credit: u16,
}

/// Queue that no flow-control word can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum AfcError {
    /// The chip has no flow-control words.
    #[error("advanced flow control: this chip has none; use Tofino 2")]
    Missing,
    /// The queue id is beyond the port's queues.
    #[error(
        "queue {found} of dev_port {port} does not exist; from its first lane on, its port group has {limit} queues, numbered from 0"
    )]
    Queue {
        /// Queue id.
        found: u8,
        /// dev_port of the port.
        port: u16,
        /// Queues of the port group from the port's first lane on.
        limit: u32,
    },
}

impl AfcWord {
    /// Returns the word for queue `qid` of a port under the default mapping, which gives a port the queues of its
    /// lanes.
    ///
    /// # Errors
    /// Fails on a chip without the feature, and for a queue that the port does not have.
    pub fn for_queue(chip: &ChipSpec, port: DevPort, qid: u8, credit: u16) -> Result<Self, AfcError> {
        if !chip.features.advanced_flow_control {
            return Err(AfcError::Missing);
        }
        let per_group = chip.tm.ports_per_group.max(1);
        let local = u32::from(port.local());
        let base = (local % per_group) * chip.tm.queues_per_port;
        let limit = chip.tm.queues_per_group.saturating_sub(base);
        if u32::from(qid) >= limit {
            return Err(AfcError::Queue { found: qid, port: port.number(), limit });
        }
        Ok(Self {
            qfc: true,
            pipe: port.pipe().0,
            mac: (local / per_group) as u8,
            queue: (base + u32::from(qid)) as u8,
            credit,
        })
    }

    /// Returns the word's 32 bits. Bits of a value beyond the width of its field are dropped.
    pub const fn encode(self) -> u32 {
        (self.qfc as u32) << 31
            | (self.pipe as u32 & 0x3) << 29
            | (self.mac as u32 & 0xf) << 25
            | (self.queue as u32 & 0x7f) << 15
            | self.credit as u32 & 0x7fff
    }

    /// Returns the fields of a word.
    pub const fn decode(word: u32) -> Self {
        Self {
            qfc: word >> 31 != 0,
            pipe: (word >> 29 & 0x3) as u8,
            mac: (word >> 25 & 0xf) as u8,
            queue: (word >> 15 & 0x7f) as u8,
            credit: (word & 0x7fff) as u16,
        }
    }

    /// Returns the port and the queue id under the default mapping; `None` if no port has such a queue.
    pub fn target(self, ports: &PortMap) -> Option<(DevPort, u8)> {
        let (port, qid) = ports.of_queue(Pipe(self.pipe), MacId(self.mac), self.queue.into())?;
        Some((port.dev_port, u8::try_from(qid).ok()?))
    }

    /// Returns the word's effect on a queue in this mode; `None` if the word is not a message to a queue.
    pub const fn effect(self, mode: AfcMode) -> Option<AfcEffect> {
        match (self.qfc, mode) {
            (false, _) => None,
            (true, AfcMode::Xoff) if self.credit & 1 != 0 => Some(AfcEffect::Pause),
            (true, AfcMode::Xoff) => Some(AfcEffect::Resume),
            (true, AfcMode::Credit) => Some(AfcEffect::Credit(((self.credit << 1) as i16) >> 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::BitRate;
    use proptest::prelude::*;

    #[test]
    fn the_worked_example() {
        // model: tm §5: dev_port 137, qid 0 is pipe 1, MAC 1, queue 16.
        let chip = ChipSpec::tofino2();
        let port = DevPort::new(137).unwrap();
        let word = AfcWord::for_queue(&chip, port, 0, 1).unwrap();
        assert_eq!((word.pipe, word.mac, word.queue), (1, 1, 16));
        assert_eq!(word.encode(), 1 << 31 | 1 << 29 | 1 << 25 | 16 << 15 | 1);
        assert_eq!(word.target(&map(50)), Some((port, 0)));
        assert_eq!(
            AfcWord::for_queue(&chip, port, 112, 0),
            Err(AfcError::Queue { found: 112, port: 137, limit: 112 })
        );
        assert_eq!(AfcWord::for_queue(&ChipSpec::tofino(), port, 0, 0), Err(AfcError::Missing));
        let credit = |credit| AfcWord { credit, ..word };
        assert_eq!(word.effect(AfcMode::Xoff), Some(AfcEffect::Pause));
        assert_eq!(credit(0).effect(AfcMode::Xoff), Some(AfcEffect::Resume));
        assert_eq!(credit(0x7fff).effect(AfcMode::Credit), Some(AfcEffect::Credit(-1)));
        assert_eq!(credit(0x3fff).effect(AfcMode::Credit), Some(AfcEffect::Credit(0x3fff)));
        assert_eq!(AfcWord { qfc: false, ..word }.effect(AfcMode::Xoff), None);
        assert_eq!(AfcWord { mac: 9, ..word }.target(&map(50)), None);
    }

    /// Tofino 2 with all ports at one speed.
    fn map(gbps: u64) -> PortMap {
        PortMap::new(&ChipSpec::tofino2(), BitRate::from_gbps(gbps)).unwrap()
    }

    #[test]
    fn a_port_has_the_queues_of_its_lanes() {
        // The same word names a queue of another port if the group's lanes belong to other ports.
        let word = AfcWord::for_queue(&ChipSpec::tofino2(), DevPort::new(8).unwrap(), 100, 1).unwrap();
        assert_eq!(word.queue, 100);
        let of = |gbps| word.target(&map(gbps)).map(|(port, qid)| (port.number(), qid));
        assert_eq!([400, 200, 100, 50].map(of), [(8, 100), (12, 36), (14, 4), (14, 4)].map(Some));
        let lanes_left_out =
            PortMap::new(&ChipSpec::tofino2(), BitRate::from_gbps(400)).unwrap().keep_front(0);
        assert_eq!(word.target(&lanes_left_out), None);
    }

    proptest! {
        #[test]
        fn words_round_trip(word: u32) {
            // Bits 24 to 22 are padding.
            prop_assert_eq!(AfcWord::decode(word).encode(), word & !(7 << 22));
        }

        #[test]
        fn queues_round_trip(
            gbps in prop::sample::select(vec![10u64, 25, 50, 100, 200, 400]),
            index: prop::sample::Index,
            qid: prop::sample::Index,
            credit in 0u16..1 << 15,
        ) {
            let (chip, map) = (ChipSpec::tofino2(), map(gbps));
            let ports: Vec<_> = map.iter().collect();
            let port = index.get(&ports);
            let qid = qid.index(port.queues.into()) as u8;
            let word = AfcWord::for_queue(&chip, port.dev_port, qid, credit).unwrap();
            prop_assert_eq!(AfcWord::decode(word.encode()), word);
            prop_assert_eq!(word.target(&map), Some((port.dev_port, qid)));
        }
    }
}
