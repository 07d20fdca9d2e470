//! Congestion control of a queue pair: one of the senders, as a pacing rate and a window.
//!
//! | sender | reads | limits |
//! |---|---|---|
//! | none | nothing | nothing: pairs send at the link rate |
//! | [DCQCN](super::dcqcn) | CNPs | the rate |
//! | [HPCC](super::hpcc) | records of all hops in each acknowledgement | window and rate |
//! | [TIMELY](super::timely) | round trips | the rate |
//! | [DCTCP in the NIC](super::rate_dctcp) | marks echoed in each acknowledgement | the rate |
//!
//! A sender that limits the rate alone can have a window beside it ([`WindowConfig`]).

use super::dcqcn::ReactionPoint;
use super::hpcc::{Hpcc, HpccConfig, Records, TelemetryFormat};
use super::rate_dctcp::{RateDctcp, RateDctcpConfig};
use super::timely::{Completions, Timely, TimelyConfig};
use sluice_asic::units::{BitRate, Bytes, Duration, Time};

/// Congestion control of a host's queue pairs.
#[derive(Clone, Debug)]
pub enum CongestionConfig {
    /// None: pairs send at the link rate, and packets are not ECN-capable.
    None,
    /// DCQCN; every pair starts with a copy of this reaction point.
    Dcqcn(Box<ReactionPoint>),
    /// HPCC: data packets have room for the switches' records.
    Hpcc {
        /// Parameters of the sender.
        sender: HpccConfig,
        /// Position and units of the records.
        telemetry: TelemetryFormat,
    },
    /// TIMELY.
    Timely(TimelyConfig),
    /// DCTCP in the NIC.
    Dctcp(RateDctcpConfig),
}

impl CongestionConfig {
    /// Returns true if the sender reacts to marks: then its data packets are ECN-capable, and receivers notify.
    #[must_use]
    pub const fn reads_marks(&self) -> bool {
        matches!(self, CongestionConfig::Dcqcn(_) | CongestionConfig::Dctcp(_))
    }

    /// Returns the format of the records that the packets have room for, if they have.
    #[must_use]
    pub const fn telemetry(&self) -> Option<&TelemetryFormat> {
        match self {
            CongestionConfig::Hpcc { telemetry, .. } => Some(telemetry),
            _ => None,
        }
    }

    /// Returns true if the sender needs the round trip of every packet.
    #[must_use]
    pub const fn times_every_packet(&self) -> bool {
        matches!(self, CongestionConfig::Timely(TimelyConfig { completions: Completions::Segment(_), .. }))
    }
}

/// A window in addition to a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowConfig {
    /// Most unacknowledged payload bytes, above 0.
    pub bytes: Bytes,
    /// True if the window shrinks in proportion to the rate: `bytes` * rate / line (`VAR_WIN` of HPCC's simulator).
    pub scales: bool,
}

/// An acknowledgement or a NACK, as a congestion control sees it.
#[derive(Clone, Copy, Debug)]
pub struct Acknowledgement<'a> {
    /// Time of its arrival.
    pub now: Time,
    /// All packets before this one have arrived.
    pub acknowledged: u64,
    /// The next packet to be sent for the first time, or again after going back.
    pub next: u64,
    /// Payload bytes that it acknowledges for the first time.
    pub bytes: u64,
    /// True if it says that its packet was marked.
    pub marked: bool,
    /// Round trip of its packet, if the packet was timed.
    pub rtt: Option<Duration>,
    /// Copy of the records that its packet collected.
    pub records: Option<&'a Records>,
}

/// State of a sender.
#[derive(Clone, Debug)]
enum Control {
    None,
    Dcqcn(Box<ReactionPoint>),
    Hpcc(Box<Hpcc>),
    Timely(Timely),
    Dctcp(RateDctcp),
}

/// Congestion control of one queue pair.
#[derive(Clone, Debug)]
pub struct Congestion {
    control: Control,
    line: BitRate,
    window: Option<WindowConfig>,
    notified: u64,
}

impl Congestion {
    /// Creates the congestion control of a pair at a line of this rate.
    #[must_use]
    pub fn new(config: &CongestionConfig, window: Option<WindowConfig>, line: BitRate) -> Congestion {
        let control = match config {
            CongestionConfig::None => Control::None,
            CongestionConfig::Dcqcn(point) => Control::Dcqcn(Box::new(point.at_line(line))),
            CongestionConfig::Hpcc { sender, .. } => Control::Hpcc(Box::new(Hpcc::new(sender.clone(), line))),
            CongestionConfig::Timely(timely) => Control::Timely(Timely::new(timely.clone(), line)),
            CongestionConfig::Dctcp(dctcp) => Control::Dctcp(RateDctcp::new(dctcp.clone(), line)),
        };
        Congestion { control, line, window, notified: 0 }
    }

    /// Returns the pacing rate, above 0 and at most the line's.
    #[must_use]
    pub fn rate(&self) -> BitRate {
        let rate = match &self.control {
            Control::None => self.line,
            Control::Dcqcn(point) => BitRate::from_bps(point.state().rate as u64),
            Control::Hpcc(hpcc) => hpcc.rate(),
            Control::Timely(timely) => timely.rate(),
            Control::Dctcp(dctcp) => dctcp.rate(),
        };
        rate.max(BitRate::from_bps(1))
    }

    /// Returns the window, payload bytes, at least 1; `None`: nothing but the rate limits the bytes in flight.
    #[must_use]
    pub fn window(&self) -> Option<u64> {
        if let Control::Hpcc(hpcc) = &self.control {
            return Some(hpcc.window());
        }
        let WindowConfig { bytes, scales } = self.window?;
        let share = if scales { self.rate() } else { self.line };
        let scaled = u128::from(bytes.0) * u128::from(share.as_bps()) / u128::from(self.line.as_bps().max(1));
        Some((scaled as u64).max(1))
    }

    /// Returns true if every packet leaves at the line's rate, so that none has to wait for its time.
    #[must_use]
    pub const fn is_unpaced(&self) -> bool {
        matches!(self.control, Control::None)
    }

    /// Returns the number of rate or window cuts.
    #[must_use]
    pub fn cuts(&self) -> u64 {
        match &self.control {
            Control::None => 0,
            Control::Dcqcn(point) => point.state().cuts,
            Control::Hpcc(hpcc) => hpcc.cuts(),
            Control::Timely(timely) => timely.cuts(),
            Control::Dctcp(dctcp) => dctcp.cuts(),
        }
    }

    /// Returns the number of notifications of congestion that have arrived.
    #[must_use]
    pub const fn notified_times(&self) -> u64 {
        self.notified
    }

    /// Runs the sender's timers up to and including `now`.
    pub fn advance(&mut self, now: Time) {
        if let Control::Dcqcn(point) = &mut self.control {
            point.advance(now);
        }
    }

    /// Counts sent bytes.
    pub fn sent(&mut self, bytes: Bytes) {
        if let Control::Dcqcn(point) = &mut self.control {
            point.sent(bytes);
        }
    }

    /// Handles an acknowledgement or a NACK.
    pub fn acknowledged(&mut self, ack: &Acknowledgement<'_>) {
        let Acknowledgement { now, acknowledged, next, bytes, marked, rtt, records } = *ack;
        match &mut self.control {
            Control::None | Control::Dcqcn(_) => {}
            Control::Hpcc(hpcc) => {
                if let Some(records) = records {
                    hpcc.acknowledged(now, acknowledged, next, records);
                }
            }
            Control::Timely(timely) => timely.acknowledged(acknowledged, next, bytes, rtt),
            Control::Dctcp(dctcp) => dctcp.acknowledged(acknowledged, next, marked),
        }
    }

    /// Handles a notification of congestion: a CNP, or BECN in an acknowledgement.
    pub fn notified(&mut self, now: Time) {
        self.notified += 1;
        if let Control::Dcqcn(point) = &mut self.control {
            point.notified(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: BitRate = BitRate::from_gbps(100);

    #[test]
    fn a_window_beside_a_rate_scales_with_it_or_not() {
        let at_half = |scales| {
            let window = WindowConfig { bytes: Bytes(104_000), scales };
            let dctcp = CongestionConfig::Dctcp(RateDctcpConfig::default());
            let mut congestion = Congestion::new(&dctcp, Some(window), LINE);
            let ack = Acknowledgement {
                now: Time::ORIGIN,
                acknowledged: 1,
                next: 100,
                bytes: 1_000,
                marked: true,
                rtt: None,
                records: None,
            };
            congestion.acknowledged(&ack);
            (congestion.rate(), congestion.window())
        };
        assert_eq!(at_half(true), (BitRate::from_gbps(50), Some(52_000)));
        assert_eq!(at_half(false), (BitRate::from_gbps(50), Some(104_000)));
        assert_eq!(Congestion::new(&CongestionConfig::None, None, LINE).window(), None);
    }

    #[test]
    fn a_slower_line_limits_the_reaction_point() {
        use crate::host::dcqcn::{Mellanox, ReactionConfig};
        let point = ReactionPoint::Mellanox(Mellanox::new(ReactionConfig::new(LINE)));
        let config = CongestionConfig::Dcqcn(Box::new(point));
        let rate = |gbps| Congestion::new(&config, None, BitRate::from_gbps(gbps)).rate();
        assert_eq!((rate(25), rate(400)), (BitRate::from_gbps(25), LINE));
    }
}
