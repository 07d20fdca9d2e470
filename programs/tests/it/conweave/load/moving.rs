//! Flows that move all the time: packets on an old path are late, so every reply is, and every epoch ends with TAIL.

use super::{LINE, RATE, RECIRCULATION, TIMER, ports, tenths};
use crate::conweave::wire::{Flow, data};
use crate::conweave::world::{Build, Hop, Net, TICK, Tor, at_tick};
use sluice_catalogue::ports::PortRange;
use sluice_programs::conweave::Params;

/// Hosts of a ToR, and as many paths, of 100 Gb/s each.
const HOSTS: u16 = 16;
/// Cells of each way's register.
const CELLS: usize = 1024;
/// Delay of the paths in ns, and additional delay of an old path.
const BASE: u64 = 2_000;
const LATE: u64 = 20_000;
/// Time between two packets of a flow: 4.3 Gb/s.
const GAP: u64 = 2_000;
/// Start of sampling, end of sending, and sampling interval, in ns.
const FROM: u64 = 60_000;
const UNTIL: u64 = 160_000;
const STEP: u64 = 1_000;

/// Resources that moving flows used, over all samples, and packets that they sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Used {
    pub(super) flows: u64,
    /// Reorder queues of a host's port.
    pub(super) queues: u32,
    looks: u64,
    /// Reorder queues that had an owner: sum, most, and most at one port.
    owned: u64,
    pub(super) most_owned: u64,
    most_at_a_port: u64,
    /// Bytes that waited: sum and most.
    bytes: u64,
    pub(super) most_bytes: u64,
    /// Recirculations in the window, and the most packets that waited for the recirculation port.
    pub(super) laps: u64,
    waiting: u64,
    /// DATA and replies on the paths, packets and bytes.
    pub(super) data: [u64; 2],
    pub(super) answers: [u64; 2],
    tails: u64,
    /// Epochs for which no queue was free.
    pub(super) refused: u64,
    /// True if every host received packets in order.
    pub(super) sorted: bool,
}

pub(super) fn build(queues: u32) -> Build {
    let p = Params {
        hosts: PortRange { first: 0, last: HOSTS - 1 },
        uplinks: PortRange { first: HOSTS, last: 2 * HOSTS - 1 },
        queues,
        ..Params::default()
    };
    Build::with_ports(p, ports(100))
}

/// Returns bytes and packets in the reorder queues of a ToR, by port.
fn waiting(tor: &Tor) -> u64 {
    let queues = tor.switch.queues().filter(|(port, queue, _)| *port != RECIRCULATION.0 && *queue >= 2);
    queues.map(|(_, _, s)| s.enqueued.bytes.get() - s.dequeued.bytes.get()).sum()
}

/// Returns the owned cells of the queue table by host.
fn owned(tor: &Tor, build: &Build) -> Vec<u64> {
    let per_port = build.p.queues.min(30) as usize;
    let mut by_host = vec![0; usize::from(HOSTS)];
    for way in ["owner", "owner_1", "owner_2", "owner_3"] {
        for (cell, owner) in (0..CELLS).map(|i| tor.register(way, i)).enumerate().skip(1) {
            if let Some(count) = by_host.get_mut((cell - 1) / per_port).filter(|_| owner != 0) {
                *count += 1;
            }
        }
    }
    by_host
}

/// Runs `flows` flows, spread over hosts and over the gap between two of a flow's packets.
pub(super) fn run(build: &Build, count: u16) -> Used {
    let to = |n: u16| 1 + ((n + n / HOSTS * 5) % HOSTS) as u8;
    let flows: Vec<Flow> = (0..count).map(|n| Flow::new(1 + (n % HOSTS) as u8, to(n), n)).collect();
    let mut net = Net::new(build, &flows, &at_tick(1_000));
    let mut psns = 0;
    for at in (0..UNTIL).step_by(GAP as usize) {
        for (n, flow) in (0u64..).zip(&flows) {
            net.send(at + n * GAP / u64::from(count), *flow, data(*flow, psns));
        }
        psns += 1;
    }
    let mut late = |hop: Hop, _: &mut Vec<u8>| {
        let old = hop.from == 1 && hop.seen.as_ref().is_some_and(|s| s.cw.opcode == 1 && s.cw.phase == 0);
        Some(if old { BASE + LATE } else { BASE })
    };
    let mut used = Used { flows: count.into(), queues: build.p.queues.min(30), ..Used::default() };
    net.run(FROM, &mut late);
    let before = net.tors[1].switch.totals().recirculated;
    for at in (FROM..UNTIL).step_by(STEP as usize) {
        net.run(at + STEP, &mut late);
        let (owned, bytes) = (owned(&net.tors[1], build), waiting(&net.tors[1]));
        let all = owned.iter().sum();
        used.looks += 1;
        used.owned += all;
        used.most_owned = used.most_owned.max(all);
        used.most_at_a_port = used.most_at_a_port.max(owned.into_iter().max().unwrap());
        used.bytes += bytes;
        used.most_bytes = used.most_bytes.max(bytes);
    }
    used.laps = net.tors[1].switch.totals().recirculated - before;
    net.run(UNTIL + 2_000 * TICK, &mut late);
    let queue = net.tors[1].switch.queues().find(|(port, queue, _)| (*port, *queue) == RECIRCULATION);
    used.waiting = u64::from(queue.unwrap().2.max_cells.0);
    for hop in &net.hops {
        let Some(seen) = &hop.seen else { continue };
        let of = if seen.cw.opcode == 1 { &mut used.data } else { &mut used.answers };
        of[0] += 1;
        of[1] += seen.len as u64;
        used.tails += u64::from(seen.cw.opcode == 1 && seen.cw.tail);
    }
    used.refused = net.tors[1].counter("unsorted", 0);
    used.sorted = flows.iter().all(|flow| net.psns(*flow).is_sorted());
    // Flows share uplinks by their hashes, and the queues to these may overflow; no other packet is missing.
    let dropped = net.tors[0].switch.totals().dropped;
    assert_eq!(net.delivered.len() as u64 + dropped, flows.len() as u64 * u64::from(psns));
    assert_eq!(net.tors[1].switch.totals().dropped, 0);
    net.tors.iter().for_each(|tor| tor.assert_clean());
    used
}

pub(super) const HEAD: &str = "| flows | queues a port | Gb/s | reordering at once, mean | most | most at a port | KB that wait, mean | most | a flow | \
     epochs that moved | without a queue | laps/us | share of the line | most that wait | answers for 100 DATA | bytes |\n\
     |---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|";

impl Used {
    /// Flows that reordered at once, in tenths.
    pub(super) fn mean(&self) -> u64 {
        10 * self.owned / self.looks
    }

    /// Recirculations of a flow that reorders, in ns.
    pub(super) fn lap(&self) -> u64 {
        self.owned * STEP / self.laps.max(1)
    }

    /// Returns what depends on the time of a lap, as cells of a table.
    pub(super) fn effects(&self) -> String {
        let kb = |bytes: u64| tenths(bytes / 100);
        let window = UNTIL - FROM;
        let laps = tenths(self.laps * 10_000 / window);
        let share = tenths(self.laps * (TIMER + LINE) * 8 * 1_000 / window / RATE);
        format!(
            "{} | {} | {} | {} | {} | {} | {laps} | {share} % | {} | {}",
            tenths(self.mean()),
            self.most_owned,
            kb(self.bytes / self.looks),
            kb(self.most_bytes),
            self.tails,
            self.refused,
            tenths(self.answers[0] * 1_000 / self.data[0]),
            if self.sorted { "yes" } else { "no" },
        )
    }

    pub(super) fn row(&self) -> String {
        let Used { flows, queues, most_owned, most_at_a_port, tails, refused, waiting, .. } = *self;
        let window = UNTIL - FROM;
        let kb = |bytes: u64| tenths(bytes / 100);
        let a_flow = kb(self.bytes / self.owned.max(1));
        let rate = tenths(flows * data_len() * 80 / GAP);
        let laps = tenths(self.laps * 10_000 / window);
        let share = tenths(self.laps * (TIMER + LINE) * 8 * 1_000 / window / RATE);
        let answers = tenths(self.answers[0] * 1_000 / self.data[0]);
        let bytes = self.answers[1] * 10_000 / self.data[1];
        format!(
            "| {flows} | {queues} | {rate} | {} | {most_owned} | {most_at_a_port} | {} | {} | {a_flow} | {tails} | {refused} | {laps} | {share} % | \
             {waiting} | {answers} | {}.{:02} % |",
            tenths(self.mean()),
            kb(self.bytes / self.looks),
            kb(self.most_bytes),
            bytes / 100,
            bytes % 100,
        )
    }
}

/// Returns the bytes that a packet takes on a line.
fn data_len() -> u64 {
    data(Flow::new(1, 1, 0), 0).len() as u64 + LINE
}

#[test]
fn flows_that_move_all_the_time_cost_a_timer_each_and_two_answers_an_epoch() {
    let used = run(&build(32), 24);
    assert_eq!(used.refused, 0, "{used:?}");
    assert!(used.sorted, "hosts see order: {used:?}");
    // For more than half of the time a flow waits for late packets.
    assert!((120..=200).contains(&used.mean()), "{used:?}");
    // Its timer recirculates for as long as it has the queue, and for at most two recirculations more.
    assert!((500..=700).contains(&used.lap()), "{used:?}");
    // RTT_REPLY and CLEAR of an epoch, and no other reply.
    assert!(used.answers[0] <= 2 * used.tails + 2 * used.flows, "{used:?}");
    assert!(used.answers[0] >= 2 * used.tails - used.flows, "{used:?}");
}

#[test]
fn flows_beyond_the_queues_are_counted() {
    let used = run(&build(4), 80);
    assert!(used.refused > 0 && used.most_owned <= 4 * u64::from(HOSTS), "{used:?}");
    assert!(used.most_at_a_port == 4, "{used:?}");
    assert!(!used.sorted, "{used:?}");
}
