//! Settings of parts of NICs that scenarios and contests share: DCQCN's reaction and notification points, and loss recovery.

use crate::language::table;
use serde::Deserialize;
use sluice_asic::units::{BitRate, Bytes, Duration};
use sluice_fabric::host::dcqcn::{
    Clamp, Coalescing, Mellanox, NotificationPoint, Published, ReactionConfig, ReactionPoint,
};

table! {
    /// Settings of a reaction point; absent ones have the preset's values. With a form in place of a preset they have those that the
    /// code of HPCC's simulator has where its configs say nothing, or the firmware's with form `firmware`.
    #[derive(Clone, Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct ReactionSetting {
        /// Published parameters: those of ConWeave's evaluation, of HPCC's, or of mlx5 firmware; `conweave` by default.
        pub preset: Option<Preset>,
        /// Form in place of a preset: as published, with a rate decrease monitor, or as in mlx5 firmware.
        pub form: Option<Form>,
        /// Link rate; in a contest the rate of the host's port by default, and never more than it.
        pub line: Option<BitRate>,
        /// Lower limit of the rate; 100Mbps by default.
        pub min: Option<BitRate>,
        /// 1 / g, where g is the weight of a notification in alpha; at least 1; 16 by default.
        pub one_by_g: Option<f64>,
        /// Alpha before the first notification, 0 to 1; 1 by default.
        pub alpha: Option<f64>,
        /// Period without a notification after which alpha decays; 55us by default.
        pub alpha_timer: Option<Duration>,
        /// Period without a cut after which the rate is raised; 1500us by default.
        pub rate_timer: Option<Duration>,
        /// Bytes after which the rate is raised (forms `published`, `firmware`); 150000B by default.
        pub byte_counter: Option<Bytes>,
        /// Stages of fast recovery; 5 by default.
        pub stages: Option<u32>,
        /// Step of additive increase; 5Mbps by default.
        pub additive: Option<BitRate>,
        /// Step of hyper increase; 50Mbps by default.
        pub hyper: Option<BitRate>,
        /// Condition under which a cut sets the target to the rate; `after-raise` by default.
        pub clamp: Option<ClampName>,
        /// True if a cut uses alpha from before the notification; true by default.
        pub cut_first: Option<bool>,
        /// Period of the monitor (forms `mellanox`, `firmware`): at most one cut per period; 4us by default.
        pub monitor: Option<Duration>,
        /// Time after a cut in which notifications are ignored (form `published`); none by default.
        pub cut_window: Option<Duration>,
    }
}

/// Parameters of DCQCN that were published.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// Those of the evaluation of ConWeave, for 100 Gb/s: fast alpha, g = 1/256, 300 us, one stage, 40 and 100 Mb/s.
    #[default]
    ConWeave,
    /// Those of the config that comes with HPCC's simulator: as `conweave`, but 900 us, 50 and 100 Mb/s.
    Hpcc,
    /// Those of mlx5 firmware.
    Mlx5,
}

impl Preset {
    /// Returns the form and the parameters for a line.
    #[must_use]
    pub fn config(self, line: BitRate) -> (Form, ReactionConfig) {
        let simulated = |rate_timer: u64, additive: u64| ReactionConfig {
            g: 1.0 / 256.0,
            alpha_timer: Duration::from_micros(1),
            rate_timer: Duration::from_micros(rate_timer),
            stages: 1,
            additive: BitRate::from_bps(additive * 1_000_000),
            hyper: BitRate::from_bps(100_000_000),
            ..ReactionConfig::new(line)
        };
        match self {
            Preset::ConWeave => (Form::Mellanox, simulated(300, 40)),
            Preset::Hpcc => (Form::Mellanox, simulated(900, 50)),
            Preset::Mlx5 => (Form::Firmware, ReactionConfig::firmware(line)),
        }
    }
}

/// The form of a reaction point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// As published, with byte counter and timer.
    Published,
    /// With a rate decrease monitor.
    Mellanox,
    /// As in mlx5 firmware: with a monitor, byte counter and timer, and with the firmware's defaults.
    Firmware,
}

/// Condition under which a cut sets the target to the rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClampName {
    /// At every cut.
    Always,
    /// If the rate was raised since the last cut.
    AfterRaise,
    /// If the byte counter raised the rate since the last cut.
    AfterBytes,
}

table! {
    /// Settings of a notification point. Without `interval` and `window`, every marked packet is answered.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct NotificationSetting {
        /// Least time between two CNPs.
        pub interval: Option<Duration>,
        /// Length of windows, counted from time 0, with at most one CNP each.
        pub window: Option<Duration>,
        /// Queue pairs that the limit counts together; each on its own by default.
        pub scope: ScopeName,
    }
}

/// Queue pairs that a limit on CNPs counts together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScopeName {
    /// Each on its own.
    #[default]
    Pair,
    /// All of the NIC.
    Nic,
}

/// Loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecoveryName {
    /// Go-back-N.
    GoBackN,
    /// Selective retransmission, as in IRN.
    Selective,
    /// The receiver accepts packets in any order; losses are found by timeout.
    AnyOrder,
}

impl ReactionSetting {
    /// A line that limits no port.
    pub(crate) const ANY_LINE: BitRate = BitRate::from_bps(u64::MAX);

    /// Returns the reaction point of a scenario, which has no port that the line could follow from.
    pub(crate) fn point(&self) -> Result<ReactionPoint, String> {
        match self.line {
            Some(_) => self.point_with(None),
            None => Err("`line` of the reaction point is missing".into()),
        }
    }

    /// Returns the reaction point, with a default of `cut_window`.
    pub(crate) fn point_with(&self, cut_window: Option<Duration>) -> Result<ReactionPoint, String> {
        let line = self.line.unwrap_or(Self::ANY_LINE);
        let (form, base) = match (self.preset, self.form) {
            (Some(_), Some(_)) => {
                return Err("`preset` and `form` both choose the parameters; leave one out".into());
            }
            (None, Some(Form::Firmware)) => (Form::Firmware, ReactionConfig::firmware(line)),
            (None, Some(form)) => (form, ReactionConfig::new(line)),
            (preset, None) => preset.unwrap_or_default().config(line),
        };
        if self.cut_window.is_some() && form != Form::Published {
            return Err("`cut_window` is for form `published`; other forms have `monitor`".into());
        }
        let alpha = self.alpha.unwrap_or(base.alpha);
        let one_by_g = self.one_by_g.unwrap_or(1.0 / base.g);
        if !(0.0..=1.0).contains(&alpha) || one_by_g < 1.0 {
            return Err(format!("alpha {alpha}, one_by_g {one_by_g}; alpha is 0 to 1, one_by_g at least 1"));
        }
        let time = |time: Option<Duration>| time.map_or(1, Duration::as_ps);
        above_zero(&[
            ("line", line.as_bps()),
            ("min", self.min.map_or(1, BitRate::as_bps)),
            ("alpha_timer", time(self.alpha_timer)),
            ("rate_timer", time(self.rate_timer)),
            ("monitor", time(self.monitor)),
        ])?;
        let config = ReactionConfig {
            line,
            min: self.min.unwrap_or(base.min),
            g: 1.0 / one_by_g,
            alpha,
            alpha_timer: self.alpha_timer.unwrap_or(base.alpha_timer),
            rate_timer: self.rate_timer.unwrap_or(base.rate_timer),
            byte_counter: self.byte_counter.unwrap_or(base.byte_counter),
            stages: self.stages.unwrap_or(base.stages),
            additive: self.additive.unwrap_or(base.additive),
            hyper: self.hyper.unwrap_or(base.hyper),
            clamp: match self.clamp {
                None => base.clamp,
                Some(ClampName::Always) => Clamp::Always,
                Some(ClampName::AfterRaise) => Clamp::AfterRaise,
                Some(ClampName::AfterBytes) => Clamp::AfterBytes,
            },
            cut_first: self.cut_first.unwrap_or(base.cut_first),
            monitor: self.monitor.unwrap_or(base.monitor),
            cut_window: self.cut_window.or(cut_window).unwrap_or(base.cut_window),
            ..base
        };
        Ok(match form {
            Form::Published => ReactionPoint::Published(Published::new(config)),
            Form::Mellanox => ReactionPoint::Mellanox(Mellanox::new(config)),
            Form::Firmware => ReactionPoint::Mellanox(Mellanox::firmware(config)),
        })
    }
}

impl NotificationSetting {
    pub(crate) fn point(&self) -> Result<NotificationPoint, String> {
        if self.scope == ScopeName::Nic {
            return Err("a scenario has one queue pair; `scope = \"nic\"` is for contests".into());
        }
        Ok(NotificationPoint::new(self.coalescing()?))
    }

    pub(crate) fn coalescing(&self) -> Result<Coalescing, String> {
        let coalescing = match (self.interval, self.window) {
            (None, None) if self.scope == ScopeName::Nic => {
                return Err("`scope` has no effect without `interval` or `window`".into());
            }
            (None, None) => Coalescing::PerPacket,
            (Some(interval), None) => Coalescing::Interval(interval),
            (None, Some(window)) => Coalescing::Window(window),
            (Some(_), Some(_)) => {
                return Err("a notification point has `interval` or `window`, not both".into());
            }
        };
        let time = |time: Option<Duration>| time.map_or(1, Duration::as_ps);
        above_zero(&[("interval", time(self.interval)), ("window", time(self.window))])?;
        Ok(coalescing)
    }
}

/// Returns an error if a setting is 0.
pub(crate) fn above_zero(settings: &[(&str, u64)]) -> Result<(), String> {
    match settings.iter().find(|(_, n)| *n == 0) {
        Some((name, _)) => Err(format!("`{name}` of the host is 0; expected a value above 0")),
        None => Ok(()),
    }
}
