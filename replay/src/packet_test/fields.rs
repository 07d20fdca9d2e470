//! Tables of a TOML file, whose mistakes have a line and a column.

use sluice_asic::names::did_you_mean;
use sluice_asic::toml_reader::line_of;
use std::ops::{Range, RangeInclusive};
use thiserror::Error;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A mistake in a packet test, with its place from 1.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{line}:{column}: {text}")]
pub struct TestFileError {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
    /// The mistake.
    pub text: String,
}

/// The text of a file.
pub(super) struct Reader<'t> {
    text: &'t str,
    parsed: Result<Spanned<DeTable<'t>>, toml::de::Error>,
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str) -> Reader<'t> {
        Reader { text, parsed: DeTable::parse(text) }
    }

    fn fault(&self, at: usize, text: &str) -> TestFileError {
        let at = at.min(self.text.len());
        let begin =
            self.text.as_bytes()[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let column = String::from_utf8_lossy(&self.text.as_bytes()[begin..at]).chars().count() + 1;
        TestFileError { line: line_of(self.text, at) as u32, column: column as u32, text: text.to_owned() }
    }

    /// Returns the keys of the whole file.
    pub(super) fn file<'a>(&'a self, known: &'static [&'static str]) -> Result<Fields<'a>, TestFileError> {
        match &self.parsed {
            Ok(table) => self.known(table.get_ref(), 0..0, "file", known),
            Err(e) => Err(self.fault(e.span().map_or(0, |span| span.start), e.message().trim_end())),
        }
    }

    /// Returns the keys of a table that is called `what`.
    pub(super) fn fields<'a>(
        &'a self,
        value: &'a Spanned<DeValue<'t>>,
        what: &'static str,
        known: &'static [&'static str],
    ) -> Result<Fields<'a>, TestFileError> {
        match value.get_ref().as_table() {
            Some(table) => self.known(table, value.span(), what, known),
            None => Err(self.fault(value.span().start, &format!("`{what}` is a table: {what} = {{ .. }}"))),
        }
    }

    fn known<'a>(
        &'a self,
        table: &'a DeTable<'t>,
        span: Range<usize>,
        what: &'static str,
        known: &'static [&'static str],
    ) -> Result<Fields<'a>, TestFileError> {
        let unknown = table.keys().find(|key| !known.contains(&key.get_ref().as_ref()));
        let Some(key) = unknown else { return Ok(Fields { reader: self, table, span }) };
        let found = key.get_ref();
        let near = did_you_mean(found, known.iter().copied());
        let text = format!("unknown key `{found}` of a {what}{near} (known keys: {})", known.join(", "));
        Err(self.fault(key.span().start, &text))
    }

    /// Returns a value that must be a text.
    pub(super) fn text(&self, value: &Spanned<DeValue<'t>>, key: &str) -> Result<String, TestFileError> {
        let text = value.get_ref().as_str().map(str::to_owned);
        text.ok_or_else(|| self.fault(value.span().start, &format!("`{key}` is a text in quotes")))
    }
}

/// A table with known keys only.
pub(super) struct Fields<'a> {
    reader: &'a Reader<'a>,
    table: &'a DeTable<'a>,
    span: Range<usize>,
}

impl<'a> Fields<'a> {
    /// Returns the line and the column, from 1.
    pub(super) fn place(&self) -> (u32, u32) {
        let TestFileError { line, column, .. } = self.fault("");
        (line, column)
    }

    /// Returns a mistake of the table.
    pub(super) fn fault(&self, text: &str) -> TestFileError {
        self.reader.fault(self.span.start, text)
    }

    /// Returns a mistake of a value.
    pub(super) fn fault_at(&self, key: &str, text: &str) -> TestFileError {
        let at = self.value(key).map_or(self.span.start, |value| value.span().start);
        self.reader.fault(at, text)
    }

    /// Returns a value.
    pub(super) fn value(&self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.table.get(key)
    }

    /// Returns a value as the file has it.
    pub(super) fn source(&self, value: &Spanned<DeValue<'_>>) -> &'a str {
        self.reader.text.get(value.span()).unwrap_or_default()
    }

    /// Returns a text.
    pub(super) fn text(&self, key: &str) -> Result<Option<String>, TestFileError> {
        self.value(key).map(|value| self.reader.text(value, key)).transpose()
    }

    /// Returns a text that must be there.
    pub(super) fn required(&self, key: &str) -> Result<String, TestFileError> {
        self.text(key)?.ok_or_else(|| self.fault(&format!("the key `{key}` is missing")))
    }

    /// Returns a text or a number, as text.
    pub(super) fn word(&self, key: &str) -> Result<Option<String>, TestFileError> {
        self.value(key).map(|value| self.plain(value, key)).transpose()
    }

    fn plain(&self, value: &Spanned<DeValue<'_>>, key: &str) -> Result<String, TestFileError> {
        match value.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            DeValue::Boolean(flag) => Ok(u8::from(*flag).to_string()),
            DeValue::Integer(_) => Ok(self.source(value).replace('_', "")),
            _ => Err(self.reader.fault(value.span().start, &format!("`{key}` is a number or a text"))),
        }
    }

    /// Returns a number of a range.
    pub(super) fn number(&self, key: &str, range: RangeInclusive<u64>) -> Result<Option<u64>, TestFileError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let integer = value.get_ref().as_integer();
        let number = integer.and_then(|integer| u64::from_str_radix(integer.as_str(), integer.radix()).ok());
        number.filter(|number| range.contains(number)).map(Some).ok_or_else(|| {
            let (least, most, found) = (range.start(), range.end(), self.source(value));
            self.fault_at(key, &format!("`{key}` is {found}; expected a number from {least} to {most}"))
        })
    }

    /// Returns the values of a list, or the one value that stands in place of a list.
    pub(super) fn list(&self, key: &str) -> Result<Vec<&'a Spanned<DeValue<'a>>>, TestFileError> {
        Ok(match self.value(key) {
            None => Vec::new(),
            Some(value) => match value.get_ref().as_array() {
                Some(list) => list.iter().collect(),
                None => vec![value],
            },
        })
    }

    /// Returns the tables of a list, or the one table that stands in place of a list.
    pub(super) fn tables(
        &self,
        key: &'static str,
        known: &'static [&'static str],
    ) -> Result<Vec<Fields<'a>>, TestFileError> {
        self.list(key)?.into_iter().map(|value| self.reader.fields(value, key, known)).collect()
    }

    /// Returns the keys and values of a table of texts and numbers, in the order of the file.
    pub(super) fn map(&self, key: &'static str) -> Result<Vec<(String, String)>, TestFileError> {
        let Some(value) = self.value(key) else { return Ok(Vec::new()) };
        let Some(table) = value.get_ref().as_table() else {
            return Err(self.fault_at(key, &format!("`{key}` is a table: {key} = {{ NAME = VALUE }}")));
        };
        let mut pairs: Vec<_> = table.iter().collect();
        pairs.sort_by_key(|(name, _)| name.span().start);
        let pair = |(name, value): (&Spanned<std::borrow::Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
            let name = name.get_ref().to_string();
            let value = self.plain(value, &name)?;
            Ok((name, value))
        };
        pairs.into_iter().map(pair).collect()
    }
}
