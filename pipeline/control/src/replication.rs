//! Mirror sessions and multicast groups.
//!
//! This module has the state, and the checks that need neither chip nor ports.

use sluice_asic::tm::{MirrorError, MirrorSession};
use std::collections::BTreeMap;

/// Largest level-2 exclusion id: 9 bits (model: tm §9).
const MAX_LEVEL2: u16 = 511;

/// All mirror sessions and multicast groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replication {
    /// Mirror sessions by number.
    pub sessions: BTreeMap<u16, MirrorSession>,
    /// The nodes of each multicast group, in the order of the copies.
    pub groups: BTreeMap<u16, Vec<MulticastNode>>,
    /// The dev_ports that each level-2 exclusion id excludes.
    pub exclusions: BTreeMap<u16, Vec<u16>>,
}

/// A node of a multicast group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MulticastNode {
    /// Replication id, which copies see as `egress_rid`.
    pub rid: u16,
    /// Packets with this level-1 exclusion id get no copy from the node.
    pub level1_exclusion: Option<u16>,
    /// dev_ports that copies are sent on.
    pub ports: Vec<u16>,
    /// True for a LAG: only one of the ports gets a copy, selected by `level2_mcast_hash`.
    pub one_of: bool,
    /// ECMP number: only one of the group's nodes with the same number makes copies, selected by
    /// `level1_mcast_hash`.
    pub ecmp: Option<u8>,
}

/// Reason why a session or group is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplicationError {
    /// A mirror session that the chip does not allow.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Session(Vec<MirrorError>),
    /// Multicast group 0, which means "no group" in a packet.
    #[error("multicast group 0 means \"no group\" in a packet and cannot be set; number groups from 1")]
    GroupZero,
    /// A port that the switch does not have.
    #[error("{what} names dev_port {port}, which the switch does not have; compare it with the port map")]
    NoSuchPort {
        /// Object that names the port.
        what: String,
        /// The port.
        port: u16,
    },
    /// A port listed twice in a node.
    #[error("{what} names dev_port {port} twice; use a second node with another rid for a second copy")]
    PortTwice {
        /// Object that names the port.
        what: String,
        /// The port.
        port: u16,
    },
    /// A level-2 exclusion id of more than 9 bits.
    #[error("level-2 exclusion id {0} is too large; expected 0 to {MAX_LEVEL2}")]
    Level2(u16),
}

impl Replication {
    pub(super) fn set_session(&mut self, id: u16, session: Option<MirrorSession>) {
        match session {
            Some(session) => _ = self.sessions.insert(id, session),
            None => _ = self.sessions.remove(&id),
        }
    }

    pub(super) fn set_group(&mut self, id: u16, nodes: Vec<MulticastNode>) -> Result<(), ReplicationError> {
        if id == 0 {
            return Err(ReplicationError::GroupZero);
        }
        nodes.iter().try_for_each(|n| distinct(&format!("multicast group {id}"), &n.ports))?;
        if nodes.is_empty() {
            self.groups.remove(&id);
        } else {
            self.groups.insert(id, nodes);
        }
        Ok(())
    }

    pub(super) fn set_exclusion(&mut self, id: u16, ports: Vec<u16>) -> Result<(), ReplicationError> {
        if id > MAX_LEVEL2 {
            return Err(ReplicationError::Level2(id));
        }
        distinct(&format!("level-2 exclusion id {id}"), &ports)?;
        if ports.is_empty() {
            self.exclusions.remove(&id);
        } else {
            self.exclusions.insert(id, ports);
        }
        Ok(())
    }
}

fn distinct(what: &str, ports: &[u16]) -> Result<(), ReplicationError> {
    let twice = ports.iter().enumerate().find(|(i, p)| ports[..*i].contains(p));
    twice.map_or(Ok(()), |(_, &port)| Err(ReplicationError::PortTwice { what: what.to_owned(), port }))
}
