//! `sluice flowlets`: counts the flowlets of a capture, and measures what load balancers do with them.

mod args;
mod csv;
mod plot;
mod text;

pub(crate) use args::FlowletsArgs;

use crate::console::fail::Failure;
use crate::console::terminal;
use crate::open::captures::remedy;
use crate::open::door::{Door, OpenProgram};
use crate::open::resolve;
use crate::output::files::{Folder, pretty};
use crate::output::rows::CsvText;
use serde::Serialize;
use sluice_asic::chip::ChipSpec;
use sluice_asic::units::{Bytes, Duration};
use sluice_catalogue::{Catalogue, StageProgram};
use sluice_fabric::flowlets::census::{self, Census};
use sluice_fabric::flowlets::elastic::{Paths, Settled, settle};
use sluice_fabric::flowlets::flow_key;
use sluice_fabric::flowlets::through::{Candidate, Outcome, Trace, Uplinks, through};
use sluice_pcaps::capture::{CaptureReader, CaptureTime};
use sluice_pcaps::samples;
use std::io::Write;
use std::sync::Arc;

/// All results; parts that were not requested are empty.
#[derive(Serialize)]
struct Report<'a> {
    schema: &'static str,
    seed: u64,
    chip: &'a str,
    census: Option<census::Report>,
    order: Order,
    elastic: Elastic<'a>,
}

/// Order of arrival after programs with uplinks of different delays.
#[derive(Serialize)]
struct Order {
    skew_ps: u64,
    uplink_bps: Option<u64>,
    trials: Vec<Trial>,
}

/// A program, its timeout if it has one, and the outcome.
#[derive(Serialize)]
struct Trial {
    program: String,
    timeout_ps: Option<u64>,
    #[serde(flatten)]
    outcome: Outcome,
}

impl Trial {
    /// Returns the share of reordered packets in percent.
    fn percent(&self) -> f64 {
        let reordering = self.outcome.reordering;
        100.0 * reordering.reordered as f64 / reordering.packets.max(1) as f64
    }
}

/// The elastic experiment.
#[derive(Serialize)]
struct Elastic<'a> {
    rates_bps: Vec<u64>,
    coin: &'a [u32],
    flows: u32,
    settled: Vec<SettledAt>,
}

#[derive(Serialize)]
struct SettledAt {
    timeout_ps: u64,
    #[serde(flatten)]
    settled: Settled,
}

/// Result of letting flowlets settle on one path with one timeout.
struct OnPath {
    timeout_ps: u64,
    path: usize,
    flows: f64,
    deviation: f64,
    expected: Option<f64>,
    traffic: f64,
    flowlets: f64,
    /// Packets per flowlet.
    packets: f64,
}

fn on_paths(list: &[SettledAt]) -> Vec<OnPath> {
    let of = |SettledAt { timeout_ps, settled: s }: &SettledAt| {
        let path = |path| OnPath {
            timeout_ps: *timeout_ps,
            path,
            flows: s.flows[path],
            deviation: s.deviation[path],
            expected: s.expected.as_ref().map(|expected| expected[path]),
            traffic: s.traffic[path],
            flowlets: s.flowlets[path],
            packets: s.sizes[path],
        };
        (0..s.flows.len()).map(path).collect::<Vec<_>>()
    };
    list.iter().flat_map(of).collect()
}

/// Bytes of a packet in the elastic experiment; rates count these bytes (model: flowlets §3.2).
const PACKET: Bytes = Bytes(1_500);

/// Runs the requested parts and prints the results.
pub(crate) fn run(args: &FlowletsArgs, catalogue: &Catalogue, as_json: bool) -> Result<(), Failure> {
    let chip = resolve::chip(&args.chip)?;
    let mut door = Door::new(catalogue, &args.p4, &chip);
    let programs: Vec<OpenProgram> =
        args.through.iter().map(|program| door.program(program)).collect::<Result<_, _>>()?;
    let catalogue = &door.into_catalogue();
    let folder = Folder::asked("flowlets", args.output.as_ref(), NAMES)?;
    let mut report = Report {
        schema: "sluice.flowlets/1",
        seed: args.seed,
        chip: &args.chip,
        census: None,
        order: Order {
            skew_ps: args.skew.as_ps(),
            uplink_bps: args.uplinks.map(|rate| rate.as_bps()),
            trials: Vec::new(),
        },
        elastic: Elastic {
            rates_bps: args.elastic.iter().map(|rate| rate.as_bps()).collect(),
            coin: &args.coin,
            flows: args.flows,
            settled: Vec::new(),
        },
    };
    if args.input.is_some() || args.elastic.is_empty() || !args.through.is_empty() {
        let (census, trace) = read(args)?;
        report.census = Some(census);
        report.order.trials = trials(args, (catalogue, &programs), &trace, &chip)?;
    }
    if !args.elastic.is_empty() {
        report.elastic.settled = settled(args, catalogue, &chip)?;
    }
    let written = folder.map_or(Ok(()), |folder| write_files(folder, args, &report));
    let mut out = terminal::results(as_json);
    if as_json {
        write!(out, "{}", pretty(&report))?;
    } else {
        write!(out, "{}", text::text(args, &report))?;
    }
    written
}

/// Reads the capture: its flowlets, and its frames if there are programs to send them through.
fn read(args: &FlowletsArgs) -> Result<(census::Report, Trace), Failure> {
    let bad = |e: sluice_pcaps::capture::CaptureError| Failure::with_help(&e, remedy(&e));
    let mut reader = match &args.input {
        Some(path) => CaptureReader::open(path).map_err(bad)?,
        None => {
            CaptureReader::from_bytes(samples::FLOWLETS, "flowlets.pcap (embedded sample)").map_err(bad)?
        }
    };
    let timeouts: Vec<u64> = args.timeouts.0.iter().map(|t| t.as_ps()).collect();
    let (mut census, mut trace) = (Census::new(&timeouts), Trace::default());
    let mut origin: Option<CaptureTime> = None;
    let mut latest = 0;
    while let Some(frame) = reader.next_frame().map_err(bad)? {
        let origin = *origin.get_or_insert(frame.time);
        // Timestamps of captures of several queues may step back; such a frame gets the time of the frame before it.
        latest = latest.max(frame.time.ps_since(origin).unwrap_or(0));
        match flow_key(frame.data) {
            Some(key) => census.add(key, latest, frame.orig_len),
            None => census.skip(),
        }
        if !args.through.is_empty() {
            trace.push(latest, frame.data, frame.orig_len);
        }
    }
    Ok((census.finish(), trace))
}

/// Runs every program with every timeout.
fn trials(
    args: &FlowletsArgs,
    (catalogue, programs): (&Catalogue, &[OpenProgram]),
    trace: &Trace,
    chip: &ChipSpec,
) -> Result<Vec<Trial>, Failure> {
    let mut trials = Vec::new();
    let uplinks = Uplinks { step: args.skew, rate: args.uplinks };
    let stages: Vec<&Arc<dyn StageProgram>> = programs.iter().map(|program| &program.stage).collect();
    let has = |stage: &Arc<dyn StageProgram>, key: &str| stage.params().iter().any(|p| p.key == key);
    for stage in &stages {
        let candidate = Candidate { catalogue, stage: stage.as_ref(), chip, seed: args.seed };
        let known: Vec<String> = stage.params().into_iter().map(|p| p.key).collect();
        // A parameter is set in the programs that have it. If none has it, the first program reports the error.
        let meant = |key: &String| known.contains(key) || !stages.iter().any(|stage| has(stage, key));
        let sets: Vec<(String, String)> = args.sets.iter().filter(|(key, _)| meant(key)).cloned().collect();
        let timed = known.iter().any(|key| key == "timeout") && !sets.iter().any(|(key, _)| key == "timeout");
        let timeouts: Vec<Option<Duration>> =
            if timed { args.timeouts.0.iter().copied().map(Some).collect() } else { vec![None] };
        for timeout in timeouts {
            let mut sets = sets.clone();
            sets.extend(timeout.map(|t| ("timeout".to_owned(), t.to_string())));
            let outcome = through(trace, &candidate, &sets, &uplinks).map_err(Failure::input)?;
            let timeout_ps = timeout.map(|t| t.as_ps());
            trials.push(Trial { program: stage.name().to_owned(), timeout_ps, outcome });
        }
    }
    Ok(trials)
}

/// Runs the elastic experiment with `letflow` at every timeout.
fn settled(args: &FlowletsArgs, catalogue: &Catalogue, chip: &ChipSpec) -> Result<Vec<SettledAt>, Failure> {
    let coin = if args.coin.is_empty() { vec![1; args.elastic.len()] } else { args.coin.clone() };
    let paths = Paths { rates: args.elastic.clone(), coin, flows: args.flows, packet: PACKET };
    let stage = resolve::stage(catalogue, "letflow")?.as_ref();
    let candidate = Candidate { catalogue, stage, chip, seed: args.seed };
    let at = |timeout: &Duration| {
        let settled = settle(&paths, &candidate, *timeout, args.packets).map_err(Failure::input)?;
        Ok(SettledAt { timeout_ps: timeout.as_ps(), settled })
    };
    args.timeouts.0.iter().map(at).collect()
}

/// Names of the files of `-o`.
const NAMES: [&str; 7] =
    ["flowlets.json", "flowlets.csv", "flowlets.svg", "order.csv", "order.svg", "elastic.csv", "elastic.svg"];

fn write_files(mut folder: Folder, args: &FlowletsArgs, report: &Report<'_>) -> Result<(), Failure> {
    const SVG: &str = "image/svg+xml";
    folder.text("flowlets.json", report.schema, "all figures", &pretty(report))?;
    if let Some(census) = &report.census {
        let table = CsvText::of_columns(csv::CENSUS, &census.rows)?;
        folder.text("flowlets.csv", "text/csv", "flowlets by timeout", &table)?;
        let plot = plot::census(census);
        folder.chart("flowlets.svg", SVG, "flowlets and their mean size by timeout", &plot)?;
    }
    let trials = &report.order.trials;
    if !trials.is_empty() {
        let table = CsvText::of_columns(csv::TRIALS, trials)?;
        folder.text("order.csv", "text/csv", "reordering by program and timeout", &table)?;
        let plot = plot::trials(&args.timeouts.0, trials);
        folder.chart("order.svg", SVG, "reordered packets by timeout", &plot)?;
    }
    let settled = &report.elastic.settled;
    if !settled.is_empty() {
        let table = CsvText::of_columns(csv::PATHS, &on_paths(settled))?;
        let what = "flows, traffic and flowlets by path and timeout";
        folder.text("elastic.csv", "text/csv", what, &table)?;
        let plot = plot::settled(&args.elastic, settled);
        folder.chart("elastic.svg", SVG, "share of flows by path and timeout", &plot)?;
    }
    folder.finish()
}
