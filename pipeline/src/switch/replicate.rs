//! Mirror sessions and multicast groups: what the control plane sets up and copies are made by.
//!
//! Multicast (facts: asic §8.9): a group has nodes, each with a replication id and ports; a packet with a
//! node's level-1 exclusion id gets no copy by that node, and one whose own `rid` is the node's gets none by
//! the ports of its level-2 exclusion id. Simplified: a node's ports are listed, there is no choice among
//! members by the packet's hashes. What may not live here: packets.

use super::{Event, Switch, SwitchError};
use crate::pass::{Executor, McastRequest};
use sluice_asic::chip::ChipSpec;
use sluice_asic::event::{EventClass, EventKey};
use sluice_asic::gress::Gress;
use sluice_asic::tm::{MirrorError, MirrorSession};
use sluice_asic::units::Time;
use std::collections::BTreeMap;

/// Largest level-2 exclusion id: 9 bits (facts: asic §8.9).
const MAX_LEVEL2: u16 = 511;

/// Sets up the replication engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceOp {
    /// Sets a mirror session, or takes it away.
    MirrorSession {
        /// Its number.
        id: u16,
        /// What it does.
        session: Option<MirrorSession>,
    },
    /// Sets the nodes of a multicast group; none takes it away.
    MulticastGroup {
        /// Its number, from 1 on.
        id: u16,
        /// Its nodes, in the order in which copies are made.
        nodes: Vec<MulticastNode>,
    },
    /// Sets the ports that a level-2 exclusion id leaves out.
    ExclusionPorts {
        /// The id, 0..=511.
        id: u16,
        /// dev_ports.
        ports: Vec<u16>,
    },
}

/// A node of a multicast group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MulticastNode {
    /// What copies see as `egress_rid`.
    pub rid: u16,
    /// Packets with this level-1 exclusion id get no copy by the node.
    pub level1_exclusion: Option<u16>,
    /// dev_ports that copies leave by.
    pub ports: Vec<u16>,
}

/// A session or group that is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplicationError {
    /// An impossible mirror session.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Session(Vec<MirrorError>),
    /// Group 0 means "no group" to a packet.
    #[error("multicast group 0 cannot be set up: packets name it for \"no group\"; number groups from 1")]
    GroupZero,
    /// A port that the switch does not have.
    #[error("{what} names dev_port {port}, which the switch does not have; compare it with the port map")]
    NoSuchPort {
        /// What names it.
        what: String,
        /// The port.
        port: u16,
    },
    /// A port that stands twice in a node.
    #[error("{what} names dev_port {port} twice; use a second node with another rid for a second copy")]
    PortTwice {
        /// What names it.
        what: String,
        /// The port.
        port: u16,
    },
    /// A level-2 exclusion id of more than 9 bits.
    #[error("level-2 exclusion id {0}; at most {MAX_LEVEL2}")]
    Level2(u16),
}

/// A place that gets a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Member {
    /// Index of the port.
    pub(super) port: u16,
    pub(super) rid: u16,
    /// The first copy of its node.
    pub(super) first: bool,
}

/// A node with indices of ports.
#[derive(Clone, Debug)]
struct Node {
    rid: u16,
    level1_exclusion: Option<u16>,
    ports: Vec<u16>,
}

/// All sessions and groups.
#[derive(Debug)]
pub(super) struct Replication {
    chip: ChipSpec,
    sessions: Vec<Option<MirrorSession>>,
    groups: BTreeMap<u16, Vec<Node>>,
    exclusions: BTreeMap<u16, Vec<u16>>,
}

impl Replication {
    pub(super) fn new(chip: &ChipSpec) -> Replication {
        let sessions = vec![None; chip.tm.mirror_sessions as usize];
        Replication { chip: chip.clone(), sessions, groups: BTreeMap::new(), exclusions: BTreeMap::new() }
    }

    /// The session of this number, if it makes copies of packets of that gress.
    pub(super) fn session(&self, id: u16, gress: Gress) -> Option<MirrorSession> {
        let session = self.sessions.get(usize::from(id)).copied().flatten()?;
        let on = match gress {
            Gress::Ingress => session.ingress,
            Gress::Egress => session.egress,
        };
        on.then_some(session)
    }

    /// Appends the places that get copies: by group, node and port.
    pub(super) fn members(&self, request: &McastRequest, members: &mut Vec<Member>) {
        let left_out = self.exclusions.get(&request.level2_exclusion).map_or(&[][..], Vec::as_slice);
        let groups = request.groups.iter().filter(|g| **g != 0).filter_map(|g| self.groups.get(g));
        for node in groups.flatten().filter(|n| n.level1_exclusion != Some(request.level1_exclusion)) {
            let left_out = if node.rid == request.rid { left_out } else { &[] };
            let mut first = true;
            for &port in node.ports.iter().filter(|p| !left_out.contains(p)) {
                members.push(Member { port, rid: node.rid, first });
                first = false;
            }
        }
    }

    fn set(&mut self, op: DeviceOp, index: impl Fn(u16) -> Option<u16>) -> Result<(), ReplicationError> {
        let ports = |what: &dyn Fn() -> String, ports: &[u16]| {
            let mut list = Vec::new();
            for &port in ports {
                let i = index(port).ok_or_else(|| ReplicationError::NoSuchPort { what: what(), port })?;
                if list.contains(&i) {
                    return Err(ReplicationError::PortTwice { what: what(), port });
                }
                list.push(i);
            }
            Ok(list)
        };
        match op {
            DeviceOp::MirrorSession { id, session } => {
                let what = || format!("mirror session {id}");
                match session {
                    Some(s) => {
                        s.validate(&self.chip, id.into()).map_err(ReplicationError::Session)?;
                        let port: Vec<u16> = s.port.iter().map(|p| p.number()).collect();
                        ports(&what, &port)?;
                    }
                    None => {
                        sluice_asic::tm::MirrorKind::of(&self.chip, id.into())
                            .map_err(|e| ReplicationError::Session(vec![e]))?;
                    }
                }
                if let Some(slot) = self.sessions.get_mut(usize::from(id)) {
                    *slot = session;
                }
            }
            DeviceOp::MulticastGroup { id: 0, .. } => return Err(ReplicationError::GroupZero),
            DeviceOp::MulticastGroup { id, nodes } => {
                let what = || format!("multicast group {id}");
                let node = |n: &MulticastNode| {
                    let (rid, level1_exclusion) = (n.rid, n.level1_exclusion);
                    Ok(Node { rid, level1_exclusion, ports: ports(&what, &n.ports)? })
                };
                let nodes = nodes.iter().map(node).collect::<Result<Vec<Node>, _>>()?;
                self.groups.insert(id, nodes);
            }
            DeviceOp::ExclusionPorts { id, .. } if id > MAX_LEVEL2 => {
                return Err(ReplicationError::Level2(id));
            }
            DeviceOp::ExclusionPorts { id, ports: list } => {
                let what = || format!("level-2 exclusion id {id}");
                let list = ports(&what, &list)?;
                self.exclusions.insert(id, list);
            }
        }
        Ok(())
    }
}

impl<E: Executor> Switch<E> {
    /// Sets up sessions or groups at `time`: packets that enter a gress at that time or later see it.
    ///
    /// # Errors
    /// When `time` has passed.
    pub fn configure(&mut self, time: Time, op: DeviceOp) -> Result<(), SwitchError> {
        let key = EventKey {
            time: time.max(self.now),
            device: self.config.device,
            class: EventClass::ControlPlane,
            port: 0,
            seq: self.ops,
        };
        self.ops += 1;
        self.events.push(key, Event::Device(Box::new(op))).map_err(|e| SwitchError::Past(Box::new(e)))
    }

    /// Sets up sessions or groups at once, outside the order of events: for configuration before the run.
    ///
    /// # Errors
    /// When the chip or the ports do not allow it.
    pub fn apply_device(&mut self, op: DeviceOp) -> Result<(), SwitchError> {
        let by_dev_port = &self.by_dev_port;
        let index = |port: u16| by_dev_port.get(usize::from(port)).copied().flatten();
        self.replication.set(op, index).map_err(|e| SwitchError::Replication(Box::new(e)))
    }
}
