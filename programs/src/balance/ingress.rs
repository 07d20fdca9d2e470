//! The data plane: side, hash, route, group.

use super::hashing::{flow_hash, in_halves};
use super::headers::{Headers, Meta, headers};
use super::plan::Plan;
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
    /// Side that a port is on: packets from the north go down and hash with the second function
    let side = ig.table([exact(port.ingress_port)]).actions([north, south]).default(south).size(64).build();

    let no_route = ig.drop_label("No route covers the destination");
    let set_group = ig.action(|a, group: Arg<16>| m.group = group);
    let unreachable = ig.action(|a| drop(no_route));
    /// Longest prefix to group
    let ipv4_route = ig
        .table([lpm(ipv4.dst)])
        .actions([set_group, unreachable])
        .default(unreachable)
        .size(sizes.routes)
        .build();

    let mode = plan.selection.mode();
    /// Ports by entry; a port stands in as many entries as it has replicas
    let members = ig.profile(sizes.members);
    let doc = "The flow hash; repeated for the second and third try of a resilient selector";
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
    /// Group to the port that the flow hash picks
    let group = ig.table([exact(m.group)]).actions([to_port]).size(sizes.groups).profile(members).build();

    let not_ipv4 = ig.drop_label("The packet is no IPv4 packet");
    let ipv4_checksum = ig.drop_label("The IPv4 header checksum is wrong, or covers options");
    let ttl_expired = ig.drop_label("The time to live is used up");
    let refuse_other = ig.action(|a| drop(not_ipv4));
    let refuse_checksum = ig.action(|a| drop(ipv4_checksum));
    let refuse_ttl = ig.action(|a| drop(ttl_expired));

    ig.control(|c| {
        side.apply();
        if ipv4.is_valid() {
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

/// The sixteen bits that a selector's hash repeats.
fn whole_hash<const W: u16>(hash: HashBuilder<'_, W>, m: Meta, halves: bool) -> HashBuilder<'_, W> {
    if halves { hash.inputs(list![m.hash_high, m.hash_low]) } else { hash.inputs(list![m.flow_hash]) }
}

/// Declares all of egress: packets pass.
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
