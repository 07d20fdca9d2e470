//! Senders that obey PFC, between scheduled frames and the ports of one or several switches.
//!
//! A frame is sent when it is due, and its first bit is at the switch after the cable's delay. Frames of a paused
//! priority wait at their sender in order; frames of other priorities overtake them.

use sluice_asic::port::DevPort;
use sluice_asic::tm::buffer::{CodePoint, QosMaps};
use sluice_asic::tm::pfc::{PRIORITIES, PfcConfig, PfcTimes};
use sluice_asic::tm::source::PfcSource;
use sluice_asic::units::{BitRate, Bytes, Duration, Length, Time};
use sluice_pcaps::wire::{ethernet, ipv4, ipv6, pause, vlan};
use sluice_switch::{GhostEvent, IdleEntry, Left, Lost, PassEvent, QueueEvent, Sink};
use std::collections::VecDeque;

/// A frame that is not yet sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Time at which the frame is due.
    pub due: Time,
    /// Tag that identifies the frame.
    pub tag: u64,
    /// Bytes without FCS.
    pub bytes: Vec<u8>,
    /// Length without FCS; more than `bytes` if the capture is truncated.
    pub orig_len: u32,
}

/// A frame that was sent and is on its way to a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Index of the sender, in the order in which the senders were given.
    pub sender: usize,
    /// Time of the first bit at the switch.
    pub at: Time,
    /// The frame.
    pub frame: Waiting,
}

/// The receiver of frames: a switch or a network.
pub trait Receiver {
    /// Reason why a run fails.
    type Error;

    /// Returns the time up to which the receiver has run.
    fn time(&self) -> Time;

    /// Returns the time of the next event without further frames, if there is one.
    fn next_time(&self) -> Option<Time>;

    /// Runs up to `until`, and adds the PFC frames that are sent to senders.
    ///
    /// # Errors
    /// Those of the receiver.
    fn run_until(&mut self, until: Time, heard: &mut Vec<Heard>) -> Result<(), Self::Error>;

    /// Takes a frame whose first bit arrives at `sent.at`.
    ///
    /// # Errors
    /// Those of the receiver.
    fn take(&mut self, sent: &Sent) -> Result<(), Self::Error>;

    /// Returns true if the run must stop early.
    fn stopped(&self) -> bool {
        false
    }
}

/// Place of a sender: index of its switch, and port.
pub type SenderPort = (u32, DevPort);

/// The sender at the far end of one port's cable.
#[derive(Debug)]
struct Sender {
    at: SenderPort,
    source: PfcSource,
    maps: QosMaps,
    waiting: [VecDeque<Waiting>; PRIORITIES],
    held_back: u64,
    delay: Duration,
    most: Duration,
}

impl Sender {
    /// Returns true if a priority is paused.
    const fn paused(&self, priority: usize) -> bool {
        self.source.paused() >> priority & 1 != 0
    }

    /// Returns the time at which a waiting frame may be sent, as far as is known; `None` if no frame waits.
    fn next_time(&self, now: Time) -> Option<Time> {
        let open = (0..PRIORITIES).filter(|p| !self.paused(*p));
        let due = open.filter_map(|p| self.waiting[p].front()).map(|w| w.due).min();
        let held = (0..PRIORITIES).any(|p| self.paused(p) && !self.waiting[p].is_empty());
        // Every pause ends, at the latest when its time expires.
        let ends = if held { self.source.next_time() } else { None };
        let next = [due.map(|due| due.max(self.source.free_at())), ends].into_iter().flatten().min();
        next.map(|t| t.max(now))
    }

    /// Returns the priority whose first frame is due earliest, among the frames that may be sent now.
    fn choose(&self, now: Time) -> Option<usize> {
        let open = (0..PRIORITIES).filter(|p| self.source.may_send(now, *p as u8));
        let due = open.filter_map(|p| self.waiting[p].front().map(|w| (w.due, w.tag, p)));
        due.filter(|(due, ..)| *due <= now).min().map(|(.., p)| p)
    }
}

/// Statistics of the frames that a sender held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldBack {
    /// Index of the switch that it sends to.
    pub switch: u32,
    /// dev_port of the switch.
    pub port: u16,
    /// Frames sent later than they were due.
    pub frames: u64,
    /// Sum of their delays.
    pub total: Duration,
    /// Largest delay.
    pub most: Duration,
    /// Frames that wait at present.
    pub unsent: u64,
    /// Number of pauses, over all priorities.
    pub pauses: u64,
    /// Sum of the pauses' lengths, over all priorities.
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
    /// Creates senders with cables of one length, from the place, rate, PFC settings and priority maps of each port.
    pub fn new(
        ports: impl Iterator<Item = (SenderPort, BitRate, PfcConfig, QosMaps)>,
        cable: Length,
    ) -> Senders {
        let sender = |(at, rate, config, maps): (SenderPort, BitRate, PfcConfig, QosMaps)| Sender {
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

    /// Sends the frames that may be sent up to `until`, while running the receiver and obeying its PFC frames.
    ///
    /// # Errors
    /// Those of the receiver.
    pub fn send_until<R: Receiver>(&mut self, until: Time, to: &mut R) -> Result<(), R::Error> {
        let mut now = to.time();
        loop {
            let next = self.next_time(now).filter(|t| *t <= until);
            let target = next.unwrap_or(until).max(now);
            // While frames wait, every event of the receiver may pause or resume a priority, so the receiver runs event
            // by event.
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

    /// Sends the frames that still wait, up to `end`.
    ///
    /// # Errors
    /// Those of the receiver.
    pub fn send_rest<R: Receiver>(&mut self, end: Time, to: &mut R) -> Result<(), R::Error> {
        while self.waiting() > 0 && !to.stopped() {
            let now = to.time();
            let Some(next) = self.next_time(now).filter(|t| *t <= end) else { break };
            // One picosecond later than a pause that ends now, so that time advances.
            self.send_until(next.max(now + Duration::from_ps(1)), to)?;
        }
        Ok(())
    }

    /// Returns the number of waiting frames.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.senders.iter().flat_map(|s| &s.waiting).map(|q| q.len() as u64).sum()
    }

    /// Applies the PFC frames that were sent to senders.
    fn listen(&mut self) {
        for Heard { switch, port, last_bit, times } in self.heard.drain(..) {
            let at = |s: &&mut Sender| (s.at.0, s.at.1.number()) == (switch, port);
            if let Some(sender) = self.senders.iter_mut().find(at) {
                sender.source.heard(last_bit, times);
            }
        }
    }

    /// Returns the time at which a waiting frame may be sent next.
    fn next_time(&self, now: Time) -> Option<Time> {
        self.senders.iter().filter_map(|s| s.next_time(now)).min()
    }

    /// Begins and ends pauses, and sends the waiting frames that may be sent now.
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

    /// Queues a frame at a sender. The frames of a sender must be queued in order of time.
    pub fn queue(&mut self, sender: usize, frame: Waiting) {
        if let Some(sender) = self.senders.get_mut(sender) {
            let priority = usize::from(sender.maps.class(code_point(&frame.bytes)).tc) % PRIORITIES;
            sender.waiting[priority].push_back(frame);
        }
    }

    /// Returns the length of the cables.
    #[must_use]
    pub const fn cable(&self) -> Length {
        self.cable
    }

    /// Returns each sender's statistics so far.
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

/// Returns the field that determines a frame's priority, as a switch parses it: DSCP, else PCP.
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

/// A PFC frame sent by a switch.
#[derive(Clone, Copy, Debug)]
pub struct Heard {
    /// The switch.
    switch: u32,
    /// dev_port that the frame was sent on.
    port: u16,
    last_bit: Time,
    times: PfcTimes,
}

impl Heard {
    /// Returns the pause in a frame, whether a MAC or a program made it; `None` if the frame is not PFC.
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

/// A sink of switch 0 that also collects PFC frames.
pub struct Ears<'s> {
    /// The sink that gets all events.
    pub inner: &'s mut dyn Sink,
    /// The collected PFC frames.
    pub heard: &'s mut Vec<Heard>,
}

impl Sink for Ears<'_> {
    fn sent(&mut self, packet: &Left, head: &[u8], tail: &[u8]) {
        // A PFC frame is complete in the head, because only longer frames are split.
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

    fn needs_every_round(&self) -> bool {
        self.inner.needs_every_round()
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

    /// Returns a frame with a DSCP, at time `ns`.
    fn frame(tag: u64, due: Time, dscp: u8) -> Waiting {
        let mut bytes = vec![0; 60];
        bytes[12..16].copy_from_slice(&[8, 0, 0x45, dscp << 2]);
        bytes[17] = 46;
        Waiting { due, tag, bytes, orig_len: 60 }
    }

    fn us(n: u64) -> Time {
        Time::ORIGIN + Duration::from_micros(n)
    }

    /// Returns the tags of the frames sent up to `until`, with their times.
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
        // The first bit is sent after the preamble of 8 bytes.
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
        // 1000 quanta of 512 bits at 100G are 5.12 us, from the sender's reaction on.
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

    /// A receiver with an event per microsecond that pauses all priorities for as long as a pause can last.
    struct AlwaysPausing(Time);

    impl Receiver for AlwaysPausing {
        type Error = ();

        fn time(&self) -> Time {
            self.0
        }

        fn next_time(&self) -> Option<Time> {
            Some(self.0 + Duration::from_micros(1))
        }

        fn run_until(&mut self, until: Time, heard: &mut Vec<Heard>) -> Result<(), ()> {
            self.0 = until;
            let times = PfcTimes { enabled: 0xff, quanta: [u16::MAX; 8] };
            heard.push(Heard { switch: 0, port: PORT, last_bit: until, times });
            Ok(())
        }

        fn take(&mut self, sent: &Sent) -> Result<(), ()> {
            assert_eq!(sent.frame.tag, 0, "a paused frame was sent");
            Ok(())
        }

        fn stopped(&self) -> bool {
            false
        }
    }

    #[test]
    fn a_pause_without_end_is_waited_for_until_the_end_of_the_drain() {
        let (mut senders, mut receiver) = (senders(), AlwaysPausing(Time::ORIGIN));
        for (tag, due) in [(0, 0), (1, 50), (2, 51)] {
            senders.queue(0, frame(tag, us(due), 3));
        }
        assert_eq!(senders.send_until(us(60), &mut receiver), Ok(()));
        assert_eq!(senders.send_rest(us(2_000), &mut receiver), Ok(()));
        assert_eq!(senders.waiting(), 2);
        assert!(receiver.time() <= us(2_000), "{}", receiver.time());
    }
}
