//! Two-rate three-colour meters.
//!
//! The chip does not know a packet's length before its end (model: chip §5). A packet therefore gets the colour that
//! the entry had after the previous packet, or its own colour if that is worse. At its end it is charged by that
//! colour: green to both buckets, yellow to the peak bucket, red to neither. Credits and the new colour are computed
//! from the levels afterwards (model). A level may therefore go below zero by the packets that are in the pipe, and the
//! first packet after a pause gets the colour from before the pause.

use super::code::{BurstCode, MeterError, RateCode};
use super::colour::Colour;
use crate::clock::Clock;
use crate::units::{BitRate, Bytes, Cycles};

/// Unit and rate of a meter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MeterRate {
    /// Bytes: committed and peak rate, committed and peak burst.
    Bytes {
        /// Committed rate.
        committed: BitRate,
        /// Peak rate.
        peak: BitRate,
        /// Committed burst.
        committed_burst: Bytes,
        /// Peak burst.
        peak_burst: Bytes,
    },
    /// Packets: rates in packets per second, bursts in packets.
    Packets {
        /// Committed rate in packets per second.
        committed: u64,
        /// Peak rate in packets per second.
        peak: u64,
        /// Committed burst.
        committed_burst: u64,
        /// Peak burst.
        peak_burst: u64,
    },
}

/// Specification of a meter in exact numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MeterSpec {
    /// Rates and bursts. A rate of 0 lets nothing pass its bucket.
    pub rate: MeterRate,
    /// True if packets have a colour before the meter (colour-aware).
    pub colour_aware: bool,
}

/// Smallest level of 23 bits.
const LEVEL_MIN: i64 = -(1 << 22);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Bucket {
    rate: RateCode,
    /// The full level.
    full: i64,
    scale: u32,
    level: i64,
}

impl Bucket {
    fn new(per_second: u64, divisor: u32, burst: u64, clock: Clock) -> Result<Self, MeterError> {
        let code = BurstCode::new(burst)?;
        let rate = RateCode::new(per_second, divisor, clock, code)?;
        let full = (code.units() >> code.scale()) as i64;
        // Without a rate the driver starts below zero, and nothing ever lifts the level.
        let (full, level) = if per_second == 0 { (-1, -1) } else { (full, full) };
        Ok(Self { rate, full, scale: code.scale(), level })
    }

    /// Credits since `last`, then charges.
    #[inline]
    fn update(&mut self, last: u64, now: u64, units: u64, random: u32) {
        let credit = i64::try_from(self.rate.credit(last, now)).unwrap_or(i64::MAX);
        let rest = units & ((1 << self.scale) - 1);
        let step = i64::from(rest > u64::from(random) & ((1 << self.scale) - 1));
        let charge = i64::try_from(units >> self.scale).unwrap_or(i64::MAX).saturating_add(step);
        let credited = self.level.saturating_add(credit).min(self.full);
        self.level = credited.saturating_sub(charge).max(LEVEL_MIN);
    }
}

/// A meter entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Meter {
    committed: Bucket,
    peak: Bucket,
    bytes: bool,
    colour_aware: bool,
    colour: Colour,
    last: u64,
}

impl Meter {
    /// Creates the entry for a specification, with full buckets. `clock` is the MAU's.
    ///
    /// # Errors
    /// Fails if an entry cannot hold a rate or a burst, and if the peak rate is below the committed rate.
    pub fn new(spec: &MeterSpec, clock: Clock) -> Result<Self, MeterError> {
        let (bytes, divisor, rates, bursts) = match spec.rate {
            MeterRate::Bytes { committed, peak, committed_burst, peak_burst } => {
                let rates = (committed.as_bps(), peak.as_bps());
                (true, 8, rates, (committed_burst.get(), peak_burst.get()))
            }
            MeterRate::Packets { committed, peak, committed_burst, peak_burst } => {
                (false, 1, (committed, peak), (committed_burst, peak_burst))
            }
        };
        if rates.1 < rates.0 {
            return Err(MeterError::PeakBelowCommitted { peak: rates.1, committed: rates.0 });
        }
        let committed = Bucket::new(rates.0, divisor, bursts.0, clock)?;
        let peak = Bucket::new(rates.1, divisor, bursts.1, clock)?;
        let colour = colour_of(committed.level, peak.level);
        Ok(Self { committed, peak, bytes, colour_aware: spec.colour_aware, colour, last: 0 })
    }

    /// Returns the codes of the committed and the peak rate.
    pub const fn rates(&self) -> (RateCode, RateCode) {
        (self.committed.rate, self.peak.rate)
    }

    /// Returns the committed and the peak level, in bytes or packets.
    pub const fn levels(&self) -> (i64, i64) {
        (self.committed.level << self.committed.scale, self.peak.level << self.peak.scale)
    }

    /// Returns the colour that a packet gets at its head; `own` counts only for a colour-aware meter.
    #[inline]
    pub fn colour(&self, own: Colour) -> Colour {
        if self.colour_aware { self.colour.max(own) } else { self.colour }
    }

    /// Charges a packet at its end with the colour that it got. `length` is the packet's; a packet meter ignores it.
    /// `random` is a random number that compensates the rounding of large buckets, whose levels count units of up to
    /// 2^17 bytes.
    #[inline]
    pub fn charge(&mut self, now: Cycles, length: Bytes, colour: Colour, random: u32) {
        let units = if self.bytes { length.get() } else { 1 };
        let now = now.get().max(self.last);
        let to_peak = if colour == Colour::Red { 0 } else { units };
        let to_committed = if colour == Colour::Green { units } else { 0 };
        self.peak.update(self.last, now, to_peak, random);
        self.committed.update(self.last, now, to_committed, random);
        self.last = now;
        self.colour = colour_of(self.committed.level, self.peak.level);
    }

    /// Handles head and end of a packet at once: charges the entry and returns the packet's colour.
    #[inline]
    pub fn execute(&mut self, now: Cycles, length: Bytes, own: Colour, random: u32) -> Colour {
        let colour = self.colour(own);
        self.charge(now, length, colour, random);
        colour
    }
}

const fn colour_of(committed: i64, peak: i64) -> Colour {
    match (committed < 0, peak < 0) {
        (_, true) => Colour::Red,
        (true, false) => Colour::Yellow,
        (false, false) => Colour::Green,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn clock() -> Clock {
        "1GHz".parse().unwrap()
    }

    fn bytes(committed: u64, peak: u64, committed_burst: u64, peak_burst: u64) -> Meter {
        let rate = MeterRate::Bytes {
            committed: BitRate::from_bps(committed),
            peak: BitRate::from_bps(peak),
            committed_burst: Bytes(committed_burst),
            peak_burst: Bytes(peak_burst),
        };
        Meter::new(&MeterSpec { rate, colour_aware: false }, clock()).unwrap()
    }

    #[test]
    fn a_burst_goes_through_the_colours() {
        let mut meter = bytes(8_000_000, 16_000_000, 2000, 4000);
        let colours: Vec<Colour> =
            (0..8).map(|_| meter.execute(Cycles(0), Bytes(1000), Colour::Green, 0)).collect();
        // The committed bucket of 2000 goes below zero with the third packet; yellow ones charge the peak
        // bucket only, until that is below zero as well; red ones charge nothing.
        use Colour::{Green as G, Red as R, Yellow as Y};
        assert_eq!(colours, [G, G, G, Y, Y, R, R, R]);
        assert_eq!(meter.levels(), (-1000, -1000));
    }

    #[test]
    fn the_first_packet_after_a_pause_sees_the_old_colour() {
        let mut meter = bytes(8_000_000, 8_000_000, 1000, 1000);
        for _ in 0..3 {
            meter.execute(Cycles(0), Bytes(1000), Colour::Green, 0);
        }
        assert_eq!(meter.colour(Colour::Green), Colour::Red);
        // A second later both buckets are full again, but the colour is renewed only at a packet's end.
        assert_eq!(meter.execute(Cycles(1_000_000_000), Bytes(100), Colour::Green, 0), Colour::Red);
        assert_eq!(meter.execute(Cycles(1_000_000_001), Bytes(100), Colour::Green, 0), Colour::Green);
    }

    #[test]
    fn own_colours_count_when_asked_for() {
        let mut meter = bytes(8_000_000, 8_000_000, 1000, 1000);
        assert_eq!(meter.colour(Colour::Red), Colour::Green);
        meter.colour_aware = true;
        assert_eq!(meter.execute(Cycles(0), Bytes(600), Colour::Yellow, 0), Colour::Yellow);
        let full = BurstCode::new(1000).unwrap().units() as i64;
        assert_eq!(meter.levels(), (full, full - 600));
        assert_eq!(meter.execute(Cycles(0), Bytes(600), Colour::Red, 0), Colour::Red);
        assert_eq!(meter.levels(), (full, full - 600));
    }

    #[test]
    fn no_rate_no_colour_but_red() {
        let rate = MeterRate::Packets { committed: 0, peak: 0, committed_burst: 10, peak_burst: 10 };
        let mut meter = Meter::new(&MeterSpec { rate, colour_aware: false }, clock()).unwrap();
        for cycle in [0, 1 << 40] {
            assert_eq!(meter.execute(Cycles(cycle), Bytes(64), Colour::Green, 0), Colour::Red);
        }
        let rate = MeterRate::Packets { committed: 2, peak: 1, committed_burst: 10, peak_burst: 10 };
        let refused = Meter::new(&MeterSpec { rate, colour_aware: false }, clock()).unwrap_err();
        assert_eq!(refused, MeterError::PeakBelowCommitted { peak: 1, committed: 2 });
    }

    #[test]
    fn large_buckets_charge_fractions_at_random() {
        // 16 MiB: levels count 8 bytes. 12 bytes are 1 or 2 units, half of the draws each.
        let mut meter = bytes(1_000_000_000, 1_000_000_000, 16 << 20, 16 << 20);
        let full = meter.levels().0;
        for random in 0..8 {
            meter.charge(Cycles(0), Bytes(12), Colour::Green, random);
        }
        assert_eq!(full - meter.levels().0, 8 * 12);
    }

    proptest! {
        /// Over a long time green traffic gets the committed rate, and all that is not red the peak rate.
        #[test]
        fn rates_are_kept(committed in 1_000_000u64..10_000_000_000, more in 1u64..4, length in 64u64..1500, gap in 1u64..2000) {
            let mut meter = bytes(committed, committed * more, 1 << 17, 1 << 17);
            let (mut green, mut passed) = (0u64, 0u64);
            let packets = 20_000;
            for packet in 0..packets {
                let colour = meter.execute(Cycles(packet * gap), Bytes(length), Colour::Green, 0);
                green += if colour == Colour::Green { length } else { 0 };
                passed += if colour == Colour::Red { 0 } else { length };
            }
            let time = packets * gap;
            let rate = |bps: u64| (u128::from(bps) * u128::from(time) / 8_000_000_000) as u64;
            let slack = (1 << 17) + 2 * length;
            prop_assert!(green <= rate(committed) + slack);
            prop_assert!(passed <= rate(committed * more) + slack);
            // And nothing is refused that the rounded-down rate allows.
            let offered = packets * length;
            let least = (rate(committed) - rate(committed) / 100).min(offered);
            prop_assert!(green + 2 * slack >= least, "{} {}", green, least);
        }
    }
}
