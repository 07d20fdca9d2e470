//! Summaries of networks: the keys of a single switch's summary, summed over the network, then `switches` and `links`.

use super::{NetworkOutcome, name_of};
use crate::held_back::HeldBackReport;
use crate::shared_buffer::{PipeWords, PoolRow};
use crate::summary::{
    Counts, CreatedCounts, PacketCounts, PortRow, QueueRow, SCHEMA, Summary, ViolationRow, add,
};
use serde::Serialize;
use sluice_fabric::network::{
    End, LinkDrop, LinkId, Misaddressed, Network, SwitchId, SwitchSetup, Waiting, Way, WayTotals,
};
use std::collections::BTreeSet;

/// Summary of a network.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NetworkSummary {
    /// Sums and lists over all switches. `packets`, `latency_ns` and `ports` are those of the network's edge.
    #[serde(flatten)]
    pub total: Summary,
    /// Frames that links carried.
    pub hops: u64,
    /// The links.
    pub links: Vec<LinkRow>,
    /// The switches.
    pub switches: Vec<SwitchRow>,
}

/// A switch of a network.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SwitchRow {
    /// Name of the switch.
    pub name: String,
    /// Its summary.
    #[serde(flatten)]
    pub summary: Summary,
}

/// A link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkRow {
    /// Name of the link.
    pub link: String,
    /// One end.
    pub a: EndRow,
    /// The other end.
    pub b: EndRow,
    /// Rate in bit/s.
    pub rate_bps: u64,
    /// Delay in ns.
    pub delay_ns: f64,
    /// Number of its scripted events.
    pub events: usize,
    /// Frames from `a` to `b`.
    pub forth: WayRow,
    /// Frames from `b` to `a`.
    pub back: WayRow,
}

/// An end of a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EndRow {
    /// Name of the switch.
    pub switch: String,
    /// Front-panel port.
    pub port: String,
    /// dev_port.
    pub dev_port: u16,
}

/// Frames on one direction of a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WayRow {
    /// Frames sent.
    pub packets: u64,
    /// Bytes of these frames, without FCS, before padding.
    pub bytes: u64,
    /// Bytes of line time, including padding, FCS, preamble and gap.
    pub wire_bytes: u64,
    /// Frames that arrive, including those still on their way.
    pub carried: u64,
    /// Frames that do not arrive, by reason.
    pub drops: Counts,
}

impl NetworkOutcome<'_> {
    /// Returns the summary.
    #[must_use]
    pub fn summary(&self) -> NetworkSummary {
        let network = &self.network;
        let row = |(id, switch): (_, &crate::Outcome<'_>)| SwitchRow {
            name: name_of(network, id).to_owned(),
            summary: switch.summary(),
        };
        let switches: Vec<SwitchRow> = network.ids().zip(&self.switches).map(row).collect();
        let t = network.totals();
        let mut drops = counts(&switches, |s| &s.drops);
        for (drop, name, ..) in LinkDrop::TABLE {
            add(&mut drops, name, t.link_drops[drop as usize]);
        }
        let mut held = counts(&switches, |s| &s.held);
        add(&mut held, "links", t.on_links);
        let programs: BTreeSet<&str> = switches.iter().map(|s| s.summary.program.as_str()).collect();
        let timed = self.switches.first().is_none_or(|s| s.view.is_timed());
        let total = Summary {
            schema: SCHEMA,
            program: programs.into_iter().collect::<Vec<_>>().join("+"),
            chip: same(&switches, |s| &s.chip).cloned().flatten(),
            params: same(&switches, |s| &s.params).cloned().unwrap_or_default(),
            seed: switches.first().map_or(0, |s| s.summary.seed),
            inputs: switches.iter().flat_map(|s| &s.summary.inputs).cloned().collect(),
            packets: PacketCounts {
                entered: t.entered,
                created: t.created,
                out: t.delivered,
                dropped: t.dropped + t.lost_on_links(),
                absorbed: t.absorbed,
                held: t.held + t.on_links,
            },
            created: created(&switches),
            drops,
            absorbed: counts(&switches, |s| &s.absorbed),
            held,
            recirculated: switches.iter().map(|s| s.summary.recirculated).sum(),
            resubmitted: switches.iter().map(|s| s.summary.resubmitted).sum(),
            latency_ns: self.latency.row().filter(|_| timed),
            ports: edge_ports(network, &switches),
            queues: queues(&switches),
            pools: rows(&switches, |s| &s.pools),
            buffer: None,
            obey_pfc: held_back(&switches),
            control_plane: self.control_plane.clone(),
            flow_control_words: rows(&switches, |s| &s.flow_control_words),
            counters: Vec::new(),
            hits: Vec::new(),
            registers: Vec::new(),
            readings: Vec::new(),
            warnings: warnings(&switches)
                .chain(deadlocks(network))
                .chain(uncabled(network))
                .chain(misaddressed(network))
                .collect(),
            violations: rows(&switches, |s| &s.violations),
        };
        let links = network.links().filter_map(|id| link(network, id)).collect();
        NetworkSummary { total, hops: t.hops, links, switches }
    }
}

/// Returns a value that all switches have; `None` if they differ.
fn same<'s, V: PartialEq>(switches: &'s [SwitchRow], of: impl Fn(&'s Summary) -> &'s V) -> Option<&'s V> {
    let first = of(&switches.first()?.summary);
    switches.iter().all(|s| of(&s.summary) == first).then_some(first)
}

/// Returns the sum of counts.
fn counts(switches: &[SwitchRow], of: impl Fn(&Summary) -> &Counts) -> Counts {
    let mut all = Counts::new();
    for (word, packets) in switches.iter().flat_map(|s| of(&s.summary)) {
        add(&mut all, word, *packets);
    }
    all
}

fn created(switches: &[SwitchRow]) -> CreatedCounts {
    let sum = |of: fn(&CreatedCounts) -> u64| switches.iter().map(|s| of(&s.summary.created)).sum::<u64>();
    CreatedCounts {
        mirror: sum(|c| c.mirror),
        multicast: sum(|c| c.multicast),
        pktgen: sum(|c| c.pktgen),
        digest: sum(|c| c.digest),
        pfc: sum(|c| c.pfc),
    }
}

/// A row that has the name of its switch in a network.
trait Row: Clone {
    fn switch(&mut self) -> &mut Option<String>;
}

macro_rules! rows_with_switch {
    ($($row:ty),*) => {
        $(impl Row for $row {
            fn switch(&mut self) -> &mut Option<String> {
                &mut self.switch
            }
        })*
    };
}
rows_with_switch!(PortRow, QueueRow, PoolRow, PipeWords, ViolationRow, crate::held_back::SenderRow);

/// Returns the rows of all switches, each with the name of its switch.
fn rows<R: Row + 'static>(switches: &[SwitchRow], of: impl Fn(&Summary) -> &[R]) -> Vec<R> {
    let of = |switch: &SwitchRow| {
        let mut rows = of(&switch.summary).to_vec();
        rows.iter_mut().for_each(|row| *row.switch() = Some(switch.name.clone()));
        rows
    };
    switches.iter().flat_map(of).collect()
}

/// Returns all queues, with the names of their ports.
fn queues(switches: &[SwitchRow]) -> Vec<QueueRow> {
    let mut all = rows(switches, |s| &s.queues);
    let own = switches.iter().flat_map(|s| s.summary.queues.iter().map(move |_| &s.summary.ports));
    for (queue, ports) in all.iter_mut().zip(own) {
        let port = ports.iter().find(|p| p.dev_port == queue.dev_port);
        // The list has only ports that received or sent a packet.
        let name = port.map_or_else(|| format!("dev:{}", queue.dev_port), |p| p.port.clone());
        queue.port = Some(name);
    }
    all
}

/// Returns ports without a link that sent or received something.
fn edge_ports(network: &Network, switches: &[SwitchRow]) -> Vec<PortRow> {
    let ends: Vec<(&str, u16)> = network
        .links()
        .filter_map(|id| network.link(id))
        .flat_map(|link| link.ends)
        .filter_map(|end| port(network, end))
        .collect();
    let mut ports = rows(switches, |s| &s.ports);
    ports.retain(|p| {
        !ends.iter().any(|(switch, dev)| p.switch.as_deref() == Some(*switch) && *dev == p.dev_port)
    });
    ports
}

/// Returns the switch and the dev_port of a link's end.
fn port(network: &Network, end: End) -> Option<(&str, u16)> {
    let setup = network.setup(end.switch)?;
    Some((setup.name.as_str(), setup.ports.front(end.port)?.dev_port.number()))
}

/// Returns the packets that senders of all switches held back.
fn held_back(switches: &[SwitchRow]) -> Option<HeldBackReport> {
    let cable_m = switches.iter().find_map(|s| s.summary.obey_pfc.as_ref())?.cable_m;
    let ports = rows(switches, |s| s.obey_pfc.as_ref().map_or(&[][..], |report| &report.ports));
    Some(HeldBackReport { cable_m, ports })
}

fn warnings(switches: &[SwitchRow]) -> impl Iterator<Item = String> + '_ {
    switches.iter().flat_map(|s| s.summary.warnings.iter().map(move |text| format!("{}: {text}", s.name)))
}

/// Returns a warning for each cycle of queues that wait for each other at the end of the run.
fn deadlocks(network: &Network) -> Vec<String> {
    let queue = |w: &Waiting| format!("{} queue {}", port_of(network, w.switch, w.dev_port), w.queue);
    let circle = |circle: &Vec<Waiting>| {
        let queues: Vec<String> = circle.iter().map(queue).collect();
        format!("deadlock: queues wait for each other's pauses to end: {}", queues.join(", then "))
    };
    network.deadlocks().iter().map(circle).collect()
}

/// Returns a warning for each switch that sent frames on ports with nothing at their far end.
fn uncabled(network: &Network) -> Vec<String> {
    let of_switch = |id| {
        let ports: Vec<(u16, u64)> = network.uncabled(id).collect();
        let frames: u64 = ports.iter().map(|(_, frames)| frames).sum();
        let (first, _) = ports.first()?;
        let others = if ports.len() > 1 { format!(" and {} more", ports.len() - 1) } else { String::new() };
        let port = port_of(network, id, *first);
        Some(format!(
            "{frames} frames are lost because {port}{others} has neither a cable nor a host (no_cable)"
        ))
    };
    network.ids().filter_map(of_switch).collect()
}

/// Returns a warning if switches sent frames to hosts that they are not for.
fn misaddressed(network: &Network) -> Option<String> {
    let of = |id| network.misaddressed(id).map(move |(port, sent)| (port_of(network, id, port), sent));
    let all: Vec<(String, Misaddressed)> = network.ids().flat_map(of).collect();
    let frames: u64 = all.iter().map(|(_, sent)| sent.frames).sum();
    let (port, Misaddressed { host, first, .. }) = all.first()?;
    Some(format!(
        "{frames} frames are lost because switches sent them to hosts that they are not for: {port} leads to {host} and \
         got frames for other hosts, the first for {first} (wrong_host)"
    ))
}

/// Returns the names of a switch and of its port.
fn port_of(network: &Network, switch: SwitchId, dev_port: u16) -> String {
    let shown = |s: &SwitchSetup| {
        let front = s.ports.iter().find(|p| p.dev_port.number() == dev_port)?.front()?;
        Some(s.ports.shown(front))
    };
    let port = network.setup(switch).and_then(shown).unwrap_or_else(|| format!("dev:{dev_port}"));
    format!("{} port {port}", name_of(network, switch))
}

fn link(network: &Network, id: LinkId) -> Option<LinkRow> {
    let setup = network.link(id)?;
    let [a, b] = setup.ends;
    let end = |end: End| {
        let (switch, dev_port) = port(network, end)?;
        Some(EndRow { switch: switch.to_owned(), port: end.port.to_string(), dev_port })
    };
    let (_, dev_port) = port(network, a)?;
    let speeds = &network.setup(a.switch)?.config.port_speeds;
    let slower = speeds.iter().rev().find(|(dev, _)| *dev == dev_port).map(|(_, speed)| *speed);
    let rate = slower.or_else(|| Some(network.setup(a.switch)?.ports.front(a.port)?.speed))?;
    Some(LinkRow {
        link: network.link_name(id),
        a: end(a)?,
        b: end(b)?,
        rate_bps: rate.as_bps(),
        delay_ns: setup.delay.as_ps() as f64 / 1000.0,
        events: setup.script.len(),
        forth: WayRow::of(network.way(id, Way::Forth)?),
        back: WayRow::of(network.way(id, Way::Back)?),
    })
}

impl WayRow {
    fn of(t: WayTotals) -> WayRow {
        let mut drops = Counts::new();
        for (drop, name, ..) in LinkDrop::TABLE {
            add(&mut drops, name, t.dropped[drop as usize]);
        }
        WayRow { packets: t.frames, bytes: t.bytes, wire_bytes: t.wire_bytes, carried: t.carried, drops }
    }

    /// Returns the number of frames that do not arrive.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.drops.values().sum()
    }
}

impl LinkRow {
    /// Returns the number of frames sent in both directions.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.forth.packets + self.back.packets
    }
}
