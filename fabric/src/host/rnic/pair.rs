//! The two ends of a queue pair: the sender with its rate, and the receiver.

use super::frames::{Address, Data};
use super::{Message, RnicConfig};
use crate::host::dcqcn::{NotificationPoint, ReactionPoint};
use crate::host::recovery::{Receiver, Sender};
use sluice_asic::units::{BitRate, Bytes, Duration, Time};

/// The sending end of a queue pair.
#[derive(Clone, Debug)]
pub(super) struct Sending {
    pub(super) message: Message,
    pub(super) data: Data,
    pub(super) sender: Sender,
    pub(super) reaction: Option<ReactionPoint>,
    /// Start of the last packet's transmission, and its bytes on the wire.
    last: Option<(Time, Bytes)>,
    /// True if the pair is ready or paced; false if it may not send before an answer arrives.
    pub(super) queued: bool,
    /// True if a timer runs for the pair.
    pub(super) armed: bool,
    /// Number of packets that have been sent at least once.
    highest: u64,
    /// All packets before this one are acknowledged.
    pub(super) acknowledged: u64,
}

impl Sending {
    pub(super) fn new(config: &RnicConfig, from: std::net::Ipv4Addr, message: Message) -> Sending {
        let address = Address {
            from,
            to: message.to,
            port: message.port,
            pair: message.pair,
            dscp: config.data.dscp,
            capable: config.reaction.is_some(),
        };
        let data = Data::new(&address, message.bytes, config.mtu);
        Sending {
            message,
            sender: Sender::new(config.recovery, data.packets()),
            data,
            reaction: config.reaction.clone(),
            last: None,
            queued: false,
            armed: false,
            highest: 0,
            acknowledged: 0,
        }
    }

    /// Returns the time at which the pair's rate lets it send next: the start of the last packet, plus its bytes at the
    /// present rate.
    pub(super) fn due(&mut self, now: Time) -> Time {
        let Some((began, bytes)) = self.last else { return now };
        let Some(reaction) = &mut self.reaction else { return now };
        reaction.advance(now);
        let rate = BitRate::from_bps(reaction.state().rate as u64);
        began + rate.time_for(bytes)
    }

    /// Returns the packet to send now, if there is one: its number, and true if it was sent before.
    pub(super) fn send(&mut self, now: Time) -> Option<(u64, bool)> {
        let psn = self.sender.send(now)?;
        let again = psn < self.highest;
        self.highest = self.highest.max(psn + 1);
        Some((psn, again))
    }

    /// Records that a packet of `len` bytes was started, which takes `line` bytes of line time.
    pub(super) fn sent(&mut self, now: Time, len: u32, line: Bytes) {
        self.last = Some((now, line));
        if let Some(reaction) = &mut self.reaction {
            reaction.sent(Bytes(len.into()));
        }
    }
}

/// The receiving end of a queue pair.
#[derive(Clone, Debug)]
pub(super) struct Receiving {
    pub(super) receiver: Receiver,
    pub(super) notification: NotificationPoint,
    /// Address of the answers.
    pub(super) back: Address,
}

/// A completed message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The message.
    pub message: Message,
    /// Time of the last acknowledgement.
    pub end: Time,
    /// Number of rate cuts.
    pub cuts: u64,
}

impl Completion {
    /// Returns the time from the message's start to its last acknowledgement.
    #[must_use]
    pub const fn time(&self) -> Duration {
        self.end.saturating_since(self.message.start)
    }
}
