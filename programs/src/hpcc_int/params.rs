//! The parameters of `hpcc-int`.

use crate::flowlet::choices;
use sluice_build::params;

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
    /// How records are laid out: `paper`, one behind the other as hops add them; `ns3`, the simulator's five slots of eight
    /// bytes, lowest byte first, 6 bytes behind UDP, and nHop behind them: there is no pathID, lengths stay, and the sixth
    /// hop writes over the first
    #[param(expects = "paper or ns3")]
    pub layout: Layout,
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
            layout: Layout::Paper,
            qlen: QueueLength::Queue,
            routes: 4_096,
            groups: 64,
        }
    }
}

choices! {
    /// Where records stand and what they look like.
    Layout {
        /// The paper's: as many records as hops.
        Paper = "paper",
        /// The authors' simulator's: five slots.
        Ns3 = "ns3",
    }
}

choices! {
    /// Whose depth is written.
    QueueLength {
        /// The packet's own queue.
        Queue = "queue",
        /// All queues of its port, each as it was when it last sent.
        Port = "port",
    }
}
