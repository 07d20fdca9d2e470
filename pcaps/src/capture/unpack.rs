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

/// Returns the content of a file that may be compressed with gzip or zstd.
///
/// # Errors
/// If compressed data is damaged, or unpacks to more than `most` bytes.
pub fn unpacked(file: Vec<u8>, most: u64) -> io::Result<Vec<u8>> {
    let packing = file.first_chunk::<4>().and_then(|start| Packing::of(*start));
    let Some(packing) = packing else { return Ok(file) };
    let mut content = Vec::new();
    Unpack::new(packing, &file[..])?.take(most.saturating_add(1)).read_to_end(&mut content)?;
    if content.len() as u64 > most {
        return Err(io::Error::other(format!("the file unpacks to more than {most} bytes")));
    }
    Ok(content)
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

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    #[test]
    fn files_are_unpacked_if_they_are_packed() {
        let text = b"one line\n".repeat(100);
        let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
        packer.write_all(&text).unwrap();
        let packed = packer.finish().unwrap();
        assert_eq!(unpacked(text.clone(), 1).unwrap(), text, "plain files have no limit");
        assert_eq!(unpacked(packed.clone(), 900).unwrap(), text);
        assert!(unpacked(packed.clone(), 899).unwrap_err().to_string().contains("more than 899 bytes"));
        assert!(unpacked(packed[..packed.len() / 2].to_vec(), 900).is_err());
    }
}
