//! Errors of a capture: place, value found, value expected, and remedy. Module `oddity` has the irregularities that a
//! readable capture may have.

use std::borrow::Cow;
use std::fmt;
use std::io;

use super::unpack::Damaged;

/// Error of reading a capture. The first error of a reader is final: no frame follows.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {}{fault}", FaultPlace { record: *record, offset: *offset, fault })]
pub struct CaptureError {
    /// Name of the capture, as given to the reader.
    pub file: Box<str>,
    /// The packet record being read, from 1; 0 before the first record.
    pub record: u64,
    /// Byte offset in the (uncompressed) file of the record, block or header at fault.
    pub offset: u64,
    /// Problem.
    pub fault: CaptureFault,
}

impl CaptureError {
    /// Returns the remedy.
    pub fn help(&self) -> Cow<'static, str> {
        match (self.fault.help(), self.record) {
            (Some(help), _) => help.into(),
            (None, 0 | 1) => "the file is damaged before its second record, so nothing can be kept; copy or capture it again".into(),
            (None, record) => format!(
                "the file is damaged here; keep the records before it with `editcap -r IN OUT 1-{}`",
                record - 1
            )
            .into(),
        }
    }
}

/// Prints the place of a fault; nothing for a fault of the whole file.
struct FaultPlace<'a> {
    record: u64,
    offset: u64,
    fault: &'a CaptureFault,
}

impl fmt::Display for FaultPlace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use CaptureFault::{Empty, Io, NotACapture};
        match (self.record, self.fault) {
            (0, Io(_) | Empty | NotACapture { .. }) => Ok(()),
            (0, _) => write!(f, "header at byte {}: ", self.offset),
            (record, _) => write!(f, "record {record} at byte {}: ", self.offset),
        }
    }
}

/// Problem of a capture.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureFault {
    /// The operating system refused to open or read the file.
    #[error("cannot read it: {}", refusal(.0))]
    Io(io::Error),
    /// Compressed data is damaged.
    #[error("cannot unpack its {0}")]
    Unpack(String),
    /// The file is empty.
    #[error("the file is empty, expected a pcap or pcapng header")]
    Empty,
    /// The file ends before its header does, so that no frame can be read.
    #[error("the file ends inside its header: found {found} bytes, expected at least {expected}")]
    HeaderCut {
        /// Bytes present.
        found: u64,
        /// Bytes that the header needs.
        expected: u64,
    },
    /// The first four bytes are not the magic number of a capture format.
    #[error("not a capture: it starts with {}, expected the magic number of pcap or pcapng", bytes(found))]
    NotACapture {
        /// The first four bytes.
        found: [u8; 4],
    },
    /// A known relative of pcap, or a file compressed in another way, that is not read here.
    #[error("found {found}, expected pcap or pcapng, plain or compressed with gzip or zstd")]
    UnsupportedFormat {
        /// Meaning of the magic number.
        found: &'static str,
    },
    /// The file or section has a version that is not read here.
    #[error("found {format} version {major}.{minor}, expected {expected}")]
    Version {
        /// `pcap` or `pcapng`.
        format: &'static str,
        /// Major version found.
        major: u16,
        /// Minor version found.
        minor: u16,
        /// Versions that are read.
        expected: &'static str,
    },
    /// The frames are neither Ethernet nor Linux's cooked frames.
    #[error("found link type {number} ({name}), expected 1 (ETHERNET), 113 (LINUX_SLL) or 276 (LINUX_SLL2)")]
    LinkType {
        /// The number in the registry of link types.
        number: u32,
        /// Name of the compression format.
        name: String,
    },
    /// The sub-second part of a timestamp is a second or more.
    #[error("found a timestamp with {found} in its sub-second field, expected less than {limit}")]
    Fraction {
        /// Value found.
        found: u32,
        /// First value that is not legal.
        limit: u32,
    },
    /// A frame claims more bytes than any frame has.
    #[error("found a captured length of {found} bytes, expected at most {limit}")]
    FrameLength {
        /// Length found.
        found: u32,
        /// Largest length accepted.
        limit: u32,
    },
    /// An implausible length that also points past the end of the file: damage, not a cut tail.
    #[error(
        "found a captured length of {found} bytes with {available} left in the file and a limit of {limit}"
    )]
    LengthBeyondEnd {
        /// Length found.
        found: u32,
        /// Bytes left in the file.
        available: u64,
        /// The snap length or the original length, whichever the captured length passes.
        limit: u32,
    },
    /// The section header's byte-order magic is neither order of 1a2b3c4d.
    #[error("found byte-order magic {found:02x?}, expected 1a2b3c4d in either byte order")]
    ByteOrderMagic {
        /// Bytes found.
        found: [u8; 4],
    },
    /// A block's length field is illegal.
    #[error(
        "found a length of {found} in a block of type {block_type:#x}, expected a multiple of 4 from {least} to {most}"
    )]
    BlockLength {
        /// Block type.
        block_type: u32,
        /// Length found.
        found: u32,
        /// Least legal length of this block.
        least: u32,
        /// Largest length accepted.
        most: u32,
    },
    /// The length at the end of a block differs from the one at its start.
    #[error("found {found} as the length at the block's end, expected {expected} as at its start")]
    BlockTrailer {
        /// Length at the end.
        found: u32,
        /// Length at the start.
        expected: u32,
    },
    /// A packet does not fit in its block.
    #[error(
        "found a captured length of {found} bytes, expected at most the {available} that the block holds"
    )]
    CapturedBeyondBlock {
        /// Length found.
        found: u32,
        /// Bytes in the block.
        available: u32,
    },
    /// A packet names an interface that its section has not described.
    #[error("found interface {found}, expected less than {declared} (the interfaces described so far)")]
    UnknownInterface {
        /// Interface named.
        found: u32,
        /// Interfaces described in the section.
        declared: u32,
    },
    /// More interfaces than are kept.
    #[error("found more than {limit} interfaces")]
    TooManyInterfaces {
        /// Largest number kept.
        limit: u32,
    },
    /// An option of an interface description runs past its block.
    #[error("found option {code} of {length} bytes, expected at most the {available} left in the block")]
    OptionBeyondBlock {
        /// Option code.
        code: u16,
        /// Length found.
        length: u16,
        /// Bytes left.
        available: usize,
    },
    /// An option of fixed length has a different length.
    #[error("found {option} of {found} bytes, expected {expected}")]
    OptionLength {
        /// Name of the option.
        option: &'static str,
        /// Length found.
        found: usize,
        /// Length expected.
        expected: usize,
    },
    /// The sum of the timestamp and the interface's offset is before 1970, or above the largest timestamp.
    #[error(
        "found a timestamp of {ticks} ticks with an interface offset of {offset} s, expected a time from 1970 on \
         and within 2^64 s"
    )]
    TimeOutOfRange {
        /// Raw timestamp.
        ticks: u64,
        /// `if_tsoffset`, in seconds.
        offset: i64,
    },
    /// The frame would be sent later than a run can be long.
    #[error(
        "would be sent {found} s after the beginning of the run, expected at most {limit} s of simulated time (106 days)"
    )]
    BeyondRun {
        /// Least number of whole seconds since the start of the run.
        found: u64,
        /// Largest number of whole seconds of a run.
        limit: u64,
    },
}

/// Returns the reason of the operating system, in words if it is a frequent one.
fn refusal(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::IsADirectory => "it is a folder, not a file".to_owned(),
        io::ErrorKind::PermissionDenied => "you may not read it".to_owned(),
        _ => error.to_string(),
    }
}

/// Returns bytes as hexadecimal digits, and as text if they are letters.
fn bytes(found: &[u8; 4]) -> String {
    let [a, b, c, d] = found;
    let digits = format!("{a:02x} {b:02x} {c:02x} {d:02x}");
    match std::str::from_utf8(found) {
        Ok(text) if found.iter().all(|byte| (0x20..0x7f).contains(byte)) => format!("`{text}` ({digits})"),
        _ => digits,
    }
}

impl From<io::Error> for CaptureFault {
    fn from(error: io::Error) -> Self {
        match error.get_ref().and_then(|inner| inner.downcast_ref::<Damaged>()) {
            Some(damaged) => Self::Unpack(damaged.to_string()),
            None => Self::Io(error),
        }
    }
}

impl CaptureFault {
    /// Returns the remedy; `None` for damage, whose remedy depends on its record.
    fn help(&self) -> Option<&'static str> {
        Some(match self {
            Self::Io(_) => "check the path and that the file may be read",
            Self::Unpack(_) => {
                "copy the file again; `gzip -dc` or `zstd -dc` saves what comes before the damage"
            }
            Self::Empty | Self::HeaderCut { .. } => "capture or copy the file again",
            Self::NotACapture { .. } => "give a pcap or pcapng file; `file NAME` tells what this one is",
            Self::UnsupportedFormat { .. } => "convert it: unpack it, or use `editcap -F nsecpcap IN OUT`",
            Self::Version { .. } => "convert it with `editcap -F nsecpcap IN OUT`",
            Self::LinkType { .. } => "capture on an Ethernet interface, or keep its frames only",
            Self::UnknownInterface { .. } | Self::TooManyInterfaces { .. } => {
                "the writer of the file is at fault; rewrite it with `editcap IN OUT`"
            }
            Self::TimeOutOfRange { .. } => "shift the stamps with `editcap -t SECONDS IN OUT`",
            Self::BeyondRun { .. } => "send at a faster pace, or at a rate and not by timestamps",
            Self::OptionBeyondBlock { .. } | Self::OptionLength { .. } => {
                "the interface description is damaged; rewrite it with `editcap IN OUT`"
            }
            Self::Fraction { .. }
            | Self::FrameLength { .. }
            | Self::LengthBeyondEnd { .. }
            | Self::ByteOrderMagic { .. }
            | Self::BlockLength { .. }
            | Self::BlockTrailer { .. }
            | Self::CapturedBeyondBlock { .. } => return None,
        })
    }
}
