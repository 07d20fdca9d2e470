//! Senders that obey PFC: what stands between frames that are due and the ports of one switch.
//!
//! A frame that is due leaves its sender then, and is at the switch a cable's delay later. Frames of a paused priority
//! wait at their sender, in order; those of other priorities pass them. What may not live here: captures, the switch,
//! and how it is driven.

use sluice_asic::port::DevPort;
use sluice_asic::tm::buffer::{CodePoint, QosMaps};
use sluice_asic::tm::pfc::{PRIORITIES, PfcConfig, PfcTimes};
use sluice_asic::tm::source::PfcSource;
use sluice_asic::units::{BitRate, Bytes, Duration, Length, Time};
use sluice_pcaps::wire::{ethernet, ipv4, ipv6, pause, vlan};
use sluice_pipeline::switch::{GhostEvent, IdleEntry, Left, Lost, PassEvent, QueueEvent, Sink};
use std::collections::VecDeque;

/// A frame that has not been sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// When it would like to leave.
    pub due: Time,
    /// Its name.
    pub tag: u64,
    /// Its bytes, without FCS.
    pub bytes: Vec<u8>,
    /// Its length, where not all of its bytes are known.
    pub orig_len: u32,
}

/// A frame on its way: when its first bit is at the switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Which sender, in the order in which they were given.
    pub sender: usize,
    /// First bit at the switch.
    pub at: Time,
    /// What it is.
    pub frame: Waiting,
}

/// What stands at the far end of one port.
#[derive(Debug)]
struct Sender {
    port: DevPort,
    source: PfcSource,
    waiting: [VecDeque<Waiting>; PRIORITIES],
    held_back: u64,
    delay: Duration,
    most: Duration,
}

impl Sender {
    /// Whether a priority is paused.
    const fn paused(&self, priority: usize) -> bool {
        self.source.paused() >> priority & 1 != 0
    }

    /// When a frame that waits may go, as far as is known; none if none waits.
    fn next_time(&self, now: Time) -> Option<Time> {
        let open = (0..PRIORITIES).filter(|p| !self.paused(*p));
        let due = open.filter_map(|p| self.waiting[p].front()).map(|w| w.due).min();
        let held = (0..PRIORITIES).any(|p| self.paused(p) && !self.waiting[p].is_empty());
        // A pause always ends.
        let ends = if held { self.source.next_time() } else { None };
        let next = [due.map(|due| due.max(self.source.free_at())), ends].into_iter().flatten().min();
        next.map(|t| t.max(now))
    }

    /// The priority whose frame has waited longest of those that may go.
    fn choose(&self, now: Time) -> Option<usize> {
        let open = (0..PRIORITIES).filter(|p| self.source.may_send(now, *p as u8));
        let due = open.filter_map(|p| self.waiting[p].front().map(|w| (w.due, w.tag, p)));
        due.filter(|(due, ..)| *due <= now).min().map(|(.., p)| p)
    }
}

/// What a sender has held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldBack {
    /// dev_port that it sends to.
    pub port: u16,
    /// Frames that left later than they were due.
    pub frames: u64,
    /// By how much, over all of them.
    pub total: Duration,
    /// By how much at most.
    pub most: Duration,
    /// Frames that wait now.
    pub unsent: u64,
    /// Pauses of its priorities.
    pub pauses: u64,
    /// How long they were paused, added up.
    pub paused: Duration,
}

/// The senders of all input ports.
#[derive(Debug)]
pub struct Senders {
    senders: Vec<Sender>,
    cable: Length,
    maps: QosMaps,
}

impl Senders {
    /// Senders to these ports with lines of these rates, over cables of one length, that take priorities as the switch
    /// does.
    pub fn new(
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
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.senders.iter().flat_map(|s| &s.waiting).map(|q| q.len() as u64).sum()
    }

    /// The switch sent PFC frames.
    pub fn heard(&mut self, frames: &mut Vec<Heard>) {
        for (port, last_bit, times) in frames.drain(..) {
            if let Some(sender) = self.senders.iter_mut().find(|s| s.port.number() == port) {
                sender.source.heard(last_bit, times);
            }
        }
    }

    /// When a frame that waits may go next.
    #[must_use]
    pub fn next_time(&self, now: Time) -> Option<Time> {
        self.senders.iter().filter_map(|s| s.next_time(now)).min()
    }

    /// Lets pauses begin and end, and sends what may go now and has waited.
    pub fn advance(&mut self, now: Time, sent: &mut Vec<Sent>) {
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

    /// A frame will be due, those of a sender in order of time; it is sent by the next [`Senders::advance`] that may.
    pub fn queue(&mut self, sender: usize, frame: Waiting) {
        let priority = usize::from(self.maps.class(code_point(&frame.bytes)).tc) % PRIORITIES;
        if let Some(sender) = self.senders.get_mut(sender) {
            sender.waiting[priority].push_back(frame);
        }
    }

    /// Length of their cables.
    #[must_use]
    pub const fn cable(&self) -> Length {
        self.cable
    }

    /// What each has held back so far.
    pub fn held_back(&self, now: Time) -> impl Iterator<Item = HeldBack> + '_ {
        self.senders.iter().map(move |s| {
            let stats = s.source.stats(now);
            HeldBack {
                port: s.port.number(),
                frames: s.held_back,
                total: s.delay,
                most: s.most,
                unsent: s.waiting.iter().map(|q| q.len() as u64).sum(),
                pauses: stats.iter().map(|p| p.pauses).sum(),
                paused: stats.iter().fold(Duration::ZERO, |sum, p| sum + p.paused),
            }
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
pub type Heard = (u16, Time, PfcTimes);

/// A sink that also listens for PFC frames.
#[derive(Debug)]
pub struct Ears<'s, S> {
    /// Who is told everything.
    pub inner: &'s mut S,
    /// What was heard.
    pub heard: &'s mut Vec<Heard>,
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

#[cfg(test)]
mod tests {
    use super::*;

    const PORT: u16 = 8;

    fn senders() -> Senders {
        let port = DevPort::new(PORT).into_iter().map(|p| (p, BitRate::from_gbps(100)));
        Senders::new(port, Length::from_metres(5), &PfcConfig::default(), QosMaps::azure())
    }

    /// A frame of the priority that a DSCP gives.
    fn frame(tag: u64, due: Time, dscp: u8) -> Waiting {
        let mut bytes = vec![0; 60];
        bytes[12..16].copy_from_slice(&[8, 0, 0x45, dscp << 2]);
        bytes[17] = 46;
        Waiting { due, tag, bytes, orig_len: 60 }
    }

    fn us(n: u64) -> Time {
        Time::ORIGIN + Duration::from_micros(n)
    }

    /// What is sent by `until`, each with when.
    fn run(senders: &mut Senders, until: Time) -> Vec<(u64, Time)> {
        let (mut now, mut sent) = (Time::ORIGIN, Vec::new());
        while let Some(next) = senders.next_time(now).filter(|t| *t <= until) {
            now = next.max(now + Duration::from_ps(1));
            senders.advance(now, &mut sent);
        }
        sent.into_iter().map(|s| (s.frame.tag, s.at)).collect()
    }

    #[test]
    fn frames_leave_when_they_are_due_and_not_before() {
        let mut senders = senders();
        senders.queue(0, frame(0, us(3), 0));
        senders.queue(0, frame(1, us(9), 0));
        assert_eq!(senders.next_time(us(1)), Some(us(3)));
        // The preamble of 8 bytes goes before the first bit.
        let cable = Length::from_metres(5).delay() + Duration::from_ps(640);
        assert_eq!(run(&mut senders, us(20)), [(0, us(3) + cable), (1, us(9) + cable)]);
        assert_eq!((senders.waiting(), senders.next_time(us(20))), (0, None));
        let held = senders.held_back(us(20)).next().map(|h| (h.frames, h.most));
        assert_eq!(held, Some((0, Duration::ZERO)));
    }

    #[test]
    fn a_paused_priority_waits_and_others_pass() {
        let mut senders = senders();
        let mut quanta = [0; 8];
        // 1000 quanta of 512 bits at 100G are 5.12 us, from when the sender has reacted.
        quanta[3] = 1000;
        senders.heard(&mut vec![(PORT, us(0), PfcTimes { enabled: 1 << 3, quanta })]);
        senders.queue(0, frame(0, us(3), 3));
        senders.queue(0, frame(1, us(4), 0));
        senders.queue(0, frame(2, us(5), 3));
        let sent = run(&mut senders, us(30));
        assert_eq!(sent.iter().map(|(tag, _)| *tag).collect::<Vec<_>>(), [1, 0, 2]);
        assert!(sent[1].1 > us(5) && sent[1].1 < us(8), "{:?}", sent[1]);
        let held = senders.held_back(us(30)).next();
        assert!(held.is_some_and(|h| h.frames == 2
            && h.pauses == 1
            && h.unsent == 0
            && h.most > Duration::from_micros(3)));
    }
}
