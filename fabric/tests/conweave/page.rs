//! `docs/conweave-load.md` and its drawings, made of runs. With `UPDATE=1` they are written, without it a difference
//! fails; without optimisation only when asked for (`-- --ignored`).

use crate::chart::Chart;
use crate::laps::{self, Laps};
use crate::load::{self, Load};
use crate::{hot_flows, load::Load as Row};
use std::fmt::Write;
use std::path::Path;

const TIMERS: [u64; 7] = [1, 100, 200, 300, 400, 800, 1600];
const LOADS: [u64; 5] = [20, 40, 60, 80, 95];

fn kept(name: &str, made: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(name);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, made).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == made, "docs/{name} is stale; write it with UPDATE=1");
}

/// A number of millionths in percent.
fn percent(ppm: u64) -> String {
    format!("{}.{:02}", ppm / 10_000, ppm % 10_000 / 100)
}

fn page(laps: &[Laps], loads: &[Row], rates: &[(u16, u64)]) -> String {
    let mut out = String::from(
        "# ConWeave under load\n\n<!-- Made by `UPDATE=1 cargo test --release -p sluice-fabric --test conweave`; a test \
         fails when it is stale. -->\n\n",
    );
    let bdp = laps[0].lap_ns * 50;
    write!(
        out,
        "## Timer packets on the recirculation line\n\nAll flows that reorder have a timer packet on one line of 400 Gb/s. \
         A timer packet takes {} bytes of it; {} bytes fit into a lap of {} ns, so the line is full with {} of them. The \
         authors say 1 us, 50 KB and 800 flows: packets of 64 bytes on a loop of 1 us. Beyond that laps grow with the number, \
         nothing is lost, and T_resume is looked at that much later. `docs/conweave-laps.svg` draws it.\n\n| timer packets | \
         lap, ns | line in use, % | dropped |\n|---|---|---|---|\n",
        laps::ON_LINE,
        bdp,
        laps[0].lap_ns,
        bdp / laps::ON_LINE
    )
    .unwrap();
    for l in laps {
        writeln!(out, "| {} | {} | {} | {} |", l.timers, l.lap_ns, l.line_percent, l.dropped).unwrap();
    }
    out.push_str(
        "\n## A two-ToR network\n\nFour hosts at 400G send to four others over four spines for 60 us: messages of 64 packets \
         of 4 KB at the line's rate, receiver and UDP port drawn at random, nobody slows down. *Queues* are most reorder \
         queues that held packets at once, at the ToR and at its fullest port (of 56 and 14); *memory* the most bytes of cells \
         in them; *recirculation* the share of its line at the receivers' ToR; *control* bytes of RTT_REPLY, CLEAR and \
         NOTIFY against those of DATA. *Out of order* is what hosts saw, *counted* what the program says of it. \
         `docs/conweave-load.svg` draws queues and memory.\n\n| load, % | DATA | delivered | TAILs | rerouted | waited | \
         queues | at a port | memory, KB | recirculation, % | control, % | out of order | counted |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for l in loads {
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            l.percent,
            l.data,
            l.delivered,
            l.tails,
            l.rerouted,
            l.waited,
            l.queues,
            l.queues_of_port,
            l.memory / 1000,
            percent(l.recirculation_ppm),
            percent(l.control_ppm),
            l.out_of_order,
            l.counted
        )
        .unwrap();
    }
    write!(
        out,
        "\n## Hot flows\n\n{} flows, a tenth of which sends half of the packets, and a control plane that hears 50 us after a \
         digest, does an operation every 50 ns and takes a flow for hot after three digests: packets under ConWeave's control \
         by rows of the flow table. All others take ECMP.\n\n| rows | flows a row | packets under control, % |\n|---|---|---|\n",
        hot_flows::FLOWS
    )
    .unwrap();
    for (rows, rate) in rates {
        writeln!(out, "| {rows} | {} | {}.{} |", hot_flows::FLOWS / rows, rate / 10, rate % 10).unwrap();
    }
    out
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes without optimisation")]
fn the_handbook_shows_what_runs_show() {
    let laps = laps::measure(&TIMERS);
    let loads: Vec<Load> = LOADS.iter().map(|percent| load::run(*percent)).collect();
    kept("conweave-load.md", &page(&laps, &loads, hot_flows::hit_rates()));
    let line = |of: fn(&Laps) -> u64| laps.iter().map(|l| (l.timers, of(l))).collect::<Vec<_>>();
    let chart = Chart {
        title: "A lap of the timer packet, ns",
        x: "timer packets that go round",
        lines: vec![("lap, ns", line(|l| l.lap_ns))],
    };
    kept("conweave-laps.svg", &chart.svg());
    let line = |of: fn(&Load) -> u64| loads.iter().map(|l| (l.percent, of(l))).collect::<Vec<_>>();
    let chart = Chart {
        title: "Reorder queues in use, and their memory",
        x: "load, %",
        lines: vec![("queues", line(|l| l.queues)), ("memory, 10 KB", line(|l| l.memory / 10_000))],
    };
    kept("conweave-load.svg", &chart.svg());
}
