//! One switch of a network, with the frames on their way to its ports, the wires that start there, and its hosts.

use super::addressed::Addresses;
use super::host::{Host, HostFrame, Hosts};
use super::lane::Lane;
use super::link::Wire;
use super::observe::{Entered, LinkFrame, Observer};
use super::{LinkDrop, LinkId, SwitchId, Way};
use sluice_asic::mac::MIN_FRAME;
use sluice_asic::port::DevPort;
use sluice_asic::units::{Bytes, Duration, Time};
use sluice_switch::{
    Digest, FlowControlEvent, GhostEvent, IdleEntry, Left, Lost, PassEvent, QueueEvent, RxFrame, Sink,
    Switch, SwitchError, Timeline, TimelineRow,
};
use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BTreeMap, BinaryHeap};

/// Number of frames passed to a switch before it runs up to the last of them.
const STRIDE: u32 = 64;

/// Marks a port without a wire, inlet or host in the tables by dev_port.
const EDGE: u16 = u16::MAX;

/// A port that frames arrive on, from a link, a host, or by injection.
#[derive(Debug)]
pub(super) struct Inlet {
    pub(super) port: DevPort,
    /// The link, its direction, and the index of this wire among all wires; `None` without a link.
    pub(super) from: Option<(LinkId, Way, usize)>,
    pub(super) frames: Lane,
    /// Number of frames passed to the switch.
    pub(super) taken: u64,
    /// First bit of the last frame that was injected or sent by a host.
    pub(super) last: Time,
}

/// A wire that starts at a port, and frames that are on it and not yet handed over.
#[derive(Debug)]
pub(super) struct Outlet {
    /// Index among all wires of the network.
    pub(super) number: usize,
    /// Index of the inlet at the far end.
    pub(super) inlet: u16,
    pub(super) wire: Wire,
    pub(super) frames: Lane,
}

/// A switch with its inlets, outlets and hosts.
pub(super) struct Node {
    pub(super) id: SwitchId,
    pub(super) switch: Switch<'static>,
    pub(super) lead: Duration,
    pub(super) inlets: Vec<Inlet>,
    pub(super) outlets: Vec<Outlet>,
    /// Index of the inlet of each dev_port, and of the outlet; `EDGE` if there is none.
    pub(super) inlet_of: Vec<u16>,
    outlet_of: Vec<u16>,
    /// Hosts at ports without a wire, and the index of the host of each dev_port.
    pub(super) hosts: Hosts,
    host_of: Vec<u16>,
    /// True for each dev_port without a link where the network ends; `None`: it ends at all of them.
    edges: Option<Vec<bool>>,
    pub(super) addresses: Addresses,
    heads: Heads,
    /// Outlets with frames that are not yet handed over.
    pub(super) sending: Vec<u16>,
    /// Scratch memory: inlets and wires of frames handed over to this switch.
    pub(super) mail: Vec<(u16, usize)>,
    /// Frames that left the network, and their bytes.
    pub(super) delivered: u64,
    pub(super) delivered_bytes: u64,
    /// Frames sent on ports with nothing at their far end, by dev_port.
    pub(super) uncabled: BTreeMap<u16, u64>,
    /// Records the traffic manager's occupancy, if requested; `look` is the time of the next record.
    timeline: Option<Box<Timeline>>,
    look: Time,
}

impl Node {
    pub(super) fn new(id: SwitchId, switch: Switch<'static>) -> Node {
        let ports = usize::from(DevPort::COUNT);
        Node {
            id,
            lead: switch.reception_lead(),
            switch,
            inlets: Vec::new(),
            outlets: Vec::new(),
            inlet_of: vec![EDGE; ports],
            outlet_of: vec![EDGE; ports],
            hosts: Hosts::default(),
            host_of: vec![EDGE; ports],
            edges: None,
            addresses: Addresses::default(),
            heads: BinaryHeap::new(),
            sending: Vec::new(),
            mail: Vec::new(),
            delivered: 0,
            delivered_bytes: 0,
            uncabled: BTreeMap::new(),
            timeline: None,
            look: Time::MAX,
        }
    }

    /// Starts recording the traffic manager's occupancy, at multiples of `every` or, with `None`, at every change.
    pub(super) fn watch(&mut self, every: Option<Duration>) {
        self.timeline = Some(Box::new(Timeline::new(&mut self.switch, every)));
    }

    /// Passes the changes of the traffic manager since the last record to `tell`.
    pub(super) fn look(&mut self, tell: &mut impl FnMut(&TimelineRow<'_>)) {
        if let Some(timeline) = &mut self.timeline {
            timeline.look(&mut self.switch, tell);
        }
    }

    /// The network ends at no port of this switch but those that [`edge`](Self::edge) adds and those of hosts.
    pub(super) fn close(&mut self) {
        self.edges.get_or_insert_with(|| vec![false; usize::from(DevPort::COUNT)]);
    }

    /// The network ends at this port: something is at its far end.
    pub(super) fn edge(&mut self, port: DevPort) {
        if let Some(is_edge) = self.edges.as_mut().and_then(|all| all.get_mut(usize::from(port.number()))) {
            *is_edge = true;
        }
    }

    /// Adds an inlet to a port and returns the inlet's index.
    pub(super) fn add_inlet(&mut self, port: DevPort, from: Option<(LinkId, Way, usize)>) -> usize {
        let number = self.inlets.len();
        self.inlets.push(Inlet { port, from, frames: Lane::default(), taken: 0, last: Time::ORIGIN });
        if let Some(slot) = self.inlet_of.get_mut(usize::from(port.number())) {
            *slot = number as u16;
        }
        number
    }

    /// Adds a wire that starts at a port and ends at an inlet of another switch. `number` is its index among all wires.
    pub(super) fn add_outlet(&mut self, port: DevPort, (number, inlet): (usize, u16), wire: Wire) {
        if let Some(slot) = self.outlet_of.get_mut(usize::from(port.number())) {
            *slot = self.outlets.len() as u16;
        }
        self.outlets.push(Outlet { number, inlet, wire, frames: Lane::default() });
    }

    /// Attaches a host to a port by a cable.
    pub(super) fn attach(&mut self, port: DevPort, cable: Duration, host: Box<dyn Host>) {
        let inlet = self.inlet(port).unwrap_or_else(|| self.add_inlet(port, None));
        self.edge(port);
        let number = self.hosts.attach(inlet, cable, host);
        if let Some(slot) = self.host_of.get_mut(usize::from(port.number())) {
            *slot = number;
        }
    }

    /// Returns true if a port has a host.
    pub(super) fn has_host(&self, port: DevPort) -> bool {
        self.host_of.get(usize::from(port.number())).is_some_and(|host| *host != EDGE)
    }

    /// Returns the index of a port's inlet, if it has one.
    pub(super) fn inlet(&self, port: DevPort) -> Option<usize> {
        let number = self.inlet_of.get(usize::from(port.number())).copied().unwrap_or(EDGE);
        (number != EDGE).then_some(usize::from(number))
    }

    /// Adds a frame to an inlet.
    pub(super) fn put(&mut self, inlet: usize, time: Time, tag: u64, orig_len: u32, bytes: &[u8]) {
        let Some(at) = self.inlets.get_mut(inlet) else { return };
        if at.frames.is_empty() {
            self.heads.push(Reverse((time, inlet as u16)));
        }
        at.frames.push(time, tag, orig_len, [bytes, &[], &[]]);
    }

    /// Takes the frames that arrived by a wire.
    pub(super) fn pull(&mut self, inlet: usize, from: &mut Lane) {
        let Some(at) = self.inlets.get_mut(inlet) else { return };
        if at.frames.is_empty()
            && let Some(time) = from.next_time()
        {
            self.heads.push(Reverse((time, inlet as u16)));
        }
        at.frames.take(from);
    }

    /// Returns a time before which nothing happens at this node.
    pub(super) fn next_time(&self) -> Time {
        let frame = self.heads.peek().map_or(Time::MAX, |Reverse((time, _))| *time + self.lead);
        let hosts = self.hosts.next_time();
        self.switch.next_time().unwrap_or(Time::MAX).min(frame).min(self.look).min(hosts)
    }

    /// Returns true if packets, frames or a host are here for which a run must wait.
    pub(super) fn is_busy(&self) -> bool {
        self.switch.is_busy() || !self.heads.is_empty() || self.hosts.is_busy()
    }

    /// Returns the number of waiting frames from links, and of other waiting frames.
    pub(super) fn waiting(&self) -> (u64, u64) {
        let of = |linked: bool| {
            let some = self.inlets.iter().filter(|inlet| inlet.from.is_some() == linked);
            some.map(|inlet| inlet.frames.len() as u64).sum()
        };
        (of(true), of(false))
    }

    /// Runs switch and hosts up to and including `until`. Frames that are not here yet must not act before then.
    pub(super) fn run(&mut self, until: Time, observer: &mut dyn Observer) -> Result<(), SwitchError> {
        if self.hosts.is_empty() {
            return self.run_switch(until, observer);
        }
        let cable = self.hosts.nearest();
        let moment = Duration::from_ps(1);
        loop {
            // A frame that a host sends next acts at the switch at least the cable's delay and the MAC's latency later. The
            // answer to a frame that the switch sends next acts one more cable's delay later, even if all hosts are quiet.
            let quiet = self.hosts.next_time();
            let acts = quiet.min(self.next_time().checked_add(cable).unwrap_or(Time::MAX));
            let acts = acts.checked_add(cable + self.lead).unwrap_or(Time::MAX);
            let limit = until.min(acts.saturating_sub(moment));
            self.run_switch(limit, observer)?;
            self.run_hosts(limit);
            if limit == until {
                return Ok(());
            }
        }
    }

    /// Runs the hosts after the switch has run up to `limit`.
    fn run_hosts(&mut self, limit: Time) {
        let Node { hosts, inlets, heads, .. } = self;
        hosts.run(limit, &mut |inlet, first_bit, frame| take_in(inlets, heads, inlet, first_bit, frame));
    }

    /// Ends a run of the network: lets the clocks of hosts that had no event come up to the others.
    pub(super) fn settle(&mut self) {
        let Node { hosts, inlets, heads, .. } = self;
        hosts.settle(&mut |inlet, first_bit, frame| take_in(inlets, heads, inlet, first_bit, frame));
    }

    /// Runs the switch without its hosts, up to and including `until`.
    fn run_switch(&mut self, until: Time, observer: &mut dyn Observer) -> Result<(), SwitchError> {
        let mut given = 0;
        // Frames that cannot act by `until` are left for the next call, so that results do not depend on whether they
        // are here yet.
        let acts = |head: &Reverse<(Time, u16)>, lead: Duration| head.0.0 + lead <= until;
        while let Some(Reverse((time, number))) = self.heads.peek().copied().filter(|h| acts(h, self.lead)) {
            if given == STRIDE {
                // The remaining frames have their first bit at this time or later.
                given = 0;
                self.advance(time.saturating_sub(Duration::from_ps(1)), observer)?;
            }
            given += 1;
            self.receive(time, number, observer)?;
        }
        self.advance(until, observer)
    }

    /// Passes the first frame of an inlet, which is the first in `heads`, to the switch.
    fn receive(&mut self, time: Time, number: u16, observer: &mut dyn Observer) -> Result<(), SwitchError> {
        let Node { switch, inlets, heads, id, .. } = self;
        let Some(inlet) = inlets.get_mut(usize::from(number)) else { return Ok(()) };
        let (port, link) = (inlet.port, inlet.from.map(|(link, way, _)| (link, way)));
        let given = inlet.frames.pop(|frame, bytes| {
            let rx = RxFrame { bytes, orig_len: frame.orig_len, tag: frame.tag };
            let waited = switch.rx(port, time, rx)?;
            let (tag, port, bytes_long) = (frame.tag, port.number(), frame.orig_len);
            let entered = Entered { tag, port, time: time + waited, waited, bytes: bytes_long, link };
            observer.entered(*id, &entered, bytes);
            Ok(())
        });
        inlet.taken += 1;
        if let Some(mut head) = heads.peek_mut() {
            match inlet.frames.next_time() {
                Some(next) => *head = Reverse((next, number)),
                None => drop(PeekMut::pop(head)),
            }
        }
        given.unwrap_or(Ok(()))
    }

    fn advance(&mut self, until: Time, observer: &mut dyn Observer) -> Result<(), SwitchError> {
        let Some(mut timeline) = self.timeline.take() else { return self.step(until, observer) };
        let id = self.id;
        while let Some(at) = timeline.next_look(&mut self.switch).filter(|at| *at <= until) {
            self.step(at, observer)?;
            timeline.look(&mut self.switch, &mut |row| observer.level(id, row));
        }
        self.step(until, observer)?;
        self.look = timeline.next_look(&mut self.switch).unwrap_or(Time::MAX);
        self.timeline = Some(timeline);
        Ok(())
    }

    fn step(&mut self, until: Time, observer: &mut dyn Observer) -> Result<(), SwitchError> {
        let mut sink = NodeSink {
            id: self.id,
            outlets: &mut self.outlets,
            outlet_of: &self.outlet_of,
            hosts: &mut self.hosts,
            host_of: &self.host_of,
            edges: self.edges.as_deref(),
            addresses: &mut self.addresses,
            sending: &mut self.sending,
            delivered: &mut self.delivered,
            delivered_bytes: &mut self.delivered_bytes,
            uncabled: &mut self.uncabled,
            observer,
        };
        self.switch.advance(until, &mut sink)
    }
}

/// Times of the first frame of each inlet that has frames, and the inlet's index.
type Heads = BinaryHeap<Reverse<(Time, u16)>>;

/// Puts a frame of a host into the inlet of its port.
fn take_in(inlets: &mut [Inlet], heads: &mut Heads, number: usize, first_bit: Time, frame: HostFrame<'_>) {
    let Some(inlet) = inlets.get_mut(number) else { return };
    if inlet.frames.is_empty() {
        heads.push(Reverse((first_bit, number as u16)));
    }
    inlet.last = first_bit;
    inlet.frames.push(first_bit, frame.tag, frame.orig_len, [frame.bytes, &[], &[]]);
}

/// Puts frames that the switch sends on wires, on cables of hosts, or out of the network.
struct NodeSink<'a> {
    id: SwitchId,
    outlets: &'a mut [Outlet],
    outlet_of: &'a [u16],
    hosts: &'a mut Hosts,
    host_of: &'a [u16],
    edges: Option<&'a [bool]>,
    addresses: &'a mut Addresses,
    sending: &'a mut Vec<u16>,
    delivered: &'a mut u64,
    delivered_bytes: &'a mut u64,
    uncabled: &'a mut BTreeMap<u16, u64>,
    observer: &'a mut dyn Observer,
}

impl NodeSink<'_> {
    /// Puts the frame on the cable of the port's host, if it has one.
    fn hand_over(&mut self, left: &Left, head: &[u8], tail: &[u8]) {
        let number = self.host_of.get(usize::from(left.egress_port)).copied().unwrap_or(EDGE);
        if number != EDGE {
            self.hosts.put(number, left.last_bit, |lane, at| put_padded(lane, at, left, [head, tail]));
        }
    }

    /// Puts the frame on the port's wire and returns true, also if nothing is at the port's far end, or a host that the frame is not
    /// for; where the network ends, counts the frame as delivered and returns false.
    fn on_wire(&mut self, left: &Left, mac: bool, head: &[u8], tail: &[u8]) -> bool {
        let port = usize::from(left.egress_port);
        let number = self.outlet_of.get(port).copied().unwrap_or(EDGE);
        let Some(out) = self.outlets.get_mut(usize::from(number)) else {
            if self.edges.is_some_and(|all| !all.get(port).copied().unwrap_or(false)) {
                *self.uncabled.entry(left.egress_port).or_default() += 1;
                self.observer.lost_at_port(self.id, left, (LinkDrop::NoCable, mac), [head, tail]);
                return true;
            }
            if !mac && self.addresses.refuse(left.egress_port, left.made, [head, tail]) {
                self.observer.lost_at_port(self.id, left, (LinkDrop::WrongHost, mac), [head, tail]);
                return true;
            }
            *self.delivered += 1;
            *self.delivered_bytes += u64::from(left.bytes);
            self.hand_over(left, head, tail);
            return false;
        };
        let wire = &mut out.wire;
        let fate = wire.judge(left.first_bit, left.last_bit);
        wire.count(Bytes(u64::from(left.bytes)));
        if let Ok(arrival) = fate {
            if out.frames.is_empty() {
                self.sending.push(number);
            }
            put_padded(&mut out.frames, arrival, left, [head, tail]);
        }
        let frame = LinkFrame { link: wire.link, way: wire.way, left: *left, mac, fate };
        self.observer.on_link(self.id, &frame, head, tail);
        true
    }
}

/// Adds a frame to a lane, padded to the minimum frame length.
fn put_padded(lane: &mut Lane, time: Time, left: &Left, [head, tail]: [&[u8]; 2]) {
    let captured = head.len() + tail.len();
    let shortest = MIN_FRAME.get() as usize;
    // A frame whose bytes are truncated is not padded.
    let pad = if captured == left.bytes as usize { shortest.saturating_sub(captured) } else { 0 };
    let padding = ZEROS.get(..pad).unwrap_or_default();
    lane.push(time, left.tag, left.bytes.max(shortest as u32), [head, tail, padding]);
}

/// Padding of short frames.
const ZEROS: [u8; 64] = [0; 64];

impl Sink for NodeSink<'_> {
    fn watches(&self) -> bool {
        self.observer.watches()
    }

    fn sent(&mut self, packet: &Left, head: &[u8], tail: &[u8]) {
        if !self.on_wire(packet, false, head, tail) {
            self.observer.delivered(self.id, packet, head, tail);
        }
    }

    fn mac_sent(&mut self, packet: &Left, frame: &[u8]) {
        if !self.on_wire(packet, true, frame, &[]) {
            self.observer.mac_sent(self.id, packet, frame);
        }
    }

    fn lost(&mut self, packet: &Lost, head: &[u8], tail: &[u8]) {
        self.observer.lost(self.id, packet, head, tail);
    }

    fn pass(&mut self, event: &PassEvent) {
        self.observer.pass(self.id, event);
    }

    fn digest(&mut self, digest: &Digest, data: &[u8]) {
        self.observer.digest(self.id, digest, data);
    }

    fn idle(&mut self, entry: &IdleEntry) {
        self.observer.idle(self.id, entry);
    }

    fn ghost(&mut self, event: &GhostEvent) {
        self.observer.ghost(self.id, event);
    }

    fn enqueued(&mut self, event: &QueueEvent) {
        self.observer.enqueued(self.id, event);
    }

    fn dequeued(&mut self, event: &QueueEvent) {
        self.observer.dequeued(self.id, event);
    }

    fn flow_control(&mut self, event: &FlowControlEvent) {
        self.observer.flow_control(self.id, event);
    }
}
