//! When packets are sent: as captured, or at a pace of the user's. Exact in picoseconds.

use sluice_asic::mac::wire_bytes;
use sluice_asic::units::{BitRate, Bytes, Time};
use std::str::FromStr;

/// A pace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Pace {
    /// As captured.
    Original,
    /// So many times faster, in thousandths.
    Times(u64),
    /// As fast as the port's line takes them.
    LineRate,
    /// Packets per second.
    Packets(u64),
    /// Bits per second on the wire, preamble and gap included.
    Bits(BitRate),
}

/// Text that is no pace.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is no pace; write original, line-rate, 2.5x, 1.5Mpps or 40Gbps")]
pub(crate) struct BadPace(String);

impl FromStr for Pace {
    type Err = BadPace;
    fn from_str(text: &str) -> Result<Self, BadPace> {
        let bad = || BadPace(text.to_owned());
        match text {
            "original" => return Ok(Pace::Original),
            "line-rate" => return Ok(Pace::LineRate),
            _ => {}
        }
        let some = |n: u64| Some(n).filter(|n| *n > 0).ok_or_else(bad);
        if let Some(times) = text.strip_suffix('x') {
            return some(decimal(times, 1000).ok_or_else(bad)?).map(Pace::Times);
        }
        for (suffix, scale) in [("Gpps", 1_000_000_000), ("Mpps", 1_000_000), ("kpps", 1000), ("pps", 1)] {
            if let Some(number) = text.strip_suffix(suffix) {
                return some(decimal(number, scale).ok_or_else(bad)?).map(Pace::Packets);
            }
        }
        text.parse().map(Pace::Bits).map_err(|_| bad()).and_then(|p| match p {
            Pace::Bits(r) if r.as_bps() == 0 => Err(bad()),
            p => Ok(p),
        })
    }
}

/// A decimal number times `scale`, exact or nothing.
fn decimal(text: &str, scale: u64) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = u32::try_from(fraction.len()).ok()?;
    let tens = 10u64.checked_pow(digits)?;
    let fraction: u64 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    let total = whole.parse::<u64>().ok()?.checked_mul(tens)?.checked_add(fraction)?.checked_mul(scale)?;
    (total % tens == 0).then_some(total / tens)
}

/// Turns captured times into sending times.
#[derive(Debug)]
pub(crate) struct Clock {
    pace: Pace,
    packets: u64,
    wire: u64,
    /// Where the present loop begins.
    base: u64,
    last: u64,
}

impl Clock {
    pub(crate) fn new(pace: Pace) -> Clock {
        Clock { pace, packets: 0, wire: 0, base: 0, last: 0 }
    }

    /// The next loop begins after the last packet of this one.
    pub(crate) fn next_loop(&mut self) {
        self.base = self.last;
    }

    /// When a packet is sent that was captured `offset` ps after time zero and has `len` bytes.
    pub(crate) fn time(&mut self, offset: u64, len: u32) -> Time {
        let at = match self.pace {
            Pace::Original => self.base.saturating_add(offset),
            Pace::Times(milli) => {
                let scaled = u128::from(offset) * 1000 / u128::from(milli);
                self.base.saturating_add(u64::try_from(scaled).unwrap_or(u64::MAX))
            }
            // The receiving MAC delays each frame until its line is free.
            Pace::LineRate => 0,
            Pace::Packets(rate) => per(u128::from(self.packets), u128::from(rate)),
            Pace::Bits(rate) => per(u128::from(self.wire) * 8, u128::from(rate.as_bps())),
        };
        self.packets += 1;
        self.wire += wire_bytes(Bytes(u64::from(len))).get();
        self.last = self.last.max(at);
        Time::from_ps(at.max(if self.pace == Pace::LineRate { 0 } else { self.base }))
    }
}

/// `count` events at `rate` per second, in ps.
fn per(count: u128, rate: u128) -> u64 {
    u64::try_from(count * 1_000_000_000_000 / rate).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paces_parse_exactly() {
        assert_eq!("2.5x".parse::<Pace>().unwrap(), Pace::Times(2500));
        assert_eq!("1.5Mpps".parse::<Pace>().unwrap(), Pace::Packets(1_500_000));
        assert_eq!("40Gbps".parse::<Pace>().unwrap(), Pace::Bits(BitRate::from_gbps(40)));
        for bad in ["fast", "0x", "-1x", "x", "0pps", "1.0001pps"] {
            assert!(bad.parse::<Pace>().is_err(), "{bad}");
        }
    }

    #[test]
    fn times_are_exact() {
        let mut clock = Clock::new(Pace::Packets(3));
        let times: Vec<u64> = (0..4).map(|_| clock.time(0, 60).as_ps()).collect();
        assert_eq!(times, [0, 333_333_333_333, 666_666_666_666, 1_000_000_000_000]);
        let mut clock = Clock::new(Pace::Times(2500));
        assert_eq!(clock.time(1000, 60).as_ps(), 400);
        let mut clock = Clock::new(Pace::Original);
        clock.time(500, 60);
        clock.next_loop();
        assert_eq!(clock.time(0, 60).as_ps(), 500);
        let mut clock = Clock::new(Pace::Bits(BitRate::from_gbps(100)));
        clock.time(0, 60);
        assert_eq!(clock.time(0, 60).as_ps(), 84 * 80);
    }
}
