//! [`PcapWriter`]: classic pcap in nanoseconds.

use std::io::Write;

use pcap_file::pcap::PcapHeader;
use pcap_file::{DataLink, Endianness, TsResolution};

use super::WriteError;
use super::sink::Sink;
use crate::capture::CaptureTime;

/// Snap length in the file header. It is above the length of any frame, because no frame was truncated by a snap
/// length.
const SNAP_LEN: u32 = 1 << 20;

/// Writes Ethernet frames to a little-endian nanosecond pcap. Call [`finish`](Self::finish), or the last
/// frames are lost.
pub struct PcapWriter<W: Write> {
    sink: Sink<W>,
}

impl<W: Write> PcapWriter<W> {
    /// Starts a file on `out`, which needs no buffer.
    pub fn new(out: W) -> Result<Self, WriteError> {
        let mut sink = Sink::new(out);
        PcapHeader {
            snaplen: SNAP_LEN,
            datalink: DataLink::ETHERNET,
            ts_resolution: TsResolution::NanoSecond,
            endianness: Endianness::Little,
            ..PcapHeader::default()
        }
        .write_to(sink.buffer())?;
        Ok(Self { sink })
    }

    /// Writes one frame, given as two pieces, that had `orig_len` bytes on the wire (at least the bytes written). The
    /// timestamp is rounded down to a nanosecond.
    ///
    /// # Errors
    /// Fails if the timestamp is after 2106-02-07, if the frame is longer than
    /// [`MAX_FRAME_LEN`](crate::capture::MAX_FRAME_LEN), or if the output fails. A refused frame changes nothing in the
    /// file.
    #[inline]
    pub fn write(
        &mut self,
        time: CaptureTime,
        head: &[u8],
        tail: &[u8],
        orig_len: u32,
    ) -> Result<(), WriteError> {
        let (packet, captured) = self.sink.start_packet(head, tail)?;
        let (seconds, fraction) = time.as_secs_and_ns();
        let Ok(seconds) = u32::try_from(seconds) else {
            return Err(WriteError::Time { packet, found: seconds, limit: u64::from(u32::MAX) });
        };
        let mut header = [0; 16];
        header[..4].copy_from_slice(&seconds.to_le_bytes());
        header[4..8].copy_from_slice(&fraction.to_le_bytes());
        header[8..12].copy_from_slice(&captured.to_le_bytes());
        header[12..].copy_from_slice(&orig_len.max(captured).to_le_bytes());
        let buffer = self.sink.buffer();
        buffer.extend_from_slice(&header);
        buffer.extend_from_slice(head);
        buffer.extend_from_slice(tail);
        self.sink.end_packet();
        Ok(())
    }

    /// Returns the number of packets written so far.
    pub fn packets(&self) -> u64 {
        self.sink.packets()
    }

    /// Writes the buffered bytes, flushes the output and returns it.
    pub fn finish(self) -> Result<W, WriteError> {
        self.sink.finish()
    }
}
