//! A buffer profile as a TOML file: SONiC's tables with their names, in bytes.
//!
//! The file's form.

use super::config::{Rules, XoffTest};
use crate::tm::ecn::MarkPoint;
use crate::tm::watchdog::Predicate;
use crate::units::{BitRate, Bytes, Duration, Length};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A profile as its file gives it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BufferFile {
    /// Its name.
    pub name: String,
    /// One line about it.
    pub doc: String,
    /// `sai` or `tofino`: words and defaults.
    pub rules: Rules,
    /// Bytes per cell.
    pub cell: Bytes,
    /// The memory.
    pub buffer: Bytes,
    /// Bytes charged per packet beside its own.
    #[serde(default)]
    pub descriptor: Bytes,
    /// D4: partitions of the memory; a port competes in one, and every pool is divided by their number.
    #[serde(default = "one")]
    pub partitions: u16,
    /// D3: the sizes of ingress pools include what is reserved for their groups.
    #[serde(default)]
    pub pool_includes_reserved: bool,
    /// Bits of a cell count in the chip: alpha times a pool must fit.
    #[serde(default)]
    pub cell_count_bits: Option<u32>,
    /// Checks that may fail, by name.
    #[serde(default)]
    pub accept: Vec<String>,
    /// Cable of ports that name none.
    #[serde(default = "five_metres")]
    pub cable: Length,
    /// PFC priorities of ports that name none.
    #[serde(default)]
    pub pfc_enable: String,
    /// What sources disagree on.
    #[serde(default)]
    pub decisions: DecisionEntry,
    /// D6: values of alpha that differ from `2^n`, by `n`: `"7" = "64"`, `"-8" = "0"`, `"0" = "3/4"`.
    #[serde(default)]
    pub alpha: BTreeMap<String, String>,
    /// Ports.
    #[serde(default)]
    pub port: Vec<PortEntry>,
    /// Pools.
    pub pool: Vec<PoolEntry>,
    /// Profiles of groups and queues.
    pub profile: Vec<ProfileEntry>,
    /// Priority groups.
    pub pg: Vec<PgEntry>,
    /// Queues.
    pub queue: Vec<QueueEntry>,
    /// Packets to classes; SONiC's AZURE maps if absent.
    #[serde(default)]
    pub maps: MapEntry,
    /// Marking profiles.
    #[serde(default)]
    pub ecn: Vec<EcnEntry>,
    /// PFC at the MACs.
    #[serde(default)]
    pub pfc: PfcEntry,
    /// The watchdog; off if absent.
    pub watchdog: Option<WatchdogEntry>,
    /// A queue that holds packets and sends none for this long, whatever keeps it, is emptied; never if absent.
    pub stuck_queue_timeout: Option<Duration>,
}

const fn one() -> u16 {
    1
}

const fn five_metres() -> Length {
    Length::from_metres(5)
}

fn all() -> String {
    "*".to_owned()
}

/// How the share of free cells of a BAF index is taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BafReading {
    /// As alpha: 1/64 .. 4 (model: tm §2).
    #[default]
    Alpha,
    /// As the percentage that the driver prints: 1.5 .. 80 %.
    Percent,
}

/// Choices, each with its default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DecisionEntry {
    /// D1; by default `post-admission` under `sai`, `pre-admission` under `tofino`.
    pub xoff_test: Option<XoffTest>,
    /// D2.
    pub rescan: bool,
    /// D5; default true.
    pub lossy_needs_ingress_pool: Option<bool>,
    /// D7.
    pub mark_point: MarkPoint,
    /// D17; default true.
    pub multicast_once: Option<bool>,
    /// How BAF indices are read.
    pub baf: BafReading,
}

/// Ports that differ from the profile's defaults.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortEntry {
    /// Which.
    #[serde(default = "all")]
    pub ports: String,
    /// Length of their cables.
    pub cable: Option<Length>,
    /// Their partition; by default ports are split evenly, in order.
    pub partition: Option<u16>,
    /// Most that packets that came in by one may hold.
    pub ingress_limit: Option<Bytes>,
    /// Most that packets that wait for one may hold.
    pub egress_limit: Option<Bytes>,
    /// PFC priorities.
    pub pfc_enable: Option<String>,
}

/// What a pool is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Priority groups.
    Ingress,
    /// Queues.
    Egress,
    /// Headroom of all lossless groups.
    Skid,
}

/// What traffic a pool is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PoolClass {
    /// Lossless only.
    Lossless,
    /// Lossy only.
    Lossy,
    /// Either.
    #[default]
    Both,
}

/// A pool.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoolEntry {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub direction: Direction,
    /// What traffic it is for.
    #[serde(default)]
    pub class: PoolClass,
    /// Its size over all partitions.
    pub size: Bytes,
    /// Headroom that the lossless groups of an ingress pool share; without one each group's is its own.
    pub xoff: Option<Bytes>,
    /// Instead of `xoff`: the groups' demand divided by this; 0 turns it off.
    pub over_subscribe_ratio: Option<u32>,
}

/// A profile of groups or queues. Several of one name differ by speed and cable: a port's is that of its speed with
/// the shortest cable that is no shorter than its own.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfileEntry {
    /// Its name.
    pub name: String,
    /// Its pool.
    pub pool: String,
    /// Port speed that it is for.
    pub speed: Option<BitRate>,
    /// Longest cable that it is for.
    pub cable: Option<Length>,
    /// Reserved bytes; if headroom is private, with the headroom.
    #[serde(default)]
    pub size: Bytes,
    /// Headroom, the group's cap if it is shared; its presence makes a group lossless.
    pub xoff: Option<Bytes>,
    /// A paused group may resume at this many shared bytes however low its threshold is.
    #[serde(default)]
    pub xon: Bytes,
    /// A paused group may resume this far below its threshold; Tofino's hysteresis.
    #[serde(default)]
    pub xon_offset: Bytes,
    /// Alpha is `2^n`.
    pub dynamic_th: Option<i64>,
    /// A fixed limit; 0 for none.
    pub static_th: Option<Bytes>,
    /// Tofino's buffer allocation factor, 0 (1.5 %) to 8 (80 %).
    pub baf: Option<i64>,
    /// Added to a dynamic limit.
    #[serde(default)]
    pub base: Bytes,
    /// Yellow packets' limit, in eighths.
    pub yellow_eighths: Option<i64>,
    /// Red packets' limit, in eighths.
    pub red_eighths: Option<i64>,
}

/// Priority groups of ports.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PgEntry {
    /// Which ports.
    #[serde(default = "all")]
    pub ports: String,
    /// Which groups.
    pub pgs: String,
    /// Their profile.
    pub profile: String,
    /// PFC priorities that they pause; by default each its own number.
    pub priorities: Option<String>,
}

/// Queues of ports.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueEntry {
    /// Which ports.
    #[serde(default = "all")]
    pub ports: String,
    /// Which queues.
    pub queues: String,
    /// Their profile.
    pub profile: String,
    /// Their marking profile.
    pub ecn: Option<String>,
    /// The PFC priority that pauses them; by default each its own number below 8.
    pub priority: Option<i64>,
}

/// Maps by ranges of numbers: `{ "3" = 3, "48-63" = 6, others = 1 }`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MapEntry {
    /// DSCP to traffic class.
    pub dscp_to_tc: BTreeMap<String, i64>,
    /// PCP to traffic class.
    pub pcp_to_tc: BTreeMap<String, i64>,
    /// Traffic class of packets with neither.
    pub default_tc: i64,
    /// Traffic class to priority group.
    pub tc_to_pg: BTreeMap<String, i64>,
    /// Traffic class to queue.
    pub tc_to_queue: BTreeMap<String, i64>,
}

/// A marking profile.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EcnEntry {
    /// Its name.
    pub name: String,
    /// SONiC's ecn mode: the colours that are marked, such as `all`, `none`, `green_yellow`.
    #[serde(default = "every")]
    pub mode: String,
    /// D8: packets that cannot be marked are dropped by the same curve.
    #[serde(default)]
    pub wred: bool,
    /// The average moves by `1 / 2^n` of the difference per packet; 0 takes the length itself.
    #[serde(default)]
    pub average_shift: u8,
    /// Curves.
    pub curve: Vec<CurveEntry>,
}

fn every() -> String {
    "all".to_owned()
}

/// A curve for a colour, a speed, or all.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CurveEntry {
    /// `green`, `yellow`, `red`; all if absent.
    pub colour: Option<String>,
    /// Port speed; all that have no curve of their own if absent.
    pub speed: Option<BitRate>,
    /// Nothing is marked up to here.
    pub kmin: Bytes,
    /// Everything is marked beyond.
    pub kmax: Bytes,
    /// Probability at `kmax`, in per cent.
    #[serde(default = "hundred")]
    pub pmax: i64,
}

const fn hundred() -> i64 {
    100
}

/// PFC at the MACs.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PfcEntry {
    /// Pause time asked for.
    pub quanta: u16,
    /// Asked for again after this share of it, in per cent; 0: never.
    pub refresh_percent: i64,
    /// Pauses of all priorities are obeyed.
    pub asymmetric: bool,
    /// From a frame's last bit to its effect, such as `2us`; the standard's bound for the rate if absent.
    pub reaction: Option<String>,
}

impl Default for PfcEntry {
    fn default() -> Self {
        Self { quanta: u16::MAX, refresh_percent: 50, asymmetric: false, reaction: None }
    }
}

/// A time as SONiC writes it, in ms, or with its unit.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Milliseconds {
    /// A bare number.
    Number(i64),
    /// With a unit.
    Text(String),
}

/// The watchdog.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WatchdogEntry {
    /// How long a storm must last, 100 to 5000 ms.
    pub detection_time: Milliseconds,
    /// How long it must be over, 100 to 60000 ms; absent: nothing is undone.
    pub restoration_time: Option<Milliseconds>,
    /// Time between polls, 100 to 1000 ms.
    pub poll_interval: Milliseconds,
    /// `drop`, `forward` or `alert`.
    #[serde(default = "drop_action")]
    pub action: String,
    /// D13.
    #[serde(default)]
    pub predicate: Predicate,
}

fn drop_action() -> String {
    "drop".to_owned()
}

/// A file that is no profile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{origin}:{line}: {message}")]
pub struct BufferFileError {
    /// The file, as the caller named it.
    pub origin: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

impl BufferFile {
    /// Parses a file's text.
    ///
    /// # Errors
    /// Text that is not TOML, an unknown or missing key, a value of the wrong kind.
    pub fn parse(origin: &str, text: &str) -> Result<Self, BufferFileError> {
        toml::from_str(text).map_err(|e| {
            let at = e.span().map_or(0, |span| span.start.min(text.len()));
            let line = 1 + text.as_bytes()[..at].iter().filter(|b| **b == b'\n').count();
            BufferFileError { origin: origin.to_owned(), line, message: e.message().to_owned() }
        })
    }
}
