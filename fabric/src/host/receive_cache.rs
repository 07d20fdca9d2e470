//! A receiver whose contexts of queue pairs are cached: packets of many queue pairs in turn miss, and a backlog makes
//! the host pause its switch (model: buffer §4.5, problem A).

use sluice_asic::units::{BitRate, Bytes, Duration, Time};
use std::collections::VecDeque;

/// A receiver and what comes to it at line rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiveCache {
    /// Queue pairs that send, in turn.
    pub queue_pairs: u32,
    /// Packets that one sends before the next: 1 for pacing by packet.
    pub burst: u32,
    /// Packets in all.
    pub packets: u64,
    /// Bytes of a packet.
    pub size: Bytes,
    /// The line.
    pub rate: BitRate,
    /// Contexts that the cache holds; the one that was used longest ago goes first.
    pub entries: usize,
    /// Time that a packet takes whose context is there.
    pub hit: Duration,
    /// Time more for one whose context is fetched.
    pub miss: Duration,
    /// Packets that wait when the host asks for a pause.
    pub xoff: u64,
}

/// What became of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiveReport {
    /// Packets whose context was fetched.
    pub misses: u64,
    /// Times that the host asked for a pause; it lasts until nothing waits.
    pub pauses: u64,
    /// Most packets that waited.
    pub most_waiting: u64,
}

impl ReceiveCache {
    /// Receives all packets.
    #[must_use]
    pub fn run(&self) -> ReceiveReport {
        let mut report = ReceiveReport::default();
        let mut cache: VecDeque<u32> = VecDeque::new();
        // Completions of packets that wait or are worked on.
        let mut waiting: VecDeque<Time> = VecDeque::new();
        let (mut now, mut free) = (Time::ORIGIN, Time::ORIGIN);
        let line = self.rate.time_for(self.size);
        for n in 0..self.packets {
            let pair = (n / u64::from(self.burst.max(1)) % u64::from(self.queue_pairs.max(1))) as u32;
            while waiting.front().is_some_and(|done| *done <= now) {
                waiting.pop_front();
            }
            if waiting.len() as u64 >= self.xoff.max(1) {
                report.pauses += 1;
                now = waiting.back().copied().unwrap_or(now);
                waiting.clear();
            }
            let known = cache.iter().position(|cached| *cached == pair);
            let work = match known {
                Some(at) => {
                    cache.remove(at);
                    self.hit
                }
                None => {
                    report.misses += 1;
                    self.hit + self.miss
                }
            };
            cache.push_back(pair);
            if cache.len() > self.entries {
                cache.pop_front();
            }
            free = free.max(now) + work;
            waiting.push_back(free);
            report.most_waiting = report.most_waiting.max(waiting.len() as u64);
            now += line;
        }
        report
    }
}
