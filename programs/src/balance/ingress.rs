//! The data plane: side, hash, route, group.

use super::hashing::{flow_hash, in_halves};
use super::headers::{Headers, Meta, headers};
use super::plan::Plan;
use crate::forwarding::class;
use sluice_build::net::Ethernet;
use sluice_build::*;

/// Table sizes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(super) routes: u32,
    pub(super) groups: u32,
    pub(super) members: u32,
}

/// Declares all of ingress.
#[stage_program]
pub(super) fn ingress(ig: &GressBuilder<'_>, plan: &Plan, sizes: Sizes) {
    let h = headers(ig);
    let Headers { ethernet, ipv4, l4, m, port } = h;
    let tm = ig.intrinsic::<tna::ForTm>();
    let halves = [&plan.north, &plan.south].iter().any(|side| in_halves(&side.setting));
    let up = flow_hash(ig, "up", plan.north.setting, h, halves);
    let down = flow_hash(ig, "down", plan.south.setting, h, halves);

    let north = ig.action(|a| m.from_north = 1);
    let south = ig.action(|_a| {});
    /// Ingress port to its side; packets from the north use the flow hash for the way down; without an entry south
    let side = ig.table([exact(port.ingress_port)]).actions([north, south]).default(south).size(64).build();

    let no_route = ig.drop_label("No matching route, or a route whose action is `unreachable`");
    let set_group = ig.action(|a, group: Arg<16>| m.group = group);
    let unreachable = ig.action(|a| drop(no_route));
    /// IPv4 longest prefix to group of ports
    let ipv4_route = ig
        .table([lpm(ipv4.dst)])
        .actions([set_group, unreachable])
        .default(unreachable)
        .size(sizes.routes)
        .build();

    let mode = plan.selection.mode();
    /// Egress ports by entry of the member table; a port has as many entries as replicas
    let members = ig.profile(sizes.members);
    let doc = "The flow hash as the selector's input, repeated for the second and third try if resilient";
    let members = if mode == SelectorMode::Resilient {
        let hash = whole_hash(ig.named("member_hash", doc).hash::<51>(HashAlgorithm::Identity), m, halves);
        members.selector(mode, hash.build(), sizes.groups, 120).build()
    } else {
        let hash = whole_hash(ig.named("member_hash", doc).hash::<16>(HashAlgorithm::Identity), m, halves);
        members.selector(mode, hash.build(), sizes.groups, 120).build()
    };
    let to_port = ig.action(|a, port: Arg<9>| {
        tm.ucast_egress_port = port;
        ipv4.ttl -= 1;
    });
    /// Group to the egress port that the flow hash picks
    let group = ig.table([exact(m.group)]).actions([to_port]).size(sizes.groups).profile(members).build();

    let class = class(ig, ipv4.dscp);
    let not_ipv4 = ig.drop_label("The packet is not IPv4");
    let ipv4_checksum = ig.drop_label("The IPv4 header checksum is wrong, or the header has options");
    let ttl_expired = ig.drop_label("The TTL is 0 or 1");
    let refuse_other = ig.action(|a| drop(not_ipv4));
    let refuse_checksum = ig.action(|a| drop(ipv4_checksum));
    let refuse_ttl = ig.action(|a| drop(ttl_expired));

    ig.control(|c| {
        side.apply();
        if ipv4.is_valid() {
            class.apply();
            if m.from_north == 1 {
                down.call();
            } else {
                up.call();
            }
            if m.bad_checksum {
                refuse_checksum.call();
            } else if ipv4.ttl <= 1 {
                refuse_ttl.call();
            } else {
                match ipv4_route.apply().action_run() {
                    set_group => {
                        group.apply();
                    }
                    _ => {}
                }
            }
        } else {
            refuse_other.call();
        }
    });

    ig.deparser().checksum(ipv4, ipv4.checksum, ipv4.summed()).emit(ethernet).emit(ipv4).emit(l4);
}

/// Adds the 16 bits of the flow hash, whole or in halves, as input of the selector's hash.
fn whole_hash<const W: u16>(hash: HashBuilder<'_, W>, m: Meta, halves: bool) -> HashBuilder<'_, W> {
    if halves { hash.inputs(list![m.hash_high, m.hash_low]) } else { hash.inputs(list![m.flow_hash]) }
}

/// Declares egress, which counts packets and changes nothing.
#[stage_program]
pub(super) fn egress(eg: &GressBuilder<'_>) {
    let ethernet = eg.header::<Ethernet>();
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
