//! SHA-256 in hexadecimal digits.

use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Bytes that are read at once.
const PIECE: usize = 1 << 16;

/// Returns the digest of some bytes.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    digits(Sha256::new_with_prefix(bytes))
}

/// Returns the digest of a file's content.
pub(crate) fn sha256_of_file(path: &Path) -> io::Result<String> {
    let (mut file, mut digest, mut piece) = (File::open(path)?, Sha256::new(), vec![0; PIECE]);
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(digits(digest)),
            length => digest.update(&piece[..length]),
        }
    }
}

fn digits(digest: Sha256) -> String {
    digest.finalize().iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing into a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
