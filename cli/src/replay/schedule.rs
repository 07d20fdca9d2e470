//! Flags that control when packets are sent.

use crate::console::fail::Failure;
use crate::replay::args::{Addresses, ReplayArgs};
use sluice_asic::units::Duration;
use sluice_pcaps::replay::{Pace, Rewrite, Schedule};
use sluice_replay::{ParsePaceError, parse_decimal};

/// Returns the schedule that the flags ask for.
pub(super) fn schedule(args: &ReplayArgs) -> Result<Schedule, Failure> {
    if args.loops == 0 && args.limit.is_none() && args.duration.is_none() {
        return Err(Failure::with_help("--loop 0 never ends", "add --limit N or --duration TIME"));
    }
    let duration = args.duration.map_or(u64::MAX, Duration::as_ps);
    Ok(Schedule {
        pace: pace(args).map_err(Failure::input)?,
        turns: args.loops,
        limit: args.limit.unwrap_or(u64::MAX),
        duration,
    })
}

/// Returns the addresses that change from turn to turn.
pub(super) fn rewrite(args: &ReplayArgs) -> Option<Rewrite> {
    args.unique_ip.map(|which| match which {
        Addresses::Src => Rewrite::Source,
        Addresses::Dst => Rewrite::Destination,
        Addresses::Both => Rewrite::Both,
    })
}

fn pace(args: &ReplayArgs) -> Result<Pace, ParsePaceError> {
    if args.topspeed {
        return Ok(Pace::LineRate);
    }
    if let Some(times) = &args.multiplier {
        return parse_decimal(times, 1_000).map(Pace::Times);
    }
    if let Some(rate) = &args.pps {
        return parse_decimal(rate, 1).map(Pace::Packets);
    }
    if let Some(rate) = &args.mbps {
        return parse_decimal(rate, 1_000_000).map(Pace::Bits);
    }
    Ok(args.speed)
}
