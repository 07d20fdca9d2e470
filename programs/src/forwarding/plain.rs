//! Forwarding of frames without changes: IPv4 by longest prefix, anything else to one port.
//!
//! Contains the ingress headers, the ingress parser up to IP, the tables, and their default entries.

use super::{assign_queues, classes, elsewhere, send_elsewhere};
use sluice_build::net::ether_type::{IPV4, IPV6, VLAN};
use sluice_build::net::{Ethernet, Ipv4, Vlan};
use sluice_build::*;
use sluice_catalogue::setup::{Ops, SetupError, ipv4_prefix};
use std::net::Ipv4Addr;

/// Queues of IP packets by DSCP, as in SONiC's maps; any other DSCP gets [`OTHER_QUEUE`] (model: buffer §1.8).
/// Frames that are not IP use queue 0.
const QUEUES: [(u8, u8); 6] = [(3, 3), (4, 4), (5, 2), (8, 0), (46, 5), (48, 6)];
const OTHER_QUEUE: u8 = 1;

/// The first four bytes of an IPv6 header; the other 36 are not parsed
#[derive(Header, Debug)]
#[expect(dead_code, reason = "fields that no statement names")]
pub(crate) struct Ipv6Front {
    /// IP version: 6
    pub(crate) version: Bits<4>,
    /// Differentiated services code point
    pub(crate) dscp: Bits<6>,
    /// Explicit congestion notification
    pub(crate) ecn: Bits<2>,
    /// Flow label
    pub(crate) flow_label: Bits<20>,
}

/// Headers of ingress, and the parser state that programs extend.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Headers<'b> {
    pub(crate) ethernet: Hdr<Ethernet>,
    pub(crate) vlan: Hdr<Vlan>,
    pub(crate) ipv4: Hdr<Ipv4>,
    pub(crate) ipv6: Hdr<Ipv6Front>,
    /// Extracts the Ethernet header; a program adds transitions for further EtherTypes.
    pub(crate) parse_ethernet: StateRef<'b>,
}

/// Declares headers and parser states: Ethernet, one 802.1Q tag, IPv4 or IPv6.
#[stage_program]
pub(crate) fn headers<'b>(ig: &GressBuilder<'b>) -> Headers<'b> {
    let (ethernet, vlan) = (ig.header::<Ethernet>(), ig.header::<Vlan>());
    let (ipv4, ipv6) = (ig.header::<Ipv4>(), ig.header::<Ipv6Front>());
    let parse_ethernet = ig.state().extract(ethernet).select(ethernet.ether_type);
    let parse_vlan = ig.state().extract(vlan).select(vlan.ether_type);
    let parse_ipv4 = ig.state().extract(ipv4);
    let parse_ipv6 = ig.state().extract(ipv6);
    parse_ethernet.on(VLAN, parse_vlan);
    for state in [parse_ethernet, parse_vlan] {
        state.on(IPV4, parse_ipv4).on(IPV6, parse_ipv6);
    }
    Headers { ethernet, vlan, ipv4, ipv6, parse_ethernet }
}

/// The tables of forwarding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ForwardingTables {
    ipv4_route: TableRef,
    elsewhere: TableRef,
    ipv4_class: TableRef,
    ipv6_class: TableRef,
}

/// Declares the tables; `routes` is the size of the routing table.
#[stage_program]
pub(crate) fn tables(ig: &GressBuilder<'_>, h: Headers<'_>, routes: u32) -> ForwardingTables {
    let tm = ig.intrinsic::<tna::ForTm>();
    let Headers { ipv4, ipv6, .. } = h;
    let nowhere = ig.drop_label("No matching route, or a route whose action is `refuse`");
    let refuse = ig.action(|a| drop(nowhere));
    let to_port = ig.action(|a, port: Arg<9>| tm.ucast_egress_port = port);
    /// IPv4 longest prefix to egress port
    let ipv4_route =
        ig.table([lpm(ipv4.dst)]).actions([to_port, refuse]).default(refuse).size(routes).build();
    let elsewhere = elsewhere(ig);
    let [ipv4_class, ipv6_class] = classes(ig, ipv4.dscp, ipv6.dscp, OTHER_QUEUE.into());
    ForwardingTables { ipv4_route, elsewhere, ipv4_class, ipv6_class }
}

/// Chooses the egress port and queue of a data packet.
pub(crate) fn forward(c: &mut Control<'_>, h: Headers<'_>, t: ForwardingTables) {
    c.if_(h.ipv4.is_valid(), |c| {
        c.run(t.ipv4_route.apply());
        c.run(t.ipv4_class.apply());
    })
    .else_(|c| {
        c.run(t.elsewhere.apply());
        c.if_(h.ipv6.is_valid(), |c| c.run(t.ipv6_class.apply()));
    });
}

/// Adds the default entries: `routes` as (address, prefix length, dev_port); all else goes to the dev_port `other`.
pub(crate) fn entries(
    ops: &mut Ops<'_>,
    routes: &[(Ipv4Addr, u16, u16)],
    other: u16,
) -> Result<(), SetupError> {
    ops.entry("ipv4_route", [ipv4_prefix(Ipv4Addr::UNSPECIFIED, 0)], "to_port", [other.into()])?;
    for &(network, len, port) in routes {
        ops.entry("ipv4_route", [ipv4_prefix(network, len)], "to_port", [port.into()])?;
    }
    send_elsewhere(ops, other)?;
    assign_queues(ops, QUEUES)
}
