//! Extracts bursts of payload from a capture: what an application sent at once.

use sluice_asic::units::Duration;
use sluice_pcaps::capture::{CaptureError, CaptureReader};
use sluice_pcaps::wire::{ethernet, roce};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Payload of a flow without a long gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// Source address.
    pub from: IpAddr,
    /// Destination address.
    pub to: IpAddr,
    /// Source port.
    pub port: u16,
    /// Time of its first frame after the capture's first frame.
    pub start: Duration,
    /// Payload bytes of TCP, UDP or RDMA. Bytes that TCP or RoCE sends again count once.
    pub bytes: u64,
}

/// Bursts of a capture, and counts of its frames.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bursts {
    /// The bursts, by start; at equal starts in the order of the capture.
    pub bursts: Vec<Burst>,
    /// Frames read.
    pub frames: u64,
    /// Frames that belong to no TCP, UDP or RoCE flow.
    pub skipped: u64,
}

/// Flow of a frame: addresses, protocol, ports, and the destination queue pair of RoCE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    from: IpAddr,
    to: IpAddr,
    protocol: u8,
    ports: [u16; 2],
    pair: u32,
}

/// Payload of a frame in its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// So many bytes of payload.
    Datagram(u64),
    /// Payload bytes of TCP at this sequence number, after as many of SYN.
    Segment { sequence: u32, syn: u32, bytes: u64 },
    /// Payload bytes of a RoCE packet with this number.
    Packet { psn: u32, bytes: u64 },
}

/// A flow under way.
struct Open {
    /// Index of its last burst.
    burst: Option<usize>,
    /// Time of its last frame with payload, ps since the capture's first.
    last: u64,
    /// Next sequence or packet number.
    next: Option<u32>,
}

/// Reads a capture. A frame with payload begins a new burst if the last one of its flow was longer than `gap` ago.
///
/// # Errors
/// If the capture cannot be read.
pub fn bursts(reader: &mut CaptureReader<'_>, gap: Duration) -> Result<Bursts, CaptureError> {
    let mut open: BTreeMap<Key, Open> = BTreeMap::new();
    let mut found = Bursts::default();
    let mut origin = None;
    while let Some(frame) = reader.next_frame()? {
        found.frames += 1;
        let origin = *origin.get_or_insert(frame.time);
        let Some((key, progress)) = flow_of(frame.data) else {
            found.skipped += 1;
            continue;
        };
        // A frame with an earlier time than the capture's first one counts as simultaneous with it.
        let now = frame.time.ps_since(origin).unwrap_or(0);
        let flow = open.entry(key).or_insert(Open { burst: None, last: now, next: None });
        let bytes = flow.advance(progress);
        if bytes == 0 {
            continue;
        }
        let fresh = now.saturating_sub(flow.last) > gap.as_ps();
        flow.last = now;
        match flow.burst.filter(|_| !fresh) {
            Some(burst) => found.bursts[burst].bytes += bytes,
            None => {
                flow.burst = Some(found.bursts.len());
                let Key { from, to, ports: [port, _], .. } = key;
                found.bursts.push(Burst { from, to, port, start: Duration::from_ps(now), bytes });
            }
        }
    }
    found.bursts.sort_by_key(|burst| burst.start);
    Ok(found)
}

impl Open {
    /// Returns the payload bytes that are new.
    fn advance(&mut self, progress: Progress) -> u64 {
        match progress {
            Progress::Datagram(bytes) => bytes,
            Progress::Segment { sequence, syn, bytes } => {
                let first = sequence.wrapping_add(syn);
                let end = first.wrapping_add(bytes as u32);
                let next = *self.next.get_or_insert(first);
                // Sequence numbers wrap: what lies less than half the range ahead is new.
                let new = end.wrapping_sub(next) as i32;
                if new <= 0 {
                    return 0;
                }
                self.next = Some(end);
                u64::from(new as u32).min(bytes)
            }
            Progress::Packet { psn, bytes } => {
                const HALF: u32 = 1 << 23;
                let ahead = psn.wrapping_sub(self.next.unwrap_or(psn)) & 0xff_ffff;
                if ahead >= HALF {
                    return 0;
                }
                self.next = Some(psn.wrapping_add(1) & 0xff_ffff);
                bytes
            }
        }
    }
}

/// EtherTypes of VLAN tags: 802.1Q, 802.1ad, and what switches used before it.
const TAGS: [u16; 3] = [0x8100, 0x88a8, 0x9100];

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]))
}

fn long(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// Returns the flow of a frame, whose payload may be cut off; `None` for other frames and for fragments.
fn flow_of(frame: &[u8]) -> Option<(Key, Progress)> {
    let link = ethernet::View::new(frame).ok()?;
    let (mut kind, mut packet) = (link.ethertype(), link.payload());
    while TAGS.contains(&kind) {
        (kind, packet) = (word(packet, 2)?, packet.get(4..)?);
    }
    match kind {
        0x0800 => {
            let header = usize::from(packet.first()? & 0xf) * 4;
            // A fragment has the flag "more fragments" or an offset above 0.
            if word(packet, 6)? & 0x3fff != 0 {
                return None;
            }
            let address = |at| Some(IpAddr::V4(Ipv4Addr::from(long(packet, at)?)));
            let len = usize::from(word(packet, 2)?).checked_sub(header)?;
            transport((address(12)?, address(16)?), *packet.get(9)?, packet.get(header..)?, len)
        }
        0x86dd => {
            let address = |at: usize| {
                let bytes: [u8; 16] = packet.get(at..at + 16)?.try_into().ok()?;
                Some(IpAddr::V6(Ipv6Addr::from(bytes)))
            };
            let len = usize::from(word(packet, 4)?);
            transport((address(8)?, address(24)?), *packet.get(6)?, packet.get(40..)?, len)
        }
        _ => None,
    }
}

/// Returns the flow of an IP payload of `len` bytes, of which the capture has `bytes`.
fn transport(
    (from, to): (IpAddr, IpAddr),
    protocol: u8,
    bytes: &[u8],
    len: usize,
) -> Option<(Key, Progress)> {
    let ports = [word(bytes, 0)?, word(bytes, 2)?];
    let key = Key { from, to, protocol, ports, pair: 0 };
    match protocol {
        6 => {
            let header = usize::from(*bytes.get(12)? >> 4) * 4;
            let syn = u32::from(*bytes.get(13)? >> 1 & 1);
            let payload = len.checked_sub(header)? as u64;
            Some((key, Progress::Segment { sequence: long(bytes, 4)?, syn, bytes: payload }))
        }
        17 if ports[1] == roce::PORT => {
            let bth = bytes.get(8..20)?;
            let psn = long(bth, 8)? & 0xff_ffff;
            let key = Key { pair: long(bth, 4)? & 0xff_ffff, ..key };
            let pad = usize::from(bth[1] >> 4 & 3);
            // UDP, BTH and the invariant CRC are not payload, nor are the extension headers of some operations.
            let payload = len.checked_sub(8 + 12 + 4 + extensions(bth[0])? + pad)? as u64;
            Some((key, Progress::Packet { psn, bytes: payload }))
        }
        17 => Some((key, Progress::Datagram(len.checked_sub(8)? as u64))),
        _ => None,
    }
}

/// Returns the bytes of the extension headers of an operation with payload; `None` of one without: read requests,
/// acknowledgements, atomic operations and congestion notifications.
fn extensions(opcode: u8) -> Option<usize> {
    let [service, operation] = [opcode >> 5, opcode & 0x1f];
    let datagram = if service == 3 { 8 } else { 0 };
    match operation {
        // SEND first, middle, last; last with immediate; only; only with immediate.
        0..=2 | 4 => Some(datagram),
        3 | 5 => Some(datagram + 4),
        // WRITE first; middle; last; last with immediate; only; only with immediate.
        6 | 10 => Some(16),
        7 | 8 => Some(0),
        9 => Some(4),
        11 => Some(20),
        // READ response first, last, only; middle.
        13 | 15 | 16 => Some(4),
        14 => Some(0),
        _ => None,
    }
    // Reliable and unreliable connections, and unreliable datagrams.
    .filter(|_| matches!(service, 0 | 1 | 3))
}

#[cfg(test)]
mod tests;
