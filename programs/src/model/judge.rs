//! The property that compares every packet with a model.

use super::Entries;
use sluice_switch::Reason;
use sluice_switch::property::{Departed, Ended, Entered, Finding, Property, Settled};

/// Verdict of a model on a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Expect {
    /// The model says nothing.
    Unknown,
    /// The packet ends inside for the reason of this name.
    Ends(&'static str),
    /// The packet is sent, or ends because the device has no room or the port is down.
    Sent {
        /// dev_ports; the packet is sent on one of them.
        ports: Vec<u16>,
        /// Queue; `None` if the model does not know it.
        queue: Option<u8>,
        /// Bytes; `None` if the model does not know them.
        bytes: Option<Bytes>,
        /// Reasons of the program for which the packet may end instead.
        or: &'static [&'static str],
    },
}

/// Bytes of a sent packet, as far as the model knows them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bytes {
    /// The bytes.
    pub(crate) bytes: Vec<u8>,
    /// Positions of bytes that the model does not know.
    pub(crate) free: Vec<usize>,
    /// Position of an IP header whose ECN field may change from ECT to CE, and true for IPv6. Then the checksum of IPv4 is not
    /// compared.
    pub(crate) mark: Option<(usize, bool)>,
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Bytes {
        Bytes { bytes, ..Bytes::default() }
    }
}

/// [`Expect::Sent::or`] of a model that does not know for which reasons the program drops.
pub(crate) const ANY: &[&str] = &["*"];

/// A model without state: the verdict on a packet follows from entries, ingress port and bytes.
pub(crate) trait Model: Send {
    /// True if the program makes copies of packets. Copies that end inside cannot be told from their packets.
    const COPIES: bool = false;

    /// Returns the verdict on a packet.
    fn expect(&self, entries: &Entries<'_>, port: u16, frame: &[u8]) -> Expect;
}

/// A sent packet.
#[derive(Clone, Debug)]
struct Sent {
    port: u16,
    queue: u8,
    bytes: Vec<u8>,
}

/// A packet that arrived, with its fates. Copies that ended inside are among `ends`.
#[derive(Clone, Debug)]
struct Arrived {
    port: u16,
    bytes: Vec<u8>,
    sent: Option<Sent>,
    /// Names of reasons and the reasons.
    ends: Vec<(String, Reason)>,
    /// True if the packet was sent twice.
    twice: bool,
}

/// `as_modelled`: every packet is sent or ends as the model says. Not judged: runs in which entries change, copies, and
/// packets after the first 65,536 of a run.
#[derive(Clone, Debug)]
pub(crate) struct Judge<M> {
    model: M,
    packets: Vec<Arrived>,
    changed: bool,
}

/// Largest number of packets that are kept per run.
const MOST: usize = 1 << 16;

/// Returns true for a dev_port that may be a recirculation port. A packet sent there comes back, and the fate of its last
/// pass is not that of the model. Ports 2 and 64 lead to the CPU.
const fn may_return(port: u16) -> bool {
    port != 2 && port != 64 && matches!(port & 0x7f, 0..8 | 64..72)
}

/// Reasons of the device that say that the program chose no port or did not parse the packet.
const NEVER: [&str; 7] = [
    "no_egress_port",
    "parser_no_match",
    "parser_partial_header",
    "parser_counter_range",
    "no_multicast_member",
    "headers_too_long",
    "too_many_laps",
];

impl<M: Model> Judge<M> {
    /// Returns the property for a model.
    pub(crate) fn new(model: M) -> Judge<M> {
        Judge { model, packets: Vec::new(), changed: false }
    }

    fn packet(&mut self, tag: u64) -> Option<&mut Arrived> {
        self.packets.get_mut(usize::try_from(tag).ok()?)
    }

    /// Compares the fate of a packet with the verdict of the model.
    fn check(&self, entries: &Entries<'_>, packet: &Arrived, empty: bool) -> Finding {
        let expect = self.model.expect(entries, packet.port, &packet.bytes);
        if expect == Expect::Unknown || returns(&expect, packet.sent.as_ref()) {
            return Ok(());
        }
        let fates = packet.ends.len() + usize::from(packet.sent.is_some());
        match &packet.sent {
            _ if packet.twice || fates > 1 && !M::COPIES => Err("it was sent or ended twice".to_owned()),
            Some(sent) => was_sent(&expect, sent),
            None if packet.ends.is_empty() && empty => Err("it was neither sent nor dropped".to_owned()),
            None => {
                let mut ends = packet.ends.iter().map(|end| ended(&expect, end));
                let first = ends.next().unwrap_or(Ok(()));
                if ends.any(|finding| finding.is_ok()) { Ok(()) } else { first }
            }
        }
    }
}

/// Returns true if a packet that the model sends to a port inside may have come back.
fn returns(expect: &Expect, sent: Option<&Sent>) -> bool {
    let Expect::Sent { ports, .. } = expect else { return false };
    sent.is_none_or(|sent| !ports.contains(&sent.port)) && ports.iter().any(|port| may_return(*port))
}

fn was_sent(expect: &Expect, sent: &Sent) -> Finding {
    match expect {
        Expect::Unknown => Ok(()),
        Expect::Ends(reason) => {
            Err(format!("it was sent on port {}, expected to end for {reason}", sent.port))
        }
        Expect::Sent { ports, .. } if !ports.contains(&sent.port) => {
            Err(format!("it was sent on port {}, expected {}", sent.port, list(ports)))
        }
        Expect::Sent { queue: Some(queue), .. } if *queue != sent.queue => {
            Err(format!("it was sent from queue {}, expected {queue}", sent.queue))
        }
        Expect::Sent { bytes, .. } => bytes.as_ref().map_or(Ok(()), |bytes| same(bytes, &sent.bytes)),
    }
}

fn ended(expect: &Expect, (reason, why): &(String, Reason)) -> Finding {
    // The device drops packets before and after the program.
    let by_device = !matches!(why, Reason::Label(_)) && !NEVER.contains(&reason.as_str());
    match expect {
        Expect::Ends(expected) if reason != expected && !by_device => {
            Err(format!("it ended for {reason}, expected {expected}"))
        }
        Expect::Sent { ports, or, .. } if !by_device && *or != ANY && !or.contains(&reason.as_str()) => {
            Err(format!("it ended for {reason}, expected to be sent on port {}", list(ports)))
        }
        _ => Ok(()),
    }
}

fn list(ports: &[u16]) -> String {
    let mut ports = ports.to_vec();
    ports.sort_unstable();
    ports.dedup();
    let names: Vec<String> = ports.iter().map(u16::to_string).collect();
    names.join(" or ")
}

fn same(expected: &Bytes, sent: &[u8]) -> Finding {
    let Bytes { bytes, free, mark } = expected;
    let mut expected = bytes.clone();
    let mut free = free.clone();
    if let Some((at, v6)) = mark.filter(|(at, _)| expected.len() == sent.len() && at + 2 <= sent.len()) {
        let (byte, bits) = (at + 1, if v6 { 0x30 } else { 0x03 });
        if expected[byte] & bits != 0 && sent[byte] & bits == bits && expected[byte] & bits != bits {
            expected[byte] |= bits;
            free.extend(if v6 { at..at } else { at + 10..at + 12 });
        }
    }
    if expected.len() != sent.len() {
        return Err(format!("it was sent with {} bytes, expected {}", sent.len(), expected.len()));
    }
    match (0..sent.len()).find(|at| expected[*at] != sent[*at] && !free.contains(at)) {
        Some(at) => Err(format!("byte {at} is {:#04x}, expected {:#04x}", sent[at], expected[at])),
        None => Ok(()),
    }
}

impl<M: Model> Property for Judge<M> {
    fn name(&self) -> &'static str {
        "as_modelled"
    }

    fn entered(&mut self, packet: &Entered<'_>) -> Finding {
        if self.packets.len() < MOST && !self.changed {
            let (port, bytes) = (packet.packet.port, packet.packet.bytes.to_vec());
            self.packets.push(Arrived { port, bytes, sent: None, ends: Vec::new(), twice: false });
        }
        Ok(())
    }

    fn changed(&mut self) {
        self.changed = true;
        self.packets.clear();
    }

    fn left(&mut self, packet: &Departed<'_>) -> Finding {
        let left = &packet.left;
        if left.made || packet.from.is_none() {
            return Ok(());
        }
        if let Some(arrived) = self.packet(left.tag) {
            let sent = Sent { port: left.egress_port, queue: left.qid, bytes: packet.bytes.to_vec() };
            arrived.twice |= arrived.sent.replace(sent).is_some();
        }
        Ok(())
    }

    fn ended(&mut self, packet: &Ended<'_>) -> Finding {
        if let Some(arrived) = self.packet(packet.lost.tag).filter(|_| packet.from.is_some()) {
            arrived.ends.push((packet.reason.to_owned(), packet.why()));
        }
        Ok(())
    }

    fn settled(&mut self, device: &Settled<'_>) -> Finding {
        let packets = std::mem::take(&mut self.packets);
        if std::mem::take(&mut self.changed) {
            return Ok(());
        }
        let entries = Entries::new(device.program, device.control);
        for (tag, packet) in packets.iter().enumerate() {
            self.check(&entries, packet, device.held == 0).map_err(|text| format!("packet {tag}: {text}"))?;
        }
        Ok(())
    }
}
