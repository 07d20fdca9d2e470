//! The key `host` of a scenario: a part of a host in place of a device.

use crate::nic_settings::{NotificationSetting, ReactionSetting, RecoveryName};
use serde::Deserialize;
use sluice_asic::units::{BitRate, Bytes, Duration};

/// The part of a host that a scenario tests.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostSetting {
    /// A DCQCN reaction point.
    ReactionPoint(ReactionSetting),
    /// A DCQCN notification point.
    NotificationPoint(NotificationSetting),
    /// A transfer over a lossy pipe; it runs before the steps.
    Transfer(TransferSetting),
    /// A flow through a marking bottleneck; it runs before the steps.
    Bottleneck(Box<BottleneckSetting>),
    /// A receiver that caches contexts; it runs before the steps.
    ReceiveCache(ReceiveSetting),
}

/// Settings of a flow through a bottleneck.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BottleneckSetting {
    /// The sender.
    pub sender: ReactionSetting,
    /// The receiver.
    #[serde(default)]
    pub receiver: NotificationSetting,
    /// Rate of the bottleneck.
    pub rate: BitRate,
    /// Marking threshold: a packet is marked if it finds more bytes in the queue.
    pub mark: Bytes,
    /// Packet size, bytes; 1000 by default.
    pub size: Option<Bytes>,
    /// Time from the queue to the receiver and back to the sender.
    pub delay: Duration,
    /// Length of the run.
    pub time: Duration,
}

/// Settings of a receiver that caches contexts, with queue pairs that send to it at line rate.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReceiveSetting {
    /// Number of queue pairs.
    pub queue_pairs: u32,
    /// Packets that a queue pair sends in its turn; 1 by default.
    pub burst: Option<u32>,
    /// Total number of packets.
    pub packets: u64,
    /// Packet size, bytes; 1000 by default.
    pub size: Option<Bytes>,
    /// Link rate.
    pub rate: BitRate,
    /// Capacity of the cache, contexts.
    pub entries: usize,
    /// Processing time of a packet whose context is cached.
    pub hit: Duration,
    /// Additional time to fetch a context.
    pub miss: Duration,
    /// Number of waiting packets at which the host sends XOFF.
    pub xoff: u64,
}

/// Settings of a transfer.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransferSetting {
    /// Loss recovery.
    pub recovery: RecoveryName,
    /// Number of packets.
    pub packets: u64,
    /// Packet size, bytes; 1000 by default.
    pub size: Option<Bytes>,
    /// Sending rate.
    pub rate: BitRate,
    /// One-way delay of the pipe.
    pub one_way: Duration,
    /// Numbers of lost transmissions, from 0.
    #[serde(default)]
    pub lose: Vec<u64>,
    /// Go-back-N: least time between two NACKs for the same packet; 500us by default.
    pub nack_interval: Option<Duration>,
    /// Go-back-N, any order: time without an acknowledgement after which the sender goes back, or sends the first missing
    /// packet again; never by default.
    pub timeout: Option<Duration>,
    /// Selective: most unacknowledged bytes; 104000 by default.
    pub in_flight: Option<Bytes>,
}
