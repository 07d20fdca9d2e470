//! Arguments of `sluice gen`.

use crate::console::numbers::number;
use clap::{Args, Subcommand, ValueEnum};
use sluice_pcaps::wire::MacAddr;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct GenArgs {
    #[command(subcommand)]
    pub(crate) what: What,
}

/// Kind of traffic.
#[derive(Debug, Subcommand)]
pub(crate) enum What {
    /// UDP datagrams of many flows
    Udp(UdpArgs),
    /// TCP segments of many flows, with advancing sequence numbers
    Tcp(UdpArgs),
    /// RoCEv2 messages over reliable connections, with invariant CRC
    Roce(RoceArgs),
    /// RoCEv2 congestion notification packets
    Cnp(CnpArgs),
    /// UDP inside VXLAN
    Vxlan(VxlanArgs),
    /// ARP requests, replies or announcements
    Arp(ArpArgs),
    /// PFC (802.1Qbb) or PAUSE (802.3x) frames
    Pfc(PfcArgs),
    /// The flows of a CSV file
    Flows(FlowsArgs),
    /// Flows that begin at random, with sizes from a distribution, up to a load
    Workload(WorkloadArgs),
    /// The frames of a TOML file, each at its picosecond
    Frames(FramesArgs),
}

/// Output: file, format and limits.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Capture to write; - for stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Format of the capture [default: by the file's extension; pcapng on stdout]
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
    /// Most frames: 1000, 10k, 2M [default: 1000, or no limit under --duration or for a file]
    #[arg(long, value_name = "N", value_parser = number::<u64>(..))]
    pub(crate) packets: Option<u64>,
    /// Only frames that start within this time, for example 10ms
    #[arg(long, value_name = "TIME")]
    pub(crate) duration: Option<String>,
    /// Timestamp of the beginning of the trace, since 1970
    #[arg(long, value_name = "TIME", default_value = "1700000000s")]
    pub(crate) start: String,
    /// Send all frames over one link of this rate: a frame starts when the frame before it has left
    #[arg(long, value_name = "RATE")]
    pub(crate) link: Option<String>,
}

/// File formats, with the resolution of timestamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// pcapng, nanoseconds
    Pcapng,
    /// pcapng, picoseconds; Wireshark 4.0 shows wrong fractions of a second
    PcapngPs,
    /// Classic pcap, nanoseconds
    Pcap,
    /// Classic pcap, microseconds
    PcapUs,
}

/// Arrival times of frames.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Arrivals")]
pub(crate) struct ArrivalArgs {
    /// Rate: bits on the wire with preamble, FCS and gap (40G or 40Gbps), frames (1.5Mpps), or a spacing (6.72ns)
    #[arg(long, value_name = "RATE", default_value = "10Gbps")]
    pub(crate) rate: String,
    /// Seed of every random number
    #[arg(long, default_value_t = 1, value_parser = number::<u64>(..))]
    pub(crate) seed: u64,
    /// Process by which frames arrive
    #[arg(long, value_enum, default_value_t)]
    pub(crate) arrivals: Process,
    /// onoff: length of a burst; --rate is the rate within it [default: 100us]
    #[arg(long, value_name = "TIME")]
    pub(crate) on: Option<String>,
    /// onoff: length of the pause between bursts [default: 100us]
    #[arg(long, value_name = "TIME")]
    pub(crate) off: Option<String>,
    /// onoff: lengths of bursts and pauses [default: fixed]
    #[arg(long, value_enum)]
    pub(crate) periods: Option<PeriodKind>,
    /// incast: senders that start together, each at --rate; one flow each [default: 16]
    #[arg(long, value_name = "N", value_parser = number::<u32>(..))]
    pub(crate) senders: Option<u32>,
    /// incast: frames of each sender in a burst [default: 8]
    #[arg(long, value_name = "N", value_parser = number::<u32>(..))]
    pub(crate) burst: Option<u32>,
    /// incast: time between the starts of two bursts [default: 100us]
    #[arg(long, value_name = "TIME")]
    pub(crate) every: Option<String>,
    /// incast: largest delay of a sender's start [default: 0ps]
    #[arg(long, value_name = "TIME")]
    pub(crate) jitter: Option<String>,
}

/// Arrival processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Process {
    /// Even spacing at the rate
    #[default]
    Constant,
    /// Exponential gaps with the rate as mean
    Poisson,
    /// Bursts at the rate, with pauses between them
    Onoff,
    /// Bursts of many senders at the same instant
    Incast,
}

/// Lengths of bursts and pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PeriodKind {
    /// As given
    Fixed,
    /// Exponential, with the given lengths as means
    Exponential,
}

/// Ethernet.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Ethernet")]
pub(crate) struct LinkArgs {
    /// Destination MAC address: the router's
    #[arg(long, value_name = "MAC", default_value = "02:00:00:00:00:01")]
    pub(crate) dmac: MacAddr,
    /// Source MAC address
    #[arg(long, value_name = "MAC", default_value = "02:00:00:00:01:00")]
    pub(crate) smac: MacAddr,
    /// VLAN tag with this identifier
    #[arg(long, value_name = "VID", value_parser = number::<u16>(..))]
    pub(crate) vlan: Option<u16>,
    /// Service tag (802.1ad) with this identifier in front of the VLAN tag
    #[arg(long, value_name = "VID", requires = "vlan", value_parser = number::<u16>(..))]
    pub(crate) qinq: Option<u16>,
    /// Priority code point of the tags
    #[arg(long, value_name = "0..7", requires = "vlan", default_value_t = 0, value_parser = number::<u8>(0..=7))]
    pub(crate) pcp: u8,
}

/// Flows and their addresses.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Flows")]
pub(crate) struct FlowArgs {
    /// Number of flows, each with a different five-tuple [default: 1; incast: the senders; workload: 100]
    #[arg(long, value_name = "K", value_parser = number::<u32>(..))]
    pub(crate) flows: Option<u32>,
    /// Source addresses, repeatable or with commas [default: 10.0.0.0/16 and 2001:db8::/48]
    #[arg(long, value_name = "PREFIX", value_delimiter = ',')]
    pub(crate) src: Vec<String>,
    /// Destination addresses, repeatable or with commas; flows take them in turn [default: 10.1.0.0/16 and
    /// 2001:db8:1::/48; incast: one host of them]
    #[arg(long, value_name = "PREFIX", value_delimiter = ',')]
    pub(crate) dst: Vec<String>,
}

/// Fields of IP headers, and ports.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "IP")]
pub(crate) struct IpArgs {
    /// Share of flows over IPv6, in percent; --ipv6 alone means all [default: 0, or all if --dst has IPv6 only]
    #[arg(long, value_name = "PERCENT", num_args = 0..=1, default_missing_value = "100", value_parser = number::<u8>(0..=100))]
    pub(crate) ipv6: Option<u8>,
    /// Source ports: 5000 or 5000..5099
    #[arg(long, value_name = "PORTS", default_value = "49152..65535")]
    pub(crate) sport: String,
    /// Differentiated services code point [default: 0; CNPs: 48]
    #[arg(long, value_name = "0..63", value_parser = number::<u8>(0..=63))]
    pub(crate) dscp: Option<u8>,
    /// Explicit congestion notification [default: 0; RoCEv2: 2]
    #[arg(long, value_name = "0..3", value_parser = number::<u8>(0..=3))]
    pub(crate) ecn: Option<u8>,
    /// Time to live or hop limit
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = number::<u8>(..))]
    pub(crate) ttl: u8,
}

/// Flags of `gen udp` and `gen tcp`.
#[derive(Clone, Debug, Args)]
pub(crate) struct UdpArgs {
    #[command(flatten)]
    pub(crate) out: OutputArgs,
    /// Frame lengths without FCS: 64, 64..1518, with weights 64:7,594:4,1518:1, or cdf:FILE
    #[arg(long, value_name = "SIZE", default_value = "64..256", help_heading = "Flows")]
    pub(crate) size: String,
    #[command(flatten)]
    pub(crate) flow: FlowArgs,
    #[command(flatten)]
    pub(crate) ip: IpArgs,
    /// Destination ports: 4791 or 20480..20543
    #[arg(long, value_name = "PORTS", default_value = "20480..20543", help_heading = "IP")]
    pub(crate) dport: String,
    #[command(flatten)]
    pub(crate) link: LinkArgs,
    #[command(flatten)]
    pub(crate) arrival: ArrivalArgs,
}

/// Flags of `gen roce`.
#[derive(Clone, Debug, Args)]
pub(crate) struct RoceArgs {
    #[command(flatten)]
    pub(crate) out: OutputArgs,
    /// Operation
    #[arg(long, value_enum, default_value_t, help_heading = "Messages")]
    pub(crate) op: RoceOp,
    /// Largest payload of a packet: 256, 512, 1024, 2048 or 4096
    #[arg(long, value_name = "BYTES", default_value_t = 1024, help_heading = "Messages", value_parser = number::<u32>(..))]
    pub(crate) mtu: u32,
    /// Bytes of a message, cut into as many packets as it needs
    #[arg(long, value_name = "BYTES", default_value_t = 4096, help_heading = "Messages", value_parser = number::<u32>(..))]
    pub(crate) message: u32,
    #[command(flatten)]
    pub(crate) flow: FlowArgs,
    #[command(flatten)]
    pub(crate) ip: IpArgs,
    #[command(flatten)]
    pub(crate) link: LinkArgs,
    #[command(flatten)]
    pub(crate) arrival: ArrivalArgs,
}

/// RoCEv2 operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum RoceOp {
    /// RDMA WRITE
    #[default]
    Write,
    /// SEND
    Send,
    /// RDMA READ requests
    Read,
    /// Acknowledgements
    Ack,
}

/// Flags of `gen cnp`.
#[derive(Clone, Debug, Args)]
pub(crate) struct CnpArgs {
    #[command(flatten)]
    pub(crate) out: OutputArgs,
    #[command(flatten)]
    pub(crate) flow: FlowArgs,
    #[command(flatten)]
    pub(crate) ip: IpArgs,
    #[command(flatten)]
    pub(crate) link: LinkArgs,
    #[command(flatten)]
    pub(crate) arrival: ArrivalArgs,
}

/// Flags of `gen vxlan`.
#[derive(Clone, Debug, Args)]
pub(crate) struct VxlanArgs {
    #[command(flatten)]
    pub(crate) traffic: UdpArgs,
    /// First network identifier
    #[arg(long, value_name = "VNI", default_value_t = 5000, help_heading = "Tunnel", value_parser = number::<u32>(..))]
    pub(crate) vni: u32,
    /// Number of network identifiers; flows take them in turn
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Tunnel", value_parser = number::<u32>(..))]
    pub(crate) vnis: u32,
    /// Outer source addresses
    #[arg(long, value_name = "PREFIX", default_value = "10.255.0.1", help_heading = "Tunnel")]
    pub(crate) tunnel_src: String,
    /// Outer destination addresses
    #[arg(long, value_name = "PREFIX", default_value = "10.1.255.0/24", help_heading = "Tunnel")]
    pub(crate) tunnel_dst: String,
    /// Destination MAC address inside
    #[arg(long, value_name = "MAC", default_value = "02:00:00:00:02:02", help_heading = "Tunnel")]
    pub(crate) inner_dmac: MacAddr,
    /// Source MAC address inside
    #[arg(long, value_name = "MAC", default_value = "02:00:00:00:02:01", help_heading = "Tunnel")]
    pub(crate) inner_smac: MacAddr,
}

/// Flags of `gen arp`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ArpArgs {
    #[command(flatten)]
    pub(crate) out: OutputArgs,
    /// Operation
    #[arg(long, value_enum, default_value_t, help_heading = "ARP")]
    pub(crate) op: ArpOp,
    #[command(flatten)]
    pub(crate) flow: FlowArgs,
    #[command(flatten)]
    pub(crate) link: LinkArgs,
    #[command(flatten)]
    pub(crate) arrival: ArrivalArgs,
}

/// ARP operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArpOp {
    /// Broadcast requests for the destination's address
    #[default]
    Request,
    /// Replies to --dmac
    Reply,
    /// Broadcast announcements of the source's own address
    Gratuitous,
}

/// Flags of `gen pfc`.
#[derive(Clone, Debug, Args)]
pub(crate) struct PfcArgs {
    #[command(flatten)]
    pub(crate) out: OutputArgs,
    /// Classes to pause [default: 3]
    #[arg(
        long,
        value_name = "0..7",
        value_delimiter = ',',
        conflicts_with = "pause",
        help_heading = "Pauses"
    )]
    pub(crate) classes: Vec<u8>,
    /// Length of a pause in quanta of 512 bit times; 0 ends a pause
    #[arg(long, value_name = "0..65535", default_value_t = 65_535, help_heading = "Pauses", value_parser = number::<u16>(0..=65535))]
    pub(crate) quanta: u16,
    /// Let every second frame end the pause
    #[arg(long, help_heading = "Pauses")]
    pub(crate) resume: bool,
    /// Write PAUSE frames for the whole link instead of PFC
    #[arg(long, help_heading = "Pauses")]
    pub(crate) pause: bool,
    /// Source MAC address
    #[arg(long, value_name = "MAC", default_value = "02:00:00:00:01:00", help_heading = "Pauses")]
    pub(crate) smac: MacAddr,
    #[command(flatten)]
    pub(crate) arrival: ArrivalArgs,
}

/// Flags of `gen flows`.
#[derive(Clone, Debug, Args)]
pub(crate) struct FlowsArgs {
    /// CSV file; its first line names the columns (docs/gen.md lists them)
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) out: OutputArgs,
    /// Rate of a flow whose line gives none
    #[arg(long, value_name = "RATE", default_value = "10Gbps", help_heading = "Defaults")]
    pub(crate) rate: String,
    /// Frame length of a flow whose line gives none; for RoCEv2, the largest payload of a packet
    #[arg(long, value_name = "BYTES", default_value_t = 1024, help_heading = "Defaults", value_parser = number::<u32>(..))]
    pub(crate) size: u32,
    #[command(flatten)]
    pub(crate) link: LinkArgs,
}

/// Flags of `gen workload`.
#[derive(Clone, Debug, Args)]
pub(crate) struct WorkloadArgs {
    /// Distribution of flow sizes: a published one, such as web-search or ali-storage, or a file with lines of bytes and
    /// cumulative percent
    pub(crate) cdf: PathBuf,
    #[command(flatten)]
    pub(crate) out: OutputArgs,
    /// Load: payload bytes, in percent of --rate
    #[arg(long, value_name = "1..100", default_value_t = 50, help_heading = "Workload", value_parser = number::<u32>(1..=100))]
    pub(crate) load: u32,
    /// Bit rate that the load is a share of
    #[arg(long, value_name = "RATE", default_value = "100Gbps", help_heading = "Workload")]
    pub(crate) rate: String,
    /// Rate at which a flow sends [default: --rate]
    #[arg(long, value_name = "RATE", help_heading = "Workload")]
    pub(crate) flow_rate: Option<String>,
    /// Protocol of the flows: udp, tcp, or one RoCEv2 WRITE per flow
    #[arg(long, value_name = "PROTO", default_value = "roce", value_parser = ["udp", "tcp", "roce"], help_heading = "Workload")]
    pub(crate) proto: String,
    /// Frame length without FCS; for RoCEv2, the largest payload of a packet
    #[arg(long, value_name = "BYTES", default_value_t = 1024, help_heading = "Workload", value_parser = number::<u32>(..))]
    pub(crate) size: u32,
    /// Seed of every random number
    #[arg(long, default_value_t = 1, help_heading = "Workload", value_parser = number::<u64>(..))]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) flow: FlowArgs,
    #[command(flatten)]
    pub(crate) ip: IpArgs,
    #[command(flatten)]
    pub(crate) link: LinkArgs,
}

/// Flags of `gen frames`.
#[derive(Clone, Debug, Args)]
pub(crate) struct FramesArgs {
    /// TOML file with a `[[frame]]` for each frame or train of frames (docs/gen.md describes it)
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) out: OutputArgs,
    #[command(flatten)]
    pub(crate) link: LinkArgs,
}
