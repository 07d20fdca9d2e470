//! [`CaptureReader`]: recognises the format and returns the frames. Modules `classic` and `pcapng` decode the formats.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::MAX_FRAME_LEN;
use super::classic::{self, Classic};
use super::cooked;
use super::error::{CaptureError, CaptureFault};
use super::interface::Interface;
use super::oddity::{Oddities, Oddity};
use super::pcapng::{self, Pcapng};
use super::time::CaptureTime;
use super::unpack::Packing;
use super::window::Window;

/// One captured frame, borrowed from its reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The bytes captured, from the destination address on, without frame check sequence; may be empty.
    pub data: &'a [u8],
    /// Bytes that the frame had on the wire, without frame check sequence; never less than `data.len()` nor more
    /// than [`MAX_FRAME_LEN`].
    pub orig_len: u32,
    /// Time at which the first bit was on the wire.
    pub time: CaptureTime,
    /// Index into [`CaptureReader::interfaces`], counted over all sections of the file.
    pub interface: u32,
    /// Number of the packet record, from 1.
    pub record: u64,
    /// Byte offset of the record or block in the file, or in the unpacked data if the file is compressed.
    pub offset: u64,
}

/// The container format of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Classic pcap with timestamps in microseconds.
    PcapMicros,
    /// Classic pcap with timestamps in nanoseconds.
    PcapNanos,
    /// pcapng.
    Pcapng,
}

/// Place at which a capture was cut inside its last record, or inside its compressed data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TruncatedTail {
    /// Number that the packet record would have had, from 1.
    pub record: u64,
    /// Byte offset at which it starts.
    pub offset: u64,
    /// Bytes of the record that are present.
    pub found: u64,
    /// Bytes of the record that are known to be needed; 1 if compressed data ends between two records.
    pub needed: u64,
}

/// Decoded packet record, whose time is still in ticks.
pub(super) struct Record {
    /// Start of the data, from the window's position.
    pub(super) data_at: usize,
    pub(super) captured: u32,
    pub(super) original: u32,
    /// Index into the table of interfaces.
    pub(super) interface: usize,
    pub(super) ticks: Option<u64>,
    /// Bytes of the whole record.
    pub(super) len: usize,
}

/// Item that a decoder found at the window's position.
pub(super) enum Step {
    Record(Record),
    End,
    Cut { needed: usize },
}

enum Decoder {
    Classic(Classic),
    Pcapng(Pcapng),
}

/// Reads the frames of a pcap or pcapng capture, in the order of the file and in bounded memory. A capture that is
/// compressed with gzip or zstd is unpacked as it is read.
///
/// A capture that was cut inside its last record returns the frames before the cut; [`truncated`](Self::truncated) then
/// has the place. Any other fault is an error, which is final: the reader returns no frame after it. Irregularities of
/// readable records are counted in [`oddities`](Self::oddities).
///
/// Frames of Linux's cooked captures (SLL, SLL2) get an Ethernet header of [`SYNTHESISED_HOST`](super::SYNTHESISED_HOST), the
/// sender's address, and the protocol.
///
/// The time-zone and accuracy fields of a classic header are not applied; no known writer sets them.
pub struct CaptureReader<'a> {
    name: Box<str>,
    format: Format,
    packing: Option<Packing>,
    window: Window<'a>,
    decoder: Decoder,
    interfaces: Vec<Interface>,
    current: Option<Current>,
    /// The current frame, if the window has it with another header.
    made: Vec<u8>,
    records: u64,
    last_time: CaptureTime,
    oddities: Oddities,
    truncated: Option<TruncatedTail>,
    finished: bool,
}

/// Frame at the window's position.
#[derive(Clone, Copy)]
struct Current {
    data_at: usize,
    data_len: usize,
    /// True if the frame is in `made`.
    is_made: bool,
    orig_len: u32,
    interface: u32,
    time: CaptureTime,
    len: usize,
}

impl CaptureReader<'static> {
    /// Opens the file at `path` and reads its header.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, CaptureError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        match File::open(path) {
            Ok(file) => Self::from_read(file, name),
            Err(error) => Err(at(name.into(), 0, 0, CaptureFault::Io(error))),
        }
    }
}

impl<'a> CaptureReader<'a> {
    /// Reads a capture from any source; errors call it `name`. The source needs no buffer.
    pub fn from_read(source: impl Read + Send + 'a, name: impl Into<String>) -> Result<Self, CaptureError> {
        Self::over(Window::over_stream(source), name.into().into())
    }

    /// Reads a capture in memory without copying it; errors call it `name`.
    pub fn from_bytes(bytes: &'a [u8], name: impl Into<String>) -> Result<Self, CaptureError> {
        Self::over(Window::over_bytes(bytes), name.into().into())
    }

    fn over(window: Window<'a>, name: Box<str>) -> Result<Self, CaptureError> {
        let (mut window, packing) = match unpack(window) {
            Ok(unpacked) => unpacked,
            Err(fault) => return Err(at(name, 0, 0, fault)),
        };
        let mut interfaces = Vec::new();
        let (format, decoder) = match open_decoder(&mut window, &mut interfaces) {
            Ok(opened) => opened,
            Err(fault) => return Err(at(name, 0, window.offset(), fault)),
        };
        Ok(Self {
            name,
            format,
            packing,
            window,
            decoder,
            interfaces,
            current: None,
            made: Vec::new(),
            records: 0,
            last_time: CaptureTime::EPOCH,
            oddities: Oddities::default(),
            truncated: None,
            finished: false,
        })
    }

    /// Returns the next frame; `None` at the end, and in every call after the end or after an error.
    #[inline]
    pub fn next_frame(&mut self) -> Result<Option<Frame<'_>>, CaptureError> {
        self.advance()?;
        Ok(self.frame())
    }

    /// Moves to the next frame, which [`frame`](Self::frame) then returns; returns false if there is none.
    #[inline]
    pub fn advance(&mut self) -> Result<bool, CaptureError> {
        if let Some(last) = self.current.take() {
            self.window.consume(last.len);
        }
        if self.finished {
            return Ok(false);
        }
        match self.step() {
            Ok(Some(current)) => {
                self.current = Some(current);
                Ok(true)
            }
            Ok(None) => {
                self.finished = true;
                Ok(false)
            }
            Err(fault) => {
                self.finished = true;
                Err(at(self.name.clone(), self.records + 1, self.window.offset(), fault))
            }
        }
    }

    /// Returns the current frame; `None` before the first step, after the end, and after an error.
    #[inline]
    pub fn frame(&self) -> Option<Frame<'_>> {
        self.current.as_ref().map(|current| Frame {
            data: match current.is_made {
                true => &self.made[..current.data_len],
                false => &self.window.bytes()[current.data_at..current.data_at + current.data_len],
            },
            orig_len: current.orig_len,
            time: current.time,
            interface: current.interface,
            record: self.records,
            offset: self.window.offset(),
        })
    }

    /// Returns the name given to the reader.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the container format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Returns the compression of the capture; `None` if it is not compressed.
    pub fn packing(&self) -> Option<Packing> {
        self.packing
    }

    /// Returns the bytes that were read from the source before unpacking, for a progress display. The reader reads
    /// ahead.
    pub fn source_bytes(&self) -> u64 {
        self.window.taken()
    }

    /// Returns the interfaces described so far, over all sections.
    pub fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    /// Returns the number of frames so far.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Returns the place at which the capture was cut inside its last record. It is known after the end was reached.
    pub fn truncated(&self) -> Option<TruncatedTail> {
        self.truncated
    }

    /// Returns the irregularities found so far.
    pub fn oddities(&self) -> &Oddities {
        &self.oddities
    }

    #[inline]
    fn step(&mut self) -> Result<Option<Current>, CaptureFault> {
        let step = match &mut self.decoder {
            Decoder::Classic(decoder) => decoder.next(&mut self.window)?,
            Decoder::Pcapng(decoder) => decoder.next(&mut self.window, &mut self.interfaces)?,
        };
        match step {
            Step::Record(record) => self.accept(record).map(Some),
            Step::End if !self.window.cut() => Ok(None),
            Step::End | Step::Cut { .. } => {
                let needed = if let Step::Cut { needed } = step { needed } else { 1 };
                self.truncated = Some(TruncatedTail {
                    record: self.records + 1,
                    offset: self.window.offset(),
                    found: self.window.bytes().len() as u64,
                    needed: needed as u64,
                });
                Ok(None)
            }
        }
    }

    #[inline]
    fn accept(&mut self, record: Record) -> Result<Current, CaptureFault> {
        let interface = &self.interfaces[record.interface];
        interface.check_ethernet()?;
        let time = match record.ticks {
            Some(ticks) => interface.time(ticks)?,
            None => self.last_time,
        };
        let number = self.records + 1;
        if record.ticks.is_none() {
            self.oddities.note(Oddity::NoTimestamp, number);
        }
        if record.captured > record.original {
            self.oddities.note(Oddity::IncludedBeyondOriginal, number);
        }
        if interface.snap_len != 0 && record.captured > interface.snap_len {
            self.oddities.note(Oddity::IncludedBeyondSnap, number);
        }
        if time < self.last_time {
            self.oddities.note(Oddity::TimeBackwards, number);
        }
        let original = if record.original > MAX_FRAME_LEN {
            self.oddities.note(Oddity::ImplausibleOriginal, number);
            record.captured
        } else {
            record.original.max(record.captured)
        };
        let (mut captured, mut original) = (record.captured, original);
        let cooked = cooked::header_len(interface.link_type);
        if let Some(header) = cooked {
            let bytes = &self.window.bytes()[record.data_at..record.data_at + captured as usize];
            cooked::unwrap(interface.link_type, bytes, &mut self.made);
            captured = self.made.len() as u32;
            original = (original + cooked::ETHERNET_LEN as u32).saturating_sub(header as u32).max(captured);
        }
        let orig_len = original.saturating_sub(interface.fcs_len);
        self.last_time = time;
        self.records = number;
        Ok(Current {
            data_at: record.data_at,
            data_len: captured.min(orig_len) as usize,
            is_made: cooked.is_some(),
            orig_len,
            interface: record.interface as u32,
            time,
            len: record.len,
        })
    }
}

/// Unpacks a capture that is compressed.
fn unpack(mut window: Window<'_>) -> Result<(Window<'_>, Option<Packing>), CaptureFault> {
    window.require(4)?;
    let packing = window.bytes().first_chunk().and_then(|start| Packing::of(*start));
    match packing {
        Some(packing) => Ok((window.unpacked(packing)?, Some(packing))),
        None => Ok((window, None)),
    }
}

/// Recognises the format by its magic number and decodes the file header.
fn open_decoder(
    window: &mut Window<'_>,
    interfaces: &mut Vec<Interface>,
) -> Result<(Format, Decoder), CaptureFault> {
    window.require(classic::FILE_HEADER_LEN)?;
    let &[a, b, c, d, ..] = window.bytes() else {
        return Err(match window.bytes().len() as u64 {
            0 => CaptureFault::Empty,
            found => CaptureFault::HeaderCut { found, expected: classic::FILE_HEADER_LEN as u64 },
        });
    };
    let format = match u32::from_be_bytes([a, b, c, d]) {
        0xa1b2_c3d4 | 0xd4c3_b2a1 => Format::PcapMicros,
        0xa1b2_3c4d | 0x4d3c_b2a1 => Format::PcapNanos,
        pcapng::SECTION_HEADER => Format::Pcapng,
        _ => return Err(unread_format([a, b, c, d])),
    };
    let decoder = match format {
        Format::Pcapng => Decoder::Pcapng(Pcapng::open(window)?),
        Format::PcapMicros | Format::PcapNanos => {
            let (decoder, interface) = Classic::open(window)?;
            interfaces.push(interface);
            Decoder::Classic(decoder)
        }
    };
    Ok((format, decoder))
}

/// Returns the fault for a format that is not read, with its name if the magic number is known.
fn unread_format(found: [u8; 4]) -> CaptureFault {
    let known = match found {
        [0x1f, 0x8b, ..] | [0x28, 0xb5, 0x2f, 0xfd] => "a file that was compressed twice",
        [0x04, 0x22, 0x4d, 0x18] => "an lz4-compressed file",
        [0xfd, b'7', b'z', b'X'] => "an xz-compressed file",
        [0xa1, 0xb2, 0xcd, 0x34] | [0x34, 0xcd, 0xb2, 0xa1] => "pcap with Kuznetzov's packet headers",
        [b's', b'n', b'o', b'o'] => "a snoop capture",
        _ => return CaptureFault::NotACapture { found },
    };
    CaptureFault::UnsupportedFormat { found: known }
}

fn at(file: Box<str>, record: u64, offset: u64, fault: CaptureFault) -> CaptureError {
    CaptureError { file, record, offset, fault }
}
