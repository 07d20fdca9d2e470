//! Capture files: reads pcap and pcapng as one stream of frames, and writes both.
//!
//! The reader is a lending iterator in bounded memory over a file, any [`std::io::Read`] or a byte slice. Only this
//! module decodes the container formats; module [`wire`](crate::wire) decodes the frames. Captures compressed with gzip
//! or zstd are recognised by their magic number and unpacked as they are read.
//!
//! Reader and writers share only [`CaptureTime`].

mod bytes;
mod classic;
mod cooked;
mod error;
mod interface;
mod oddity;
mod pcapng;
mod reader;
mod time;
mod unpack;
mod window;
pub mod write;

pub use cooked::{SYNTHESISED_GROUP, SYNTHESISED_HOST};
pub use error::{CaptureError, CaptureFault};
pub use interface::Interface;
pub use oddity::{Oddities, Oddity, Tally};
pub use reader::{CaptureReader, Format, Frame, TruncatedTail};
pub use time::CaptureTime;
pub use unpack::{Packing, unpacked};

/// Largest frame that is read and written, in bytes: libpcap's largest snap length, which other tools also use.
/// Offloaded super-frames fit and a damaged length field does not. An original length above it counts as damage.
pub const MAX_FRAME_LEN: u32 = 256 << 10;

/// Largest pcapng block that the reader accepts, in bytes; bounds its memory.
pub const MAX_BLOCK_LEN: u32 = 16 << 20;

/// Largest number of interfaces of one capture, over all its sections; it bounds the reader's memory.
pub const MAX_INTERFACES: u32 = 65_536;
