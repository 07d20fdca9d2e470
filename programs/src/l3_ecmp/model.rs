//! Model of `l3-ecmp` in plain Rust: the fate of a frame from its bytes and the entries (model: hashing §1, §6).

use super::Params;
use super::hash_params::{HashChoice, HashSeed, Selection};
use crate::model::frame::{Ip, Parts, TOO_SHORT, hop, parts, write_checksum};
use crate::model::hash::{Message, crc_32};
use crate::model::{Call, Entries, Expect, Model};

const ARP: u16 = 0x0806;
/// Bits of the flow hash that pick a member.
const HASH_BITS: u32 = 14;

/// The model, with what parameters change.
#[derive(Clone, Copy, Debug)]
pub(super) struct L3Model {
    /// True if the flow hash is that of the default parameters.
    known_hash: bool,
}

/// The decision on a frame before it gets its tag.
enum Decision {
    Ends(&'static str),
    /// To the CPU, in the VLAN on which the frame arrived.
    Punt,
    /// To these next hops, one of which the hash picks.
    Routed(Vec<u128>),
    /// Bridged.
    Bridged(u16),
}

impl L3Model {
    /// Returns the model of a program with these parameters.
    pub(super) fn new(p: &Params) -> L3Model {
        let d = Params::default();
        let known_hash = p.hash_fields_v4 == d.hash_fields_v4
            && p.hash_fields_v6 == d.hash_fields_v6
            && p.hash_algorithm == HashChoice::CRC_32
            && p.hash_seed == HashSeed(0)
            && p.hash_rotate == 0
            && p.selection == Selection::Fair
            && u32::from(p.flow_hash_width()) == HASH_BITS;
        L3Model { known_hash }
    }

    /// Returns the next hops that a route's action allows.
    fn next_hops(self, entries: &Entries<'_>, ip: &Ip, route: Call<'_>) -> Vec<u128> {
        if route.action.ends_with("set_nexthop") {
            return vec![route.arg(0)];
        }
        let Some(group) = entries.group("ecmp", route.arg(0)) else { return vec![0] };
        let hops: Vec<u128> = group.members.iter().map(|member| member.arg(0)).collect();
        if !group.whole || !self.known_hash {
            return hops;
        }
        let hash = crc_32(&flow(ip)) & ((1 << HASH_BITS) - 1);
        hops.get(hash as usize % hops.len().max(1)).copied().into_iter().collect()
    }

    fn decide(self, entries: &Entries<'_>, vid: u128, frame: &[u8], parts: &Parts) -> Decision {
        let Some(ip) = parts.ip else { return bridge(entries, vid, frame, parts) };
        if ip.options {
            return Decision::Punt;
        }
        if !ip.checksum_ok {
            return Decision::Ends("ipv4_checksum");
        }
        let family = if ip.v6 { "ipv6" } else { "ipv4" };
        let fields = [ip.src, ip.dst, ip.protocol.into(), ip.src_port.into(), ip.dst_port.into()];
        let filter = entries.ternary(&format!("{family}_acl"), &fields).map_or("permit", |call| call.action);
        if filter.ends_with("deny") {
            return Decision::Ends("acl_deny");
        }
        if filter.ends_with("punt") || ip.hops <= 1 {
            return Decision::Punt;
        }
        let vrf = entries.exact("vlan", &[vid]).map_or(0, |call| call.arg(0));
        let address = (ip.dst, if ip.v6 { 128 } else { 32 });
        match entries.longest(&format!("{family}_route"), &[vrf], address) {
            Some(route) if route.action.ends_with("no_route") => Decision::Ends("no_route"),
            Some(route) if route.action.ends_with("punt") => Decision::Punt,
            Some(route) => Decision::Routed(self.next_hops(entries, &ip, route)),
            None => Decision::Ends("no_route"),
        }
    }
}

/// Returns the message whose check is the flow hash.
fn flow(ip: &Ip) -> Message {
    let five = Message::five_tuple(ip);
    if ip.v6 { five.with(ip.flow_label.into(), 20) } else { five }
}

fn bridge(entries: &Entries<'_>, vid: u128, frame: &[u8], parts: &Parts) -> Decision {
    if parts.ether_type == ARP {
        return Decision::Punt;
    }
    let mac = frame.iter().take(6).fold(0, |value, byte| value << 8 | u128::from(*byte));
    let known = entries.exact("l2", &[vid, mac]);
    match known {
        Some(call) if call.action == "forward" => Decision::Bridged(call.port(0)),
        _ => Decision::Ends("no_bridge_port"),
    }
}

/// Adds the 802.1Q tag if the port sends this VLAN tagged.
fn tagged(entries: &Entries<'_>, (port, vid): (u16, u128), priority: u16, mut frame: Vec<u8>) -> Vec<u8> {
    let out = entries.exact("port_vlan_out", &[port.into(), vid]);
    if out.is_some_and(|call| call.action == "tagged") {
        let tag = (priority & 0xf000) | vid as u16;
        let [high, low] = tag.to_be_bytes();
        frame.splice(12..12, [0x81, 0, high, low]);
    }
    frame
}

impl Model for L3Model {
    fn expect(&self, entries: &Entries<'_>, port: u16, frame: &[u8]) -> Expect {
        let Some(parts) = parts(frame, true) else { return Expect::Ends(TOO_SHORT) };
        let untagged_vid = || entries.exact("port_vlan", &[port.into()]).map_or(1, |call| call.arg(0));
        let vid = parts.tag.map(|tag| u128::from(tag & 0xfff)).filter(|vid| *vid != 0);
        let vid = vid.unwrap_or_else(untagged_vid);
        let mut inner = frame.to_vec();
        if parts.tag.is_some() {
            inner.drain(12..16);
        }
        // A switch that parsed the header writes its checksum anew.
        if parts.ip.is_some_and(|ip| !ip.v6 && !ip.options) {
            write_checksum(&mut inner, 14);
        }
        let priority = parts.tag.unwrap_or(0);
        let class = |ip: Ip| {
            let table = if ip.v6 { "ipv6_class" } else { "ipv4_class" };
            entries.exact(table, &[ip.dscp.into()]).map_or(0, |call| call.arg(0) as u8)
        };
        let queue = Some(parts.ip.map_or(0, class));
        let sent = |port: u16, bytes: Vec<u8>| Expect::Sent {
            ports: vec![port],
            queue,
            bytes: Some(bytes.into()),
            or: &[],
        };
        match self.decide(entries, vid, frame, &parts) {
            Decision::Ends(reason) => Expect::Ends(reason),
            Decision::Punt => {
                let cpu = entries.default("to_cpu").map_or(2, |call| call.port(0));
                sent(cpu, tagged(entries, (cpu, vid), priority, inner))
            }
            Decision::Bridged(port) => sent(port, tagged(entries, (port, vid), priority, inner)),
            Decision::Routed(hops) => {
                if let Some(ip) = parts.ip {
                    hop(&mut inner, 14, &ip);
                }
                routed(entries, &hops, |call| {
                    let mut bytes = inner.clone();
                    bytes[..6].copy_from_slice(&call.arg(0).to_be_bytes()[10..]);
                    bytes[6..12].copy_from_slice(&call.arg(1).to_be_bytes()[10..]);
                    sent(call.port(2), tagged(entries, (call.port(2), call.arg(3)), priority, bytes))
                })
            }
        }
    }
}

/// Returns the verdict on a packet for one of these next hops.
fn routed(entries: &Entries<'_>, hops: &[u128], to: impl Fn(Call<'_>) -> Expect) -> Expect {
    let neighbors: Vec<Option<Call<'_>>> =
        hops.iter().map(|hop| entries.exact("neighbor", &[*hop])).collect();
    match neighbors.as_slice() {
        [] => Expect::Unknown,
        [None] => Expect::Ends("no_neighbor"),
        [Some(call)] => to(*call),
        many => {
            let ports: Option<Vec<u16>> = many.iter().map(|call| Some((*call)?.port(2))).collect();
            ports.map_or(Expect::Unknown, |ports| Expect::Sent { ports, queue: None, bytes: None, or: &[] })
        }
    }
}
