//! Places whose counters changed, for timelines. They are recorded only on request.

use super::offer::{QueueId, TmPort};

/// Queues and priority groups that changed since the record was last cleared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Touched {
    /// Egress port and queue.
    pub queues: Vec<(TmPort, QueueId)>,
    /// Ingress port and priority group.
    pub groups: Vec<(TmPort, u8)>,
    /// True if every place may have changed.
    pub all: bool,
}

/// A list longer than this is sorted and its duplicates are removed.
const MANY: usize = 4096;

impl Touched {
    /// Records a queue.
    #[inline]
    pub fn queue(&mut self, port: TmPort, queue: QueueId) {
        if self.queues.last() != Some(&(port, queue)) {
            self.queues.push((port, queue));
            thin(&mut self.queues);
        }
    }

    /// Records a priority group.
    #[inline]
    pub fn group(&mut self, port: TmPort, pg: u8) {
        if self.groups.last() != Some(&(port, pg)) {
            self.groups.push((port, pg));
            thin(&mut self.groups);
        }
    }

    /// Returns true if nothing is recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.queues.is_empty() && self.groups.is_empty() && !self.all
    }

    /// Sorts both lists and removes duplicates.
    pub fn sort(&mut self) {
        sort(&mut self.queues);
        sort(&mut self.groups);
    }

    /// Clears the record and keeps its memory.
    pub fn clear(&mut self) {
        self.queues.clear();
        self.groups.clear();
        self.all = false;
    }
}

fn sort<T: Ord>(list: &mut Vec<T>) {
    list.sort_unstable();
    list.dedup();
}

/// Bounds a list by the number of places instead of the number of packets.
fn thin<T: Ord>(list: &mut Vec<T>) {
    if list.len().is_multiple_of(MANY) {
        sort(list);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_noted_once_however_often_they_change() {
        let mut touched = Touched::default();
        for n in 0..1_000_000u32 {
            touched.queue(TmPort((n % 64) as u16), QueueId((n % 7) as u8));
            touched.group(TmPort((n % 3) as u16), 3);
        }
        assert!(touched.queues.len() < 2 * MANY && touched.groups.len() < 2 * MANY);
        touched.sort();
        assert_eq!((touched.queues.len(), touched.groups.len()), (64 * 7, 3));
        touched.clear();
        assert!(touched.is_empty());
    }
}
