//! Options of packet blocks, encoded directly into the buffer.

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

/// End of a packet block without comments, after its data: padding, then `epb_flags` and the end marker if there are
/// flags, then the block's length. Most blocks have this form, and one copy writes it.
pub(super) struct BlockEnd {
    bytes: [u8; BlockEnd::MOST],
    len: usize,
}

impl BlockEnd {
    const MOST: usize = 3 + 8 + 4 + 4;

    /// Creates the end of a block with `captured` bytes of data. The block's length is set later.
    #[inline]
    pub(super) fn new(captured: u32, flags: Option<u32>) -> BlockEnd {
        let mut end = BlockEnd { bytes: [0; BlockEnd::MOST], len: captured.wrapping_neg() as usize % 4 };
        if let Some(flags) = flags {
            let option = &mut end.bytes[end.len..end.len + 8];
            option[..2].copy_from_slice(&EPB_FLAGS.to_le_bytes());
            option[2..4].copy_from_slice(&4u16.to_le_bytes());
            option[4..].copy_from_slice(&flags.to_le_bytes());
            end.len += 8 + OPT_END.len();
        }
        end.len += 4;
        end
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// Writes the end of a block of `block` bytes.
    #[inline]
    pub(super) fn write(mut self, buffer: &mut Vec<u8>, block: u32) {
        self.bytes[self.len - 4..self.len].copy_from_slice(&block.to_le_bytes());
        buffer.extend_from_slice(&self.bytes[..self.len]);
    }
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
