//! The port of a NIC: its line, and the pauses that it obeys.

use crate::host::tag::FrameTag;
use crate::network::{HostFrame, ToSwitch};
use sluice_asic::mac::WireOverhead;
use sluice_asic::tm::pfc::{PfcConfig, PfcTimes};
use sluice_asic::tm::source::PfcSource;
use sluice_asic::units::{BitRate, Bytes, Duration, Length, Time};

/// Settings of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortConfig {
    /// Link rate.
    pub rate: BitRate,
    /// Reaction to PFC frames; `None`: PFC is ignored.
    pub pfc: Option<PfcConfig>,
    /// Bytes of line time that a frame takes in addition to its own.
    pub wire: WireOverhead,
}

/// A port that sends one frame after another.
#[derive(Debug)]
pub struct Port {
    config: PortConfig,
    source: PfcSource,
    /// The message whose frames get numbers, with the last number.
    numbered: Option<(u32, u32)>,
}

impl Port {
    pub(super) fn new(config: PortConfig) -> Port {
        let honoured = if config.pfc.is_some() { u8::MAX } else { 0 };
        let pfc = config.pfc.unwrap_or_default();
        let source = PfcSource::new(config.rate, Length::from_metres(0), &pfc, honoured);
        Port { config, source: source.overhead(config.wire), numbered: None }
    }

    /// Returns the link rate.
    pub(super) const fn rate(&self) -> BitRate {
        self.config.rate
    }

    /// Returns the time at which the line is free for another frame.
    #[must_use]
    pub const fn free_at(&self) -> Time {
        self.source.free_at()
    }

    /// Returns true if a priority is paused.
    #[must_use]
    pub const fn is_paused(&self, priority: u8) -> bool {
        self.source.paused() >> priority & 1 != 0
    }

    /// Returns the bytes of line time that a frame of `len` bytes takes.
    #[must_use]
    pub fn line_bytes(&self, len: u32) -> Bytes {
        self.config.wire.wire_bytes(Bytes(len.into()))
    }

    /// Sends a frame whose length on the wire is `orig_len` without FCS; the line must be free.
    pub fn put(
        &mut self,
        now: Time,
        bytes: &[u8],
        orig_len: u32,
        mut tag: FrameTag,
        send: &mut ToSwitch<'_>,
    ) {
        if let Some((pair, last)) = &mut self.numbered
            && *pair == tag.pair
        {
            *last += 1;
            tag.number = *last;
        }
        let first_bit = self.source.send(now, Bytes(orig_len.into())).first_bit;
        send(first_bit, HostFrame { bytes, orig_len, tag: tag.into() });
    }

    /// Returns the number of frames that got numbers.
    pub(super) fn numbered(&self) -> u32 {
        self.numbered.map_or(0, |(_, last)| last)
    }

    /// Numbers the frames of a message from now on, from 1.
    pub(super) fn number_frames(&mut self, pair: u32) {
        self.numbered = Some((pair, 0));
    }

    /// Handles a PFC frame.
    pub(super) fn pause(&mut self, at: Time, times: PfcTimes) {
        if self.source.obeys() {
            self.source.heard(at, times);
        }
    }

    /// Begins and ends pauses up to and including `now`.
    pub(super) fn advance(&mut self, now: Time) {
        self.source.advance(now);
    }

    /// Returns the time at which the next pause begins, changes or ends, as far as it is known.
    pub(super) fn next_time(&self) -> Option<Time> {
        self.source.next_time()
    }

    /// Returns the number of pauses up to `now` and the sum of their lengths, over all priorities.
    pub(super) fn pauses(&self, now: Time) -> (u64, Duration) {
        let stats = self.source.stats(now);
        let pauses = stats.iter().map(|p| p.pauses).sum();
        (pauses, stats.iter().fold(Duration::ZERO, |sum, p| sum + p.paused))
    }
}
