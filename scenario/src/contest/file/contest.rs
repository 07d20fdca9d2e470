//! The format of contest files (TOML).

use super::hosts::HostsSetting;
use super::hosts::timers::default_drain;
use super::metrics::MetricsSetting;
use super::required;
use super::roles::RoleSetting;
use super::schedule;
use super::schedule::ScheduleSetting;
use crate::contest::workload::{Operation, Traffic, WorkloadSetting, Workloads};
use crate::language::expr::Expr;
use crate::language::seeds;
use crate::language::seeds::SeedsSetting;
use serde::Deserialize;
use sluice_asic::mac::WireOverhead;
use sluice_asic::toml_reader::{Mistake, line_of, read};
use sluice_asic::units::{BitRate, Bytes, Duration};
use std::collections::BTreeMap;
use thiserror::Error;
use toml::Spanned;
use toml::de::DeTable;

/// A contest file: a network, hosts with a workload, and the programs that are compared on them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contest {
    /// Title for readers; the file's name without `.toml` by default.
    #[serde(default)]
    pub name: String,
    /// Id in results, unique among scenarios and contests; empty by default.
    #[serde(default)]
    pub id: String,
    /// Source of the contest, such as a section of a paper; empty by default.
    #[serde(default)]
    pub source: String,
    /// A topology builder with its numbers, or a file name: the same values as `--topology`.
    pub topology: String,
    /// Chip of all switches; `tofino2` by default.
    pub chip: Option<String>,
    /// Speed of all front-panel ports, the hosts' included; the chip's default speed by default.
    pub port_speed: Option<BitRate>,
    /// Buffer profile of all switches; by default none, so that buffers are not shared.
    pub buffer: Option<String>,
    /// First seed, if `seeds` is not a list; 1 by default.
    pub seed: Option<u64>,
    /// Number of seeds, or a list of them; 5 by default. Each seed is one draw of the workload, of marking, and of the
    /// programs' random numbers.
    pub seeds: Option<SeedsSetting>,
    /// Time after `workload.time` at which the run ends even if messages are unfinished; by default long enough for a
    /// retransmission timer to expire, at least 50ms.
    pub drain: Option<Duration>,
    /// The ideal time that slowdowns are relative to; the fastest program's by default.
    #[serde(default)]
    pub alone: AloneName,
    /// Bytes of line time that a frame takes on every cable in addition to its own; Ethernet's by default.
    #[serde(default)]
    pub wire: WireOverhead,
    /// The messages.
    pub workload: Workloads,
    /// The hosts' NICs.
    pub hosts: HostsSetting,
    /// Size classes, and times at which links and buffers are sampled.
    #[serde(default)]
    pub metrics: MetricsSetting,
    /// Cables and entries that change during the run, each with its place in the file for errors.
    #[serde(default)]
    pub schedule: Vec<Spanned<ScheduleSetting>>,
    /// Keys that vary, as [`crate::contest::Point::parse_all`] reads them; a contest by itself ignores them.
    #[serde(default)]
    pub sweep: toml::Table,
    /// The programs, each with its place in the file for errors.
    pub program: Vec<Spanned<Contestant>>,
    /// Expressions that must not be 0, such as `conweave.p99 < ecmp.p99`.
    #[serde(default)]
    pub expect: Vec<Spanned<Expr>>,
    /// Name of the file as the caller passed it, for errors.
    #[serde(skip)]
    pub origin: String,
    #[serde(skip)]
    text: String,
}

/// The program whose time in an empty network is the ideal time of a message, the denominator of slowdowns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AloneName {
    /// The fastest program of the contest, for each pair of switches: extra latency inside switches counts as slowdown.
    #[default]
    Fastest,
    /// The program itself: latency inside switches does not count as slowdown.
    Own,
}

/// One program of a contest, with its parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contestant {
    /// Name in the catalogue; empty if the program is a file.
    #[serde(default)]
    pub name: String,
    /// File of the program, relative to the contest's folder, in place of `name`. The caller opens it
    /// ([`Contest::open_files`]).
    pub file: Option<String>,
    /// File of entries for switches that run the program, in place of those that follow from their places; `{switch}` in its
    /// name stands for the name of a switch, and then each switch has its file.
    pub entries: Option<String>,
    /// Name in results and expectations, needed if a program takes part twice: letters, digits and `_`. By default
    /// `name`, or the file's name without its ending, with `_` in place of other characters.
    pub label: Option<String>,
    /// Parameters, with the keys and values of `--set`.
    #[serde(default)]
    pub params: BTreeMap<String, toml::Value>,
    /// Programs of switches by their role or name, in place of `name`.
    #[serde(default)]
    pub roles: BTreeMap<String, RoleSetting>,
    /// Buffer profile for this program, in place of the contest's.
    pub buffer: Option<String>,
}

/// Returns true if the name of a role's program is that of a file.
fn is_program_file(name: &str) -> bool {
    name.ends_with(".sluice") || name.ends_with(".p4")
}

impl Contestant {
    /// Returns the name of this program in results and expectations.
    #[must_use]
    pub fn label(&self) -> String {
        let stem = |file: &str| {
            file.rsplit('/')
                .next()
                .unwrap_or_default()
                .trim_end_matches(".sluice")
                .trim_end_matches(".p4")
                .to_owned()
        };
        let own = || match &self.file {
            Some(file) => stem(file),
            None if self.name.is_empty() => {
                self.roles.values().map(|role| stem(role.name())).collect::<Vec<_>>().join("_")
            }
            None => self.name.clone(),
        };
        let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        self.label.clone().unwrap_or_else(|| own().chars().map(letter).collect())
    }

    fn check(&self) -> Result<(), String> {
        match (&self.file, self.name.is_empty()) {
            (None, true) if self.roles.is_empty() => {
                Err("a program has neither a `name` nor a `file` nor `roles`".into())
            }
            (Some(file), false) => {
                Err(format!("a program has the name `{}` and the file `{file}`; leave one out", self.name))
            }
            _ => Ok(()),
        }
    }
}

/// Reason why a contest file is rejected.
#[derive(Debug, Error)]
pub enum ContestError {
    /// The text is not TOML, or has unknown or missing keys.
    #[error("{origin}:{line}: {what}")]
    Toml {
        /// Name of the file.
        origin: String,
        /// Line in the file.
        line: usize,
        /// The wrong key or value, and the allowed ones.
        what: String,
    },
    /// A value is outside its range, or values contradict each other.
    #[error("{origin}: {what}")]
    Value {
        /// Name of the file.
        origin: String,
        /// The key, its value, and the allowed values.
        what: String,
    },
}

impl ContestError {
    /// Returns the error of the parser with its line; an unknown key with the key that was probably meant.
    pub(crate) fn toml(origin: &str, text: &str, mistake: &Mistake) -> ContestError {
        ContestError::Toml { origin: origin.to_owned(), line: mistake.line(text), what: mistake.to_string() }
    }

    /// Returns what is wrong, without the name of the file and the line.
    pub(crate) fn bare(&self) -> &str {
        match self {
            ContestError::Toml { what, .. } | ContestError::Value { what, .. } => what,
        }
    }
}

impl Contest {
    /// Parses the text of a contest file. `origin` is the file's name, for errors.
    ///
    /// # Errors
    /// If the text is not TOML, a key is unknown, or a value is out of range; the error says where.
    pub fn parse(origin: &str, text: &str) -> Result<Contest, ContestError> {
        let name = || origin.to_owned();
        let missing = required::missing(text);
        let parsed = read(text).map_err(|mistake| match mistake.missing_key() {
            Some(_) if !missing.is_empty() => Contest::lacks(origin, &missing),
            _ => ContestError::toml(origin, text, &mistake),
        });
        let mut file: Contest = parsed?;
        if missing.len() > 1 {
            return Err(Contest::lacks(origin, &missing));
        }
        (file.origin, file.text) = (name(), text.to_owned());
        if file.name.is_empty() {
            let file_name = origin.rsplit(['/', '\\']).next().unwrap_or(origin);
            file.name = file_name.strip_suffix(".toml").unwrap_or(file_name).to_owned();
        }
        file.workload.read(text).map_err(|what| ContestError::Value { origin: name(), what })?;
        file.check().map_err(|what| ContestError::Value { origin: name(), what })?;
        Ok(file)
    }

    fn lacks(origin: &str, missing: &[&str]) -> ContestError {
        let what = format!("{}; docs/contest.md has a whole file", required::sentence(missing));
        ContestError::Value { origin: origin.to_owned(), what }
    }

    /// Returns true if the text is a contest, false if it is a file of scenarios: a contest has the table `workload`. A text
    /// without that table is a contest if it has none of the tables of scenarios, and a key that contests have.
    #[must_use]
    pub fn is_one(text: &str) -> bool {
        // `DeTable` does not convert numbers: a number out of range is reported by `parse`, with its place.
        let Ok(table) = DeTable::parse(text) else { return false };
        let has = |keys: &[&str]| table.get_ref().keys().any(|key| keys.contains(&key.get_ref().as_ref()));
        let of_contest = ["topology", "program", "port_speed", "hosts", "seeds", "metrics"];
        has(&["workload"]) || has(&of_contest) && !has(&["device", "scenario", "skip"])
    }

    fn check(&self) -> Result<(), String> {
        seeds::seeds(self.seed, self.seeds.as_ref())?;
        self.metrics.check(self.workload.time())?;
        self.hosts.check()?;
        let registers = |setting: &WorkloadSetting| matches!(&setting.traffic, Traffic::Operations(of) if matches!(of.operation, Operation::KernelRdma(_)));
        if self.hosts.registration_fence.is_some() && !self.workload.list.iter().any(registers) {
            return Err("hosts.registration_fence has no effect, because no workload is `sk-rdma-read` or `sk-rdma-write`".into());
        }
        self.program.iter().try_for_each(|program| program.get_ref().check())?;
        let mut labels: Vec<String> = self.program.iter().map(|p| p.get_ref().label()).collect();
        labels.sort();
        if labels.is_empty() {
            return Err("no program; expected [[program]] with a name or a file".into());
        }
        match labels.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("two programs are called `{}`; give one a `label`", pair[0])),
            None => Ok(()),
        }
    }

    /// Opens the programs that are files: `open` returns the name in the catalogue of a file.
    ///
    /// # Errors
    /// The first error of `open`.
    pub fn open_files<E>(&mut self, mut open: impl FnMut(&str) -> Result<String, E>) -> Result<(), E> {
        for program in self.program.iter_mut().map(Spanned::get_mut) {
            if let Some(file) = &program.file {
                program.name = open(file)?;
            }
            for role in program.roles.values_mut().filter(|role| is_program_file(role.name())) {
                let name = open(role.name())?;
                role.set_name(name);
            }
        }
        Ok(())
    }

    /// Reads the files of the schedule; `read` returns the text of one.
    ///
    /// # Errors
    /// If `read` fails, or a line is not an operation with its time. The error says the line of the event.
    pub fn open_schedule(&mut self, read: impl Fn(&str) -> Result<String, String>) -> Result<(), String> {
        let opened = schedule::open(&mut self.schedule, read);
        opened.map_err(|(at, what)| format!("line {}: {what}", line_of(&self.text, at)))
    }

    /// Returns the text of the file.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the time at which every run ends at the latest.
    #[must_use]
    pub fn end(&self) -> Duration {
        self.workload.time() + self.drain()
    }

    /// Returns the line of the file that contains byte `byte`, counted from 1.
    pub(crate) fn line(&self, byte: usize) -> usize {
        line_of(&self.text, byte)
    }

    /// Returns this contest, which `base` became by other values, with the places in the text of `base`.
    pub(crate) fn with_places_of(mut self, base: &Contest) -> Contest {
        fn placed<T: Clone>(own: &mut [Spanned<T>], base: &[Spanned<T>]) {
            for (own, base) in own.iter_mut().zip(base) {
                *own = Spanned::new(base.span(), own.get_ref().clone());
            }
        }
        placed(&mut self.program, &base.program);
        placed(&mut self.expect, &base.expect);
        placed(&mut self.schedule, &base.schedule);
        self.workload.place_as(&base.workload);
        self.text.clone_from(&base.text);
        self
    }

    /// Returns the seeds, in the order of the file.
    #[must_use]
    pub fn seeds(&self) -> Vec<u64> {
        // `parse` has checked them.
        seeds::seeds(self.seed, self.seeds.as_ref()).unwrap_or_default()
    }

    /// Replaces the seeds by this many, from the first one on.
    ///
    /// # Errors
    /// If there are no or too many seeds.
    pub fn set_seeds(&mut self, count: u32) -> Result<(), String> {
        let first = self.seeds().first().copied();
        let setting = SeedsSetting::Count(count);
        seeds::seeds(first, Some(&setting))?;
        (self.seed, self.seeds) = (first, Some(setting));
        Ok(())
    }

    /// Returns the time after `workload.time` at which the run ends at the latest.
    #[must_use]
    pub fn drain(&self) -> Duration {
        // `parse` has checked the transports; the cell matters for telemetry alone.
        self.drain.unwrap_or_else(|| default_drain(&self.hosts.transports(Bytes(80)).unwrap_or_default()))
    }
}
