//! Buffer profile as a TOML file: SONiC's tables with their names, in bytes.

use super::config::{Rules, XoffTest};
use crate::tm::ecn::MarkPoint;
use crate::tm::watchdog::Predicate;
use crate::units::{BitRate, Bytes, Duration, Length};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Contents of a profile file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct BufferFile {
    /// Name of the profile.
    pub name: String,
    /// Description in one line.
    pub doc: String,
    /// `sai` or `tofino`: vocabulary and defaults.
    pub rules: Rules,
    /// Bytes per cell.
    pub cell: Bytes,
    /// Size of the memory.
    pub buffer: Bytes,
    /// Bytes charged per packet in addition to its own.
    #[serde(default)]
    pub descriptor: Bytes,
    /// D4: number of partitions of the memory. A port uses one, and every pool is divided by their number.
    #[serde(default = "one")]
    pub partitions: u16,
    /// D3: true if the sizes of ingress pools include the reserved cells of their groups.
    #[serde(default)]
    pub pool_includes_reserved: bool,
    /// D3: true if the sizes of ingress pools include the headroom that their groups share.
    #[serde(default)]
    pub pool_includes_headroom: bool,
    /// D3: pools whose sizes include the reserved cells of queues.
    #[serde(default)]
    pub pool_includes_queues: QueueReserve,
    /// Bits of a cell count in the chip: alpha times a pool's size must fit.
    #[serde(default)]
    pub cell_count_bits: Option<u32>,
    /// Names of checks that may fail.
    #[serde(default)]
    pub accept: Vec<String>,
    /// Cable length of ports without their own.
    #[serde(default = "five_metres")]
    pub cable: Length,
    /// PFC priorities of ports without their own.
    #[serde(default)]
    pub pfc_enable: String,
    /// Answers to questions on which sources disagree.
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
    /// Maps from packets to classes; SONiC's AZURE maps if absent.
    #[serde(default)]
    pub maps: MapEntry,
    /// ECN profiles.
    #[serde(default)]
    pub ecn: Vec<EcnEntry>,
    /// PFC settings of the MACs.
    #[serde(default)]
    pub pfc: PfcEntry,
    /// Settings of the PFC watchdog; off if absent.
    pub watchdog: Option<WatchdogEntry>,
    /// Time after which a queue that holds packets and sends none, for any reason, is emptied; never if absent.
    pub stuck_queue_timeout: Option<Duration>,
    /// Settings of a converted profile's source that the profile does not have, a sentence each for reports. The field is not a key
    /// of files.
    #[serde(skip)]
    pub notes: Vec<String>,
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

/// Pools whose sizes include the reserved cells of queues.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum QueueReserve {
    /// None.
    #[default]
    None,
    /// Each egress pool includes those of its queues.
    Egress,
    /// The largest ingress pool includes those of all queues, and each partition reserves them, because a packet in any partition
    /// may go to any port. An egress pool for lossy traffic is then at most as large as the shared cells of that ingress pool.
    Ingress,
}

/// Interpretation of a BAF index as a share of the free cells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BafReading {
    /// Alpha: 1/64 to 4 (model: tm §2).
    #[default]
    Alpha,
    /// The percentage that the driver prints: 1.5 to 80 %.
    Percent,
}

/// Answers to the decisions, each with its default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct DecisionEntry {
    /// D1; by default `post-admission` under `sai`, `pre-admission` under `tofino`.
    pub xoff_test: Option<XoffTest>,
    /// D2; default false.
    pub rescan: bool,
    /// D5; default true.
    pub lossy_needs_ingress_pool: Option<bool>,
    /// D7.
    pub mark_point: MarkPoint,
    /// D17; default true.
    pub multicast_once: Option<bool>,
    /// Interpretation of BAF indices.
    pub baf: BafReading,
}

/// Settings of ports that differ from the profile's defaults.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PortEntry {
    /// Ports, such as `0-15`, `*` or `internal`.
    #[serde(default = "all")]
    pub ports: String,
    /// Length of their cables.
    pub cable: Option<Length>,
    /// Partition of the ports; by default ports are divided evenly, in order.
    pub partition: Option<u16>,
    /// Most bytes of packets that arrived on one port.
    pub ingress_limit: Option<Bytes>,
    /// Most bytes of packets that wait to be sent on one port.
    pub egress_limit: Option<Bytes>,
    /// PFC priorities.
    pub pfc_enable: Option<String>,
}

/// Use of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Shared cells of priority groups.
    Ingress,
    /// Shared cells of queues.
    Egress,
    /// Headroom of all lossless groups.
    Skid,
}

/// Class of traffic that a pool admits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PoolEntry {
    /// Name.
    pub name: String,
    /// Use of the pool.
    pub direction: Direction,
    /// Class of traffic.
    #[serde(default)]
    pub class: PoolClass,
    /// Size over all partitions.
    pub size: Bytes,
    /// Headroom that the lossless groups of an ingress pool share; if absent, each group's headroom is private.
    pub xoff: Option<Bytes>,
    /// Alternative to `xoff`: the shared headroom is the groups' demand divided by this number; 0 turns sharing off.
    pub over_subscribe_ratio: Option<u32>,
}

/// Profile of groups or queues. Profiles of one name differ by speed and cable: a port uses the one of its speed with
/// the shortest cable that is at least as long as its own.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ProfileEntry {
    /// Name.
    pub name: String,
    /// Name of its pool.
    pub pool: String,
    /// Port speed of the profile; any speed if absent.
    pub speed: Option<BitRate>,
    /// Longest cable of the profile; any length if absent.
    pub cable: Option<Length>,
    /// Reserved bytes; if headroom is private, the sum of reserved bytes and headroom.
    #[serde(default)]
    pub size: Bytes,
    /// Headroom; if it is shared, the group's cap. A profile with this key is lossless.
    pub xoff: Option<Bytes>,
    /// Level of shared bytes at which a paused group may resume, however low its threshold is.
    #[serde(default)]
    pub xon: Bytes,
    /// Distance below the threshold at which a paused group may resume (Tofino's hysteresis).
    #[serde(default)]
    pub xon_offset: Bytes,
    /// Exponent `n` of the alpha `2^n`.
    pub dynamic_th: Option<i64>,
    /// Fixed limit; 0: no limit other than the size of the pool.
    pub static_th: Option<Bytes>,
    /// Tofino's buffer allocation factor, 0 (1.5 %) to 8 (80 %).
    pub baf: Option<i64>,
    /// Bytes added to a dynamic limit.
    #[serde(default)]
    pub base: Bytes,
    /// Limit of yellow packets, in eighths of the threshold.
    pub yellow_eighths: Option<i64>,
    /// Limit of red packets, in eighths of the threshold.
    pub red_eighths: Option<i64>,
}

/// Priority groups of ports.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PgEntry {
    /// Ports.
    #[serde(default = "all")]
    pub ports: String,
    /// Priority groups.
    pub pgs: String,
    /// Name of their profile.
    pub profile: String,
    /// PFC priorities that the groups pause; by default group n pauses priority n.
    pub priorities: Option<String>,
}

/// Queues of ports.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct QueueEntry {
    /// Ports.
    #[serde(default = "all")]
    pub ports: String,
    /// Queues.
    pub queues: String,
    /// Name of their profile.
    pub profile: String,
    /// Name of their ECN profile.
    pub ecn: Option<String>,
    /// PFC priority that pauses the queues; by default priority n pauses queue n, for queues below 8.
    pub priority: Option<i64>,
}

/// Maps from ranges of numbers: `{ "3" = 3, "48-63" = 6, others = 1 }`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct MapEntry {
    /// DSCP to traffic class.
    pub dscp_to_tc: BTreeMap<String, i64>,
    /// PCP to traffic class.
    pub pcp_to_tc: BTreeMap<String, i64>,
    /// Traffic class of packets with neither DSCP nor PCP.
    pub default_tc: i64,
    /// Traffic class to priority group.
    pub tc_to_pg: BTreeMap<String, i64>,
    /// Traffic class to queue.
    pub tc_to_queue: BTreeMap<String, i64>,
}

/// ECN profile.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct EcnEntry {
    /// Name.
    pub name: String,
    /// SONiC's ECN mode: the colours that are marked, such as `all`, `none`, `green_yellow`.
    #[serde(default = "every")]
    pub mode: String,
    /// D8: true if the same curve drops packets that cannot be marked.
    #[serde(default)]
    pub wred: bool,
    /// Weight of the moving average: at each packet the average moves by `1 / 2^n` of the difference. 0 uses the
    /// current length.
    #[serde(default)]
    pub average_shift: u8,
    /// Curves.
    pub curve: Vec<CurveEntry>,
}

fn every() -> String {
    "all".to_owned()
}

/// Marking curve of a colour, a speed, or all.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CurveEntry {
    /// `green`, `yellow` or `red`; all colours if absent.
    pub colour: Option<String>,
    /// Port speed; if absent, all speeds without their own curve.
    pub speed: Option<BitRate>,
    /// Length up to which no packet is marked.
    pub kmin: Bytes,
    /// Length beyond which every packet is marked.
    pub kmax: Bytes,
    /// Probability at `kmax`, in percent.
    #[serde(default = "hundred")]
    pub pmax: i64,
}

const fn hundred() -> i64 {
    100
}

/// PFC settings of the MACs.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct PfcEntry {
    /// Pause time of sent frames, in quanta.
    pub quanta: u16,
    /// Share of the pause time after which a pause is repeated, in percent; 0: never.
    pub refresh_percent: i64,
    /// True if pauses of all priorities are obeyed.
    pub asymmetric: bool,
    /// Reaction time, from a frame's last bit to its effect, such as `2us`; the standard's bound for the rate if
    /// absent.
    pub reaction: Option<String>,
}

impl Default for PfcEntry {
    fn default() -> Self {
        Self { quanta: u16::MAX, refresh_percent: 50, asymmetric: false, reaction: None }
    }
}

/// Time as a bare number of milliseconds, as SONiC writes it, or with its unit.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(untagged)]
pub enum Milliseconds {
    /// A bare number of milliseconds.
    Number(i64),
    /// A number with its unit.
    Text(String),
}

/// Settings of the PFC watchdog.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct WatchdogEntry {
    /// Duration of a storm before the watchdog acts, 100 to 5000 ms.
    pub detection_time: Milliseconds,
    /// Time without pause frames before the action is reverted, 100 to 60000 ms; never if absent.
    pub restoration_time: Option<Milliseconds>,
    /// Time between polls, 100 to 1000 ms.
    pub poll_interval: Milliseconds,
    /// `drop`, `forward` or `alert`.
    #[serde(default = "drop_action")]
    pub action: String,
    /// D13: predicate that detects a storm.
    #[serde(default)]
    pub predicate: Predicate,
}

fn drop_action() -> String {
    "drop".to_owned()
}

/// Problem of a file that is not a buffer profile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{origin}:{line}: {message}")]
pub struct BufferFileError {
    /// The file, as the caller named it.
    pub origin: String,
    /// The line, from 1.
    pub line: usize,
    /// Description of the problem.
    pub message: String,
}

impl BufferFile {
    /// Returns a profile that has a memory, and no pools, profiles, groups or queues.
    pub fn of_memory(name: &str, rules: Rules, cell: Bytes, buffer: Bytes) -> Self {
        Self {
            name: name.to_owned(),
            doc: String::new(),
            rules,
            cell,
            buffer,
            descriptor: Bytes::ZERO,
            partitions: one(),
            pool_includes_reserved: false,
            pool_includes_headroom: false,
            pool_includes_queues: QueueReserve::None,
            cell_count_bits: None,
            accept: Vec::new(),
            cable: five_metres(),
            pfc_enable: String::new(),
            decisions: DecisionEntry::default(),
            alpha: BTreeMap::new(),
            port: Vec::new(),
            pool: Vec::new(),
            profile: Vec::new(),
            pg: Vec::new(),
            queue: Vec::new(),
            maps: MapEntry::default(),
            ecn: Vec::new(),
            pfc: PfcEntry::default(),
            watchdog: None,
            stuck_queue_timeout: None,
            notes: Vec::new(),
        }
    }

    /// Returns the profile as the text of a file, with its notes as comments. [`parse`](Self::parse) returns an equal profile
    /// without notes.
    ///
    /// # Errors
    /// Fails if a number is beyond TOML's range of 2^63.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        let notes: String = self.notes.iter().map(|note| format!("# {note}\n")).collect();
        Ok(notes + &toml::to_string(self)?)
    }

    /// Parses the text of a file.
    ///
    /// # Errors
    /// Fails on text that is not TOML, an unknown or missing key, and a value of the wrong type.
    pub fn parse(origin: &str, text: &str) -> Result<Self, BufferFileError> {
        crate::toml_reader::read(text).map_err(|mistake| BufferFileError {
            origin: origin.to_owned(),
            line: mistake.line(text),
            message: mistake.to_string(),
        })
    }
}
