//! Resolution of one profile of a file to the numbers of a group or queue.

use super::config::{Lossless, PgConfig, QueueBuffer};
use super::file::{BafReading, Direction, PoolClass, ProfileEntry};
use super::problem::Check;
use super::resolve::Resolver;
use super::threshold::{Share, Threshold};
use crate::units::{Bytes, Cells};

impl Resolver<'_> {
    pub(super) fn group(&mut self, profile: &ProfileEntry, priorities: u8) -> Option<PgConfig> {
        let place = format!("profile `{}`", profile.name);
        let (pool, entry) = self.pool(profile, Direction::Ingress)?;
        let (class, shared) = (entry.class, self.shares_headroom(entry));
        let wrong_class = match (profile.xoff, class) {
            (Some(_), PoolClass::Lossy) => Some("is lossless, but its pool is for lossy traffic"),
            (None, PoolClass::Lossless) => Some("is lossy, but its pool is for lossless traffic"),
            _ => None,
        };
        if let Some(text) = wrong_class {
            self.wrong(Check::Class, place.as_str(), format!("{text}: name another pool"));
        }
        let size = self.shared_size(pool);
        // An unreadable limit counts as no limit, so that it does not cause further problems.
        let threshold = self.threshold(profile, &place, size).unwrap_or(Threshold::Unlimited);
        let Some(xoff) = profile.xoff else {
            let reserved = self.ceil(profile.size);
            return Some(PgConfig { pool, reserved, threshold, lossless: None });
        };
        let headroom_pool = shared.then(|| self.headroom_pool_index(pool));
        if headroom_pool.is_none() && profile.size < xoff {
            let text = format!(
                "size {} is less than xoff {xoff}; without a headroom pool it includes the headroom",
                profile.size
            );
            self.wrong(Check::Value, place.as_str(), text);
        } else if headroom_pool.is_none() && profile.xon + xoff > profile.size {
            let text = format!(
                "xon {} + xoff {xoff} = {} is more than size {}; without a headroom pool size holds both: raise it",
                profile.xon,
                profile.xon + xoff,
                profile.size
            );
            self.wrong(Check::PrivateSize, place, text);
        }
        let reserved = if headroom_pool.is_some() { profile.size } else { profile.size - xoff };
        let lossless = Lossless {
            cap: self.floor(xoff),
            headroom_pool,
            xon: self.floor(profile.xon),
            xon_offset: self.ceil(profile.xon_offset),
            priorities,
        };
        Some(PgConfig { pool, reserved: self.ceil(reserved), threshold, lossless: Some(lossless) })
    }

    pub(super) fn queue(&mut self, profile: &ProfileEntry) -> Option<QueueBuffer> {
        let place = format!("profile `{}`", profile.name);
        let (pool, entry) = self.pool(profile, Direction::Egress)?;
        let lossless = entry.class == PoolClass::Lossless;
        let size = self.part(entry.size);
        if profile.xoff.is_some() {
            self.wrong(Check::Class, place.as_str(), "has xoff, which only priority groups have: remove it");
        }
        let threshold = self.threshold(profile, &place, size).unwrap_or(Threshold::Unlimited);
        let mut eighths = |what: &str, given: Option<i64>| match given {
            None => 8,
            Some(n) if (1..=8).contains(&n) => n as u8,
            Some(n) => {
                self.wrong(Check::Threshold, format!("{place} {what}"), format!("{n}; it is 1 to 8 eighths"));
                8
            }
        };
        let colour_eighths =
            [eighths("yellow_eighths", profile.yellow_eighths), eighths("red_eighths", profile.red_eighths)];
        let reserved = self.ceil(profile.size);
        Some(QueueBuffer { pool, reserved, threshold, lossless, colour_eighths, ecn: None, priority: None })
    }

    fn threshold(&mut self, profile: &ProfileEntry, place: &str, pool: Cells) -> Option<Threshold> {
        let given = [
            profile.dynamic_th.map(|_| "dynamic_th"),
            profile.static_th.map(|_| "static_th"),
            profile.baf.map(|_| "baf"),
        ];
        let given: Vec<&str> = given.into_iter().flatten().collect();
        if given.len() != 1 {
            let found = if given.is_empty() { "none".to_owned() } else { given.join(" and ") };
            let text = format!("has {found} of dynamic_th, static_th and baf; give exactly one");
            self.wrong(Check::Threshold, place, text);
            return None;
        }
        let share = match (profile.static_th, profile.dynamic_th, profile.baf) {
            (Some(Bytes::ZERO), ..) => return Some(Threshold::Unlimited),
            (Some(limit), ..) => return Some(Threshold::Static(self.floor(limit))),
            (_, Some(n), _) => self.alpha(place, n)?,
            (.., baf) => self.baf(place, baf.unwrap_or_default())?,
        };
        let limit = share.of(pool.0);
        if let Some(bits) = self.file.cell_count_bits.filter(|b| *b < 32 && u64::from(limit) >= 1 << *b) {
            let text = format!(
                "alpha times a pool of {pool} is {limit} cells, beyond a count of {bits} bits: lower it"
            );
            self.wrong(Check::Silicon, place, text);
        }
        Some(Threshold::Dynamic { base: self.floor(profile.base), share })
    }

    fn alpha(&mut self, place: &str, n: i64) -> Option<Share> {
        if !(-8..=7).contains(&n) {
            self.wrong(
                Check::Threshold,
                format!("{place} dynamic_th"),
                format!("{n}; alpha is 2^n with n from -8 to 7"),
            );
            return None;
        }
        let Some(text) = self.file.alpha.get(&n.to_string()) else { return Some(Share::PowerOfTwo(n as i8)) };
        let number = |text: &str| text.trim().parse::<u32>().ok();
        let share = match text.split_once('/') {
            None => number(text).map(|n| Share::Fraction(n, 1)),
            Some((of, parts)) => {
                number(of).zip(number(parts).filter(|p| *p > 0)).map(|(a, b)| Share::Fraction(a, b))
            }
        };
        if share.is_none() {
            self.wrong(
                Check::Threshold,
                format!("alpha {n}"),
                format!("`{text}`; expected a number or a fraction such as 3/4"),
            );
        }
        share
    }

    /// Returns the share of one of the nine settings of the buffer allocation factor (model: tm §2).
    fn baf(&mut self, place: &str, index: i64) -> Option<Share> {
        const PER_MILLE: [u32; 9] = [15, 30, 60, 110, 200, 330, 500, 660, 800];
        let Some(per_mille) = usize::try_from(index).ok().and_then(|i| PER_MILLE.get(i)) else {
            self.wrong(
                Check::Threshold,
                format!("{place} baf"),
                format!("{index}; it is 0 (1.5 %) to 8 (80 %)"),
            );
            return None;
        };
        Some(match self.file.decisions.baf {
            BafReading::Alpha => Share::PowerOfTwo(index as i8 - 6),
            BafReading::Percent => Share::Fraction(*per_mille, 1000),
        })
    }
}
