//! Leaky buckets: a rate and a burst, for the guaranteed and the maximum rate of a queue or port.
//!
//! A bucket initially holds `burst` bytes and fills at `rate` up to that level. A queue or port may send while its
//! bucket is not empty, and a packet may take more than the bucket holds (model: tm §4). Each packet takes its bytes
//! and those of the gap between frames. Rates are exact; the chip rounds them to a mantissa and an exponent, which the
//! model leaves out.

use crate::units::{BitRate, Bytes, Duration, Time};

/// Bytes that a packet takes in addition to its own: preamble and inter-packet gap.
const FRAME_GAP: u64 = 20;

/// A rate limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShaperConfig {
    /// Rate.
    pub rate: BitRate,
    /// Burst: the bytes that may be sent at once after a silence.
    pub burst: Bytes,
}

/// A bucket.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shaper {
    config: ShaperConfig,
    /// Time in which the empty bucket fills.
    depth: Duration,
    /// Time at which the bucket is full.
    full_at: Time,
}

impl Shaper {
    /// Creates a full bucket.
    pub(super) fn new(config: ShaperConfig) -> Self {
        Self { config, depth: config.rate.time_for(config.burst), full_at: Time::ORIGIN }
    }

    /// Returns true if the bucket is not empty at `now`.
    #[inline]
    pub(super) fn is_open(&self, now: Time) -> bool {
        self.full_at <= now || self.full_at < now + self.depth
    }

    /// Returns the time at which the bucket lets a packet through, if nothing is taken before.
    pub(super) fn opens_at(&self) -> Time {
        // A bucket without depth opens when it is full, any other when it holds the first bit.
        if self.depth.is_zero() {
            return self.full_at;
        }
        self.full_at.saturating_sub(self.depth) + Duration::from_ps(1)
    }

    /// Takes a packet's bytes.
    pub(super) fn take(&mut self, now: Time, bytes: Bytes) {
        let time = self.config.rate.time_for(Bytes(bytes.0.saturating_add(FRAME_GAP)));
        self.full_at = self.full_at.max(now) + time;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bucket(gbps: u64, burst: u64) -> Shaper {
        Shaper::new(ShaperConfig { rate: BitRate::from_gbps(gbps), burst: Bytes(burst) })
    }

    #[test]
    fn a_burst_then_the_rate() {
        // 1 Gb/s: 8 ns a byte. A burst of 1000 B lets packets of 480 + 20 B go at 0, 0, and then one every 4 us.
        let mut shaper = bucket(1, 1000);
        let mut sent = Vec::new();
        let mut now = Time::ORIGIN;
        while sent.len() < 4 {
            if shaper.is_open(now) {
                shaper.take(now, Bytes(480));
                sent.push(now.as_ps());
            } else {
                now = shaper.opens_at();
            }
        }
        assert_eq!(sent, [0, 0, 1, 4_000_001]);
    }

    proptest! {
        #[test]
        fn never_more_than_rate_and_burst(
            gbps in 1u64..400, burst in 1u64..20_000,
            packets in prop::collection::vec((0u64..2_000_000, 60u64..9000), 1..100),
        ) {
            let mut shaper = bucket(gbps, burst);
            let (mut now, mut taken) = (Time::ORIGIN, 0);
            for (gap, bytes) in packets {
                now += Duration::from_ps(gap);
                if !shaper.is_open(now) {
                    now = shaper.opens_at();
                    prop_assert!(shaper.is_open(now));
                }
                // Before each packet, the bytes sent so far fit the burst and the rate.
                let credit = burst + BitRate::from_gbps(gbps).bytes_in(now.since_origin()).get();
                prop_assert!(taken <= credit + 1, "{} {}", taken, credit);
                shaper.take(now, Bytes(bytes));
                taken += bytes + FRAME_GAP;
            }
        }
    }
}
