//! What the flags say of when packets are sent. What may not live here: the sending.

use crate::args::{Addresses, ReplayArgs};
use crate::fail::Failure;
use sluice_asic::units::{BitRate, Duration};
use sluice_pcaps::replay::{Pace, Rewrite, Schedule};

/// Text that is no pace.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is no pace; write original, top, line-rate, 2.5x, 1.5Mpps or 40Gbps")]
pub(crate) struct BadPace(String);

/// The schedule that the flags ask for.
pub(crate) fn schedule(args: &ReplayArgs) -> Result<Schedule, Failure> {
    if args.loops == 0 && args.limit.is_none() && args.duration.is_none() {
        return Err(Failure::with_help(
            "--loop 0 sends the inputs for ever",
            "say when it ends with --limit N or --duration TIME",
        ));
    }
    let duration = match &args.duration {
        None => u64::MAX,
        Some(text) => text.parse::<Duration>().map_err(Failure::input)?.as_ps(),
    };
    Ok(Schedule {
        pace: pace(args).map_err(Failure::input)?,
        turns: args.loops,
        limit: args.limit.unwrap_or(u64::MAX),
        duration,
    })
}

/// The addresses that change from loop to loop.
pub(crate) fn rewrite(args: &ReplayArgs) -> Option<Rewrite> {
    args.unique_ip.map(|which| match which {
        Addresses::Src => Rewrite::Source,
        Addresses::Dst => Rewrite::Destination,
        Addresses::Both => Rewrite::Both,
    })
}

fn pace(args: &ReplayArgs) -> Result<Pace, BadPace> {
    let number =
        |text: &str, scale| decimal(text, scale).filter(|n| *n > 0).ok_or_else(|| BadPace(text.to_owned()));
    if args.topspeed {
        return Ok(Pace::LineRate);
    }
    if let Some(times) = &args.multiplier {
        return number(times, 1_000).map(Pace::Times);
    }
    if let Some(rate) = &args.pps {
        return number(rate, 1).map(Pace::Packets);
    }
    if let Some(rate) = &args.mbps {
        return number(rate, 1_000_000).map(Pace::Bits);
    }
    parse(&args.speed).ok_or_else(|| BadPace(args.speed.clone()))
}

fn parse(text: &str) -> Option<Pace> {
    match text {
        "original" => return Some(Pace::Original),
        "line-rate" | "top" => return Some(Pace::LineRate),
        _ => {}
    }
    let some = |n: u64| Some(n).filter(|n| *n > 0);
    if let Some(times) = text.strip_suffix('x') {
        return decimal(times, 1_000).and_then(some).map(Pace::Times);
    }
    for (suffix, scale) in [("Gpps", 1_000_000_000), ("Mpps", 1_000_000), ("kpps", 1_000), ("pps", 1)] {
        if let Some(number) = text.strip_suffix(suffix) {
            return decimal(number, scale).and_then(some).map(Pace::Packets);
        }
    }
    some(text.parse::<BitRate>().ok()?.as_bps()).map(Pace::Bits)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paces_parse_exactly() {
        for (text, pace) in [
            ("original", Pace::Original),
            ("top", Pace::LineRate),
            ("line-rate", Pace::LineRate),
            ("2.5x", Pace::Times(2_500)),
            ("0.001x", Pace::Times(1)),
            ("1.5Mpps", Pace::Packets(1_500_000)),
            ("7pps", Pace::Packets(7)),
            ("40Gbps", Pace::Bits(40_000_000_000)),
            ("12.5G", Pace::Bits(12_500_000_000)),
        ] {
            assert_eq!(parse(text), Some(pace), "{text}");
        }
        for bad in ["fast", "0x", "-1x", "x", "0pps", "1.0001pps", "0Gbps", "0.0001x", ""] {
            assert!(parse(bad).is_none(), "{bad}");
        }
    }
}
