//! The two ends of a queue pair: what is sent and at which rate, and what came.

use super::frames::{Address, Data};
use super::{Message, RnicConfig};
use crate::host::dcqcn::{NotificationPoint, ReactionPoint};
use crate::host::recovery::{Receiver, Sender};
use sluice_asic::mac::wire_bytes;
use sluice_asic::units::{BitRate, Bytes, Duration, Time};

/// A queue pair that sends a message.
#[derive(Clone, Debug)]
pub(super) struct Sending {
    pub(super) message: Message,
    pub(super) data: Data,
    pub(super) sender: Sender,
    pub(super) reaction: Option<ReactionPoint>,
    /// When its last packet began, and how many bytes that had on the wire.
    last: Option<(Time, Bytes)>,
    /// Waits for its turn or for its time; else nothing may be sent before an answer comes.
    pub(super) queued: bool,
    /// A timer runs for it.
    pub(super) armed: bool,
    /// Packets up to here have been sent at least once.
    highest: u64,
    /// Everything before this packet is acknowledged.
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

    /// When its pace lets it send next: the last packet's time at the rate of `now` after that one began.
    pub(super) fn due(&mut self, now: Time) -> Time {
        let Some((began, bytes)) = self.last else { return now };
        let Some(reaction) = &mut self.reaction else { return now };
        reaction.advance(now);
        let rate = BitRate::from_bps(reaction.state().rate as u64);
        began + rate.time_for(bytes)
    }

    /// The packet that goes now, if one may: its number, and whether it was sent before.
    pub(super) fn send(&mut self, now: Time) -> Option<(u64, bool)> {
        let psn = self.sender.send(now)?;
        let again = psn < self.highest;
        self.highest = self.highest.max(psn + 1);
        Some((psn, again))
    }

    /// A packet of so many bytes began.
    pub(super) fn sent(&mut self, now: Time, len: u32) {
        let bytes = wire_bytes(Bytes(len.into()));
        self.last = Some((now, bytes));
        if let Some(reaction) = &mut self.reaction {
            reaction.sent(Bytes(len.into()));
        }
    }
}

/// A queue pair that receives.
#[derive(Clone, Debug)]
pub(super) struct Receiving {
    pub(super) receiver: Receiver,
    pub(super) notification: NotificationPoint,
    /// Where answers go.
    pub(super) back: Address,
}

/// When a message was sent, and when all of it was acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The message.
    pub message: Message,
    /// When its last acknowledgement came.
    pub end: Time,
    /// Cuts of its rate.
    pub cuts: u64,
}

impl Completion {
    /// From its start to the last acknowledgement.
    #[must_use]
    pub const fn time(&self) -> Duration {
        self.end.saturating_since(self.message.start)
    }
}
