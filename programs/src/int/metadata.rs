//! Per-packet metadata of `int`.

use sluice_build::*;

/// Per-packet metadata of ingress
#[derive(Header, Debug)]
pub(crate) struct IngressMeta {
    /// 1 if the packet is marked as INT
    pub(crate) int: Bits<1>,
    /// 1 if the watch-list contains the flow
    pub(crate) watched: Bits<1>,
    /// Random number for sampling, 0 to 65535
    pub(crate) draw: Bits<16>,
    /// Amount by which the random number exceeds the rule's `chance`; 0 = the packet is sampled
    pub(crate) over: Bits<16>,
    /// Mirror session of the report
    pub(crate) session: Bits<10>,
}

/// Per-packet metadata of egress
#[derive(Header, Debug)]
pub(crate) struct Meta {
    /// Mirror session of the report
    pub(crate) session: Bits<10>,
    /// 1 if the shim's length is too small to hold an INT header
    pub(crate) malformed: Bits<1>,
    /// 1 if this node added the INT header
    pub(crate) begun: Bits<1>,
    /// 1 if this node adds its metadata block, or the packet is a report
    pub(crate) adds: Bits<1>,
    /// 1 if an L4 checksum covers INT
    pub(crate) summed: Bits<1>,
    /// 1 for TCP
    pub(crate) tcp: Bits<1>,
    /// 1 for UDP, unless carrier=new-udp added the UDP header
    pub(crate) udp: Bits<1>,
    /// 1 if domain specific metadata is requested
    pub(crate) asks_ds: Bits<1>,
    /// 1 if Hop ML disagrees with the instructions, so that this node cannot add its block
    pub(crate) odd: Bits<1>,
    /// 1 if the instructions are of another domain
    pub(crate) unknown: Bits<1>,
    /// 1 if the packet gets a report as one of a tracked flow
    pub(crate) tracked: Bits<1>,
    /// Outcome for the INT header: index of the counter `events`
    pub(crate) event: Bits<8>,
    /// Instruction bits 0 to 7; in a report, bits 0 to 7 of its metadata bitmap
    pub(crate) bits_hi: Bits<8>,
    /// Instruction bits 8 to 15; in a report, bits 8 to 15 of its metadata bitmap
    pub(crate) bits_lo: Bits<8>,
    /// Hop ML: words of metadata per hop
    pub(crate) hop_words: Bits<8>,
    /// Words of metadata for instruction bits 0 to 7; in a report, all words of metadata
    pub(crate) words: Bits<8>,
    /// Words of metadata for instruction bits 8 to 14, which this node fills with ones
    pub(crate) ones: Bits<8>,
    /// Words of domain specific metadata and checksum complement
    pub(crate) tail: Bits<8>,
    /// Words of ones that fill the block up to Hop ML
    pub(crate) pad: Bits<8>,
    /// Length field of the shim including the block; 255 = too long
    pub(crate) shim_length: Bits<8>,
    /// Bytes of the block; at a sink, the bytes removed, as a negative number; in a report, the bytes of its metadata
    pub(crate) block: Bits<16>,
    /// Bytes of the IP packet with all additions, then their excess over the MTU (0 = fits); at a sink, bytes of the
    /// datagram that contains INT, then their excess over INT (0 = INT does not fit)
    pub(crate) longest: Bits<16>,
    /// MTU of the port in bytes; then the excess of the packet with shim and header alone over the MTU (0 = fits)
    pub(crate) mtu: Bits<16>,
    /// Ones' complement sum of the block's changes in shim, header and lengths
    pub(crate) changes: Bits<16>,
    /// Ones' complement sum of the shim and header that this node adds, and of the growth of one length
    pub(crate) fixed_sum: Bits<16>,
    /// Growth of the UDP length by the shim and header that this node adds, in bytes
    pub(crate) fixed_udp: Bits<16>,
    /// Field `original` of the shim that this node adds
    pub(crate) original: Bits<16>,
    /// New UDP destination port of a packet in which INT begins, for carrier=udp-port
    pub(crate) new_port: Bits<16>,
    /// Ones' complement of the old UDP destination port, for carrier=udp-port
    pub(crate) old_port: Bits<16>,
    /// L4 checksum of the packet
    pub(crate) sum: Bits<16>,
    /// Change of E and M: 1 = set E, 2 = set M, 5 = remove E, 6 = remove M, 7 = remove both; 0 = none
    pub(crate) flags: Bits<16>,
    /// Node ID
    pub(crate) node: Bits<32>,
    /// Egress time in ns, low 32 bits
    pub(crate) now: Bits<32>,
    /// Time in the device, ns
    pub(crate) latency: Bits<32>,
    /// Queue number in the upper 8 bits, queue depth in cells in the lower 24
    pub(crate) queue: Bits<32>,
    /// Queue depth in cells when the packet was dequeued
    pub(crate) depth: Bits<32>,
    /// Length of the packet in bytes
    pub(crate) length: Bits<32>,
    /// Number of the present window of 65536 ns
    pub(crate) window: Bits<32>,
    /// Bytes of the port's previous window if the packet begins a new one, else 0
    pub(crate) ended: Bits<32>,
    /// Cells by which the queue depth exceeds its threshold; 0 = not above
    pub(crate) deep: Bits<32>,
    /// Nanoseconds by which the latency exceeds its threshold; 0 = not above
    pub(crate) late: Bits<32>,
    /// 1 if depth or latency is above its threshold
    pub(crate) congested: Bits<16>,
    /// 1 if the queue's previous packet was above a threshold, too
    pub(crate) before: Bits<16>,
    /// Kind of the copied packet: 0 IPv4, 1 IPv6, 2 other; 3 more for a copy of the packet as it entered egress
    pub(crate) shape: Bits<8>,
    /// Bytes of the packet that the report includes
    pub(crate) inner: Bits<16>,
    /// Length of the report in words; 255 = to the end of the packet
    pub(crate) report_length: Bits<16>,
    /// Sequence number of the report, 22 bits
    pub(crate) sequence: Bits<32>,
}
