//! Ingress of `l3-ecmp`: VLAN, ACL, routes, groups, neighbours.

use super::headers::{Bridge, FlowHash, L4Ports, Meta};
use super::params::{Params, SeedStyle};
use sluice_pipeline::build::net::{Ethernet, Ipv4, Ipv6, Vlan};
use sluice_pipeline::build::*;
use sluice_pipeline::ir::Expr as AnyExpr;

/// Ports that a dev_port can name.
const PORTS: u32 = 512;

/// What ingress parses.
#[derive(Clone, Copy)]
struct Parsed {
    bridge: Hdr<Bridge>,
    ethernet: Hdr<Ethernet>,
    vlan: Hdr<Vlan>,
    ipv4: Hdr<Ipv4>,
    ipv6: Hdr<Ipv6>,
    l4: Hdr<L4Ports>,
    m: Meta,
    ig: tna::Ingress,
    tm: tna::ForTm,
}

/// Ethernet, one VLAN tag, IPv4 or IPv6, ports. What is special is marked here, where it shows.
#[stage_program]
fn parser(ig: &GressBuilder<'_>) -> Parsed {
    let (bridge, ethernet, vlan) = (ig.header::<Bridge>(), ig.header::<Ethernet>(), ig.header::<Vlan>());
    let (ipv4, ipv6, l4) = (ig.header::<Ipv4>(), ig.header::<Ipv6>(), ig.header::<L4Ports>());
    let m = ig.metadata::<Meta>();

    let start = ig.state().extract(ethernet).select(ethernet.ether_type);
    let parse_vlan = ig.state().extract(vlan).select(vlan.ether_type);
    let parse_arp = ig.state().set(m.special, 1);
    let parse_ipv4 = ig
        .state()
        .extract(ipv4)
        .verify_checksum(m.bad_checksum, list![
            ipv4.version, ipv4.ihl, ipv4.dscp, ipv4.ecn, ipv4.total_len, ipv4.identification, ipv4.flags,
            ipv4.frag_offset, ipv4.ttl, ipv4.protocol, ipv4.checksum, ipv4.src, ipv4.dst,
        ])
        .select(list![ipv4.ihl, ipv4.frag_offset, ipv4.protocol]);
    let parse_ipv6 = ig.state().extract(ipv6).select(ipv6.next_header);
    let parse_ports = ig.state().extract(l4);
    // The header checksum covers the options, which no state extracts.
    let ipv4_options = ig.state().set(m.special, 1).set(m.bad_checksum, 0);

    for state in [start, parse_vlan] {
        state.on(0x0800, parse_ipv4).on(0x86dd, parse_ipv6).on(0x0806, parse_arp);
    }
    start.on(0x8100, parse_vlan);
    parse_ipv4
        .on_tuple([(5, 0xf), (0, 0x1fff), (6, 0xff)], parse_ports)
        .on_tuple([(5, 0xf), (0, 0x1fff), (17, 0xff)], parse_ports)
        .on_tuple([(5, 0xf), (0, 0), (0, 0)], Accept)
        .otherwise(ipv4_options);
    parse_ipv6.on(6, parse_ports).on(17, parse_ports);
    ig.start(start);

    let (ig_md, tm) = (ig.intrinsic::<tna::Ingress>(), ig.intrinsic::<tna::ForTm>());
    Parsed { bridge, ethernet, vlan, ipv4, ipv6, l4, m, ig: ig_md, tm }
}

/// The hash inputs named by a parameter, after the seed if that stands in front.
fn inputs(h: &Parsed, p: &Params, names: &[String], v6: bool) -> Vec<AnyExpr> {
    let mut list: Vec<AnyExpr> = Vec::new();
    if p.hash_seed_style == SeedStyle::Prefix {
        list.push(AnyExpr::Const(u128::from(p.hash_seed), 32));
    }
    let field = |name: &str| -> AnyExpr {
        match (name, v6) {
            ("src", false) => h.ipv4.src.into(),
            ("dst", false) => h.ipv4.dst.into(),
            ("src", true) => h.ipv6.src.into(),
            ("dst", true) => h.ipv6.dst.into(),
            ("protocol" | "next_header", false) => h.ipv4.protocol.into(),
            ("protocol" | "next_header", true) => h.ipv6.next_header.into(),
            ("ttl" | "hop_limit", false) => h.ipv4.ttl.into(),
            ("ttl" | "hop_limit", true) => h.ipv6.hop_limit.into(),
            ("dscp", false) => h.ipv4.dscp.into(),
            ("dscp", true) => h.ipv6.dscp.into(),
            ("length", false) => h.ipv4.total_len.into(),
            ("length", true) => h.ipv6.payload_len.into(),
            // IPv4 has no flow label: twenty zero bits.
            ("flow_label", false) => AnyExpr::Const(0, 20),
            ("flow_label", true) => h.ipv6.flow_label.into(),
            ("src_port", _) => h.l4.src_port.into(),
            ("dst_port", _) => h.l4.dst_port.into(),
            ("ingress_port", _) => h.ig.ingress_port.into(),
            // The parameter's own check leaves only "vlan".
            _ => h.vlan.vid.into(),
        }
    };
    list.extend(names.iter().map(|n| field(n)));
    list
}

/// Ingress with a hash of `W` bits.
#[stage_program]
pub(super) fn ingress<const W: u16>(ig: &GressBuilder<'_>, p: &Params) {
    let h = parser(ig);
    let Parsed { bridge, ethernet, vlan, ipv4, ipv6, l4, m, ig: ig_md, tm } = h;
    let flow = ig.metadata::<FlowHash<W>>();

    let ipv4_checksum = ig.drop_label("The IPv4 header checksum is wrong");
    let acl_deny = ig.drop_label("A rule of an ACL denies the packet");
    let no_route = ig.drop_label("No route to the destination");
    let no_neighbor = ig.drop_label("The next hop is not a known neighbour");

    let seed = if p.hash_seed_style == SeedStyle::Xor { u64::from(p.hash_seed) } else { 0 };
    let hash = |list: Vec<AnyExpr>, name: &str| {
        let start = ig.named(name, "").hash::<W>(p.hash_algorithm.0).seed(seed).rotate(p.hash_rotate);
        list.into_iter().fold(start, |h, input| h.inputs([input])).build()
    };
    let ipv4_hash = hash(inputs(&h, p, &p.hash_fields_v4.0, false), "ipv4_hash");
    let ipv6_hash = hash(inputs(&h, p, &p.hash_fields_v6.0, true), "ipv6_hash");
    /// The selector takes the hash as it is
    let member_hash = ig.hash::<W>("identity").inputs(list![flow.value]).build();

    /// Frames in, per ingress port
    let port_rx = ig.counter(PORTS, CounterKind::PacketsAndBytes);
    /// Packets per IPv4 route
    let ipv4_route_count = ig.direct_counter(CounterKind::PacketsAndBytes);
    /// Packets per IPv6 route
    let ipv6_route_count = ig.direct_counter(CounterKind::PacketsAndBytes);
    /// Packets per rule of the IPv4 ACL
    let ipv4_acl_count = ig.direct_counter(CounterKind::Packets);
    /// Packets per rule of the IPv6 ACL
    let ipv6_acl_count = ig.direct_counter(CounterKind::Packets);

    /// Puts untagged frames of a port into a VLAN
    let set_vid = ig.action(|a, vid: Arg<12>| m.vid = vid);
    /// Chooses the routing table
    let set_vrf = ig.action(|a, vrf: Arg<8>| m.vrf = vrf);
    /// VLAN of untagged frames, per port
    let port_vlan = ig.table([exact(ig_md.ingress_port)]).actions([set_vid]).default_with(set_vid, [1]).size(PORTS).build();
    /// VLAN to routing table
    let vlan_vrf = ig.table([exact(m.vid)]).actions([set_vrf]).default_with(set_vrf, [0]).size(4096).build();

    /// Lets the packet pass
    let ipv4_permit = ig.action(|a| ipv4_acl_count.count());
    /// Drops the packet
    let ipv4_deny = ig.action(|a| {
        ipv4_acl_count.count();
        drop(acl_deny);
    });
    /// Sends the packet to the CPU
    let ipv4_trap = ig.action(|a| {
        ipv4_acl_count.count();
        m.punt = 1;
    });
    /// Passes what no rule names
    let pass = ig.action(|_a| {});
    /// ACL of IPv4
    let ipv4_acl = ig
        .table([ternary(ipv4.src), ternary(ipv4.dst), ternary(ipv4.protocol), ternary(l4.src_port), ternary(l4.dst_port)])
        .actions([ipv4_permit, ipv4_deny, ipv4_trap])
        .default(pass)
        .counter(ipv4_acl_count)
        .size(p.acl_rules)
        .build();
    /// Lets the packet pass
    let ipv6_permit = ig.action(|a| ipv6_acl_count.count());
    /// Drops the packet
    let ipv6_deny = ig.action(|a| {
        ipv6_acl_count.count();
        drop(acl_deny);
    });
    /// Sends the packet to the CPU
    let ipv6_trap = ig.action(|a| {
        ipv6_acl_count.count();
        m.punt = 1;
    });
    /// ACL of IPv6
    let ipv6_acl = ig
        .table([ternary(ipv6.src), ternary(ipv6.dst), ternary(ipv6.next_header), ternary(l4.src_port), ternary(l4.dst_port)])
        .actions([ipv6_permit, ipv6_deny, ipv6_trap])
        .default(pass)
        .counter(ipv6_acl_count)
        .size(p.acl_rules)
        .build();

    /// Routes to a group of next hops
    let ipv4_to_group = ig.action(|a, group: Arg<12>| {
        ipv4_route_count.count();
        m.group = group;
        m.routed = 1;
    });
    /// Routes to one next hop
    let ipv4_to_nexthop = ig.action(|a, nexthop: Arg<16>| {
        ipv4_route_count.count();
        m.nexthop = nexthop;
        m.routed = 1;
    });
    /// Routes to the CPU
    let ipv4_to_cpu = ig.action(|a| {
        ipv4_route_count.count();
        m.punt = 1;
    });
    /// Drops what has no route
    let unrouted = ig.action(|a| drop(no_route));
    /// IPv4 routes
    let ipv4_route = ig
        .table([exact(m.vrf), lpm(ipv4.dst)])
        .actions([ipv4_to_group, ipv4_to_nexthop, ipv4_to_cpu])
        .default(unrouted)
        .counter(ipv4_route_count)
        .size(p.ipv4_routes)
        .build();
    /// Routes to a group of next hops
    let ipv6_to_group = ig.action(|a, group: Arg<12>| {
        ipv6_route_count.count();
        m.group = group;
        m.routed = 1;
    });
    /// Routes to one next hop
    let ipv6_to_nexthop = ig.action(|a, nexthop: Arg<16>| {
        ipv6_route_count.count();
        m.nexthop = nexthop;
        m.routed = 1;
    });
    /// Routes to the CPU
    let ipv6_to_cpu = ig.action(|a| {
        ipv6_route_count.count();
        m.punt = 1;
    });
    /// IPv6 routes
    let ipv6_route = ig
        .table([exact(m.vrf), lpm(ipv6.dst)])
        .actions([ipv6_to_group, ipv6_to_nexthop, ipv6_to_cpu])
        .default(unrouted)
        .counter(ipv6_route_count)
        .size(p.ipv6_routes)
        .build();

    /// Chooses the next hop
    let set_nexthop = ig.action(|a, nexthop: Arg<16>| m.nexthop = nexthop);
    /// Next hops and the groups of them
    let nexthop_profile = ig
        .profile(p.members)
        .selector(p.selection.0, member_hash, p.groups, p.max_group_size)
        .build();
    /// Group to next hop, by the hash of the flow
    let ecmp = ig
        .table([exact(m.group)])
        .actions([set_nexthop])
        .default(pass)
        .profile(nexthop_profile)
        .size(p.groups)
        .build();

    /// Sends the packet to its neighbour
    let rewrite = ig.action(|a, port: Arg<9>, dst: Arg<48>, src: Arg<48>, vid: Arg<12>| {
        tm.ucast_egress_port = port;
        ethernet.dst = dst;
        ethernet.src = src;
        bridge.vid = vid;
    });
    /// Drops what has no neighbour
    let unresolved = ig.action(|a| drop(no_neighbor));
    /// Next hop to neighbour: port and MAC addresses
    let neighbor = ig.table([exact(m.nexthop)]).actions([rewrite]).default(unresolved).size(p.nexthops).build();
    /// Bridges the frame to a port
    let bridge_to = ig.action(|a, port: Arg<9>| {
        tm.ucast_egress_port = port;
        bridge.vid = m.vid;
    });
    /// Frames that are not routed: VLAN and station to port
    let station = ig
        .table([exact(m.vid), exact(ethernet.dst)])
        .actions([bridge_to])
        .default_with(bridge_to, [0])
        .size(p.l2_entries)
        .build();
    /// Sends the packet to the CPU port, in the highest queue
    let to_cpu = ig.action(|a, port: Arg<9>| {
        tm.ucast_egress_port = port;
        tm.qid = 7;
        bridge.vid = m.vid;
    });
    /// Where the CPU is
    let cpu = ig.table([]).actions([to_cpu]).default_with(to_cpu, [0]).size(1).build();

    ig.control(|c| {
        port_rx.count(ig_md.ingress_port);
        bridge.set_valid();
        if vlan.is_valid() {
            m.vid = vlan.vid;
        } else {
            port_vlan.apply();
        }
        vlan_vrf.apply();
        if m.special == 1 {
            m.punt = 1;
        } else if ipv4.is_valid() {
            if m.bad_checksum == 1 {
                drop(ipv4_checksum);
            } else if ipv4.ttl <= 1 {
                m.punt = 1;
            } else {
                flow.value = ipv4_hash.get();
                ipv4_acl.apply();
                ipv4_route.apply();
                ipv4.ttl -= 1;
            }
        } else if ipv6.is_valid() {
            if ipv6.hop_limit <= 1 {
                m.punt = 1;
            } else {
                flow.value = ipv6_hash.get();
                ipv6_acl.apply();
                ipv6_route.apply();
                ipv6.hop_limit -= 1;
            }
        }
        if m.group != 0 {
            ecmp.apply();
        }
        if m.punt == 1 {
            cpu.apply();
        } else if m.routed == 1 {
            neighbor.apply();
        } else {
            station.apply();
        }
    });

    ig.deparser()
        .checksum(ipv4, ipv4.checksum, list![
            ipv4.version, ipv4.ihl, ipv4.dscp, ipv4.ecn, ipv4.total_len, ipv4.identification, ipv4.flags,
            ipv4.frag_offset, ipv4.ttl, ipv4.protocol, ipv4.src, ipv4.dst,
        ])
        .emit(bridge)
        .emit(ethernet)
        .emit(vlan)
        .emit(ipv4)
        .emit(ipv6)
        .emit(l4);
}
