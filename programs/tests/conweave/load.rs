//! Timer packets alone: flows of which a packet came too early and nothing more, so that all of them wait and only laps
//! are run.

use crate::wire::{Cw, Flow, operation};
use crate::world::{Build, TICK, at_tick};
use sluice_asic::chip::ChipSpec;
use sluice_asic::port::PortMap;
use sluice_asic::units::BitRate;
use sluice_pcaps::wire::roce;
use sluice_programs::conweave::Params;
use sluice_programs::ports::PortRange;

/// Hosts and paths of 100 Gb/s: all ports of a pipe.
const HOSTS: u16 = 28;
const PATHS: u16 = 4;
/// The pipe's recirculation port, and the queue that timer packets take.
const RECIRCULATION: (u16, u8) = (6, 1);
/// Bytes of a timer packet on a line: headers, ConWeave's, its state; FCS, preamble, gap.
const TIMER: u64 = 58 + 11 + 4 + 20;
/// Its time on the line of 400 Gb/s, in ps.
const SLOT: u64 = TIMER * 8 * 1_000 / 400;
/// How long laps are counted, in ns.
const WINDOW: u64 = 30_000;

/// What so many timers do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Laps {
    timers: u64,
    /// Mean time of a lap in ns.
    lap: u64,
    /// Laps in the window.
    laps: u64,
    /// The most cells in the recirculation port's queue: timer packets, each of which takes one.
    waiting: u64,
}

fn build() -> Build {
    let p = Params {
        hosts: PortRange { first: 0, last: HOSTS - 1 },
        uplinks: PortRange { first: HOSTS, last: HOSTS + PATHS - 1 },
        // Nobody stops waiting while laps are counted.
        resume_default: 4_000,
        ..Params::default()
    };
    Build::with_ports(p, PortMap::new(&ChipSpec::tofino2(), BitRate::from_gbps(100)).unwrap())
}

/// Laps of the timers of so many flows a host.
fn laps(build: &Build, per_host: u16) -> Laps {
    let flows: Vec<Flow> = (0..HOSTS * per_host).map(|n| Flow::new(1, 1 + (n % HOSTS) as u8, n)).collect();
    let mut tor = build.tor(2, &flows, at_tick(1_000));
    let early = Cw { path: 2, opcode: 1, phase: 1, epoch: 1, ts_tx: 121, ts_tail: 120, ..Cw::default() };
    for (n, flow) in (0u64..).zip(&flows) {
        let front = HOSTS + (n % u64::from(PATHS)) as u16;
        let frame = operation(*flow, roce::opcode::RC_WRITE_MIDDLE, 1, 16);
        tor.rx(front, 10 * TICK + n * 60, &early.put(&frame));
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
    Laps { timers, lap: WINDOW * timers / laps, laps, waiting: u64::from(queue.max_cells.0) }
}

#[test]
fn laps_take_their_own_time_until_the_line_is_full_and_then_their_turns() {
    let build = build();
    let alone = laps(&build, 1);
    assert_eq!(alone.timers, 28);
    assert!((600..700).contains(&alone.lap) && alone.waiting <= 3, "{alone:?}");
    // More than fit on the line during a lap, which 640 ns at 400 Gb/s are 344: 28 hosts with 30 queues each.
    let full = laps(&build, 20);
    assert!(full.timers > 500, "{full:?}");
    let law = alone.lap.max(full.timers * SLOT / 1_000);
    assert!(full.lap.abs_diff(law) * 50 <= law, "{full:?}: the law says {law} ns");
    // The line has no room left, and what waits for it is in the port's queue.
    assert!(full.laps * SLOT / WINDOW >= 990 && full.waiting > 150, "{full:?}");
}
