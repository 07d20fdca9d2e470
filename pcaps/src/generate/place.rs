//! Line and column of a place in a text, for errors.

use super::FileError;

/// A text and the name of the file that it comes from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) file: &'a str,
    pub(super) text: &'a str,
}

impl Source<'_> {
    /// Creates the error for a problem at this byte.
    pub(super) fn error(&self, byte: usize, what: impl std::fmt::Display) -> FileError {
        let mut byte = byte.min(self.text.len());
        while !self.text.is_char_boundary(byte) {
            byte -= 1;
        }
        let before = &self.text[..byte];
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        FileError {
            file: self.file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            what: what.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one() {
        let source = Source { file: "f", text: "ab\ncäd" };
        let place = |byte| source.error(byte, "x").to_string();
        assert_eq!((place(0), place(1)), ("f:1:1: x".into(), "f:1:2: x".into()));
        assert_eq!((place(3), place(5), place(6)), ("f:2:1: x".into(), "f:2:2: x".into(), "f:2:3: x".into()));
        assert_eq!(place(99), "f:2:4: x");
    }
}
