//! Model of one queue's pauses in plain Rust: when the queue is paused, when it is in a storm, and when its timers end
//! (IEEE 802.1Qbb; model: buffer §2).
//!
//! The model sees when PFC frames arrive. It does not know to the nanosecond when the program processes a frame, or when
//! a timer comes round, so each moment is an interval. Where two moments may have come in either order, the model says
//! nothing until all pauses that it may have heard of are over. Times are nanoseconds since the begin of the run.

use super::Params;

/// Shortest and longest recirculation of a timer or a frame.
pub(super) const LAP: (u64, u64) = (500, 1_600);
/// Longest time from the processing of a frame to its effect on packets that are dequeued.
pub(super) const REACTION: u64 = 1_500;
/// The watchdog counts ticks of 1,024 ns: a time of its own is known to within one.
const TICK: u64 = 1_024;

/// A moment that is known to be in an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) first: u64,
    pub(super) last: u64,
}

impl Moment {
    /// Returns the moment that comes after this one by a time between two bounds.
    pub(super) fn plus(self, (least, most): (u64, u64)) -> Moment {
        Moment { first: self.first.saturating_add(least), last: self.last.saturating_add(most) }
    }

    /// Returns the later one of two moments.
    fn max(self, other: Moment) -> Moment {
        Moment { first: self.first.max(other.first), last: self.last.max(other.last) }
    }
}

/// One priority of a PFC frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    /// When the program processes the priority.
    pub(super) at: Moment,
    /// 0 ends the pause.
    pub(super) quanta: u16,
}

/// How a timer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The pause was over.
    Expired,
    /// The storm was over.
    Restored,
}

/// Pauses and storms of one queue, as the model has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct History {
    /// The queue is paused for certain.
    pub(super) paused: Vec<(u64, u64)>,
    /// At any other time the queue is not paused.
    pub(super) maybe_paused: Vec<(u64, u64)>,
    /// The queue is in a storm for certain.
    pub(super) storms: Vec<(u64, u64)>,
    /// At any other time the queue is in no storm.
    pub(super) maybe_storms: Vec<(u64, u64)>,
    /// Ends of timers, in order.
    pub(super) ends: Vec<(End, Moment)>,
    /// Timers that end at these times are not judged.
    pub(super) unknown: Vec<(u64, u64)>,
}

/// Returns true if one of the intervals contains a time.
pub(super) fn within(intervals: &[(u64, u64)], time: u64) -> bool {
    intervals.iter().any(|(first, last)| (*first..=*last).contains(&time))
}

/// State of a queue.
#[derive(Clone, Copy, Debug)]
enum State {
    Free,
    Paused {
        /// When the first of the pauses without a break came; `None` after a frame that ended it, until the next one.
        since: Option<Moment>,
        until: Moment,
        /// When the last pause came.
        heard: Moment,
        /// When the timer began.
        born: Moment,
        /// From when on the queue is paused for certain.
        silent: u64,
    },
    Stormed {
        begun: Moment,
        heard: Moment,
    },
    /// Anything, up to this time.
    Unknown {
        from: u64,
        until: u64,
    },
}

/// Walks through the requests of one queue.
struct Walk<'p> {
    p: &'p Params,
    /// Speed of the line in Gb/s.
    gbps: u64,
    state: State,
    seen: History,
}

impl History {
    /// Returns the history of a queue whose line has this speed in Gb/s; the requests are in order of time.
    pub(super) fn of(p: &Params, gbps: u64, requests: &[Request]) -> History {
        let mut walk = Walk { p, gbps, state: State::Free, seen: History::default() };
        let mut before: Option<Moment> = None;
        for request in requests {
            walk.arrive(request.at);
            if before.is_some_and(|before| request.at.first <= before.last) {
                // The two may be processed in either order.
                walk.lose_track(request.at.first);
            }
            walk.take(request);
            before = Some(before.map_or(request.at, |before| before.max(request.at)));
        }
        walk.arrive(Moment { first: u64::MAX, last: u64::MAX });
        walk.seen
    }
}

impl Walk<'_> {
    /// Length of a pause: a quantum is 512 bit times. The program's factor is right to within a thousandth.
    fn length(&self, quanta: u16) -> (u64, u64) {
        let exact = u64::from(quanta) * 512 / self.gbps.max(1);
        (exact.saturating_sub(4), exact + exact / 1_000 + 4)
    }

    /// Bounds of a time that the watchdog counts in ticks.
    fn ticks(micros: u64) -> (u64, u64) {
        let exact = micros.saturating_mul(1_000);
        (exact.saturating_sub(2 * TICK), exact.saturating_add(2 * TICK))
    }

    /// When pauses without a break become a storm.
    fn storm(&self, since: Moment) -> Moment {
        let (least, most) = Walk::ticks(self.p.detection_time);
        since.plus((least, most.saturating_add(LAP.1)))
    }

    /// When a storm is over: no pause came for some time, and at least two recirculations have passed.
    fn over(&self, begun: Moment, heard: Moment) -> Moment {
        let (least, most) = Walk::ticks(self.p.restoration_time);
        begun.plus((2 * LAP.0, 3 * LAP.1)).max(heard.plus((least, most.saturating_add(3 * LAP.1))))
    }

    /// Moves the state on to the arrival of a request.
    fn arrive(&mut self, at: Moment) {
        match self.state {
            State::Free => {}
            State::Unknown { from, until } => {
                if at.first > until {
                    self.seen.unknown.push((from, until));
                    self.seen.maybe_paused.push((from, until));
                    self.seen.maybe_storms.push((from, until));
                    self.state = State::Free;
                }
            }
            State::Paused { since, until, heard, born, silent } => {
                let storm = since.map(|since| self.storm(since));
                let before_storm = |time: u64| storm.is_none_or(|storm| time < storm.first);
                let ends = until.max(born.plus((LAP.0, LAP.1))).plus((0, 2 * LAP.1));
                if at.last < until.first && before_storm(at.last) {
                    return;
                }
                if before_storm(ends.last) && ends.last < at.first {
                    self.pause_over(silent, until.first, (born.first, ends.last));
                    self.seen.ends.push((End::Expired, ends));
                    self.state = State::Free;
                } else if let Some(begun) =
                    storm.filter(|s| s.last < until.first && s.last + 2 * LAP.1 < at.first)
                {
                    self.pause_over(silent, begun.first, (born.first, begun.last + 2 * LAP.1));
                    self.state = State::Stormed { begun, heard };
                    self.arrive(at);
                } else {
                    let from = until.first.min(storm.map_or(u64::MAX, |storm| storm.first)).min(at.first);
                    self.pause_over(silent, from, (born.first, from));
                    self.lose_track(from);
                    self.hold(until.last);
                    self.arrive(at);
                }
            }
            State::Stormed { begun, heard } => {
                let over = self.over(begun, heard);
                if at.last < over.first.saturating_sub(2 * LAP.1) {
                    return;
                }
                let certain = (begun.last + 2 * LAP.1, over.first.saturating_sub(2 * LAP.1));
                if over.last < at.first {
                    self.storm_over(certain, (begun.first, over.last));
                    self.seen.ends.push((End::Restored, over));
                    self.state = State::Free;
                } else {
                    self.storm_over(certain, (begun.first, over.first));
                    self.lose_track(over.first.saturating_sub(2 * LAP.1));
                    self.hold(over.last);
                    self.arrive(at);
                }
            }
        }
    }

    /// Applies a request to the state at its arrival.
    fn take(&mut self, request: &Request) {
        let Request { at, quanta } = *request;
        let until = at.plus(self.length(quanta));
        self.state = match self.state {
            State::Free if quanta == 0 => State::Free,
            State::Free => {
                State::Paused { since: Some(at), until, heard: at, born: at, silent: at.last + REACTION }
            }
            State::Paused { heard, born, silent, .. } if quanta == 0 => {
                self.pause_over(silent, at.first, (born.first, at.last + REACTION));
                State::Paused { since: None, until: at, heard, born, silent: u64::MAX }
            }
            State::Paused { since, born, silent, .. } => {
                State::Paused { since: Some(since.unwrap_or(at)), until, heard: at, born, silent }
            }
            State::Stormed { begun, heard } => {
                State::Stormed { begun, heard: if quanta == 0 { heard } else { at } }
            }
            State::Unknown { .. } => {
                self.hold(until.last);
                return;
            }
        };
    }

    /// Says nothing from this time on, until [`Self::hold`] says how long.
    fn lose_track(&mut self, from: u64) {
        match self.state {
            State::Unknown { .. } => {}
            State::Paused { silent, until, born, .. } => {
                self.pause_over(silent, from.min(until.first), (born.first, from));
                self.state = State::Unknown { from: from.min(born.first), until: from };
                self.hold(until.last);
            }
            State::Stormed { begun, heard } => {
                self.seen.maybe_storms.push((begun.first, from));
                let over = self.over(begun, heard);
                self.state = State::Unknown { from, until: from };
                self.hold(over.last);
            }
            State::Free => self.state = State::Unknown { from, until: from },
        }
    }

    /// Extends the time of which nothing is said by a pause up to this time, which may become a storm.
    fn hold(&mut self, pause: u64) {
        if let State::Unknown { until, .. } = &mut self.state {
            let (_, restoration) = Walk::ticks(self.p.restoration_time);
            *until = (*until).max(pause.saturating_add(restoration).saturating_add(8 * LAP.1));
        }
    }

    fn pause_over(&mut self, silent: u64, end: u64, maybe: (u64, u64)) {
        if silent < end {
            self.seen.paused.push((silent, end));
        }
        self.seen.maybe_paused.push(maybe);
    }

    fn storm_over(&mut self, certain: (u64, u64), maybe: (u64, u64)) {
        if certain.0 < certain.1 {
            self.seen.storms.push(certain);
        }
        self.seen.maybe_storms.push(maybe);
    }
}
