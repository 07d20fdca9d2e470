//! Models of forwarding in plain Rust: the fate of a frame from its bytes and the entries.

use crate::model::frame::{IPV4, IPV6, TOO_SHORT, hop, parts};
use crate::model::hash::{Message, crc_16};
use crate::model::{ANY, Bytes, Entries, Expect, Model};

const VLAN: u16 = 0x8100;
/// Queue of IP packets whose DSCP has no entry in programs that forward frames unchanged.
const OTHER_QUEUE: u8 = 1;
/// The selector's input: bits of the flow hash.
const SELECTOR_BITS: u16 = 0x3fff;

/// A frame for [`plain`](super::plain).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The frame ends inside a header.
    TooShort,
    /// IPv4 at this position, with this destination and DSCP.
    Ipv4(usize, u128, u8),
    /// IPv6 at this position, with this DSCP.
    Ipv6(usize, u8),
    /// Any other frame.
    Other,
}

/// Returns a 16-bit word of a frame.
pub(crate) fn word(frame: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*frame.get(at)?, *frame.get(at + 1)?]))
}

/// Returns the kind of a frame.
pub(crate) fn kind(frame: &[u8]) -> Kind {
    let inner = |ether_type: u16, at: usize| match ether_type {
        IPV4 => {
            let Some(ip) = frame.get(at..at + 20) else { return Kind::TooShort };
            let destination = ip[16..20].iter().fold(0, |value, byte| value << 8 | u128::from(*byte));
            Kind::Ipv4(at, destination, ip[1] >> 2)
        }
        IPV6 => match frame.get(at..at + 4) {
            Some(ip) => Kind::Ipv6(at, (ip[0] << 2 | ip[1] >> 6) & 0x3f),
            None => Kind::TooShort,
        },
        _ => Kind::Other,
    };
    match word(frame, 12) {
        None => Kind::TooShort,
        Some(VLAN) => word(frame, 16).map_or(Kind::TooShort, |ether_type| inner(ether_type, 18)),
        Some(ether_type) => inner(ether_type, 14),
    }
}

/// Returns port and queue of a frame; `None` if it is too short or has no route.
pub(crate) fn place(entries: &Entries<'_>, kind: Kind) -> Option<(u16, u8)> {
    let class =
        |table, dscp: u8| entries.exact(table, &[dscp.into()]).map_or(OTHER_QUEUE, |call| call.arg(0) as u8);
    let elsewhere = || entries.default("elsewhere").map(|call| call.port(0));
    match kind {
        Kind::TooShort => None,
        Kind::Ipv4(_, destination, dscp) => {
            let route = entries.longest("ipv4_route", &[], (destination, 32))?;
            (route.action == "to_port").then(|| (route.port(0), class("ipv4_class", dscp)))
        }
        Kind::Ipv6(_, dscp) => Some((elsewhere()?, class("ipv6_class", dscp))),
        Kind::Other => Some((elsewhere()?, 0)),
    }
}

/// Model of a program that forwards frames unchanged, but for an ECN mark if `marks`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlainModel {
    /// True if the program marks packets.
    pub(crate) marks: bool,
    /// Reasons for which a packet may end instead of being sent.
    pub(crate) or: &'static [&'static str],
}

impl PlainModel {
    /// Returns the verdict on a frame.
    pub(crate) fn frame(self, entries: &Entries<'_>, frame: &[u8]) -> Expect {
        let kind = kind(frame);
        match (kind, place(entries, kind)) {
            (Kind::TooShort, _) => Expect::Ends(TOO_SHORT),
            (_, Some((port, queue))) => {
                let mark = match kind {
                    Kind::Ipv4(at, ..) => Some((at, false)).filter(|_| self.marks),
                    Kind::Ipv6(at, _) => Some((at, true)).filter(|_| self.marks),
                    _ => None,
                };
                let bytes = Some(Bytes { bytes: frame.to_vec(), free: Vec::new(), mark });
                Expect::Sent { ports: vec![port], queue: Some(queue), bytes, or: self.or }
            }
            (Kind::Ipv4(..), None) => Expect::Ends("nowhere"),
            (_, None) => Expect::Ends("no_egress_port"),
        }
    }
}

impl Model for PlainModel {
    fn expect(&self, entries: &Entries<'_>, _: u16, frame: &[u8]) -> Expect {
        self.frame(entries, frame)
    }
}

/// Says of a frame if a program may treat it in another way than routing says.
pub(crate) type Except = Box<dyn Fn(&[u8]) -> bool + Send>;

/// Model of a program that routes like [`routed`](super::routed) and adds something of its own to packets.
pub(crate) struct RoutedModel {
    /// Returns true for packets that the program may treat in another way.
    pub(crate) except: Except,
}

impl Model for RoutedModel {
    const COPIES: bool = true;

    fn expect(&self, entries: &Entries<'_>, _: u16, frame: &[u8]) -> Expect {
        if (self.except)(frame) {
            return Expect::Unknown;
        }
        let plain = word(frame, 12) != Some(IPV4) || frame.get(14).is_none_or(|byte| *byte == 0x45);
        let sent = |ports, queue| Expect::Sent { ports, queue: Some(queue), bytes: None, or: ANY };
        let elsewhere = || match entries.default("elsewhere") {
            Some(call) => sent(vec![call.port(0)], 0),
            None => Expect::Ends("no_egress_port"),
        };
        // IPv4 with options is not routed.
        if !plain {
            return elsewhere();
        }
        let Some(parts) = parts(frame, false) else { return Expect::Ends(TOO_SHORT) };
        let Some(ip) = parts.ip else { return elsewhere() };
        if !ip.checksum_ok {
            return Expect::Ends("ipv4_checksum");
        }
        if ip.hops <= 1 {
            return Expect::Ends("ttl_expired");
        }
        let (family, width) = if ip.v6 { ("ipv6", 128) } else { ("ipv4", 32) };
        let Some(route) = entries.longest(&format!("{family}_route"), &[], (ip.dst, width)) else {
            return Expect::Ends("no_route");
        };
        let queue = entries.exact(&format!("{family}_class"), &[ip.dscp.into()]);
        let queue = queue.map_or(0, |call| call.arg(0) as u8);
        if route.action.ends_with("_to") {
            return sent(vec![route.port(0)], queue);
        }
        if !route.action.ends_with("_spread") {
            return Expect::Ends("no_route");
        }
        let Some(group) = entries.group("group", route.arg(0)) else { return Expect::Unknown };
        let ports: Vec<u16> = group.members.iter().map(|member| member.port(0)).collect();
        let flow = Message::five_tuple(&ip);
        let at = usize::from(crc_16(&flow) & SELECTOR_BITS) % ports.len().max(1);
        match ports.get(at) {
            Some(port) if group.whole => sent(vec![*port], queue),
            _ => sent(ports, queue),
        }
    }
}

/// Returns the frame after one hop, if it is an IP packet without tags.
pub(crate) fn after_hop(frame: &[u8]) -> Vec<u8> {
    let mut sent = frame.to_vec();
    if let Some((parts, ip)) = parts(frame, false).and_then(|parts| Some((parts, parts.ip?))) {
        hop(&mut sent, parts.at, &ip);
    }
    sent
}
