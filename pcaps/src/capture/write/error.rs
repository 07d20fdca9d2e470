//! Reasons for which a capture could not be written.

/// Error of writing a capture. `packet` counts the packets of the file from 1.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The output refused the bytes.
    #[error("cannot write the capture: {0}")]
    Io(#[from] std::io::Error),
    /// The timestamp does not fit the format.
    #[error(
        "packet {packet}: found a timestamp of {found} s, expected at most {limit} s; use pcapng or earlier times"
    )]
    Time {
        /// Number of the packet.
        packet: u64,
        /// The timestamp's whole seconds.
        found: u64,
        /// Last whole second that the format can express.
        limit: u64,
    },
    /// The frame is longer than the reader would accept.
    #[error("packet {packet}: found {found} bytes, expected at most {limit}; truncate the frame")]
    FrameLength {
        /// Number of the packet.
        packet: u64,
        /// Bytes given.
        found: usize,
        /// Most bytes written.
        limit: usize,
    },
    /// The interface was not declared when the writer was made.
    #[error("packet {packet}: found interface {found}, expected less than {declared}; declare it up front")]
    Interface {
        /// Number of the packet.
        packet: u64,
        /// Interface named.
        found: u32,
        /// Interfaces declared.
        declared: u32,
    },
    /// A text does not fit into an option.
    #[error("found a text of {found} bytes in a pcapng option, expected at most {limit}; shorten it")]
    Text {
        /// Bytes given.
        found: usize,
        /// Most bytes written.
        limit: usize,
    },
    /// pcap-file could not lay out a section, interface or statistics block.
    #[error("cannot lay out a pcapng block: {0}")]
    Block(#[from] pcap_file::PcapError),
}
