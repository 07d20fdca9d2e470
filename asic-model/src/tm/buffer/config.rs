//! Configuration of a buffer in cells, per port, from which a [`Buffer`](super::Buffer) is created.

use super::map::QosMaps;
use super::threshold::Threshold;
use crate::tm::ecn::{EcnProfile, MarkPoint};
use crate::tm::pfc::PfcConfig;
use crate::tm::watchdog::WatchdogConfig;
use crate::units::{Bytes, Cells, Duration};
use serde::{Deserialize, Serialize};

/// Number of priority groups of a port.
pub const PRIORITY_GROUPS: usize = 8;

/// Vocabulary and defaults of a profile; the accounting is the same for both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Rules {
    /// SAI objects as SONiC configures them: the packet that brings a group to its threshold pauses the group.
    Sai,
    /// Tofino's priority groups with guaranteed, shared and skid cells over application pools: the packet that no
    /// longer fits the threshold pauses the group, and that packet is the first in the skid pool.
    Tofino,
}

/// Test that pauses a lossless group (decision D1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum XoffTest {
    /// After a packet was charged: the group pauses if its shared cells have reached the threshold. The next packet
    /// takes headroom.
    PostAdmission,
    /// Before a packet is charged: the group pauses if the packet would bring its shared cells above the threshold.
    /// This packet takes headroom.
    PreAdmission,
}

/// Answers to questions on which sources differ or are silent (model: buffer §9).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choices {
    /// D1: test that pauses a lossless group.
    pub xoff_test: XoffTest,
    /// D2: true if every charge tests all groups of the pool instead of only the packet's own. Slow.
    pub rescan: bool,
    /// D5: true if a lossy packet is dropped when the ingress pool is full.
    pub lossy_needs_ingress_pool: bool,
    /// D7: point at which the queue length is read and packets are marked.
    pub mark_point: MarkPoint,
    /// D17: true if a multicast packet is charged to its group once; if false, each copy is charged.
    pub multicast_once: bool,
}

/// One partition of a pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolConfig {
    /// Name of the pool.
    pub name: String,
    /// Shared cells of the partition.
    pub size: Cells,
}

/// Settings of a lossless group for the time after its threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lossless {
    /// Largest number of headroom cells of the group.
    pub cap: Cells,
    /// Index of the headroom pool; `None`: the group's headroom is private.
    pub headroom_pool: Option<u8>,
    /// Level of shared cells at which a paused group may resume, however low its threshold is.
    pub xon: Cells,
    /// Distance below the threshold at which a paused group may resume, in shared cells.
    pub xon_offset: Cells,
    /// Bit n: the group pauses PFC priority n.
    pub priorities: u8,
}

/// A priority group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PgConfig {
    /// Index of its ingress pool.
    pub pool: u8,
    /// Reserved cells.
    pub reserved: Cells,
    /// Limit of the shared cells.
    pub threshold: Threshold,
    /// Settings of a lossless group; `None` for a lossy one.
    pub lossless: Option<Lossless>,
}

/// A queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueBuffer {
    /// Index of its egress pool.
    pub pool: u8,
    /// Reserved cells.
    pub reserved: Cells,
    /// Limit of the shared cells.
    pub threshold: Threshold,
    /// True if the queue is lossless, and so never refuses a packet at egress.
    pub lossless: bool,
    /// Limits of yellow and red packets, in eighths of the threshold (model: tm §2); 8 is the whole threshold.
    pub colour_eighths: [u8; 2],
    /// Index of the queue's ECN profile.
    pub ecn: Option<u8>,
    /// PFC priority that pauses the queue.
    pub priority: Option<u8>,
}

/// A port's groups and queues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortBuffer {
    /// Partition of the memory that the port uses.
    pub partition: u16,
    /// Priority groups; a group without configuration admits no packet.
    pub groups: [Option<PgConfig>; PRIORITY_GROUPS],
    /// Queues.
    pub queues: Vec<QueueBuffer>,
    /// Most cells of packets that arrived on the port.
    pub ingress_limit: Option<Cells>,
    /// Most cells of packets that wait to be sent on the port.
    pub egress_limit: Option<Cells>,
    /// Bit n: a received pause of priority n pauses the queues of that priority.
    pub pfc_receive: u8,
}

/// Configuration of a whole buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BufferConfig {
    /// The profile's name.
    pub name: String,
    /// Vocabulary and defaults.
    pub rules: Rules,
    /// Bytes per cell.
    pub cell: Bytes,
    /// Bytes charged per packet in addition to its own.
    pub descriptor: Bytes,
    /// Cells of the memory.
    pub size: Cells,
    /// Partitions of every pool.
    pub partitions: u16,
    /// Answers to questions on which sources disagree.
    pub choices: Choices,
    /// Ingress pools.
    pub ingress_pools: Vec<PoolConfig>,
    /// Egress pools.
    pub egress_pools: Vec<PoolConfig>,
    /// Headroom pools.
    pub headroom_pools: Vec<PoolConfig>,
    /// Ports.
    pub ports: Vec<PortBuffer>,
    /// Maps from code points to traffic classes, groups and queues.
    pub maps: QosMaps,
    /// ECN profiles that queues name.
    pub ecn: Vec<EcnProfile>,
    /// PFC settings of the MACs.
    pub pfc: PfcConfig,
    /// Settings of the PFC watchdog; `None`: off.
    pub watchdog: Option<WatchdogConfig>,
    /// Time after which a queue that holds packets and sends none is emptied; `None`: never.
    pub stuck_queue_timeout: Option<Duration>,
    /// Settings of a converted profile's source that the profile does not have, a sentence each.
    pub notes: Vec<String>,
    /// Failed checks that the profile accepts, with their consequences.
    pub accepted: Vec<String>,
}
