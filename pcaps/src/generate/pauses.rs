//! [`Pauses`]: PAUSE and PFC frames.

use super::{ArrivalTimes, Arrivals, FrameSource, GenerateError, later};
use crate::capture::CaptureTime;
use crate::wire::pause::{self, Packet};
use crate::wire::{FrameBuilder, MacAddr, Payload, ethernet};

/// PAUSE or PFC frames: all equal, or alternating with frames that end the pause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pauses {
    /// Frames to make; `u64::MAX` for no end.
    pub packets: u64,
    /// The frame.
    pub packet: Packet,
    /// True if every second frame has the time 0 for the same classes.
    pub resume: bool,
    /// Source MAC address: that of the port that sends it.
    pub source_mac: MacAddr,
    /// Arrival process of the frames.
    pub arrivals: Arrivals,
    /// Earliest start of the first frame.
    pub start: CaptureTime,
    /// Seed of the arrivals.
    pub seed: u64,
}

impl Pauses {
    /// Checks the configuration and makes its generator.
    ///
    /// # Errors
    /// Arrivals that are out of range.
    pub fn frames(self) -> Result<PauseFrames, GenerateError> {
        self.arrivals.check()?;
        let ended = match self.packet {
            Packet::Pause { .. } => Packet::Pause { quanta: 0 },
            Packet::Pfc { enabled, .. } => Packet::pfc(enabled, 0),
        };
        let frame = |packet: Packet| {
            let mut frame = Vec::new();
            FrameBuilder::new(pause::DESTINATION, self.source_mac)
                .ethertype(ethernet::TYPE_MAC_CONTROL)
                .build(Payload::Bytes(&packet.to_bytes()), &mut frame)
                .map(|()| frame)
        };
        Ok(PauseFrames {
            left: self.packets,
            made: 0,
            frames: [frame(self.packet)?, frame(if self.resume { ended } else { self.packet })?],
            times: ArrivalTimes::new(&self.arrivals, self.seed),
            start: self.start,
        })
    }
}

/// The frames of [`Pauses`].
#[derive(Debug, Clone)]
pub struct PauseFrames {
    left: u64,
    made: usize,
    frames: [Vec<u8>; 2],
    times: ArrivalTimes,
    start: CaptureTime,
}

impl FrameSource for PauseFrames {
    fn next_frame(&mut self) -> Option<(CaptureTime, &[u8])> {
        self.left = self.left.checked_sub(1)?;
        let ps = self.times.due().ps;
        let frame = &self.frames[self.made % 2];
        self.made += 1;
        self.times.sent(frame.len() as u32);
        Some((later(self.start, ps), frame))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Pace;
    use crate::wire::{ethernet, pause::View};

    #[test]
    fn a_pause_and_its_end_in_turn() {
        let pauses = Pauses {
            packets: 3,
            packet: Packet::pfc(0b1_1000, 0xffff),
            resume: true,
            source_mac: MacAddr::from_u64(1),
            arrivals: Arrivals::Constant(Pace::Spacing { ps: 5 }),
            start: CaptureTime::EPOCH,
            seed: 1,
        };
        let mut frames = pauses.frames().unwrap();
        let mut seen = Vec::new();
        while let Some((time, frame)) = frames.next_frame() {
            let link = ethernet::View::new(frame).unwrap();
            assert_eq!((frame.len(), link.ethertype()), (60, 0x8808));
            seen.push((time.as_ps(), View::new(link.payload()).unwrap().packet()));
        }
        let (stop, go) = (Packet::pfc(0b1_1000, 0xffff), Packet::pfc(0b1_1000, 0));
        assert_eq!(seen, [(0, stop), (5, go), (10, stop)]);
    }
}
