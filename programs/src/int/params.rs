//! The parameters of `int`, and how their values are spelled.

use crate::flowlet::choices;
use sluice_build::params;

/// What users can set. What belongs to ports, flows and the collector is in tables.
#[derive(Clone, Debug, PartialEq, Eq, params::Params)]
pub struct Params {
    /// Who carries what: `md`, instructions and metadata in the packet; `mx`, instructions in the packet, metadata in
    /// every node's reports; `xd`, nothing in the packet
    #[param(expects = "md, mx or xd")]
    pub mode: Mode,
    /// What says that a packet has INT behind TCP or UDP: `dscp`; `udp-port`, the UDP destination port (no TCP then);
    /// `new-udp`, a UDP header of its own in front of TCP or UDP
    #[param(expects = "dscp, udp-port or new-udp")]
    pub carrier: Carrier,
    /// DSCP of packets with INT, for carrier=dscp
    #[param(range = 1..=63)]
    pub int_dscp: u8,
    /// UDP destination port of packets with INT, for the other carriers (the standard leaves it to be assigned)
    #[param(range = 1..=65_535)]
    pub int_port: u16,
    /// What a host-facing port does with INT from outside: `drop`, or `clear` its DSCP (carrier=dscp)
    #[param(expects = "drop or clear")]
    pub foreign: Foreign,
    /// Parts that the switch can play, the others being left out of the program: `all`; `source`, which begins INT;
    /// `transit`, which adds to it; `sink`, which takes it off. With mode=xd all nodes report, and no part but `all`
    /// and `source` knows ports of hosts
    #[param(expects = "all, source, transit or sink")]
    pub role: Part,
    /// Node ID, unless an entry of `node` says another
    #[param(range = 0..=4_294_967_295)]
    pub node_id: u32,
    /// Domain specific ID of this network; 0 for none. Bit 0 of its DS instruction asks for the bytes that the
    /// egress port sent before the packet, modulo 2^32
    #[param(range = 0..=65_535)]
    pub domain: u16,
    /// What a node does for another domain's instructions: `pad` with ones, at most 3 words, or `skip` the packet
    #[param(expects = "pad or skip")]
    pub unknown_domain: UnknownDomain,
    /// Words of metadata stack that a sink takes off; it drops a packet with more. A word is a parser cycle
    #[param(range = 1..=84)]
    pub sink_words: u8,
    /// Where a sink's report is made: `egress`, with the packet as it came and the sink's own queue and latency
    /// (Tofino 2), or `ingress`, with the packet as it came alone
    #[param(expects = "egress or ingress")]
    pub sink_report: SinkReport,
    /// Metadata of reports: bits 1 to 5 of an instruction bitmap
    #[param(range = 0..=31_744)]
    pub report_metadata: u16,
    /// Mirror session of reports
    #[param(range = 1..=255)]
    pub session: u16,
    /// Flows that default entries watch, alone and in a network: `all` of TCP and UDP, or `none`
    #[param(expects = "all or none")]
    pub watch: Watch,
    /// Watch-list rules of each IP version that the tables must hold
    #[param(range = 1..=16_384)]
    pub watch_rules: u32,
    /// Routes of each IP version that the tables must hold
    #[param(range = 1..=1_000_000)]
    pub routes: u32,
    /// Groups of equal ways that the table must hold
    #[param(range = 4..=4_096)]
    pub groups: u32,
}

impl Params {
    /// Whether packets of hosts are told from others.
    pub(super) fn knows_hosts(&self) -> bool {
        matches!(self.role, Part::All | Part::Source)
    }

    /// Whether INT begins here.
    pub(super) fn begins(&self) -> bool {
        self.knows_hosts() && self.mode != Mode::Xd
    }

    /// Whether flows are watched.
    pub(super) fn watches(&self) -> bool {
        self.knows_hosts() || self.mode == Mode::Xd
    }

    /// Whether metadata is put in packets.
    pub(super) fn adds(&self) -> bool {
        self.role != Part::Sink && self.mode == Mode::Md
    }

    /// Whether INT ends here.
    pub(super) fn ends(&self) -> bool {
        matches!(self.role, Part::All | Part::Sink) && self.mode != Mode::Xd
    }
}

impl Default for Params {
    fn default() -> Self {
        Params {
            mode: Mode::Md,
            carrier: Carrier::Dscp,
            int_dscp: 0x17,
            int_port: 54_321,
            foreign: Foreign::Drop,
            role: Part::All,
            node_id: 1,
            domain: 0,
            unknown_domain: UnknownDomain::Pad,
            sink_words: 84,
            sink_report: SinkReport::Egress,
            report_metadata: 0x7c00,
            session: 1,
            watch: Watch::All,
            watch_rules: 512,
            routes: 4_096,
            groups: 64,
        }
    }
}

choices! {
    /// Which of the standard's modes (model: int §2.1).
    Mode {
        /// Instructions and metadata in the packet.
        Md = "md",
        /// Instructions in the packet.
        Mx = "mx",
        /// Nothing in the packet.
        Xd = "xd",
    }
    /// Which parts of the standard's roles a switch plays.
    Part {
        /// Any, as ports say.
        All = "all",
        /// INT begins here.
        Source = "source",
        /// Metadata is added.
        Transit = "transit",
        /// INT ends here.
        Sink = "sink",
    }
    /// What says that INT follows (model: int §2.2).
    Carrier {
        /// A DSCP; NPT 0.
        Dscp = "dscp",
        /// The UDP destination port; NPT 1.
        UdpPort = "udp-port",
        /// A UDP header in front of the packet's own transport; NPT 2.
        NewUdp = "new-udp",
    }
    /// Which flows default entries watch.
    Watch {
        /// All of TCP and UDP.
        All = "all",
        /// None.
        None = "none",
    }
    /// What happens to INT from outside.
    Foreign {
        /// The packet is dropped.
        Drop = "drop",
        /// Its DSCP becomes 0, so that nobody takes it for INT.
        Clear = "clear",
    }
    /// What happens to another domain's instructions (model: int §2.5).
    UnknownDomain {
        /// Ones in place of its metadata.
        Pad = "pad",
        /// The packet is left alone.
        Skip = "skip",
    }
    /// Where a sink's report is made.
    SinkReport {
        /// When the packet leaves.
        Egress = "egress",
        /// When it comes in.
        Ingress = "ingress",
    }
}
