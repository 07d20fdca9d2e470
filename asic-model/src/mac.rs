//! MACs: the time that frames occupy the wire, and the time at which the parser gets them.
//!
//! Lengths are those of captures, without FCS. The wire adds the FCS, and a preamble before and an inter-packet gap
//! after each frame; frames below the Ethernet minimum are padded. "First bit" and "last bit" are those of the frame,
//! after the preamble and before the gap.

use crate::units::{BitRate, Bytes, Duration, Time};
use serde::Deserialize;

/// Preamble and start-of-frame delimiter.
pub const PREAMBLE: Bytes = Bytes(8);
/// Frame check sequence.
pub const FCS: Bytes = Bytes(4);
/// Inter-packet gap, the standard's average.
pub const INTER_PACKET_GAP: Bytes = Bytes(12);
/// Shortest frame without FCS; a shorter frame is padded.
pub const MIN_FRAME: Bytes = Bytes(60);

/// Bytes of line time that a frame takes in addition to its own.
///
/// The default is Ethernet's. Other values show what a simulator measures that counts other headers: one that counts
/// neither preamble nor gap, and 10 header bytes fewer than RoCEv2 has, has `preamble = 0, check = -10, gap = 0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WireOverhead {
    /// Bytes before the frame.
    pub preamble: u8,
    /// Bytes at the frame's end; a negative number takes bytes away. At least one byte of a frame is left.
    pub check: i16,
    /// Bytes between frames.
    pub gap: u8,
}

impl WireOverhead {
    /// Preamble, FCS and gap of IEEE 802.3.
    pub const ETHERNET: WireOverhead =
        WireOverhead { preamble: PREAMBLE.0 as u8, check: FCS.0 as i16, gap: INTER_PACKET_GAP.0 as u8 };

    #[inline]
    const fn preamble(self) -> Bytes {
        Bytes(self.preamble as u64)
    }

    #[inline]
    const fn gap(self) -> Bytes {
        Bytes(self.gap as u64)
    }

    /// Returns the frame's length on the wire: padded, with its check sequence.
    #[inline]
    fn framed(self, len: Bytes) -> Bytes {
        Bytes(len.max(MIN_FRAME).get().saturating_add_signed(self.check.into()).max(1))
    }

    /// Returns the bytes of line time that a frame of `len` bytes (without FCS) takes, padding included.
    #[inline]
    pub fn wire_bytes(self, len: Bytes) -> Bytes {
        self.framed(len) + self.preamble() + self.gap()
    }
}

impl Default for WireOverhead {
    fn default() -> Self {
        Self::ETHERNET
    }
}

/// Returns the bytes of line time that a frame of `len` bytes takes on Ethernet: padding, FCS, preamble and gap included.
pub fn wire_bytes(len: Bytes) -> Bytes {
    WireOverhead::ETHERNET.wire_bytes(len)
}

/// A bit rate with its byte time at hand: whole picoseconds per byte for all usual port speeds.
#[derive(Debug, Clone, Copy)]
struct Line {
    rate: BitRate,
    ps_per_byte: Option<u64>,
    overhead: WireOverhead,
}

impl Line {
    fn new(rate: BitRate) -> Self {
        Self { rate, ps_per_byte: rate.ps_per_byte(), overhead: WireOverhead::ETHERNET }
    }

    #[inline]
    fn time_for(self, bytes: Bytes) -> Duration {
        match self.ps_per_byte {
            Some(ps) => Duration::from_ps(ps) * bytes.get(),
            None => self.rate.time_for(bytes),
        }
    }
}

/// Times of a sent frame on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmission {
    /// Time of the frame's first bit, the timestamp in a capture.
    pub first_bit: Time,
    /// The end of the FCS.
    pub last_bit: Time,
    /// The end of the gap: the next frame's preamble can start.
    pub free_at: Time,
}

/// The transmit side of a port.
#[derive(Debug, Clone)]
pub struct MacTx {
    line: Line,
    free_at: Time,
}

impl MacTx {
    /// Creates an idle transmitter.
    pub fn new(rate: BitRate) -> Self {
        Self { line: Line::new(rate), free_at: Time::ORIGIN }
    }

    /// Sets the bytes that frames take in addition to their own; [`WireOverhead::ETHERNET`] by default.
    #[must_use]
    pub const fn overhead(mut self, overhead: WireOverhead) -> Self {
        self.line.overhead = overhead;
        self
    }

    /// Returns the port's bit rate.
    pub const fn rate(&self) -> BitRate {
        self.line.rate
    }

    /// Returns the line time of a frame of `len` bytes (without FCS), preamble and gap included.
    #[inline]
    pub fn line_time(&self, len: Bytes) -> Duration {
        self.line.time_for(self.line.overhead.wire_bytes(len))
    }

    /// Returns the earliest time at which the next frame's preamble can start.
    #[inline]
    pub const fn free_at(&self) -> Time {
        self.free_at
    }

    /// Sends a frame of `len` bytes (without FCS) as soon as the line is free, at `now` or later.
    #[inline]
    pub fn start(&mut self, now: Time, len: Bytes) -> Transmission {
        let begin = now.max(self.free_at);
        let overhead = self.line.overhead;
        let (preamble, frame) = (overhead.preamble(), overhead.framed(len));
        let first_bit = begin + self.line.time_for(preamble);
        let last_bit = begin + self.line.time_for(preamble + frame);
        self.free_at = begin + self.line.time_for(preamble + frame + overhead.gap());
        Transmission { first_bit, last_bit, free_at: self.free_at }
    }
}

/// Times of a received frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reception {
    /// The end of the FCS on the wire.
    pub last_bit: Time,
    /// Time at which the parser may start.
    pub parser: Time,
    /// Earliest time of the next frame's first bit on the same wire.
    pub next_first_bit: Time,
}

/// The receive side of a port.
///
/// Reception is cut-through: the ingress buffer holds a frame's head for a fixed time so that it cannot run
/// dry, then the parser starts; a frame that is complete earlier is not held longer. The hold per speed is
/// [`crate::chip::PortSpeed::ingress_hold_cycles`], the receive latency
/// [`crate::chip::LatencySpec::mac_rx`]; both are listed assumptions (model: cycles §6, §8).
#[derive(Debug, Clone)]
pub struct MacRx {
    line: Line,
    hold: Duration,
    latency: Duration,
}

impl MacRx {
    /// Creates a receiver at `rate` that holds a frame's head for `hold` and adds the delay `latency` to the wire's
    /// times.
    pub fn new(rate: BitRate, hold: Duration, latency: Duration) -> Self {
        Self { line: Line::new(rate), hold, latency }
    }

    /// Sets the bytes that frames take in addition to their own; [`WireOverhead::ETHERNET`] by default.
    #[must_use]
    pub const fn overhead(mut self, overhead: WireOverhead) -> Self {
        self.line.overhead = overhead;
        self
    }

    /// Returns the port's bit rate.
    pub const fn rate(&self) -> BitRate {
        self.line.rate
    }

    /// Returns the time at which the parser may start on a frame of `len` bytes (without FCS) whose first bit reaches
    /// the ingress buffer at `first_bit`. Over a recirculation port there is no wire before the buffer.
    #[inline]
    pub fn parser_of(&self, first_bit: Time, len: Bytes) -> Time {
        (first_bit + self.line.time_for(self.line.overhead.framed(len))).min(first_bit + self.hold)
    }

    /// Returns the times of a frame of `len` bytes (without FCS) whose first bit is on the wire at `first_bit`.
    #[inline]
    pub fn receive(&self, first_bit: Time, len: Bytes) -> Reception {
        let overhead = self.line.overhead;
        let last_bit = first_bit + self.line.time_for(overhead.framed(len));
        let parser = self.parser_of(first_bit, len) + self.latency;
        let next_first_bit = first_bit + self.line.time_for(overhead.wire_bytes(len));
        Reception { last_bit, parser, next_first_bit }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn overheads_may_take_bytes_away() {
        // 1058 - 10 bytes at 80 ps, and neither preamble nor gap.
        let overhead = WireOverhead { preamble: 0, check: -10, gap: 0 };
        let rate = BitRate::from_gbps(100);
        let sent = MacTx::new(rate).overhead(overhead).start(Time::ORIGIN, Bytes(1_058));
        assert_eq!((sent.first_bit, sent.last_bit), (Time::ORIGIN, Time::from_ps(1_048 * 80)));
        assert_eq!(sent.free_at, sent.last_bit);
        let rx = MacRx::new(rate, Duration::from_micros(1), Duration::ZERO).overhead(overhead);
        assert_eq!(rx.receive(Time::ORIGIN, Bytes(1_058)).parser, sent.last_bit);
        let none = WireOverhead { check: i16::MIN, ..overhead };
        assert_eq!(none.wire_bytes(Bytes(1_500)), Bytes(1));
    }

    #[test]
    fn minimum_frames_leave_at_the_ethernet_rate() {
        // 84 B of line time at 100 Gb/s: 6720 ps, that is 148.8 million frames per second.
        let mut mac = MacTx::new(BitRate::from_gbps(100));
        let first = mac.start(Time::from_ps(1000), Bytes(14));
        assert_eq!(first.first_bit, Time::from_ps(1000 + 640));
        assert_eq!(first.last_bit, Time::from_ps(1000 + 640 + 64 * 80));
        assert_eq!(first.free_at, Time::from_ps(1000 + 6720));
        let second = mac.start(Time::from_ps(1001), Bytes(60));
        assert_eq!(second.first_bit, Time::from_ps(1000 + 6720 + 640));
        assert_eq!(wire_bytes(Bytes(1500)), Bytes(1524));
    }

    #[test]
    fn short_frames_are_stored_and_long_ones_cut_through() {
        let mac = MacRx::new(BitRate::from_gbps(100), Duration::from_nanos(20), Duration::from_nanos(100));
        let short = mac.receive(Time::ORIGIN, Bytes(60));
        assert_eq!(short.last_bit, Time::from_ps(64 * 80));
        assert_eq!(short.parser, Time::from_ps(64 * 80 + 100_000));
        let long = mac.receive(Time::ORIGIN, Bytes(1500));
        assert_eq!(long.last_bit, Time::from_ps(1504 * 80));
        assert_eq!(long.parser, Time::from_ps(20_000 + 100_000));
        assert_eq!(long.next_first_bit, Time::from_ps(1524 * 80));
    }

    proptest! {
        #[test]
        fn frames_never_overlap(gbps in 1..800_u64, frames in prop::collection::vec((0..200_000_u64, 0..9_300_u64), 1..50)) {
            let rate = BitRate::from_gbps(gbps);
            let mut mac = MacTx::new(rate);
            let receiver = MacRx::new(rate, Duration::ZERO, Duration::ZERO);
            let mut now = Time::ORIGIN;
            let mut free_at = Time::ORIGIN;
            for (gap, len) in frames {
                now += Duration::from_ps(gap);
                let sent = mac.start(now, Bytes(len));
                prop_assert!(sent.first_bit >= now.max(free_at) + rate.time_for(PREAMBLE));
                prop_assert!(sent.first_bit < sent.last_bit && sent.last_bit < sent.free_at);
                // The far end agrees on the frame's length to the picosecond of rounding.
                let last_bit = receiver.receive(sent.first_bit, Bytes(len)).last_bit;
                prop_assert!(last_bit.as_ps().abs_diff(sent.last_bit.as_ps()) <= 1);
                free_at = sent.free_at;
            }
        }
    }
}
