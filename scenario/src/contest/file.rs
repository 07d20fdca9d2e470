//! The form of a contest's file.

use crate::expr::Expr;
use crate::file::line_of;
use crate::host::{NotificationSetting, ReactionSetting, RecoveryName, above_zero};
use serde::Deserialize;
use sluice_asic::tm::pfc::PfcConfig;
use sluice_asic::units::{BitRate, Bytes, Duration};
use sluice_fabric::host::dcqcn::Coalescing;
use sluice_fabric::host::recovery::Recovery;
use sluice_fabric::host::rnic::{RnicConfig, TrafficClass};
use std::collections::BTreeMap;
use thiserror::Error;
use toml::Spanned;
use toml::de::DeTable;

/// Programs that carry the same messages of the same hosts through the same network.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contest {
    /// What it is, for people.
    pub name: String,
    /// Its id among scenarios.
    #[serde(default)]
    pub id: String,
    /// Where it is from.
    #[serde(default)]
    pub source: String,
    /// A builder with its numbers, or a file: what `--topology` takes.
    pub topology: String,
    /// The chip; `tofino2` by default.
    pub chip: Option<String>,
    /// Speed of all front-panel ports, the hosts' lines included; the chip's by default.
    pub port_speed: Option<BitRate>,
    /// Buffer profile of all switches; none by default.
    pub buffer: Option<String>,
    /// Seed of the workload, of marking, and of what programs draw; 1 by default.
    pub seed: Option<u64>,
    /// How long after the last message begins the run may go on; 50ms by default.
    pub drain: Option<Duration>,
    /// Which time alone messages are compared with; the fastest program's by default.
    #[serde(default)]
    pub alone: AloneName,
    /// What hosts send.
    pub workload: WorkloadSetting,
    /// The hosts.
    pub hosts: HostsSetting,
    /// The programs.
    pub program: Vec<Spanned<Contestant>>,
    /// What must hold, as `conweave.p99 < ecmp.p99`.
    #[serde(default)]
    pub expect: Vec<Spanned<Expr>>,
    /// The file, as the caller named it.
    #[serde(skip)]
    pub origin: String,
    #[serde(skip)]
    text: String,
}

/// Whose time without anything else on the way a message's time is compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AloneName {
    /// The fastest program's: what a program takes longer inside switches counts.
    #[default]
    Fastest,
    /// Each program's own, as if all switches were equally fast.
    Own,
}

/// A program with its parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contestant {
    /// Its name.
    pub name: String,
    /// What it is called here, if a program runs twice: letters, digits and `_`.
    pub label: Option<String>,
    /// Parameters, as `--set` takes them.
    #[serde(default)]
    pub params: BTreeMap<String, toml::Value>,
    /// Its own buffer profile.
    pub buffer: Option<String>,
}

impl Contestant {
    /// What results and expectations call it.
    #[must_use]
    pub fn label(&self) -> String {
        self.label.clone().unwrap_or_else(|| self.name.replace('-', "_"))
    }
}

/// What hosts send: messages to other hosts at random, at times of a Poisson process for each host (model: conweave §4.2;
/// int §5.3).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkloadSetting {
    /// Sizes of messages: `ali-storage`, `solar`, or a file of sizes and shares.
    pub sizes: String,
    /// Payload that a host sends, in percent of its line.
    pub load: u32,
    /// Messages begin for so long.
    pub time: Duration,
    /// Messages that begin earlier are sent, but not judged.
    #[serde(default)]
    pub warm_up: Duration,
    /// UDP source ports, from 49152 on, that the messages of a pair of hosts have in turn; 4 by default.
    pub ports: Option<u16>,
    /// Messages go to hosts of other switches alone.
    #[serde(default)]
    pub between_switches: bool,
}

/// The hosts: all alike.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostsSetting {
    /// Delay of their cables.
    pub cable: Duration,
    /// Payload bytes of a full packet; 1000 by default.
    pub mtu: Option<u32>,
    /// What they do about losses.
    pub recovery: RecoveryName,
    /// Go-back-N: time between two requests for one packet; 4us by default.
    pub nack_interval: Option<Duration>,
    /// Go-back-N: time without an answer after which the sender goes back; 4ms by default.
    pub timeout: Option<Duration>,
    /// Selective: bytes that may be on their way; 104000 by default.
    pub in_flight: Option<Bytes>,
    /// The rate's control; none: always the line's rate.
    pub reaction: Option<ReactionSetting>,
    /// Which marks are answered; each one by default.
    #[serde(default)]
    pub notification: NotificationSetting,
    /// A request for a missing packet notifies, too, as RNICs do; true by default.
    pub notify_missing: Option<bool>,
    /// Class of data; DSCP 3 and priority 3 by default.
    pub data: Option<ClassSetting>,
    /// Class of what answers it; DSCP 48 and priority 6 by default.
    pub control: Option<ClassSetting>,
    /// Hosts obey PFC; true by default.
    pub pfc: Option<bool>,
}

/// How packets are marked, and which pauses stop them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassSetting {
    /// DSCP, 0 to 63.
    pub dscp: u8,
    /// PFC priority, 0 to 7.
    pub priority: u8,
}

/// Why a file is no contest.
#[derive(Debug, Error)]
pub enum ContestError {
    /// It has another form.
    #[error("{origin}: {source}")]
    Toml {
        /// The file.
        origin: String,
        /// What is wrong, with the place.
        source: Box<toml::de::Error>,
    },
    /// A value that makes no sense.
    #[error("{origin}: {what}")]
    Value {
        /// The file.
        origin: String,
        /// What was found, and what is expected.
        what: String,
    },
}

impl Contest {
    /// Reads a file, whose name is for errors.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn parse(origin: &str, text: &str) -> Result<Contest, ContestError> {
        let name = || origin.to_owned();
        let mut file: Contest = toml::from_str(text)
            .map_err(|source| ContestError::Toml { origin: name(), source: Box::new(source) })?;
        (file.origin, file.text) = (name(), text.to_owned());
        file.check().map_err(|what| ContestError::Value { origin: name(), what })?;
        Ok(file)
    }

    /// Whether a text is a contest rather than a file of scenarios: it has a workload.
    #[must_use]
    pub fn is_one(text: &str) -> bool {
        // Numbers are not read here: what is too large for one is found where it stands.
        DeTable::parse(text).is_ok_and(|table| table.get_ref().keys().any(|key| key.get_ref() == "workload"))
    }

    fn check(&self) -> Result<(), String> {
        let (workload, hosts) = (&self.workload, &self.hosts);
        if !(1..=100).contains(&workload.load) {
            return Err(format!("workload.load is {}; expected 1 to 100 percent", workload.load));
        }
        if workload.warm_up >= workload.time {
            return Err(
                "workload.warm_up is not shorter than workload.time; no message would be judged".into()
            );
        }
        if workload.ports == Some(0) || workload.ports > Some(1 << 14) {
            return Err("workload.ports: expected 1 to 16384".into());
        }
        if !(1..=9_000).contains(&hosts.mtu()) {
            return Err(format!("hosts.mtu is {}; expected 1 to 9000 bytes", hosts.mtu()));
        }
        for (name, class) in [("data", hosts.data), ("control", hosts.control)] {
            if let Some(ClassSetting { dscp, priority }) = class.filter(|c| c.dscp > 63 || c.priority > 7) {
                return Err(format!(
                    "hosts.{name}: dscp {dscp}, priority {priority}; expected 0 to 63, 0 to 7"
                ));
            }
        }
        let mut labels: Vec<String> = self.program.iter().map(|p| p.get_ref().label()).collect();
        labels.sort();
        if labels.is_empty() {
            return Err("no program; expected [[program]] with a name".into());
        }
        match labels.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("two programs are called `{}`; give one a `label`", pair[0])),
            None => Ok(()),
        }
    }

    /// The line of the file that a byte is on, from 1.
    pub(super) fn line(&self, byte: usize) -> usize {
        line_of(&self.text, byte)
    }

    /// The seed.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(1)
    }

    /// How long after the last message begins the run may go on.
    #[must_use]
    pub fn drain(&self) -> Duration {
        self.drain.unwrap_or(Duration::from_millis(50))
    }
}

impl HostsSetting {
    /// Payload bytes of a full packet.
    #[must_use]
    pub fn mtu(&self) -> u32 {
        self.mtu.unwrap_or(1_000)
    }

    /// A host's NIC with this line.
    ///
    /// # Errors
    /// When a setting makes no sense.
    pub fn rnic(&self, rate: BitRate) -> Result<RnicConfig, String> {
        let time = |time: Option<Duration>| time.map_or(1, Duration::as_ps);
        above_zero(&[("cable", self.cable.as_ps()), ("timeout", time(self.timeout))])?;
        let recovery = match self.recovery {
            RecoveryName::GoBackN => Recovery::GoBackN {
                nack_interval: self.nack_interval.unwrap_or(Duration::from_micros(4)),
                timeout: Some(self.timeout.unwrap_or(Duration::from_millis(4))),
            },
            RecoveryName::Selective => Recovery::irn(self.in_flight, self.mtu().into()),
        };
        let class = |given: Option<ClassSetting>, dscp, priority| match given {
            Some(ClassSetting { dscp, priority }) => TrafficClass { dscp, priority },
            None => TrafficClass { dscp, priority },
        };
        let coalescing: Coalescing = self.notification.coalescing()?;
        Ok(RnicConfig {
            rate,
            mtu: self.mtu(),
            recovery,
            reaction: self.reaction.as_ref().map(ReactionSetting::point).transpose()?,
            coalescing,
            notify_missing: self.notify_missing.unwrap_or(true),
            data: class(self.data, 3, 3),
            control: class(self.control, 48, 6),
            pfc: self.pfc.unwrap_or(true).then(PfcConfig::default),
        })
    }
}
