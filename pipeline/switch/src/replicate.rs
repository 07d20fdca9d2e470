//! Mirror sessions and multicast groups in the form that the device uses, checked against chip and ports.
//!
//! Multicast (model: tm §9): a group has nodes, each with a replication id and ports. A packet with a node's
//! level-1 exclusion id gets no copy from that node. A packet whose `rid` equals the node's gets no copy on
//! the ports of its level-2 exclusion id. Of nodes with the same ECMP number, and of the ports of a LAG node,
//! one gets the copy: the one at position (hash of the packet modulo their number) in the list (assumption:
//! the chip's choice is not public).

use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::tm::MirrorSession;
use sluice_control::{MulticastNode, Replication, ReplicationError};
use sluice_exec::pass::McastRequest;
use std::collections::BTreeMap;

/// A destination of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Member {
    /// Index of the port.
    pub(super) port: u16,
    pub(super) rid: u16,
    /// True for the first copy of its node.
    pub(super) first: bool,
    /// Class of service, if it differs from the packet's.
    pub(super) cos: Option<u8>,
}

/// A node whose ports are indices.
#[derive(Debug)]
struct Node {
    rid: u16,
    level1_exclusion: Option<u16>,
    ports: Vec<u16>,
    one_of: bool,
    /// Position among the nodes with the same ECMP number, and their number.
    turn: (u16, u16),
}

/// All mirror sessions and multicast groups.
#[derive(Debug, Default)]
pub(super) struct Replicator {
    sessions: Vec<Option<MirrorSession>>,
    session_bits: u32,
    groups: BTreeMap<u16, Vec<Node>>,
    exclusions: BTreeMap<u16, Vec<u16>>,
}

impl Replicator {
    /// Converts the control plane's sessions and groups for this chip and these ports (dev_port to index).
    pub(super) fn new(
        state: &Replication,
        chip: &ChipSpec,
        index: impl Fn(u16) -> Option<u16>,
    ) -> Result<Replicator, ReplicationError> {
        let ports = |what: &str, ports: &[u16]| -> Result<Vec<u16>, ReplicationError> {
            let missing = |port| ReplicationError::NoSuchPort { what: what.to_owned(), port };
            ports.iter().map(|&port| index(port).ok_or_else(|| missing(port))).collect()
        };
        let sessions = vec![None; chip.tm.mirror_sessions as usize];
        let session_bits = chip.tm.mirror_session_bits;
        let mut new = Replicator { sessions, session_bits, ..Replicator::default() };
        for (&id, session) in &state.sessions {
            session.validate(chip, id.into()).map_err(ReplicationError::Session)?;
            let port: Vec<u16> = session.port.iter().map(|p| p.number()).collect();
            ports(&format!("mirror session {id}"), &port)?;
            if let Some(slot) = new.sessions.get_mut(usize::from(id)) {
                *slot = Some(*session);
            }
        }
        for (&id, nodes) in &state.groups {
            let what = format!("multicast group {id}");
            for (i, node) in nodes.iter().enumerate() {
                let (rid, level1_exclusion, one_of) = (node.rid, node.level1_exclusion, node.one_of);
                let like =
                    |list: &[MulticastNode]| list.iter().filter(|n| n.ecmp == node.ecmp).count() as u16;
                let turn = if node.ecmp.is_some() { (like(&nodes[..i]), like(nodes)) } else { (0, 1) };
                let ports = ports(&what, &node.ports)?;
                let node = Node { rid, level1_exclusion, ports, one_of, turn };
                new.groups.entry(id).or_default().push(node);
            }
        }
        for (&id, list) in &state.exclusions {
            new.exclusions.insert(id, ports(&format!("level-2 exclusion id {id}"), list)?);
        }
        Ok(new)
    }

    /// Returns the session of this number, if it copies packets of that gress. The chip takes the low bits of a wider number, as P4's
    /// cast to `MirrorId_t` does.
    pub(super) fn session(&self, id: u16, gress: Gress) -> Option<MirrorSession> {
        let id = usize::from(id) & ((1 << self.session_bits) - 1);
        let session = self.sessions.get(id).copied().flatten()?;
        let on = match gress {
            Gress::Ingress => session.ingress,
            Gress::Egress => session.egress,
        };
        on.then_some(session)
    }

    /// Appends the destinations of copies, in the order of groups, nodes and ports.
    pub(super) fn members(&self, request: &McastRequest, members: &mut Vec<Member>) {
        let left_out = self.exclusions.get(&request.level2_exclusion).map_or(&[][..], Vec::as_slice);
        let groups = request.groups.iter().filter(|g| **g != 0).filter_map(|g| self.groups.get(g));
        for node in groups.flatten().filter(|n| n.level1_exclusion != Some(request.level1_exclusion)) {
            let left_out = if node.rid == request.rid { left_out } else { &[] };
            let (place, nodes) = node.turn;
            if request.hashes[0] % nodes.max(1) != place {
                continue;
            }
            let mut first = true;
            let chosen = match node.ports.len() {
                _ if !node.one_of => &node.ports[..],
                0 => &[],
                n => std::slice::from_ref(&node.ports[usize::from(request.hashes[1]) % n]),
            };
            for &port in chosen.iter().filter(|p| !left_out.contains(p)) {
                members.push(Member { port, rid: node.rid, first, cos: None });
                first = false;
            }
        }
    }
}
