//! Flow with an end: a number of frames or bytes at a pace. Lists of flows and workloads use it.

use std::str::FromStr;

use super::compose::{Composer, GeneratedFlow};
use super::pace::Elapsed;
use super::tuples::Tuple;
use super::{Envelope, GenerateError, Kind, Pace, RoceMessages, RoceOperation};

/// ECN codepoint ECT(0), which a transport that reacts to congestion marks sends.
pub(super) const ECT_0: u8 = 2;

/// Transport protocol of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// UDP datagrams.
    Udp,
    /// TCP segments.
    Tcp,
    /// One RDMA WRITE over RoCEv2.
    Roce,
}

impl FromStr for Protocol {
    type Err = GenerateError;

    fn from_str(text: &str) -> Result<Self, GenerateError> {
        match text {
            "udp" => Ok(Self::Udp),
            "tcp" => Ok(Self::Tcp),
            "roce" => Ok(Self::Roce),
            _ => Err(GenerateError::text("proto", text, "udp, tcp or roce")),
        }
    }
}

/// Amount of data that a flow sends.
#[derive(Debug, Clone, Copy)]
pub(super) enum Amount {
    /// Frames of full length.
    Packets(u64),
    /// Payload bytes, of which the last frame carries the rest.
    Bytes(u64),
}

/// Times at which a flow sends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pacing {
    pub(super) pace: Pace,
    /// Picoseconds since the trace's start.
    pub(super) start: u128,
}

/// A flow under way.
#[derive(Debug, Clone)]
pub(super) struct FlowRun {
    flow: GeneratedFlow,
    kind: Kind,
    envelope: Envelope,
    pace: Pace,
    line: Elapsed,
    size: u32,
    last_len: u32,
    left: u64,
}

impl FlowRun {
    /// Creates a flow whose frames have `size` bytes; a RoCEv2 packet carries `size` bytes of payload.
    #[expect(clippy::too_many_arguments, reason = "the parts of a flow")]
    pub(super) fn new(
        number: u64,
        tuple: Tuple,
        protocol: Protocol,
        envelope: Envelope,
        pacing: Pacing,
        size: u32,
        amount: Amount,
        composer: &mut Composer,
    ) -> Result<Self, GenerateError> {
        let flow = GeneratedFlow { number, tuple, progress: 0 };
        let (kind, left, last_len) = match protocol {
            Protocol::Roce => {
                let bytes = match amount {
                    Amount::Packets(packets) => packets.saturating_mul(size.into()),
                    Amount::Bytes(bytes) => bytes,
                };
                let message = u32::try_from(bytes).unwrap_or(u32::MAX);
                let messages = RoceMessages { operation: RoceOperation::Write, mtu: size, message };
                let kind = Kind::Roce(messages);
                kind.check()?;
                (kind, u64::from(messages.packets()), 0)
            }
            Protocol::Udp | Protocol::Tcp => {
                let kind = if protocol == Protocol::Tcp { Kind::Tcp } else { Kind::Udp };
                match amount {
                    Amount::Packets(packets) => (kind, packets, size),
                    Amount::Bytes(bytes) => {
                        let mut headers = Vec::new();
                        composer.write(&envelope, &kind, flow, 0, &mut headers)?;
                        let per_frame = u64::from(size).saturating_sub(headers.len() as u64).max(1);
                        let frames = bytes.div_ceil(per_frame).max(1);
                        let rest = bytes - (frames - 1) * per_frame;
                        (kind, frames, headers.len() as u32 + rest as u32)
                    }
                }
            }
        };
        let mut line = Elapsed::new(pacing.pace.ps_per_unit(), 0);
        line.at_least(pacing.start);
        Ok(Self { flow, kind, envelope, pace: pacing.pace, line, size, last_len, left })
    }

    /// Returns the start of the next frame.
    pub(super) const fn due(&self) -> u128 {
        self.line.ps()
    }

    /// Returns the number of remaining frames.
    pub(super) const fn left(&self) -> u64 {
        self.left
    }

    /// Writes the next frame, if there is one.
    pub(super) fn write(&mut self, composer: &mut Composer, out: &mut Vec<u8>) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        let len = if self.left == 0 { self.last_len } else { self.size };
        // This cannot fail: lengths and families were checked.
        self.flow.progress = composer.write(&self.envelope, &self.kind, self.flow, len, out).ok()?;
        self.line.advance(self.pace.units(out.len() as u32));
        Some(())
    }
}
