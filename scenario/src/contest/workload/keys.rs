//! [`Keys`]: reads the keys of a workload's table, and remembers which it has.

use super::fault::Fault;
use super::hosts::Selection;
use super::sizes::Sizes;
use sluice_asic::units::{BitRate, Bytes, Duration};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use toml::{Spanned, Value};

/// A table with the places of its values.
pub(super) type Table = BTreeMap<String, Spanned<Value>>;

/// Reads a table. Every key that is asked for is a key that the table may have.
pub(super) struct Keys<'t> {
    table: &'t Table,
    known: RefCell<Vec<&'static str>>,
}

impl<'t> Keys<'t> {
    pub(super) fn new(table: &'t Table) -> Keys<'t> {
        Keys { table, known: RefCell::default() }
    }

    /// Returns true if the table has the key, without making it known.
    pub(super) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    fn get(&self, key: &'static str) -> Option<&'t Value> {
        self.known.borrow_mut().push(key);
        self.table.get(key).map(Spanned::get_ref)
    }

    /// Returns a whole number.
    pub(super) fn count<T: TryFrom<i64> + PartialOrd + Copy + Display>(
        &self,
        key: &'static str,
        range: RangeInclusive<T>,
    ) -> Result<Option<T>, Fault> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let number = value.as_integer().and_then(|number| T::try_from(number).ok());
        match number.filter(|number| range.contains(number)) {
            Some(number) => Ok(Some(number)),
            None => {
                let (first, last) = (range.start(), range.end());
                Err(Fault::new(key, format!("found {}, expected {first} to {last}", shown(value))))
            }
        }
    }

    /// Returns a duration.
    pub(super) fn time(&self, key: &'static str) -> Result<Option<Duration>, Fault> {
        self.get(key).map(|value| parsed(key, value, "a time such as \"10us\"")).transpose()
    }

    /// Returns a bit rate above 0.
    pub(super) fn rate(&self, key: &'static str) -> Result<Option<BitRate>, Fault> {
        const EXPECTED: &str = "a rate such as \"40Gbps\"";
        let Some(value) = self.get(key) else { return Ok(None) };
        let rate: BitRate = parsed(key, value, EXPECTED)?;
        match rate.as_bps() {
            0 => Err(Fault::new(key, format!("found 0, expected {EXPECTED}"))),
            _ => Ok(Some(rate)),
        }
    }

    /// Returns a text.
    pub(super) fn text(&self, key: &'static str) -> Result<Option<&'t str>, Fault> {
        let Some(value) = self.get(key) else { return Ok(None) };
        match value.as_str() {
            Some(text) => Ok(Some(text)),
            None => Err(Fault::new(key, format!("found {}, expected a text", shown(value)))),
        }
    }

    /// Returns true or false; false if the key is not there.
    pub(super) fn flag(&self, key: &'static str) -> Result<bool, Fault> {
        let Some(value) = self.get(key) else { return Ok(false) };
        match value.as_bool() {
            Some(flag) => Ok(flag),
            None => Err(Fault::new(key, format!("found {}, expected true or false", shown(value)))),
        }
    }

    /// Returns one of several names.
    pub(super) fn choice<T: Copy>(
        &self,
        key: &'static str,
        choices: &[(&'static str, T)],
    ) -> Result<Option<T>, Fault> {
        let Some(text) = self.text(key)? else { return Ok(None) };
        match choices.iter().find(|(name, _)| *name == text) {
            Some((_, choice)) => Ok(Some(*choice)),
            None => {
                let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
                Err(Fault::new(key, format!("found `{text}`, expected {}", names.join(", "))))
            }
        }
    }

    /// Returns a number of bytes of at least 1: a number, or a text such as `64KB`.
    pub(super) fn bytes(&self, key: &'static str) -> Result<Option<u64>, Fault> {
        self.get(key).map(|value| bytes(key, value)).transpose()
    }

    /// Returns sizes: bytes, or the name of a distribution.
    pub(super) fn sizes_or(&self, key: &'static str) -> Result<Option<Sizes>, Fault> {
        let Some(value) = self.get(key) else { return Ok(None) };
        match value.as_str() {
            Some(text) if text.parse::<Bytes>().is_err() => Ok(Some(Sizes::named(text))),
            _ => bytes(key, value).map(|bytes| Some(Sizes::Fixed(bytes))),
        }
    }

    /// Returns the sizes of `bytes` or `sizes`, one of which must be there.
    pub(super) fn sizes(&self) -> Result<Sizes, Fault> {
        match (self.bytes("bytes")?, self.text("sizes")?) {
            (Some(bytes), None) => Ok(Sizes::Fixed(bytes)),
            (None, Some(name)) => Ok(Sizes::named(name)),
            (Some(_), Some(_)) => Err(Fault::new("sizes", "leave out `bytes` or `sizes`")),
            (None, None) => {
                Err(Fault::new("sizes", "is missing; set `bytes`, or `sizes` to the name of a distribution"))
            }
        }
    }

    /// Returns a selection of hosts, by default all: a text, a number, or a list of both.
    pub(super) fn hosts(&self, key: &'static str) -> Result<Selection, Fault> {
        let Some(value) = self.get(key) else { return Ok(Selection::default()) };
        let word = |value: &Value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Integer(number) => Some(number.to_string()),
            _ => None,
        };
        let words: Option<Vec<String>> = match value {
            Value::Array(list) => list.iter().map(word).collect(),
            one => word(one).map(|word| vec![word]),
        };
        let selection = words.and_then(|words| Selection::of(words.iter().map(String::as_str)));
        selection.ok_or_else(|| {
            let what =
                "expected hosts such as \"all\", \"0..7, 9\", [0, 4], \"10.0.1.0/24\" or a switch's name";
            Fault::new(key, format!("found {}, {what}", shown(value)))
        })
    }

    /// Returns a value that must be there.
    pub(super) fn required<T>(&self, key: &'static str, value: Option<T>, example: &str) -> Result<T, Fault> {
        value.ok_or_else(|| Fault::new(key, format!("is missing; set it, for example {key} = {example}")))
    }

    /// Checks that the table has no other keys. `kind` is the workload's.
    pub(super) fn finish(self, kind: &str) -> Result<(), Fault> {
        let mut known = self.known.into_inner();
        let Some(key) = self.table.keys().find(|key| !known.contains(&key.as_str())) else { return Ok(()) };
        known.sort_unstable();
        known.dedup();
        let what = format!("is not a key of kind `{kind}`, which has {}", known.join(", "));
        Err(Fault::new(key.clone(), what))
    }
}

fn bytes(key: &'static str, value: &Value) -> Result<u64, Fault> {
    let expected = "a number of bytes such as 65536 or \"64KB\", at least 1";
    let found = match value {
        Value::Integer(number) => u64::try_from(*number).ok(),
        Value::String(text) => text.parse::<Bytes>().ok().map(|bytes| bytes.0),
        _ => None,
    };
    let found = found.filter(|bytes| *bytes >= 1);
    found.ok_or_else(|| Fault::new(key, format!("found {}, expected {expected}", shown(value))))
}

fn parsed<T: FromStr>(key: &'static str, value: &Value, expected: &str) -> Result<T, Fault> {
    let found = value.as_str().and_then(|text| text.parse().ok());
    found.ok_or_else(|| Fault::new(key, format!("found {}, expected {expected}", shown(value))))
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("`{text}`"),
        Value::Table(_) => "a table".to_owned(),
        other => other.to_string(),
    }
}
