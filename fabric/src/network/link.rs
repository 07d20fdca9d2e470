//! Effects of a link on frames: delay, outages, loss and corruption, all of them scripted.
//!
//! *Rules.* A frame is lost if its link is down at any time from its first bit out to its last bit in. Loss, corruption
//! and extra delay are those in force at its first bit out. Links keep the order of frames: if the delay shrinks, a
//! frame waits for the frame before it. A corrupted frame takes its time on the wire; the receiving MAC drops it
//! because the FCS is wrong, also if it is a PFC frame.

use super::{LinkId, Way};
use sluice_asic::gress::Gress;
use sluice_asic::mac::WireOverhead;
use sluice_asic::random::{RandomStream, StreamId};
use sluice_asic::units::{Bytes, Duration, Time};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// A probability in parts per billion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Probability(u32);

/// Parts per billion of probability 1.
const WHOLE: u32 = 1_000_000_000;

/// Error: a text is not a probability.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{found}` is not a probability; expected 0 to 1 in steps of 1e-9, for example `0.001` or `1e-6`")]
pub struct ProbabilityError {
    found: String,
}

impl Probability {
    /// Probability 0.
    pub const NEVER: Probability = Probability(0);
    /// Probability 1.
    pub const ALWAYS: Probability = Probability(WHOLE);

    /// Returns `ppb` parts per billion, at most probability 1.
    #[must_use]
    pub const fn from_ppb(ppb: u32) -> Probability {
        Probability(if ppb > WHOLE { WHOLE } else { ppb })
    }

    /// Returns the parts per billion.
    #[must_use]
    pub const fn ppb(self) -> u32 {
        self.0
    }

    /// Draws whether the event happens. Probability 0 takes no number from the stream.
    fn happens(self, stream: &mut RandomStream) -> bool {
        let drawn = |s: &mut RandomStream| (u128::from(s.draw(64)) * u128::from(WHOLE)) >> 64;
        self.0 > 0 && drawn(stream) < u128::from(self.0)
    }
}

impl FromStr for Probability {
    type Err = ProbabilityError;

    /// Parses a decimal number, with or without exponent. Digits below 1e-9 are rejected.
    fn from_str(text: &str) -> Result<Probability, ProbabilityError> {
        let bad = || ProbabilityError { found: text.to_owned() };
        let (number, exponent) = text.trim().split_once(['e', 'E']).unwrap_or((text.trim(), "0"));
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let digits = format!("{whole}{fraction}");
        if digits.is_empty() || digits.len() > 30 || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(bad());
        }
        let exponent: i32 = exponent.parse().map_err(|_| bad())?;
        let value: u128 = digits.parse().map_err(|_| bad())?;
        if value == 0 {
            return Ok(Probability::NEVER);
        }
        let shift = 9 + i64::from(exponent) - fraction.len() as i64;
        let power = |by: i64| u32::try_from(by).ok().and_then(|by| 10u128.checked_pow(by));
        let ppb = if shift >= 0 {
            power(shift).and_then(|factor| value.checked_mul(factor))
        } else {
            power(-shift).filter(|part| value.is_multiple_of(*part)).map(|part| value / part)
        };
        let ppb = ppb.and_then(|ppb| u32::try_from(ppb).ok()).filter(|ppb| *ppb <= WHOLE);
        ppb.map(Probability).ok_or_else(bad)
    }
}

impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == WHOLE {
            return f.write_str("1");
        }
        let digits = format!("{:09}", self.0);
        let digits = digits.trim_end_matches('0');
        if digits.is_empty() { f.write_str("0") } else { write!(f, "0.{digits}") }
    }
}

/// A scripted change of one direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkChange {
    /// The link fails.
    Down,
    /// The link works again.
    Up,
    /// Sets the probability that a frame is lost.
    Loss(Probability),
    /// Sets the probability that bits of a frame are changed.
    Corruption(Probability),
    /// Sets the delay in addition to the link's propagation delay.
    ExtraDelay(Duration),
}

/// Reason why a frame is lost after a switch sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkDrop {
    /// The link was down.
    Down,
    /// The frame was lost at random.
    Loss,
    /// Bits of the frame were changed: the receiving MAC drops it.
    Corrupted,
    /// Functional mode: the frame exceeded the number of hops, probably in a loop.
    TooManyHops,
    /// The frame was sent on a port with neither a link nor a host.
    NoCable,
    /// The frame was sent to a host, and its destination is the address of another host.
    WrongHost,
}

impl LinkDrop {
    /// Every reason with its name, its meaning, and a remedy.
    pub const TABLE: [(LinkDrop, &'static str, &'static str, &'static str); 6] = [
        (
            LinkDrop::Down,
            "link_down",
            "the link was down between the frame's first bit out and its last bit in",
            "restore the link with an event, or route around it",
        ),
        (LinkDrop::Loss, "link_loss", "the link lost the frame at random", "lower the link's loss"),
        (
            LinkDrop::Corrupted,
            "fcs_error",
            "the link changed bits of the frame and the receiving MAC dropped it",
            "lower the link's corruption",
        ),
        (
            LinkDrop::TooManyHops,
            "too_many_hops",
            "functional mode: the frame, or a frame made from it, was on its 65th link",
            "look for a loop in the routes with --trace",
        ),
        (
            LinkDrop::NoCable,
            "no_cable",
            "the switch sent the frame on a port that has neither a cable nor a host",
            "give the program entries for its place in the network, or the topology a cable or a host at this port",
        ),
        (
            LinkDrop::WrongHost,
            "wrong_host",
            "the switch sent the frame to a host, but the frame's IPv4 destination is another host of the network",
            "give the program entries for its place in the network",
        ),
    ];

    /// Returns the name in counters and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        Self::TABLE[self as usize].1
    }
}

/// Counters of one direction of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WayTotals {
    /// Frames sent on the link.
    pub frames: u64,
    /// Bytes of `frames`, without FCS, before padding.
    pub bytes: u64,
    /// Frames that arrive, including those still on their way.
    pub carried: u64,
    /// Frames that do not arrive, by [`LinkDrop`].
    pub dropped: [u64; LinkDrop::TABLE.len()],
    /// Bytes of line time, including padding, FCS, preamble and gap of the sending port.
    pub wire_bytes: u64,
}

/// One direction of a link.
#[derive(Debug)]
pub(super) struct Wire {
    pub(super) link: LinkId,
    pub(super) way: Way,
    /// Index of the receiving node.
    pub(super) to: usize,
    pub(super) delay: Duration,
    /// The receiver's `reception_lead`: the least time from a frame's first bit at its port to the frame's first
    /// effect.
    pub(super) lead: Duration,
    script: Vec<(Time, LinkChange)>,
    /// Number of script changes in force, and the values that they set.
    next: usize,
    loss: Probability,
    corruption: Probability,
    extra: Duration,
    /// Outages in order, each from its start up to its end; `Time::MAX` if it does not end.
    outages: Vec<(Time, Time)>,
    streams: [RandomStream; 2],
    /// Time until which the far end receives the previous frame.
    last: Time,
    /// True if frames are dropped because they have made all their hops.
    pub(super) exhausted: bool,
    pub(super) totals: WayTotals,
    /// Overhead of the sending port.
    overhead: WireOverhead,
}

impl Wire {
    pub(super) fn new(
        (link, way): (LinkId, Way),
        to: usize,
        (delay, lead): (Duration, Duration),
        seed: u64,
    ) -> Wire {
        let gress = if way == Way::Forth { Gress::Ingress } else { Gress::Egress };
        let id = |instance| StreamId { switch: link.0, pipe: u32::MAX - 1, gress, instance };
        Wire {
            link,
            way,
            to,
            delay,
            lead,
            script: Vec::new(),
            next: 0,
            loss: Probability::NEVER,
            corruption: Probability::NEVER,
            extra: Duration::ZERO,
            outages: Vec::new(),
            streams: [0, 1].map(|instance| RandomStream::new(seed, id(instance))),
            last: Time::ORIGIN,
            exhausted: false,
            totals: WayTotals::default(),
            overhead: WireOverhead::ETHERNET,
        }
    }

    /// Sets the overhead of the sending port.
    pub(super) const fn overhead(mut self, overhead: WireOverhead) -> Wire {
        self.overhead = overhead;
        self
    }

    /// Counts a frame of `bytes` bytes (without FCS) that is sent.
    pub(super) fn count(&mut self, bytes: Bytes) {
        self.totals.frames += 1;
        self.totals.bytes += bytes.get();
        self.totals.wire_bytes += self.overhead.wire_bytes(bytes).get();
    }

    /// Adds a change. Returns false if frames of that time have already been judged.
    pub(super) fn script(&mut self, time: Time, change: LinkChange) -> bool {
        if time < self.last {
            return false;
        }
        let at = self.script.partition_point(|(t, _)| *t <= time);
        self.script.insert(at, (time, change));
        self.outages.clear();
        let mut since = None;
        for (time, change) in &self.script {
            match (change, since) {
                (LinkChange::Down, None) => since = Some(*time),
                (LinkChange::Up, Some(from)) => {
                    self.outages.push((from, *time));
                    since = None;
                }
                _ => {}
            }
        }
        self.outages.extend(since.map(|from| (from, Time::MAX)));
        true
    }

    /// Decides the fate of the next frame, whose first and last bit are sent at `first` and `last`: the time of the
    /// first bit at the far end, or the reason of its drop.
    pub(super) fn judge(&mut self, first: Time, last: Time) -> Result<Time, LinkDrop> {
        while let Some((_, change)) = self.script.get(self.next).filter(|(time, _)| *time <= first) {
            match change {
                LinkChange::Loss(p) => self.loss = *p,
                LinkChange::Corruption(p) => self.corruption = *p,
                LinkChange::ExtraDelay(d) => self.extra = *d,
                LinkChange::Down | LinkChange::Up => {}
            }
            self.next += 1;
        }
        let on_wire = last.saturating_since(first);
        let arrival = (first + self.delay + self.extra).max(self.last);
        let (end, past) = (arrival + on_wire, self.outages.partition_point(|(_, up)| *up <= first));
        let down = self.outages.get(past).is_some_and(|(down, _)| *down <= end);
        let lost = self.loss.happens(&mut self.streams[0]);
        let corrupted = self.corruption.happens(&mut self.streams[1]);
        let fate = match (down, lost, corrupted) {
            (true, ..) => Err(LinkDrop::Down),
            (_, true, _) => Err(LinkDrop::Loss),
            (_, _, true) => Err(LinkDrop::Corrupted),
            _ if self.exhausted => Err(LinkDrop::TooManyHops),
            _ => Ok(arrival),
        };
        self.last = self.last.max(end);
        match fate {
            Ok(_) => self.totals.carried += 1,
            Err(drop) => self.totals.dropped[drop as usize] += 1,
        }
        fate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NS: u64 = 1000;

    fn wire(script: &[(u64, LinkChange)]) -> Wire {
        let ids = (LinkId(0), Way::Forth);
        let mut wire = Wire::new(ids, 1, (Duration::from_nanos(500), Duration::ZERO), 7);
        for (ns, change) in script {
            assert!(wire.script(Time::from_nanos(*ns), *change));
        }
        wire
    }

    fn send(wire: &mut Wire, ns: u64) -> Result<u64, LinkDrop> {
        let first = Time::from_nanos(ns);
        wire.judge(first, first + Duration::from_nanos(10)).map(|t| t.as_ps() / NS)
    }

    #[test]
    fn a_link_that_is_down_at_any_time_of_the_journey_loses_the_frame() {
        let mut w = wire(&[(1000, LinkChange::Down), (2000, LinkChange::Up)]);
        // The last bit arrives at 489 + 510 = 999 and at 1000.
        assert_eq!(send(&mut w, 489), Ok(989));
        assert_eq!(send(&mut w, 490 + 510), Err(LinkDrop::Down));
        assert_eq!(send(&mut w, 1999), Err(LinkDrop::Down));
        assert_eq!(send(&mut w, 2000), Ok(2509));
        assert_eq!(w.totals.dropped, [2, 0, 0, 0, 0, 0]);
        let mut w = wire(&[(1000, LinkChange::Down), (2000, LinkChange::Up)]);
        assert_eq!(send(&mut w, 490), Err(LinkDrop::Down));
    }

    #[test]
    fn a_delay_that_shrinks_does_not_turn_frames_round() {
        let slow = LinkChange::ExtraDelay(Duration::from_nanos(300));
        let mut w = wire(&[(100, slow), (200, LinkChange::ExtraDelay(Duration::ZERO))]);
        assert_eq!(send(&mut w, 50), Ok(550));
        assert_eq!(send(&mut w, 150), Ok(950));
        assert_eq!(send(&mut w, 200), Ok(960));
        assert_eq!(send(&mut w, 600), Ok(1100));
        assert!(!w.script(Time::from_nanos(1109), LinkChange::Down));
        assert!(w.script(Time::from_nanos(1110), LinkChange::Down));
    }

    #[test]
    fn loss_and_corruption_are_as_likely_as_asked_and_independent() {
        let tenth: Probability = "0.1".parse().unwrap();
        let mut w = wire(&[(0, LinkChange::Loss(tenth)), (0, LinkChange::Corruption(tenth))]);
        (0..20_000).for_each(|n| {
            let _ = send(&mut w, n * 1000);
        });
        let [_, lost, corrupted, ..] = w.totals.dropped;
        // Four standard deviations of 20,000 draws at 0.1 (and 0.09) are 170.
        assert!(lost.abs_diff(2000) < 170 && corrupted.abs_diff(1800) < 170, "{lost} {corrupted}");
        let always = Probability::ALWAYS;
        let mut w = wire(&[(0, LinkChange::Loss(always)), (50, LinkChange::Loss(Probability::NEVER))]);
        assert_eq!([send(&mut w, 0), send(&mut w, 50)], [Err(LinkDrop::Loss), Ok(550)]);
    }

    #[test]
    fn probabilities_are_exact_texts() {
        for (text, ppb) in
            [("0", 0), ("1", WHOLE), ("0.001", 1_000_000), ("1e-9", 1), ("2.5E-3", 2_500_000), ("0.0", 0)]
        {
            assert_eq!(text.parse(), Ok(Probability(ppb)), "{text}");
        }
        for text in ["", "-1", "1.1", "1e-10", "x", "1e", "1e99999999", "0.0000000001", "."] {
            assert!(text.parse::<Probability>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn probabilities_print_what_parses(ppb in 0..=WHOLE) {
            prop_assert_eq!(Probability(ppb).to_string().parse(), Ok(Probability(ppb)));
        }
    }
}
