//! Model of `ecmp` and `wcmp` in plain Rust: the fate of a frame from its bytes and the entries. Property `hash_pick` says
//! which member of the group sends the packet.

use crate::model::frame::{IPV4, TOO_SHORT, hop, parts};
use crate::model::{Entries, Expect, Model};

/// The model.
#[derive(Clone, Copy, Debug)]
pub(super) struct BalanceModel;

impl Model for BalanceModel {
    fn expect(&self, entries: &Entries<'_>, _: u16, frame: &[u8]) -> Expect {
        let Some(ether_type) = frame.get(12..14) else { return Expect::Ends(TOO_SHORT) };
        if ether_type != IPV4.to_be_bytes() {
            return Expect::Ends("not_ipv4");
        }
        let Some((parts, ip)) = parts(frame, false).and_then(|parts| Some((parts, parts.ip?))) else {
            return Expect::Ends(TOO_SHORT);
        };
        if !ip.checksum_ok {
            return Expect::Ends("ipv4_checksum");
        }
        if ip.hops <= 1 {
            return Expect::Ends("ttl_expired");
        }
        let route = entries.longest("ipv4_route", &[], (ip.dst, 32));
        let Some(route) = route.filter(|call| call.action == "set_group") else {
            return Expect::Ends("no_route");
        };
        let Some(group) = entries.group("group", route.arg(0)) else { return Expect::Unknown };
        let ports = group.members.iter().map(|member| member.port(0)).collect();
        let queue = entries.exact("class", &[ip.dscp.into()]).map_or(0, |call| call.arg(0) as u8);
        let mut bytes = frame.to_vec();
        hop(&mut bytes, parts.at, &ip);
        Expect::Sent { ports, queue: Some(queue), bytes: Some(bytes.into()), or: &[] }
    }
}
