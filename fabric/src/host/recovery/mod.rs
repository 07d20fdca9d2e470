//! Retransmission of lost packets of a queue pair: go-back-N, selective as in IRN, or by timeout for receivers that accept
//! packets in any order (model: buffer §4.6).
//!
//! [`Sender`] and [`Receiver`] are state machines without I/O. [`Transfer`] connects a pair by a pipe of constant delay
//! that loses chosen packets.

mod receiver;
mod sender;
mod transfer;

pub use receiver::{Answer, Receiver};
pub use sender::Sender;
pub use transfer::{Transfer, TransferConfig, TransferReport};

use sluice_asic::units::{Bytes, Duration};

/// Loss recovery of hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// The receiver drops packets out of order and requests the expected packet with a NACK; the sender goes back to
    /// this packet.
    GoBackN {
        /// Least time between two NACKs for the same packet.
        nack_interval: Duration,
        /// Time without an acknowledgement after which the sender goes back to the first unacknowledged packet; `None`:
        /// never.
        timeout: Option<Duration>,
    },
    /// The receiver keeps packets out of order. The sender retransmits only missing packets, and has at most
    /// `in_flight` unacknowledged packets.
    Selective {
        /// Most unacknowledged packets.
        in_flight: u64,
        /// Time without an acknowledgement after which the first unacknowledged packet is retransmitted, if more than
        /// `few` packets are unacknowledged.
        timeout_high: Duration,
        /// The timeout if at most `few` packets are unacknowledged.
        timeout_low: Duration,
        /// Threshold between `timeout_low` and `timeout_high`, packets.
        few: u64,
    },
    /// The receiver places every packet wherever it arrives (direct data placement), as NICs of fabrics that spray
    /// packets do: it acknowledges each with the first missing packet and the number of packets that it has, and never
    /// sends a NACK. The sender learns of a loss by a timeout alone.
    AnyOrder {
        /// Time without progress of the first missing packet after which that packet is sent again.
        timeout: Duration,
    },
}

impl Recovery {
    /// Returns IRN as in the simulators: at most `in_flight` unacknowledged bytes (104,000 if `None`) in packets of
    /// `size` bytes, and the simulators' timeouts (model: buffer §4.6).
    #[must_use]
    pub fn irn(in_flight: Option<Bytes>, size: u64) -> Recovery {
        Recovery::Selective {
            in_flight: in_flight.unwrap_or(Bytes(104_000)).0 / size.max(1),
            timeout_high: Duration::from_micros(320),
            timeout_low: Duration::from_micros(100),
            few: 3,
        }
    }
}
