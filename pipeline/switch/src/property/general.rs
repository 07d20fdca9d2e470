//! Properties of every program on every device.

use super::{Departed, Ended, Finding, FlowKey, Property, Settled, l4_checksum, well_formed};
use crate::Reason;
use sluice_asic::tm::buffer::Rule;
use sluice_asic::units::Time;
use std::collections::BTreeMap;

/// Returns new instances of all general properties.
#[must_use]
pub fn general() -> Vec<Box<dyn Property>> {
    vec![
        Box::new(Conservation),
        Box::new(FlowOrder::default()),
        Box::new(LosslessLoss),
        Box::new(WellFormed),
        Box::new(L4Checksum),
        Box::new(Settles::default()),
    ]
}

/// Returns the general properties and a program's own. A property of the program replaces the general
/// property of the same name.
#[must_use]
pub fn general_and(own: Vec<Box<dyn Property>>) -> Vec<Box<dyn Property>> {
    let mut all = general();
    all.retain(|general| own.iter().all(|own| own.name() != general.name()));
    all.extend(own);
    all
}

/// Conservation: received packets and packets made inside equal sent, dropped, absorbed and held packets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Conservation;

impl Property for Conservation {
    fn name(&self) -> &'static str {
        "conservation"
    }

    fn settled(&mut self, device: &Settled<'_>) -> Finding {
        let t = device.totals;
        if device.conserved {
            return Ok(());
        }
        Err(format!(
            "{} in and {} made are not {} out, {} dropped, {} absorbed and {} held",
            t.received, t.created, t.sent, t.dropped, t.absorbed, device.held
        ))
    }
}

/// Order within a flow: packets of a flow that are sent by the same port and queue keep their order of
/// arrival. Not judged in runs with recirculation or copies, because these take additional time.
#[derive(Clone, Debug, Default)]
pub struct FlowOrder {
    /// Last packet of each flow in each queue: its arrival time and its tag.
    last: BTreeMap<(FlowKey, u16, u8), (Time, u64)>,
    broken: Option<String>,
}

impl Property for FlowOrder {
    fn name(&self) -> &'static str {
        "flow_order"
    }

    fn left(&mut self, packet: &Departed<'_>) -> Finding {
        let (left, Some(from)) = (&packet.left, packet.from) else { return Ok(()) };
        let Some(flow) = FlowKey::of(from.port, from.bytes) else { return Ok(()) };
        let came = (left.received, left.tag);
        let last = self.last.entry((flow, left.egress_port, left.qid)).or_insert(came);
        if came < *last && self.broken.is_none() {
            let (tag, port, qid, last) = (left.tag, left.egress_port, left.qid, last.1);
            self.broken =
                Some(format!("packet {tag} left port {port} queue {qid} after packet {last} of its flow"));
        }
        *last = came.max(*last);
        Ok(())
    }

    fn settled(&mut self, device: &Settled<'_>) -> Finding {
        let t = device.totals;
        let broken = self.broken.take();
        self.last.clear();
        let straight = t.recirculated == 0 && t.resubmitted == 0 && t.created == 0;
        match broken {
            Some(text) if straight => Err(text),
            _ => Ok(()),
        }
    }
}

/// No packet of a lossless priority group is lost for lack of headroom. Holds for senders that obey pauses.
#[derive(Clone, Copy, Debug, Default)]
pub struct LosslessLoss;

impl Property for LosslessLoss {
    fn name(&self) -> &'static str {
        "no_lossless_loss"
    }

    fn ended(&mut self, packet: &Ended<'_>) -> Finding {
        match packet.why() {
            Reason::Buffer(Rule::PgHeadroom | Rule::HeadroomPool) => {
                Err(format!("a packet of a lossless group was lost: {}", packet.reason))
            }
            _ => Ok(()),
        }
    }
}

/// A frame that is well formed on arrival is well formed when it is sent: see [`well_formed`]. Copies may be
/// truncated.
#[derive(Clone, Copy, Debug, Default)]
pub struct WellFormed;

impl Property for WellFormed {
    fn name(&self) -> &'static str {
        "well_formed"
    }

    fn judges_device(&self) -> bool {
        true
    }

    fn left(&mut self, packet: &Departed<'_>) -> Finding {
        let Some(from) = packet.from.filter(|_| !packet.left.made) else { return Ok(()) };
        match well_formed(packet.bytes) {
            Err(text) if well_formed(from.bytes).is_ok() => Err(text),
            _ => Ok(()),
        }
    }
}

/// A TCP or UDP checksum that is correct on arrival is correct when the packet is sent: see [`l4_checksum`].
#[derive(Clone, Copy, Debug, Default)]
pub struct L4Checksum;

impl Property for L4Checksum {
    fn name(&self) -> &'static str {
        "l4_checksum"
    }

    fn left(&mut self, packet: &Departed<'_>) -> Finding {
        let Some(from) = packet.from.filter(|_| !packet.left.made) else { return Ok(()) };
        if l4_checksum(packet.bytes) == Some(false) && l4_checksum(from.bytes) == Some(true) {
            return Err(
                "the TCP or UDP checksum was correct on arrival and is wrong in the sent packet".to_owned()
            );
        }
        Ok(())
    }
}

/// Number of recirculations from which on changed entries may have sent a packet into an endless loop.
const LOOP: u64 = 1_000;

/// Every packet ends: no packet from outside, and no copy of one other than a timer, stays inside forever.
/// Packets that recirculate endlessly after a change of entries are not judged, because entries may name a
/// recirculation port.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settles {
    changed: bool,
}

impl Property for Settles {
    fn name(&self) -> &'static str {
        "settles"
    }

    fn changed(&mut self) {
        self.changed = true;
    }

    fn settled(&mut self, device: &Settled<'_>) -> Finding {
        let loops = std::mem::take(&mut self.changed) && device.totals.recirculated >= LOOP;
        if device.busy && !loops {
            Err(format!("{} packets stay inside the device", device.held))
        } else {
            Ok(())
        }
    }
}
