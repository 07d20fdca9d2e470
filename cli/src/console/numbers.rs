//! Values of options: numbers of a range, and quantities with units.

use sluice_asic::names::did_you_mean;
use sluice_asic::units::{count, print_count};
use std::fmt::Display;
use std::num::NonZero;
use std::ops::{Bound, RangeBounds};
use std::str::FromStr;

/// Returns a parser of whole numbers of a range, which may end in k, M or G, for options of the type `T`. The error names the
/// range in words.
pub(crate) fn number<T>(
    range: impl RangeBounds<u64> + Clone + Send + Sync + 'static,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: TryFrom<u64> + Clone + Send + Sync + 'static,
{
    let least = match range.start_bound() {
        Bound::Included(least) => *least,
        Bound::Excluded(least) => least.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let most = match range.end_bound() {
        Bound::Included(most) => Some(*most),
        Bound::Excluded(end) => Some(end.saturating_sub(1)),
        Bound::Unbounded => None,
    };
    let most = most.or_else(largest::<T>);
    move |text: &str| {
        let number = count(text).ok().filter(|n| *n >= least && most.is_none_or(|most| *n <= most));
        number.and_then(|n| T::try_from(n).ok()).ok_or_else(|| expected(least, most))
    }
}

/// Returns the largest number of an integer type; `None` if it takes all of 64 bits.
fn largest<T: TryFrom<u64>>() -> Option<u64> {
    [8, 16, 32].map(|bits| (1 << bits) - 1).into_iter().find(|most| T::try_from(most + 1).is_err())
}

fn expected(least: u64, most: Option<u64>) -> String {
    // Small numbers are easier to read in digits.
    let print = |most: u64| if most < 10_000 { most.to_string() } else { print_count(most) };
    match (least, most.map(print)) {
        (0, None) => "expected a whole number such as 1000, 10k or 2M".to_owned(),
        (least, None) => format!("expected at least {least}, such as 1000, 10k or 2M"),
        (least, Some(most)) => format!("expected a number from {least} to {most}"),
    }
}

/// Parses a number of threads, 1 to 256.
pub(crate) fn threads(text: &str) -> Result<NonZero<usize>, String> {
    NonZero::new(number(1..=256)(text)?).ok_or_else(|| expected(1, Some(256)))
}

/// Parses a quantity with its unit. The error of the type names what is expected.
pub(crate) fn quantity<T: FromStr<Err: Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|e: T::Err| e.to_string())
}

/// Returns the value of a name; the error has all names and the nearest one.
pub(crate) fn named<T: Copy>(all: &[(&'static str, T)], text: &str) -> Result<T, String> {
    let found = all.iter().find(|(name, _)| *name == text);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
        format!("expected {}{}", either(&names), did_you_mean(text, names.iter().copied()))
    })
}

/// Returns words as `a, b or c`.
fn either(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// Returns a count with its noun, in the plural unless it is 1: `1 input`, `2 inputs`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_held_and_named_in_words() {
        assert_eq!(number::<u32>(1..)("10k"), Ok(10_000));
        assert_eq!(number::<u32>(1..)("5G"), Err("expected a number from 1 to 4294967295".to_owned()));
        assert_eq!(number::<u64>(1..)("0"), Err("expected at least 1, such as 1000, 10k or 2M".to_owned()));
        assert_eq!(
            number::<u64>(..)("1kk"),
            Err("expected a whole number such as 1000, 10k or 2M".to_owned())
        );
        assert_eq!(number::<u16>(1..=1000)("1M"), Err("expected a number from 1 to 1000".to_owned()));
        assert_eq!(number::<u64>(1..=20_000)("0"), Err("expected a number from 1 to 20k".to_owned()));
        assert_eq!(number::<usize>(..)("3"), Ok(3));
        assert_eq!(threads("0"), Err("expected a number from 1 to 256".to_owned()));
    }

    #[test]
    fn names_have_their_nearest() {
        let all = [("quick", 1), ("full", 2)];
        assert_eq!(named(&all, "full"), Ok(2));
        assert_eq!(named(&all, "ful"), Err("expected quick or full; did you mean `full`?".to_owned()));
        assert_eq!(named(&all, "medium"), Err("expected quick or full".to_owned()));
    }
}
