//! Keys of tables as the handbook lists them: names, values and meanings from the declarations that files are read by.

use serde::de::{Deserialize, Deserializer, Error, Expected, Unexpected, Visitor};
use serde::forward_to_deserialize_any;
use std::fmt::{self, Display, Formatter, Write};

/// A key of a table.
pub(crate) struct Key {
    /// The name.
    pub(crate) name: &'static str,
    /// Returns what values look like.
    pub(crate) value: fn() -> String,
    /// Meaning, unit, range and default.
    pub(crate) meaning: &'static str,
}

/// Returns a [`Key`] of a field with its type and the lines of its documentation.
macro_rules! key {
    ($name:ident: $type:ty, $($meaning:literal)+) => {
        $crate::language::keys::Key {
            name: stringify!($name),
            value: $crate::language::keys::value_of::<$type>,
            meaning: concat!($($meaning),+),
        }
    };
}
pub(crate) use key;

/// Returns a table for the handbook.
pub(crate) fn table(title: &str, keys: &[Key]) -> String {
    let mut table = format!("| {title} | value | meaning |\n|---|---|---|\n");
    for key in keys {
        let meaning = key.meaning.trim().trim_end_matches('.').replace('|', "\\|");
        let _ = writeln!(table, "| `{}` | {} | {meaning} |", key.name, (key.value)());
    }
    table
}

/// Returns what a value of a type looks like: its type says so when it is asked to read one.
pub(crate) fn value_of<T: for<'de> Deserialize<'de>>() -> String {
    T::deserialize(Asked).err().map_or_else(String::new, |Looks(text)| text)
}

/// A value that is not there, whose reader is asked what it expects.
struct Asked;

/// The answer of a reader.
#[derive(Debug)]
struct Looks(String);

impl Display for Looks {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Looks {}

impl Error for Looks {
    fn custom<T: Display>(text: T) -> Looks {
        Looks(text.to_string())
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Looks {
        Looks(expected.to_string())
    }
}

/// Answers a question by a text.
macro_rules! answers {
    ($($method:ident)+ => $text:literal) => {
        $(fn $method<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Looks> {
            Err(Looks($text.to_owned()))
        })+
    };
}

impl<'de> Deserializer<'de> for Asked {
    type Error = Looks;

    answers! { deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 => "number" }
    answers! { deserialize_f64 => "number" }
    answers! { deserialize_bool => "true or false" }
    answers! { deserialize_string => "text" }
    answers! { deserialize_map => "table" }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Looks> {
        Err(Looks::invalid_type(Unexpected::Unit, &visitor))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Looks> {
        visitor.visit_some(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Looks> {
        Err(Looks("list".to_owned()))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Looks> {
        Err(Looks("table".to_owned()))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        words: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Looks> {
        Err(Looks(words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")))
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u128 f32 char str bytes byte_buf unit unit_struct newtype_struct tuple tuple_struct identifier
        ignored_any
    }
}
