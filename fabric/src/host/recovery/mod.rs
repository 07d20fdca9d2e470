//! How a queue pair sends lost packets again: go-back-N, or selectively as IRN does (model: buffer §4.6).
//!
//! [`Sender`] and [`Receiver`] are told what arrives; [`Transfer`] joins a pair by a pipe of constant delay that loses
//! chosen packets.

mod receiver;
mod sender;
mod transfer;

pub use receiver::{Answer, Receiver};
pub use sender::Sender;
pub use transfer::{Transfer, TransferConfig, TransferReport};

use sluice_asic::units::{Bytes, Duration};

/// What a loss makes hosts do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// The receiver drops what comes out of order and asks for the packet that it expects; the sender goes back to it.
    GoBackN {
        /// It asks for the same packet again no sooner than this.
        nack_interval: Duration,
        /// A sender that hears nothing for so long goes back to the first packet that is not acknowledged.
        timeout: Option<Duration>,
    },
    /// The receiver keeps what comes out of order; the sender sends the holes alone, and has no more than `in_flight`
    /// packets on their way.
    Selective {
        /// Packets that may be on their way.
        in_flight: u64,
        /// As `timeout`, for the first packet alone, with more than `few` packets on their way.
        timeout_high: Duration,
        /// With no more than `few`.
        timeout_low: Duration,
        /// See there.
        few: u64,
    },
}

impl Recovery {
    /// IRN as the simulators have it: so many bytes on their way, 104,000 if nothing is said, in packets of `size`
    /// bytes, and their timeouts (model: buffer §4.6).
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
