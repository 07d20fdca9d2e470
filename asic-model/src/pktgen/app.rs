//! One application of the packet generator: its waiting events and its current batch.

use super::config::{AppConfig, Trigger};
use crate::random::RandomStream;
use crate::units::{Duration, Time};
use std::collections::VecDeque;

/// Cause of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// The application's timer fired.
    Timer,
    /// A local port that went down.
    PortDown(u32),
    /// The first bytes of a recirculated packet.
    Matched([u8; 16]),
    /// A deparser.
    Requested { key: [u8; 16], offset: u32, length: u32 },
    /// PFC, with the bytes that follow the header.
    Pfc([u8; 16]),
}

/// One packet of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shot {
    pub(super) event: Event,
    pub(super) batch: u32,
    pub(super) packet: u32,
}

/// Counters of an application.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct AppCounters {
    /// Events, including lost ones.
    pub triggers: u64,
    /// Events lost because too many waited.
    pub lost: u64,
    /// Batches started.
    pub batches: u64,
    /// Packets made.
    pub packets: u64,
}

impl AppCounters {
    /// Returns what was counted since `earlier`, this many times.
    fn since(self, earlier: AppCounters, times: u64) -> AppCounters {
        AppCounters {
            triggers: (self.triggers - earlier.triggers) * times,
            lost: (self.lost - earlier.lost) * times,
            batches: (self.batches - earlier.batches) * times,
            packets: (self.packets - earlier.packets) * times,
        }
    }

    /// Adds other counters.
    pub(super) fn add(&mut self, more: AppCounters) {
        self.triggers += more.triggers;
        self.lost += more.lost;
        self.batches += more.batches;
        self.packets += more.packets;
    }
}

/// The event that is being served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    shot: Shot,
    due: Time,
    batch_start: Time,
}

/// An application that is switched on.
#[derive(Debug, Clone)]
pub(super) struct App {
    pub(super) config: AppConfig,
    pub(super) counters: AppCounters,
    timer: Option<Time>,
    run: Option<Run>,
    waiting: VecDeque<Event>,
    /// Ports that went down and for which no batch was sent yet.
    ports: u128,
    port: u32,
    random: RandomStream,
    most_events: usize,
    gap_after: bool,
}

impl App {
    pub(super) fn new(
        config: AppConfig,
        now: Time,
        random: RandomStream,
        most_events: usize,
        gap_after: bool,
    ) -> Self {
        let timer = match config.trigger {
            Trigger::OneShot { after } => Some(now + after),
            Trigger::Periodic { period } => Some(now + period),
            _ => None,
        };
        Self {
            config,
            counters: AppCounters::default(),
            timer,
            run: None,
            waiting: VecDeque::with_capacity(most_events),
            ports: 0,
            port: config.source_port,
            random,
            most_events,
            gap_after,
        }
    }

    /// Returns the time at which the timer fires.
    pub(super) const fn timer(&self) -> Option<Time> {
        self.timer
    }

    /// Returns the time at which the next packet is due.
    pub(super) fn due(&self) -> Option<Time> {
        self.run.map(|run| run.due)
    }

    /// Returns the event of the next packet.
    pub(super) fn next(&self) -> Option<Event> {
        self.run.map(|run| run.shot.event)
    }

    /// Returns true if everything that decides about its packets is as it was `by` ago, moved by that time.
    pub(super) fn repeats(&self, earlier: &App, by: Duration) -> bool {
        let moved = |run: Run| Run { due: run.due + by, batch_start: run.batch_start + by, ..run };
        self.config == earlier.config
            && self.timer == earlier.timer.map(|timer| timer + by)
            && self.run == earlier.run.map(moved)
            && self.waiting == earlier.waiting
            && (self.ports, self.port) == (earlier.ports, earlier.port)
            && self.random == earlier.random
    }

    /// Skips the time `by`, which is `times` the time since `earlier`, and counts the packets of that time.
    pub(super) fn skip(&mut self, earlier: &App, by: Duration, times: u64) {
        self.timer = self.timer.map(|timer| timer + by);
        self.run = self.run.map(|run| Run { due: run.due + by, batch_start: run.batch_start + by, ..run });
        self.counters.add(self.counters.since(earlier.counters, times));
    }

    /// Returns the bytes of the header in front of the next packet.
    pub(super) fn header_bytes(&self) -> u64 {
        match self.next() {
            Some(Event::Pfc(_)) => 22,
            Some(Event::Matched(_) | Event::Requested { .. }) if self.config.copy_key => 22,
            _ => 6,
        }
    }

    /// Handles the end of the timer.
    pub(super) fn fire(&mut self) {
        let Some(now) = self.timer else { return };
        self.timer = match self.config.trigger {
            Trigger::Periodic { period } => now.checked_add(period),
            _ => None,
        };
        self.trigger(Event::Timer, now);
    }

    /// Records that a port went down. Ports are recorded in a set, not queued, so that none is lost.
    pub(super) fn port_down(&mut self, port: u32, now: Time) {
        let bit = 1u128.checked_shl(port).unwrap_or(0);
        let Trigger::PortDown { ports } = self.config.trigger else { return };
        if ports & bit == 0 {
            return;
        }
        if self.run.is_some() {
            self.ports |= bit;
        } else {
            self.trigger(Event::PortDown(port), now);
        }
    }

    /// Starts a batch for an event, or queues the event. If the queue is full, the event is counted as lost.
    pub(super) fn trigger(&mut self, event: Event, now: Time) {
        self.counters.triggers += 1;
        if self.run.is_none() {
            self.start(event, now);
        } else if self.waiting.len() + 1 < self.most_events {
            self.waiting.push_back(event);
        } else {
            self.counters.lost += 1;
        }
    }

    fn start(&mut self, event: Event, now: Time) {
        let shot = Shot { event, batch: 0, packet: 0 };
        self.run = Some(Run { shot, due: now, batch_start: now });
    }

    /// Sends the due packet from `start` to `end`: the packet, and its source port.
    pub(super) fn send(&mut self, start: Time, end: Time) -> Option<(Shot, u32)> {
        let mut run = self.run.take()?;
        let shot = run.shot;
        if shot.packet == 0 {
            run.batch_start = start;
            self.port = self.config.source_port;
            self.counters.batches += 1;
        }
        self.counters.packets += 1;
        let port = self.port;
        self.advance_port();
        if shot.packet + 1 < self.config.packets {
            run.shot.packet += 1;
            let from = if self.gap_after { end } else { start };
            run.due = (from + self.gap(self.config.packet_gap, self.config.packet_jitter)).max(end);
            self.run = Some(run);
        } else if shot.batch + 1 < self.config.batches {
            run.shot = Shot { batch: shot.batch + 1, packet: 0, ..shot };
            let from = if self.gap_after { end } else { run.batch_start };
            run.due = (from + self.gap(self.config.batch_gap, self.config.batch_jitter)).max(end);
            self.run = Some(run);
        } else {
            self.next_event(shot.event, end);
        }
        Some((shot, port))
    }

    /// Ends an event and starts the next one. Of several ports that are down, the next higher one follows, cyclically.
    fn next_event(&mut self, done: Event, now: Time) {
        if let Event::PortDown(port) = done
            && self.ports != 0
        {
            let turn = (port + 1) & 127;
            let next = (self.ports.rotate_right(turn).trailing_zeros() + turn) & 127;
            self.ports &= !(1 << next);
            self.counters.triggers += 1;
            self.start(Event::PortDown(next), now);
        } else if let Some(event) = self.waiting.pop_front() {
            self.start(event, now);
        }
    }

    fn advance_port(&mut self) {
        let Some(wrap) = self.config.source_port_wrap else { return };
        self.port = if self.port == wrap { self.config.source_port } else { (self.port + 1) & 127 };
    }

    /// Returns a gap with its jitter, in whole nanoseconds.
    fn gap(&mut self, gap: Duration, jitter: Duration) -> Duration {
        let span = 2 * jitter.as_nanos() + 1;
        if span == 1 {
            return gap;
        }
        // The upper half of a product spreads a draw over the span.
        let drawn = ((u128::from(self.random.draw(64)) * u128::from(span)) >> 64) as u64;
        gap + Duration::from_nanos(drawn)
    }
}
