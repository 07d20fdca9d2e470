//! Options of packet blocks, written straight into the buffer.

use super::WriteError;

const OPT_END: [u8; 4] = [0; 4];
const OPT_COMMENT: u16 = 1;
const EPB_FLAGS: u16 = 2;

/// Longest text that an option holds, in bytes.
pub(super) const MAX_TEXT: usize = u16::MAX as usize;

/// Refuses a text that no option can hold.
#[inline]
pub(super) fn check_text(text: &str) -> Result<(), WriteError> {
    let found = text.len();
    if found > MAX_TEXT { Err(WriteError::Text { found, limit: MAX_TEXT }) } else { Ok(()) }
}

/// Writes `epb_flags` and the comments, whose lengths have been checked, and the end marker; nothing if there
/// is neither.
#[inline]
pub(super) fn packet_options(buffer: &mut Vec<u8>, flags: Option<u32>, comments: &[&str]) {
    if flags.is_none() && comments.is_empty() {
        return;
    }
    if let Some(flags) = flags {
        option(buffer, EPB_FLAGS, &flags.to_le_bytes());
    }
    for comment in comments {
        option(buffer, OPT_COMMENT, comment.as_bytes());
    }
    buffer.extend_from_slice(&OPT_END);
}

#[inline]
fn option(buffer: &mut Vec<u8>, code: u16, value: &[u8]) {
    buffer.extend_from_slice(&code.to_le_bytes());
    buffer.extend_from_slice(&(value.len() as u16).to_le_bytes());
    buffer.extend_from_slice(value);
    pad(buffer, value.len());
}

/// Pads an item of `len` bytes to a multiple of four.
#[inline]
pub(super) fn pad(buffer: &mut Vec<u8>, len: usize) {
    buffer.extend_from_slice(&[0; 3][..len.next_multiple_of(4) - len]);
}
