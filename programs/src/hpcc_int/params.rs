//! The parameters of `hpcc-int`.

use crate::flowlet::choices;
use sluice_build::params;

/// Parameters of `hpcc-int`.
#[derive(Clone, Debug, PartialEq, Eq, params::Params)]
pub struct Params {
    /// Number of this switch, which it adds to pathID by exclusive or
    #[param(range = 0..=4_095)]
    pub switch_id: u16,
    /// UDP destination port of packets with an INT header after UDP: RoCEv2's
    #[param(range = 1..=65_535)]
    pub udp_port: u16,
    /// Longest IP packet that a port sends, in bytes; a packet that would become longer gets no record
    #[param(range = 68..=65_535)]
    pub mtu: u32,
    /// Layout of the records: `paper` = each hop appends one; `ns3` = the simulator's five slots of eight
    /// bytes, lowest byte first, 6 bytes after UDP, and nHop after the slots. With ns3 there is no pathID,
    /// lengths stay, and the sixth hop overwrites the first
    #[param(expects = "paper or ns3")]
    pub layout: Layout,
    /// Depth in qLen: `queue` = the packet's own queue; `port` = the sum over the port's queues of the depth that
    /// each had when it last sent (ns-3 takes the whole port)
    #[param(expects = "queue or port")]
    pub qlen: QueueLength,
    /// Factor of the units of bytes sent and qLen (`INT_MULTI` of the simulator): 1, 2, 4 or 8 times 128 bytes and a cell
    #[param(expects = "1, 2, 4 or 8")]
    pub multi: Multi,
    /// Bytes that each packet adds to bytes sent beyond its length without FCS: 24 counts FCS, preamble and gap, so that
    /// records tell the share of the line; a negative number takes away headers that other senders do not count
    #[param(range = -64..=64)]
    pub overhead: i32,
    /// Routes of each IP version that the tables must hold
    #[param(range = 1..=1_000_000)]
    pub routes: u32,
    /// ECMP groups that the table must hold
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
            multi: Multi::One,
            overhead: 0,
            routes: 4_096,
            groups: 64,
        }
    }
}

choices! {
    /// Layout of the records.
    Layout {
        /// The paper's: as many records as hops.
        Paper = "paper",
        /// The authors' simulator's: five slots.
        Ns3 = "ns3",
    }
}

choices! {
    /// Factor of the units of bytes sent and qLen.
    Multi {
        /// Units of 128 bytes and of a cell.
        One = "1",
        /// Twice as large units.
        Two = "2",
        /// Four times as large units.
        Four = "4",
        /// Eight times as large units.
        Eight = "8",
    }
}

impl Multi {
    /// Returns the base-2 logarithm of the factor.
    pub(super) const fn shift(self) -> u16 {
        match self {
            Multi::One => 0,
            Multi::Two => 1,
            Multi::Four => 2,
            Multi::Eight => 3,
        }
    }
}

choices! {
    /// Depth that a record contains.
    QueueLength {
        /// The depth of the packet's own queue.
        Queue = "queue",
        /// The depth of all queues of the port, each as it was when the queue last sent.
        Port = "port",
    }
}
