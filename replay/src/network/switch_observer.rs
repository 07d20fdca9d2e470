//! Observer of one switch of a network: collects the same events as for a single switch, and the frames that enter and
//! leave the network.

use crate::captures::End;
use crate::collector::Collector;
use crate::comment;
use crate::property_check::PropertyCheck;
use crate::timeline::Row;
use sluice_asic::units::{Duration, Time};
use sluice_fabric::network::{Entered, LinkDrop, LinkFrame, Observer, SwitchId};
use sluice_fabric::senders::Heard as HeardPause;
use sluice_switch::property::Violation;
use sluice_switch::{
    Digest, FlowControlEvent, GENERATED, GhostEvent, IdleEntry, Left, Lost, PassEvent, QueueEvent, Sink,
    Switch, TimelineRow,
};
use std::collections::BTreeMap;

/// A frame that entered from outside.
#[derive(Clone, Copy, Debug)]
pub(crate) struct In {
    pub(crate) tag: u64,
    pub(crate) time: Time,
    pub(crate) waited: Duration,
}

/// Property check of one switch. The check numbers the packets of its switch; the network numbers the packets of all
/// switches.
struct SwitchCheck {
    check: PropertyCheck,
    /// Maps the network's number of a packet to the switch's most recent number for it.
    local: BTreeMap<u64, u64>,
    /// Maps the switch's number of a packet to the network's.
    tags: Vec<u64>,
}

impl SwitchCheck {
    fn entered(&mut self, frame: &Entered, bytes: &[u8]) {
        let number = self.tags.len() as u64;
        self.check.entered(number, frame.port, frame.time, bytes);
        self.tags.push(frame.tag);
        if frame.tag != GENERATED {
            self.local.insert(frame.tag, number);
        }
    }

    fn number(&self, tag: u64) -> u64 {
        self.local.get(&tag).copied().unwrap_or(GENERATED)
    }

    fn left(&mut self, frame: &Left, head: &[u8], tail: &[u8]) {
        self.check.monitor.left(&Left { tag: self.number(frame.tag), ..*frame }, head, tail);
    }

    fn lost(&mut self, packet: &Lost, head: &[u8], tail: &[u8]) {
        self.check.monitor.ended(&Lost { tag: self.number(packet.tag), ..*packet }, head, tail);
    }
}

/// Observes one switch.
pub(crate) struct SwitchObserver<'a> {
    pub(crate) collector: Collector<'a>,
    /// Frames from outside since the caller last took them.
    pub(crate) entered: Vec<In>,
    /// Frames that left the network since the caller last took them: number, and time of the first bit out.
    pub(crate) left: Vec<(u64, Time)>,
    /// The caller's observer.
    own: Option<&'a mut (dyn Observer + Send)>,
    /// A control plane's test for frames from outside, and the number of frames that passed it.
    counts: Option<fn(&[u8]) -> bool>,
    pub(crate) counted: u64,
    /// PFC frames to senders that obey them, since the caller last took them.
    pub(crate) pauses: Vec<HeardPause>,
    obeyed: bool,
    /// Rows of the timeline since the caller last took them.
    pub(crate) rows: Vec<Row>,
    check: Option<SwitchCheck>,
}

impl<'a> SwitchObserver<'a> {
    /// Returns the observer of a switch. `counts` is the control plane's test for frames; `obeyed` is true if senders
    /// obey PFC.
    pub(crate) fn new(
        mut collector: Collector<'a>,
        own: Option<&'a mut (dyn Observer + Send)>,
        counts: Option<fn(&[u8]) -> bool>,
        obeyed: bool,
    ) -> SwitchObserver<'a> {
        let check = |check| SwitchCheck { check, local: BTreeMap::new(), tags: Vec::new() };
        let check = collector.check.take().map(check);
        SwitchObserver {
            collector,
            entered: Vec::new(),
            left: Vec::new(),
            own,
            counts,
            counted: 0,
            pauses: Vec::new(),
            obeyed,
            rows: Vec::new(),
            check,
        }
    }

    /// A frame is lost after the switch sent it.
    fn lost_behind_port(&mut self, frame: &Left, drop: LinkDrop, head: &[u8], tail: &[u8]) {
        let collector = &mut self.collector;
        if let Some(trace) = &mut collector.trace {
            trace.lost_on_link(frame, drop);
        }
        if collector.captures.wants_lost() {
            let from = collector.origin(frame.tag);
            let comment = comment::on_link(&collector.view, frame, drop, from, head);
            let end = End { time: frame.first_bit, absorbed: false, bytes: frame.bytes };
            collector.captures.lost(&end, comment, head, tail);
        }
    }

    /// Ends the observation. Returns the collector, and the violated properties with the network's packet numbers.
    pub(crate) fn end(mut self, switch: &Switch<'_>) -> (Collector<'a>, Vec<Violation>) {
        let Some(mut check) = self.check.take() else { return (self.collector, Vec::new()) };
        check.check.monitor.settled(switch);
        let number = |tag: Option<u64>| check.tags.get(usize::try_from(tag?).ok()?).copied();
        let violations = check.check.monitor.violations().iter();
        let violations = violations.map(|v| Violation { tag: number(v.tag), ..v.clone() }).collect();
        (self.collector, violations)
    }
}

impl Observer for SwitchObserver<'_> {
    fn watches(&self) -> bool {
        self.collector.watches() || self.own.as_ref().is_some_and(|own| own.watches())
    }

    fn entered(&mut self, at: SwitchId, frame: &Entered, bytes: &[u8]) {
        if let Some(own) = &mut self.own {
            own.entered(at, frame, bytes);
        }
        if let Some(check) = &mut self.check {
            check.entered(frame, bytes);
        }
        if frame.link.is_none() {
            if let Some(counts) = self.counts {
                self.counted += u64::from(counts(bytes));
            }
            self.entered.push(In { tag: frame.tag, time: frame.time, waited: frame.waited });
        }
    }

    fn on_link(&mut self, from: SwitchId, frame: &LinkFrame, head: &[u8], tail: &[u8]) {
        if let Some(own) = &mut self.own {
            own.on_link(from, frame, head, tail);
        }
        match frame.mac {
            true => self.collector.mac_sent(&frame.left, head),
            false => self.collector.sent(&frame.left, head, tail),
        }
        if let Some(check) = self.check.as_mut().filter(|_| !frame.mac) {
            check.left(&frame.left, head, tail);
        }
        if let Some(spans) = &mut self.collector.spans {
            spans.on_link(frame);
        }
        if let Err(drop) = frame.fate {
            self.lost_behind_port(&frame.left, drop, head, tail);
        }
    }

    fn lost_at_port(
        &mut self,
        from: SwitchId,
        frame: &Left,
        (why, mac): (LinkDrop, bool),
        [head, tail]: [&[u8]; 2],
    ) {
        if let Some(own) = &mut self.own {
            own.lost_at_port(from, frame, (why, mac), [head, tail]);
        }
        match mac {
            true => self.collector.mac_sent(frame, head),
            false => self.collector.sent(frame, head, tail),
        }
        if let Some(check) = self.check.as_mut().filter(|_| !mac) {
            check.left(frame, head, tail);
        }
        self.lost_behind_port(frame, why, head, tail);
    }

    fn delivered(&mut self, from: SwitchId, frame: &Left, head: &[u8], tail: &[u8]) {
        if let Some(own) = &mut self.own {
            own.delivered(from, frame, head, tail);
        }
        if frame.tag != GENERATED {
            self.left.push((frame.tag, frame.first_bit));
        }
        if self.obeyed {
            // A PFC frame is complete in the head.
            self.pauses.extend(HeardPause::of(from.0, frame, head));
        }
        self.collector.sent(frame, head, tail);
        if let Some(check) = &mut self.check {
            check.left(frame, head, tail);
        }
    }

    fn mac_sent(&mut self, from: SwitchId, frame: &Left, bytes: &[u8]) {
        if let Some(own) = &mut self.own {
            own.mac_sent(from, frame, bytes);
        }
        if self.obeyed {
            self.pauses.extend(HeardPause::of(from.0, frame, bytes));
        }
        self.collector.mac_sent(frame, bytes);
    }

    fn lost(&mut self, at: SwitchId, packet: &Lost, head: &[u8], tail: &[u8]) {
        if let Some(own) = &mut self.own {
            own.lost(at, packet, head, tail);
        }
        self.collector.lost(packet, head, tail);
        if let Some(check) = &mut self.check {
            check.lost(packet, head, tail);
        }
    }

    fn pass(&mut self, at: SwitchId, event: &PassEvent) {
        if let Some(own) = &mut self.own {
            own.pass(at, event);
        }
        Sink::pass(&mut self.collector, event);
    }

    fn ghost(&mut self, at: SwitchId, event: &GhostEvent) {
        if let Some(own) = &mut self.own {
            own.ghost(at, event);
        }
        Sink::ghost(&mut self.collector, event);
    }

    fn enqueued(&mut self, at: SwitchId, event: &QueueEvent) {
        Sink::enqueued(&mut self.collector, event);
        if let Some(own) = &mut self.own {
            own.enqueued(at, event);
        }
    }

    fn dequeued(&mut self, at: SwitchId, event: &QueueEvent) {
        if let Some(own) = &mut self.own {
            own.dequeued(at, event);
        }
        Sink::dequeued(&mut self.collector, event);
    }

    fn level(&mut self, at: SwitchId, row: &TimelineRow<'_>) {
        if let Some(own) = &mut self.own {
            own.level(at, row);
        }
        self.rows.push(row.into());
    }

    fn flow_control(&mut self, at: SwitchId, event: &FlowControlEvent) {
        if let Some(own) = &mut self.own {
            own.flow_control(at, event);
        }
    }

    fn digest(&mut self, at: SwitchId, digest: &Digest, data: &[u8]) {
        if let Some(own) = &mut self.own {
            own.digest(at, digest, data);
        }
        Sink::digest(&mut self.collector, digest, data);
    }

    fn idle(&mut self, at: SwitchId, entry: &IdleEntry) {
        if let Some(own) = &mut self.own {
            own.idle(at, entry);
        }
        Sink::idle(&mut self.collector, entry);
    }
}
