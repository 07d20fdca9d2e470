//! [`TraceWriter`]: one stream of Ethernet frames, in any of the formats that the generators offer.

use std::io::Write;

use pcap_file::pcap::PcapHeader;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::section_header::SectionHeaderBlock;
use pcap_file::{DataLink, Endianness, TsResolution};

use super::options::pad;
use super::sink::Sink;
use super::{CaptureWriter, InterfaceSpec, Packet, PcapWriter, WriteError};
use crate::capture::{CaptureTime, MAX_FRAME_LEN};

const PS_PER_S: u128 = 1_000_000_000_000;
const ENHANCED_PACKET: u32 = 6;
/// `if_tsresol` of picoseconds.
const TSRESOL_PS: u8 = 12;

/// Container and resolution of timestamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceFormat {
    /// pcapng in nanoseconds.
    Pcapng,
    /// pcapng in picoseconds since the second of the trace's start. Exact, but tools that convert timestamps in 64 bits
    /// show wrong fractions of a second (Wireshark 4.0 does).
    PcapngPs,
    /// Classic pcap in nanoseconds.
    Pcap,
    /// Classic pcap in microseconds.
    PcapUs,
}

impl TraceFormat {
    /// Returns the picoseconds in one unit of a timestamp.
    pub const fn resolution_ps(self) -> u64 {
        match self {
            Self::PcapngPs => 1,
            Self::Pcapng | Self::Pcap => 1_000,
            Self::PcapUs => 1_000_000,
        }
    }
}

/// Writer of frames of one interface. The caller must call [`finish`](Self::finish), otherwise the last frames are
/// lost.
pub struct TraceWriter<W: Write>(Inner<W>);

enum Inner<W: Write> {
    Pcapng(CaptureWriter<W>),
    Pcap(PcapWriter<W>),
    PcapngPs { sink: Sink<W>, origin: CaptureTime },
    PcapUs(Sink<W>),
}

impl<W: Write> TraceWriter<W> {
    /// Starts a file on `out`, which needs no buffer. No frame may be before the second of `start`.
    pub fn new(out: W, format: TraceFormat, start: CaptureTime) -> Result<Self, WriteError> {
        Ok(Self(match format {
            TraceFormat::Pcapng => Inner::Pcapng(CaptureWriter::new(out, &[InterfaceSpec::default()])?),
            TraceFormat::Pcap => Inner::Pcap(PcapWriter::new(out)?),
            TraceFormat::PcapngPs => {
                let seconds = (start.as_ps() / PS_PER_S) as u64;
                let mut sink = Sink::new(out);
                let section =
                    SectionHeaderBlock { endianness: Endianness::Little, ..SectionHeaderBlock::default() };
                let mut blocks = PcapNgWriter::with_section_header(Vec::new(), section)?;
                let options = vec![
                    InterfaceDescriptionOption::IfTsResol(TSRESOL_PS),
                    InterfaceDescriptionOption::IfTsOffset(seconds),
                ];
                blocks.write_pcapng_block(InterfaceDescriptionBlock {
                    linktype: DataLink::ETHERNET,
                    snaplen: 0,
                    options,
                })?;
                sink.buffer().append(blocks.get_mut());
                Inner::PcapngPs { sink, origin: CaptureTime::from_secs(seconds) }
            }
            TraceFormat::PcapUs => {
                let mut sink = Sink::new(out);
                PcapHeader {
                    snaplen: MAX_FRAME_LEN,
                    datalink: DataLink::ETHERNET,
                    ts_resolution: TsResolution::MicroSecond,
                    endianness: Endianness::Little,
                    ..PcapHeader::default()
                }
                .write_to(sink.buffer())?;
                Inner::PcapUs(sink)
            }
        }))
    }

    /// Writes one frame. The timestamp is rounded down to the format's resolution.
    ///
    /// # Errors
    /// Fails if the timestamp is beyond the format's range, if the frame is longer than [`MAX_FRAME_LEN`], or if the
    /// output fails.
    #[inline]
    pub fn write(&mut self, time: CaptureTime, frame: &[u8]) -> Result<(), WriteError> {
        let orig_len = frame.len() as u32;
        match &mut self.0 {
            Inner::Pcapng(writer) => {
                writer.write(&Packet { time, head: frame, orig_len, ..Packet::default() })
            }
            Inner::Pcap(writer) => writer.write(time, frame, &[], orig_len),
            Inner::PcapngPs { sink, origin } => {
                let (packet, captured) = sink.start_packet(frame, &[])?;
                let seconds = |time: CaptureTime| time.as_ps() / PS_PER_S;
                let ticks = time.ps_since(*origin).ok_or(WriteError::Time {
                    packet,
                    found: seconds(time) as _,
                    limit: (seconds(*origin) + u128::from(u64::MAX) / PS_PER_S) as _,
                })?;
                enhanced_packet(sink.buffer(), ticks, captured, frame);
                sink.end_packet();
                Ok(())
            }
            Inner::PcapUs(sink) => {
                let (packet, captured) = sink.start_packet(frame, &[])?;
                let us = time.as_ns() / 1_000;
                let (seconds, fraction) = (us / 1_000_000, (us % 1_000_000) as u32);
                let Ok(seconds) = u32::try_from(seconds) else {
                    return Err(WriteError::Time { packet, found: seconds as _, limit: u32::MAX.into() });
                };
                let buffer = sink.buffer();
                for word in [seconds, fraction, captured, captured] {
                    buffer.extend_from_slice(&word.to_le_bytes());
                }
                buffer.extend_from_slice(frame);
                sink.end_packet();
                Ok(())
            }
        }
    }

    /// Writes the buffered bytes, flushes the output and returns it.
    pub fn finish(self) -> Result<W, WriteError> {
        match self.0 {
            Inner::Pcapng(writer) => writer.finish(&[]),
            Inner::Pcap(writer) => writer.finish(),
            Inner::PcapngPs { sink, .. } | Inner::PcapUs(sink) => sink.finish(),
        }
    }
}

/// Writes an enhanced packet block of interface 0 without options.
fn enhanced_packet(buffer: &mut Vec<u8>, ticks: u64, captured: u32, frame: &[u8]) {
    let len = 32 + captured.next_multiple_of(4);
    for word in [ENHANCED_PACKET, len, 0, (ticks >> 32) as u32, ticks as u32, captured, captured] {
        buffer.extend_from_slice(&word.to_le_bytes());
    }
    buffer.extend_from_slice(frame);
    pad(buffer, frame.len());
    buffer.extend_from_slice(&len.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::CaptureReader;

    #[test]
    fn every_format_is_read_back_at_its_resolution() {
        let start = CaptureTime::from_secs(1_700_000_000);
        let times = [1, 999_999_999_999, 1_234_567_891_234];
        let formats = [TraceFormat::Pcapng, TraceFormat::PcapngPs, TraceFormat::Pcap, TraceFormat::PcapUs];
        for format in formats {
            let mut writer = TraceWriter::new(Vec::new(), format, start).unwrap();
            for (len, ps) in (60..).zip(times) {
                writer.write(start.checked_add_ps(ps).unwrap(), &vec![7; len]).unwrap();
            }
            let bytes = writer.finish().unwrap();
            let mut reader = CaptureReader::from_bytes(&bytes, "test").unwrap();
            for (len, ps) in (60..).zip(times) {
                let frame = reader.next_frame().unwrap().unwrap();
                assert_eq!((frame.data, frame.orig_len), (&vec![7; len][..], len as u32));
                let unit = format.resolution_ps();
                assert_eq!(frame.time.ps_since(start), Some(ps / unit * unit), "{format:?}");
            }
            assert!(reader.next_frame().unwrap().is_none());
        }
    }

    #[test]
    fn stamps_that_do_not_fit_are_refused() {
        let late = CaptureTime::from_secs(1 << 33);
        let mut writer = TraceWriter::new(Vec::new(), TraceFormat::PcapUs, late).unwrap();
        assert!(matches!(writer.write(late, &[0; 60]), Err(WriteError::Time { packet: 1, .. })));
        let mut writer = TraceWriter::new(Vec::new(), TraceFormat::PcapngPs, late).unwrap();
        assert!(matches!(writer.write(CaptureTime::EPOCH, &[0; 60]), Err(WriteError::Time { .. })));
    }
}
