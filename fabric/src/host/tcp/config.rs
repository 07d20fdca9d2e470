//! Settings of a TCP transport. Defaults are those of a Linux host in a data centre, unless a field says otherwise.

use super::congestion::CongestionConfig;
use super::segment::TIMESTAMPS_LEN;
use crate::host::rdma::TrafficClass;
use sluice_asic::units::Duration;

/// Settings of a TCP transport.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TcpConfig {
    /// Bytes of a full IPv4 packet, 576 to 9216; 1500 by default. The MSS option offers 40 bytes less, and a segment's
    /// payload is shorter by the options that every segment has (RFC 6691).
    pub mtu: u32,
    /// Congestion control.
    pub congestion: CongestionConfig,
    /// True if data packets are ECN-capable (RFC 3168); always true of DCTCP.
    pub ecn: bool,
    /// True if the ends offer selective acknowledgements (RFC 2018). Without them loss recovery is NewReno's.
    pub sack: bool,
    /// Tick of the timestamps option (RFC 7323); `None`: no timestamps.
    pub timestamps: Option<Duration>,
    /// Initial window, full segments, 1 to 1000; 10 by default (RFC 6928).
    pub initial_window: u32,
    /// Slow start threshold of a new connection, bytes; not limited by default.
    pub initial_ssthresh: u64,
    /// Most full segments by which one acknowledgement raises the window in slow start, the limit L of RFC 3465; 2 by default.
    pub byte_counting: u32,
    /// Receive buffer, bytes: the largest window that is advertised. The application reads all data at once.
    pub receive_buffer: u64,
    /// Duplicate acknowledgements after which a segment counts as lost; 3 by default.
    pub dup_ack_threshold: u32,
    /// True if the first duplicate acknowledgements let new segments be sent (RFC 3042).
    pub limited_transmit: bool,
    /// Retransmission timer.
    pub rto: RtoConfig,
    /// Delayed acknowledgements.
    pub delayed_ack: DelayedAck,
    /// Most full segments that the NIC cuts from one TSO packet and sends back to back, 1 to 64; 1 by default: no TSO.
    pub tso: u32,
    /// Pacing; `None`, the default: segments are sent when the window allows them.
    pub pacing: Option<Pacing>,
    /// Window after a pause.
    pub idle: IdleRestart,
    /// The connection that a message uses.
    pub reuse: Reuse,
    /// Traffic class of the packets of senders; DSCP 0 and priority 0 by default.
    pub data: TrafficClass,
    /// Traffic class of the packets of receivers; DSCP 0 and priority 0 by default.
    pub control: TrafficClass,
}

/// Settings of the retransmission timer (RFC 6298).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtoConfig {
    /// Timeout before the first measurement; 1 s by default.
    pub initial: Duration,
    /// Least timeout; 200 ms by default, as in Linux. RFC 6298 asks for 1 s.
    pub min: Duration,
    /// Largest timeout, also after backing off; 120 s by default, as in Linux.
    pub max: Duration,
    /// Granularity G of the clock; 1 ms by default.
    pub granularity: Duration,
}

/// Delayed acknowledgements (RFC 9293 §3.8.6.3; RFC 5681 §4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayedAck {
    /// Segments that one acknowledgement covers, 1 to 64; 2 by default. 1: every segment is acknowledged at once.
    pub every: u32,
    /// Longest delay of an acknowledgement; 40 ms by default, as in Linux.
    pub timeout: Duration,
    /// True if a segment with PSH is acknowledged at once, as Linux does when the application has read all data. True by
    /// default.
    pub push: bool,
}

/// Rates of paced connections, percent of cwnd / SRTT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pacing {
    /// In slow start; 200 by default, as in Linux.
    pub slow_start: u32,
    /// In congestion avoidance; 120 by default, as in Linux.
    pub avoidance: u32,
}

/// Congestion window of a connection that has sent nothing for longer than its retransmission timeout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdleRestart {
    /// The window stays.
    Keep,
    /// It falls to the initial window at most (RFC 5681 §4.1).
    Initial,
    /// It is halved once per timeout, to the initial window at least, and ssthresh becomes at least three quarters of it
    /// (RFC 2861), as in Linux.
    #[default]
    Halve,
}

/// The connection that a message uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reuse {
    /// A new one, which is forgotten when the message is acknowledged.
    #[default]
    Never,
    /// A connection to the same receiver that carries no message; without one, a new one.
    Idle,
    /// The only connection to the receiver: messages wait for each other.
    Always,
}

impl Default for TcpConfig {
    fn default() -> Self {
        TcpConfig {
            mtu: 1500,
            congestion: CongestionConfig::NewReno,
            ecn: false,
            sack: true,
            timestamps: Some(Duration::from_millis(1)),
            initial_window: 10,
            initial_ssthresh: u64::MAX,
            byte_counting: 2,
            receive_buffer: 6 << 20,
            dup_ack_threshold: 3,
            limited_transmit: true,
            rto: RtoConfig::default(),
            delayed_ack: DelayedAck::default(),
            tso: 1,
            pacing: None,
            idle: IdleRestart::default(),
            reuse: Reuse::default(),
            data: TrafficClass { dscp: 0, priority: 0 },
            control: TrafficClass { dscp: 0, priority: 0 },
        }
    }
}

impl Default for RtoConfig {
    fn default() -> Self {
        RtoConfig {
            initial: Duration::from_secs(1),
            min: Duration::from_millis(200),
            max: Duration::from_secs(120),
            granularity: Duration::from_millis(1),
        }
    }
}

impl Default for DelayedAck {
    fn default() -> Self {
        DelayedAck { every: 2, timeout: Duration::from_millis(40), push: true }
    }
}

impl Default for Pacing {
    fn default() -> Self {
        Pacing { slow_start: 200, avoidance: 120 }
    }
}

impl RtoConfig {
    /// Returns the timeout of a SYN or FIN that was sent `tries` times.
    pub(super) fn doubled(&self, tries: u32) -> Duration {
        let doubled = 1_u64.checked_shl(tries).and_then(|factor| self.initial.checked_mul(factor));
        doubled.map_or(self.max, |timeout| timeout.min(self.max))
    }
}

impl TcpConfig {
    /// Returns true if data packets are ECN-capable.
    #[must_use]
    pub const fn uses_ecn(&self) -> bool {
        self.ecn || self.is_dctcp()
    }

    /// Returns true if congestion control is DCTCP.
    #[must_use]
    pub const fn is_dctcp(&self) -> bool {
        matches!(self.congestion, CongestionConfig::Dctcp(_))
    }

    /// Returns the value of the MSS option: the MTU without IPv4 and TCP header.
    #[must_use]
    pub const fn mss(&self) -> u32 {
        self.mtu.saturating_sub(40)
    }

    /// Returns the payload bytes of a full segment, if both ends use the same options.
    #[must_use]
    pub const fn payload(&self) -> u32 {
        let options = if self.timestamps.is_some() { TIMESTAMPS_LEN } else { 0 };
        self.mss().saturating_sub(options)
    }

    /// Returns the shift of the window scale option: the least that lets 16 bits say the receive buffer, at most 14
    /// (RFC 7323 §2).
    #[must_use]
    pub fn window_scale(&self) -> u8 {
        (0..14).find(|shift| self.receive_buffer >> shift <= u64::from(u16::MAX)).unwrap_or(14)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_is_the_least_that_fits() {
        let scale = |receive_buffer| TcpConfig { receive_buffer, ..TcpConfig::default() }.window_scale();
        assert_eq!([0xffff, 0x1_0000, 0x1_ffff, 6 << 20, 1 << 30, u64::MAX].map(scale), [0, 1, 1, 7, 14, 14]);
    }
}
