//! Extracts flows from a capture.

use super::{Flow, KEY_BYTES};
use crate::topology::Network;
use serde::{Serialize, Serializer};
use sluice_pcaps::capture::{CaptureError, CaptureReader};
use sluice_pcaps::wire::{ethernet, ipv4, ipv6, vlan};
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv6Addr;

/// Flows of a capture, and counts of its frames.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Extracted {
    /// Flows in order of their keys; each has the bytes of all its frames. Serialised as their number.
    #[serde(serialize_with = "number")]
    pub flows: Vec<Flow>,
    /// Frames read.
    pub frames: u64,
    /// Frames that are not IP, and so belong to no flow.
    pub skipped: u64,
}

fn number<S: Serializer>(flows: &[Flow], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(flows.len() as u64)
}

/// Reads a capture's flows. Hosts are assigned to edges by the rank of their addresses, so that hosts with adjacent
/// addresses share an edge. If both hosts of a flow are in one block and the network connects only different blocks,
/// the receiver moves to the next edge in another block.
///
/// # Errors
/// If the capture cannot be read.
pub fn extract(reader: &mut CaptureReader<'_>, network: &Network) -> Result<Extracted, CaptureError> {
    let mut keys: BTreeMap<[u8; KEY_BYTES], u64> = BTreeMap::new();
    let mut found = Extracted::default();
    while let Some(frame) = reader.next_frame()? {
        found.frames += 1;
        match frame_key(frame.data) {
            Some(key) => *keys.entry(key).or_default() += u64::from(frame.orig_len),
            None => found.skipped += 1,
        }
    }
    let address = |key: &[u8; KEY_BYTES], at: usize| [key[at], key[at + 1], key[at + 2], key[at + 3]];
    let hosts: BTreeSet<[u8; 4]> = keys.keys().flat_map(|k| [address(k, 0), address(k, 4)]).collect();
    let edges = network.edges.len().max(1);
    let edge_of: BTreeMap<[u8; 4], usize> =
        hosts.iter().enumerate().map(|(rank, host)| (*host, rank * edges / hosts.len().max(1))).collect();
    for (key, bytes) in keys {
        let edge = |at| edge_of.get(&address(&key, at)).copied().unwrap_or(0);
        let (from, mut to) = (edge(0), edge(4));
        let goes = |to: usize| network.goes(network.edges[from], network.edges[to]);
        for _ in 0..edges {
            if goes(to) {
                break;
            }
            to = (to + 1) % edges;
        }
        found.flows.push(Flow { key, from: from as u32, to: to as u32, bytes });
    }
    Ok(found)
}

/// EtherTypes of VLAN tags: 802.1Q, 802.1ad, and what switches used before it.
const TAGS: [u16; 3] = [0x8100, 0x88a8, 0x9100];

/// Returns the key of an IP frame, after any number of VLAN tags; `None` for other frames. Ports are those of unfragmented
/// TCP and UDP.
#[must_use]
pub fn frame_key(frame: &[u8]) -> Option<[u8; KEY_BYTES]> {
    let link = ethernet::View::new(frame).ok()?;
    let (mut kind, mut payload) = (link.ethertype(), link.payload());
    while TAGS.contains(&kind) {
        let tag = vlan::View::new(payload).ok()?;
        (kind, payload) = (tag.ethertype(), tag.payload());
    }
    match kind {
        0x0800 => key_of_ipv4(payload),
        0x86dd => key_of_ipv6(payload),
        _ => None,
    }
}

fn key_of_ipv4(packet: &[u8]) -> Option<[u8; KEY_BYTES]> {
    let ip = ipv4::View::new(packet).ok()?;
    let header = ip.header();
    // A fragment has the flag "more fragments" or an offset above 0.
    let fragment = packet.get(6).zip(packet.get(7)).is_some_and(|(high, low)| high & 0x3f | low != 0);
    // A host whose NIC segments captures frames with the total length 0, so the ports are found by the header's length.
    let behind = packet.first().map_or(0, |first| usize::from(first & 0xf) * 4);
    let ports = packet.get(behind..behind + 4).filter(|_| !fragment);
    Some(key(header.source.octets(), ip.destination().octets(), ip.protocol(), ports, header.ttl))
}

/// Folds each IPv6 address to the XOR of its four words, as RTAG7 does (model: hashing §1.2).
fn key_of_ipv6(packet: &[u8]) -> Option<[u8; KEY_BYTES]> {
    let ip = ipv6::View::new(packet).ok()?;
    let fold = |address: Ipv6Addr| {
        let words = address.octets();
        std::array::from_fn(|n| words.iter().skip(n).step_by(4).fold(0, |sum, byte| sum ^ byte))
    };
    let ports = ip.payload().get(..4);
    Some(key(fold(ip.source()), fold(ip.destination()), ip.next_header(), ports, ip.hop_limit()))
}

/// Builds a key. `ports` are the first four bytes after the IP header; they count only for TCP and UDP.
fn key(from: [u8; 4], to: [u8; 4], protocol: u8, ports: Option<&[u8]>, ttl: u8) -> [u8; KEY_BYTES] {
    let mut key = [0; KEY_BYTES];
    key[..4].copy_from_slice(&from);
    key[4..8].copy_from_slice(&to);
    key[8] = protocol;
    if let Some(ports) = ports.filter(|p| p.len() == 4 && matches!(protocol, 6 | 17)) {
        key[9..13].copy_from_slice(ports);
    }
    key[13] = ttl;
    key
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_pcaps::wire::{FrameBuilder, MacAddr, udp};

    #[test]
    fn vlan_tags_hide_no_flow() {
        let tag = |vid| vlan::Tag { vid, ..vlan::Tag::default() };
        let start = FrameBuilder::new(MacAddr::from_u64(1), MacAddr::from_u64(2));
        let ip = ipv4::Header::new([10, 0, 0, 1].into(), [10, 0, 1, 1].into());
        let built = |builder: FrameBuilder| {
            let mut out = Vec::new();
            builder.ipv4(ip).udp(udp::Header::new(0x1234, 80)).build_len(90, &mut out).unwrap();
            out
        };
        let plain = frame_key(&built(start)).unwrap();
        assert_eq!(frame_key(&built(start.vlan(tag(5)))), Some(plain));
        let two = built(start.service_vlan(tag(7)).vlan(tag(5)));
        assert_eq!((&two[12..14], &two[16..18]), (&[0x88, 0xa8][..], &[0x81, 0x00][..]));
        assert_eq!(frame_key(&two), Some(plain));
        // Two customer tags, as some switches stack them.
        let mut both = two;
        both[12..14].copy_from_slice(&[0x81, 0x00]);
        assert_eq!(frame_key(&both), Some(plain));
        assert_eq!(frame_key(&both[..17]), None);
    }

    #[test]
    fn both_families_have_keys() {
        let start = || FrameBuilder::new(MacAddr::from_u64(1), MacAddr::from_u64(2));
        let built = |builder: FrameBuilder| {
            let mut out = Vec::new();
            builder.udp(udp::Header::new(0x1234, 80)).build_len(90, &mut out).unwrap();
            out
        };
        let v4 = ipv4::Header::new([10, 0, 0, 1].into(), [10, 0, 1, 1].into());
        let key = frame_key(&built(start().ipv4(v4))).unwrap();
        assert_eq!(key[..13], [10, 0, 0, 1, 10, 0, 1, 1, 17, 0x12, 0x34, 0, 80]);
        let [from, to] = ["2001:db8:0:1::5", "2001:db8::1:0:7"].map(|a| a.parse::<Ipv6Addr>().unwrap());
        let key = frame_key(&built(start().ipv6(ipv6::Header::new(from, to)))).unwrap();
        let words =
            |a: Ipv6Addr| a.octets().chunks(4).map(|w| u32::from_be_bytes(w.try_into().unwrap())).collect();
        let fold = |a: Ipv6Addr| -> [u8; 4] {
            let words: Vec<u32> = words(a);
            words.into_iter().fold(0, |sum, word| sum ^ word).to_be_bytes()
        };
        assert_eq!((key[..4].to_vec(), key[4..8].to_vec()), (fold(from).to_vec(), fold(to).to_vec()));
        assert_eq!(key[8..13], [17, 0x12, 0x34, 0, 80]);
        assert_eq!(frame_key(&[0; 60]), None);
    }
}
