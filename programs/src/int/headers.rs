//! Headers of INT v2.1 and Telemetry Report v2.0, and the headers between ingress and egress.

use sluice_build::*;

/// Kinds of packets that enter egress: the values of their first byte.
pub(super) mod kind {
    /// A bridged packet.
    pub(crate) const BRIDGED: u64 = 1;
    /// A copy of a packet as it left its gress, or as it arrived at ingress.
    pub(crate) const COPY: u64 = 2;
    /// A copy of a packet as it entered egress, with its bridged header in front.
    pub(crate) const ARRIVAL: u64 = 3;
}

/// Bridged header from ingress to egress
#[derive(Header, Debug)]
pub(crate) struct Bridge {
    /// Kind: 1 = bridged packet
    pub(crate) kind: Bits<8>,
    /// 1 if the flow is watched and the packet sampled: INT begins here
    pub(crate) watched: Bits<1>,
    /// 1 if the packet is sent to a host: INT ends here
    pub(crate) sink: Bits<1>,
    /// 1 if the packet arrived from a host: a mark of INT is ignored
    pub(crate) edge: Bits<1>,
    /// Watch-list profile, which selects the instructions of a source
    pub(crate) profile: Bits<5>,
    /// dev_port on which the packet arrived
    pub(crate) ingress_port: Bits<16>,
    /// Arrival time of the packet's first bit in ns, upper 16 bits
    pub(crate) ingress_time_hi: Bits<16>,
    /// Arrival time of the packet's first bit in ns, lower 32 bits
    pub(crate) ingress_time: Bits<32>,
}

/// Bytes of [`Bridge`].
pub(super) const BRIDGE_LEN: u16 = 10;

/// Header of a mirrored copy that becomes a report
#[derive(Header, Debug)]
pub(crate) struct Copy {
    /// Kind: 2 = copy of the packet as sent or as it arrived, 3 = as it entered egress
    pub(crate) kind: Bits<8>,
    /// Report flags D (dropped), Q (queue), F (tracked flow), I (intermediate), then four zeros
    pub(crate) flags: Bits<8>,
    /// Bits 0 to 7 of the report's metadata bitmap
    pub(crate) bits_hi: Bits<8>,
    /// Bits 8 to 15 of the report's metadata bitmap; bit 15 is queue and drop reason
    pub(crate) bits_lo: Bits<8>,
    /// dev_port on which the packet arrived
    pub(crate) ingress_port: Bits<16>,
    /// dev_port on which the packet was sent
    pub(crate) egress_port: Bits<16>,
    /// Queue number in the upper 8 bits, drop reason in the lower 8
    pub(crate) reason: Bits<16>,
    /// Queue number in the upper 8 bits, queue depth in cells in the lower 24
    pub(crate) queue: Bits<32>,
    /// Time in the device, ns
    pub(crate) latency: Bits<32>,
    /// Arrival time of the packet in ns, upper 16 bits
    pub(crate) ingress_time_hi: Bits<16>,
    /// Arrival time of the packet in ns, lower 32 bits
    pub(crate) ingress_time: Bits<32>,
    /// Egress time of the packet in ns, upper 16 bits
    pub(crate) egress_time_hi: Bits<16>,
    /// Egress time of the packet in ns, lower 32 bits
    pub(crate) egress_time: Bits<32>,
}

/// Header of a mirrored copy that becomes a report, as ingress writes it
#[derive(Header, Debug)]
pub(crate) struct IngressCopy {
    /// Kind (2), report flags, and metadata bitmap of the report
    pub(crate) head: Bits<32>,
    /// dev_port on which the packet arrived
    pub(crate) ingress_port: Bits<16>,
    /// 0xffff: no egress port
    pub(crate) egress_port: Bits<16>,
    /// Drop reason in the lower 8 bits; the upper 8 bits are 0, as there is no queue
    pub(crate) reason: Bits<16>,
    /// 0: no queue
    pub(crate) queue: Bits<32>,
    /// 0: no time in the device
    pub(crate) latency: Bits<32>,
    /// Arrival time of the packet, ns
    pub(crate) ingress_time: Bits<48>,
    /// 0: no egress time
    pub(crate) egress_time: Bits<48>,
}

/// Bytes of [`Copy`].
pub(super) const COPY_LEN: u16 = 30;

/// First 20 bytes of a TCP header, in words that only the checksum uses; INT follows them
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

/// INT header of INT-MD, and the part of INT-MX's that both share (model: int §2.3)
#[derive(Header, Debug)]
pub(crate) struct IntHeader {
    /// INT version: 2
    pub(crate) version: Bits<4>,
    /// D: the sink discards the packet
    pub(crate) discard: Bits<1>,
    /// E: hop count exceeded
    pub(crate) exceeded: Bits<1>,
    /// M: MTU exceeded
    pub(crate) mtu: Bits<1>,
    /// Reserved
    pub(crate) reserved: Bits<9>,
    /// Hop ML: three reserved bits, then words of metadata per hop
    pub(crate) hop_ml: Bits<8>,
    /// Number of hops that may still add metadata
    pub(crate) remaining: Bits<8>,
    /// Instruction bits 0 to 7
    pub(crate) bits_hi: Bits<8>,
    /// Instruction bits 8 to 15
    pub(crate) bits_lo: Bits<8>,
    /// Domain specific ID; 0 = none
    pub(crate) domain: Bits<16>,
    /// Domain specific instructions
    pub(crate) ds_instruction: Bits<16>,
    /// Domain specific flags
    pub(crate) ds_flags: Bits<16>,
}

/// Metadata of one word
#[derive(Header, Debug)]
pub(crate) struct Word {
    /// Value of the metadata
    pub(crate) value: Bits<32>,
}

/// Level-1 interface IDs
#[derive(Header, Debug)]
pub(crate) struct Interfaces {
    /// dev_port on which the packet arrived
    pub(crate) ingress: Bits<16>,
    /// dev_port on which the packet is sent; 0xffff = none
    pub(crate) egress: Bits<16>,
}

/// Timestamp of 64 bits: 16 zero bits, then the 48 bits of the device's clock
#[derive(Header, Debug)]
pub(crate) struct Stamp {
    /// Zero
    pub(crate) pad: Bits<16>,
    /// Time in ns, upper 16 bits
    pub(crate) time_hi: Bits<16>,
    /// Time in ns, lower 32 bits
    pub(crate) time: Bits<32>,
}

/// Level-2 interface IDs
#[derive(Header, Debug)]
pub(crate) struct LogicalInterfaces {
    /// Level-2 interface of the ingress port; 0xffffffff = none
    pub(crate) ingress: Bits<32>,
    /// Level-2 interface of the egress port; 0xffffffff = none
    pub(crate) egress: Bits<32>,
}

/// Two words of ones, in place of metadata that this node cannot add
#[derive(Header, Debug)]
pub(crate) struct TwoWords {
    /// 0xffffffff
    pub(crate) first: Bits<32>,
    /// 0xffffffff
    pub(crate) second: Bits<32>,
}

/// Checksum complement
#[derive(Header, Debug)]
pub(crate) struct Complement {
    /// Zero
    pub(crate) pad: Bits<16>,
    /// Value that makes the ones' complement sum of all changes of this hop zero
    pub(crate) value: Bits<16>,
}

/// Queue and drop reason of a report
#[derive(Header, Debug)]
pub(crate) struct DropReason {
    /// Queue number in the upper 8 bits, drop reason in the lower 8
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
    /// Flags D (dropped), Q (queue), F (tracked flow), I (intermediate), then four reserved bits
    pub(crate) flags: Bits<8>,
    /// RepMdBits 0 to 7: metadata of the report
    pub(crate) bits_hi: Bits<8>,
    /// RepMdBits 8 to 15: metadata of the report
    pub(crate) bits_lo: Bits<8>,
    /// Domain ID
    pub(crate) domain: Bits<16>,
    /// DSMdBits and DSMdstatus
    pub(crate) ds: Bits<32>,
}

/// Bytes of [`ReportHeader`].
pub(super) const REPORT_LEN: u64 = 20;
