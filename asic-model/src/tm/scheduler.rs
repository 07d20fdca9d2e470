//! Queue scheduler of a port: strict priority between levels, deficit weighted round robin (DWRR) within one level.
//!
//! **The rule** (model: tm §4). The highest priority that has a queue which may send is served. Its queues form a ring
//! in order of queue id, and the round visits them in turn. A visit adds the queue's quantum (weight × DWRR quantum) to
//! its deficit, and the queue sends while its head packet fits the deficit. A queue that becomes empty loses its
//! deficit. The round skips queues that may not send; they keep their deficit.
//!
//! A quantum may be far smaller than a packet, so the code does not walk the rounds: it computes the visit at which
//! each queue's head packet first fits, takes the earliest, and adds the quanta of all visits up to it at once.

use crate::units::Bytes;

use super::QueueId;
use super::config::{MAX_PRIORITY, QueueConfig};

/// The scheduler of one port.
#[derive(Debug, Clone)]
pub(super) struct Scheduler {
    /// Levels by priority, lowest first.
    levels: Box<[Level]>,
    /// Bit `i`: a queue of priority `i` holds packets.
    backlogged: u8,
    /// Level and ring position of each queue.
    places: Box<[(u8, u8)]>,
}

/// The queues of one priority.
#[derive(Debug, Clone, Default)]
struct Level {
    ring: Vec<Member>,
    /// Bit `i`: the queue at ring position `i` holds packets. A port has at most 128 queues.
    backlogged: u128,
    /// Ring position of the current visit.
    cursor: usize,
}

#[derive(Debug, Clone)]
struct Member {
    queue: QueueId,
    /// Bytes per visit; 0 for a queue outside DWRR, which sends one packet per visit.
    quantum: u64,
    deficit: u64,
}

/// A queue's turn to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) queue: QueueId,
    level: usize,
    position: usize,
    /// Visits from the current one (0) to the one at which the queue sends.
    visits: u64,
}

impl Scheduler {
    /// Creates the scheduler of a port whose queues are all empty. The configuration must be valid.
    pub(super) fn new(queues: &[QueueConfig], dwrr_quantum: Bytes) -> Self {
        let mut levels = vec![Level::default(); usize::from(MAX_PRIORITY) + 1];
        // Rings are allocated at full size: a switch has hundreds of them, and a hunt creates thousands of switches.
        for (priority, level) in (0..).zip(&mut levels) {
            let members = queues.iter().filter(|q| q.priority.min(MAX_PRIORITY) == priority).count();
            level.ring.reserve_exact(members);
        }
        let mut places = Vec::with_capacity(queues.len());
        for (queue, config) in (0..).zip(queues) {
            let ring = &mut levels[usize::from(config.priority.min(MAX_PRIORITY))].ring;
            places.push((config.priority, ring.len() as u8));
            let quantum = u64::from(config.weight).saturating_mul(dwrr_quantum.0);
            ring.push(Member { queue: QueueId(queue), quantum, deficit: 0 });
        }
        Self { levels: levels.into(), backlogged: 0, places: places.into() }
    }

    /// Marks all queues as empty and restarts the round.
    pub(super) fn clear(&mut self) {
        self.backlogged = 0;
        for level in &mut self.levels {
            (level.backlogged, level.cursor) = (0, 0);
            level.ring.iter_mut().for_each(|member| member.deficit = 0);
        }
    }

    /// Records whether a queue holds packets.
    pub(super) fn set_backlogged(&mut self, queue: QueueId, backlogged: bool) {
        let Some(&(priority, position)) = self.places.get(usize::from(queue.0)) else { return };
        let Some(level) = self.levels.get_mut(usize::from(priority)) else { return };
        let (own, queue) = (1u8 << (priority % 8), 1u128 << (position % 128));
        if backlogged {
            level.backlogged |= queue;
            self.backlogged |= own;
        } else {
            level.backlogged &= !queue;
            if level.backlogged == 0 {
                self.backlogged &= !own;
            }
        }
    }

    /// Returns the queue that sends next. `head` returns the head length of each queue that may send.
    pub(super) fn next(&self, head: impl Fn(QueueId) -> Option<Bytes>) -> Option<Turn> {
        let mut left = self.backlogged;
        while left != 0 {
            let index = left.ilog2() as usize;
            left &= !(1 << index);
            if let Some(turn) = self.levels.get(index).and_then(|level| level.next(index, &head)) {
                return Some(turn);
            }
        }
        None
    }

    /// Returns the queue that sends next and moves the round to that queue. The caller must then call
    /// [`sent`](Self::sent).
    pub(super) fn take(&mut self, head: impl Fn(QueueId) -> Option<Bytes>) -> Option<QueueId> {
        let turn = self.next(&head)?;
        self.levels.get_mut(turn.level)?.advance(turn, head);
        Some(turn.queue)
    }

    /// Records that the queue has sent its head packet, and whether the queue is empty.
    pub(super) fn sent(&mut self, queue: QueueId, bytes: Bytes, emptied: bool) {
        if let Some((level, position)) = self.place(queue)
            && let Some(member) = level.ring.get_mut(position)
        {
            member.deficit = if emptied { 0 } else { member.deficit.saturating_sub(bytes.0) };
        }
        if emptied {
            self.set_backlogged(queue, false);
        }
    }

    /// Records the turn of a queue that got a packet and sent it while no queue had another one. The round is at this queue
    /// afterwards, and the queue has no deficit, because it is empty again.
    #[inline]
    pub(super) fn passed(&mut self, queue: QueueId) {
        if let Some((level, position)) = self.place(queue)
            && level.ring.len() > 1
        {
            level.cursor = position;
            level.ring[position].deficit = 0;
        }
    }

    #[inline]
    fn place(&mut self, queue: QueueId) -> Option<(&mut Level, usize)> {
        let &(level, position) = self.places.get(usize::from(queue.0))?;
        Some((self.levels.get_mut(usize::from(level))?, usize::from(position)))
    }
}

impl Level {
    fn next(&self, level: usize, head: impl Fn(QueueId) -> Option<Bytes>) -> Option<Turn> {
        if let [member] = self.ring.as_slice() {
            // A single queue on its level needs no round.
            return head(member.queue).map(|_| Turn { queue: member.queue, level, position: 0, visits: 0 });
        }
        let mut best: Option<Turn> = None;
        for position in positions(self.backlogged) {
            let Some(member) = self.ring.get(position) else { continue };
            let Some(bytes) = head(member.queue) else { continue };
            let visits = self.visits_until_fit(position, member, bytes);
            // Each visit belongs to one queue, so there are no ties.
            if best.is_none_or(|turn| visits < turn.visits) {
                best = Some(Turn { queue: member.queue, level, position, visits });
            }
        }
        best
    }

    /// Returns the number of visits after which the head packet of a queue fits, if no other queue sends before.
    fn visits_until_fit(&self, position: usize, member: &Member, bytes: Bytes) -> u64 {
        let round = self.ring.len() as u64;
        let distance = self.distance(position);
        let missing = bytes.0.saturating_sub(member.deficit);
        let grants = if member.quantum == 0 { 1 } else { missing.div_ceil(member.quantum) };
        // The current visit has already added its quantum; every other visit begins with one.
        if distance == 0 { grants * round } else { (grants.max(1) - 1) * round + distance }
    }

    /// Adds the quanta of all visits up to the turn's own and moves the round there.
    fn advance(&mut self, turn: Turn, head: impl Fn(QueueId) -> Option<Bytes>) {
        let round = self.ring.len() as u64;
        if round == 1 {
            return;
        }
        for position in positions(self.backlogged) {
            let distance = match self.distance(position) {
                0 => round,
                distance => distance,
            };
            let Some(member) = self.ring.get_mut(position) else { continue };
            if turn.visits >= distance && head(member.queue).is_some() {
                let visits = (turn.visits - distance) / round + 1;
                member.deficit = member.deficit.saturating_add(visits.saturating_mul(member.quantum));
            }
        }
        self.cursor = turn.position;
    }

    /// Returns the visits from the current one to the next at `position`; 0 for the current one.
    fn distance(&self, position: usize) -> u64 {
        let ahead = position as u64 + if position < self.cursor { self.ring.len() as u64 } else { 0 };
        ahead - self.cursor as u64
    }
}

/// Returns the positions of the set bits, lowest first.
fn positions(mut bits: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = bits.trailing_zeros();
        bits &= bits.wrapping_sub(1);
        (lowest < 128).then_some(lowest as usize)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Cells;

    fn scheduler(queues: &[(u8, u16)]) -> Scheduler {
        let config =
            |&(priority, weight): &(u8, u16)| QueueConfig { priority, weight, limit_cells: Cells(1) };
        Scheduler::new(&queues.iter().map(config).collect::<Vec<_>>(), Bytes(1))
    }

    /// The queues served in `turns` turns, all of them always holding packets of their given length.
    fn serve(scheduler: &mut Scheduler, lengths: &[Option<u64>], turns: usize) -> Vec<u8> {
        for queue in 0..lengths.len() as u8 {
            scheduler.set_backlogged(QueueId(queue), true);
        }
        let head = |queue: QueueId| lengths[usize::from(queue.0)].map(Bytes);
        (0..turns)
            .map_while(|_| {
                let queue = scheduler.take(head)?;
                scheduler.sent(queue, head(queue)?, false);
                Some(queue.0)
            })
            .collect()
    }

    #[test]
    fn strict_priority_passes_over_queues_that_may_not_send() {
        let mut port = scheduler(&[(0, 10), (7, 10), (3, 10)]);
        assert_eq!(serve(&mut port, &[Some(1), Some(1), Some(1)], 2), [1, 1]);
        assert_eq!(serve(&mut port, &[Some(1), None, Some(1)], 2), [2, 2]);
        assert_eq!(serve(&mut port, &[Some(1), None, None], 2), [0, 0]);
        assert_eq!(serve(&mut port, &[None, None, None], 2), [0u8; 0]);
    }

    #[test]
    fn weights_share_bytes_not_packets() {
        // Quanta 300 and 100, packets of 100 and 50: three packets against two.
        let mut port = scheduler(&[(0, 300), (0, 100)]);
        let served = serve(&mut port, &[Some(100), Some(50)], 10);
        assert_eq!(served, [1, 1, 0, 0, 0, 1, 1, 0, 0, 0]);
    }

    #[test]
    fn quanta_smaller_than_packets_take_several_rounds() {
        let mut port = scheduler(&[(2, 3), (2, 1)]);
        let served = serve(&mut port, &[Some(9000), Some(9000)], 400);
        assert_eq!(served.iter().filter(|&&queue| queue == 0).count(), 300);
    }

    #[test]
    fn weight_zero_sends_one_packet_a_round() {
        let mut port = scheduler(&[(0, 100), (0, 0), (0, 200)]);
        let served = serve(&mut port, &[Some(100), Some(9000), Some(100)], 8);
        assert_eq!(served, [1, 2, 2, 0, 1, 2, 2, 0]);
        assert_eq!(serve(&mut port, &[None, Some(9000), None], 3), [1, 1, 1]);
    }

    #[test]
    fn an_emptied_queue_loses_its_deficit() {
        let mut port = scheduler(&[(0, 1000), (0, 100)]);
        port.set_backlogged(QueueId(0), true);
        let head = |_| Some(Bytes(100));
        assert_eq!(port.take(head), Some(QueueId(0)));
        port.sent(QueueId(0), Bytes(100), true);
        // Nine hundred bytes of quantum were left; the queue must wait for the round all the same.
        port.set_backlogged(QueueId(0), true);
        port.set_backlogged(QueueId(1), true);
        assert_eq!(port.take(head), Some(QueueId(1)));
    }
}
