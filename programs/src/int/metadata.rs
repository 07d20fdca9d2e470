//! Per-packet metadata of `int`.

use sluice_build::*;

/// Per-packet metadata of ingress
#[derive(Header, Debug)]
pub(crate) struct IngressMeta {
    /// 1 when the packet looks like INT
    pub(crate) int: Bits<1>,
    /// 1 when the watch-list names the flow
    pub(crate) watched: Bits<1>,
    /// A random number
    pub(crate) draw: Bits<16>,
    /// By how much it is above the rule's
    pub(crate) over: Bits<16>,
    /// Mirror session
    pub(crate) session: Bits<10>,
}

/// Per-packet metadata of egress
#[derive(Header, Debug)]
pub(crate) struct Meta {
    /// Mirror session
    pub(crate) session: Bits<10>,
    /// 1 when the shim claims more than there is
    pub(crate) malformed: Bits<1>,
    /// 1 when this node put the INT header in
    pub(crate) begun: Bits<1>,
    /// 1 when the node adds its block, or the packet is a report
    pub(crate) adds: Bits<1>,
    /// 1 when an L4 checksum covers INT
    pub(crate) summed: Bits<1>,
    /// 1 for TCP
    pub(crate) tcp: Bits<1>,
    /// 1 for UDP without a header of INT's own in front
    pub(crate) udp: Bits<1>,
    /// 1 when domain specific metadata is asked for
    pub(crate) asks_ds: Bits<1>,
    /// 1 when Hop ML does not agree with the instructions
    pub(crate) odd: Bits<1>,
    /// 1 when the instructions are of another domain
    pub(crate) unknown: Bits<1>,
    /// 1 when a report tells of the packet
    pub(crate) tracked: Bits<1>,
    /// What becomes of INT; see `events`
    pub(crate) event: Bits<8>,
    /// Instructions, or metadata of a report
    pub(crate) bits_hi: Bits<8>,
    /// As above
    pub(crate) bits_lo: Bits<8>,
    /// Hop ML
    pub(crate) hop_words: Bits<8>,
    /// Words that bits 0 to 7 ask for, of a report all of them
    pub(crate) words: Bits<8>,
    /// Words that bits 8 to 14 ask for
    pub(crate) ones: Bits<8>,
    /// Words of domain specific metadata and complement
    pub(crate) tail: Bits<8>,
    /// Words of ones that fill the block
    pub(crate) pad: Bits<8>,
    /// The shim's length with the block; 255 is too long
    pub(crate) shim_length: Bits<8>,
    /// Bytes of the block; of a sink, what comes off, below zero; of a report, its metadata
    pub(crate) block: Bits<16>,
    /// Bytes of the IP packet with all that is added, then by how much they exceed the MTU; at a sink those of the
    /// datagram that INT stands in, then by how much they exceed INT, 0 if they do not
    pub(crate) longest: Bits<16>,
    /// MTU of the port; then by how much shim and header alone exceed it
    pub(crate) mtu: Bits<16>,
    /// Sum of what the block changes in shim, header and lengths
    pub(crate) changes: Bits<16>,
    /// Sum of the shim and header that this node adds, and of one length
    pub(crate) fixed_sum: Bits<16>,
    /// The other length, UDP's
    pub(crate) fixed_udp: Bits<16>,
    /// The variable part of its shim
    pub(crate) original: Bits<16>,
    /// New UDP port and complement of the old one
    pub(crate) new_port: Bits<16>,
    /// As above
    pub(crate) old_port: Bits<16>,
    /// L4 checksum
    pub(crate) sum: Bits<16>,
    /// What E and M do to it; see `flag_sum`
    pub(crate) flags: Bits<16>,
    /// Node ID
    pub(crate) node: Bits<32>,
    /// Egress clock, low 32 bits
    pub(crate) now: Bits<32>,
    /// Time in the device
    pub(crate) latency: Bits<32>,
    /// Queue and depth
    pub(crate) queue: Bits<32>,
    /// Depth
    pub(crate) depth: Bits<32>,
    /// Bytes of the packet
    pub(crate) length: Bits<32>,
    /// Number of the window
    pub(crate) window: Bits<32>,
    /// Bytes of the window that has ended, if one has
    pub(crate) ended: Bits<32>,
    /// By how much the depth is above its threshold
    pub(crate) deep: Bits<32>,
    /// By how much the latency is above its threshold
    pub(crate) late: Bits<32>,
    /// 1 above either threshold
    pub(crate) congested: Bits<16>,
    /// 1 when the queue's packet before it was above as well
    pub(crate) before: Bits<16>,
    /// What the copy is of; see the parser
    pub(crate) shape: Bits<8>,
    /// Bytes that the report takes of the packet
    pub(crate) inner: Bits<16>,
    /// Words of the report
    pub(crate) report_length: Bits<16>,
    /// Sequence number
    pub(crate) sequence: Bits<32>,
}
