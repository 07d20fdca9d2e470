//! Which queue of a port sends next: strict priority between levels, deficit weighted round robin within one.
//!
//! Rings, deficits, the choice.
//!
//! **The rule** (model: tm §4). The highest priority with a queue that may send goes first. Its queues
//! stand in a ring in order of queue id. The round visits them in turn; a visit adds the queue's quantum
//! (weight × DWRR quantum) to its deficit, and the queue sends while its head packet fits the deficit.
//! A queue that empties loses its deficit. Queues that may not send are passed over and keep theirs.
//!
//! Quanta may be far smaller than packets, so rounds are not walked: the visit at which each queue's head
//! first fits is computed, the earliest wins, and the visits up to it are granted at once.

use crate::units::Bytes;

use super::QueueId;
use super::config::{MAX_PRIORITY, QueueConfig};

/// The scheduler of one port.
#[derive(Debug, Clone)]
pub(super) struct Scheduler {
    /// By priority, lowest first.
    levels: Box<[Level]>,
    /// Bit `i`: some queue of priority `i` is not empty.
    backlogged: u8,
    /// Level and ring position of each queue.
    places: Box<[(u8, u8)]>,
}

/// The queues of one priority.
#[derive(Debug, Clone, Default)]
struct Level {
    ring: Vec<Member>,
    /// Bit `i`: the queue at ring position `i` is not empty. A port has at most 128 queues.
    backlogged: u128,
    /// Position of the visit that is going on.
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
    /// Visits from the present one (0) to the one at which it sends.
    visits: u64,
}

impl Scheduler {
    /// The scheduler of a port with these queues, all empty. The configuration has been validated.
    pub(super) fn new(queues: &[QueueConfig], dwrr_quantum: Bytes) -> Self {
        let mut levels = vec![Level::default(); usize::from(MAX_PRIORITY) + 1];
        // Rings as large as they get: a switch has hundreds of them, and hunts make thousands of switches.
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

    /// All queues are empty, and the round begins anew.
    pub(super) fn clear(&mut self) {
        self.backlogged = 0;
        for level in &mut self.levels {
            (level.backlogged, level.cursor) = (0, 0);
            level.ring.iter_mut().for_each(|member| member.deficit = 0);
        }
    }

    /// Notes whether a queue holds packets.
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

    /// The queue that sends next, given the head length of each queue that may send.
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

    /// As [`next`](Self::next), and moves the round on to that queue. [`sent`](Self::sent) must follow.
    pub(super) fn take(&mut self, head: impl Fn(QueueId) -> Option<Bytes>) -> Option<QueueId> {
        let turn = self.next(&head)?;
        self.levels.get_mut(turn.level)?.advance(turn, head);
        Some(turn.queue)
    }

    /// Notes that the queue taken has sent its head packet, and whether that was its last.
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

    fn place(&mut self, queue: QueueId) -> Option<(&mut Level, usize)> {
        let &(level, position) = self.places.get(usize::from(queue.0))?;
        Some((self.levels.get_mut(usize::from(level))?, usize::from(position)))
    }
}

impl Level {
    fn next(&self, level: usize, head: impl Fn(QueueId) -> Option<Bytes>) -> Option<Turn> {
        if let [member] = self.ring.as_slice() {
            // Alone on its level: no round to keep.
            return head(member.queue).map(|_| Turn { queue: member.queue, level, position: 0, visits: 0 });
        }
        let mut best: Option<Turn> = None;
        for position in positions(self.backlogged) {
            let Some(member) = self.ring.get(position) else { continue };
            let Some(bytes) = head(member.queue) else { continue };
            let visits = self.visits_until_fit(position, member, bytes);
            // No two queues are visited at once, so there are no ties.
            if best.is_none_or(|turn| visits < turn.visits) {
                best = Some(Turn { queue: member.queue, level, position, visits });
            }
        }
        best
    }

    /// How many visits from now the head packet of a queue fits, if nobody else sends before.
    fn visits_until_fit(&self, position: usize, member: &Member, bytes: Bytes) -> u64 {
        let round = self.ring.len() as u64;
        let distance = self.distance(position);
        let missing = bytes.0.saturating_sub(member.deficit);
        let grants = if member.quantum == 0 { 1 } else { missing.div_ceil(member.quantum) };
        // The visit going on has had its grant; any other begins with one.
        if distance == 0 { grants * round } else { (grants.max(1) - 1) * round + distance }
    }

    /// Grants all visits up to the turn's own and stops there.
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

    /// Visits from the present one to the next at `position`; 0 if it is the present one.
    fn distance(&self, position: usize) -> u64 {
        let ahead = position as u64 + if position < self.cursor { self.ring.len() as u64 } else { 0 };
        ahead - self.cursor as u64
    }
}

/// The positions of the set bits, lowest first.
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
