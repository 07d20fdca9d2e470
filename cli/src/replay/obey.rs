//! Senders that obey PFC: what `--obey-pfc` puts between the captures and the ports.
//!
//! A stamp is the time at which a frame leaves its sender; it is at the switch a cable's delay later. Frames of a paused
//! priority wait at their sender, in order; those of other priorities pass them. What may not live here: captures, the
//! switch, and how it is driven.

use crate::fail::Failure;
use serde_json::{Value, json};
use sluice_asic::port::DevPort;
use sluice_asic::tm::buffer::{CodePoint, QosMaps};
use sluice_asic::tm::pfc::{PRIORITIES, PfcConfig, PfcTimes};
use sluice_asic::tm::source::PfcSource;
use sluice_asic::units::{BitRate, Bytes, Duration, Length, Time};
use sluice_pcaps::wire::{ethernet, ipv4, ipv6, pause, vlan};
use sluice_pipeline::switch::{GhostEvent, IdleEntry, Left, Lost, PassEvent, QueueEvent, Sink};
use std::collections::VecDeque;

/// A frame that has not been sent.
pub(crate) struct Waiting {
    pub(crate) due: Time,
    pub(crate) tag: u64,
    pub(crate) bytes: Vec<u8>,
    pub(crate) orig_len: u32,
}

/// A frame on its way: when its first bit is at the switch.
pub(crate) struct Sent {
    pub(crate) sender: usize,
    pub(crate) at: Time,
    pub(crate) frame: Waiting,
}

/// What senders send into: a switch or a network.
pub(crate) trait Receiver {
    /// How far it has run.
    fn time(&self) -> Time;

    /// When something will happen in it by itself.
    fn next_time(&self) -> Option<Time>;

    /// Runs up to a time; adds the PFC frames that are sent to senders.
    fn run_until(&mut self, until: Time, heard: &mut Vec<Heard>) -> Result<(), Failure>;

    /// A frame's first bit is there.
    fn take(&mut self, sent: &Sent) -> Result<(), Failure>;

    /// Whether the user has had enough.
    fn stopped(&self) -> bool;
}

/// Where a sender is: number of the switch and port.
pub(crate) type Place = (u32, DevPort);

/// What stands at the far end of one port.
struct Sender {
    at: Place,
    source: PfcSource,
    maps: QosMaps,
    waiting: [VecDeque<Waiting>; PRIORITIES],
    held_back: u64,
    delay: Duration,
    most: Duration,
}

impl Sender {
    /// When a frame that waits may go, as far as is known; none if none waits.
    fn next_time(&self, now: Time) -> Option<Time> {
        let waits = |paused: bool| {
            (0..PRIORITIES)
                .any(|p| !self.waiting[p].is_empty() && (self.source.paused() >> p & 1 != 0) == paused)
        };
        if waits(false) {
            return Some(self.source.free_at().max(now));
        }
        // A pause always ends.
        if waits(true) { self.source.next_time().map(|t| t.max(now)) } else { None }
    }

    /// The priority whose frame has waited longest of those that may go.
    fn choose(&self, now: Time) -> Option<usize> {
        let open = (0..PRIORITIES).filter(|p| self.source.may_send(now, *p as u8));
        open.filter_map(|p| self.waiting[p].front().map(|w| (w.due, w.tag, p))).min().map(|(.., p)| p)
    }
}

/// The senders of all input ports.
pub(crate) struct Senders {
    senders: Vec<Sender>,
    cable: Length,
    heard: Vec<Heard>,
    sent: Vec<Sent>,
}

impl Senders {
    /// Senders by place, rate and what their switches say of PFC and priorities.
    pub(crate) fn new(
        ports: impl Iterator<Item = (Place, BitRate, PfcConfig, QosMaps)>,
        cable: Length,
    ) -> Senders {
        let sender = |(at, rate, config, maps): (Place, BitRate, PfcConfig, QosMaps)| Sender {
            at,
            source: PfcSource::new(rate, cable, &config, u8::MAX),
            maps,
            waiting: [const { VecDeque::new() }; PRIORITIES],
            held_back: 0,
            delay: Duration::ZERO,
            most: Duration::ZERO,
        };
        Senders { senders: ports.map(sender).collect(), cable, heard: Vec::new(), sent: Vec::new() }
    }

    /// Frames that wait.
    pub(crate) fn waiting(&self) -> u64 {
        self.senders.iter().flat_map(|s| &s.waiting).map(|q| q.len() as u64).sum()
    }

    /// Has senders send what may go up to `until`, by what they have been told by then.
    pub(crate) fn send_until(&mut self, until: Time, to: &mut impl Receiver) -> Result<(), Failure> {
        let mut now = to.time();
        loop {
            let next = self.next_time(now).filter(|t| *t <= until);
            let target = next.unwrap_or(until).max(now);
            // While frames wait, what the receiver sends may let them go before: one event after the other.
            let event = to.next_time().filter(|t| *t < target && self.waiting() > 0);
            now = event.unwrap_or(target);
            to.run_until(now, &mut self.heard)?;
            self.listen();
            self.advance(now);
            for sent in self.sent.drain(..) {
                to.take(&sent)?;
            }
            if next.is_none() && event.is_none() {
                return Ok(());
            }
        }
    }

    /// Has senders send what they still hold, up to `end`.
    pub(crate) fn send_rest(&mut self, end: Time, to: &mut impl Receiver) -> Result<(), Failure> {
        while self.waiting() > 0 && !to.stopped() {
            let now = to.time();
            let Some(next) = self.next_time(now).filter(|t| *t <= end) else { break };
            // A moment later than a pause that ends now: nothing stands still.
            self.send_until(next.max(now + Duration::from_ps(1)), to)?;
        }
        Ok(())
    }

    /// PFC frames were sent to senders.
    fn listen(&mut self) {
        for Heard { switch, port, last_bit, times } in self.heard.drain(..) {
            let at = |s: &&mut Sender| (s.at.0, s.at.1.number()) == (switch, port);
            if let Some(sender) = self.senders.iter_mut().find(at) {
                sender.source.heard(last_bit, times);
            }
        }
    }

    /// When a frame that waits may go next.
    fn next_time(&self, now: Time) -> Option<Time> {
        self.senders.iter().filter_map(|s| s.next_time(now)).min()
    }

    /// Lets pauses begin and end, and sends what may go now and has waited.
    fn advance(&mut self, now: Time) {
        let sent = &mut self.sent;
        for (index, sender) in self.senders.iter_mut().enumerate() {
            sender.source.advance(now);
            while let Some(frame) = sender.choose(now).and_then(|p| sender.waiting[p].pop_front()) {
                let waited = now.saturating_since(frame.due);
                if !waited.is_zero() {
                    sender.held_back += 1;
                    sender.delay += waited;
                    sender.most = sender.most.max(waited);
                }
                let at = sender.source.send(now, Bytes(frame.orig_len.into())).first_bit;
                sent.push(Sent { sender: index, at, frame });
            }
        }
    }

    /// A frame is due; it is sent when it may.
    pub(crate) fn queue(&mut self, sender: usize, frame: Waiting) {
        let sender = &mut self.senders[sender];
        let priority = usize::from(sender.maps.class(code_point(&frame.bytes)).tc) % PRIORITIES;
        sender.waiting[priority].push_back(frame);
    }

    /// What the summary of a switch says of its senders.
    pub(crate) fn json(&self, switch: u32, name: impl Fn(u16) -> String, now: Time) -> Value {
        let sender = |s: &Sender| {
            let stats = s.source.stats(now);
            let sum = |of: &dyn Fn(usize) -> u64| (0..PRIORITIES).map(of).sum::<u64>();
            json!({
                "port": name(s.at.1.number()), "dev_port": s.at.1.number(),
                "held_back": s.held_back,
                "delay_ns": { "total": s.delay.as_ps() as f64 / 1e3, "most": s.most.as_ps() as f64 / 1e3 },
                "unsent": s.waiting.iter().map(|q| q.len() as u64).sum::<u64>(),
                "pauses": sum(&|p| stats[p].pauses),
                "paused_ns": sum(&|p| stats[p].paused.as_ps()) as f64 / 1e3,
            })
        };
        json!({
            "cable_m": self.cable.as_millimetres() as f64 / 1e3,
            "ports": self.senders.iter().filter(|s| s.at.0 == switch).map(sender).collect::<Vec<_>>(),
        })
    }
}

/// What decides a frame's priority, as a switch looks at it.
fn code_point(frame: &[u8]) -> CodePoint {
    let Ok(link) = ethernet::View::new(frame) else { return CodePoint::None };
    let (mut kind, mut rest, mut pcp) = (link.ethertype(), link.payload(), None);
    if kind == ethernet::TYPE_VLAN
        && let Ok(tag) = vlan::View::new(rest)
    {
        (kind, pcp, rest) = (tag.ethertype(), Some(tag.tag().pcp), tag.payload());
    }
    let dscp = match kind {
        ethernet::TYPE_IPV4 => ipv4::View::new(rest).ok().map(|ip| ip.dscp()),
        ethernet::TYPE_IPV6 => ipv6::View::new(rest).ok().map(|ip| ip.dscp()),
        _ => None,
    };
    dscp.map(CodePoint::Dscp).or(pcp.map(CodePoint::Pcp)).unwrap_or(CodePoint::None)
}

/// A PFC frame that a switch sent: its number, dev_port, last bit, times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heard {
    switch: u32,
    port: u16,
    last_bit: Time,
    times: PfcTimes,
}

impl Heard {
    /// The pause that a frame is, whoever made it; none of any other.
    pub(crate) fn of(switch: u32, packet: &Left, frame: &[u8]) -> Option<Heard> {
        let link = ethernet::View::new(frame).ok().filter(|l| l.ethertype() == ethernet::TYPE_MAC_CONTROL)?;
        match pause::View::new(link.payload()).ok()?.packet() {
            pause::Packet::Pfc { enabled, quanta } => Some(Heard {
                switch,
                port: packet.egress_port,
                last_bit: packet.last_bit,
                times: PfcTimes { enabled, quanta },
            }),
            _ => None,
        }
    }
}

/// A sink that also listens for PFC frames.
pub(crate) struct Ears<'s, S> {
    pub(crate) inner: &'s mut S,
    pub(crate) heard: &'s mut Vec<Heard>,
}

impl<S: Sink> Sink for Ears<'_, S> {
    fn sent(&mut self, packet: &Left, head: &[u8], tail: &[u8]) {
        // A whole PFC frame is in the head: it is shorter than any that is split.
        self.heard.extend(Heard::of(0, packet, head));
        self.inner.sent(packet, head, tail);
    }

    fn mac_sent(&mut self, packet: &Left, frame: &[u8]) {
        self.heard.extend(Heard::of(0, packet, frame));
        self.inner.mac_sent(packet, frame);
    }

    fn lost(&mut self, packet: &Lost, head: &[u8], tail: &[u8]) {
        self.inner.lost(packet, head, tail);
    }

    fn watches(&self) -> bool {
        self.inner.watches()
    }

    fn pass(&mut self, event: &PassEvent) {
        self.inner.pass(event);
    }

    fn digest(&mut self, digest: &sluice_pipeline::switch::Digest, data: &[u8]) {
        self.inner.digest(digest, data);
    }

    fn idle(&mut self, entry: &IdleEntry) {
        self.inner.idle(entry);
    }

    fn ghost(&mut self, event: &GhostEvent) {
        self.inner.ghost(event);
    }

    fn enqueued(&mut self, event: &QueueEvent) {
        self.inner.enqueued(event);
    }

    fn dequeued(&mut self, event: &QueueEvent) {
        self.inner.dequeued(event);
    }
}
