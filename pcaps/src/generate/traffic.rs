//! [`Traffic`]: many flows of one kind, with an arrival process and a distribution of lengths.

use super::compose::{Composer, GeneratedFlow};
use super::tuples::TupleMap;
use super::{ArrivalTimes, Arrivals, Draw, Envelope, FrameSource, GenerateError, Kind, Sizes, Tuples, later};
use crate::capture::CaptureTime;

/// Largest number of flows; the progress of stateful flows then takes 64 MiB.
pub const MAX_FLOWS: u32 = 1 << 24;

/// The stream of [`Draw`] that packets draw from.
const PACKET_STREAM: u64 = u64::MAX;

/// Traffic of many flows, each with a unique five-tuple. The first packets come in order of the flows; then each packet
/// belongs to a flow that is drawn at random. Under [`Arrivals::Incast`], flow n is the traffic of sender n.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Traffic {
    /// Frames to make; `u64::MAX` for no end.
    pub packets: u64,
    /// Flows, 1 to [`MAX_FLOWS`]; as many as senders under incast.
    pub flows: u32,
    /// Kind of traffic.
    pub kind: Kind,
    /// Frame lengths, raised to the headers' length if they are below. The lengths of RoCEv2 and ARP frames do not
    /// depend on them.
    pub sizes: Sizes,
    /// Arrival process of the frames.
    pub arrivals: Arrivals,
    /// Earliest start of the first frame.
    pub start: CaptureTime,
    /// Seed of everything drawn.
    pub seed: u64,
    /// Header fields that all frames share.
    pub envelope: Envelope,
    /// Sources and destinations of the flows.
    pub tuples: Tuples,
}

impl Traffic {
    /// Checks the configuration and makes its generator.
    ///
    /// # Errors
    /// Numbers out of range, prefixes of the wrong family, more flows than five-tuples.
    pub fn frames(self) -> Result<TrafficFrames, GenerateError> {
        GenerateError::check("flows", self.flows.into(), 1, MAX_FLOWS.into())?;
        if let Arrivals::Incast(incast) = &self.arrivals {
            GenerateError::check("flows", self.flows.into(), incast.senders.into(), incast.senders.into())?;
        }
        self.kind.check()?;
        self.sizes.check()?;
        self.arrivals.check()?;
        self.envelope.check()?;
        let mut tuples = self.tuples;
        if let Some(port) = self.kind.fixed_port() {
            tuples.destination_ports = port..=port;
        }
        if let Kind::Arp(_) = self.kind {
            (tuples.source_ports, tuples.destination_ports) = (0..=0, 0..=0);
            if tuples.ipv6_percent > 0 {
                return Err(GenerateError::OnlyIpv4 { what: "ARP" });
            }
        }
        let progress = if self.kind.is_stateful() { vec![0; self.flows as usize] } else { Vec::new() };
        Ok(TrafficFrames {
            left: self.packets,
            flows: self.flows.into(),
            in_turn: 0,
            kind: self.kind,
            sizes: self.sizes,
            times: ArrivalTimes::new(&self.arrivals, self.seed),
            start: self.start,
            envelope: self.envelope,
            tuples: tuples.map(self.flows, self.seed)?,
            draw: Draw::new(self.seed, PACKET_STREAM),
            progress,
            composer: Composer::default(),
            frame: Vec::new(),
        })
    }
}

/// Frames of [`Traffic`], each in the same buffer.
#[derive(Debug, Clone)]
pub struct TrafficFrames {
    left: u64,
    flows: u64,
    /// Flows that have had their first turn.
    in_turn: u64,
    kind: Kind,
    sizes: Sizes,
    times: ArrivalTimes,
    start: CaptureTime,
    envelope: Envelope,
    tuples: TupleMap,
    draw: Draw,
    /// Progress of stateful flows; empty if the flows have no state.
    progress: Vec<u32>,
    composer: Composer,
    frame: Vec<u8>,
}

impl FrameSource for TrafficFrames {
    #[inline]
    fn next_frame(&mut self) -> Option<(CaptureTime, &[u8])> {
        self.left = self.left.checked_sub(1)?;
        let arrival = self.times.due();
        let number = match arrival.sender {
            Some(sender) => sender.into(),
            None if self.in_turn < self.flows => {
                self.in_turn += 1;
                self.in_turn - 1
            }
            None => self.draw.below(self.flows),
        };
        let len = self.sizes.draw(&mut self.draw);
        let progress = self.progress.get(number as usize).copied().unwrap_or(0);
        let flow = GeneratedFlow { number, tuple: self.tuples.tuple(number), progress };
        // This cannot fail: lengths and families were checked.
        let progress = self.composer.write(&self.envelope, &self.kind, flow, len, &mut self.frame).ok()?;
        if let Some(place) = self.progress.get_mut(number as usize) {
            *place = progress;
        }
        self.times.sent(self.frame.len() as u32);
        Some((later(self.start, arrival.ps), &self.frame))
    }
}
