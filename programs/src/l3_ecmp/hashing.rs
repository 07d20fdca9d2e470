//! The flow hash of `l3-ecmp` and the selector that it drives.
//!
//! A stage computes the hash of the packet's family into `flow.hash`, which the selector reads unchanged. So a
//! packet trace shows the hash, and it can be compared with another switch's.

use super::Params;
use super::hash_params::{FieldList, HashField, HashItem, HashSeed, Ipv4HashField, Ipv6HashField, SeedStyle};
use super::headers::Headers;
use sluice_build::*;
use sluice_ir as ir;

/// The flow hash, `W` bits.
#[derive(Clone, Copy, Debug)]
struct FlowHash<const W: u16> {
    hash: Bits<W>,
}

impl<const W: u16> Fields for FlowHash<W> {
    const DOC: &'static str = "Flow hash of the packet";
    fn declare(declarer: &mut Declarer<'_>) -> Self {
        FlowHash { hash: Handle::declare(declarer, "hash", "Flow hash after seed and rotation") }
    }
}

/// Actions and the action profile that the control block and the tables use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hashing {
    /// Computes the hash of an IPv4 packet.
    pub(super) ipv4: ActionRef,
    /// Computes the hash of an IPv6 packet.
    pub(super) ipv6: ActionRef,
    /// Members of all groups.
    pub(super) members: ProfileRef,
}

/// Declares the flow hash, in the width that the parameters request, and the selector.
pub(super) fn hashing(ig: &GressBuilder<'_>, p: &Params, h: Headers) -> Hashing {
    // The width of a field is part of its handle's type, so each width needs separate code.
    macro_rules! by_width {
        ($($width:literal)*) => {
            match p.flow_hash_width() {
                $($width => of_width::<$width>(ig, p, h),)*
                _ => of_width::<32>(ig, p, h),
            }
        };
    }
    by_width!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31)
}

#[stage_program]
fn of_width<const W: u16>(ig: &GressBuilder<'_>, p: &Params, h: Headers) -> Hashing {
    let flow = ig.metadata::<FlowHash<W>>();
    let ipv4_hash = ig.hash::<W>(p.hash_algorithm.algorithm());
    let ipv4_hash = shaped(ipv4_hash, p, &p.hash_fields_v4, |f| ipv4_field(f, h)).build();
    let ipv6_hash = ig.hash::<W>(p.hash_algorithm.algorithm());
    let ipv6_hash = shaped(ipv6_hash, p, &p.hash_fields_v6, |f| ipv6_field(f, h)).build();
    /// Computes the flow hash of an IPv4 packet
    let hash_ipv4 = ig.action(|a| flow.hash = ipv4_hash.get());
    /// Computes the flow hash of an IPv6 packet
    let hash_ipv6 = ig.action(|a| flow.hash = ipv6_hash.get());

    let (mode, groups, size) = (p.selection.mode(), p.ecmp_groups, p.ecmp_group_size);
    /// Next hops of all groups; a member of weight w takes w slots of its group
    let ecmp_members = ig.profile(p.ecmp_members);
    let members = if mode == SelectorMode::Resilient {
        /// The flow hash as the selector's input, repeated for the second and third try
        let member_hash = ig.hash::<51>(HashAlgorithm::Identity).inputs(list![flow.hash]).build();
        ecmp_members.selector(mode, member_hash, groups, size)
    } else {
        /// The flow hash, unchanged, as the selector's input
        let member_hash = ig.hash::<W>(HashAlgorithm::Identity).inputs(list![flow.hash]).build();
        ecmp_members.selector(mode, member_hash, groups, size)
    };
    Hashing { ipv4: hash_ipv4, ipv6: hash_ipv6, members: members.build() }
}

/// Adds seed, inputs and rotation to a hash.
fn shaped<'b, const W: u16, F: HashField>(
    hash: HashBuilder<'b, W>,
    p: &Params,
    fields: &FieldList<F>,
    input: impl Fn(F) -> ir::Expr,
) -> HashBuilder<'b, W> {
    let HashSeed(seed) = p.hash_seed;
    let hash = match p.hash_seed_style {
        SeedStyle::Xor => hash.seed(seed.into()),
        SeedStyle::Prefix => hash.inputs(list![constant::<32>(u64::from(seed))]),
    };
    let hash = fields.items().fold(hash, |hash, item| match item {
        HashItem::Field(field) => hash.inputs([input(field)]),
        HashItem::Constant(value, width) => hash.inputs([ir::Expr::Const(value.into(), width)]),
    });
    hash.rotate(p.hash_rotate % W)
}

fn ipv4_field(field: Ipv4HashField, h: Headers) -> ir::Expr {
    match field {
        Ipv4HashField::Src => h.ipv4.src.into(),
        Ipv4HashField::Dst => h.ipv4.dst.into(),
        Ipv4HashField::Protocol => h.ipv4.protocol.into(),
        Ipv4HashField::SrcPort => h.m.src_port.into(),
        Ipv4HashField::DstPort => h.m.dst_port.into(),
        Ipv4HashField::Ttl => h.ipv4.ttl.into(),
        Ipv4HashField::IngressPort => h.port.ingress_port.into(),
        Ipv4HashField::Vlan => h.m.vid.into(),
        Ipv4HashField::Length => h.ipv4.total_len.into(),
        Ipv4HashField::Dscp => h.ipv4.dscp.into(),
        Ipv4HashField::Identification => h.ipv4.identification.into(),
    }
}

fn ipv6_field(field: Ipv6HashField, h: Headers) -> ir::Expr {
    match field {
        Ipv6HashField::Src => h.ipv6.src.into(),
        Ipv6HashField::Dst => h.ipv6.dst.into(),
        Ipv6HashField::NextHeader => h.ipv6.next_header.into(),
        Ipv6HashField::SrcPort => h.m.src_port.into(),
        Ipv6HashField::DstPort => h.m.dst_port.into(),
        Ipv6HashField::FlowLabel => h.ipv6.flow_label.into(),
        Ipv6HashField::HopLimit => h.ipv6.hop_limit.into(),
        Ipv6HashField::IngressPort => h.port.ingress_port.into(),
        Ipv6HashField::Vlan => h.m.vid.into(),
        Ipv6HashField::Length => h.ipv6.payload_len.into(),
        Ipv6HashField::Dscp => h.ipv6.dscp.into(),
    }
}
