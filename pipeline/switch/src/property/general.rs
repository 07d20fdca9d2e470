//! Properties that hold for every program on every device.

use super::{Departed, Ended, Finding, FlowKey, Property, Settled, l4_checksum, well_formed};
use crate::Reason;
use sluice_asic::tm::buffer::Rule;
use sluice_asic::units::Time;
use std::collections::BTreeMap;

/// Every general property, fresh.
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

/// The general properties and a program's own. One of its own takes the place of a general one of the same name: it says
/// what that means for this program.
#[must_use]
pub fn general_and(own: Vec<Box<dyn Property>>) -> Vec<Box<dyn Property>> {
    let mut all = general();
    all.retain(|general| own.iter().all(|own| own.name() != general.name()));
    all.extend(own);
    all
}

/// What came in and what was made inside is out, lost, absorbed or held.
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

/// Packets of a flow that leave by the same port and queue leave in the order in which they came. Nothing is said
/// of runs in which packets went around or were copied: laps take their time.
#[derive(Clone, Debug, Default)]
pub struct FlowOrder {
    /// The last packet of each flow in each queue: when it came, and its name.
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

/// No packet of a lossless priority group is lost for want of headroom. It holds for senders that obey pauses.
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

/// A frame that came in well formed leaves well formed: see [`well_formed`]. Copies may be cut short.
#[derive(Clone, Copy, Debug, Default)]
pub struct WellFormed;

impl Property for WellFormed {
    fn name(&self) -> &'static str {
        "well_formed"
    }

    fn left(&mut self, packet: &Departed<'_>) -> Finding {
        let Some(from) = packet.from.filter(|_| !packet.left.made) else { return Ok(()) };
        match well_formed(packet.bytes) {
            Err(text) if well_formed(from.bytes).is_ok() => Err(text),
            _ => Ok(()),
        }
    }
}

/// A TCP or UDP check sum that came in right leaves right, or not at all: see [`l4_checksum`].
#[derive(Clone, Copy, Debug, Default)]
pub struct L4Checksum;

impl Property for L4Checksum {
    fn name(&self) -> &'static str {
        "l4_checksum"
    }

    fn left(&mut self, packet: &Departed<'_>) -> Finding {
        let Some(from) = packet.from.filter(|_| !packet.left.made) else { return Ok(()) };
        if l4_checksum(packet.bytes) == Some(false) && l4_checksum(from.bytes) == Some(true) {
            return Err("the check sum of TCP or UDP came in right and leaves wrong".to_owned());
        }
        Ok(())
    }
}

/// Laps through recirculation ports from which on a packet may be one that changed entries send round for ever.
const LOOP: u64 = 1_000;

/// What came in ends: no packet from outside, or copy of one that is no timer, stays inside for ever. Nothing is said of
/// packets that go round and round after entries changed: these may name a recirculation port as a way.
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
        if device.busy && !loops { Err(format!("{} packets stay inside", device.held)) } else { Ok(()) }
    }
}
