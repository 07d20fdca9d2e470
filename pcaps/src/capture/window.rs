//! Sliding window over the bytes of a capture: a slice without copying, or a stream through one buffer.
//!
//! The buffer grows with the bytes that have arrived, and never with a length that a record merely claims.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::unpack::{Packing, Unpack};

/// Initial size of a stream's buffer, and size of one read, in bytes.
const CHUNK: usize = 64 << 10;

enum Store<'a> {
    Whole(&'a [u8]),
    Stream { source: Box<dyn Read + Send + 'a>, buffer: Vec<u8>, ended: bool },
}

/// Reader that counts the bytes it passes on.
struct Counted<R> {
    inner: R,
    bytes: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(out)?;
        self.bytes.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

pub(super) struct Window<'a> {
    store: Store<'a>,
    /// The window is `store[start..end]`.
    start: usize,
    end: usize,
    /// File offset of the store's first byte.
    base: u64,
    /// Bytes taken from the source so far, before unpacking.
    taken: Arc<AtomicU64>,
    /// True if compressed data ended before its own end marker.
    cut: bool,
}

impl<'a> Window<'a> {
    pub(super) fn over_bytes(bytes: &'a [u8]) -> Self {
        let taken = Arc::new(AtomicU64::new(bytes.len() as u64));
        Self { store: Store::Whole(bytes), start: 0, end: bytes.len(), base: 0, taken, cut: false }
    }

    pub(super) fn over_stream(source: impl Read + Send + 'a) -> Self {
        let taken = Arc::new(AtomicU64::new(0));
        let source = Counted { inner: source, bytes: Arc::clone(&taken) };
        Self { taken, ..Self::streaming(Box::new(source)) }
    }

    fn streaming(source: Box<dyn Read + Send + 'a>) -> Self {
        let store = Store::Stream { source, buffer: vec![0; CHUNK], ended: false };
        Self { store, start: 0, end: 0, base: 0, taken: Arc::default(), cut: false }
    }

    /// Returns the input from its beginning, unpacked. No byte may have been consumed before.
    pub(super) fn unpacked(self, packing: Packing) -> io::Result<Self> {
        let window = match self.store {
            Store::Whole(bytes) => Self::streaming(Box::new(Unpack::new(packing, bytes)?)),
            Store::Stream { source, mut buffer, .. } => {
                buffer.truncate(self.end);
                let whole = io::Cursor::new(buffer).chain(source);
                Self::streaming(Box::new(Unpack::new(packing, whole)?))
            }
        };
        Ok(Self { taken: self.taken, ..window })
    }

    /// Returns the bytes taken from the source so far, before unpacking.
    pub(super) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Returns true if compressed data ended before its own end marker.
    pub(super) fn cut(&self) -> bool {
        self.cut
    }

    /// Returns the bytes at hand, from the current position on.
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        match &self.store {
            Store::Whole(bytes) => &bytes[self.start..self.end],
            Store::Stream { buffer, .. } => &buffer[self.start..self.end],
        }
    }

    /// Returns the file offset of the current position.
    #[inline]
    pub(super) fn offset(&self) -> u64 {
        self.base + self.start as u64
    }

    /// Moves past `count` bytes, which are at hand.
    #[inline]
    pub(super) fn consume(&mut self, count: usize) {
        self.start = (self.start + count).min(self.end);
    }

    /// Reads until `count` bytes are at hand; returns false if the input ends before.
    #[inline]
    pub(super) fn require(&mut self, count: usize) -> io::Result<bool> {
        if self.end - self.start >= count { Ok(true) } else { self.fill(count) }
    }

    #[cold]
    fn fill(&mut self, count: usize) -> io::Result<bool> {
        let Store::Stream { source, buffer, ended } = &mut self.store else { return Ok(false) };
        buffer.copy_within(self.start..self.end, 0);
        self.base += self.start as u64;
        self.end -= self.start;
        self.start = 0;
        while self.end < count && !*ended {
            if self.end == buffer.len() {
                buffer.resize(buffer.len() * 2, 0);
            }
            match source.read(&mut buffer[self.end..]) {
                Ok(0) => *ended = true,
                Ok(read) => self.end += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    *ended = true;
                    self.cut = true;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(self.end >= count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out one byte at a time, with interruptions.
    struct Dribble<'a>(&'a [u8], bool);

    impl Read for Dribble<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let count = self.0.len().min(1);
            out[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    #[test]
    fn a_stream_and_a_slice_give_the_same_windows() {
        let data: Vec<u8> = (0..=255).collect();
        let mut stream = Window::over_stream(Dribble(&data, false));
        let mut slice = Window::over_bytes(&data);
        for count in [1, 7, 100, 3] {
            assert!(stream.require(count).unwrap() && slice.require(count).unwrap());
            assert_eq!(stream.bytes()[..count], slice.bytes()[..count]);
            assert_eq!(stream.offset(), slice.offset());
            stream.consume(count);
            slice.consume(count);
        }
        assert!(!stream.require(146).unwrap() && !slice.require(146).unwrap());
        assert_eq!(stream.bytes(), slice.bytes());
        assert_eq!((stream.taken(), slice.taken()), (256, 256));
    }

    #[test]
    fn a_claimed_length_does_not_take_memory() {
        let mut window = Window::over_stream(&[1u8, 2, 3][..]);
        assert!(!window.require(1 << 40).unwrap());
        let Store::Stream { buffer, .. } = &window.store else { panic!("a stream") };
        assert_eq!(buffer.len(), CHUNK);
    }

    #[test]
    fn the_buffer_grows_with_the_data() {
        let data = vec![9u8; 3 * CHUNK];
        let mut window = Window::over_stream(&data[..]);
        assert!(window.require(data.len()).unwrap());
        assert_eq!(window.bytes(), data);
    }
}
