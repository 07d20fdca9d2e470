//! Text for terminals: control characters of inputs are shown, not obeyed.

use std::borrow::Cow;

/// Returns true for characters that a terminal obeys: control characters, except for the end of a line and the tabulator, and those
/// that change the direction of text.
fn is_obeyed(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
}

/// Returns the text with `\u001b` in place of an escape character, and so on. Within a text of JSON that means the same.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_obeyed(c) {
            true => shown += &format!("\\u{:04x}", u32::from(c)),
            false => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// Like [`plain`], but keeps the sequences that choose colours.
pub(crate) fn plain_with_colours(text: &str) -> String {
    const START: &str = "\u{1b}[";
    let mut parts = text.split(START);
    let mut shown = plain(parts.next().unwrap_or_default()).into_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_digit() && c != ';');
        match end.filter(|&end| part[end..].starts_with('m')) {
            Some(end) => {
                shown += START;
                shown += &part[..=end];
                shown += &plain(&part[end + 1..]);
            }
            None => {
                shown += &plain(START);
                shown += &plain(part);
            }
        }
    }
    shown
}

/// Makes bytes that come in pieces plain. A character may be in two pieces.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    /// The beginning of a character.
    begun: Vec<u8>,
}

impl Pieces {
    /// Returns what to print after one more piece. Bytes that are not UTF-8 become U+FFFD.
    pub(crate) fn next<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let all: Cow<'a, [u8]> = match self.begun.is_empty() {
            true => Cow::Borrowed(bytes),
            false => Cow::Owned([std::mem::take(&mut self.begun).as_slice(), bytes].concat()),
        };
        if let Ok(text) = std::str::from_utf8(&all)
            && !text.contains(is_obeyed)
        {
            return all;
        }
        let mut shown = String::with_capacity(all.len());
        for chunk in all.utf8_chunks() {
            shown += &plain(chunk.valid());
            let invalid = chunk.invalid();
            let is_last = std::ptr::eq(invalid.as_ptr_range().end, all.as_ptr_range().end);
            let begins = |bytes: &[u8]| std::str::from_utf8(bytes).is_err_and(|e| e.error_len().is_none());
            match invalid {
                [] => {}
                some if is_last && begins(some) => self.begun.extend_from_slice(some),
                _ => shown.push(char::REPLACEMENT_CHARACTER),
            }
        }
        Cow::Owned(shown.into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_are_shown_and_text_stays() {
        assert_eq!(plain("é\t😀\n"), "é\t😀\n");
        assert_eq!(plain("a\u{1b}]0;x\u{7}\r\u{9b}\u{202e}b"), "a\\u001b]0;x\\u0007\\u000d\\u009b\\u202eb");
    }

    #[test]
    fn colours_stay_and_other_sequences_are_shown() {
        let text = "\u{1b}[1;31merror\u{1b}[0m: \u{1b}[2J\u{1b}]0;x\u{7}";
        assert_eq!(plain_with_colours(text), "\u{1b}[1;31merror\u{1b}[0m: \\u001b[2J\\u001b]0;x\\u0007");
    }

    #[test]
    fn pieces_are_as_the_whole() {
        let text = "é\u{9b}😀\u{1b}[2J\u{202e}z".as_bytes();
        for cut in 0..=text.len() {
            let mut pieces = Pieces::default();
            let shown =
                [pieces.next(&text[..cut]).into_owned(), pieces.next(&text[cut..]).into_owned()].concat();
            assert_eq!(String::from_utf8(shown).unwrap(), "é\\u009b😀\\u001b[2J\\u202ez", "{cut}");
        }
        assert_eq!(Pieces::default().next(&[0xff, b'a']).as_ref(), "\u{fffd}a".as_bytes());
    }
}
