//! Keys of TCP transports.

use crate::language::table;
use crate::nic_settings::above_zero;
use serde::Deserialize;
use sluice_asic::units::{Bytes, Duration};
use sluice_fabric::host::rdma::TrafficClass;
use sluice_fabric::host::tcp::{
    CongestionConfig, CubicConfig, DctcpConfig, DelayedAck, IdleRestart, Pacing, Reuse, RtoConfig, TcpConfig,
};

table! {
    /// Settings of a TCP transport (model: tcp); absent ones have Linux's values.
    #[derive(Clone, Debug, Default, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct TcpSetting {
        /// Congestion control; NewReno by default.
        pub congestion: TcpCongestionName,
        /// DCTCP: 1 / g, where g is the weight of a window in alpha; a power of two up to 65536; 16 by default.
        pub one_by_g: Option<u32>,
        /// DCTCP: alpha of a new connection, 0 to 1; 1 by default.
        pub alpha: Option<f64>,
        /// CUBIC: releases bandwidth if the window did not reach its last maximum; true by default.
        pub fast_convergence: Option<bool>,
        /// CUBIC: the window is at least Reno's; true by default.
        pub reno_friendly: Option<bool>,
        /// True if data packets are ECN-capable; false by default, and always true of DCTCP.
        pub ecn: Option<bool>,
        /// Bytes of a full IPv4 packet, 576 to 9216; 1500 by default.
        pub mtu: Option<u32>,
        /// Selective acknowledgements; true by default.
        pub sack: Option<bool>,
        /// Timestamps option; true by default.
        pub timestamps: Option<bool>,
        /// Initial window, full segments, 1 to 1000; 10 by default.
        pub initial_window: Option<u32>,
        /// Slow start threshold of a new connection; not limited by default.
        pub initial_ssthresh: Option<Bytes>,
        /// Most full segments by which one acknowledgement raises the window in slow start, 1 to 64; 2 by default.
        pub byte_counting: Option<u32>,
        /// Receive buffer, from 4 full packets to 1 GiB; 6 MiB by default.
        pub receive_buffer: Option<Bytes>,
        /// Duplicate acknowledgements after which a segment counts as lost, 1 to 1000000; 3 by default.
        pub dup_ack_threshold: Option<u32>,
        /// The first duplicate acknowledgements let new segments be sent; true by default.
        pub limited_transmit: Option<bool>,
        /// Retransmission timeout before the first measurement; 1s by default.
        pub initial_rto: Option<Duration>,
        /// Least retransmission timeout; 200ms by default.
        pub min_rto: Option<Duration>,
        /// Largest retransmission timeout; 120s by default.
        pub max_rto: Option<Duration>,
        /// Granularity of the clock in the retransmission timeout; 1ms by default.
        pub rto_granularity: Option<Duration>,
        /// Segments that one acknowledgement covers, 1 to 64; 2 by default.
        pub ack_every: Option<u32>,
        /// Longest delay of an acknowledgement; 40ms by default.
        pub ack_delay: Option<Duration>,
        /// Segments with PSH are acknowledged at once; true by default.
        pub ack_push: Option<bool>,
        /// Most segments of a TSO burst, 1 to 64; 1 by default: no TSO.
        pub tso: Option<u32>,
        /// Pacing; none by default.
        pub pacing: Option<PacingSetting>,
        /// Window after a pause; `halve` by default.
        pub idle: IdleName,
        /// The connection that a message uses; `never` by default: a new one.
        pub reuse: ReuseName,
    }
}

/// Congestion control of TCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TcpCongestionName {
    /// RFC 5681 and RFC 6582.
    #[default]
    Newreno,
    /// RFC 9438.
    Cubic,
    /// RFC 8257.
    Dctcp,
}

table! {
    /// Rates of paced connections, percent of window / round-trip time.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct PacingSetting {
        /// In slow start, 1 to 10000; 200 by default.
        pub slow_start: Option<u32>,
        /// In congestion avoidance, 1 to 10000; 120 by default.
        pub avoidance: Option<u32>,
    }
}

/// Window after a pause of more than a timeout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IdleName {
    /// Kept.
    Keep,
    /// At most the initial window (RFC 5681).
    Initial,
    /// Halved for each timeout of the pause (RFC 2861).
    #[default]
    Halve,
}

/// The connection that a message uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReuseName {
    /// A new one.
    #[default]
    Never,
    /// One to its receiver that carries no message, or a new one.
    Idle,
    /// The only one to its receiver.
    Always,
}

/// Returns an error if a number is out of its range.
fn within(name: &str, found: Option<u32>, from: u32, to: u32) -> Result<(), String> {
    match found.filter(|found| !(from..=to).contains(found)) {
        Some(found) => Err(format!("tcp.{name} is {found}; expected {from} to {to}")),
        None => Ok(()),
    }
}

impl TcpSetting {
    /// Returns the transport with these traffic classes of senders and receivers.
    ///
    /// # Errors
    /// If a setting is out of range or has no effect; the error names its key.
    pub(super) fn config(&self, data: TrafficClass, control: TrafficClass) -> Result<TcpConfig, String> {
        self.check()?;
        let base = TcpConfig::default();
        let rto = RtoConfig {
            initial: self.initial_rto.unwrap_or(base.rto.initial),
            min: self.min_rto.unwrap_or(base.rto.min),
            max: self.max_rto.unwrap_or(base.rto.max),
            granularity: self.rto_granularity.unwrap_or(base.rto.granularity),
        };
        if rto.min > rto.max {
            return Err(format!("tcp.min_rto of {} is longer than tcp.max_rto of {}", rto.min, rto.max));
        }
        let mtu = self.mtu.unwrap_or(base.mtu);
        let receive_buffer = self.receive_buffer.map_or(base.receive_buffer, |bytes| bytes.0);
        if !(4 * u64::from(mtu)..=1 << 30).contains(&receive_buffer) {
            let least = 4 * mtu;
            return Err(format!(
                "tcp.receive_buffer is {receive_buffer}B; expected {least}B (four packets) to 1GiB"
            ));
        }
        Ok(TcpConfig {
            mtu,
            congestion: self.congestion()?,
            ecn: self.ecn.unwrap_or(base.ecn),
            sack: self.sack.unwrap_or(base.sack),
            timestamps: base.timestamps.filter(|_| self.timestamps.unwrap_or(true)),
            initial_window: self.initial_window.unwrap_or(base.initial_window),
            initial_ssthresh: self.initial_ssthresh.map_or(base.initial_ssthresh, |bytes| bytes.0),
            byte_counting: self.byte_counting.unwrap_or(base.byte_counting),
            receive_buffer,
            dup_ack_threshold: self.dup_ack_threshold.unwrap_or(base.dup_ack_threshold),
            limited_transmit: self.limited_transmit.unwrap_or(base.limited_transmit),
            rto,
            delayed_ack: DelayedAck {
                every: self.ack_every.unwrap_or(base.delayed_ack.every),
                timeout: self.ack_delay.unwrap_or(base.delayed_ack.timeout),
                push: self.ack_push.unwrap_or(base.delayed_ack.push),
            },
            tso: self.tso.unwrap_or(base.tso),
            pacing: self.pacing.map(PacingSetting::config),
            idle: match self.idle {
                IdleName::Keep => IdleRestart::Keep,
                IdleName::Initial => IdleRestart::Initial,
                IdleName::Halve => IdleRestart::Halve,
            },
            reuse: match self.reuse {
                ReuseName::Never => Reuse::Never,
                ReuseName::Idle => Reuse::Idle,
                ReuseName::Always => Reuse::Always,
            },
            data,
            control,
        })
    }

    fn check(&self) -> Result<(), String> {
        let pacing = self.pacing.unwrap_or_default();
        for (name, found, from, to) in [
            ("mtu", self.mtu, 576, 9_216),
            ("initial_window", self.initial_window, 1, 1_000),
            ("byte_counting", self.byte_counting, 1, 64),
            ("dup_ack_threshold", self.dup_ack_threshold, 1, 1_000_000),
            ("ack_every", self.ack_every, 1, 64),
            ("tso", self.tso, 1, 64),
            ("pacing.slow_start", pacing.slow_start, 1, 10_000),
            ("pacing.avoidance", pacing.avoidance, 1, 10_000),
        ] {
            within(name, found, from, to)?;
        }
        let time = |time: Option<Duration>| time.map_or(1, Duration::as_ps);
        above_zero(&[
            ("tcp.initial_rto", time(self.initial_rto)),
            ("tcp.min_rto", time(self.min_rto)),
            ("tcp.max_rto", time(self.max_rto)),
            ("tcp.ack_delay", time(self.ack_delay)),
            ("tcp.initial_ssthresh", self.initial_ssthresh.map_or(1, |bytes| bytes.0)),
        ])?;
        match (self.ack_every, self.ack_delay, self.reuse, self.idle) {
            (Some(1), Some(_), ..) => {
                Err("tcp.ack_delay has no effect with ack_every = 1; leave one out".into())
            }
            (.., ReuseName::Never, IdleName::Keep | IdleName::Initial) => {
                Err("tcp.idle has no effect with reuse = \"never\", because no connection pauses; leave it out, or \
                     write reuse = \"idle\" or \"always\""
                    .into())
            }
            _ => Ok(()),
        }
    }

    fn congestion(&self) -> Result<CongestionConfig, String> {
        use TcpCongestionName::{Cubic, Dctcp, Newreno};
        let unused = [
            ("one_by_g", "dctcp", self.one_by_g.is_some() && self.congestion != Dctcp),
            ("alpha", "dctcp", self.alpha.is_some() && self.congestion != Dctcp),
            ("fast_convergence", "cubic", self.fast_convergence.is_some() && self.congestion != Cubic),
            ("reno_friendly", "cubic", self.reno_friendly.is_some() && self.congestion != Cubic),
        ];
        if let Some((key, name, _)) = unused.iter().find(|(.., unused)| *unused) {
            return Err(format!("tcp.{key} has no effect without tcp.congestion = \"{name}\"; leave it out"));
        }
        match self.congestion {
            Newreno => Ok(CongestionConfig::NewReno),
            Cubic => Ok(CongestionConfig::Cubic(CubicConfig {
                fast_convergence: self.fast_convergence.unwrap_or(true),
                reno_friendly: self.reno_friendly.unwrap_or(true),
            })),
            Dctcp if self.ecn == Some(false) => {
                Err("tcp.ecn is false, but DCTCP needs marks; leave it out".into())
            }
            Dctcp => self.dctcp().map(CongestionConfig::Dctcp),
        }
    }

    fn dctcp(&self) -> Result<DctcpConfig, String> {
        const ONE: f64 = (1 << 20) as f64;
        let base = DctcpConfig::default();
        let shift = match self.one_by_g {
            None => base.shift,
            Some(n) if n.is_power_of_two() && n <= 65_536 => n.trailing_zeros(),
            Some(n) => {
                return Err(format!("tcp.one_by_g is {n}; expected a power of two, 1 to 65536, such as 16"));
            }
        };
        let initial_alpha = match self.alpha {
            None => base.initial_alpha,
            Some(alpha) if (0.0..=1.0).contains(&alpha) => (alpha * ONE) as u32,
            Some(alpha) => return Err(format!("tcp.alpha is {alpha}; expected 0 to 1")),
        };
        Ok(DctcpConfig { shift, initial_alpha })
    }
}

impl PacingSetting {
    fn config(self) -> Pacing {
        let base = Pacing::default();
        Pacing {
            slow_start: self.slow_start.unwrap_or(base.slow_start),
            avoidance: self.avoidance.unwrap_or(base.avoidance),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLASS: TrafficClass = TrafficClass { dscp: 0, priority: 0 };

    fn config(text: &str) -> Result<TcpConfig, String> {
        toml::from_str::<TcpSetting>(text).map_err(|e| e.message().to_owned())?.config(CLASS, CLASS)
    }

    #[test]
    fn absent_keys_have_linux_s_values_and_others_their_own() {
        assert_eq!(config(""), Ok(TcpConfig::default()));
        let text = "congestion = \"dctcp\"\none_by_g = 8\nalpha = 0.5\nmtu = 9000\nmin_rto = \"10ms\"\nack_every = 1\n\
                    tso = 40\nreuse = \"always\"\nidle = \"keep\"\npacing = { avoidance = 110 }\ntimestamps = false\n\
                    receive_buffer = \"64MiB\"";
        let expected = TcpConfig {
            congestion: CongestionConfig::Dctcp(DctcpConfig { shift: 3, initial_alpha: 1 << 19 }),
            mtu: 9_000,
            rto: RtoConfig { min: Duration::from_millis(10), ..RtoConfig::default() },
            delayed_ack: DelayedAck { every: 1, ..DelayedAck::default() },
            tso: 40,
            reuse: Reuse::Always,
            idle: IdleRestart::Keep,
            pacing: Some(Pacing { avoidance: 110, slow_start: 200 }),
            timestamps: None,
            receive_buffer: 64 << 20,
            ..TcpConfig::default()
        };
        assert_eq!(config(text), Ok(expected));
    }

    #[test]
    fn bad_keys_say_what_is_expected() {
        for (text, why) in [
            ("mtu = 100", "tcp.mtu is 100; expected 576 to 9216"),
            ("tso = 0", "tcp.tso is 0; expected 1 to 64"),
            ("min_rto = \"0s\"", "`tcp.min_rto` of the host is 0"),
            ("min_rto = \"3s\"\nmax_rto = \"2s\"", "is longer than tcp.max_rto"),
            ("receive_buffer = \"1KB\"", "expected 6000B (four packets) to 1GiB"),
            ("one_by_g = 16", "tcp.one_by_g has no effect without tcp.congestion = \"dctcp\""),
            ("congestion = \"dctcp\"\none_by_g = 15", "tcp.one_by_g is 15; expected a power of two"),
            ("congestion = \"dctcp\"\nalpha = 1.5", "tcp.alpha is 1.5; expected 0 to 1"),
            ("congestion = \"dctcp\"\necn = false", "DCTCP needs marks"),
            ("fast_convergence = true", "without tcp.congestion = \"cubic\""),
            ("idle = \"keep\"", "tcp.idle has no effect with reuse = \"never\""),
            ("ack_every = 1\nack_delay = \"1ms\"", "tcp.ack_delay has no effect"),
            ("pacing = { slow_start = 0 }", "tcp.pacing.slow_start is 0; expected 1 to 10000"),
            ("congestion = \"vegas\"", "unknown variant `vegas`"),
            ("window = 3", "unknown field `window`"),
        ] {
            let found = config(text).expect_err(text);
            assert!(found.contains(why), "{text}: {found}");
        }
    }
}
