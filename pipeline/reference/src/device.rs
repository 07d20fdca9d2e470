//! A device around the passes, without time: a packet and all its copies have left before the next packet comes.

use crate::outside::Outside;
use crate::pass::{Gress, PassIn, PassOut, RequestKind, Verdict};
use crate::reference::Reference;
use crate::stop::Unsupported;
use rustc_hash::{FxHashMap, FxHashSet};
use sluice_p4::source::Span;
use std::collections::VecDeque;

/// Most passes that a packet and its copies may take.
const MOST_PASSES: usize = 1000;

/// A mirror session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Session {
    /// dev_port to which copies go.
    pub port: u16,
    /// Most bytes of a copy, without its header; `None` for whole packets.
    pub most: Option<usize>,
}

/// A sent packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// dev_port.
    pub port: u16,
    /// Bytes without FCS.
    pub bytes: Vec<u8>,
}

/// Packets that a packet has become.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fate {
    /// Sent packets, in the order in which they were sent.
    pub sent: Vec<Sent>,
    /// Reasons for which packets ended inside.
    pub lost: Vec<Verdict>,
    /// Digests: the data of each.
    pub digests: Vec<Vec<u8>>,
}

/// Ports, mirror sessions and multicast groups of a device.
#[derive(Clone, Debug, Default)]
pub struct Device {
    /// The ports that exist; `None` for all. A packet to another port is lost.
    pub ports: Option<FxHashSet<u16>>,
    /// Fields of the intrinsic metadata of every pass, such as timestamps.
    pub fields: Vec<(String, u64)>,
    /// Ports whose packets enter ingress again.
    pub recirculation: Vec<u16>,
    /// Mirror sessions by number.
    pub sessions: FxHashMap<u64, Session>,
    /// Multicast groups: ports and replication ids of the copies, in order.
    pub groups: FxHashMap<u16, Vec<(u16, u16)>>,
    /// Port metadata by dev_port, as bytes.
    pub port_metadata: FxHashMap<u16, Vec<u8>>,
}

/// A pass that is to be done, and whether it bypasses the egress.
struct Step {
    input: PassIn,
    bypass: bool,
}

impl Device {
    /// Sends a packet through a program.
    ///
    /// # Errors
    /// As of [`Reference::pass`], and if a packet never leaves.
    pub fn send(
        &self,
        program: &mut Reference<'_>,
        port: u16,
        bytes: &[u8],
        outside: &mut dyn Outside,
    ) -> Result<Fate, Unsupported> {
        let mut fate = Fate::default();
        let mut work = VecDeque::from([self.arrival(port, bytes.to_vec())]);
        for _ in 0..MOST_PASSES {
            let Some(Step { input, bypass }) = work.pop_front() else { return Ok(fate) };
            if bypass {
                self.leave(input.port, input.bytes, &mut work, &mut fate);
                continue;
            }
            let out = program.pass(&input, outside)?;
            self.copies(&input, &out, &mut work, &mut fate);
            match (input.gress, out.verdict) {
                (Gress::Ingress, Verdict::Forward) => self.queue(&out, &mut work, &mut fate)?,
                (Gress::Egress, Verdict::Forward) => self.leave(input.port, out.bytes, &mut work, &mut fate),
                (_, Verdict::Resubmit) => {
                    let data = out.requests.iter().find(|request| request.kind == RequestKind::Resubmit);
                    let resubmitted = Some(data.map(|request| request.data.clone()).unwrap_or_default());
                    work.push_back(Step { input: PassIn { resubmitted, ..input }, bypass: false });
                }
                (_, verdict) => fate.lost.push(verdict),
            }
        }
        Err(refused("a packet that does not leave the device"))
    }

    /// Returns the ingress pass of a packet that arrives.
    fn arrival(&self, port: u16, bytes: Vec<u8>) -> Step {
        let port_metadata = self.port_metadata.get(&port).cloned().unwrap_or_default();
        let fields = self.fields.clone();
        let input = PassIn { port_metadata, fields, ..PassIn::new(Gress::Ingress, port, bytes) };
        Step { input, bypass: false }
    }

    /// Returns the egress pass of a packet.
    fn departure(&self, port: u16, bytes: Vec<u8>, fields: &[(&str, u64)]) -> PassIn {
        let own = fields.iter().map(|(name, value)| ((*name).to_owned(), *value));
        let fields = own.chain(self.fields.iter().cloned()).collect();
        PassIn { fields, ..PassIn::new(Gress::Egress, port, bytes) }
    }

    /// Sends a packet from ingress to its port, and copies to the members of its groups.
    fn queue(&self, out: &PassOut, work: &mut VecDeque<Step>, fate: &mut Fate) -> Result<(), Unsupported> {
        if out.field("copy_to_cpu") == 1 {
            return Err(refused("a copy to the CPU"));
        }
        let bypass = out.field("bypass_egress") == 1;
        let (qid, cos) = (out.field("qid"), out.field("ingress_cos"));
        let mut members = Vec::new();
        for group in out.groups.into_iter().filter(|group| *group != 0) {
            members.extend(self.groups.get(&group).into_iter().flatten().copied());
        }
        let unicast = out.port.map(|port| (port, 0));
        for (port, rid) in unicast.into_iter().chain(members) {
            if !self.has(port) {
                fate.lost.push(Verdict::NoPort);
                continue;
            }
            let fields = [("egress_qid", qid), ("egress_cos", cos), ("egress_rid", rid.into())];
            let input = self.departure(port, out.bytes.clone(), &fields);
            work.push_back(Step { input, bypass });
        }
        Ok(())
    }

    /// Makes the mirror copies and digests of a pass.
    fn copies(&self, input: &PassIn, out: &PassOut, work: &mut VecDeque<Step>, fate: &mut Fate) {
        for request in &out.requests {
            match request.kind {
                RequestKind::Digest => fate.digests.push(request.data.clone()),
                RequestKind::Resubmit => {}
                RequestKind::Mirror { session } => {
                    // A session that is not set drops its copies.
                    let Some(session) = self.sessions.get(&session) else { continue };
                    let packet = if out.mirrors_output { &out.bytes } else { &input.bytes };
                    let most = session.most.unwrap_or(packet.len()).min(packet.len());
                    let mut bytes = request.data.clone();
                    bytes.extend_from_slice(packet.get(..most).unwrap_or_default());
                    let input = self.departure(session.port, bytes, &[]);
                    work.push_back(Step { input, bypass: false });
                }
            }
        }
    }

    /// Returns true if a port exists.
    fn has(&self, port: u16) -> bool {
        self.recirculation.contains(&port) || self.ports.as_ref().is_none_or(|ports| ports.contains(&port))
    }

    /// Sends a packet on a port; packets on a recirculation port enter ingress again.
    fn leave(&self, port: u16, bytes: Vec<u8>, work: &mut VecDeque<Step>, fate: &mut Fate) {
        if self.recirculation.contains(&port) {
            work.push_back(self.arrival(port, bytes));
        } else {
            fate.sent.push(Sent { port, bytes });
        }
    }
}

fn refused(what: &str) -> Unsupported {
    Unsupported { span: Span::NONE, what: what.to_owned() }
}
