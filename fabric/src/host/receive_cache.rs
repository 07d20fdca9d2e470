//! A receiver that caches queue pair contexts. If packets of many queue pairs take turns, the cache misses, packets
//! queue up, and the host pauses its switch (model: buffer §4.5, problem A).

use sluice_asic::units::{BitRate, Bytes, Duration, Time};
use std::collections::VecDeque;

/// A receiver, and the packets that arrive at line rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiveCache {
    /// Number of queue pairs, which send in turn.
    pub queue_pairs: u32,
    /// Packets that a queue pair sends in its turn; 1 for packet-by-packet pacing.
    pub burst: u32,
    /// Total number of packets.
    pub packets: u64,
    /// Packet size.
    pub size: Bytes,
    /// Link rate.
    pub rate: BitRate,
    /// Capacity of the cache, contexts; the least recently used one is evicted.
    pub entries: usize,
    /// Processing time of a packet whose context is cached.
    pub hit: Duration,
    /// Additional time to fetch a context.
    pub miss: Duration,
    /// Number of waiting packets at which the host sends XOFF.
    pub xoff: u64,
}

/// Result of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiveReport {
    /// Packets whose context was not cached.
    pub misses: u64,
    /// Number of times that the host sent XOFF. Each pause lasts until no packet waits.
    pub pauses: u64,
    /// Largest number of waiting packets.
    pub most_waiting: u64,
}

impl ReceiveCache {
    /// Runs until all packets have arrived.
    #[must_use]
    pub fn run(&self) -> ReceiveReport {
        let mut report = ReceiveReport::default();
        let mut cache: VecDeque<u32> = VecDeque::new();
        // Completion times of packets that wait or are processed.
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
