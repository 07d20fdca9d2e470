//! A buffer's configuration in cells, per port: what [`Buffer`](super::Buffer) runs on.
//!
//! Plain data.

use super::map::QosMaps;
use super::threshold::Threshold;
use crate::tm::ecn::{EcnProfile, MarkPoint};
use crate::tm::pfc::PfcConfig;
use crate::tm::watchdog::WatchdogConfig;
use crate::units::{Bytes, Cells, Duration};
use serde::Deserialize;

/// Priority groups of a port.
pub const PRIORITY_GROUPS: usize = 8;

/// Whose words and defaults a profile uses; the accounting is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rules {
    /// SAI objects as SONiC configures them: a group is paused by the packet that brings it to its threshold.
    Sai,
    /// Tofino's priority groups with guaranteed, shared and skid cells over application pools: a group is paused by
    /// the packet that no longer fits its threshold, and that packet is the first in the skid pool.
    Tofino,
}

/// When a lossless group is paused (decision D1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum XoffTest {
    /// After a packet was charged: shared cells have reached the threshold. The next packet goes to headroom.
    PostAdmission,
    /// Before a packet is charged: with it, shared cells would pass the threshold. It goes to headroom itself.
    PreAdmission,
}

/// Choices on which sources differ or are silent (model: buffer §9).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choices {
    /// D1.
    pub xoff_test: XoffTest,
    /// D2: after every charge all groups of the pool are looked at, not only the packet's own. Slow.
    pub rescan: bool,
    /// D5: a lossy packet is dropped when the ingress pool is full.
    pub lossy_needs_ingress_pool: bool,
    /// D7: where a queue's length is taken and packets are marked.
    pub mark_point: MarkPoint,
    /// D17: a multicast packet is charged to its group once; else each copy is.
    pub multicast_once: bool,
}

/// A pool, one partition of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolConfig {
    /// Its name.
    pub name: String,
    /// Shared cells of one partition.
    pub size: Cells,
}

/// A lossless group's room beyond its threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lossless {
    /// Most headroom cells of the group.
    pub cap: Cells,
    /// The group's headroom pool, else its headroom is its own.
    pub headroom_pool: Option<u8>,
    /// Shared cells at which a paused group may resume however low its threshold is.
    pub xon: Cells,
    /// Shared cells below the threshold at which a paused group may resume.
    pub xon_offset: Cells,
    /// Bit n: PFC priority n pauses what fills this group.
    pub priorities: u8,
}

/// A priority group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PgConfig {
    /// Index of its ingress pool.
    pub pool: u8,
    /// Cells that are its own.
    pub reserved: Cells,
    /// Limit of its shared cells.
    pub threshold: Threshold,
    /// Set for a lossless group.
    pub lossless: Option<Lossless>,
}

/// A queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueBuffer {
    /// Index of its egress pool.
    pub pool: u8,
    /// Cells that are its own.
    pub reserved: Cells,
    /// Limit of its shared cells.
    pub threshold: Threshold,
    /// It is never refused a packet at egress.
    pub lossless: bool,
    /// Limits of yellow and red packets, in eighths of the threshold (model: tm §2); 8 is the threshold.
    pub colour_eighths: [u8; 2],
    /// Index of its ECN profile.
    pub ecn: Option<u8>,
    /// The PFC priority that pauses it.
    pub priority: Option<u8>,
}

/// A port's groups and queues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortBuffer {
    /// Partition of the memory that it competes in.
    pub partition: u16,
    /// Its priority groups; one that is not configured takes no packet.
    pub groups: [Option<PgConfig>; PRIORITY_GROUPS],
    /// Its queues.
    pub queues: Vec<QueueBuffer>,
    /// Most cells of packets that came in by it.
    pub ingress_limit: Option<Cells>,
    /// Most cells of packets that wait to leave by it.
    pub egress_limit: Option<Cells>,
    /// Bit n: a received pause of priority n stops the queues of that priority.
    pub pfc_receive: u8,
}

/// A whole buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BufferConfig {
    /// The profile's name.
    pub name: String,
    /// Words and defaults.
    pub rules: Rules,
    /// Bytes per cell.
    pub cell: Bytes,
    /// Bytes charged per packet beside its own.
    pub descriptor: Bytes,
    /// Cells of the memory.
    pub size: Cells,
    /// Partitions of every pool.
    pub partitions: u16,
    /// What sources disagree on.
    pub choices: Choices,
    /// Ingress pools.
    pub ingress_pools: Vec<PoolConfig>,
    /// Egress pools.
    pub egress_pools: Vec<PoolConfig>,
    /// Headroom pools.
    pub headroom_pools: Vec<PoolConfig>,
    /// Ports.
    pub ports: Vec<PortBuffer>,
    /// Packets to classes.
    pub maps: QosMaps,
    /// Marking profiles that queues name.
    pub ecn: Vec<EcnProfile>,
    /// PFC at the MACs.
    pub pfc: PfcConfig,
    /// The watchdog, if it is on.
    pub watchdog: Option<WatchdogConfig>,
    /// A queue that holds packets and sends none for this long is emptied.
    pub stuck_queue_timeout: Option<Duration>,
    /// Odd things that the profile accepts knowingly.
    pub accepted: Vec<String>,
}
