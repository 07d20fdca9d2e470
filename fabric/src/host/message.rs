//! Messages that hosts send, and what becomes of them.

use sluice_asic::units::{Duration, Time};
use std::net::Ipv4Addr;

/// A message to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Number of its queue pair or connection: 24 bits, not 0, unique in the network.
    pub pair: u32,
    /// Index of the transport that sends it, in the list that [`Nic::new`](super::nic::Nic::new) gets.
    pub transport: u8,
    /// Index of the workload that the message belongs to; it labels results.
    pub workload: u8,
    /// Time at which the message is ready to be sent.
    pub start: Time,
    /// The receiver.
    pub to: Ipv4Addr,
    /// UDP or TCP source port.
    pub port: u16,
    /// Bytes, at least 1.
    pub bytes: u64,
}

/// A message that is not completely acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// The message.
    pub message: Message,
    /// Number of its packets that are acknowledged.
    pub acknowledged: u64,
}

/// A completed message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The message.
    pub message: Message,
    /// Time of the last acknowledgement.
    pub end: Time,
    /// Number of rate or window cuts.
    pub cuts: u64,
}

impl Completion {
    /// Returns the time from the message's start to its last acknowledgement.
    #[must_use]
    pub const fn time(&self) -> Duration {
        self.end.saturating_since(self.message.start)
    }
}

/// An event of a message at a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageEvent {
    /// The host has received all bytes of a message that another host sends.
    Received {
        /// The message's pair.
        pair: u32,
        /// Arrival of its last missing byte.
        at: Time,
    },
    /// All bytes of a message of this host are acknowledged.
    Completed(Completion),
}

/// State of a message under way at its sender, for records over time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowState {
    /// Sending rate, bit/s; the link rate without a rate limit.
    pub rate: u64,
    /// Window, bytes; `None` if nothing but the rate limits the bytes in flight.
    pub window: Option<u64>,
    /// Slow start threshold of TCP, bytes.
    pub threshold: Option<u64>,
    /// Bytes sent and not acknowledged.
    pub in_flight: u64,
    /// The last measured round trip, if the transport measures it.
    pub rtt: Option<Duration>,
    /// The smoothed round trip, if the transport keeps one.
    pub smoothed_rtt: Option<Duration>,
    /// DCTCP's estimate of the share of marked bytes, 0 to 1.
    pub alpha: Option<f64>,
    /// Notifications of congestion that have arrived.
    pub notified: u64,
}
