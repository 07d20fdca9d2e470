//! Typed access to the keys of a TOML table. The parser takes each key once; a key that was not taken is an error.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::place::Source;
use super::{FileError, parse_ps};
use crate::wire::MacAddr;

/// Keys of one table that have not been taken.
pub(super) struct Keys<'a> {
    source: Source<'a>,
    /// Byte offset of the table.
    pub(super) byte: usize,
    keys: Vec<(&'a str, Range<usize>, &'a DeValue<'a>, Range<usize>)>,
}

impl<'a> Keys<'a> {
    pub(super) fn new(source: Source<'a>, span: Range<usize>, table: &'a DeTable<'a>) -> Self {
        let keys = table
            .iter()
            .map(|(key, value)| (key.get_ref().as_ref(), key.span(), value.get_ref(), value.span()))
            .collect();
        Self { source, byte: span.start, keys }
    }

    /// Returns an error for the whole table.
    pub(super) fn error(&self, what: impl std::fmt::Display) -> FileError {
        self.source.error(self.byte, what)
    }

    fn take(&mut self, name: &str) -> Option<(&'a DeValue<'a>, Range<usize>)> {
        let index = self.keys.iter().position(|(key, ..)| *key == name)?;
        let (_, _, value, span) = self.keys.swap_remove(index);
        Some((value, span))
    }

    /// Fails if a key was not taken; `what` describes the table.
    pub(super) fn finish(mut self, what: &str) -> Result<(), FileError> {
        self.keys.sort_by_key(|(_, span, ..)| span.start);
        match self.keys.first() {
            None => Ok(()),
            Some((key, span, ..)) => {
                Err(self.source.error(span.start, format!("found key `{key}`, which {what} does not have")))
            }
        }
    }

    fn mismatch(&self, name: &str, span: &Range<usize>, expected: &str) -> FileError {
        let found = self.source.text.get(span.clone()).unwrap_or_default();
        self.source.error(span.start, format!("{name}: found {found}, expected {expected}"))
    }

    /// Takes a number from 0 to `most`.
    pub(super) fn number(&mut self, name: &str, most: u64) -> Result<Option<u64>, FileError> {
        let Some((value, span)) = self.take(name) else { return Ok(None) };
        match integer(value).filter(|number| *number <= most) {
            Some(number) => Ok(Some(number)),
            None => Err(self.mismatch(name, &span, &format!("a number from 0 to {most}"))),
        }
    }

    /// Takes a number of 8 bits.
    pub(super) fn byte(&mut self, name: &str, most: u8) -> Result<Option<u8>, FileError> {
        Ok(self.number(name, most.into())?.map(|number| number as u8))
    }

    /// Takes a number of 16 bits.
    pub(super) fn word(&mut self, name: &str, most: u16) -> Result<Option<u16>, FileError> {
        Ok(self.number(name, most.into())?.map(|number| number as u16))
    }

    /// Takes a number of 32 bits.
    pub(super) fn long(&mut self, name: &str, most: u32) -> Result<Option<u32>, FileError> {
        Ok(self.number(name, most.into())?.map(|number| number as u32))
    }

    /// Takes `true` or `false`.
    pub(super) fn flag(&mut self, name: &str) -> Result<bool, FileError> {
        let Some((value, span)) = self.take(name) else { return Ok(false) };
        value.as_bool().ok_or_else(|| self.mismatch(name, &span, "true or false"))
    }

    /// Takes a list of numbers from 0 to `most`.
    pub(super) fn numbers(&mut self, name: &str, most: u64) -> Result<Option<Vec<u64>>, FileError> {
        let Some((value, span)) = self.take(name) else { return Ok(None) };
        let list = value.as_array().and_then(|list| {
            list.iter().map(|value| integer(value.get_ref()).filter(|number| *number <= most)).collect()
        });
        match list {
            Some(list) => Ok(Some(list)),
            None => Err(self.mismatch(name, &span, &format!("a list of numbers from 0 to {most}"))),
        }
    }

    /// Takes a text and converts it with `parse`.
    pub(super) fn text<T>(
        &mut self,
        name: &str,
        expected: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, FileError> {
        let Some((value, span)) = self.take(name) else { return Ok(None) };
        match value.as_str().and_then(parse) {
            Some(parsed) => Ok(Some(parsed)),
            None => Err(self.mismatch(name, &span, expected)),
        }
    }

    /// Takes a MAC address.
    pub(super) fn mac(&mut self, name: &str) -> Result<Option<MacAddr>, FileError> {
        self.text(name, "a MAC address as \"02:00:00:00:00:01\"", |text| text.parse().ok())
    }

    /// Takes a time: a number of picoseconds, or a text with a unit.
    pub(super) fn time(&mut self, name: &'static str) -> Result<Option<u64>, FileError> {
        let Some((value, span)) = self.take(name) else { return Ok(None) };
        let ps = integer(value).or_else(|| value.as_str().and_then(|text| parse_ps(name, text).ok()));
        let expected = "a number of picoseconds, or a time as \"6.72ns\"";
        ps.map(Some).ok_or_else(|| self.mismatch(name, &span, expected))
    }
}

/// Returns an integer that is not negative.
fn integer(value: &DeValue<'_>) -> Option<u64> {
    let integer = value.as_integer()?;
    u64::from_str_radix(integer.as_str(), integer.radix()).ok()
}
