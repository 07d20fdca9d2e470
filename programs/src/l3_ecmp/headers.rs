//! Headers and metadata of `l3-ecmp` beside the common ones. What may not live here: behaviour.

use sluice_pipeline::build::{Bits, Declarer, Fields, Handle, Header};

/// The ports that TCP and UDP begin with
#[derive(Header, Debug)]
pub struct L4Ports {
    /// Source port
    pub src_port: Bits<16>,
    /// Destination port
    pub dst_port: Bits<16>,
}

/// What egress wants from ingress, in front of the packet
#[derive(Header, Debug)]
pub struct Bridge {
    /// Fills the header to whole bytes
    pub pad: Bits<4>,
    /// VLAN that the packet leaves in
    pub vid: Bits<12>,
}

/// Metadata of ingress
#[derive(Header, Debug)]
pub struct Meta {
    /// 1 when the IPv4 header checksum is wrong
    pub bad_checksum: Bits<1>,
    /// 1 when the packet goes to the CPU because of what it is: ARP, IPv4 options
    pub special: Bits<1>,
    /// 1 when a table sends the packet to the CPU
    pub punt: Bits<1>,
    /// 1 when a route was found
    pub routed: Bits<1>,
    /// VLAN that the packet came in by
    pub vid: Bits<12>,
    /// Routing table
    pub vrf: Bits<8>,
    /// Group of next hops; 0 for none
    pub group: Bits<12>,
    /// Next hop
    pub nexthop: Bits<16>,
}

/// Hash of the flow, as wide as the program was told
#[derive(Clone, Copy, Debug)]
pub(super) struct FlowHash<const W: u16> {
    /// The value that chooses a member
    pub value: Bits<W>,
}

/// By hand: the derive makes no structs with a width of their own.
impl<const W: u16> Fields for FlowHash<W> {
    const DOC: &'static str = "Hash of the flow";

    fn declare(declarer: &mut Declarer<'_>) -> Self {
        FlowHash { value: Handle::declare(declarer, "value", "The value that chooses a member") }
    }
}
