//! Mistakes in TOML files, in the words of those who wrote them.
//!
//! The TOML reader says `unknown field`, `unknown variant` and `invalid type`, which are words of Rust. These functions replace
//! them, and add the nearest word that is known.

use crate::names::did_you_mean;

/// Returns the line, from 1, of a byte of a text.
#[must_use]
pub fn line_of(text: &str, at: usize) -> usize {
    1 + text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count()
}

/// Returns the line of a reader's error, from 1, and its message in words; see [`in_words`].
#[must_use]
pub fn mistake(text: &str, error: &toml::de::Error) -> (usize, String) {
    (line_of(text, error.span().map_or(0, |span| span.start)), in_words(error.message()))
}

/// Returns a message of the TOML reader in words: an unknown key or word with the nearest one and all that are known, a missing
/// key, a value of the wrong kind. Other messages stay as they are.
///
/// ```
/// use sluice_asic::toml_mistakes::in_words;
///
/// let message = in_words("unknown field `tittle`, expected `id` or `title`");
/// assert_eq!(message, "unknown key `tittle`; did you mean `title`? (known keys: id, title)");
/// ```
#[must_use]
pub fn in_words(message: &str) -> String {
    let message = message.trim_end();
    for (prefix, what) in [("unknown field `", "key"), ("unknown variant `", "word")] {
        let parts = message.strip_prefix(prefix).and_then(|rest| rest.split_once("`, "));
        if let Some((found, known)) = parts {
            return unknown(found, known, what);
        }
    }
    if let Some((key, _)) = message.strip_prefix("missing field `").and_then(|rest| rest.split_once('`')) {
        return format!("the key `{key}` is missing");
    }
    if let Some(found) = message.strip_prefix("invalid type: ").or(message.strip_prefix("invalid value: "))
        && let Some((found, expected)) = found.split_once(", expected ")
    {
        return format!("found {}, expected {}", kind(found), expected_kind(expected));
    }
    message.to_owned()
}

/// Returns the message about an unknown key or word; `known` lists what is known in backquotes.
fn unknown(found: &str, known: &str, what: &str) -> String {
    let known: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
    let near = did_you_mean(found, known.iter().copied());
    match known.is_empty() {
        true => format!("unknown {what} `{found}`; no {what} is known here"),
        false => format!("unknown {what} `{found}`{near} (known {what}s: {})", known.join(", ")),
    }
}

/// Returns what was found, without words of Rust.
fn kind(found: &str) -> String {
    let named = [
        ("string ", "the text "),
        ("integer ", "the number "),
        ("floating point ", "the number "),
        ("boolean ", "the word "),
    ];
    for (prefix, word) in named {
        if let Some(value) = found.strip_prefix(prefix) {
            return format!("{word}{value}");
        }
    }
    match found {
        "sequence" => "a list".to_owned(),
        "map" => "a table".to_owned(),
        other => other.to_owned(),
    }
}

/// Returns what was expected, without words of Rust.
fn expected_kind(expected: &str) -> &str {
    match expected.trim_start_matches("a ").trim_start_matches("an ") {
        "u8" => "a number from 0 to 255",
        "u16" => "a number from 0 to 65535",
        "u32" | "u64" | "usize" => "a whole number that is not negative",
        "i8" | "i16" | "i32" | "i64" => "a whole number",
        "f32" | "f64" => "a number",
        "string" => "a text in quotes",
        "boolean" => "true or false",
        "sequence" => "a list in brackets",
        "map" => "a table",
        _ if expected.starts_with("struct ") => "a table",
        _ => expected,
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
    }

    #[derive(Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Colour {
        Green,
        Red,
    }

    fn said(text: &str) -> (usize, String) {
        mistake(text, &toml::from_str::<File>(text).map(|_| ()).unwrap_err())
    }

    #[test]
    fn readers_messages_are_put_in_words() {
        for (text, line, words) in [
            (
                "title = 'a'\ntitel = 1",
                2,
                "unknown key `titel`; did you mean `title`? (known keys: title, ports, color, list)",
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
            ("title = 'a'\nlist = 7", 2, "found the number `7`, expected a list in brackets"),
        ] {
            assert_eq!(said(text), (line, words.to_owned()), "{text}");
        }
    }
}
