//! The two ends of a queue pair: the sender with its rate, and the receiver.

use super::answers::Answers;
use super::frames::{Address, Data};
use super::timing::Timing;
use super::{Message, RdmaConfig};
use crate::host::congestion::Congestion;
use crate::host::dcqcn::NotificationPoint;
use crate::host::recovery::{Receiver, Sender};
use sluice_asic::units::{BitRate, Bytes, Time};

/// The sending end of a queue pair.
#[derive(Clone, Debug)]
pub(super) struct Sending {
    pub(super) message: Message,
    pub(super) data: Data,
    pub(super) sender: Sender,
    pub(super) congestion: Congestion,
    pub(super) timing: Timing,
    /// Start of the last packet's or burst's transmission, and its bytes on the wire.
    last: Option<(Time, Bytes)>,
    /// Packets of the present burst that may still follow at once.
    burst_left: u32,
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
    pub(super) fn new(
        config: &RdmaConfig,
        line: BitRate,
        from: std::net::Ipv4Addr,
        message: Message,
    ) -> Sending {
        let address = Address {
            from,
            to: message.to,
            port: message.port,
            pair: message.pair,
            dscp: config.data.dscp,
            capable: config.congestion.reads_marks(),
            telemetry: config.congestion.telemetry().copied(),
        };
        let data = Data::new(&address, message.bytes, config.mtu);
        Sending {
            message,
            sender: Sender::new(config.recovery, data.packets()),
            data,
            congestion: Congestion::new(&config.congestion, config.window, line),
            timing: Timing::new(config.congestion.times_every_packet()),
            last: None,
            burst_left: 0,
            queued: false,
            armed: false,
            highest: 0,
            acknowledged: 0,
        }
    }

    /// Returns the time at which the pair's rate lets it send next: the start of the last packet or burst, plus its bytes
    /// at the present rate.
    pub(super) fn due(&mut self, now: Time) -> Time {
        let Some((began, bytes)) = self.last else { return now };
        if self.burst_left > 0 || self.congestion.is_unpaced() {
            return now;
        }
        self.congestion.advance(now);
        began + self.congestion.rate().time_for(bytes)
    }

    /// Returns the packet to send now, if there is one: its number, and true if it was sent before.
    pub(super) fn send(&mut self, now: Time, mtu: u32) -> Option<(u64, bool)> {
        // In whole packets: one more may be sent while fewer bytes than the window are in flight.
        let window = self.congestion.window().map_or(u64::MAX, |bytes| bytes.div_ceil(mtu.into()));
        let psn = self.sender.send_within(now, window)?;
        let again = psn < self.highest;
        self.highest = self.highest.max(psn + 1);
        self.timing.sent(now, psn, again);
        Some((psn, again))
    }

    /// Records that a packet of `len` bytes was started, which takes `line` bytes of line time, and that up to `burst`
    /// packets are paced as one. Returns true if the burst goes on.
    pub(super) fn sent(&mut self, now: Time, len: u32, line: Bytes, burst: u32) -> bool {
        self.last = match self.last {
            Some((began, bytes)) if self.burst_left > 0 => Some((began, bytes + line)),
            _ => {
                self.burst_left = burst;
                Some((now, line))
            }
        };
        self.burst_left = self.burst_left.saturating_sub(1);
        self.congestion.sent(Bytes(len.into()));
        self.burst_left > 0
    }
}

/// The receiving end of a queue pair.
#[derive(Clone, Debug)]
pub(super) struct Receiving {
    pub(super) receiver: Receiver,
    pub(super) notification: NotificationPoint,
    pub(super) answers: Answers,
    /// Number of the message's packets, known from the arrival of the last one.
    pub(super) packets: Option<u64>,
    /// True if all packets have arrived.
    pub(super) complete: bool,
}

impl Receiving {
    /// Records that packet `psn` was given to the receiver, and that it is the message's last if `last` is true. Returns
    /// true if this packet completed the message.
    pub(super) fn completes(&mut self, psn: u64, last: bool) -> bool {
        if last {
            self.packets = Some(psn + 1);
        }
        let all = self.packets.is_some_and(|packets| self.receiver.expected() >= packets);
        all && !std::mem::replace(&mut self.complete, true)
    }
}
