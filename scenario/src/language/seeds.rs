//! The seeds of a contest.

use serde::Deserialize;
use sluice_asic::limits;

/// Number of seeds of a contest whose file does not say.
const DEFAULT: u32 = 5;

/// Value of the key `seeds`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "expected a number of seeds, or a list of seeds such as [1, 2, 3]")]
pub enum SeedsSetting {
    /// So many seeds, from `seed` on.
    Count(u32),
    /// These seeds.
    List(Vec<u64>),
}

impl SeedsSetting {
    /// Returns the seeds; a number counts from 1 on.
    ///
    /// # Errors
    /// If there are no or too many seeds, or a seed occurs twice.
    pub fn list(&self) -> Result<Vec<u64>, String> {
        seeds(None, Some(self))
    }
}

/// Returns the seeds that the keys `seed` and `seeds` say, in the order of the file: by default five, from 1 on.
///
/// # Errors
/// If there are no or too many seeds, a seed occurs twice, or `seed` is given beside a list.
pub(crate) fn seeds(first: Option<u64>, setting: Option<&SeedsSetting>) -> Result<Vec<u64>, String> {
    let list = match setting {
        Some(SeedsSetting::List(list)) if first.is_none() => list.clone(),
        Some(SeedsSetting::List(_)) => {
            return Err("seed is given beside a list of seeds; leave out seed".into());
        }
        Some(SeedsSetting::Count(count)) => from(first.unwrap_or(1), *count)?,
        None => from(first.unwrap_or(1), DEFAULT)?,
    };
    let limit = &limits::SEEDS;
    if list.is_empty() || limit.is_below(list.len()) {
        let advice = if list.is_empty() { String::new() } else { format!("; {}", limit.advice()) };
        return Err(format!("seeds has {} seeds; expected 1 to {}{advice}", list.len(), limit.get()));
    }
    match list.iter().enumerate().find(|(n, seed)| list[..*n].contains(seed)) {
        Some((_, seed)) => Err(format!("seed {seed} occurs twice in seeds; expected different seeds")),
        None => Ok(list),
    }
}

/// Returns `count` seeds from `first` on.
pub(crate) fn from(first: u64, count: u32) -> Result<Vec<u64>, String> {
    let limit = &limits::SEEDS;
    if u64::from(count) > limit.get() {
        return Err(format!("seeds is {count}; expected 1 to {}; {}", limit.get(), limit.advice()));
    }
    let last = first.checked_add(u64::from(count));
    last.map(|end| (first..end).collect())
        .ok_or_else(|| format!("{count} seeds from {first} on exceed 64 bits"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_counted_or_listed() {
        let list = |seeds: &[u64]| Some(SeedsSetting::List(seeds.to_vec()));
        let of = |first, setting: Option<SeedsSetting>| seeds(first, setting.as_ref());
        assert_eq!(of(None, None), Ok(vec![1, 2, 3, 4, 5]));
        assert_eq!(of(Some(7), None), Ok(vec![7, 8, 9, 10, 11]));
        assert_eq!(of(Some(7), Some(SeedsSetting::Count(1))), Ok(vec![7]));
        assert_eq!(of(None, list(&[9, 3])), Ok(vec![9, 3]));
        assert!(of(Some(1), list(&[1, 2])).unwrap_err().contains("leave out seed"));
        assert!(of(None, list(&[1, 2, 1])).unwrap_err().contains("seed 1 occurs twice"));
        assert!(of(None, list(&[])).unwrap_err().contains("expected 1 to 1000"));
        assert!(of(None, Some(SeedsSetting::Count(0))).unwrap_err().contains("expected 1 to 1000"));
        assert!(of(None, Some(SeedsSetting::Count(1_001))).unwrap_err().contains("seeds is 1001"));
        assert!(of(Some(u64::MAX), None).unwrap_err().contains("exceed 64 bits"));
    }
}
