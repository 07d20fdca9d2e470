//! Compressed captures: gzip (also several members in a row) and zstd. They are recognised by their magic numbers and
//! unpacked as they are read.

use std::io::{self, BufReader, Read};

use flate2::bufread::MultiGzDecoder;

/// Bytes of compressed data read at a time.
const CHUNK: usize = 128 << 10;

/// Compression of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// gzip (RFC 1952).
    Gzip,
    /// Zstandard (RFC 8878), with a window of at most 128 MiB.
    Zstd,
}

impl Packing {
    /// Recognises the magic number that a file starts with.
    pub(super) fn of(start: [u8; 4]) -> Option<Self> {
        match start {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd] => Some(Self::Zstd),
            _ => None,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }
}

/// Compressed data that cannot be unpacked; travels inside an [`io::Error`].
#[derive(Debug, thiserror::Error)]
#[error("{} data: {reason}", packing.name())]
pub(super) struct Damaged {
    packing: Packing,
    reason: io::Error,
}

/// Unpacked bytes of a source. A source that ends too early returns the bytes that it has, then
/// [`io::ErrorKind::UnexpectedEof`].
pub(super) struct Unpack<'a> {
    packing: Packing,
    inner: Box<dyn Read + Send + 'a>,
}

impl<'a> Unpack<'a> {
    pub(super) fn new(packing: Packing, source: impl Read + Send + 'a) -> io::Result<Self> {
        let source = BufReader::with_capacity(CHUNK, source);
        let inner: Box<dyn Read + Send + 'a> = match packing {
            Packing::Gzip => Box::new(MultiGzDecoder::new(source)),
            Packing::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(source)?),
        };
        Ok(Self { packing, inner })
    }
}

impl Read for Unpack<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.inner.read(out).map_err(|reason| {
            let of_the_source = reason.raw_os_error().is_some()
                || matches!(reason.kind(), io::ErrorKind::Interrupted | io::ErrorKind::UnexpectedEof);
            if of_the_source {
                return reason;
            }
            io::Error::other(Damaged { packing: self.packing, reason })
        })
    }
}
