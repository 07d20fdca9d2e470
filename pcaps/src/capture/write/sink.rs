//! Buffer and checks that both writers share.

use std::io::{self, Write};

use super::WriteError;
use crate::capture::MAX_FRAME_LEN;

/// Bytes gathered before they go to the output.
const FLUSH_AT: usize = 64 << 10;

/// Collects records in one buffer, which is allocated once.
pub(super) struct Sink<W> {
    out: W,
    buffer: Vec<u8>,
    packets: u64,
}

impl<W: Write> Sink<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out, buffer: Vec::with_capacity(FLUSH_AT + (16 << 10)), packets: 0 }
    }

    /// Starts the next packet: its number and captured length. Makes room in the buffer.
    #[inline]
    pub(super) fn start_packet(&mut self, head: &[u8], tail: &[u8]) -> Result<(u64, u32), WriteError> {
        let (packet, found) = (self.packets + 1, head.len() + tail.len());
        if found > MAX_FRAME_LEN as usize {
            return Err(WriteError::FrameLength { packet, found, limit: MAX_FRAME_LEN as usize });
        }
        if self.buffer.len() >= FLUSH_AT {
            self.drain()?;
        }
        Ok((packet, found as u32))
    }

    /// Counts a packet that is now in the buffer.
    #[inline]
    pub(super) fn end_packet(&mut self) {
        self.packets += 1;
    }

    pub(super) fn packets(&self) -> u64 {
        self.packets
    }

    #[inline]
    pub(super) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    #[cold]
    fn drain(&mut self) -> io::Result<()> {
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    /// Hands everything to the output and flushes it.
    pub(super) fn finish(mut self) -> Result<W, WriteError> {
        self.drain()?;
        self.out.flush()?;
        Ok(self.out)
    }
}
