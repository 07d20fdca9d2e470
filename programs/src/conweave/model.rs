//! Model of a ToR in plain Rust: the fate of a frame from its bytes and the entries (model: conweave §1). The model knows no
//! epochs; `epochs` does.

use super::wire::{HEADER_LEN, opcode};
use crate::forwarding::model::{after_hop, word};
use crate::model::frame::{IPV4, TOO_SHORT, parts};
use crate::model::{Bytes, Entries, Expect, Model};

const TIMER: u16 = 0x2001;
/// Position of the base transport header in a frame without options.
const BTH: usize = 14 + 20 + 8;
/// Position of ConWeave's header.
const CWH: usize = BTH + 12;
const UDP: u8 = 17;
const ROCE: u16 = 4791;

/// Returns the verdict on a frame that is bridged: not IPv4, or IPv4 with options.
pub(crate) fn bridged(entries: &Entries<'_>, frame: &[u8]) -> Expect {
    let mac = frame.iter().take(6).fold(0, |value, byte| value << 8 | u128::from(*byte));
    match entries.exact("l2", &[mac]) {
        Some(call) if call.action == "bridge_to" => Expect::Sent {
            ports: vec![call.port(0)],
            queue: Some(0),
            bytes: Some(frame.to_vec().into()),
            or: &[],
        },
        _ => Expect::Ends("no_port"),
    }
}

/// RoCEv2 in a frame with an IPv4 header without options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Roce {
    /// The frame ends inside IPv4, UDP or the base transport header.
    TooShort,
    /// Another packet.
    Other,
    /// A base transport header.
    Bth {
        /// UDP source port.
        src_port: u16,
        /// RDMA operation.
        operation: u8,
        /// ConWeave's opcode; 0 = none.
        opcode: u8,
        /// PathID.
        path: u8,
    },
}

/// Returns the RoCEv2 parts of such a frame.
pub(crate) fn roce(frame: &[u8]) -> Roce {
    let Some(ip) = frame.get(14..34) else { return Roce::TooShort };
    let fragment = ip[6] & 0x3f != 0 || ip[7] != 0;
    if fragment || ip[9] != UDP {
        return Roce::Other;
    }
    if frame.len() < BTH {
        return Roce::TooShort;
    }
    if word(frame, 36) != Some(ROCE) {
        return Roce::Other;
    }
    match frame.get(BTH..CWH) {
        None => Roce::TooShort,
        Some(bth) => Roce::Bth {
            src_port: word(frame, 34).unwrap_or(0),
            operation: bth[0],
            opcode: bth[8] >> 5 & 3,
            path: bth[4],
        },
    }
}

/// The flow of a packet in the direction of DATA, and its row if the flow table has the flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TorFlow {
    pub(super) row: u128,
    /// theta_reply in ticks.
    pub(super) reply: u128,
}

/// Role of the ToR for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// DATA of a host of this ToR, of a flow in the flow table.
    Source(TorFlow),
    /// DATA with ConWeave's header for a host of this ToR, of a flow in the flow table.
    Destination(TorFlow),
    /// RTT_REPLY, CLEAR or NOTIFY.
    Reply(Option<TorFlow>),
    /// Any other packet.
    None,
}

/// The model.
#[derive(Clone, Copy, Debug)]
pub(super) struct TorModel {
    pub(super) pipe: u16,
}

/// Fate of a packet that is routed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Routed {
    pub(super) role: Role,
    /// Port of the host; `None`: over a path.
    pub(super) host: Option<u16>,
    pub(super) group: u128,
}

impl TorModel {
    /// Returns role and route of a frame with IPv4 without options; `None` if there is no route.
    pub(super) fn routed(self, entries: &Entries<'_>, port: u16, frame: &[u8]) -> Option<Routed> {
        let padded = [frame, &[0; 4]].concat();
        let ip = parts(&padded, false)?.ip?;
        let packet = roce(frame);
        let code = if let Roce::Bth { opcode, .. } = packet { opcode } else { 0 };
        let reverse = code != 0 && code != opcode::DATA;
        let (src, dst) = if reverse { (ip.dst, ip.src) } else { (ip.src, ip.dst) };
        let route = entries.longest("route", &[], (dst, 32))?;
        let (host, group) = match route.action {
            "to_host" => (Some(route.port(0)), 0),
            "to_group" => (None, route.arg(0)),
            _ => return None,
        };
        let Roce::Bth { src_port, operation, .. } = packet else {
            return Some(Routed { role: Role::None, host, group });
        };
        let known = entries.exact("flow", &[src, dst, src_port.into()]).filter(|_| port >> 7 == self.pipe);
        let flow = known.map(|call| TorFlow { row: call.arg(0), reply: call.arg(1) });
        let rdma = || entries.exact("rdma", &[ROCE.into(), operation.into()]).is_some();
        let role = match (code, host, flow) {
            (0, None, Some(flow)) if rdma() => Role::Source(flow),
            (0, ..) => Role::None,
            (opcode::DATA, Some(_), Some(flow)) => Role::Destination(flow),
            (opcode::DATA, ..) => Role::None,
            (_, _, flow) => Role::Reply(flow),
        };
        Some(Routed { role, host, group })
    }
}

/// Returns the frame without ConWeave's header and bits.
fn stripped(frame: &[u8]) -> Vec<u8> {
    let mut frame = frame.to_vec();
    frame[BTH + 4] = 0;
    frame[BTH + 8] &= 0x80;
    frame.drain(CWH..CWH + HEADER_LEN);
    frame
}

/// Returns the frame with room for ConWeave's header.
fn widened(frame: &[u8]) -> Vec<u8> {
    let mut frame = frame.to_vec();
    frame.splice(CWH..CWH, [0; HEADER_LEN]);
    frame
}

/// Decrements the TTL of an IPv4 packet, whose TCP ports may be cut off.
fn one_hop(frame: Vec<u8>) -> Vec<u8> {
    let length = frame.len();
    let mut frame = after_hop(&[frame, vec![0; 4]].concat());
    frame.truncate(length);
    frame
}

impl Model for TorModel {
    const COPIES: bool = true;

    fn expect(&self, entries: &Entries<'_>, port: u16, frame: &[u8]) -> Expect {
        let (Some(ether_type), Some(first)) = (word(frame, 12), frame.get(14)) else {
            return Expect::Ends(TOO_SHORT);
        };
        if ether_type == TIMER && *first == 0x45 {
            return Expect::Unknown;
        }
        if ether_type != IPV4 || *first != 0x45 {
            return bridged(entries, frame);
        }
        let packet = roce(frame);
        let with_header = matches!(packet, Roce::Bth { opcode, .. } if opcode != 0);
        if packet == Roce::TooShort || with_header && frame.len() < CWH + HEADER_LEN {
            return Expect::Ends(TOO_SHORT);
        }
        let padded = [frame, &[0; 4]].concat();
        let Some(ip) = parts(&padded, false).and_then(|parts| parts.ip) else { return Expect::Unknown };
        let Some(routed) = self.routed(entries, port, frame) else { return Expect::Unknown };
        if !ip.checksum_ok {
            return Expect::Ends("bad_checksum");
        }
        if ip.hops <= 1 {
            return Expect::Ends("ttl_expired");
        }
        self.forwarded(entries, frame, &routed, ip.dscp)
    }
}

impl TorModel {
    /// Returns the verdict on a packet that is neither bridged nor refused.
    fn forwarded(self, entries: &Entries<'_>, frame: &[u8], routed: &Routed, dscp: u8) -> Expect {
        let class = entries.exact("class", &[dscp.into()]).map_or(0, |call| call.arg(0) as u8 & 1);
        let marked = |bytes: Vec<u8>, free: Vec<usize>| {
            Some(Bytes { bytes: one_hop(bytes), free, mark: Some((14, false)) })
        };
        let uplinks = || {
            let group = entries.group("ecmp", routed.group)?;
            Some(group.members.iter().map(|member| member.port(0)).collect::<Vec<u16>>())
        };
        match (routed.role, routed.host) {
            (Role::Reply(None), _) => Expect::Ends("no_flow"),
            (Role::Reply(Some(_)), _) if is_notify(frame) => Expect::Ends("notify_done"),
            // `epochs` knows which of the two reasons it is.
            (Role::Reply(Some(_)), _) => Expect::Sent {
                ports: Vec::new(),
                queue: None,
                bytes: None,
                or: &["reply_done", "reply_late"],
            },
            (Role::Source(_), _) => {
                let Some(ports) = uplinks() else { return Expect::Unknown };
                let free = vec![BTH + 4, BTH + 8, CWH, CWH + 1, CWH + 2, CWH + 3];
                Expect::Sent { ports, queue: Some(class), bytes: marked(widened(frame), free), or: &[] }
            }
            (Role::Destination(_), Some(port)) => Expect::Sent {
                ports: vec![port],
                queue: None,
                bytes: marked(stripped(frame), Vec::new()),
                or: &[],
            },
            (_, Some(port)) => {
                let header = matches!(roce(frame), Roce::Bth { opcode: opcode::DATA, .. });
                let bytes = if header { stripped(frame) } else { frame.to_vec() };
                Expect::Sent {
                    ports: vec![port],
                    queue: Some(class),
                    bytes: marked(bytes, Vec::new()),
                    or: &[],
                }
            }
            (_, None) => {
                let Some(ports) = uplinks() else { return Expect::Unknown };
                Expect::Sent { ports, queue: Some(class), bytes: marked(frame.to_vec(), Vec::new()), or: &[] }
            }
        }
    }
}

fn is_notify(frame: &[u8]) -> bool {
    matches!(roce(frame), Roce::Bth { opcode: opcode::NOTIFY, .. })
}
