//! Ingress of `l3-ecmp`: VLAN, filter, route, group, next hop.

use super::Params;
use super::hashing::{Hashing, hashing};
use super::headers::{Headers, Meta, headers};
use crate::forwarding::classes;
use sluice_build::*;
use sluice_ir::Key;

/// A filter table, and its action that permits a packet.
#[derive(Clone, Copy, Debug)]
struct Acl {
    table: TableRef,
    permit: ActionRef,
}

/// The tables and actions of the control block.
#[derive(Clone, Copy, Debug)]
struct IngressTables {
    port_vlan: TableRef,
    vlan: TableRef,
    ipv4_acl: Acl,
    ipv6_acl: Acl,
    ipv4_route: TableRef,
    ipv6_route: TableRef,
    ecmp: TableRef,
    neighbor: TableRef,
    l2: TableRef,
    to_cpu: TableRef,
    untag: ActionRef,
    punt: ActionRef,
    punt_options: ActionRef,
}

/// Declares all of ingress.
#[stage_program]
pub(super) fn ingress(ig: &GressBuilder<'_>, p: &Params) {
    let h = headers(ig);
    let Headers { bridge, ethernet, vlan: tag, ipv4, ipv4_options, ipv6, l4, m, port } = h;
    let hash = hashing(ig, p, h);
    let t = tables(ig, p, h, hash);
    let (ipv4_permit, ipv6_permit) = (t.ipv4_acl.permit, t.ipv6_acl.permit);
    let [ipv4_class, ipv6_class] = classes(ig, ipv4.dscp, ipv6.dscp, 0);
    let ipv4_checksum = ig.drop_label("The IPv4 header checksum is wrong");
    /// Packets and bytes received, by dev_port
    let ports_in = ig.counter(512, CounterKind::PacketsAndBytes);

    ig.control(|c| {
        ports_in.count(port.ingress_port);
        bridge.set_valid();
        // A tag of VLAN 0 carries a priority only.
        if tag.is_valid() && tag.vid != 0 {
            m.vid = tag.vid;
        } else {
            t.port_vlan.apply();
        }
        if tag.is_valid() {
            t.untag.call();
        }
        t.vlan.apply();
        if ipv4.is_valid() {
            ipv4_class.apply();
            hash.ipv4.call();
            // With options the checksum covers more than was parsed.
            if ipv4.ihl != 5 {
                t.punt_options.call();
            } else if m.bad_checksum {
                drop(ipv4_checksum);
            } else {
                match t.ipv4_acl.table.apply().action_run() {
                    ipv4_permit => {
                        if ipv4.ttl <= 1 {
                            t.punt.call();
                        } else {
                            t.ipv4_route.apply();
                        }
                    }
                    _ => {}
                }
            }
        } else if ipv6.is_valid() {
            ipv6_class.apply();
            hash.ipv6.call();
            match t.ipv6_acl.table.apply().action_run() {
                ipv6_permit => {
                    if ipv6.hop_limit <= 1 {
                        t.punt.call();
                    } else {
                        t.ipv6_route.apply();
                    }
                }
                _ => {}
            }
        } else if m.arp {
            t.punt.call();
        } else {
            t.l2.apply();
        }

        if m.punt {
            t.to_cpu.apply();
        } else if m.routed {
            if m.group != 0 {
                t.ecmp.apply();
            }
            t.neighbor.apply();
            if ipv4.is_valid() {
                ipv4.ttl -= 1;
            } else if ipv6.is_valid() {
                ipv6.hop_limit -= 1;
            }
        }
    });

    ig.deparser()
        .checksum(ipv4, ipv4.checksum, ipv4.summed())
        .emit(bridge)
        .emit(ethernet)
        .emit(ipv4)
        .emit(ipv4_options)
        .emit(ipv6)
        .emit(l4);
}

#[stage_program]
fn tables(ig: &GressBuilder<'_>, p: &Params, h: Headers, hash: Hashing) -> IngressTables {
    let Headers { bridge, ethernet, vlan: tag, ipv4, ipv6, m, port, .. } = h;
    let tm = ig.intrinsic::<tna::ForTm>();
    let acl_deny = ig.drop_label("A filter rule denies the packet");
    let no_route = ig.drop_label("No matching route, or one with action `ipv4_no_route` or `ipv6_no_route`");
    let no_neighbor = ig.drop_label("The table `neighbor` has no entry for the next hop");
    let no_bridge_port = ig.drop_label("No port for this VLAN and destination MAC, and no default port");

    /// Removes the 802.1Q tag; egress adds one if the port sends the VLAN tagged
    let untag = ig.action(|a| {
        bridge.pcp = tag.pcp;
        bridge.dei = tag.dei;
        ethernet.ether_type = tag.ether_type;
        tag.set_invalid();
    });
    let set_vid = ig.action(|a, vid: Arg<12>| m.vid = vid);
    /// Ingress port to the VLAN of frames without a VLAN tag; without an entry VLAN 1
    let port_vlan =
        ig.table([exact(port.ingress_port)]).actions([set_vid]).default_with(set_vid, [1]).size(512).build();
    let set_vrf = ig.action(|a, vrf: Arg<8>| m.vrf = vrf);
    /// VLAN to routing table (VRF); without an entry VRF 0
    let vlan = ig.table([exact(m.vid)]).actions([set_vrf]).default_with(set_vrf, [0]).size(4096).build();

    let ports = [ternary(m.src_port), ternary(m.dst_port)];
    let ipv4_keys = [ternary(ipv4.src), ternary(ipv4.dst), ternary(ipv4.protocol), ports[0], ports[1]];
    let ipv4_acl = acl(ig, "ipv4", ipv4_keys, p.ipv4_acl_rules, m, acl_deny);
    let ipv6_keys = [ternary(ipv6.src), ternary(ipv6.dst), ternary(ipv6.next_header), ports[0], ports[1]];
    let ipv6_acl = acl(ig, "ipv6", ipv6_keys, p.ipv6_acl_rules, m, acl_deny);
    let ipv4_route = route(ig, "ipv4", [exact(m.vrf), lpm(ipv4.dst)], p.ipv4_routes, m, no_route);
    let ipv6_route = route(ig, "ipv6", [exact(m.vrf), lpm(ipv6.dst)], p.ipv6_routes, m, no_route);

    let set_nexthop = ig.action(|a, nexthop: Arg<16>| m.nexthop = nexthop);
    /// Group to the next hop that the flow hash picks; weights are repeated members
    let ecmp =
        ig.table([exact(m.group)]).actions([set_nexthop]).size(p.ecmp_groups).profile(hash.members).build();

    let unresolved = ig.action(|a| drop(no_neighbor));
    /// Addresses the frame to the next hop
    let rewrite = ig.action(|a, dst_mac: Arg<48>, src_mac: Arg<48>, port: Arg<9>, vid: Arg<12>| {
        ethernet.dst = dst_mac;
        ethernet.src = src_mac;
        tm.ucast_egress_port = port;
        bridge.vid = vid;
    });
    /// Next hop to MAC addresses, port and VLAN
    let neighbor =
        ig.table([exact(m.nexthop)]).actions([rewrite]).default(unresolved).size(p.neighbors).build();

    let no_port = ig.action(|a| drop(no_bridge_port));
    /// Sends the frame out of a port, in the VLAN on which it arrived
    let forward = ig.action(|a, port: Arg<9>| {
        tm.ucast_egress_port = port;
        bridge.vid = m.vid;
    });
    /// VLAN and destination MAC to port, for frames that are not IP; the default action has the port for unknown MACs
    let l2 = ig
        .table([exact(m.vid), exact(ethernet.dst)])
        .actions([forward])
        .default(no_port)
        .size(p.macs)
        .build();

    let punt = ig.action(|a| m.punt = 1);
    let send_to_cpu = ig.action(|a, port: Arg<9>| {
        tm.ucast_egress_port = port;
        bridge.vid = m.vid;
    });
    /// Port of the CPU; the control plane sets it
    let to_cpu = ig.table([]).actions([send_to_cpu]).default_with(send_to_cpu, [2]).build();
    IngressTables {
        port_vlan,
        vlan,
        ipv4_acl,
        ipv6_acl,
        ipv4_route,
        ipv6_route,
        ecmp,
        neighbor,
        l2,
        to_cpu,
        untag,
        punt,
        punt_options: punt_options(ig, h),
    }
}

/// Declares the action for IPv4 packets with options. The deparser's checksum covers 20 bytes, so the header moves to
/// an instance whose checksum the deparser does not update.
#[stage_program]
fn punt_options(ig: &GressBuilder<'_>, h: Headers) -> ActionRef {
    let Headers { ipv4, ipv4_options: options, m, .. } = h;
    ig.named("punt_options", "Sends a packet with IPv4 options to the CPU unchanged").action(|a| {
        m.punt = 1;
        ipv4.set_invalid();
        options.set_valid();
        options.version = ipv4.version;
        options.ihl = ipv4.ihl;
        options.dscp = ipv4.dscp;
        options.ecn = ipv4.ecn;
        options.total_len = ipv4.total_len;
        options.identification = ipv4.identification;
        options.flags = ipv4.flags;
        options.frag_offset = ipv4.frag_offset;
        options.ttl = ipv4.ttl;
        options.protocol = ipv4.protocol;
        options.checksum = ipv4.checksum;
        options.src = ipv4.src;
        options.dst = ipv4.dst;
    })
}

/// Declares the filter of one address family; a packet without a matching rule is permitted.
fn acl(ig: &GressBuilder<'_>, family: &str, keys: [Key; 5], rules: u32, m: Meta, deny: LabelRef) -> Acl {
    let name = |what: &str| format!("{family}_acl{what}");
    let hits =
        ig.named(&name("_hits"), "Packets and bytes, by rule").direct_counter(CounterKind::PacketsAndBytes);
    let permit = ig.named(&name("_permit"), "Permits the packet").action(|a| a.run(hits.count()));
    let deny = ig.named(&name("_deny"), "Drops the packet").action(|a| {
        a.run(hits.count());
        a.run(drop(deny));
    });
    let punt = ig.named(&name("_punt"), "Sends the packet to the CPU").action(|a| {
        a.run(hits.count());
        a.set(m.punt, 1);
    });
    let table = ig.named(&name(""), "Filter by addresses, protocol and ports; no match permits").table(keys);
    let table = table.actions([permit, deny, punt]).default(permit).size(rules).counter(hits).build();
    Acl { table, permit }
}

/// Declares the routing table of one address family.
fn route(
    ig: &GressBuilder<'_>,
    family: &str,
    keys: [Key; 2],
    routes: u32,
    m: Meta,
    no_route: LabelRef,
) -> TableRef {
    let name = |what: &str| format!("{family}_{what}");
    let hits = ig
        .named(&name("route_hits"), "Packets and bytes, by route")
        .direct_counter(CounterKind::PacketsAndBytes);
    let set_group = ig.named(&name("set_group"), "Routes to a member of a group").action(|a| {
        let group = a.arg::<16>("group");
        a.set(m.group, group);
        a.set(m.routed, 1);
        a.run(hits.count());
    });
    let set_nexthop = ig.named(&name("set_nexthop"), "Routes to one next hop").action(|a| {
        let nexthop = a.arg::<16>("nexthop");
        a.set(m.nexthop, nexthop);
        a.set(m.routed, 1);
        a.run(hits.count());
    });
    let punt = ig.named(&name("route_punt"), "To the CPU: the router's own address").action(|a| {
        a.set(m.punt, 1);
        a.run(hits.count());
    });
    let unreachable = ig.named(&name("no_route"), "Drops the packet").action(|a| {
        a.run(drop(no_route));
        a.run(hits.count());
    });
    let table = ig.named(&name("route"), "VRF and longest prefix to next hop or group").table(keys);
    let table = table.actions([set_group, set_nexthop, punt, unreachable]).default(unreachable);
    table.size(routes).counter(hits).build()
}
