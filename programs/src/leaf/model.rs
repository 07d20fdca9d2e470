//! Model of a leaf in plain Rust: the fate of a frame from its bytes and the entries. The uplink is any one of the group;
//! programs have further properties for their choice.

use crate::model::frame::{Ip, TOO_SHORT, hop, parts};
use crate::model::hash::{Message, crc_32};
use crate::model::{Entries, Expect, Judge, Model};
use sluice_catalogue::properties::forwarding;
use sluice_switch::property::Property;

/// The model of a program without outer headers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeafModel;

/// Returns the properties of a leaf whose choice of an uplink the model does not know.
pub(crate) fn properties() -> Vec<Box<dyn Property>> {
    let mut list = forwarding();
    list.push(Box::new(Judge::new(LeafModel)));
    list
}

/// Route of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// The packet ends for this reason.
    Ends(&'static str),
    /// To one port.
    Port(u16),
    /// Over an uplink of this group.
    Group(u128),
}

/// Returns the route of an IP packet.
pub(crate) fn way(entries: &Entries<'_>, ip: &Ip) -> Way {
    if !ip.checksum_ok {
        return Way::Ends("ipv4_checksum");
    }
    if ip.hops <= 1 {
        return Way::Ends("ttl_expired");
    }
    let (table, width) = if ip.v6 { ("ipv6_route", 128) } else { ("ipv4_route", 32) };
    match entries.longest(table, &[], (ip.dst, width)) {
        Some(call) if call.action == "to_port" => Way::Port(call.port(0)),
        Some(call) if call.action == "set_group" => Way::Group(call.arg(0)),
        _ => Way::Ends("no_route"),
    }
}

/// Returns the ports of a group's uplinks that are up.
pub(crate) fn uplinks(entries: &Entries<'_>, group: u128) -> Vec<u16> {
    entries
        .group("pick", group)
        .map_or_else(Vec::new, |group| group.members.iter().map(|m| m.port(1)).collect())
}

impl Model for LeafModel {
    fn expect(&self, entries: &Entries<'_>, _: u16, frame: &[u8]) -> Expect {
        let Some(parts) = parts(frame, false) else { return Expect::Ends(TOO_SHORT) };
        let Some(ip) = parts.ip else { return Expect::Ends("not_ip") };
        let ports = match way(entries, &ip) {
            Way::Ends(reason) => return Expect::Ends(reason),
            Way::Port(port) => vec![port],
            Way::Group(group) => uplinks(entries, group),
        };
        if ports.is_empty() {
            return Expect::Ends("no_uplink");
        }
        let table = if ip.v6 { "ipv6_class" } else { "ipv4_class" };
        let queue = entries.exact(table, &[ip.dscp.into()]).map_or(0, |call| call.arg(0) as u8);
        let mut bytes = frame.to_vec();
        hop(&mut bytes, parts.at, &ip);
        Expect::Sent { ports, queue: Some(queue), bytes: Some(bytes.into()), or: &[] }
    }
}

/// Returns the hash of the packet's flow: CRC-32 of addresses, protocol and ports.
pub(crate) fn flow_hash(ip: &Ip) -> u32 {
    crc_32(&Message::five_tuple(ip))
}
