//! Reader over a part of a frame that knows its offset in the frame.

use super::IntError;

/// Bytes of a frame from some offset on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bytes<'a> {
    data: &'a [u8],
    /// Offset of `data` in the frame.
    pub(super) offset: usize,
}

impl<'a> Bytes<'a> {
    pub(super) fn new(data: &'a [u8], offset: usize) -> Self {
        Bytes { data, offset }
    }

    pub(super) fn left(&self) -> usize {
        self.data.len()
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.data
    }

    /// Takes the next `count` bytes as a separate reader.
    pub(super) fn take(&mut self, what: &'static str, count: usize) -> Result<Bytes<'a>, IntError> {
        let Some((head, tail)) = self.data.split_at_checked(count) else {
            return Err(IntError {
                offset: self.offset,
                what,
                found: self.data.len() as u64,
                expected: format!("{count} bytes"),
            });
        };
        let taken = Bytes::new(head, self.offset);
        *self = Bytes::new(tail, self.offset + count);
        Ok(taken)
    }

    /// Returns the next `count` (at most 8) bytes as a number.
    pub(super) fn number(&mut self, what: &'static str, count: usize) -> Result<u64, IntError> {
        let taken = self.take(what, count)?;
        Ok(taken.data.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    pub(super) fn u8(&mut self, what: &'static str) -> Result<u8, IntError> {
        Ok(self.number(what, 1)? as u8)
    }

    pub(super) fn u16(&mut self, what: &'static str) -> Result<u16, IntError> {
        Ok(self.number(what, 2)? as u16)
    }

    pub(super) fn u32(&mut self, what: &'static str) -> Result<u32, IntError> {
        Ok(self.number(what, 4)? as u32)
    }
}
