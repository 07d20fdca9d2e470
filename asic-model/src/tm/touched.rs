//! Places whose counters changed, for those who draw timelines. Nobody asks: nothing is noted.

use super::offer::{QueueId, TmPort};

/// Queues and priority groups that something happened to since they were last taken.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Touched {
    /// Egress port and queue.
    pub queues: Vec<(TmPort, QueueId)>,
    /// Ingress port and priority group.
    pub groups: Vec<(TmPort, u8)>,
    /// Everything may have changed.
    pub all: bool,
}

/// More than this many notes are sorted and thinned out.
const MANY: usize = 4096;

impl Touched {
    /// Notes a queue.
    #[inline]
    pub fn queue(&mut self, port: TmPort, queue: QueueId) {
        if self.queues.last() != Some(&(port, queue)) {
            self.queues.push((port, queue));
            thin(&mut self.queues);
        }
    }

    /// Notes a priority group.
    #[inline]
    pub fn group(&mut self, port: TmPort, pg: u8) {
        if self.groups.last() != Some(&(port, pg)) {
            self.groups.push((port, pg));
            thin(&mut self.groups);
        }
    }

    /// Whether there is nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.queues.is_empty() && self.groups.is_empty() && !self.all
    }

    /// Brings both lists into order, each place once.
    pub fn sort(&mut self) {
        sort(&mut self.queues);
        sort(&mut self.groups);
    }

    /// Forgets everything; the room stays.
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

/// Keeps a list bounded by the number of places, not of packets.
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
