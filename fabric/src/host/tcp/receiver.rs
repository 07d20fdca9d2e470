//! Receiver of a connection's data: reassembly, delayed and selective acknowledgements, and the echo of marks.
//!
//! An acknowledgement is sent at once (RFC 5681 §4.2; RFC 9293 §3.8.6.3) if
//! - a segment is out of order, a duplicate, or fills a hole,
//! - `every` segments are not acknowledged, or the segment has PSH and `push` is set,
//! - the mark of a DCTCP connection changed (RFC 8257 §3.2),
//!
//! and otherwise after the delay. Echo of marks:
//!
//! ```text
//! RFC 3168 §6.1.3:  CE sets ECE in all acknowledgements, until a segment has CWR
//! RFC 8257 §3.2:    ECE = DCTCP.CE. A segment whose CE differs from DCTCP.CE: what was received before it is acknowledged at
//!                   once with the old state, then DCTCP.CE changes and the segment is acknowledged at once
//! ```
//!
//! The first SACK block has the last received segment, or is a D-SACK of a duplicate (RFC 2883 §4); the next ones repeat the last
//! reported blocks (RFC 2018 §4).

use super::config::DelayedAck;
use super::ranges::Ranges;
use sluice_asic::units::Time;
use std::collections::VecDeque;

/// Echo of marks that both ends agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Echoes {
    /// No ECN.
    None,
    /// RFC 3168.
    Classic,
    /// RFC 8257.
    Accurate,
}

/// A received data segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Data {
    pub(super) start: u64,
    pub(super) end: u64,
    /// True if the IPv4 header has CE.
    pub(super) ce: bool,
    pub(super) cwr: bool,
    pub(super) push: bool,
    /// Number of the message that the segment belongs to.
    pub(super) pair: u32,
}

/// Acknowledgements to send for a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    /// An acknowledgement of what was received before the segment: its number, and its ECE.
    pub(super) before: Option<(u64, bool)>,
    /// True if the segment is acknowledged at once.
    pub(super) now: bool,
    /// True if the segment came before one with a lower position; true if all its bytes had been received.
    pub(super) early: bool,
    pub(super) duplicate: bool,
}

/// The receiving end of a connection.
#[derive(Clone, Debug)]
pub(super) struct Receiver {
    delay: DelayedAck,
    echoes: Echoes,
    /// First position that is missing (RCV.NXT).
    next: u64,
    /// Received ranges after it, and a position in each of those that were reported last, the latest first.
    beyond: Ranges,
    recent: [Option<u64>; 4],
    duplicate: Option<(u64, u64)>,
    /// Segments that are not acknowledged, and the time at which they will be.
    waiting: u32,
    due: Option<Time>,
    /// ECE of the next acknowledgement: latched (RFC 3168), or DCTCP.CE.
    ece: bool,
    /// Ends of messages that are not completely received, with their numbers, in order.
    ends: VecDeque<(u64, u32)>,
}

impl Receiver {
    /// Creates a receiver that has got the SYN.
    pub(super) const fn new(delay: DelayedAck, echoes: Echoes) -> Receiver {
        Receiver {
            delay,
            echoes,
            next: 1,
            beyond: Ranges::new(),
            recent: [None; 4],
            duplicate: None,
            waiting: 0,
            due: None,
            ece: false,
            ends: VecDeque::new(),
        }
    }

    /// Returns the first missing position, the acknowledgement number.
    pub(super) const fn next(&self) -> u64 {
        self.next
    }

    /// Returns the ECE of an acknowledgement that is sent now.
    pub(super) const fn ece(&self) -> bool {
        self.ece
    }

    /// Returns the time at which a delayed acknowledgement is sent.
    pub(super) const fn due(&self) -> Option<Time> {
        self.due
    }

    /// Handles a segment. Messages that are complete with it are passed to `complete`.
    pub(super) fn data(&mut self, now: Time, data: Data, complete: impl FnMut(u32)) -> Answer {
        let before = self.echo(data);
        let (early, duplicate) = (data.start > self.next, self.has(data.start, data.end));
        let filled = early || duplicate || !self.beyond.is_empty();
        if duplicate {
            self.duplicate = Some((data.start, data.end));
        } else {
            self.keep(data);
            self.advance(complete);
        }
        if early {
            self.report(data.start);
        }
        self.waiting += 1;
        let pushed = data.push && self.delay.push;
        let at_once = filled || pushed || before.is_some() || self.waiting >= self.delay.every;
        if !at_once {
            self.due = self.due.or(Some(now + self.delay.timeout));
        }
        Answer { before, now: at_once, early: early && !duplicate, duplicate }
    }

    /// Updates the echo of marks. Returns an acknowledgement of earlier segments to be sent with the old state.
    fn echo(&mut self, data: Data) -> Option<(u64, bool)> {
        match self.echoes {
            Echoes::None => None,
            Echoes::Classic => {
                self.ece = data.ce || self.ece && !data.cwr;
                None
            }
            Echoes::Accurate if data.ce == self.ece => None,
            Echoes::Accurate => {
                let old = std::mem::replace(&mut self.ece, data.ce);
                let waiting = std::mem::take(&mut self.waiting) > 0;
                // Without a waiting segment the old state was echoed; the new one is due at once.
                self.waiting = self.delay.every;
                waiting.then_some((self.next, old))
            }
        }
    }

    /// Returns true if all bytes of a segment were received.
    fn has(&self, start: u64, end: u64) -> bool {
        end <= self.next || self.beyond.around(start).is_some_and(|range| range.1 >= end)
    }

    /// Keeps a segment with at least one new byte.
    fn keep(&mut self, data: Data) {
        if data.push {
            let at = self.ends.partition_point(|(end, _)| *end < data.end);
            if self.ends.get(at).is_none_or(|(end, _)| *end != data.end) {
                self.ends.insert(at, (data.end, data.pair));
            }
        }
        if data.start <= self.next {
            self.next = self.next.max(data.end);
        } else {
            self.beyond.insert(data.start, data.end, |_, _| {});
        }
    }

    /// Moves RCV.NXT over ranges that are no longer after a hole.
    fn advance(&mut self, mut complete: impl FnMut(u32)) {
        while let Some(end) = self.beyond.take_at(self.next) {
            self.next = self.next.max(end);
        }
        while let Some((_, pair)) = self.ends.front().copied().filter(|(end, _)| *end <= self.next) {
            self.ends.pop_front();
            complete(pair);
        }
    }

    /// Puts the range of a position to the front of the reported ones.
    fn report(&mut self, position: u64) {
        let range = self.beyond.around(position);
        let others = self.recent.into_iter().flatten().filter(|other| self.beyond.around(*other) != range);
        let mut recent = [Some(position), None, None, None];
        recent[1..].iter_mut().zip(others).for_each(|(to, other)| *to = Some(other));
        self.recent = recent;
    }

    /// Passes the SACK blocks of an acknowledgement to `block`, the most important one first: at most five.
    pub(super) fn blocks(&self, mut block: impl FnMut(u64, u64)) {
        if let Some((start, end)) = self.duplicate {
            block(start, end);
        }
        let known = self.recent.into_iter().flatten().filter_map(|position| self.beyond.around(position));
        // Ranges that have grown together are reported once.
        let mut told = [None; 4];
        for (place, range) in known.enumerate() {
            if !told.contains(&Some(range)) {
                block(range.0, range.1);
                told[place] = Some(range);
            }
        }
    }

    /// Records that an acknowledgement of everything is sent.
    pub(super) const fn acknowledged(&mut self) {
        (self.waiting, self.due, self.duplicate) = (0, None, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_asic::units::Duration;

    const MSS: u64 = 1_000;

    fn receiver(echoes: Echoes) -> Receiver {
        Receiver::new(DelayedAck { every: 2, timeout: Duration::from_micros(500), push: true }, echoes)
    }

    fn segment(n: u64) -> Data {
        let start = 1 + n * MSS;
        Data { start, end: start + MSS, ce: false, cwr: false, push: false, pair: 7 }
    }

    fn at(us: u64) -> Time {
        Time::ORIGIN + Duration::from_micros(us)
    }

    /// Sends segments one every microsecond, and returns the acknowledgements' numbers and ECE, as (segment, ECE).
    fn answers(receiver: &mut Receiver, segments: &[Data]) -> Vec<(u64, bool)> {
        let mut sent = Vec::new();
        for (us, data) in (0..).zip(segments) {
            let answer = receiver.data(at(us), *data, |_| {});
            sent.extend(answer.before.map(|(next, ece)| (next / MSS, ece)));
            if answer.now {
                sent.push((receiver.next() / MSS, receiver.ece()));
                receiver.acknowledged();
            }
        }
        sent
    }

    #[test]
    fn every_second_segment_is_acknowledged_and_the_last_one_later() {
        let mut receiver = receiver(Echoes::None);
        let five: Vec<Data> = (0..5).map(segment).collect();
        assert_eq!(answers(&mut receiver, &five), [(2, false), (4, false)]);
        assert_eq!(receiver.due(), Some(at(4 + 500)));
        assert_eq!(answers(&mut receiver, &[Data { push: true, ..segment(5) }]), [(6, false)]);
        assert_eq!(answers(&mut receiver, &[Data { push: true, ..segment(6) }]), [(7, false)], "PSH");
        assert_eq!(receiver.due(), None);
    }

    #[test]
    fn holes_and_what_fills_them_are_acknowledged_at_once() {
        let mut receiver = receiver(Echoes::None);
        let order = [0, 1, 3, 4, 2, 5].map(segment);
        assert_eq!(answers(&mut receiver, &order), [(2, false), (2, false), (2, false), (5, false)]);
    }

    /// RFC 2018 §4: the block of the last segment first, then the ones reported before; RFC 2883 §4: a duplicate first.
    #[test]
    fn blocks_are_in_order_of_their_reports() {
        let mut receiver = receiver(Echoes::None);
        let mut after = |n: u64| {
            receiver.data(at(0), segment(n), |_| {});
            let mut blocks = Vec::new();
            receiver.blocks(|start, end| blocks.push((start / MSS, end / MSS)));
            receiver.acknowledged();
            blocks
        };
        assert_eq!((after(0), after(2)), (vec![], vec![(2, 3)]));
        assert_eq!((after(6), after(4)), (vec![(6, 7), (2, 3)], vec![(4, 5), (6, 7), (2, 3)]));
        assert_eq!(after(3), [(2, 5), (6, 7)], "one block with both sides");
        assert_eq!(after(6), [(6, 7), (6, 7), (2, 5)], "a duplicate beyond the hole");
        assert_eq!(after(0), [(0, 1), (6, 7), (2, 5)], "a duplicate before it");
        assert_eq!((after(1), after(5)), (vec![(6, 7)], vec![]));
    }

    #[test]
    fn a_mark_is_echoed_until_the_window_is_reduced() {
        let mut receiver = receiver(Echoes::Classic);
        let marked = Data { ce: true, ..segment(1) };
        let reduced = Data { cwr: true, ..segment(4) };
        let order = [segment(0), marked, segment(2), segment(3), reduced, segment(5)];
        assert_eq!(answers(&mut receiver, &order), [(2, true), (4, true), (6, false)]);
    }

    /// RFC 8257 §3.2: the number of marked bytes is exact in spite of delayed acknowledgements.
    #[test]
    fn dctcp_echoes_every_change() {
        let mut receiver = receiver(Echoes::Accurate);
        let marked = |n| Data { ce: true, ..segment(n) };
        let order =
            [segment(0), marked(1), marked(2), marked(3), marked(4), segment(5), segment(6), segment(7)];
        let expected = [(1, false), (2, true), (4, true), (5, true), (6, false), (8, false)];
        assert_eq!(answers(&mut receiver, &order), expected);
    }

    #[test]
    fn messages_are_complete_when_all_before_their_end_is_there() {
        let mut receiver = receiver(Echoes::None);
        let mut done = Vec::new();
        let last = |n, pair| Data { push: true, pair, ..segment(n) };
        for data in [last(3, 8), segment(0), last(1, 7), last(3, 8), segment(2), last(4, 9)] {
            receiver.data(at(0), data, |pair| done.push((pair, data.start / MSS)));
        }
        assert_eq!(done, [(7, 1), (8, 2), (9, 4)]);
    }
}
