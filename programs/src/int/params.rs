//! The parameters of `int`, and the spelling of their values.

use crate::flowlet::choices;
use sluice_build::params;

/// Parameters of `int`. Settings of ports, flows and the collector are in tables.
#[derive(Clone, Debug, PartialEq, Eq, params::Params)]
pub struct Params {
    /// Mode of INT: `md` = instructions and metadata in the packet; `mx` = instructions in the packet, metadata in
    /// every node's reports; `xd` = nothing in the packet
    #[param(expects = "md, mx or xd")]
    pub mode: Mode,
    /// Mark of a packet with INT after TCP or UDP: `dscp` = the DSCP; `udp-port` = the UDP destination port
    /// (no INT over TCP); `new-udp` = an added UDP header in front of TCP or UDP
    #[param(expects = "dscp, udp-port or new-udp")]
    pub carrier: Carrier,
    /// DSCP of packets with INT, for carrier=dscp
    #[param(range = 1..=63)]
    pub int_dscp: u8,
    /// UDP destination port of packets with INT, for the other carriers (the standard does not assign one)
    #[param(range = 1..=65_535)]
    pub int_port: u16,
    /// Treatment of a host's packets that are marked as INT: `drop`, or `clear` their DSCP (carrier=dscp)
    #[param(expects = "drop or clear")]
    pub foreign: Foreign,
    /// Parts that the switch can play; the program omits the others: `all`; `source` begins INT; `transit` adds
    /// metadata; `sink` removes INT. With mode=xd all nodes report, and only `all` and `source` distinguish ports of
    /// hosts
    #[param(expects = "all, source, transit or sink")]
    pub role: Part,
    /// Node ID, unless the default action of table `node` sets another
    #[param(range = 0..=4_294_967_295)]
    pub node_id: u32,
    /// Domain specific ID of this network; 0 = none. Bit 0 of its DS instruction requests the bytes that the
    /// egress port sent before the packet, modulo 2^32
    #[param(range = 0..=65_535)]
    pub domain: u16,
    /// Answer to another domain's instructions: `pad` with ones, at most 3 words, or `skip` the packet
    #[param(expects = "pad or skip")]
    pub unknown_domain: UnknownDomain,
    /// Largest metadata stack, in words, that a sink removes; it drops a packet with more. A word takes a parser cycle
    #[param(range = 1..=84)]
    pub sink_words: u8,
    /// Where a sink's report is made: `egress` = the packet as it arrived, with the sink's own queue and latency
    /// (Tofino 2); `ingress` = only the packet as it arrived
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
    /// ECMP groups that the table must hold
    #[param(range = 4..=4_096)]
    pub groups: u32,
}

impl Params {
    /// Returns true if the program distinguishes packets of hosts.
    pub(super) fn knows_hosts(&self) -> bool {
        matches!(self.role, Part::All | Part::Source)
    }

    /// Returns true if INT can begin here.
    pub(super) fn begins(&self) -> bool {
        self.knows_hosts() && self.mode != Mode::Xd
    }

    /// Returns true if the program has a watch-list.
    pub(super) fn watches(&self) -> bool {
        self.knows_hosts() || self.mode == Mode::Xd
    }

    /// Returns true if the program adds metadata to packets.
    pub(super) fn adds(&self) -> bool {
        self.role != Part::Sink && self.mode == Mode::Md
    }

    /// Returns true if INT can end here.
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
    /// Modes of the standard (model: int §2.1).
    Mode {
        /// Instructions and metadata in the packet.
        Md = "md",
        /// Instructions in the packet.
        Mx = "mx",
        /// Nothing in the packet.
        Xd = "xd",
    }
    /// Roles of the standard that a switch plays.
    Part {
        /// All roles; the packet's ports decide.
        All = "all",
        /// The switch begins INT.
        Source = "source",
        /// The switch adds metadata.
        Transit = "transit",
        /// The switch removes INT.
        Sink = "sink",
    }
    /// Mark of packets with INT (model: int §2.2).
    Carrier {
        /// A DSCP; NPT 0.
        Dscp = "dscp",
        /// The UDP destination port; NPT 1.
        UdpPort = "udp-port",
        /// A UDP header in front of the packet's own transport; NPT 2.
        NewUdp = "new-udp",
    }
    /// Flows that the default entries watch.
    Watch {
        /// All of TCP and UDP.
        All = "all",
        /// None.
        None = "none",
    }
    /// Treatment of a host's packets that are marked as INT.
    Foreign {
        /// The packet is dropped.
        Drop = "drop",
        /// The packet's DSCP becomes 0, which removes the mark.
        Clear = "clear",
    }
    /// Answer to another domain's instructions (model: int §2.5).
    UnknownDomain {
        /// The node adds ones in place of the metadata.
        Pad = "pad",
        /// The node does not change the packet.
        Skip = "skip",
    }
    /// Where a sink's report is made.
    SinkReport {
        /// At egress, when the packet is sent.
        Egress = "egress",
        /// At ingress, when the packet arrives.
        Ingress = "ingress",
    }
}
