//! A sender and a receiver, connected by a pipe that loses chosen packets.

use super::{Answer, Receiver, Recovery, Sender};
use sluice_asic::event::{EventClass, EventQueue, EventSource};
use sluice_asic::units::{BitRate, Bytes, Duration, Time};
use std::collections::BTreeSet;

/// A transfer over a pipe.
#[derive(Clone, Debug)]
pub struct TransferConfig {
    /// Loss recovery.
    pub recovery: Recovery,
    /// Number of packets.
    pub packets: u64,
    /// Size of each packet.
    pub size: Bytes,
    /// Sending rate.
    pub rate: BitRate,
    /// One-way delay of the pipe.
    pub one_way: Duration,
    /// Numbers of the transmissions that are lost; all transmissions are counted, from 0.
    pub lose: BTreeSet<u64>,
}

/// Result of a transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransferReport {
    /// Number of transmissions.
    pub sent: u64,
    /// Retransmissions.
    pub resent: u64,
    /// Packets sent from the missing packet on, when the first NACK reached the sender.
    pub from_hole: u64,
    /// Number of NACKs.
    pub nacks: u64,
    /// Packets delivered in order.
    pub delivered: u64,
    /// Most unacknowledged bytes.
    pub most_in_flight: u64,
    /// Time from the first transmission to the last acknowledgement, or to the last event if the transfer stalls.
    pub time: Duration,
}

enum Event {
    Send,
    Arrive(u64),
    Answer(Answer),
    Timeout,
}

/// A running transfer.
pub struct Transfer {
    config: TransferConfig,
    sender: Sender,
    receiver: Receiver,
    events: EventQueue<Event>,
    source: EventSource,
    /// True if an event to transmit is scheduled.
    sending: bool,
    /// True if a timeout event is scheduled.
    armed: bool,
    /// Time at which the line is free.
    free: Time,
    highest: Option<u64>,
    report: TransferReport,
}

impl Transfer {
    /// Runs a transfer until all packets are acknowledged, or until no event is left; then `delivered` is below
    /// `packets`.
    #[must_use]
    pub fn run(config: TransferConfig) -> TransferReport {
        let mut transfer = Transfer {
            sender: Sender::new(config.recovery, config.packets),
            receiver: Receiver::new(config.recovery),
            config,
            events: EventQueue::new(),
            source: EventSource::new(0, 0),
            sending: false,
            armed: false,
            free: Time::ORIGIN,
            highest: None,
            report: TransferReport::default(),
        };
        transfer.wake(Time::ORIGIN);
        while let Some((key, event)) = transfer.events.pop() {
            if transfer.sender.done() {
                break;
            }
            transfer.handle(key.time, event);
            transfer.report.time = key.time.since_origin();
        }
        transfer.report.delivered = transfer.receiver.expected();
        transfer.report
    }

    fn at(&mut self, time: Time, class: EventClass, event: Event) {
        let key = self.source.key(time, class);
        // Nothing is ever scheduled before the event that is being handled.
        let pushed = self.events.push(key, event);
        debug_assert!(pushed.is_ok(), "{pushed:?}");
    }

    /// Schedules a transmission for the time at which the line is free, unless one is scheduled.
    fn wake(&mut self, now: Time) {
        if !std::mem::replace(&mut self.sending, true) {
            self.at(now.max(self.free), EventClass::Timer, Event::Send);
        }
    }

    fn handle(&mut self, now: Time, event: Event) {
        match event {
            Event::Send => self.send(now),
            Event::Arrive(psn) => {
                if let Some(answer) = self.receiver.packet(now, psn) {
                    self.report.nacks += u64::from(matches!(answer, Answer::Nack { .. }));
                    self.at(now + self.config.one_way, EventClass::PacketEntry, Event::Answer(answer));
                }
            }
            Event::Answer(answer) => {
                if let (Answer::Nack { expected, .. }, 0) = (answer, self.report.from_hole) {
                    self.report.from_hole = self.sender.sent_since(expected);
                }
                self.sender.answered(now, answer);
                self.wake(now);
            }
            Event::Timeout => {
                self.armed = false;
                self.sender.advance(now);
                self.wake(now);
            }
        }
        self.arm(now);
    }

    /// Schedules the timeout, unless one is scheduled or no packet is unacknowledged.
    fn arm(&mut self, now: Time) {
        if let (false, Some(due)) = (self.armed, self.sender.timeout()) {
            self.armed = true;
            self.at(due.max(now), EventClass::Timer, Event::Timeout);
        }
    }

    fn send(&mut self, now: Time) {
        self.sending = false;
        let Some(psn) = self.sender.send(now) else { return };
        let number = self.report.sent;
        self.report.sent += 1;
        self.report.resent += u64::from(self.highest.is_some_and(|highest| psn <= highest));
        self.highest = self.highest.max(Some(psn));
        let in_flight = self.sender.in_flight() * self.config.size.0;
        self.report.most_in_flight = self.report.most_in_flight.max(in_flight);
        self.free = now + self.config.rate.time_for(self.config.size);
        if !self.config.lose.contains(&number) {
            self.at(self.free + self.config.one_way, EventClass::PacketEntry, Event::Arrive(psn));
        }
        self.wake(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn recovery() -> impl Strategy<Value = Recovery> {
        let us = Duration::from_micros;
        prop_oneof![
            (1u64..600)
                .prop_map(move |nack| Recovery::GoBackN { nack_interval: us(nack), timeout: Some(us(4000)) }),
            (2u64..200).prop_map(move |in_flight| Recovery::Selective {
                in_flight,
                timeout_high: us(320),
                timeout_low: us(100),
                few: 3,
            }),
            (50u64..4000).prop_map(move |timeout| Recovery::AnyOrder { timeout: us(timeout) }),
        ]
    }

    proptest! {
        #[test]
        fn everything_is_delivered_whatever_is_lost(
            recovery in recovery(),
            packets in 1u64..300,
            lose in prop::collection::btree_set(0u64..400, 0..60),
            one_way in 1u64..50,
        ) {
            let config = TransferConfig {
                recovery,
                packets,
                size: Bytes(1000),
                rate: BitRate::from_gbps(25),
                one_way: Duration::from_micros(one_way),
                lose: lose.clone(),
            };
            let report = Transfer::run(config);
            prop_assert_eq!(report.delivered, packets);
            let lost = lose.range(..report.sent).count() as u64;
            prop_assert!(report.sent >= packets + lost);
            prop_assert_eq!(report.sent - report.resent, packets);
            if let Recovery::Selective { in_flight, .. } = recovery {
                prop_assert!(report.most_in_flight <= in_flight * 1000);
            }
        }
    }

    #[test]
    fn without_a_timeout_a_lost_tail_hangs() {
        let recovery = Recovery::GoBackN { nack_interval: Duration::from_micros(4), timeout: None };
        let config = TransferConfig {
            recovery,
            packets: 10,
            size: Bytes(1000),
            rate: BitRate::from_gbps(25),
            one_way: Duration::from_micros(5),
            lose: [9].into(),
        };
        let report = Transfer::run(config);
        assert_eq!((report.delivered, report.sent, report.nacks), (9, 10, 0));
    }
}
