//! Visibility FIFO of flow-control words, one per pipe (Tofino 2): a driver reads from it which words reached queues.
//!
//! The chip's FIFO has eight entries (model: tm §5). A word that arrives while the FIFO is full is counted as lost and
//! still acts on its queue. A filter can limit the FIFO to one local port. The register view of an entry:
//!
//! ```text
//! 31     30      29    28 22  21 15  14 0
//! valid  enable  mode  port   queue  credit
//! ```

use super::afc::AfcMode;
use crate::units::Time;
use std::collections::VecDeque;

/// Flow-control word as it reached its queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AfcSeen {
    /// Time at which the word reached the queue.
    pub time: Time,
    /// Local port, 0 to 127.
    pub port: u8,
    /// Queue within its port group, 0 to 127: the number that flow-control words use.
    pub queue: u8,
    /// Mode of the queue; `None` if the queue ignores flow-control words.
    pub mode: Option<AfcMode>,
    /// Credit, 15 bits.
    pub credit: u16,
}

impl AfcSeen {
    /// Returns the entry as the driver reads it from the register. Bits of a value beyond the width of its field are
    /// dropped. The mode after reset is credit.
    #[must_use]
    pub const fn register(self) -> u32 {
        let xoff = matches!(self.mode, Some(AfcMode::Xoff));
        1 << 31
            | (self.mode.is_some() as u32) << 30
            | (xoff as u32) << 29
            | (self.port as u32 & 0x7f) << 22
            | (self.queue as u32 & 0x7f) << 15
            | self.credit as u32 & 0x7fff
    }
}

/// Visibility FIFO of one pipe.
#[derive(Debug, Clone, Default)]
pub struct AfcFifo {
    depth: usize,
    entries: VecDeque<AfcSeen>,
    only: Option<u8>,
    words: u64,
    lost: u64,
}

impl AfcFifo {
    /// Creates an empty FIFO with room for `depth` entries.
    #[must_use]
    pub fn new(depth: u32) -> Self {
        Self { depth: depth as usize, ..Self::default() }
    }

    /// Limits the FIFO to words for one local port; `None` admits the words of all ports.
    pub fn filter(&mut self, port: Option<u8>) {
        self.only = port;
    }

    /// Records a word that reached its queue.
    pub fn push(&mut self, seen: AfcSeen) {
        self.words += 1;
        if self.only.is_some_and(|only| only != seen.port) {
            return;
        }
        if self.entries.len() < self.depth {
            self.entries.push_back(seen);
        } else {
            self.lost += 1;
        }
    }

    /// Removes and returns the oldest entry.
    pub fn read(&mut self) -> Option<AfcSeen> {
        self.entries.pop_front()
    }

    /// Returns the unread entries, oldest first.
    pub fn entries(&self) -> impl Iterator<Item = &AfcSeen> {
        self.entries.iter()
    }

    /// Returns the words that reached queues of the pipe, including filtered and lost ones.
    #[must_use]
    pub const fn words(&self) -> u64 {
        self.words
    }

    /// Returns the words that arrived while the FIFO was full.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(port: u8, credit: u16) -> AfcSeen {
        AfcSeen { time: Time::ORIGIN, port, queue: 16, mode: Some(AfcMode::Xoff), credit }
    }

    #[test]
    fn a_full_fifo_loses_what_comes_until_it_is_read() {
        let mut fifo = AfcFifo::new(8);
        (0..11).for_each(|n| fifo.push(seen(9, n)));
        assert_eq!((fifo.entries().count(), fifo.words(), fifo.lost()), (8, 11, 3));
        assert_eq!(fifo.read().map(|s| s.credit), Some(0));
        fifo.push(seen(9, 100));
        assert_eq!(fifo.entries().map(|s| s.credit).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6, 7, 100]);
        fifo.filter(Some(4));
        fifo.read();
        fifo.push(seen(9, 1));
        fifo.push(seen(4, 2));
        assert_eq!((fifo.entries().last().map(|s| s.port), fifo.words(), fifo.lost()), (Some(4), 14, 3));
    }

    #[test]
    fn registers_have_their_bits() {
        assert_eq!(seen(9, 1).register(), 0b111 << 29 | 9 << 22 | 16 << 15 | 1);
        assert_eq!(
            AfcSeen { mode: None, ..seen(127, 0x7fff) }.register(),
            1 << 31 | 127 << 22 | 16 << 15 | 0x7fff
        );
        let credit = AfcSeen { mode: Some(AfcMode::Credit), ..seen(0, 0) };
        assert_eq!(credit.register(), 0b11 << 30 | 16 << 15);
    }
}
