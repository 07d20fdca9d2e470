//! Model of a spine in plain Rust: the fate of a frame from its bytes and the entries.

use crate::conweave::model::{Roce, bridged, roce};
use crate::conweave::wire::opcode;
use crate::forwarding::model::{after_hop, word};
use crate::model::frame::{IPV4, TOO_SHORT, parts};
use crate::model::{Bytes, Entries, Expect, Model};

/// The model.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpineModel;

impl Model for SpineModel {
    fn expect(&self, entries: &Entries<'_>, _: u16, frame: &[u8]) -> Expect {
        // The parser looks at the byte after the EtherType.
        let (Some(ether_type), Some(first)) = (word(frame, 12), frame.get(14)) else {
            return Expect::Ends(TOO_SHORT);
        };
        if ether_type != IPV4 || *first != 0x45 {
            return bridged(entries, frame);
        }
        let packet = roce(frame);
        if packet == Roce::TooShort {
            return Expect::Ends(TOO_SHORT);
        }
        // A segment whose ports are cut off is no matter of a spine, which reads UDP alone.
        let Some(ip) = parts(&[frame, &[0; 4]].concat(), false).and_then(|parts| parts.ip) else {
            return Expect::Ends(TOO_SHORT);
        };
        if !ip.checksum_ok {
            return Expect::Ends("bad_checksum");
        }
        if ip.hops <= 1 {
            return Expect::Ends("ttl_expired");
        }
        let route = entries.longest("route", &[], (ip.dst, 32));
        let Some(group) = route.filter(|call| call.action == "to_group").map(|call| call.arg(0)) else {
            return Expect::Ends("no_route");
        };
        let path = match packet {
            Roce::Bth { opcode: opcode::DATA, path, .. } => entries.exact("by_path", &[group, path.into()]),
            _ => None,
        };
        let ports = match path {
            Some(call) => vec![call.port(0)],
            None => {
                let Some(group) = entries.group("ecmp", group) else { return Expect::Unknown };
                group.members.iter().map(|member| member.port(0)).collect()
            }
        };
        let queue = entries.exact("class", &[ip.dscp.into()]).map_or(0, |call| call.arg(0) as u8);
        let bytes = Bytes {
            bytes: after_hop(&frame_with_ports(frame))[..frame.len()].to_vec(),
            free: Vec::new(),
            mark: Some((14, false)),
        };
        Expect::Sent { ports, queue: Some(queue), bytes: Some(bytes), or: &[] }
    }
}

/// Returns the frame with four bytes more, so that the ports of a cut TCP segment are there.
fn frame_with_ports(frame: &[u8]) -> Vec<u8> {
    [frame, &[0; 4]].concat()
}
