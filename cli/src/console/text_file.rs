//! Reads files of text: one reader, with one limit, for all inputs that are read whole.

use crate::console::fail::Failure;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Most bytes of a file that is read whole, unless `--max-text` states another number.
pub(crate) const MAX_TEXT: u64 = 256 << 20;
static LIMIT: AtomicU64 = AtomicU64::new(MAX_TEXT);
/// Bytes that are read before they are looked at.
const PIECE: u64 = 1 << 20;

/// Sets the most bytes of a file that is read whole.
pub(crate) fn set_limit(bytes: u64) {
    LIMIT.store(bytes, Ordering::Relaxed);
}

/// Returns the content of a file.
pub(crate) fn bytes(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    content(path.as_ref(), |_| Ok(()))
}

/// Returns the text of a file without a byte-order mark.
pub(crate) fn text(path: impl AsRef<Path>) -> io::Result<String> {
    // A device of endless zeros ends with its first piece.
    let content = content(path.as_ref(), |piece| match piece.contains(&0) {
        true => Err(io::Error::new(ErrorKind::InvalidData, "the file has a byte of zero")),
        false => Ok(()),
    })?;
    let mut text = String::from_utf8(content).map_err(|e| io::Error::new(ErrorKind::InvalidData, e))?;
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
}

/// Like [`text`], with the error of a command.
pub(crate) fn read_text(path: impl AsRef<Path>) -> Result<String, Failure> {
    let path = path.as_ref();
    text(path).map_err(|e| Failure::file("read", path, &e))
}

fn content(path: &Path, check: impl Fn(&[u8]) -> io::Result<()>) -> io::Result<Vec<u8>> {
    let (limit, mut file) = (LIMIT.load(Ordering::Relaxed), File::open(path)?);
    let mut content = Vec::new();
    loop {
        let begin = content.len();
        if (&mut file).take(PIECE).read_to_end(&mut content)? == 0 {
            return Ok(content);
        }
        check(&content[begin..])?;
        if content.len() as u64 > limit {
            return Err(io::Error::other(format!(
                "it has more than {limit} bytes; --max-text BYTES raises the limit"
            )));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_dropped_and_zeros_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "\u{feff}a\r\nb\u{feff}").unwrap();
        assert_eq!(text(file.path()).unwrap(), "a\r\nb\u{feff}");
        for wrong in [&b"a\0b"[..], &[0xff, b'a']] {
            std::fs::write(file.path(), wrong).unwrap();
            assert_eq!(text(file.path()).unwrap_err().kind(), ErrorKind::InvalidData);
            assert_eq!(bytes(file.path()).unwrap(), wrong);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn devices_without_an_end_are_refused() {
        assert_eq!(text("/dev/zero").unwrap_err().kind(), ErrorKind::InvalidData);
        let error = bytes("/dev/zero").unwrap_err().to_string();
        assert_eq!(error, "it has more than 268435456 bytes; --max-text BYTES raises the limit");
    }
}
