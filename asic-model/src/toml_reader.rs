//! Reads TOML files into their types. A mistake has its place, and is in the words of those who write such files.
//!
//! Serde tells a format's error type what is wrong as values: the key that was found, and those that there are. [`Mistake`] is
//! such an error type, so no message is taken apart.

use crate::names::did_you_mean;
use serde::de::value::{MapAccessDeserializer, StrDeserializer, StringDeserializer};
use serde::de::{
    DeserializeSeed, Error, Expected, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor,
};
use serde::{Deserialize, Deserializer, forward_to_deserialize_any};
use serde_spanned::de::{SpannedDeserializer, is_spanned};
use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// Returns the line, from 1, of a byte of a text.
#[must_use]
pub fn line_of(text: &str, at: usize) -> usize {
    1 + text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count()
}

/// Returns the line, from 1, of the first text in a TOML file for which `is_it` is true; `None` without such a text. A reader that
/// opens the files which a file names says with it where a file that cannot be used is named.
pub fn line_of_text(text: &str, is_it: &dyn Fn(&str) -> bool) -> Option<usize> {
    fn first(value: &Spanned<DeValue<'_>>, is_it: &dyn Fn(&str) -> bool) -> Option<usize> {
        match value.get_ref() {
            DeValue::String(own) => is_it(own).then_some(value.span().start),
            DeValue::Array(list) => list.iter().filter_map(|inner| first(inner, is_it)).min(),
            DeValue::Table(table) => table.values().filter_map(|inner| first(inner, is_it)).min(),
            _ => None,
        }
    }
    let table = DeTable::parse(text).ok()?;
    let found = table.get_ref().values().filter_map(|value| first(value, is_it)).min();
    found.map(|at| line_of(text, at))
}

/// Reads the text of a file.
///
/// # Errors
/// If the text is not TOML, a key is unknown or missing, or a value is of the wrong kind or out of range.
///
/// ```
/// use sluice_asic::toml_reader::read;
///
/// #[derive(Debug, serde::Deserialize)]
/// #[serde(deny_unknown_fields)]
/// struct Book {
///     title: String,
/// }
///
/// let text = "title = 'Networks'\ntittle = 1";
/// let mistake = read::<Book>(text).unwrap_err();
/// assert_eq!(mistake.line(text), 2);
/// assert_eq!(mistake.to_string(), "unknown key `tittle`; did you mean `title`? (known keys: title)");
/// # assert_eq!(read::<Book>("title = 'Networks'").unwrap().title, "Networks");
/// ```
pub fn read<'t, T: Deserialize<'t>>(text: &'t str) -> Result<T, Mistake> {
    let table = DeTable::parse(text)?;
    read_table(table.span(), table.into_inner())
}

/// Reads a table that is parsed; `span` has its bytes in the text.
///
/// # Errors
/// Those of [`read`].
pub fn read_table<'t, T: Deserialize<'t>>(span: Range<usize>, table: DeTable<'t>) -> Result<T, Mistake> {
    T::deserialize(Node { value: DeValue::Table(table), span })
}

/// A mistake in a TOML file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Keys that lead to the value; indexes of lists are left out.
    path: Vec<String>,
    /// The byte of the key or value; none until the reader knows it.
    at: Option<usize>,
    what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    Missing(&'static str),
    Other(String),
}

impl Mistake {
    fn new(what: String) -> Mistake {
        Mistake { path: Vec::new(), at: None, what: What::Other(what) }
    }

    /// Returns the line, from 1, in the text that was read.
    #[must_use]
    pub fn line(&self, text: &str) -> usize {
        line_of(text, self.byte())
    }

    /// Returns the byte of the key or value that is wrong.
    #[must_use]
    pub fn byte(&self) -> usize {
        self.at.unwrap_or(0)
    }

    /// Returns the key that is missing, if the mistake is that.
    #[must_use]
    pub fn missing_key(&self) -> Option<&'static str> {
        match self.what {
            What::Missing(key) => Some(key),
            What::Other(_) => None,
        }
    }

    /// Returns the keys that lead to the value that is wrong.
    pub fn path(&self) -> impl Iterator<Item = &str> {
        self.path.iter().rev().map(String::as_str)
    }

    fn at(mut self, byte: usize) -> Mistake {
        self.at.get_or_insert(byte);
        self
    }

    /// Returns the mistake about a key or word that is not one of the known ones.
    fn unknown(what: &str, found: &str, known: &[&str]) -> Mistake {
        Mistake::new(match known.is_empty() {
            true => format!("unknown {what} `{found}`; no {what} is known here"),
            false => {
                let near = did_you_mean(found, known.iter().copied());
                format!("unknown {what} `{found}`{near} (known {what}s: {})", known.join(", "))
            }
        })
    }
}

impl Display for Mistake {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.what {
            What::Missing(key) => write!(f, "the key `{key}` is missing"),
            What::Other(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for Mistake {}

impl From<toml::de::Error> for Mistake {
    fn from(error: toml::de::Error) -> Mistake {
        let at = error.span().map(|span| span.start);
        Mistake { at, ..Mistake::new(error.message().trim_end().to_owned()) }
    }
}

impl Error for Mistake {
    fn custom<T: Display>(what: T) -> Mistake {
        Mistake::new(what.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Mistake {
        Mistake::new(format!("found {}, expected {}", shown(found), in_words(&expected.to_string())))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Mistake {
        Mistake::invalid_type(found, expected)
    }

    fn unknown_field(found: &str, known: &'static [&'static str]) -> Mistake {
        Mistake::unknown("key", found, known)
    }

    fn unknown_variant(found: &str, known: &'static [&'static str]) -> Mistake {
        Mistake::unknown("word", found, known)
    }

    fn missing_field(key: &'static str) -> Mistake {
        Mistake { path: Vec::new(), at: None, what: What::Missing(key) }
    }
}

fn shown(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Str(text) => format!("the text {text:?}"),
        Unexpected::Signed(number) => format!("the number `{number}`"),
        Unexpected::Unsigned(number) => format!("the number `{number}`"),
        Unexpected::Float(number) => format!("the number `{number:?}`"),
        Unexpected::Bool(word) => format!("the word `{word}`"),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "a table".to_owned(),
        other => other.to_string(),
    }
}

/// Returns what a type expects; serde calls the types of Rust by their names.
fn in_words(expected: &str) -> &str {
    match expected {
        "u8" => "a number from 0 to 255",
        "u16" => "a number from 0 to 65535",
        "u32" | "u64" | "usize" => "a whole number that is not negative",
        "i8" | "i16" | "i32" | "i64" => "a whole number",
        "f32" | "f64" => "a number",
        "a string" => "a text in quotes",
        "a boolean" => "true or false",
        "a sequence" => "a list in brackets",
        "a map" => "a table",
        _ => expected,
    }
}

/// A value with its bytes in the text.
struct Node<'t> {
    value: DeValue<'t>,
    span: Range<usize>,
}

impl<'t> From<Spanned<DeValue<'t>>> for Node<'t> {
    fn from(value: Spanned<DeValue<'t>>) -> Node<'t> {
        Node { span: value.span(), value: value.into_inner() }
    }
}

/// A value as serde knows it.
enum Known<'t> {
    Text(Cow<'t, str>),
    Signed(i64),
    Unsigned(u64),
    Float(f64),
    Flag(bool),
    List(DeArray<'t>),
    Table(DeTable<'t>),
}

impl<'t> Known<'t> {
    fn of(value: DeValue<'t>) -> Result<Known<'t>, Mistake> {
        let out_of_range =
            |number: &dyn Display| Mistake::new(format!("the number {number} is out of range"));
        Ok(match value {
            DeValue::String(text) => Known::Text(text),
            DeValue::Integer(number) => {
                let (digits, radix) = (number.as_str(), number.radix());
                match (i64::from_str_radix(digits, radix), u64::from_str_radix(digits, radix)) {
                    (Ok(number), _) => Known::Signed(number),
                    (_, Ok(number)) => Known::Unsigned(number),
                    _ => return Err(out_of_range(&number)),
                }
            }
            DeValue::Float(number) => match number.as_str().parse::<f64>() {
                Ok(float) if float.is_finite() || number.as_str().contains(['i', 'n']) => Known::Float(float),
                _ => return Err(out_of_range(&number)),
            },
            DeValue::Boolean(flag) => Known::Flag(flag),
            DeValue::Datetime(time) => Known::Text(time.to_string().into()),
            DeValue::Array(list) => Known::List(list),
            DeValue::Table(table) => Known::Table(table),
        })
    }

    /// Returns the mistake of a value that is not of the kind that is expected.
    fn unexpected(&self, expected: &dyn Expected) -> Mistake {
        let found = match self {
            Known::Text(text) => Unexpected::Str(text),
            Known::Signed(number) => Unexpected::Signed(*number),
            Known::Unsigned(number) => Unexpected::Unsigned(*number),
            Known::Float(number) => Unexpected::Float(*number),
            Known::Flag(flag) => Unexpected::Bool(*flag),
            Known::List(_) => Unexpected::Seq,
            Known::Table(_) => Unexpected::Map,
        };
        Mistake::invalid_type(found, expected)
    }

    /// Gives a text, number or flag to a visitor.
    fn scalar<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match self {
            Known::Text(Cow::Borrowed(text)) => visitor.visit_borrowed_str(text),
            Known::Text(Cow::Owned(text)) => visitor.visit_string(text),
            Known::Signed(number) => visitor.visit_i64(number),
            Known::Unsigned(number) => visitor.visit_u64(number),
            Known::Float(number) => visitor.visit_f64(number),
            Known::Flag(flag) => visitor.visit_bool(flag),
            Known::List(_) | Known::Table(_) => Err(self.unexpected(&visitor)),
        }
    }

    fn list<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Mistake> {
        let Known::List(list) = self else { return Err(self.unexpected(&visitor)) };
        let length = list.len();
        let mut list = List(list.into_iter());
        let value = visitor.visit_seq(&mut list)?;
        list.end(length).map(|()| value)
    }

    fn table<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Mistake> {
        let Known::Table(table) = self else { return Err(self.unexpected(&visitor)) };
        visitor.visit_map(Entries::of(table))
    }

    fn any<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match self {
            Known::List(_) => self.list(visitor),
            Known::Table(_) => self.table(visitor),
            _ => self.scalar(visitor),
        }
    }
}

/// Defines methods of a deserializer that read values of one kind.
macro_rules! read_as {
    ($kind:ident: $($method:ident)*) => { $(
        fn $method<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Mistake> {
            let at = self.span.start;
            Known::of(self.value).and_then(|value| value.$kind(visitor)).map_err(|mistake| mistake.at(at))
        }
    )* };
}

/// Every type that is read gets its own copy of a method, so each method holds the code of one kind of value alone.
impl<'t> Deserializer<'t> for Node<'t> {
    type Error = Mistake;

    read_as! { any: deserialize_any }
    read_as! { list: deserialize_seq }
    read_as! { table: deserialize_map }
    read_as! { scalar:
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_u8 deserialize_u16
        deserialize_u32 deserialize_u64 deserialize_f64 deserialize_str deserialize_string
    }

    fn deserialize_option<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Mistake> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'t>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'t>>(
        self,
        name: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        if is_spanned(name) {
            let span = self.span.clone();
            return visitor.visit_map(SpannedDeserializer::new(self, span));
        }
        match self.value {
            DeValue::Table(_) => self.deserialize_map(visitor),
            // What a type of serde expects is its name in Rust.
            value => {
                Err(Known::of(value).map_or_else(|e| e, |v| v.unexpected(&"a table")).at(self.span.start))
            }
        }
    }

    fn deserialize_enum<V: Visitor<'t>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        let at = self.span.start;
        let result = match self.value {
            DeValue::String(word) => visitor.visit_enum(StrDeserializer::new(&word)),
            DeValue::Table(table) if table.len() == 1 => {
                MapAccessDeserializer::new(Entries::of(table)).deserialize_enum("", &[], visitor)
            }
            _ => Err(Mistake::new("expected a word, or a table with one key".to_owned())),
        };
        result.map_err(|mistake| mistake.at(at))
    }

    /// Reads a word of an enum that stands as a key before an empty table or list.
    fn deserialize_unit<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match &self.value {
            DeValue::Table(table) if table.is_empty() => visitor.visit_unit(),
            DeValue::Array(list) if list.is_empty() => visitor.visit_unit(),
            _ => Err(Mistake::new("expected an empty table, `{}`".to_owned()).at(self.span.start)),
        }
    }

    forward_to_deserialize_any! {
        <V: Visitor<'t>>
        i128 u128 f32 char bytes byte_buf unit_struct tuple tuple_struct identifier ignored_any
    }
}

/// Elements of a list that are left to read.
struct List<'t>(<DeArray<'t> as IntoIterator>::IntoIter);

impl List<'_> {
    /// Refuses a list of `length` elements of which a type with a fixed number of elements left some.
    fn end(&self, length: usize) -> Result<(), Mistake> {
        let read = length - self.0.len();
        match self.0.len() {
            0 => Ok(()),
            _ => Err(Mistake::new(format!("found a list of {length}, expected a list of {read}"))),
        }
    }
}

impl<'t> SeqAccess<'t> for List<'t> {
    type Error = Mistake;

    fn next_element_seed<T: DeserializeSeed<'t>>(&mut self, seed: T) -> Result<Option<T::Value>, Mistake> {
        self.0.next().map(|element| seed.deserialize(Node::from(element))).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

impl<'t> IntoDeserializer<'t, Mistake> for Node<'t> {
    type Deserializer = Node<'t>;

    fn into_deserializer(self) -> Node<'t> {
        self
    }
}

/// Keys and values of a table that are left to read.
struct Entries<'t> {
    left: <DeTable<'t> as IntoIterator>::IntoIter,
    /// The key that was read last, and its value.
    value: Option<(String, Node<'t>)>,
}

impl<'t> Entries<'t> {
    fn of(table: DeTable<'t>) -> Entries<'t> {
        Entries { left: table.into_iter(), value: None }
    }
}

impl<'t> MapAccess<'t> for Entries<'t> {
    type Error = Mistake;

    fn next_key_seed<K: DeserializeSeed<'t>>(&mut self, seed: K) -> Result<Option<K::Value>, Mistake> {
        let Some((key, value)) = self.left.next() else { return Ok(None) };
        self.value = Some((key.get_ref().to_string(), value.into()));
        let at = key.span().start;
        let name: StringDeserializer<Mistake> = key.into_inner().into_owned().into_deserializer();
        seed.deserialize(name).map(Some).map_err(|mistake| mistake.at(at))
    }

    fn next_value_seed<V: DeserializeSeed<'t>>(&mut self, seed: V) -> Result<V::Value, Mistake> {
        let Some((key, node)) = self.value.take() else {
            return Err(Mistake::new("a key has no value".into()));
        };
        seed.deserialize(node).map_err(|mut mistake| {
            mistake.path.push(key);
            mistake
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "only errors are looked at")]
    struct File {
        title: String,
        ports: Option<u16>,
        color: Option<Colour>,
        list: Option<Vec<u8>>,
        pair: Option<[u8; 2]>,
    }

    #[derive(Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Colour {
        Green,
        Red,
    }

    fn said(text: &str) -> (usize, String) {
        let mistake = read::<File>(text).map(|_| ()).unwrap_err();
        (mistake.line(text), mistake.to_string())
    }

    #[test]
    fn readers_messages_are_put_in_words() {
        for (text, line, words) in [
            (
                "title = 'a'\ntitel = 1",
                2,
                "unknown key `titel`; did you mean `title`? (known keys: title, ports, color, list, pair)",
            ),
            (
                "title = 'a'\ncolor = 'grene'",
                2,
                "unknown word `grene`; did you mean `green`? (known words: green, red)",
            ),
            ("ports = 1", 1, "the key `title` is missing"),
            ("title = 5", 1, "found the number `5`, expected a text in quotes"),
            ("title = 'a'\nports = 'x'", 2, "found the text \"x\", expected a number from 0 to 65535"),
            ("title = 'a'\nports = -1", 2, "found the number `-1`, expected a number from 0 to 65535"),
            ("title = 'a'\npair = [1, 2, 3]", 2, "found a list of 3, expected a list of 2"),
            ("title = ['a']", 1, "found a list, expected a text in quotes"),
            ("title = 'a'\nlist = 7", 2, "found the number `7`, expected a list in brackets"),
        ] {
            assert_eq!(said(text), (line, words.to_owned()), "{text}");
        }
    }
}
