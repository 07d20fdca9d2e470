//! Keys of workloads' tables: a [`Key`] declares one, [`Keys`] reads a table by such declarations.

use super::fault::Fault;
use super::hosts::Selection;
use super::sizes::Sizes;
use sluice_asic::units::{BitRate, Bytes, Duration};
use std::cell::RefCell;
use std::collections::BTreeMap;
use toml::{Spanned, Value};

/// A table with the places of its values.
pub(super) type Table = BTreeMap<String, Spanned<Value>>;

/// Reads the value of a key.
type Read<T> = fn(&Key<T>, &Value) -> Result<T, Fault>;

/// Declaration of a key whose values are a `T`.
pub(super) struct Key<T: 'static> {
    name: &'static str,
    #[cfg_attr(not(test), expect(dead_code, reason = "a test compares the handbook with it"))]
    meaning: &'static str,
    absent: Absent,
    /// What a value is; empty for numbers in a range and for words.
    #[cfg_attr(not(test), expect(dead_code, reason = "a test compares the handbook with it"))]
    form: &'static str,
    /// Least and largest number.
    range: (i64, i64),
    /// The words that stand for values.
    words: &'static [(&'static str, T)],
    read: Read<T>,
}

/// Default of a key that a table lacks. Values are as in a file.
#[derive(Clone, Copy)]
enum Absent {
    /// The reader of the table decides; the handbook says so in these words.
    Open(&'static str),
    /// This value.
    Value(&'static str),
    /// The key must be there; this value is an example.
    Needed(&'static str),
}

/// A type whose values stand for themselves.
pub(super) trait Form: Sized {
    /// What a value is: for the handbook, and for errors.
    const NAMES: [&'static str; 2];

    /// Returns the value, `None` if it is something else.
    fn of(value: &Value) -> Option<Self>;
}

impl Form for Duration {
    const NAMES: [&'static str; 2] = ["time", "a time such as \"10us\""];

    fn of(value: &Value) -> Option<Duration> {
        value.as_str()?.parse().ok()
    }
}

impl Form for BitRate {
    const NAMES: [&'static str; 2] = ["rate", "a rate such as \"40Gbps\""];

    fn of(value: &Value) -> Option<BitRate> {
        value.as_str()?.parse().ok()
    }
}

impl Form for String {
    const NAMES: [&'static str; 2] = ["text", "a text"];

    fn of(value: &Value) -> Option<String> {
        value.as_str().map(str::to_owned)
    }
}

impl Form for bool {
    const NAMES: [&'static str; 2] = ["true or false"; 2];

    fn of(value: &Value) -> Option<bool> {
        value.as_bool()
    }
}

impl Form for Bytes {
    const NAMES: [&'static str; 2] = ["bytes", "a number of bytes such as 65536 or \"64KB\", at least 1"];

    fn of(value: &Value) -> Option<Bytes> {
        let bytes = match value {
            Value::Integer(number) => Bytes(u64::try_from(*number).ok()?),
            other => other.as_str()?.parse().ok()?,
        };
        Some(bytes).filter(|bytes| bytes.0 >= 1)
    }
}

impl Form for Sizes {
    const NAMES: [&'static str; 2] = ["bytes or a distribution", Bytes::NAMES[1]];

    fn of(value: &Value) -> Option<Sizes> {
        match value.as_str() {
            Some(text) if text.parse::<Bytes>().is_err() => Some(Sizes::named(text)),
            _ => Bytes::of(value).map(|bytes| Sizes::Fixed(bytes.0)),
        }
    }
}

impl Form for Selection {
    const NAMES: [&'static str; 2] =
        ["hosts", "hosts such as \"all\", \"0..7, 9\", [0, 4], \"10.0.1.0/24\" or a switch's name"];

    fn of(value: &Value) -> Option<Selection> {
        let one = std::slice::from_ref(value);
        let words = value.as_array().map_or(one, Vec::as_slice).iter().map(|value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Integer(number) => Some(number.to_string()),
            _ => None,
        });
        let words: Vec<String> = words.collect::<Option<_>>()?;
        Selection::of(words.iter().map(String::as_str))
    }
}

impl<T> Key<T> {
    const fn read_by(name: &'static str, form: &'static str, meaning: &'static str, read: Read<T>) -> Key<T> {
        Key { name, meaning, absent: Absent::Open(""), form, range: (0, 0), words: &[], read }
    }

    /// Returns the key with this default.
    pub(super) const fn or(self, value: &'static str) -> Key<T> {
        Key { absent: Absent::Value(value), ..self }
    }

    /// Returns the key as one that must be there, with an example of a value.
    pub(super) const fn needed(self, example: &'static str) -> Key<T> {
        Key { absent: Absent::Needed(example), ..self }
    }

    /// Returns the key with words for the handbook about what stands for an absent one.
    pub(super) const fn open(self, absent: &'static str) -> Key<T> {
        Key { absent: Absent::Open(absent), ..self }
    }

    /// Returns a fault of this key.
    pub(super) fn fault(&self, what: impl Into<String>) -> Fault {
        Fault::new(self.name, what)
    }

    fn refused(&self, found: &Value, expected: &str) -> Fault {
        let found = match found {
            Value::String(text) => format!("`{text}`"),
            Value::Table(_) => "a table".to_owned(),
            other => other.to_string(),
        };
        self.fault(format!("found {found}, expected {expected}"))
    }
}

impl<T: Form> Key<T> {
    /// Declares a key.
    pub(super) const fn new(name: &'static str, meaning: &'static str) -> Key<T> {
        Key::read_by(name, T::NAMES[0], meaning, |key, value| {
            T::of(value).ok_or_else(|| key.refused(value, T::NAMES[1]))
        })
    }
}

impl<T: TryFrom<i64>> Key<T> {
    /// Declares a whole number in this range.
    pub(super) const fn number(name: &'static str, range: (i64, i64), meaning: &'static str) -> Key<T> {
        let key = Key::read_by(name, "", meaning, |key, value| {
            let (first, last) = key.range;
            let number = value.as_integer().filter(|number| (first..=last).contains(number));
            let number = number.and_then(|number| T::try_from(number).ok());
            number.ok_or_else(|| key.refused(value, &format!("{first} to {last}")))
        });
        Key { range, ..key }
    }
}

impl<T: Copy> Key<T> {
    /// Declares one of several words, each with what it stands for.
    pub(super) const fn word(
        name: &'static str,
        words: &'static [(&'static str, T)],
        meaning: &'static str,
    ) -> Key<T> {
        let key = Key::read_by(name, "", meaning, |key, value| {
            let text = value.as_str().ok_or_else(|| key.refused(value, "a text"))?;
            let word = key.words.iter().find(|(word, _)| *word == text);
            let words = || key.words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
            word.map(|(_, choice)| *choice).ok_or_else(|| key.refused(value, &words()))
        });
        Key { words, ..key }
    }
}

/// Returns the value that a text of a file is: a number, a flag, or a text in quotes.
fn literal(text: &str) -> Value {
    let number = text.parse().map(Value::Integer);
    let value = number.or_else(|_| text.parse().map(Value::Boolean));
    value.unwrap_or_else(|_| Value::String(text.trim_matches('"').to_owned()))
}

/// A declared key, whatever its type.
pub(super) trait Declared: Sync {
    /// The name.
    fn name(&self) -> &'static str;

    /// For the handbook: values, what stands for an absent key, and meaning.
    #[cfg(test)]
    fn documented(&self) -> [String; 3];
}

impl<T: Sync> Declared for Key<T> {
    fn name(&self) -> &'static str {
        self.name
    }

    #[cfg(test)]
    fn documented(&self) -> [String; 3] {
        let value = match (self.form, self.words, self.range) {
            ("", [], (first, last)) if last >= u32::MAX.into() => format!("number from {first}"),
            ("", [], (first, last)) => format!("{first} to {last}"),
            ("", words, _) => {
                words.iter().map(|(word, _)| format!("`{word}`")).collect::<Vec<_>>().join(", ")
            }
            (form, ..) => form.to_owned(),
        };
        let absent = match self.absent {
            Absent::Open(text) => text.to_owned(),
            Absent::Value(text) => text.trim_matches('"').to_owned(),
            Absent::Needed(_) => "needed".to_owned(),
        };
        [value, absent, self.meaning.to_owned()]
    }
}

/// Reads a table. Every key that is asked for is a key that the table may have.
pub(super) struct Keys<'t> {
    /// The table; `None`: a table with every key, of which nothing but the keys is of interest.
    table: Option<&'t Table>,
    asked: RefCell<Vec<&'static dyn Declared>>,
}

impl<'t> Keys<'t> {
    pub(super) fn new(table: &'t Table) -> Keys<'t> {
        Keys { table: Some(table), asked: RefCell::default() }
    }

    /// Returns the keys that a reader of tables asks for, in order and each once.
    pub(super) fn asked_by<T>(read: impl Fn(&Keys<'_>) -> Result<T, Fault>) -> Vec<&'static dyn Declared> {
        let keys = Keys { table: None, asked: RefCell::default() };
        // Without a table nothing is refused.
        let _ = read(&keys);
        keys.asked.into_inner()
    }

    /// Returns true if the table has the key.
    pub(super) fn has<T>(&self, key: &Key<T>) -> bool {
        self.table.is_some_and(|table| table.contains_key(key.name))
    }

    /// Returns the value of a key if the table has it.
    pub(super) fn find<T: Sync>(&self, key: &'static Key<T>) -> Result<Option<T>, Fault> {
        let mut asked = self.asked.borrow_mut();
        if asked.iter().all(|other| other.name() != key.name) {
            asked.push(key);
        }
        let value = self.table.and_then(|table| table.get(key.name));
        value.map(|value| (key.read)(key, value.get_ref())).transpose()
    }

    /// Returns the value of a key, or its default.
    pub(super) fn get<T: Sync>(&self, key: &'static Key<T>) -> Result<T, Fault> {
        if let Some(value) = self.find(key)? {
            return Ok(value);
        }
        match key.absent {
            Absent::Value(text) => (key.read)(key, &literal(text)),
            Absent::Open(text) | Absent::Needed(text) => {
                let what = || format!("is missing; set it, for example {} = {text}", key.name);
                self.missing(key, what, || (key.read)(key, &literal(text)))
            }
        }
    }

    /// Returns the fault that a key is missing.
    pub(super) fn missing<K, T>(
        &self,
        key: &Key<K>,
        what: impl FnOnce() -> String,
        example: impl FnOnce() -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        if self.table.is_some() { Err(key.fault(what())) } else { example() }
    }

    /// Checks that the table has no other keys. `kind` is the workload's.
    pub(super) fn finish(self, kind: &str) -> Result<(), Fault> {
        let mut known: Vec<&str> = self.asked.into_inner().iter().map(|key| key.name()).collect();
        let mut given = self.table.into_iter().flat_map(BTreeMap::keys);
        let Some(key) = given.find(|key| !known.contains(&key.as_str())) else { return Ok(()) };
        known.sort_unstable();
        let what = format!("is not a key of kind `{kind}`, which has {}", known.join(", "));
        Err(Fault::new(key.clone(), what))
    }
}
