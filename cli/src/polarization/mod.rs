//! `sluice polarization`: measures whether a network's traffic is polarised, under several hashing schemes.

mod args;
mod csv;
mod draws;
mod outcome;
mod plot;
mod text;

pub(crate) use args::PolarizationArgs;

use crate::console::fail::Failure;
use crate::console::table::{table, wide};
use crate::console::terminal;
use crate::open::door::{Door, OpenProgram};
use crate::open::p4::P4Args;
use crate::open::resolve::blueprint;
use crate::output::files::{Folder, pretty};
use outcome::{Outcome, Report, Size};
use serde_json::json;
use sluice_asic::chip::ChipSpec;
use sluice_catalogue::{Catalogue, StageProgram};
use sluice_fabric::flows::{Extracted, Flows, Generator, extract};
use sluice_fabric::polarization::run as measure_scheme;
use sluice_fabric::polarization::{
    Compared, NoPlan, Picker, PointStats, Question, Results, compare, one_size_will_do,
};
use sluice_fabric::topology::{Clos, DRing, Network, Wan};
use sluice_hashing::scheme::{Scheme, Terms};
use sluice_pcaps::capture::CaptureReader;
use std::io::Write;
use std::num::NonZero;
use std::path::Path;

/// Sizes that figure 16 of the paper probably shows (model: hashing §4.3).
const FIGURE_SIZES: [u32; 5] = [9, 25, 41, 57, 73];

/// Runs all schemes over the same flows and prints a comparison.
pub(crate) fn run(args: &PolarizationArgs, catalogue: &Catalogue, as_json: bool) -> Result<(), Failure> {
    let mut door = Door::new(catalogue, &P4Args::default(), &ChipSpec::tofino2());
    let opened = args.packets.as_deref().map(|program| door.program(program)).transpose()?;
    let network = network(args)?;
    let captured = args.capture.as_deref().map(|path| captured(path, &network)).transpose()?;
    let folder = Folder::asked("polarization", args.output.as_ref(), NAMES)?;
    let stage = opened.as_ref().map(|opened| &opened.stage);
    let mut outcomes = Vec::new();
    for &scheme in &args.schemes {
        let draws = if scheme == Scheme::PerStage { args.draws } else { 1 };
        for draw in 0..draws {
            let name = if draws > 1 { format!("{scheme} {}", draw + 1) } else { scheme.to_string() };
            let question = question(args, scheme, args.picker, draw);
            let results = one(args, &network, &captured, &question);
            let packets = stage.map(|stage| packets(args, stage.as_ref(), &network, &captured, &question));
            outcomes.push(Outcome { name, scheme: Some(scheme), results, packets: packets.transpose()? });
        }
    }
    let ideal = question(args, Scheme::Plain, Picker::Ideal, 0);
    let results = one(args, &network, &captured, &ideal);
    outcomes.push(Outcome { name: "ideal mixer".to_owned(), scheme: None, results, packets: None });
    let sizes = if args.output.is_some() { by_size(args, &network, &captured) } else { Vec::new() };
    let program = opened.as_ref().map(OpenProgram::name);
    let report = Report::new(args, program, &network, captured, outcomes, sizes);
    let written = folder.map_or(Ok(()), |folder| write_files(folder, &report));
    let mut out = terminal::results(as_json);
    if as_json {
        writeln!(out, "{}", json!(report))?;
    } else {
        write!(out, "{}", text::text(&report, table))?;
    }
    written
}

/// Measures coprime groups of the figure's sizes; empty if replicated groups cannot all have the same size.
fn by_size(args: &PolarizationArgs, network: &Network, captured: &Option<Extracted>) -> Vec<Size> {
    let coprime = question(args, Scheme::Coprime, args.picker, 0);
    let wanted = args.members.is_none() && args.schemes.contains(&Scheme::Coprime);
    if !wanted || !one_size_will_do(network, &coprime).unwrap_or(false) {
        return Vec::new();
    }
    let measured = |members: u32| {
        let question = Question { members: Some(members), ..coprime.clone() };
        let results = one(args, network, captured, &question).ok()?;
        Some(Size { members, cv: beyond_noise(&results) })
    };
    FIGURE_SIZES.into_iter().filter_map(measured).collect()
}

/// Returns the largest median variation over decision points, without the part that chance explains.
fn beyond_noise(results: &Results) -> f64 {
    let beyond = |p: &PointStats| (p.cv[0].powi(2) - p.noise.powi(2)).max(0.0).sqrt();
    results.points.iter().map(beyond).fold(0.0, f64::max)
}

fn one(
    args: &PolarizationArgs,
    network: &Network,
    captured: &Option<Extracted>,
    question: &Question,
) -> Result<Box<Results>, NoPlan> {
    let threads = args.threads.or_else(|| std::thread::available_parallelism().ok());
    let threads = threads.unwrap_or(NonZero::<usize>::MIN);
    if let Some(found) = captured {
        return measure_scheme(network, question, Flows::Given(&found.flows), threads).map(Box::new);
    }
    let mut flows = Generator::new(args.workload, network, args.flows, args.seed.into());
    if let Some(block) = args.from_block {
        flows = flows.from_block(block);
    }
    measure_scheme(network, question, Flows::Made(&flows), threads).map(Box::new)
}

/// Sends the packets of the capture. The inner error says why a scheme cannot run on a switch.
fn packets(
    args: &PolarizationArgs,
    stage: &dyn StageProgram,
    network: &Network,
    captured: &Option<Extracted>,
    question: &Question,
) -> Result<Result<Compared, String>, Failure> {
    let (Some(path), Some(captured)) = (&args.capture, captured) else { return Ok(Ok(Compared::default())) };
    let mut reader = CaptureReader::open(path).map_err(Failure::input)?;
    Ok(compare(stage, network, question, &captured.flows, &mut reader))
}

fn question(args: &PolarizationArgs, scheme: Scheme, picker: Picker, draw: u32) -> Question {
    let (hash_bits, width) = picker.limits();
    let terms = Terms {
        supply: args.functions.0.clone(),
        seed: args.seed.wrapping_add(draw),
        hash_bits,
        width: args.width_limit.map_or(width, |w| w.min(width)),
        target: args.target,
        order: args.order,
    };
    Question { scheme, terms, picker, members: args.members, method: args.method }
}

fn network(args: &PolarizationArgs) -> Result<Network, Failure> {
    let (blocks, width, parallel) = (args.blocks, args.width, args.parallel);
    let built = match args.topology.as_str() {
        "clos" => {
            let d = Clos::default();
            let (blocks, width) = (blocks.unwrap_or(d.blocks), width.unwrap_or(d.width));
            Clos { blocks, width, parallel: parallel.unwrap_or(d.parallel) }.build()
        }
        "dring" => {
            let d = DRing::default();
            let (blocks, width) = (blocks.unwrap_or(d.blocks), width.unwrap_or(d.width));
            DRing { blocks, width, parallel: parallel.unwrap_or(d.parallel) }.build()
        }
        "wan" => {
            let d = Wan::default();
            Wan { width: width.unwrap_or(d.width), parallel: parallel.unwrap_or(d.parallel) }.build()
        }
        other => {
            let plan = blueprint(other)?;
            return fail_links(args, Network::from_blueprint(&plan).map_err(Failure::input)?);
        }
    };
    fail_links(args, built.map_err(Failure::input)?)
}

fn fail_links(args: &PolarizationArgs, mut network: Network) -> Result<Network, Failure> {
    for (from, to) in &args.fail {
        network.fail(from, to).map_err(Failure::input)?;
    }
    if args
        .from_block
        .is_some_and(|b| !network.edges.iter().any(|e| network.switches[*e as usize].block == b))
    {
        return Err(Failure::input("--from-block: this block has no edge switch"));
    }
    Ok(network)
}

fn captured(path: &Path, network: &Network) -> Result<Extracted, Failure> {
    let name = path.display();
    let mut reader = CaptureReader::open(path).map_err(Failure::input)?;
    let found = extract(&mut reader, network).map_err(Failure::input)?;
    if found.flows.is_empty() {
        return Err(Failure::input(format!("{name} has no frame with IP, so it has no flows")));
    }
    Ok(found)
}

/// Names of the files of `-o`.
const NAMES: [&str; 6] =
    ["polarization.json", "polarization.txt", "cdf.svg", "links.csv", "links.svg", "sizes.svg"];

fn write_files(mut folder: Folder, report: &Report<'_>) -> Result<(), Failure> {
    folder.text("polarization.json", report.schema, "all figures", &pretty(report))?;
    folder.text("polarization.txt", "text/plain", "the same as printed", &text::text(report, wide))?;
    let cdf = plot::cdf(report);
    folder.chart(
        "cdf.svg",
        "image/svg+xml",
        "variation over groups, by scheme (the paper's figures 14 and 15)",
        &cdf,
    )?;
    let loads = csv::links(report)?;
    folder.text(
        "links.csv",
        "text/csv",
        "flows and bytes on every link of every group, by scheme",
        &loads,
    )?;
    let links = plot::links(report);
    folder.chart(
        "links.svg",
        "image/svg+xml",
        "links of the least even group (figures 13 and 20)",
        &links,
    )?;
    if !report.sizes.is_empty() {
        let sizes = plot::sizes(report);
        folder.chart("sizes.svg", "image/svg+xml", "variation by coprime size (figure 16)", &sizes)?;
    }
    folder.finish()
}
