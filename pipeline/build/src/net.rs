//! Common wire headers.

use super::Header;
use super::value::{Bits, list};
use sluice_ir::Field;

/// Ethernet II header (IEEE 802.3 §3.2)
#[derive(Header, Debug)]
pub struct Ethernet {
    /// Destination MAC address
    pub dst: Bits<48>,
    /// Source MAC address
    pub src: Bits<48>,
    /// EtherType of what follows
    pub ether_type: Bits<16>,
}

/// VLAN tag control information and the EtherType behind it (IEEE 802.1Q §9.6)
#[derive(Header, Debug)]
pub struct Vlan {
    /// Priority code point
    pub pcp: Bits<3>,
    /// Drop eligible indicator
    pub dei: Bits<1>,
    /// VLAN identifier
    pub vid: Bits<12>,
    /// EtherType of what follows
    pub ether_type: Bits<16>,
}

/// IPv4 header without options (RFC 791)
#[derive(Header, Debug)]
pub struct Ipv4 {
    /// 4
    pub version: Bits<4>,
    /// Header length in 32-bit words; 5 without options
    pub ihl: Bits<4>,
    /// Differentiated services code point (RFC 2474)
    pub dscp: Bits<6>,
    /// Explicit congestion notification (RFC 3168): 0 not capable, 1 and 2 capable, 3 congestion met
    pub ecn: Bits<2>,
    /// Bytes of header and payload
    pub total_len: Bits<16>,
    /// Identifies the fragments of one datagram
    pub identification: Bits<16>,
    /// Reserved, don't fragment, more fragments
    pub flags: Bits<3>,
    /// Offset of the fragment in units of 8 bytes
    pub frag_offset: Bits<13>,
    /// Hops left
    pub ttl: Bits<8>,
    /// Protocol of what follows (6 TCP, 17 UDP, 1 ICMP)
    pub protocol: Bits<8>,
    /// Ones' complement checksum of the header
    pub checksum: Bits<16>,
    /// Source address
    pub src: Bits<32>,
    /// Destination address
    pub dst: Bits<32>,
}

impl Ipv4 {
    /// Returns all fields in wire order. With a correct checksum their ones' complement sum is all ones.
    #[must_use]
    pub fn whole(&self) -> [Field; 13] {
        list![
            self.version,
            self.ihl,
            self.dscp,
            self.ecn,
            self.total_len,
            self.identification,
            self.flags,
            self.frag_offset,
            self.ttl,
            self.protocol,
            self.checksum,
            self.src,
            self.dst,
        ]
    }

    /// Returns all fields but the checksum, in wire order: the inputs of the checksum.
    #[must_use]
    pub fn summed(&self) -> [Field; 12] {
        list![
            self.version,
            self.ihl,
            self.dscp,
            self.ecn,
            self.total_len,
            self.identification,
            self.flags,
            self.frag_offset,
            self.ttl,
            self.protocol,
            self.src,
            self.dst,
        ]
    }
}

/// IPv6 header without extensions (RFC 8200 §3)
#[derive(Header, Debug)]
pub struct Ipv6 {
    /// 6
    pub version: Bits<4>,
    /// Differentiated services code point (RFC 2474)
    pub dscp: Bits<6>,
    /// Explicit congestion notification (RFC 3168): 0 not capable, 1 and 2 capable, 3 congestion met
    pub ecn: Bits<2>,
    /// Flow label (RFC 6437)
    pub flow_label: Bits<20>,
    /// Bytes after this header
    pub payload_len: Bits<16>,
    /// Protocol or extension that follows
    pub next_header: Bits<8>,
    /// Hops left
    pub hop_limit: Bits<8>,
    /// Source address
    pub src: Bits<128>,
    /// Destination address
    pub dst: Bits<128>,
}

/// TCP header without options (RFC 9293 §3.1)
#[derive(Header, Debug)]
pub struct Tcp {
    /// Source port
    pub src_port: Bits<16>,
    /// Destination port
    pub dst_port: Bits<16>,
    /// Sequence number of the first byte
    pub seq_no: Bits<32>,
    /// Next sequence number expected
    pub ack_no: Bits<32>,
    /// Header length in 32-bit words; 5 without options
    pub data_offset: Bits<4>,
    /// Reserved
    pub reserved: Bits<4>,
    /// CWR, ECE, URG, ACK, PSH, RST, SYN, FIN, most significant first
    pub flags: Bits<8>,
    /// Receive window
    pub window: Bits<16>,
    /// Ones' complement checksum with pseudo header
    pub checksum: Bits<16>,
    /// Urgent pointer
    pub urgent_ptr: Bits<16>,
}

/// UDP header (RFC 768)
#[derive(Header, Debug)]
pub struct Udp {
    /// Source port
    pub src_port: Bits<16>,
    /// Destination port
    pub dst_port: Bits<16>,
    /// Bytes of header and payload
    pub length: Bits<16>,
    /// Ones' complement checksum with pseudo header; 0 for none over IPv4
    pub checksum: Bits<16>,
}

/// ARP packet for IPv4 over Ethernet (RFC 826)
#[derive(Header, Debug)]
pub struct Arp {
    /// Hardware type; 1 for Ethernet
    pub hw_type: Bits<16>,
    /// Protocol type; 0x0800 for IPv4
    pub proto_type: Bits<16>,
    /// Bytes of a hardware address; 6
    pub hw_addr_len: Bits<8>,
    /// Bytes of a protocol address; 4
    pub proto_addr_len: Bits<8>,
    /// 1 request, 2 reply
    pub opcode: Bits<16>,
    /// Sender's MAC address
    pub sender_hw_addr: Bits<48>,
    /// Sender's IPv4 address
    pub sender_proto_addr: Bits<32>,
    /// Target's MAC address
    pub target_hw_addr: Bits<48>,
    /// Target's IPv4 address
    pub target_proto_addr: Bits<32>,
}

/// First four bytes of an ICMP or ICMPv6 message (RFC 792, RFC 4443)
#[derive(Header, Debug)]
pub struct Icmp {
    /// Message type
    pub icmp_type: Bits<8>,
    /// Meaning within the type
    pub code: Bits<8>,
    /// Ones' complement checksum of the message
    pub checksum: Bits<16>,
}

/// In front of packets that a generator made by a timer or, on Tofino 2, by a request or recirculated bytes (model:
/// tm §10)
#[derive(Header, Debug)]
pub struct PktgenTimer {
    /// The pipe in the high bits, the application below: 3 bits of it on Tofino, 4 on Tofino 2
    pub app: Bits<8>,
    /// Zero
    pub pad: Bits<8>,
    /// Number of the batch, from 0
    pub batch: Bits<16>,
    /// Number of the packet in its batch, from 0
    pub packet: Bits<16>,
}

/// In front of packets that a generator made because a port went down
#[derive(Header, Debug)]
pub struct PktgenPortDown {
    /// The pipe in the high bits, the application below: 3 bits of it on Tofino, 4 on Tofino 2
    pub app: Bits<8>,
    /// Zero
    pub pad: Bits<15>,
    /// The port, as dev_port
    pub port: Bits<9>,
    /// Number of the packet in its batch, from 0
    pub packet: Bits<16>,
}

/// In front of packets that Tofino's generator made because a recirculated packet began as wanted
#[derive(Header, Debug)]
pub struct PktgenRecirculation {
    /// The pipe in the high bits, the application below
    pub app: Bits<8>,
    /// Bytes 1 to 3 of the packet, the number of the batch added to the last two
    pub key: Bits<24>,
    /// Number of the packet in its batch, from 0
    pub packet: Bits<16>,
}

/// The first four bytes of a TCP or UDP header
#[derive(Header, Debug)]
pub struct L4Ports {
    /// Source port
    pub src_port: Bits<16>,
    /// Destination port
    pub dst_port: Bits<16>,
}

/// EtherTypes.
pub mod ether_type {
    /// IPv4.
    pub const IPV4: u64 = 0x0800;
    /// ARP.
    pub const ARP: u64 = 0x0806;
    /// An 802.1Q tag.
    pub const VLAN: u64 = 0x8100;
    /// IPv6.
    pub const IPV6: u64 = 0x86dd;
}

/// IP protocol numbers whose headers begin with the two ports.
pub mod protocol {
    /// TCP.
    pub const TCP: u64 = 6;
    /// UDP.
    pub const UDP: u64 = 17;
}
