//! Senders that obey PFC: what stands between frames that are due and the ports of a switch, or of several.
//!
//! A frame that is due leaves its sender then, and is at the switch a cable's delay later. Frames of a paused priority
//! wait at their sender, in order; those of other priorities pass them.

use sluice_asic::port::DevPort;
use sluice_asic::tm::buffer::{CodePoint, QosMaps};
use sluice_asic::tm::pfc::{PRIORITIES, PfcConfig, PfcTimes};
use sluice_asic::tm::source::PfcSource;
use sluice_asic::units::{BitRate, Bytes, Duration, Length, Time};
use sluice_pcaps::wire::{ethernet, ipv4, ipv6, pause, vlan};
use sluice_switch::{GhostEvent, IdleEntry, Left, Lost, PassEvent, QueueEvent, Sink};
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

/// What senders send into: a switch or a network.
pub trait Receiver {
    /// Why it does not go on.
    type Error;

    /// How far it has run.
    fn time(&self) -> Time;

    /// When something will happen in it by itself.
    fn next_time(&self) -> Option<Time>;

    /// Runs up to a time; adds the PFC frames that are sent to senders.
    ///
    /// # Errors
    /// Its own.
    fn run_until(&mut self, until: Time, heard: &mut Vec<Heard>) -> Result<(), Self::Error>;

    /// A frame's first bit is there.
    ///
    /// # Errors
    /// Its own.
    fn take(&mut self, sent: &Sent) -> Result<(), Self::Error>;

    /// Whether nothing more is wanted of it.
    fn stopped(&self) -> bool {
        false
    }
}

/// Where a sender is: number of the switch and port.
pub type Place = (u32, DevPort);

/// What stands at the far end of one port.
#[derive(Debug)]
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
    /// Switch that it sends to.
    pub switch: u32,
    /// Its dev_port.
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
    heard: Vec<Heard>,
    sent: Vec<Sent>,
}

impl Senders {
    /// Senders by place, rate and what their switches say of PFC and priorities, over cables of one length.
    pub fn new(ports: impl Iterator<Item = (Place, BitRate, PfcConfig, QosMaps)>, cable: Length) -> Senders {
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

    /// Has senders send what may go up to `until`, by what they have been told by then.
    ///
    /// # Errors
    /// The receiver's.
    pub fn send_until<R: Receiver>(&mut self, until: Time, to: &mut R) -> Result<(), R::Error> {
        let mut now = to.time();
        loop {
            let next = self.next_time(now).filter(|t| *t <= until);
            let target = next.unwrap_or(until).max(now);
            // While frames wait, what the receiver sends may hold them back or let them go: one event after the other.
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
    ///
    /// # Errors
    /// The receiver's.
    pub fn send_rest<R: Receiver>(&mut self, end: Time, to: &mut R) -> Result<(), R::Error> {
        while self.waiting() > 0 && !to.stopped() {
            let now = to.time();
            let Some(next) = self.next_time(now).filter(|t| *t <= end) else { break };
            // A moment later than a pause that ends now: nothing stands still.
            self.send_until(next.max(now + Duration::from_ps(1)), to)?;
        }
        Ok(())
    }

    /// Frames that wait.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.senders.iter().flat_map(|s| &s.waiting).map(|q| q.len() as u64).sum()
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

    /// A frame will be due, those of a sender in order of time; it is sent when it may.
    pub fn queue(&mut self, sender: usize, frame: Waiting) {
        if let Some(sender) = self.senders.get_mut(sender) {
            let priority = usize::from(sender.maps.class(code_point(&frame.bytes)).tc) % PRIORITIES;
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
                switch: s.at.0,
                port: s.at.1.number(),
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

/// A PFC frame that a switch sent.
#[derive(Clone, Copy, Debug)]
pub struct Heard {
    /// The switch.
    switch: u32,
    /// Its dev_port.
    port: u16,
    last_bit: Time,
    times: PfcTimes,
}

impl Heard {
    /// The pause that a frame is, whoever made it; none of any other.
    #[must_use]
    pub fn of(switch: u32, packet: &Left, frame: &[u8]) -> Option<Heard> {
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

/// A sink of switch 0 that also listens for PFC frames.
#[derive(Debug)]
pub struct Ears<'s, S> {
    /// Who is told everything.
    pub inner: &'s mut S,
    /// What was heard.
    pub heard: &'s mut Vec<Heard>,
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

    fn digest(&mut self, digest: &sluice_switch::Digest, data: &[u8]) {
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
        let place = DevPort::new(PORT).into_iter().map(|port| (0, port));
        let sender = |at| (at, BitRate::from_gbps(100), PfcConfig::default(), QosMaps::azure());
        Senders::new(place.map(sender), Length::from_metres(5))
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
        let mut now = Time::ORIGIN;
        while let Some(next) = senders.next_time(now).filter(|t| *t <= until) {
            now = next.max(now + Duration::from_ps(1));
            senders.advance(now);
        }
        senders.sent.drain(..).map(|s| (s.frame.tag, s.at)).collect()
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
        let times = PfcTimes { enabled: 1 << 3, quanta };
        senders.heard.push(Heard { switch: 0, port: PORT, last_bit: us(0), times });
        senders.listen();
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
