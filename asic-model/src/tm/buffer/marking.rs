//! Resolution of ECN profiles, PFC settings and watchdog settings of a profile file.

use super::file::{CurveEntry, EcnEntry, Milliseconds};
use super::problem::Check;
use super::resolve::Resolver;
use crate::tm::ecn::{Curve, EcnProfile};
use crate::tm::pfc::PfcConfig;
use crate::tm::watchdog::{WatchdogAction, WatchdogConfig};
use crate::units::{BitRate, Duration};

/// The colours of SONiC's modes, in order.
const COLOURS: [&str; 3] = ["green", "yellow", "red"];

/// ECN profiles by entry and speed.
pub(super) struct Resolved {
    pub(super) profiles: Vec<EcnProfile>,
    by: Vec<(String, BitRate, u8)>,
}

impl Resolved {
    /// Returns the index of the ECN profile that a queue entry names, for a port of that speed.
    pub(super) fn of(
        &self,
        r: &mut Resolver<'_>,
        place: &str,
        name: Option<&str>,
        speed: BitRate,
    ) -> Option<u8> {
        let name = name?;
        let found = self.by.iter().find(|(n, s, _)| n == name && *s == speed).map(|(.., i)| *i);
        if found.is_none() && !r.file.ecn.iter().any(|e| e.name == name) {
            r.wrong(Check::Name, format!("{place} ecn"), format!("no ecn profile is called `{name}`"));
        }
        found
    }
}

/// Resolves every ECN profile for every speed of the ports.
pub(super) fn profiles(r: &mut Resolver<'_>) -> Resolved {
    let mut speeds: Vec<BitRate> = r.ports.iter().map(|p| p.speed).collect();
    speeds.sort_unstable();
    speeds.dedup();
    let mut resolved = Resolved { profiles: Vec::new(), by: Vec::new() };
    let file = r.file;
    for entry in &file.ecn {
        let marks = mode(r, entry);
        entry.curve.iter().for_each(|c| curve_is_sound(r, entry, c));
        for &speed in &speeds {
            let curves = std::array::from_fn(|colour| curve(entry, colour, speed));
            let profile = EcnProfile {
                name: entry.name.clone(),
                curves,
                marks,
                drop_not_ect: entry.wred,
                average_shift: entry.average_shift,
            };
            let index = resolved.profiles.iter().position(|p| *p == profile).unwrap_or_else(|| {
                resolved.profiles.push(profile);
                resolved.profiles.len() - 1
            });
            match u8::try_from(index) {
                Ok(index) => resolved.by.push((entry.name.clone(), speed, index)),
                Err(_) => r.wrong(Check::Ecn, "ecn", "more than 256 profiles by speed"),
            }
        }
    }
    resolved
}

fn mode(r: &mut Resolver<'_>, entry: &EcnEntry) -> [bool; 3] {
    match entry.mode.as_str() {
        "all" => return [true; 3],
        "none" => return [false; 3],
        _ => {}
    }
    let mut marks = [false; 3];
    for name in entry.mode.split('_') {
        match COLOURS.iter().position(|c| *c == name) {
            Some(colour) => marks[colour] = true,
            None => r.wrong(
                Check::Ecn,
                format!("ecn `{}` mode", entry.name),
                format!("`{}`; expected all, none, or colours such as green_yellow", entry.mode),
            ),
        }
    }
    marks
}

/// Returns the curve of a colour at a speed. A curve for both comes before one for the colour, one for the speed, and
/// one for all.
fn curve(entry: &EcnEntry, colour: usize, speed: BitRate) -> Option<Curve> {
    let fits = |c: &&CurveEntry| {
        c.colour.as_deref().is_none_or(|name| COLOURS.get(colour) == Some(&name))
            && c.speed.is_none_or(|s| s == speed)
    };
    let best = entry.curve.iter().filter(fits).min_by_key(|c| (c.colour.is_none(), c.speed.is_none()))?;
    Some(Curve::new(best.kmin, best.kmax, u32::try_from(best.pmax).unwrap_or(0).saturating_mul(10_000)))
}

fn curve_is_sound(r: &mut Resolver<'_>, entry: &EcnEntry, c: &CurveEntry) {
    let place = format!("ecn `{}`", entry.name);
    if c.kmin > c.kmax {
        r.wrong(Check::Ecn, place.as_str(), format!("kmin {} is above kmax {}: swap them", c.kmin, c.kmax));
    }
    if !(0..=100).contains(&c.pmax) {
        r.wrong(Check::Ecn, place.as_str(), format!("pmax {} %; it is 0 to 100", c.pmax));
    }
    if let Some(name) = c.colour.as_deref().filter(|name| !COLOURS.contains(name)) {
        r.wrong(Check::Ecn, place, format!("colour `{name}`; expected green, yellow or red"));
    }
}

/// Resolves the PFC settings of the MACs.
pub(super) fn pfc(r: &mut Resolver<'_>) -> PfcConfig {
    let entry = &r.file.pfc;
    if entry.quanta == 0 {
        r.wrong(Check::Pfc, "pfc.quanta", "0 asks for no pause; it is 1 to 65535");
    }
    let refresh_percent = match entry.refresh_percent {
        0 => None,
        n if (1..=100).contains(&n) => Some(n as u8),
        n => {
            r.wrong(Check::Pfc, "pfc.refresh_percent", format!("{n}; it is 1 to 100, or 0 for never"));
            None
        }
    };
    let reaction = match entry.reaction.as_deref().map(str::parse::<Duration>) {
        None => None,
        Some(Ok(time)) => Some(time),
        Some(Err(e)) => {
            r.wrong(Check::Pfc, "pfc.reaction", e.to_string());
            None
        }
    };
    PfcConfig { quanta: entry.quanta, refresh_percent, asymmetric: entry.asymmetric, reaction }
}

/// Resolves the watchdog's settings, with SONiC's limits (model: buffer §2.3).
pub(super) fn watchdog(r: &mut Resolver<'_>) -> Option<WatchdogConfig> {
    let entry = r.file.watchdog.as_ref()?;
    let poll = milliseconds(r, "watchdog.poll_interval", &entry.poll_interval, 1_000);
    let detection = milliseconds(r, "watchdog.detection_time", &entry.detection_time, 5_000);
    let restoration =
        entry.restoration_time.as_ref().map(|t| milliseconds(r, "watchdog.restoration_time", t, 60_000));
    for (what, time) in [("detection_time", detection), ("restoration_time", restoration.flatten())] {
        if let (Some(time), Some(poll)) = (time, poll)
            && time < poll
        {
            let text =
                format!("{time} is shorter than the poll interval of {poll}: nothing is seen between polls");
            r.wrong(Check::Watchdog, format!("watchdog.{what}"), text);
        }
    }
    let action = match entry.action.as_str() {
        "drop" => WatchdogAction::Drop,
        "forward" => WatchdogAction::Forward,
        "alert" => WatchdogAction::Alert,
        other => {
            r.wrong(
                Check::Watchdog,
                "watchdog.action",
                format!("`{other}`; expected drop, forward or alert"),
            );
            WatchdogAction::Drop
        }
    };
    Some(WatchdogConfig {
        detection: detection?,
        restoration: restoration.flatten(),
        poll: poll?,
        action,
        predicate: entry.predicate,
    })
}

/// Resolves the timeout of stuck queues. It must be longer than the longest pause.
pub(super) fn stuck_queue_timeout(r: &mut Resolver<'_>) -> Option<Duration> {
    let timeout = r.file.stuck_queue_timeout?;
    let least = Duration::from_millis(100);
    if timeout < least {
        let text = format!("{timeout}; it is {least} or more: a peer may pause for some milliseconds");
        r.wrong(Check::Watchdog, "stuck_queue_timeout", text);
    }
    Some(timeout)
}

/// Resolves a time of 100 to `most` milliseconds.
fn milliseconds(r: &mut Resolver<'_>, place: &str, given: &Milliseconds, most: u64) -> Option<Duration> {
    let time = match given {
        Milliseconds::Number(ms) => u64::try_from(*ms).ok().map(Duration::from_millis),
        Milliseconds::Text(text) => text.parse().ok(),
    };
    let limits = Duration::from_millis(100)..=Duration::from_millis(most);
    let time = time.filter(|t| limits.contains(t));
    if time.is_none() {
        let found = match given {
            Milliseconds::Number(ms) => ms.to_string(),
            Milliseconds::Text(text) => format!("`{text}`"),
        };
        r.wrong(Check::Watchdog, place, format!("{found}; it is 100 to {most} ms, as 200 or \"200ms\""));
    }
    time
}
