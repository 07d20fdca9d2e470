//! What watches one switch of a network: its captures and latencies as if it were alone, and what only the network as a
//! whole can tell.

use super::super::checked::Checked;
use super::super::comment;
use super::super::output::Death;
use super::super::sink::Collector;
use crate::timeline::Row;
use sluice_asic::units::{Duration, Time};
use sluice_exec::pass::Executor;
use sluice_fabric::network::{Entered, LinkFrame, Observer, SwitchId};
use sluice_fabric::senders::Heard;
use sluice_fabric::story::Watcher;
use sluice_switch::{
    Digest, FlowControlEvent, GENERATED, GhostEvent, IdleEntry, Left, Lost, PassEvent, QueueEvent, Sink,
    Switch, TimelineRow,
};
use std::collections::BTreeMap;

/// A frame that came in from outside.
#[derive(Clone, Copy, Debug)]
pub(super) struct In {
    pub(super) tag: u64,
    pub(super) time: Time,
    pub(super) waited: Duration,
}

/// The properties of one switch's program. Their packets are numbered by switch, those of the network over all.
struct Watch {
    checked: Checked,
    /// From the network's number to the switch's last one.
    local: BTreeMap<u64, u64>,
    /// The other way round.
    tags: Vec<u64>,
}

impl Watch {
    fn entered(&mut self, frame: &Entered, bytes: &[u8]) {
        let number = self.tags.len() as u64;
        self.checked.entered(number, frame.port, frame.time, bytes);
        self.tags.push(frame.tag);
        if frame.tag != GENERATED {
            self.local.insert(frame.tag, number);
        }
    }

    fn number(&self, tag: u64) -> u64 {
        self.local.get(&tag).copied().unwrap_or(GENERATED)
    }

    fn left(&mut self, frame: &Left, head: &[u8], tail: &[u8]) {
        self.checked.monitor.left(&Left { tag: self.number(frame.tag), ..*frame }, head, tail);
    }

    fn lost(&mut self, packet: &Lost, head: &[u8], tail: &[u8]) {
        self.checked.monitor.ended(&Lost { tag: self.number(packet.tag), ..*packet }, head, tail);
    }
}

/// Who wants to hear of what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wants {
    /// An agent that hears digests and idle entries: its test for frames to be counted.
    pub(super) digests: Option<fn(&[u8]) -> bool>,
    /// Senders of PFC frames.
    pub(super) pauses: bool,
}

/// A switch's place among the watched.
pub(super) struct Seat<'a> {
    pub(super) collector: Collector<'a>,
    /// Frames that came in since they were last taken.
    pub(super) entered: Vec<In>,
    /// Frames that left the network since they were last taken: tag, first bit out.
    pub(super) left: Vec<(u64, Time)>,
    /// Watches a flow.
    pub(super) watcher: Option<Watcher>,
    /// The test of an agent that wants to hear what follows, for frames to be counted.
    heard: Option<fn(&[u8]) -> bool>,
    /// What the program told since it was last taken.
    pub(super) digests: Vec<(Time, Vec<u8>)>,
    /// Entries of the flow table that were idle since they were last taken.
    pub(super) idle: Vec<IdleEntry>,
    /// Frames from hosts that passed the test.
    pub(super) data: u64,
    /// PFC frames to senders, if these obey them, since they were last taken.
    pub(super) pauses: Vec<Heard>,
    obeyed: bool,
    /// What the traffic manager held since it was last taken.
    pub(super) levels: Vec<Row>,
    watch: Option<Watch>,
}

impl<'a> Seat<'a> {
    pub(super) fn new(mut collector: Collector<'a>, watcher: Option<Watcher>, wants: Wants) -> Seat<'a> {
        let watch = |checked| Watch { checked, local: BTreeMap::new(), tags: Vec::new() };
        let watch = collector.checked.take().map(watch);
        let Wants { digests: heard, pauses: obeyed } = wants;
        let (entered, left, digests, idle) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (pauses, levels, data) = (Vec::new(), Vec::new(), 0);
        Seat { collector, entered, left, watcher, heard, digests, idle, data, pauses, obeyed, levels, watch }
    }

    /// The run is over: what was collected, and the network's numbers of the packets that properties were asked about.
    pub(super) fn end<E: Executor>(mut self, switch: &Switch<E>) -> (Collector<'a>, Vec<u64>) {
        let Some(mut watch) = self.watch.take() else { return (self.collector, Vec::new()) };
        watch.checked.monitor.settled(switch);
        self.collector.checked = Some(watch.checked);
        (self.collector, watch.tags)
    }
}

impl Observer for Seat<'_> {
    fn entered(&mut self, at: SwitchId, frame: &Entered, bytes: &[u8]) {
        if let Some(watcher) = &mut self.watcher {
            watcher.entered(at, frame, bytes);
        }
        if let Some(watch) = &mut self.watch {
            watch.entered(frame, bytes);
        }
        if frame.link.is_none() {
            self.data += u64::from(self.heard.is_some_and(|counts| counts(bytes)));
            self.entered.push(In { tag: frame.tag, time: frame.time, waited: frame.waited });
        }
    }

    fn on_link(&mut self, from: SwitchId, frame: &LinkFrame, head: &[u8], tail: &[u8]) {
        if let Some(watcher) = &mut self.watcher {
            watcher.on_link(from, frame, head, tail);
        }
        match frame.mac {
            true => self.collector.mac_sent(&frame.left, head),
            false => self.collector.sent(&frame.left, head, tail),
        }
        if let Some(watch) = self.watch.as_mut().filter(|_| !frame.mac) {
            watch.left(&frame.left, head, tail);
        }
        if let (Err(drop), Some(trace)) = (frame.fate, &mut self.collector.trace) {
            trace.lost_on_link(&frame.left, drop);
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

    fn delivered(&mut self, from: SwitchId, frame: &Left, head: &[u8], tail: &[u8]) {
        if let Some(watcher) = &mut self.watcher {
            watcher.delivered(from, frame, head, tail);
        }
        if frame.tag != GENERATED {
            self.left.push((frame.tag, frame.first_bit));
        }
        if self.obeyed {
            // A whole PFC frame is in the head.
            self.pauses.extend(Heard::of(from.0, frame, head));
        }
        self.collector.sent(frame, head, tail);
        if let Some(watch) = &mut self.watch {
            watch.left(frame, head, tail);
        }
    }

    fn mac_sent(&mut self, from: SwitchId, frame: &Left, bytes: &[u8]) {
        if self.obeyed {
            self.pauses.extend(Heard::of(from.0, frame, bytes));
        }
        self.collector.mac_sent(frame, bytes);
    }

    fn lost(&mut self, at: SwitchId, packet: &Lost, head: &[u8], tail: &[u8]) {
        if let Some(watcher) = &mut self.watcher {
            watcher.lost(at, packet, head, tail);
        }
        self.collector.lost(packet, head, tail);
        if let Some(watch) = &mut self.watch {
            watch.lost(packet, head, tail);
        }
    }

    fn pass(&mut self, _: SwitchId, event: &PassEvent) {
        Sink::pass(&mut self.collector, event);
    }

    fn ghost(&mut self, _: SwitchId, event: &GhostEvent) {
        Sink::ghost(&mut self.collector, event);
    }

    fn dequeued(&mut self, _: SwitchId, event: &QueueEvent) {
        Sink::dequeued(&mut self.collector, event);
    }

    fn level(&mut self, _: SwitchId, row: &TimelineRow<'_>) {
        self.levels.push(row.into());
    }

    fn enqueued(&mut self, at: SwitchId, event: &QueueEvent) {
        Sink::enqueued(&mut self.collector, event);
        if let Some(watcher) = &mut self.watcher {
            watcher.enqueued(at, event);
        }
    }

    fn flow_control(&mut self, at: SwitchId, event: &FlowControlEvent) {
        if let Some(watcher) = &mut self.watcher {
            watcher.flow_control(at, event);
        }
    }

    fn digest(&mut self, _: SwitchId, digest: &Digest, data: &[u8]) {
        if self.heard.is_some() {
            self.digests.push((digest.time, data.to_vec()));
        }
    }

    fn idle(&mut self, _: SwitchId, entry: &IdleEntry) {
        Sink::idle(&mut self.collector, entry);
        if self.heard.is_some() {
            self.idle.push(*entry);
        }
    }
}
