//! Headers of INT v2.1 and Telemetry Report v2.0, and what the gresses tell each other.

use sluice_build::*;

/// First byte of what comes to egress.
pub(super) mod kind {
    /// A bridged packet.
    pub(crate) const BRIDGED: u64 = 1;
    /// A copy of a packet as it left its gress, or as it came to ingress.
    pub(crate) const COPY: u64 = 2;
    /// A copy of a packet as it came to egress, its bridged header in front.
    pub(crate) const ARRIVAL: u64 = 3;
}

/// What ingress tells egress
#[derive(Header, Debug)]
pub(crate) struct Bridge {
    /// 1
    pub(crate) kind: Bits<8>,
    /// 1 when the flow is watched and the packet sampled: INT begins here
    pub(crate) watched: Bits<1>,
    /// 1 when the packet leaves to a host
    pub(crate) sink: Bits<1>,
    /// 1 when it came from a host: what looks like INT is none
    pub(crate) edge: Bits<1>,
    /// Which instructions a source gives
    pub(crate) profile: Bits<5>,
    /// dev_port that the packet came in by
    pub(crate) ingress_port: Bits<16>,
    /// When its first bit came in, ns: the upper 16 bits
    pub(crate) ingress_time_hi: Bits<16>,
    /// The lower 32 bits
    pub(crate) ingress_time: Bits<32>,
}

/// Bytes of [`Bridge`].
pub(super) const BRIDGE_LEN: u16 = 10;

/// In front of a copy that becomes a report
#[derive(Header, Debug)]
pub(crate) struct Copy {
    /// 2 or 3
    pub(crate) kind: Bits<8>,
    /// D, Q, F and I of the report, four zeros
    pub(crate) flags: Bits<8>,
    /// Metadata of the report: the upper half of a bitmap
    pub(crate) bits_hi: Bits<8>,
    /// The lower half; bit 15 is queue and drop reason
    pub(crate) bits_lo: Bits<8>,
    /// dev_port that the packet came in by
    pub(crate) ingress_port: Bits<16>,
    /// dev_port that it left by
    pub(crate) egress_port: Bits<16>,
    /// Its queue and why it was dropped
    pub(crate) reason: Bits<16>,
    /// Its queue in the upper 8 bits, the depth in cells below
    pub(crate) queue: Bits<32>,
    /// Time in the device, ns
    pub(crate) latency: Bits<32>,
    /// When it came in, the upper 16 bits
    pub(crate) ingress_time_hi: Bits<16>,
    /// The lower 32 bits
    pub(crate) ingress_time: Bits<32>,
    /// When it left, the upper 16 bits
    pub(crate) egress_time_hi: Bits<16>,
    /// The lower 32 bits
    pub(crate) egress_time: Bits<32>,
}

/// The same as ingress writes it
#[derive(Header, Debug)]
pub(crate) struct IngressCopy {
    /// 2, the flags, the metadata of the report
    pub(crate) head: Bits<32>,
    /// dev_port that the packet came in by
    pub(crate) ingress_port: Bits<16>,
    /// None
    pub(crate) egress_port: Bits<16>,
    /// No queue, and why it was dropped
    pub(crate) reason: Bits<16>,
    /// None
    pub(crate) queue: Bits<32>,
    /// None
    pub(crate) latency: Bits<32>,
    /// When it came in
    pub(crate) ingress_time: Bits<48>,
    /// None
    pub(crate) egress_time: Bits<48>,
}

/// Bytes of [`Copy`].
pub(super) const COPY_LEN: u16 = 30;

/// TCP header without options, in words that nobody reads but the checksum: INT follows the first 20 bytes
#[derive(Header, Debug)]
#[allow(dead_code, reason = "the words pass through")]
pub(crate) struct TcpWords {
    /// Source and destination port
    pub(crate) ports: Bits<32>,
    /// Sequence number
    pub(crate) seq_no: Bits<32>,
    /// Acknowledgement number
    pub(crate) ack_no: Bits<32>,
    /// Offset, flags, window
    pub(crate) control: Bits<32>,
    /// Checksum
    pub(crate) checksum: Bits<16>,
    /// Urgent pointer
    pub(crate) urgent_ptr: Bits<16>,
}

/// INT shim header over TCP and UDP (model: int §2.2)
#[derive(Header, Debug)]
pub(crate) struct Shim {
    /// Type (4 bits), NPT (2), reserved
    pub(crate) types: Bits<8>,
    /// Words of INT header and stack, without this word
    pub(crate) length: Bits<8>,
    /// The original DSCP (in bits 7 to 2), UDP port or protocol
    pub(crate) original: Bits<16>,
}

/// INT header: INT-MD, and of INT-MX what the two share (model: int §2.3)
#[derive(Header, Debug)]
pub(crate) struct IntHeader {
    /// 2
    pub(crate) version: Bits<4>,
    /// The sink discards the packet
    pub(crate) discard: Bits<1>,
    /// Hop count exceeded
    pub(crate) exceeded: Bits<1>,
    /// MTU exceeded
    pub(crate) mtu: Bits<1>,
    /// Reserved
    pub(crate) reserved: Bits<9>,
    /// Three reserved bits, words per hop
    pub(crate) hop_ml: Bits<8>,
    /// Hops that may still add
    pub(crate) remaining: Bits<8>,
    /// Instructions 0 to 7
    pub(crate) bits_hi: Bits<8>,
    /// Instructions 8 to 15
    pub(crate) bits_lo: Bits<8>,
    /// Domain specific ID
    pub(crate) domain: Bits<16>,
    /// Domain specific instructions
    pub(crate) ds_instruction: Bits<16>,
    /// Domain specific flags
    pub(crate) ds_flags: Bits<16>,
}

/// Metadata of one word
#[derive(Header, Debug)]
pub(crate) struct Word {
    /// Its value
    pub(crate) value: Bits<32>,
}

/// Level-1 interfaces
#[derive(Header, Debug)]
pub(crate) struct Interfaces {
    /// Ingress
    pub(crate) ingress: Bits<16>,
    /// Egress
    pub(crate) egress: Bits<16>,
}

/// A timestamp: 16 zero bits and the device's 48
#[derive(Header, Debug)]
pub(crate) struct Stamp {
    /// Zero
    pub(crate) pad: Bits<16>,
    /// ns, the upper 16 bits
    pub(crate) time_hi: Bits<16>,
    /// The lower 32 bits
    pub(crate) time: Bits<32>,
}

/// Level-2 interfaces
#[derive(Header, Debug)]
pub(crate) struct LogicalInterfaces {
    /// Ingress
    pub(crate) ingress: Bits<32>,
    /// Egress
    pub(crate) egress: Bits<32>,
}

/// Two words of ones
#[derive(Header, Debug)]
pub(crate) struct TwoWords {
    /// Ones
    pub(crate) first: Bits<32>,
    /// Ones
    pub(crate) second: Bits<32>,
}

/// Checksum complement
#[derive(Header, Debug)]
pub(crate) struct Complement {
    /// Zero
    pub(crate) pad: Bits<16>,
    /// What makes the sum of all changes of this hop vanish
    pub(crate) value: Bits<16>,
}

/// Queue and drop reason of a report
#[derive(Header, Debug)]
pub(crate) struct DropReason {
    /// Queue and reason
    pub(crate) reason: Bits<16>,
    /// Zero
    pub(crate) pad: Bits<16>,
}

/// Telemetry Report group header and one individual report header (model: int §2.8)
#[derive(Header, Debug)]
pub(crate) struct ReportHeader {
    /// Version 2 (4 bits), hw_id (6), sequence number (22)
    pub(crate) group: Bits<32>,
    /// Node ID
    pub(crate) node: Bits<32>,
    /// RepType, InType, report length in words
    pub(crate) head: Bits<16>,
    /// Words of metadata
    pub(crate) md_length: Bits<8>,
    /// D, Q, F, I, four reserved bits
    pub(crate) flags: Bits<8>,
    /// RepMdBits, upper half
    pub(crate) bits_hi: Bits<8>,
    /// Lower half
    pub(crate) bits_lo: Bits<8>,
    /// Domain ID
    pub(crate) domain: Bits<16>,
    /// DSMdBits and DSMdstatus
    pub(crate) ds: Bits<32>,
}

/// Bytes of [`ReportHeader`].
pub(super) const REPORT_LEN: u64 = 20;
