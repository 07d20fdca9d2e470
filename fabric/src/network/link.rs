//! What a link does to frames: delay, outages, loss, corruption, all of it scripted.
//!
//! *Rules.* A frame is lost if its link is down at any time from its first bit out to its last bit in. Loss,
//! corruption and extra delay are those in force at its first bit. Links keep order: where the delay shrinks, a frame
//! waits for the one before it. A corrupted frame takes its time on the wire and ends at the far MAC, whose check of
//! the FCS fails; so does a corrupted PFC frame.

use super::{LinkId, Way};
use sluice_asic::gress::Gress;
use sluice_asic::random::{RandomStream, StreamId};
use sluice_asic::units::{Duration, Time};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// How likely something is, in parts per billion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Probability(u32);

/// Parts of a whole.
const WHOLE: u32 = 1_000_000_000;

/// A text that is no probability.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{found}` is no probability; expected 0 to 1 in parts per billion, for example `0.001` or `1e-6`")]
pub struct ProbabilityError {
    found: String,
}

impl Probability {
    /// Never.
    pub const NEVER: Probability = Probability(0);
    /// Always.
    pub const ALWAYS: Probability = Probability(WHOLE);

    /// So many parts per billion; more than a billion is always.
    #[must_use]
    pub const fn from_ppb(ppb: u32) -> Probability {
        Probability(if ppb > WHOLE { WHOLE } else { ppb })
    }

    /// Parts per billion.
    #[must_use]
    pub const fn ppb(self) -> u32 {
        self.0
    }

    /// Whether it happens this time. What never happens takes no number from the stream.
    fn happens(self, stream: &mut RandomStream) -> bool {
        let drawn = |s: &mut RandomStream| (u128::from(s.draw(64)) * u128::from(WHOLE)) >> 64;
        self.0 > 0 && drawn(stream) < u128::from(self.0)
    }
}

impl FromStr for Probability {
    type Err = ProbabilityError;

    /// A decimal number, with or without exponent; what is finer than a billionth is refused.
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

/// What happens to one direction of a link at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkChange {
    /// It fails.
    Down,
    /// It works again.
    Up,
    /// Frames get lost.
    Loss(Probability),
    /// Frames get wrong bits.
    Corruption(Probability),
    /// Frames take so much longer than the link's delay.
    ExtraDelay(Duration),
}

/// How a frame ends on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkDrop {
    /// The link was down.
    Down,
    /// It was lost at random.
    Loss,
    /// Its bits were changed: the far MAC drops it.
    Corrupted,
    /// Without time it went from switch to switch without end.
    TooManyHops,
}

impl LinkDrop {
    /// Every reason with its name, what it means and what to try.
    pub const TABLE: [(LinkDrop, &'static str, &'static str, &'static str); 4] = [
        (
            LinkDrop::Down,
            "link_down",
            "the link was down between the frame's first bit out and its last bit in",
            "restore the link with an event, or send other ways round",
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
            "without time: the frame, or what was made of it, was on its 65th link",
            "look for a loop in the routes with --trace",
        ),
    ];

    /// Name as counted and printed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        Self::TABLE[self as usize].1
    }
}

/// What a direction counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WayTotals {
    /// Frames put on it, and their bytes without FCS before padding.
    pub frames: u64,
    /// See `frames`.
    pub bytes: u64,
    /// Frames that reach the far end, sooner or later.
    pub carried: u64,
    /// Frames that do not, by [`LinkDrop`].
    pub dropped: [u64; LinkDrop::TABLE.len()],
    /// Bytes of line time taken: padding, FCS, preamble and gap included.
    pub wire_bytes: u64,
}

/// One direction of a link.
#[derive(Debug)]
pub(super) struct Wire {
    pub(super) link: LinkId,
    pub(super) way: Way,
    /// The receiving node.
    pub(super) to: usize,
    pub(super) delay: Duration,
    /// How much further the receiver may run than the frames that it knows of.
    pub(super) lead: Duration,
    script: Vec<(Time, LinkChange)>,
    /// Changes of the script in force, and what they come to.
    next: usize,
    loss: Probability,
    corruption: Probability,
    extra: Duration,
    /// When the link is down, from and up to, in order.
    outages: Vec<(Time, Time)>,
    streams: [RandomStream; 2],
    /// The far end is busy with the frame before until then.
    last: Time,
    /// Frames go no further: they have had their hops.
    pub(super) exhausted: bool,
    pub(super) totals: WayTotals,
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
        }
    }

    /// Adds a change; false if frames of that time have been judged already.
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

    /// What becomes of the next frame, on the sender's wire from `first` to `last` bit: when its first bit is at the
    /// far end, or how it ends.
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
        // Last bit in at 489 + 510 = 999 and 1000.
        assert_eq!(send(&mut w, 489), Ok(989));
        assert_eq!(send(&mut w, 490 + 510), Err(LinkDrop::Down));
        assert_eq!(send(&mut w, 1999), Err(LinkDrop::Down));
        assert_eq!(send(&mut w, 2000), Ok(2509));
        assert_eq!(w.totals.dropped, [2, 0, 0, 0]);
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
        let [_, lost, corrupted, _] = w.totals.dropped;
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
