//! Timer packets without other traffic: flows with one early packet and no more, so that all of them wait.

use super::{LINE, RATE, RECIRCULATION, TIMER, data, ports, tenths};
use crate::conweave::wire::{Cw, Flow, read};
use crate::conweave::world::{Build, TICK, at_tick};
use sluice_asic::chip::ChipSpec;
use sluice_asic::units::BitRate;
use sluice_catalogue::ports::PortRange;
use sluice_programs::conweave::Params;
use std::collections::{BTreeMap, BTreeSet};

/// A ToR with ports of one speed: all ports of a pipe except the last are for hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    gbps: u64,
    hosts: u16,
    paths: u16,
}

/// The three ways to split a pipe of Tofino 2: with 4, 28 and 56 hosts.
pub(super) const SHAPES: [Shape; 3] = [
    Shape { gbps: 400, hosts: 4, paths: 4 },
    Shape { gbps: 100, hosts: 28, paths: 4 },
    Shape { gbps: 50, hosts: 56, paths: 8 },
];

/// Measurements with this number of timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Laps {
    pub(super) shape: Shape,
    /// Flows with an early packet, and those that found a queue.
    pub(super) flows: u64,
    pub(super) timers: u64,
    /// Mean time of a recirculation in ns.
    pub(super) lap: u64,
    /// Recirculations in the window.
    pub(super) laps: u64,
    /// The most cells in the recirculation port's queue: timer packets, each of which takes one.
    pub(super) waiting: u64,
}

/// Window in which recirculations are counted, in ns.
pub(super) const WINDOW: u64 = 30_000;

impl Shape {
    pub(super) fn build(self) -> Build {
        let (first, last) = (self.hosts, self.hosts + self.paths - 1);
        let p = Params {
            hosts: PortRange { first: 0, last: self.hosts - 1 },
            uplinks: PortRange { first, last },
            // No flow stops waiting while recirculations are counted.
            resume_default: 4_000,
            ..Params::default()
        };
        Build::with_ports(p, ports(self.gbps))
    }

    /// Measures the timers of `flows` flows per host. A flow's hash decides which queues it may take, so it takes more
    /// flows than queues to fill them.
    pub(super) fn laps(self, build: &Build, per_host: u16) -> Laps {
        let flows: Vec<Flow> =
            (0..self.hosts * per_host).map(|n| Flow::new(1, 1 + (n % self.hosts) as u8, n)).collect();
        let mut tor = build.tor(2, &flows, at_tick(1_000));
        let early = Cw { path: 2, opcode: 1, phase: 1, epoch: 1, ts_tx: 121, ts_tail: 120, ..Cw::default() };
        for (n, flow) in (0u64..).zip(&flows) {
            let front = self.hosts + (n % u64::from(self.paths)) as u16;
            tor.rx(front, 10 * TICK + n * 60, &data(*flow, 1, early, 16));
        }
        let from = 10 * TICK + flows.len() as u64 * 60 + 20_000;
        tor.until(from);
        let totals = tor.switch.totals().clone();
        tor.until(from + WINDOW);
        let now = tor.switch.totals();
        assert_eq!(now.made.mirror, totals.made.mirror, "nothing but laps in the window");
        let (timers, laps) = (totals.made.mirror, now.recirculated - totals.recirculated);
        assert_eq!(timers + tor.counter("unsorted", 0), flows.len() as u64);
        let queue = tor.switch.queues().find(|(port, queue, _)| (*port, *queue) == RECIRCULATION).unwrap().2;
        let waiting = u64::from(queue.max_cells.0);
        Laps { shape: self, flows: flows.len() as u64, timers, lap: WINDOW * timers / laps, laps, waiting }
    }
}

/// Time of a timer packet on the recirculation port's line, in ps.
pub(super) const SLOT: u64 = (TIMER + LINE) * 8 * 1_000 / RATE;

/// The law: a recirculation takes its own time while the line has room for all timers, else their time on the line.
pub(super) fn law(alone: u64, timers: u64) -> u64 {
    alone.max(timers * SLOT / 1_000)
}

impl Laps {
    /// Share of the recirculation port's line, in thousandths.
    pub(super) fn share(&self) -> u64 {
        self.laps * SLOT / WINDOW
    }

    pub(super) fn row(&self, alone: u64) -> String {
        let Laps { shape, flows, timers, lap, waiting, .. } = *self;
        let (share, law) = (tenths(self.share()), law(alone, timers));
        format!(
            "| {} x {}G | {flows} | {timers} | {lap} | {law} | {share} % | {waiting} |",
            shape.hosts, shape.gbps
        )
    }
}

/// Returns a line of the table, of a ToR's flows.
pub(super) const HEAD: &str = "| hosts | flows | timers at once | lap ns | law ns | share of the line | most that wait |\n|---|---|---|---|---|---|---|";

#[test]
fn laps_take_their_own_time_until_the_line_is_full_and_then_their_turns() {
    let shape = SHAPES[1];
    let build = shape.build();
    let alone = shape.laps(&build, 1);
    assert_eq!(alone.timers, 28);
    assert!((600..700).contains(&alone.lap), "{alone:?}");
    assert!(alone.waiting <= 3, "{alone:?}");
    // More timers than fit on the line during a recirculation: 28 hosts with 30 queues each.
    let full = shape.laps(&build, 20);
    assert!(full.timers > 500, "{full:?}");
    let law = law(alone.lap, full.timers);
    assert!(full.lap.abs_diff(law) * 50 <= law, "{full:?}: the law says {law} ns");
    // Timers wait when their turn is later than the end of a lap alone.
    let late = full.timers * (full.lap - alone.lap) / full.lap;
    assert!(full.share() >= 990 && full.waiting * 5 >= late * 4, "{full:?}, {late} late");
}

/// Flows that wait for TAIL at one time: timer packets, the time of a recirculation in ns, and the
/// longest time from TAIL to the packet that waited for it.
fn waiting_for_tail(build: &Build, flows: &[Flow]) -> (u64, u64, u64) {
    let shape = SHAPES[1];
    let mut tor = build.tor(2, flows, at_tick(1_000));
    let early = Cw { path: 2, opcode: 1, phase: 1, epoch: 1, ts_tx: 121, ts_tail: 120, ..Cw::default() };
    let tail = Cw { path: 1, opcode: 1, epoch: 1, tail: true, ts_tx: 120, ts_tail: 120, ..Cw::default() };
    for (tick, psn, cw) in [(10, 1, early), (130, 0, tail)] {
        for (n, flow) in (0u64..).zip(flows) {
            let front = shape.hosts + (n % u64::from(shape.paths)) as u16;
            tor.rx(front, tick * TICK + n * 15, &data(*flow, psn, cw, 16));
        }
    }
    let mut sent = tor.until(90 * TICK);
    let (timers, before) = (tor.switch.totals().made.mirror, tor.switch.totals().recirculated);
    let at_once: BTreeSet<Flow> = sent.iter().filter_map(|s| Some(read(&s.bytes)?.flow)).collect();
    sent.extend(tor.until(120 * TICK));
    assert_eq!(tor.switch.totals().made.mirror, timers, "nothing but laps in the window");
    let lap = 30 * TICK * timers / (tor.switch.totals().recirculated - before);
    sent.extend(tor.until(1_000 * TICK));
    assert_eq!(tor.switch.totals().dropped, 0, "no timer packet is lost");
    tor.assert_clean();
    let mut of: BTreeMap<Flow, Vec<(u64, u32)>> = BTreeMap::new();
    for front in 0..shape.hosts {
        for (ns, seen) in tor.by(&sent, front) {
            of.entry(seen.flow).or_default().push((ns, seen.psn));
        }
    }
    let waited: Vec<&Vec<(u64, u32)>> =
        of.iter().filter(|(flow, _)| !at_once.contains(flow)).map(|(_, seen)| seen).collect();
    assert_eq!(waited.len() as u64, timers);
    let late = waited.into_iter().map(|seen| {
        let [(tail, 0), (packet, 1)] = seen[..] else { panic!("{seen:?}: not in order") };
        packet - tail
    });
    (timers, lap, late.max().unwrap())
}

/// Flows of all hosts that fill at least 800 of the 840 reorder queues: no port speed gives a pipe more queues.
fn flows_of_800_timers() -> Vec<Flow> {
    (0..3_640_u16).map(|n| Flow::new(1 + (n % 97) as u8, 1 + (n % 28) as u8, n / 28)).collect()
}

#[test]
fn scenario_54_laps_get_longer_with_800_timers_and_order_is_kept() {
    let (timers, lap, late) = waiting_for_tail(&SHAPES[1].build(), &flows_of_800_timers());
    assert!(timers >= 800, "{timers} timers");
    let law = timers * SLOT / 1_000;
    assert!(lap.abs_diff(law) * 50 <= law, "{timers} timers: {lap} ns, the law says {law} ns");
    // TAIL's departure is seen by the next lap, the resumed queue by the one after it.
    assert!(late <= 2 * lap + 2_000, "{late} ns after TAIL, a lap takes {lap} ns");
}

/// A pipe has queues for at most 840 timers, and the queue table of the P4 program has 1,024 cells, so 1,600 timers
/// cannot wait. On a line of half the rate each of 800 timers takes the time of two.
#[test]
fn scenario_54_the_load_of_1600_timers_doubles_laps_and_order_is_kept() {
    let halved = |chip: &mut ChipSpec| chip.ports.recirculation_rate = BitRate::from_gbps(RATE / 2);
    let (timers, lap, late) = waiting_for_tail(&SHAPES[1].build().with_chip(halved), &flows_of_800_timers());
    assert!(2 * timers >= 1_600, "{timers} timers");
    let law = 2 * timers * SLOT / 1_000;
    assert!(lap.abs_diff(law) * 50 <= law, "{timers} timers: {lap} ns, the law says {law} ns");
    assert!(late <= 2 * lap + 2_000, "{late} ns after TAIL, a lap takes {lap} ns");
}

/// 1,600 flows that reorder at once: those with a queue have a timer and keep their order, and the others are counted.
#[test]
fn scenario_54_of_1600_flows_those_with_a_queue_keep_their_order_and_no_timer_is_lost() {
    let flows: Vec<Flow> = flows_of_800_timers().into_iter().take(1_600).collect();
    let (timers, lap, late) = waiting_for_tail(&SHAPES[1].build(), &flows);
    // Hashes leave some of the 840 queues free.
    assert!((500..=840).contains(&timers), "{timers} timers");
    let law = timers * SLOT / 1_000;
    assert!(lap.abs_diff(law) * 50 <= law, "{timers} timers: {lap} ns, the law says {law} ns");
    assert!(late <= 2 * lap + 2_000, "{late} ns after TAIL, a lap takes {lap} ns");
}
