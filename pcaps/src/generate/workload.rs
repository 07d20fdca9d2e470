//! [`Workload`]: flows with random arrivals, a distribution of sizes, and a target load.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::compose::Composer;
use super::pace::Elapsed;
use super::random::EXPONENTIAL_BITS;
use super::run::{Amount, FlowRun, Pacing};
use super::tuples::TupleMap;
use super::{
    Cdf, Draw, Envelope, FrameSource, GenerateError, MAX_FLOWS, MAX_LEN, MIN_LEN, Pace, Protocol, Tuples,
    later,
};
use crate::capture::CaptureTime;
use crate::wire::roce;

/// The streams of [`Draw`] for arrivals and for sizes.
const ARRIVAL_STREAM: u64 = u64::MAX - 1;
const SIZE_STREAM: u64 = u64::MAX;

/// Workload whose flows start by a Poisson process, as in HPCC's traffic generator (model: int §5.3). The mean gap is
/// the mean size divided by the target load's share of a link's rate; load counts payload bytes. The frames of a flow
/// follow each other at the flow's pace; frames of different flows may overlap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workload {
    /// Number of flows, 1 to [`MAX_FLOWS`]; each has a unique five-tuple.
    pub flows: u32,
    /// Payload bytes of a flow.
    pub sizes: Cdf,
    /// Transport protocol.
    pub protocol: Protocol,
    /// Frame length in bytes without FCS; of RoCEv2, most payload bytes of a packet.
    pub frame: u32,
    /// Rate in bit/s of which the load is a share.
    pub rate: u64,
    /// Load in percent, 1 to 100.
    pub load: u32,
    /// Pace of a flow.
    pub pace: Pace,
    /// Start of the first gap.
    pub start: CaptureTime,
    /// Seed of everything drawn.
    pub seed: u64,
    /// Header fields that all frames share.
    pub envelope: Envelope,
    /// Sources and destinations of the flows.
    pub tuples: Tuples,
}

impl Workload {
    /// Checks the configuration and makes its generator.
    ///
    /// # Errors
    /// Numbers out of range, prefixes of the wrong family, more flows than five-tuples.
    pub fn frames(self) -> Result<WorkloadFrames, GenerateError> {
        GenerateError::check("flows", self.flows.into(), 1, MAX_FLOWS.into())?;
        GenerateError::check("load", self.load.into(), 1, 100)?;
        // A hundred times the rate must fit a 64-bit divisor.
        GenerateError::check("rate", self.rate, 1, 1 << 57)?;
        self.envelope.check()?;
        let mut tuples = self.tuples.clone();
        if self.protocol == Protocol::Roce {
            tuples.destination_ports = roce::PORT..=roce::PORT;
        } else {
            GenerateError::check("size", self.frame.into(), MIN_LEN.into(), MAX_LEN.into())?;
        }
        // Limits the longest message, so that the product of an exponential's steps (2^46), the size and the numerator
        // below stays under 2^127.
        GenerateError::check("largest size of the CDF", self.sizes.largest(), 1, 1 << 31)?;
        let tuples = tuples.map(self.flows, self.seed)?;
        // Per byte: 8 bit times 100 percent over rate and load.
        let per_byte = (800_000_000_000_000, self.rate * u64::from(self.load));
        let mut frames = WorkloadFrames {
            arrivals: Elapsed::new(per_byte, EXPONENTIAL_BITS),
            mean: self.sizes.mean().max(1),
            begun: 0,
            arrival_draw: Draw::new(self.seed, ARRIVAL_STREAM),
            size_draw: Draw::new(self.seed, SIZE_STREAM),
            tuples,
            workload: self,
            runs: Vec::new(),
            free: Vec::new(),
            next: BinaryHeap::new(),
            composer: Composer::default(),
            frame: Vec::new(),
        };
        // The first flow tests whether frames can be divided as requested.
        frames.gap();
        frames.begin()?;
        Ok(frames)
    }
}

/// Frames of a [`Workload`]. Memory grows only with the number of active flows.
#[derive(Debug, Clone)]
pub struct WorkloadFrames {
    workload: Workload,
    /// Start of the next flow.
    arrivals: Elapsed,
    mean: u64,
    begun: u32,
    arrival_draw: Draw,
    size_draw: Draw,
    tuples: TupleMap,
    /// Active flows, and free slots of ended flows.
    runs: Vec<FlowRun>,
    free: Vec<usize>,
    /// Active flows by the start of their next frame; at one instant, the older flow is first.
    next: BinaryHeap<Reverse<(u128, u32, usize)>>,
    composer: Composer,
    frame: Vec<u8>,
}

impl WorkloadFrames {
    fn gap(&mut self) {
        let steps = u128::from(self.arrival_draw.exponential()) * u128::from(self.mean);
        self.arrivals.advance(steps);
    }

    /// Begins the flow that is due.
    fn begin(&mut self) -> Result<(), GenerateError> {
        let (number, workload) = (self.begun, &self.workload);
        let amount = Amount::Bytes(workload.sizes.draw(&mut self.size_draw));
        let pacing = Pacing { pace: workload.pace, start: self.arrivals.ps() };
        let run = FlowRun::new(
            number.into(),
            self.tuples.tuple(number.into()),
            workload.protocol,
            workload.envelope,
            pacing,
            workload.frame,
            amount,
            &mut self.composer,
        )?;
        let due = run.due();
        let place = match self.free.pop() {
            Some(place) => {
                self.runs[place] = run;
                place
            }
            None => {
                self.runs.push(run);
                self.runs.len() - 1
            }
        };
        self.next.push(Reverse((due, number, place)));
        self.begun += 1;
        self.gap();
        Ok(())
    }
}

impl FrameSource for WorkloadFrames {
    fn next_frame(&mut self) -> Option<(CaptureTime, &[u8])> {
        while self.begun < self.workload.flows
            && self.next.peek().is_none_or(|Reverse((due, ..))| *due > self.arrivals.ps())
        {
            // This cannot fail, because it did not fail for the first flow.
            self.begin().ok()?;
        }
        let Reverse((ps, number, place)) = self.next.pop()?;
        let run = &mut self.runs[place];
        run.write(&mut self.composer, &mut self.frame)?;
        if run.left() > 0 {
            self.next.push(Reverse((run.due(), number, place)));
        } else {
            self.free.push(place);
        }
        Some((later(self.workload.start, ps), &self.frame))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::MacAddr;

    fn workload(protocol: Protocol) -> Workload {
        Workload {
            flows: 4_000,
            sizes: Cdf::parse("t", "0 0\n1000 50\n5000 90\n20000 100").unwrap(),
            protocol,
            frame: 1024,
            rate: 100_000_000_000,
            load: 50,
            pace: Pace::BackToBack { bits_per_second: 100_000_000_000 },
            start: CaptureTime::EPOCH,
            seed: 1,
            envelope: Envelope::new(MacAddr::from_u64(1), MacAddr::from_u64(2)),
            tuples: Tuples {
                sources: vec!["10.0.0.0/16".parse().unwrap()],
                destinations: vec!["10.1.0.0/16".parse().unwrap()],
                source_ports: 49_152..=65_535,
                destination_ports: 20_480..=20_480,
                ipv6_percent: 0,
            },
        }
    }

    /// Mean size 2700 B: 4000 flows bring 10.8 MB, half of what 100 Gb/s carry in 1.728 ms.
    #[test]
    fn load_and_sizes_are_as_asked() {
        for (protocol, headers) in [(Protocol::Udp, 42), (Protocol::Tcp, 54)] {
            let mut frames = workload(protocol).frames().unwrap();
            assert_eq!(frames.mean, 2_700);
            let (mut payload, mut last) = (0, 0);
            while let Some((time, frame)) = frames.next_frame() {
                assert!(time.as_ps() >= last, "in order");
                last = time.as_ps();
                payload += frame.len() - headers;
            }
            assert_eq!(frames.begun, 4_000);
            // Three standard deviations of each are within.
            assert!((10_150_000..11_450_000).contains(&payload), "{payload}");
            assert!((1_640_000_000..1_820_000_000).contains(&last), "{last}");
            assert!(frames.runs.len() < 40, "memory is that of flows under way: {}", frames.runs.len());
        }
    }

    #[test]
    fn roce_flows_are_whole_messages() {
        let mut frames = workload(Protocol::Roce).frames().unwrap();
        let (mut firsts, mut lasts) = (0, 0);
        while let Some((_, frame)) = frames.next_frame() {
            firsts += u32::from([6, 10].contains(&frame[42]));
            lasts += u32::from([8, 10].contains(&frame[42]));
        }
        assert_eq!((firsts, lasts), (4_000, 4_000));
    }

    #[test]
    fn impossible_workloads_are_refused() {
        let refusal = |workload: Workload| workload.frames().unwrap_err().to_string();
        let base = || workload(Protocol::Udp);
        assert_eq!(refusal(Workload { load: 0, ..base() }), "load: found 0, expected 1 to 100");
        assert_eq!(refusal(Workload { frame: 59, ..base() }), "size: found 59, expected 60 to 65535");
        assert!(
            refusal(Workload { frame: 1000, ..workload(Protocol::Roce) }).starts_with("mtu: found `1000`")
        );
        assert!(refusal(Workload { flows: 0, ..base() }).starts_with("flows: found 0"));
    }
}
