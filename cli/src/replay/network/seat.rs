//! What watches one switch of a network: its captures and latencies as if it were alone, and what only the network as
//! a whole can tell. What may not live here: other switches.

use super::super::comment;
use super::super::output::Death;
use super::super::sink::Collector;
use sluice_asic::units::{Duration, Time};
use sluice_fabric::network::{Entered, LinkFrame, Observer, SwitchId};
use sluice_pipeline::switch::{GENERATED, Left, Lost, Sink};

/// A frame that came in from outside.
#[derive(Clone, Copy, Debug)]
pub(super) struct In {
    pub(super) tag: u64,
    pub(super) time: Time,
    pub(super) waited: Duration,
}

/// A switch's place among the watched.
pub(super) struct Seat<'a> {
    pub(super) collector: Collector<'a>,
    /// Frames that came in since they were last taken.
    pub(super) entered: Vec<In>,
    /// Frames that left the network since they were last taken: tag, first bit out.
    pub(super) left: Vec<(u64, Time)>,
}

impl<'a> Seat<'a> {
    pub(super) fn new(collector: Collector<'a>) -> Seat<'a> {
        Seat { collector, entered: Vec::new(), left: Vec::new() }
    }
}

impl Observer for Seat<'_> {
    fn entered(&mut self, _: SwitchId, frame: &Entered, _: &[u8]) {
        if frame.link.is_none() {
            self.entered.push(In { tag: frame.tag, time: frame.time, waited: frame.waited });
        }
    }

    fn on_link(&mut self, _: SwitchId, frame: &LinkFrame, head: &[u8], tail: &[u8]) {
        match frame.mac {
            true => self.collector.mac_sent(&frame.left, head),
            false => self.collector.sent(&frame.left, head, tail),
        }
        if let Err(drop) = frame.fate
            && self.collector.outputs.wants_lost()
        {
            let from = self.collector.origin(frame.left.tag);
            let comment = comment::on_link(self.collector.plan(), &frame.left, drop, from, head);
            let death = Death { time: frame.left.first_bit, absorbed: false, bytes: frame.left.bytes };
            self.collector.outputs.lost(&death, comment, head, tail);
        }
    }

    fn delivered(&mut self, _: SwitchId, frame: &Left, head: &[u8], tail: &[u8]) {
        if frame.tag != GENERATED {
            self.left.push((frame.tag, frame.first_bit));
        }
        self.collector.sent(frame, head, tail);
    }

    fn mac_sent(&mut self, _: SwitchId, frame: &Left, bytes: &[u8]) {
        self.collector.mac_sent(frame, bytes);
    }

    fn lost(&mut self, _: SwitchId, packet: &Lost, head: &[u8], tail: &[u8]) {
        self.collector.lost(packet, head, tail);
    }
}
