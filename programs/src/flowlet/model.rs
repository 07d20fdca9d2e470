//! Model of flowlets in plain Rust: a map from flow table slots to the time and the uplink of the last packet.
//!
//! The model sees when packets arrive, not when a pass reads the clock. So a packet whose gap is near the timeout is not
//! judged: it may continue its flowlet or begin one.

use super::Spec;
use crate::leaf::model::{Way, flow_hash, way};
use crate::model::Entries;
use crate::model::frame::parts;
use sluice_asic::units::{Duration, Time};
use sluice_switch::property::{Departed, Entered, Finding, Property, Settled};
use std::collections::{BTreeMap, BTreeSet};

/// Largest difference between a gap on arrival and the same gap when the passes read the clock: a port at 1G receives a
/// frame of 1500 bytes for 12 us.
const SLACK: Duration = Duration::from_micros(15);

/// Chance of a sequence of equal draws below which the draws are not random, as a negative power of two.
const BITS: f64 = 40.0;

/// Largest number of packets that are kept per run.
const MOST: usize = 1 << 16;

/// A packet that arrived.
#[derive(Clone, Debug)]
struct Packet {
    port: u16,
    time: Time,
    bytes: Vec<u8>,
    /// dev_port on which the packet was sent; `None` if it was not.
    sent: Option<u16>,
}

/// `flowlets_as_modelled`: packets of a flow keep their uplink within the timeout; flowlets after it draw their uplinks, if the
/// program draws at random. Not judged: runs in which entries change.
#[derive(Clone, Debug)]
pub(crate) struct FlowletModel {
    entries: u32,
    timeout: Duration,
    /// Ticks that a gap may lose.
    tick: Duration,
    random: bool,
    packets: Vec<Packet>,
    changed: bool,
}

impl FlowletModel {
    /// Returns the model of these flowlets; `random` if a new flowlet draws any uplink of its group.
    pub(crate) fn new(spec: &Spec, random: bool) -> FlowletModel {
        let tick = Duration::from_nanos(spec.tick.nanos());
        let (entries, timeout) = (spec.entries, spec.timeout);
        FlowletModel { entries, timeout, tick, random, packets: Vec::new(), changed: false }
    }
}

/// A packet over a group, as the model sees it.
#[derive(Clone, Copy, Debug)]
struct Routed {
    tag: usize,
    time: Time,
    group: u128,
    sent: Option<u16>,
}

/// Returns the numbers of members with which a packet over this group is sent on this port.
fn numbers(entries: &Entries<'_>, all: &BTreeSet<u128>, group: u128, port: u16) -> BTreeSet<u128> {
    let leads = |number: &&u128| {
        // Without an entry the packet takes the port of a random candidate.
        entries.exact("uplink", &[group, **number]).is_none_or(|call| call.port(0) == port)
    };
    all.iter().filter(leads).copied().collect()
}

/// Draws of one group that were equal so far.
#[derive(Clone, Copy, Debug, Default)]
struct Draws {
    last: Option<u16>,
    bits: f64,
}

/// Work of one run.
struct Run<'a> {
    model: &'a FlowletModel,
    entries: Entries<'a>,
    /// Numbers of all members.
    all: BTreeSet<u128>,
    /// By group and port: the numbers that lead to the port.
    known: BTreeMap<(u128, u16), BTreeSet<u128>>,
    draws: BTreeMap<u128, Draws>,
}

impl Run<'_> {
    fn numbers(&mut self, group: u128, port: u16) -> BTreeSet<u128> {
        let Run { entries, all, known, .. } = self;
        known.entry((group, port)).or_insert_with(|| numbers(entries, all, group, port)).clone()
    }

    /// Checks the packets of one slot, in order of arrival.
    fn slot(&mut self, packets: &[Routed]) -> Finding {
        let slack = self.model.tick + self.model.tick + SLACK;
        let keeps = self.model.timeout.checked_sub(slack);
        // Last sent packet of the flowlet, and the members that all its packets allow.
        let mut flowlet: Option<(Routed, BTreeSet<u128>)> = None;
        let mut before: Option<Time> = None;
        for packet in packets {
            let touched = before.replace(packet.time);
            let Some(port) = packet.sent else { continue };
            let own = self.numbers(packet.group, port);
            let gap = |last: Time| packet.time.saturating_since(last);
            let continues =
                flowlet.as_ref().is_some_and(|(last, _)| keeps.is_some_and(|t| gap(last.time) < t));
            if continues {
                let (last, allowed) = flowlet.take().unwrap_or((*packet, own.clone()));
                let both: BTreeSet<u128> = allowed.intersection(&own).copied().collect();
                if both.is_empty() {
                    return Err(format!(
                        "packet {} was sent on port {port}; packet {}, {} before it in the same flowlet, took another \
                         uplink",
                        packet.tag,
                        last.tag,
                        gap(last.time)
                    ));
                }
                flowlet = Some((*packet, both));
                continue;
            }
            let fresh = touched.is_none_or(|last| gap(last) > self.model.timeout + slack);
            if fresh && self.model.random {
                self.draw(packet.group, port)?;
            }
            flowlet = Some((*packet, own));
        }
        Ok(())
    }

    /// Notes the uplink of a new flowlet.
    fn draw(&mut self, group: u128, port: u16) -> Finding {
        let ports = crate::leaf::model::uplinks(&self.entries, group);
        let same = ports.iter().filter(|p| **p == port).count();
        if same == 0 || same == ports.len() {
            return Ok(());
        }
        let draws = self.draws.entry(group).or_default();
        let bits = (ports.len() as f64 / same as f64).log2();
        draws.bits = if draws.last == Some(port) { draws.bits + bits } else { 0.0 };
        draws.last = Some(port);
        if draws.bits > BITS {
            return Err(format!(
                "every one of the last {} flowlets over group {group} took port {port}",
                (draws.bits / bits).round() + 1.0
            ));
        }
        Ok(())
    }
}

impl Property for FlowletModel {
    fn name(&self) -> &'static str {
        "flowlets_as_modelled"
    }

    fn entered(&mut self, packet: &Entered<'_>) -> Finding {
        if self.packets.len() < MOST && !self.changed {
            let origin = packet.packet;
            let bytes = origin.bytes.to_vec();
            self.packets.push(Packet { port: origin.port, time: origin.time, bytes, sent: None });
        }
        Ok(())
    }

    fn changed(&mut self) {
        self.changed = true;
        self.packets.clear();
    }

    fn left(&mut self, packet: &Departed<'_>) -> Finding {
        let tag = usize::try_from(packet.left.tag).unwrap_or(usize::MAX);
        if let Some(arrived) = self.packets.get_mut(tag).filter(|_| !packet.left.made) {
            arrived.sent = Some(packet.left.egress_port);
        }
        Ok(())
    }

    fn settled(&mut self, device: &Settled<'_>) -> Finding {
        let packets = std::mem::take(&mut self.packets);
        if std::mem::take(&mut self.changed) {
            return Ok(());
        }
        let entries = Entries::new(device.program, device.control);
        let mut slots: BTreeMap<(u16, u32), Vec<Routed>> = BTreeMap::new();
        for (tag, packet) in packets.iter().enumerate() {
            let Some(ip) = parts(&packet.bytes, false).and_then(|parts| parts.ip) else { continue };
            let Way::Group(group) = way(&entries, &ip) else { continue };
            let slot = flow_hash(&ip) & (self.entries - 1);
            let routed = Routed { tag, time: packet.time, group, sent: packet.sent };
            // Each pipe has its own registers.
            slots.entry((packet.port >> 7, slot)).or_default().push(routed);
        }
        let all = entries.keys("uplink", 1).collect();
        let (known, draws) = (BTreeMap::new(), BTreeMap::new());
        let mut run = Run { model: self, entries, all, known, draws };
        for packets in slots.values_mut() {
            packets.sort_by_key(|packet| packet.time);
            run.slot(packets)?;
        }
        Ok(())
    }
}
