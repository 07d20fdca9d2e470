//! The parameters of `hpcc-int`. What may not live here: what they do.

use sluice_pipeline::build::params;
use std::fmt;
use std::str::FromStr;

/// What users can set.
#[derive(Clone, Debug, PartialEq, Eq, params::Params)]
pub struct Params {
    /// Number of this switch, which it adds to pathID by exclusive or
    #[param(range = 0..=4_095)]
    pub switch_id: u16,
    /// UDP destination port behind which the INT header stands: RoCEv2's
    #[param(range = 1..=65_535)]
    pub udp_port: u16,
    /// Longest IP packet that leaves by a port, in bytes; one that would get longer is not stamped
    #[param(range = 68..=65_535)]
    pub mtu: u32,
    /// Whose depth qLen is: `queue`, the packet's own; `port`, the sum over the port's queues of the depth that
    /// each had when it last sent (ns-3 takes the whole port)
    #[param(expects = "queue or port")]
    pub qlen: QueueLength,
    /// Routes of each IP version that the tables must hold
    #[param(range = 1..=1_000_000)]
    pub routes: u32,
    /// Groups of equal ways that the table must hold
    #[param(range = 4..=4_096)]
    pub groups: u32,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            switch_id: 1,
            udp_port: 4791,
            mtu: 9_000,
            qlen: QueueLength::Queue,
            routes: 4_096,
            groups: 64,
        }
    }
}

/// Whose depth is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLength {
    /// The packet's own queue.
    Queue,
    /// All queues of its port, each as it was when it last sent.
    Port,
}

impl FromStr for QueueLength {
    type Err = &'static str;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "queue" => Ok(QueueLength::Queue),
            "port" => Ok(QueueLength::Port),
            _ => Err("neither queue nor port"),
        }
    }
}

impl fmt::Display for QueueLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            QueueLength::Queue => "queue",
            QueueLength::Port => "port",
        })
    }
}
