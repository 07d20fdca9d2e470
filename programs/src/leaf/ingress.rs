//! The parts of ingress around the choice of an uplink: flow hash and route before the choice, the candidate in its
//! middle, port, TTL and deparser after it.

use super::headers::{Headers, Meta, headers};
use super::{FIRST_GENERATION, Knows, Sizes};
use crate::forwarding::classes;
use sluice_build::*;

/// Headers, metadata, tables and labels that the parts of the control block share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaf {
    pub(crate) h: Headers,
    pub(crate) m: Meta,
    tables: IngressTables,
    labels: Labels,
}

#[derive(Clone, Copy, Debug)]
struct IngressTables {
    /// Actions that compute the flow hash, for IPv4 and for IPv6; `None` if the program does not need the hash.
    flow: Option<[ActionRef; 2]>,
    ipv4_route: TableRef,
    ipv6_route: TableRef,
    generation: Option<TableRef>,
    pick: TableRef,
    uplink: TableRef,
    /// DSCP to queue and traffic class, for IPv4 and for IPv6.
    class: [TableRef; 2],
}

#[derive(Clone, Copy, Debug)]
struct Labels {
    checksum: LabelRef,
    ttl: LabelRef,
    not_ip: LabelRef,
}

/// Declares headers, parser and tables of a leaf, as far as `knows` requires them. Also returns the parser state that
/// extracts Ethernet: the caller starts there, or continues there after the program's outer headers.
#[stage_program]
pub(crate) fn declare<'b>(ig: &GressBuilder<'b>, sizes: Sizes, knows: Knows) -> (Leaf, StateRef<'b>) {
    let (h, start) = headers(ig, knows);
    let Headers { ipv4, ipv6, m, .. } = h;
    let tm = ig.intrinsic::<tna::ForTm>();

    let flow = knows.flow().then(|| hashes(ig, &h));

    let no_route = ig.drop_label("No matching route, or a route whose action is `unreachable`");
    let unreachable = ig.action(|a| drop(no_route));
    /// Sends the packet over an uplink of this group
    let set_group = ig.action(|a, group: Arg<16>| {
        m.group = group;
        m.routed = 1;
    });
    /// Sends the packet to the only port of the route; no uplink is chosen or remembered
    let to_port = ig.action(|a, port: Arg<9>| {
        tm.ucast_egress_port = port;
        m.routed = 1;
    });
    /// IPv4 longest prefix to uplink group or egress port
    let ipv4_route = ig
        .table([lpm(ipv4.dst)])
        .actions([set_group, to_port, unreachable])
        .default(unreachable)
        .size(sizes.routes)
        .build();
    /// IPv6 longest prefix to uplink group or egress port
    let ipv6_route = ig
        .table([lpm(ipv6.dst)])
        .actions([set_group, to_port, unreachable])
        .default(unreachable)
        .size(sizes.routes.div_ceil(4))
        .build();

    let generation = knows.generation().then(|| generation(ig, m, sizes.groups));
    let no_uplink = ig.drop_label("No uplink of the group is up");
    let stranded = ig.action(|a| drop(no_uplink));
    /// Proposes a member: its number within the group, and its egress port
    let propose = ig.action(|a, member: Arg<16>, port: Arg<9>| {
        m.member = member;
        tm.ucast_egress_port = port;
        if knows.generation() {
            m.candidate = m.generation | member.cast::<32>();
        }
    });
    /// The draw, unchanged, as the selector's input
    let draw = ig.hash::<16>(HashAlgorithm::Identity).inputs(list![m.draw]).build();
    /// Uplinks of all groups; an uplink of weight w is w members with the same port
    let uplinks = ig.profile(sizes.members);
    let uplinks = uplinks.selector(SelectorMode::Fair, draw, sizes.groups, 120).build();
    /// Uplink group to candidate: the member that the draw picks among those that are up
    let pick = ig
        .table([exact(m.group)])
        .actions([propose])
        .default(stranded)
        .size(sizes.groups)
        .profile(uplinks)
        .build();
    let to_uplink = ig.action(|a, port: Arg<9>| tm.ucast_egress_port = port);
    /// Uplink group and member number to egress port; without an entry the candidate's port is used
    let uplink = ig.table([exact(m.group), exact(m.member)]).actions([to_uplink]).size(sizes.members).build();
    let class = classes(ig, ipv4.dscp, ipv6.dscp, 0);
    let tables = IngressTables { flow, ipv4_route, ipv6_route, generation, pick, uplink, class };

    let ipv4_checksum = ig.drop_label("The IPv4 header checksum is wrong, or the header has options");
    let ttl_expired = ig.drop_label("The TTL or hop limit is 0 or 1");
    let not_ip = ig.drop_label("The packet is neither IPv4 nor IPv6");
    let labels = Labels { checksum: ipv4_checksum, ttl: ttl_expired, not_ip };
    (Leaf { h, m, tables, labels }, start)
}

/// Declares the flow hashes of IPv4 and IPv6.
#[stage_program]
fn hashes(ig: &GressBuilder<'_>, h: &Headers) -> [ActionRef; 2] {
    let Headers { ipv4, ipv6, m, .. } = *h;
    let ipv4_flow = ig
        .hash::<32>("crc_32")
        .inputs(list![ipv4.src, ipv4.dst, ipv4.protocol, m.src_port, m.dst_port])
        .build();
    let ipv6_flow = ig
        .hash::<32>("crc_32")
        .inputs(list![ipv6.src, ipv6.dst, ipv6.next_header, m.src_port, m.dst_port])
        .build();
    /// Computes the flow hash of an IPv4 packet
    let hash_ipv4 = ig.action(|a| m.flow = ipv4_flow.get());
    /// Computes the flow hash of an IPv6 packet
    let hash_ipv6 = ig.action(|a| m.flow = ipv6_flow.get());
    [hash_ipv4, hash_ipv6]
}

/// Declares the table of the groups' generations, by which members remembered before a group's change are recognised.
#[stage_program]
fn generation(ig: &GressBuilder<'_>, m: Meta, groups: u32) -> TableRef {
    let set_generation = ig.action(|a, generation: Arg<32>| m.generation = generation);
    let doc = "Uplink group to its generation * 65536; raised when a member goes down, so that it expires";
    ig.named("generation", doc)
        .table([exact(m.group)])
        .actions([set_generation])
        .default_with(set_generation, [FIRST_GENERATION])
        .size(groups)
        .build()
}

/// Adds the first part of the control block: flow hash, checks of checksum and TTL, route.
#[stage_program]
pub(crate) fn route(ig: &GressBuilder<'_>, leaf: Leaf) {
    let Headers { ipv4, ipv6, m, .. } = leaf.h;
    let (t, labels) = (leaf.tables, leaf.labels);
    let [ipv4_flow, ipv6_flow] = [t.flow.map(|[ipv4, _]| ipv4), t.flow.map(|[_, ipv6]| ipv6)];
    let [ipv4_class, ipv6_class] = t.class;
    ig.control(|c| {
        if ipv4.is_valid() {
            ipv4_class.apply();
            for hash in ipv4_flow.iter() {
                hash.call();
            }
            if m.bad_checksum {
                drop(labels.checksum);
            } else if ipv4.ttl <= 1 {
                drop(labels.ttl);
            } else {
                t.ipv4_route.apply();
            }
        } else if ipv6.is_valid() {
            ipv6_class.apply();
            for hash in ipv6_flow.iter() {
                hash.call();
            }
            if ipv6.hop_limit <= 1 {
                drop(labels.ttl);
            } else {
                t.ipv6_route.apply();
            }
        }
    });
}

/// Adds the second part, after the draw: the candidate.
#[stage_program]
pub(crate) fn propose(ig: &GressBuilder<'_>, leaf: Leaf) {
    let (m, t) = (leaf.m, leaf.tables);
    if let Some(generation) = t.generation {
        ig.control(|c| {
            if m.group != 0 {
                generation.apply();
            }
        });
    }
    ig.control(|c| {
        if m.group != 0 {
            t.pick.apply();
        }
    });
}

/// Adds the last part: egress port, TTL, deparser.
#[stage_program]
pub(crate) fn send<'b>(ig: &GressBuilder<'b>, leaf: Leaf) -> Deparser<'b> {
    finish(ig, leaf);
    deparse(ig.deparser(), leaf)
}

/// Emits a leaf's headers after those that `deparser` already emits.
pub(crate) fn deparse(deparser: Deparser<'_>, leaf: Leaf) -> Deparser<'_> {
    let Headers { ethernet, ipv4, ipv6, l4, .. } = leaf.h;
    deparser.checksum(ipv4, ipv4.checksum, ipv4.summed()).emit(ethernet).emit(ipv4).emit(ipv6).emit(l4)
}

/// Adds the control part of [`send`]: egress port and TTL.
#[stage_program]
pub(crate) fn finish(ig: &GressBuilder<'_>, leaf: Leaf) {
    let Headers { ipv4, ipv6, m, .. } = leaf.h;
    let (t, labels) = (leaf.tables, leaf.labels);
    ig.control(|c| {
        if m.group != 0 {
            t.uplink.apply();
        }
        if m.routed {
            if ipv4.is_valid() {
                ipv4.ttl -= 1;
            } else if ipv6.is_valid() {
                ipv6.hop_limit -= 1;
            }
        } else if !ipv4.is_valid() && !ipv6.is_valid() && m.made == 0 {
            drop(labels.not_ip);
        }
    });
}

/// Declares egress, which counts packets and changes nothing.
#[stage_program]
pub(crate) fn egress(eg: &GressBuilder<'_>) {
    let ethernet = eg.header::<sluice_build::net::Ethernet>();
    let port = eg.intrinsic::<tna::Egress>();
    let start = eg.state().extract(ethernet);
    eg.start(start);
    /// Packets and bytes sent, by dev_port
    let ports_out = eg.counter(512, CounterKind::PacketsAndBytes);
    eg.control(|c| {
        ports_out.count(port.egress_port);
    });
    eg.deparser().emit(ethernet);
}
