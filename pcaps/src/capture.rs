//! Capture files: reading pcap and pcapng as one stream of frames, and writing both.
//!
//! The reader is a lending iterator in bounded memory over a file, any [`std::io::Read`] or a byte slice. The
//! container formats are decoded here and nowhere else; what is inside a frame is the business of
//! [`wire`](crate::wire). Captures compressed with gzip or zstd are unpacked on the way, told by their magic
//! number.
//!
//! Reading and writing share [`CaptureTime`]; nothing else of one is known to the other.

mod bytes;
mod classic;
mod error;
mod interface;
mod oddity;
mod pcapng;
mod reader;
mod time;
mod unpack;
mod window;
pub mod write;

pub use error::{CaptureError, CaptureFault};
pub use interface::Interface;
pub use oddity::{Oddities, Oddity, Tally};
pub use reader::{CaptureReader, Format, Frame, TruncatedTail};
pub use time::CaptureTime;
pub use unpack::Packing;

/// Largest frame that is read and written, in bytes: libpcap's largest snap length, which other tools also hold
/// to. Offloaded super-frames pass and a damaged length field does not. An original length above it is not
/// believed.
pub const MAX_FRAME_LEN: u32 = 256 << 10;

/// Largest pcapng block that the reader accepts, in bytes; bounds its memory.
pub const MAX_BLOCK_LEN: u32 = 16 << 20;

/// Most interfaces that one capture may declare over all its sections; bounds the reader's memory.
pub const MAX_INTERFACES: u32 = 65_536;
