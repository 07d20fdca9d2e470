//! Flows out of a capture. What may not live here: files by name.

use super::{Flow, KEY_BYTES};
use crate::topology::Network;
use sluice_pcaps::capture::{CaptureError, CaptureReader};
use sluice_pcaps::wire::{ethernet, ipv4, vlan};
use std::collections::{BTreeMap, BTreeSet};

/// Flows of a capture, and what was left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extracted {
    /// Flows in order of their keys, with the bytes of all their frames.
    pub flows: Vec<Flow>,
    /// Frames read.
    pub frames: u64,
    /// Frames that are no IPv4: they have no key here.
    pub skipped: u64,
}

/// Reads a capture's flows. A host stands behind the edge that its rank among all addresses says, so that
/// neighbours share an edge; a flow whose two hosts share a block goes to the next edge of another.
///
/// # Errors
/// When the capture cannot be read.
pub fn extract(reader: &mut CaptureReader<'_>, network: &Network) -> Result<Extracted, CaptureError> {
    let mut keys: BTreeMap<[u8; KEY_BYTES], u64> = BTreeMap::new();
    let mut found = Extracted::default();
    while let Some(frame) = reader.next_frame()? {
        found.frames += 1;
        match key_of(frame.data) {
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

/// The key of a frame: IPv4, perhaps behind one VLAN tag; ports of unfragmented TCP and UDP.
fn key_of(frame: &[u8]) -> Option<[u8; KEY_BYTES]> {
    let link = ethernet::View::new(frame).ok()?;
    let (kind, payload) = match link.ethertype() {
        0x8100 => {
            let tag = vlan::View::new(link.payload()).ok()?;
            (tag.ethertype(), tag.payload())
        }
        kind => (kind, link.payload()),
    };
    if kind != 0x0800 {
        return None;
    }
    let ip = ipv4::View::new(payload).ok()?;
    let header = ip.header();
    let mut key = [0; KEY_BYTES];
    key[..4].copy_from_slice(&header.source.octets());
    key[4..8].copy_from_slice(&ip.destination().octets());
    key[8] = ip.protocol();
    // Flags and offset: more fragments, or not the first one.
    let fragment = payload.get(6).zip(payload.get(7)).is_some_and(|(high, low)| high & 0x3f | low != 0);
    let has_ports = matches!(ip.protocol(), 6 | 17) && !fragment;
    if let Some(ports) = ip.payload().get(..4).filter(|_| has_ports) {
        key[9..13].copy_from_slice(ports);
    }
    key[13] = header.ttl;
    Some(key)
}
