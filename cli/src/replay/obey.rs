//! Senders that obey PFC: what `--obey-pfc` puts between the captures and the ports.
//!
//! A stamp is the time at which a frame leaves its sender; it is at the switch a cable's delay later. Frames of a paused
//! priority wait at their sender, in order; those of other priorities pass them. What may not live here: captures, the
//! switch, and how it is driven.

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

/// What stands at the far end of one port.
struct Sender {
    port: DevPort,
    source: PfcSource,
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
    maps: QosMaps,
}

impl Senders {
    pub(crate) fn new(
        ports: impl Iterator<Item = (DevPort, BitRate)>,
        cable: Length,
        config: &PfcConfig,
        maps: QosMaps,
    ) -> Senders {
        let sender = |(port, rate)| Sender {
            port,
            source: PfcSource::new(rate, cable, config, u8::MAX),
            waiting: [const { VecDeque::new() }; PRIORITIES],
            held_back: 0,
            delay: Duration::ZERO,
            most: Duration::ZERO,
        };
        Senders { senders: ports.map(sender).collect(), cable, maps }
    }

    /// Frames that wait.
    pub(crate) fn waiting(&self) -> u64 {
        self.senders.iter().flat_map(|s| &s.waiting).map(|q| q.len() as u64).sum()
    }

    /// The switch sent PFC frames.
    pub(crate) fn heard(&mut self, frames: &mut Vec<Heard>) {
        for (port, last_bit, times) in frames.drain(..) {
            if let Some(sender) = self.senders.iter_mut().find(|s| s.port.number() == port) {
                sender.source.heard(last_bit, times);
            }
        }
    }

    /// When a frame that waits may go next.
    pub(crate) fn next_time(&self, now: Time) -> Option<Time> {
        self.senders.iter().filter_map(|s| s.next_time(now)).min()
    }

    /// Lets pauses begin and end, and sends what may go now and has waited.
    pub(crate) fn advance(&mut self, now: Time, sent: &mut Vec<Sent>) {
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

    /// A frame is due; it is sent by the next [`Senders::advance`] that may.
    pub(crate) fn queue(&mut self, sender: usize, frame: Waiting) {
        let priority = usize::from(self.maps.class(code_point(&frame.bytes)).tc) % PRIORITIES;
        self.senders[sender].waiting[priority].push_back(frame);
    }

    /// What the summary says of them.
    pub(crate) fn json(&self, name: impl Fn(u16) -> String, now: Time) -> Value {
        let sender = |s: &Sender| {
            let stats = s.source.stats(now);
            let sum = |of: &dyn Fn(usize) -> u64| (0..PRIORITIES).map(of).sum::<u64>();
            json!({
                "port": name(s.port.number()), "dev_port": s.port.number(),
                "held_back": s.held_back,
                "delay_ns": { "total": s.delay.as_ps() as f64 / 1e3, "most": s.most.as_ps() as f64 / 1e3 },
                "unsent": s.waiting.iter().map(|q| q.len() as u64).sum::<u64>(),
                "pauses": sum(&|p| stats[p].pauses),
                "paused_ns": sum(&|p| stats[p].paused.as_ps()) as f64 / 1e3,
            })
        };
        json!({
            "cable_m": self.cable.as_millimetres() as f64 / 1e3,
            "ports": self.senders.iter().map(sender).collect::<Vec<_>>(),
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

/// A PFC frame that the switch sent: dev_port, last bit, times.
pub(crate) type Heard = (u16, Time, PfcTimes);

/// A sink that also listens for PFC frames.
pub(crate) struct Ears<'s, S> {
    pub(crate) inner: &'s mut S,
    pub(crate) heard: &'s mut Vec<Heard>,
}

impl<S: Sink> Ears<'_, S> {
    /// Notes a frame if it is a PFC frame, whoever made it.
    fn listen(&mut self, packet: &Left, frame: &[u8]) {
        let Ok(link) = ethernet::View::new(frame) else { return };
        if link.ethertype() != ethernet::TYPE_MAC_CONTROL {
            return;
        }
        if let Ok(pause::Packet::Pfc { enabled, quanta }) =
            pause::View::new(link.payload()).map(|v| v.packet())
        {
            self.heard.push((packet.egress_port, packet.last_bit, PfcTimes { enabled, quanta }));
        }
    }
}

impl<S: Sink> Sink for Ears<'_, S> {
    fn sent(&mut self, packet: &Left, head: &[u8], tail: &[u8]) {
        // A whole PFC frame is in the head: it is shorter than any that is split.
        self.listen(packet, head);
        self.inner.sent(packet, head, tail);
    }

    fn mac_sent(&mut self, packet: &Left, frame: &[u8]) {
        self.listen(packet, frame);
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
