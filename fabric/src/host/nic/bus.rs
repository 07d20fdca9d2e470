//! The bus from a NIC to its host's memory, and the receive buffer in front of it (model: buffer §5, lesson L6).
//!
//! Data that arrives from the network waits in the receive buffer for its turn on the bus. A *loopback* flow, RDMA of the host
//! to itself, takes turns with it packet by packet. Nothing is marked here: if the buffer fills up, the host pauses its
//! switch by PFC, and the loopback flow is held up by the bus alone.
//!
//! While no frame waits, the loopback flow runs alone; its packets are counted without an event for each of them.

use crate::network::HostFrame;
use sluice_asic::tm::pfc::{PfcConfig, PfcTimes, PfcTx};
use sluice_asic::units::{BitRate, Bytes, Duration, Time};
use std::collections::VecDeque;

/// Settings of a host's bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BusConfig {
    /// Rate, bytes of frames without preamble, FCS and gap.
    pub rate: BitRate,
    /// Size of the receive buffer. A frame that has no room is dropped.
    pub buffer: Bytes,
    /// Bytes in the buffer from which on the host pauses its switch.
    pub xoff: Bytes,
    /// Bytes in the buffer down from which the host lets its switch send again, below `xoff`.
    pub xon: Bytes,
    /// Priorities that the host pauses, as bits.
    pub priorities: u8,
    /// The loopback flow; `None`: the bus has data from the network alone.
    pub loopback: Option<Loopback>,
}

/// A flow of a host to itself, which always has data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loopback {
    /// Rate at which the NIC loops data back if nothing else uses the bus.
    pub rate: BitRate,
    /// Bytes of a packet, above 0.
    pub packet: Bytes,
}

/// Counters of a bus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BusCounters {
    /// Bytes of the loopback flow.
    pub loopback: u64,
    /// PFC frames that the host has sent.
    pub pauses: u64,
    /// Frames dropped because the buffer had no room.
    pub dropped: u64,
    /// Most bytes in the buffer.
    pub most: u64,
}

/// A frame in the buffer.
#[derive(Clone, Copy, Debug)]
struct Held {
    orig_len: u32,
    captured: u32,
    tag: u64,
}

/// A bus with its receive buffer.
#[derive(Debug)]
pub(super) struct Bus {
    config: BusConfig,
    pfc: PfcTx,
    /// Frames that wait, the first one on the bus; their bytes one after another.
    frames: VecDeque<Held>,
    bytes: VecDeque<u8>,
    /// The bytes of the frame that is delivered.
    taken: Vec<u8>,
    /// Bytes in the buffer.
    held: u64,
    /// End of the first frame's transfer.
    ends: Time,
    /// Time at which the bus is free, and the earliest start of the next loopback packet.
    free: Time,
    next_loopback: Time,
    /// Times that a loopback packet takes on the bus, and between two starts.
    loopback: Option<(Duration, Duration)>,
    counters: BusCounters,
}

impl Bus {
    /// Creates an empty bus at a port of this rate.
    pub(super) fn new(config: BusConfig, line: BitRate) -> Bus {
        let times = |flow: Loopback| {
            let transfer = config.rate.time_for(flow.packet);
            (transfer, transfer.max(flow.rate.time_for(flow.packet)))
        };
        Bus {
            pfc: PfcTx::new(line, &PfcConfig::default(), config.priorities),
            frames: VecDeque::new(),
            bytes: VecDeque::new(),
            taken: Vec::new(),
            held: 0,
            ends: Time::ORIGIN,
            free: Time::ORIGIN,
            next_loopback: Time::ORIGIN,
            loopback: config.loopback.map(times),
            counters: BusCounters::default(),
            config,
        }
    }

    /// Returns the packets that the loopback flow starts before `now` if no frame waits, and the start of the first.
    fn alone(&self, now: Time) -> (u64, Time) {
        let first = self.free.max(self.next_loopback);
        match self.loopback {
            Some((_, interval)) if first < now => {
                (now.saturating_since(first).as_ps().div_ceil(interval.as_ps().max(1)), first)
            }
            _ => (0, first),
        }
    }

    /// Starts loopback packets: `count` of them, from `first` on.
    fn loop_back(&mut self, count: u64, first: Time) {
        let (Some((transfer, interval)), true) = (self.loopback, count > 0) else { return };
        self.free = first + interval * (count - 1) + transfer;
        self.next_loopback = first + interval * count;
        self.counters.loopback += count * self.config.loopback.map_or(0, |flow| flow.packet.0);
    }

    /// Starts the transfer of the first frame at `now` or when the bus is free; `turn` is true if a loopback packet goes first.
    fn transfer(&mut self, now: Time, turn: bool) {
        let Some(frame) = self.frames.front() else { return };
        let len = Bytes(frame.orig_len.into());
        let begin = self.free.max(now);
        if turn && self.next_loopback <= begin {
            self.loop_back(u64::from(self.loopback.is_some()), begin);
        }
        self.free = self.free.max(now) + self.config.rate.time_for(len);
        self.ends = self.free;
    }

    /// Takes a frame that arrives at `now`.
    pub(super) fn push(&mut self, now: Time, frame: HostFrame<'_>) {
        let len = u64::from(frame.orig_len);
        if self.held + len > self.config.buffer.0 {
            self.counters.dropped += 1;
            return;
        }
        self.held += len;
        self.counters.most = self.counters.most.max(self.held);
        self.bytes.extend(frame.bytes);
        let captured = frame.bytes.len() as u32;
        self.frames.push_back(Held { orig_len: frame.orig_len, captured, tag: frame.tag });
        if self.frames.len() == 1 {
            let (count, first) = self.alone(now);
            self.loop_back(count, first);
            self.transfer(now, false);
        }
        if self.held >= self.config.xoff.0 && self.pfc.active() == 0 {
            self.pfc.request(self.config.priorities, true);
        }
    }

    /// Returns the time at which the first frame is in memory, if one waits.
    pub(super) fn next_time(&self) -> Option<Time> {
        (!self.frames.is_empty()).then_some(self.ends)
    }

    /// Removes the first frame if it is in memory at `now`, and passes it on with the time of its last byte.
    pub(super) fn pop(&mut self, now: Time, deliver: impl FnOnce(Time, HostFrame<'_>)) -> bool {
        let Some(end) = self.next_time().filter(|end| *end <= now) else { return false };
        let Some(Held { orig_len, captured, tag }) = self.frames.pop_front() else { return false };
        self.taken.clear();
        self.taken.extend(self.bytes.drain(..captured as usize));
        self.held -= u64::from(orig_len);
        if self.held <= self.config.xon.0 && self.pfc.active() != 0 {
            self.pfc.request(self.config.priorities, false);
        }
        self.transfer(end, true);
        deliver(end, HostFrame { bytes: &self.taken, orig_len, tag });
        true
    }

    /// Returns true if a frame waits. If none does, the host pauses nothing: an empty buffer is not above `xon`.
    pub(super) fn is_busy(&self) -> bool {
        !self.frames.is_empty()
    }

    /// Returns the time at which the host sends its next PFC frame.
    pub(super) fn next_pause(&self) -> Option<Time> {
        self.pfc.next_time()
    }

    /// Returns the PFC frame that is due at `now`.
    pub(super) fn pause(&mut self, now: Time) -> Option<PfcTimes> {
        let times = self.pfc.take(now);
        self.counters.pauses += u64::from(times.is_some());
        times
    }

    /// Returns the counters up to `now`.
    pub(super) fn counters(&self, now: Time) -> BusCounters {
        let count = if self.frames.is_empty() { self.alone(now).0 } else { 0 };
        let more = count * self.config.loopback.map_or(0, |flow| flow.packet.0);
        BusCounters { loopback: self.counters.loopback + more, ..self.counters }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: BitRate = BitRate::from_gbps(100);

    fn bus(loopback: Option<u64>) -> Bus {
        let flow = |gbps| Loopback { rate: BitRate::from_gbps(gbps), packet: Bytes(1_000) };
        let config = BusConfig {
            rate: LINE,
            buffer: Bytes(10_000),
            xoff: Bytes(5_000),
            xon: Bytes(2_000),
            priorities: 8,
            loopback: loopback.map(flow),
        };
        Bus::new(config, LINE)
    }

    fn push(bus: &mut Bus, now: u64, len: u32) {
        bus.push(Time::from_nanos(now), HostFrame { bytes: &len.to_be_bytes(), orig_len: len, tag: 7 });
    }

    /// Ends of transfers up to `now`, ns, with the lengths that the frames carry.
    fn ends(bus: &mut Bus, now: u64) -> Vec<(u64, u32)> {
        let mut ends = Vec::new();
        while bus.pop(Time::from_nanos(now), |at, frame| {
            let len = u32::from_be_bytes(*frame.bytes.first_chunk().unwrap());
            assert_eq!((frame.orig_len, frame.tag), (len, 7));
            ends.push((at.as_ps() / 1_000, len));
        }) {}
        ends
    }

    #[test]
    fn a_frame_takes_its_time_and_a_loopback_packet_a_turn() {
        // 1000 bytes take 80 ns at 100 Gb/s.
        let mut alone = bus(None);
        (0..3).for_each(|_| push(&mut alone, 100, 1_000));
        assert_eq!(ends(&mut alone, 1_000), [(180, 1_000), (260, 1_000), (340, 1_000)]);
        assert_eq!(alone.counters(Time::from_nanos(1_000)).loopback, 0);
        // Two loopback packets begin at 0 and 80; the second one ends at 160. Then both take turns.
        let mut shared = bus(Some(100));
        (0..3).for_each(|_| push(&mut shared, 100, 1_000));
        assert_eq!(ends(&mut shared, 1_000), [(240, 1_000), (400, 1_000), (560, 1_000)]);
        // Between them two packets, and from 560 to 1000 ns six more, the last of which has begun.
        assert_eq!(shared.counters(Time::from_nanos(1_000)).loopback, (2 + 2 + 6) * 1_000);
        // At 25 Gb/s a packet begins every 320 ns, so it takes no more than a turn of four.
        let mut slow = bus(Some(25));
        (0..5).for_each(|_| push(&mut slow, 80, 1_000));
        assert_eq!(
            ends(&mut slow, 1_000).iter().map(|end| end.0).collect::<Vec<_>>(),
            [160, 240, 320, 480, 560]
        );
    }

    #[test]
    fn a_full_buffer_pauses_the_switch_and_drops_at_last() {
        let mut bus = bus(Some(100));
        (0..4).for_each(|_| push(&mut bus, 0, 1_000));
        assert_eq!(bus.next_pause(), None);
        push(&mut bus, 0, 1_000);
        assert_eq!(bus.next_pause(), Some(Time::ORIGIN));
        let pause = bus.pause(Time::from_nanos(5)).unwrap();
        assert_eq!((pause.enabled, pause.quanta[3]), (8, u16::MAX));
        // It is repeated after half of its time, 65535 quanta of 5.12 ns.
        assert_eq!(bus.next_pause().map(|at| at.as_ps() / 1_000), Some(5 + 65_535 * 512 / 100 / 2));
        (0..6).for_each(|_| push(&mut bus, 0, 1_000));
        let BusCounters { dropped, most, pauses, .. } = bus.counters(Time::ORIGIN);
        assert_eq!((dropped, most, pauses), (1, 10_000, 1));
        // The eighth frame leaves 2000 bytes, at 80 + 7 * 160 ns.
        assert_eq!(ends(&mut bus, 1_199).len(), 7);
        assert_ne!(bus.next_pause(), Some(Time::ORIGIN));
        assert_eq!(ends(&mut bus, 1_200), [(1_200, 1_000)]);
        assert_eq!(bus.pause(Time::from_nanos(1_200)).map(|times| times.quanta[3]), Some(0));
        assert!(bus.is_busy());
        assert_eq!((ends(&mut bus, 9_999).len(), bus.is_busy()), (2, false));
    }
}
