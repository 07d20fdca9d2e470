//! Bytes of an expected packet, some of which may have any value.

use std::fmt;

/// Bytes that a packet must begin with, or be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pattern {
    /// Half bytes in order, each as value and mask; bits outside the mask may have any value.
    nibbles: Vec<(u8, u8)>,
    /// True if the packet must end where the pattern ends.
    exact: bool,
}

impl Pattern {
    /// Reads words of hexadecimal digits. `*` is a half byte of any value, `.01*1` are bits, and `$` stands for the packet's end.
    ///
    /// # Errors
    /// Names the first word that is none of these, and why.
    pub fn parse<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<Pattern, String> {
        let mut pattern = Pattern::default();
        for word in words {
            if pattern.exact {
                return Err(format!("`{word}` comes after `$`, which is the end of the packet"));
            }
            pattern.word(word)?;
        }
        if !pattern.nibbles.len().is_multiple_of(2) {
            return Err("the bytes end with half a byte".to_owned());
        }
        Ok(pattern)
    }

    /// Returns the pattern of a packet with exactly these bytes.
    #[must_use]
    pub fn exactly(bytes: &[u8]) -> Pattern {
        let nibbles = bytes.iter().flat_map(|byte| [(byte >> 4, 0xf), (byte & 0xf, 0xf)]).collect();
        Pattern { nibbles, exact: true }
    }

    fn word(&mut self, word: &str) -> Result<(), String> {
        let (word_bits, bits) = word.strip_prefix('.').map_or((word, false), |bits| (bits, true));
        let (digits, exact) = word_bits.strip_suffix('$').map_or((word_bits, false), |rest| (rest, true));
        self.exact = exact;
        if bits {
            return self.bits(digits);
        }
        for digit in digits.chars().filter(|digit| *digit != '_') {
            self.nibbles.push(match (digit, digit.to_digit(16)) {
                ('*', _) => (0, 0),
                (_, Some(value)) => (value as u8, 0xf),
                (other, None) => {
                    return Err(format!("`{other}` in `{word}` is no hexadecimal digit, `*` or `$`"));
                }
            });
        }
        Ok(())
    }

    fn bits(&mut self, digits: &str) -> Result<(), String> {
        let bits: Vec<char> = digits.chars().collect();
        if !bits.len().is_multiple_of(4) {
            return Err(format!("`.{digits}` has {} bits, which are not whole half bytes", bits.len()));
        }
        for four in bits.chunks(4) {
            let mut nibble = (0, 0);
            for bit in four {
                let (value, mask) = match bit {
                    '0' => (0, 1),
                    '1' => (1, 1),
                    '*' => (0, 0),
                    other => return Err(format!("`{other}` in `.{digits}` is no bit: 0, 1 or `*`")),
                };
                nibble = (nibble.0 << 1 | value, nibble.1 << 1 | mask);
            }
            self.nibbles.push(nibble);
        }
        Ok(())
    }

    /// Returns true if a packet has these bytes.
    #[must_use]
    pub fn matches(&self, packet: &[u8]) -> bool {
        let length = self.nibbles.len() / 2;
        let fits = if self.exact { packet.len() == length } else { packet.len() >= length };
        let found = packet.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
        fits && self.nibbles.iter().zip(found).all(|((value, mask), found)| found & mask == *value)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (value, mask)) in self.nibbles.iter().enumerate() {
            if at > 0 && at % 8 == 0 {
                f.write_str(" ")?;
            }
            match mask {
                0 => f.write_str("*")?,
                0xf => write!(f, "{value:x}")?,
                // Part of a half byte: the test named its bits.
                _ => write!(f, "[{value:04b} under {mask:04b}]")?,
            }
        }
        f.write_str(if self.exact { " $" } else { "" })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::Pattern;

    fn matches(pattern: &str, packet: &[u8]) -> bool {
        Pattern::parse(pattern.split_whitespace()).unwrap().matches(packet)
    }

    #[test]
    fn digits_any_digits_bits_and_the_end() {
        assert!(matches("0102 ff", &[1, 2, 0xff, 7]));
        assert!(!matches("0102 ff$", &[1, 2, 0xff, 7]));
        assert!(matches("0102 ff $", &[1, 2, 0xff]));
        assert!(!matches("0102ff", &[1, 2]));
        assert!(matches("*1 **", &[0x51, 9]));
        assert!(!matches("*1 **", &[0x52, 9]));
        assert!(matches(".0001***1", &[0x1b]));
        assert!(!matches(".0001***1", &[0x1a]));
        assert!(matches("", &[1]));
        assert!(!matches("$", &[1]));
    }

    #[test]
    fn mistakes_name_the_word() {
        let wrong = |text: &str| Pattern::parse(text.split_whitespace()).unwrap_err();
        assert_eq!(wrong("01 0g"), "`g` in `0g` is no hexadecimal digit, `*` or `$`");
        assert_eq!(wrong("01 0"), "the bytes end with half a byte");
        assert_eq!(wrong("01$ 02"), "`02` comes after `$`, which is the end of the packet");
        assert_eq!(wrong(".012"), "`.012` has 3 bits, which are not whole half bytes");
        assert_eq!(wrong(".0121"), "`2` in `.0121` is no bit: 0, 1 or `*`");
    }
}
