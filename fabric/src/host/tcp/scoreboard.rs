//! The sender's sent and unacknowledged segments, and what is known of each: the scoreboard of RFC 6675.
//!
//! ```text
//! IsLost(n) (§4):  DupThresh separate ranges above n are SACKed, or more than (DupThresh - 1) SMSS bytes above n
//! SetPipe() (§4):  pipe = bytes not SACKed that are not lost, plus retransmitted bytes that are not SACKed
//! NextSeg() (§4):  (1) the first lost segment above HighRxt, (2) new data, (3) the first segment above HighRxt that is not
//!                  SACKed, if bytes above it are, (4) once per recovery the last segment that is not SACKed
//! ```
//!
//! Segments keep their borders when they are retransmitted. Sums replace the RFC's walk over all bytes.

use super::ranges::Ranges;
use sluice_asic::units::Time;
use std::collections::VecDeque;

/// A sent segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) start: u64,
    pub(super) end: u64,
    /// Number of the message that it carries, and true if the message ends here.
    pub(super) pair: u32,
    pub(super) push: bool,
    /// Time of the last transmission.
    pub(super) at: Time,
    /// True if it was sent more than once.
    again: bool,
    sacked: bool,
    lost: bool,
    /// True if it was retransmitted since it was found lost or recovery began.
    resent: bool,
}

impl Sent {
    pub(super) const fn new(start: u64, end: u64, pair: u32, push: bool, at: Time) -> Sent {
        Sent { start, end, pair, push, at, again: false, sacked: false, lost: false, resent: false }
    }

    const fn len(&self) -> u64 {
        self.end - self.start
    }
}

/// The effect of an acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// Bytes acknowledged by number.
    pub(super) acked: u64,
    /// Bytes newly SACKed.
    pub(super) sacked: u64,
    /// Time at which the last sent of these segments was sent; `None` if none was sent only once, or one of those acknowledged
    /// by number was sent again: then the acknowledgement says nothing of the round-trip time (Karn's algorithm).
    pub(super) sent_at: Option<Time>,
}

/// Sent and unacknowledged segments.
#[derive(Clone, Debug, Default)]
pub(super) struct Scoreboard {
    segments: VecDeque<Sent>,
    sacked_ranges: Ranges,
    /// Sums over segments that are not acknowledged by number: SACKed; lost and not SACKed; resent and not SACKed.
    sacked: u64,
    lost: u64,
    resent: u64,
    /// All segments before this position that are not SACKed are marked as lost.
    marked: u64,
    /// HighRxt: retransmission continues at this position.
    rxt: u64,
    /// True if this recovery's rescue retransmission was sent.
    rescued: bool,
}

impl Scoreboard {
    /// Adds a segment that was sent for the first time.
    pub(super) fn push(&mut self, sent: Sent) {
        self.segments.push_back(sent);
    }

    /// Returns the bytes that are thought to be in the network, of `outstanding` bytes that are not acknowledged by number.
    pub(super) const fn pipe(&self, outstanding: u64) -> u64 {
        outstanding + self.resent - self.sacked - self.lost
    }

    /// Returns true if a lost segment is known.
    pub(super) const fn has_lost(&self) -> bool {
        self.lost > 0
    }

    /// Removes the segments before position `una`.
    pub(super) fn acknowledge(&mut self, una: u64) -> Progress {
        let (mut progress, mut again) = (Progress::default(), false);
        while let Some(first) = self.segments.front_mut().filter(|first| first.start < una) {
            let part = first.end.min(una) - first.start;
            progress.acked += part;
            match (first.sacked, first.lost) {
                (true, _) => self.sacked -= part,
                (false, lost) => {
                    self.lost -= if lost { part } else { 0 };
                    self.resent -= if first.resent { part } else { 0 };
                    again |= first.again;
                    progress.sent_at = progress.sent_at.max(Some(first.at));
                }
            }
            if first.end > una {
                first.start = una;
                break;
            }
            self.segments.pop_front();
        }
        self.sacked_ranges.remove_before(una);
        if again {
            progress.sent_at = None;
        }
        progress
    }

    /// Marks segments as SACKed that are completely in `start..end`; adds to `progress`.
    pub(super) fn sack(&mut self, start: u64, end: u64, progress: &mut Progress) {
        let Scoreboard { segments, sacked_ranges, sacked, lost, resent, .. } = self;
        sacked_ranges.insert(start, end, |from, to| {
            let first = segments.partition_point(|sent| sent.start < from);
            for sent in segments.range_mut(first..).take_while(|sent| sent.end <= to) {
                if std::mem::replace(&mut sent.sacked, true) {
                    continue;
                }
                let len = sent.len();
                *sacked += len;
                *lost -= if sent.lost { len } else { 0 };
                *resent -= if sent.resent { len } else { 0 };
                progress.sacked += len;
                if !sent.again {
                    progress.sent_at = progress.sent_at.max(Some(sent.at));
                }
            }
        });
    }

    /// Marks segments as lost by the rule IsLost.
    pub(super) fn mark_lost(&mut self, threshold: u32, mss: u64) {
        let (mut ranges, mut bytes) = (0, 0);
        let above = self.sacked_ranges.descending().find(|(start, end)| {
            (ranges, bytes) = (ranges + 1, bytes + (end - start));
            ranges >= threshold || bytes > u64::from(threshold.saturating_sub(1)) * mss
        });
        if let Some((start, _)) = above {
            self.mark_before(start);
        }
    }

    /// Marks the first segment as lost.
    pub(super) fn mark_first(&mut self) {
        if let Some(end) = self.segments.front().map(|first| first.end) {
            self.mark_before(end);
        }
    }

    fn mark_before(&mut self, position: u64) {
        let first = self.segments.partition_point(|sent| sent.start < self.marked);
        for sent in self.segments.range_mut(first..).take_while(|sent| sent.end <= position) {
            if !sent.sacked && !std::mem::replace(&mut sent.lost, true) {
                self.lost += sent.len();
            }
        }
        self.marked = self.marked.max(position);
    }

    /// Begins a recovery: nothing was retransmitted yet.
    pub(super) const fn recover(&mut self) {
        (self.rxt, self.rescued) = (0, false);
    }

    /// Marks all segments that are not SACKed as lost and not resent, after a timeout.
    pub(super) fn lose_all(&mut self) {
        (self.lost, self.resent, self.rxt) = (0, 0, 0);
        for sent in self.segments.iter_mut().filter(|sent| !sent.sacked) {
            (sent.lost, sent.resent) = (true, false);
            self.lost += sent.len();
        }
        self.marked = self.segments.back().map_or(self.marked, |last| last.end);
    }

    /// Forgets all marks at the end of a recovery, because its loss marks say nothing of later losses.
    pub(super) fn settle(&mut self) {
        for sent in self.segments.iter_mut().filter(|sent| sent.lost || sent.resent) {
            (sent.lost, sent.resent) = (false, false);
        }
        (self.lost, self.resent, self.marked) = (0, 0, 0);
    }

    /// Returns the first lost segment that is to be retransmitted: rule 1 of NextSeg.
    pub(super) fn next_lost(&mut self) -> Option<Sent> {
        self.unsacked().filter(|sent| sent.lost)
    }

    /// Returns a segment that is not SACKed below the highest SACKed byte: rule 3 of NextSeg.
    pub(super) fn next_doubtful(&mut self) -> Option<Sent> {
        let highest = self.sacked_ranges.last()?.1;
        self.unsacked().filter(|sent| sent.end <= highest)
    }

    /// Returns the last segment that is not SACKed, once in a recovery: rule 4 of NextSeg.
    pub(super) fn rescue(&mut self) -> Option<Sent> {
        if self.rescued {
            return None;
        }
        self.segments.iter().rev().find(|sent| !sent.sacked).copied()
    }

    /// Returns the first segment from HighRxt on that is not SACKed, and moves HighRxt there.
    fn unsacked(&mut self) -> Option<Sent> {
        let first = self.segments.partition_point(|sent| sent.start < self.rxt);
        let found = self.segments.range(first..).find(|sent| !sent.sacked).copied();
        if let Some(sent) = found {
            self.rxt = sent.start;
        }
        found
    }

    /// Returns the first segment.
    pub(super) fn first(&self) -> Option<Sent> {
        self.segments.front().copied()
    }

    /// Records the retransmission of a segment. `rescues` is true for rule 4, which does not move HighRxt.
    pub(super) fn resent(&mut self, start: u64, now: Time, rescues: bool) {
        let at = self.segments.partition_point(|sent| sent.start < start);
        let Some(sent) = self.segments.get_mut(at) else { return };
        (sent.at, sent.again) = (now, true);
        if !sent.sacked && !std::mem::replace(&mut sent.resent, true) {
            // A segment that is resent without being known as lost counts as lost once and in the network once.
            self.resent += sent.len();
            if !std::mem::replace(&mut sent.lost, true) {
                self.lost += sent.len();
            }
        }
        match rescues {
            true => self.rescued = true,
            false => self.rxt = self.rxt.max(sent.end),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1_000;

    /// Ten segments of 1000 bytes from position 1 on, sent every microsecond.
    fn ten() -> Scoreboard {
        let mut board = Scoreboard::default();
        for n in 0..10 {
            board.push(Sent::new(1 + n * MSS, 1 + (n + 1) * MSS, 7, n == 9, Time::from_nanos(n * 1_000)));
        }
        board
    }

    fn sack(board: &mut Scoreboard, first: u64, after: u64) -> Progress {
        let mut progress = Progress::default();
        board.sack(1 + first * MSS, 1 + after * MSS, &mut progress);
        board.mark_lost(3, MSS);
        progress
    }

    fn next(board: &mut Scoreboard) -> Option<u64> {
        board.next_lost().map(|sent| sent.start / MSS)
    }

    /// Segment 0 and 2 are missing. RFC 6675 §4, IsLost: three ranges, or more than 2000 bytes.
    #[test]
    fn three_segments_above_make_a_loss() {
        let mut board = ten();
        assert_eq!(sack(&mut board, 1, 2).sacked, MSS);
        assert_eq!(
            (sack(&mut board, 3, 4).sacked, board.has_lost(), board.pipe(10 * MSS)),
            (MSS, false, 8 * MSS)
        );
        let progress = sack(&mut board, 1, 2);
        assert_eq!((progress.sacked, progress.sent_at), (0, None), "known already");
        // A third segment: segment 0 is lost; above segment 2 are only two.
        assert_eq!(sack(&mut board, 3, 5).sent_at, Some(Time::from_nanos(4_000)));
        assert_eq!((board.pipe(10 * MSS), next(&mut board)), (6 * MSS, Some(0)));
        board.resent(1, Time::from_nanos(50_000), false);
        assert_eq!((board.pipe(10 * MSS), next(&mut board)), (7 * MSS, None));
        sack(&mut board, 3, 6);
        assert_eq!((board.pipe(10 * MSS), next(&mut board)), (5 * MSS, Some(2)));
        // Segments 6 to 9 are not SACKed and nothing above them is: no rule 3, but rule 4 once.
        board.resent(1 + 2 * MSS, Time::from_nanos(60_000), false);
        assert!(board.next_doubtful().is_none());
        assert_eq!(board.rescue().map(|sent| sent.start), Some(1 + 9 * MSS));
        board.resent(1 + 9 * MSS, Time::from_nanos(61_000), true);
        assert!(board.rescue().is_none());
        // The retransmission fills the hole: the segments' times say nothing.
        let progress = board.acknowledge(1 + 6 * MSS);
        assert_eq!((progress.acked, progress.sent_at), (6 * MSS, None));
        assert_eq!(board.pipe(4 * MSS), 4 * MSS);
    }

    #[test]
    fn doubtful_segments_are_below_a_sacked_one() {
        let mut board = ten();
        sack(&mut board, 8, 9);
        assert_eq!((next(&mut board), board.next_doubtful().map(|sent| sent.start)), (None, Some(1)));
    }

    #[test]
    fn a_timeout_loses_what_is_not_sacked() {
        let mut board = ten();
        sack(&mut board, 4, 6);
        board.lose_all();
        assert_eq!((board.pipe(10 * MSS), next(&mut board)), (0, Some(0)));
        for (segment, then) in [(0, 1), (1, 2), (2, 3), (3, 6)] {
            board.resent(1 + segment * MSS, Time::from_nanos(90_000), false);
            assert_eq!(next(&mut board), Some(then));
        }
        assert_eq!(board.pipe(10 * MSS), 4 * MSS);
        board.lose_all();
        assert_eq!((board.pipe(10 * MSS), next(&mut board)), (0, Some(0)), "a second timeout begins again");
    }

    #[test]
    fn an_acknowledgement_measures_the_last_segment() {
        let mut board = ten();
        let progress = board.acknowledge(1 + 3 * MSS);
        assert_eq!((progress.acked, progress.sent_at), (3 * MSS, Some(Time::from_nanos(2_000))));
        let within = board.acknowledge(1 + 3 * MSS + 400);
        assert_eq!((within.acked, board.first().map(|sent| sent.len())), (400, Some(600)));
        board.resent(1 + 4 * MSS, Time::from_nanos(20_000), false);
        assert_eq!(board.acknowledge(1 + 5 * MSS).sent_at, None);
    }
}
