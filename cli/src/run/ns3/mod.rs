//! `sluice run` of a `config.txt` of the ns-3 simulators of HPCC and ConWeave.

mod page;
mod targets;

use super::RunArgs;
use crate::console::fail::{Failure, reason};
use crate::console::hint::own_arguments;
use crate::console::interrupt::interrupt_flag;
use crate::console::progress::{Bar, eta_of_sending};
use crate::console::terminal;
use crate::console::text_file;
use crate::output::files::{self, Folder, pretty};
use serde_json::{Value, json};
use sluice_asic::units::Duration;
use sluice_catalogue::Catalogue;
use sluice_pcaps::capture::unpacked;
use sluice_scenario::ns3::{Config, Experiment, Outcome, Progress, Text};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Instant;
use targets::Target;

/// Most bytes of an unpacked list of flows.
const LONGEST: u64 = 1 << 30;

/// A config and the folder that its paths are relative to.
pub(super) struct Source {
    config: Config,
    base: PathBuf,
}

/// Separates configs of the simulators from other files.
pub(super) fn among(paths: &[PathBuf]) -> Result<(Vec<Source>, Vec<PathBuf>), Failure> {
    let (mut configs, mut others) = (Vec::new(), Vec::new());
    for path in paths {
        // A file that cannot be read counts as a scenario file, whose reader reports the error.
        let text = text_file::text(path).unwrap_or_default();
        if !Config::is_one(&text) {
            others.push(path.clone());
            continue;
        }
        let config = Config::parse(&path.display().to_string(), &text).map_err(Failure::input)?;
        let base = base(path, config.text("TOPOLOGY_FILE"));
        configs.push(Source { config, base });
    }
    Ok((configs, others))
}

/// Returns the folder in which the topology is: the present one, the config's, or one above it; the present one if there is
/// none.
fn base(config: &Path, topology: &str) -> PathBuf {
    let above = config.ancestors().skip(1).map(Path::to_owned);
    let mut folders = std::iter::once(PathBuf::new()).chain(above);
    folders.find(|folder| folder.join(topology).is_file()).unwrap_or_default()
}

impl Source {
    /// Returns the text of the file that a key names.
    fn read(&self, key: &str) -> Result<(String, String), Failure> {
        let path = self.base.join(self.config.text(key));
        let content = text_file::bytes(&path).and_then(|file| unpacked(file, LONGEST));
        let text = content.and_then(|content| String::from_utf8(content).map_err(std::io::Error::other));
        let (origin, line) = (&self.config.origin, self.config.line(key));
        let text = text.map_err(|e| {
            let text = format!("{origin}:{line}: {key}: cannot read {}: {}", path.display(), reason(&e));
            Failure::with_help(
                text,
                "paths are relative to the present folder, to the config's, or to one above it",
            )
        })?;
        Ok((path.display().to_string(), text))
    }
}

/// Runs configs, writes the files that they name, and prints what was done.
pub(super) fn run(
    sources: Vec<Source>,
    args: &RunArgs,
    catalogue: &Catalogue,
    as_json: bool,
) -> Result<(), Failure> {
    let given = [
        ("--again", args.again),
        ("--dry-run", args.dry_run),
        ("--filter", !args.filter.is_empty()),
        ("--list", args.list),
        ("--markdown", args.markdown),
        ("--seeds", args.seeds.is_some()),
        ("--timelines", !args.timelines.is_empty()),
        ("--watch-flow", args.watch_flow.is_some()),
        ("--write-flows", args.write_flows.is_some()),
    ];
    if let Some((flag, _)) = given.into_iter().find(|(_, given)| *given) {
        return Err(Failure::with_help(
            format!("{flag} is not for configs of ns-3 simulators"),
            "the config says all of a run; RANDOM_SEED is its seed",
        ));
    }
    let mut out = terminal::results(as_json);
    let (mut values, mut runs, mut deadlocked) = (Vec::new(), Vec::new(), false);
    let several = sources.len() > 1;
    let mut taken = BTreeSet::from([files::MANIFEST.to_owned()]);
    let targets = sources.iter().map(|source| match args.output.as_deref() {
        None => targets::as_named(&source.config, &source.base),
        Some(dir) => targets::in_output(&source.config, dir, several, &mut taken),
    });
    let targets: Vec<Vec<Target>> = targets.collect::<Result<_, _>>()?;
    let names = targets.iter().flatten().map(|target| target.name.as_str());
    let mut folder = Folder::asked("run", args.output.as_ref(), names)?;
    for (source, targets) in sources.into_iter().zip(&targets) {
        let [topology, flows] = ["TOPOLOGY_FILE", "FLOW_FILE"].map(|key| source.read(key));
        let (topology, flows) = (topology?, flows?);
        let mut experiment = Experiment::new(
            source.config.clone(),
            Text { origin: &topology.0, text: &topology.1 },
            Text { origin: &flows.0, text: &flows.1 },
        )
        .map_err(Failure::input)?;
        let all = experiment.flows();
        experiment.cut(args.flows.unwrap_or(usize::MAX));
        experiment.notes.iter().for_each(|note| terminal::note(format_args!("{note}\n")));
        let outcome = run_one(&experiment, args.threads.get(), catalogue)?;
        let warnings = outcome.warnings.iter().map(|text| format!("warning: {text}"));
        let first = experiment.notes.len();
        experiment.notes.extend(warnings);
        experiment.notes[first..].iter().for_each(|note| terminal::note(format_args!("{note}\n")));
        let written = match &mut folder {
            None => write(targets, &outcome)?,
            Some(folder) => write_into(&source, targets, &outcome, folder)?,
        };
        let text = report(&experiment, all, &outcome, &written);
        match as_json {
            true => values.push(value(&experiment, all, &outcome, &written)),
            false => write!(out, "{text}")?,
        }
        if outcome.interrupted {
            folder.map_or(Ok(()), Folder::finish)?;
            return Err(Failure::Interrupted);
        }
        deadlocked |= !outcome.deadlocks.is_empty();
        if args.html.is_some() {
            runs.push(page::Run { experiment, outcome, text });
        }
    }
    folder.map_or(Ok(()), Folder::finish)?;
    if let Some(path) = &args.html {
        files::write(
            path,
            &page::page(&runs, &format!("sluice run {}", own_arguments::<RunArgs>("run", ""))),
        )?;
    }
    if as_json {
        write!(out, "{}", pretty(&json!({ "schema": "sluice.ns3/1", "runs": values })))?;
    }
    if deadlocked { Err(Failure::Property) } else { Ok(()) }
}

fn run_one(experiment: &Experiment, threads: usize, catalogue: &Catalogue) -> Result<Outcome, Failure> {
    let (stop, bar, started) = (interrupt_flag(), Bar::bounded(), Instant::now());
    let mut first = None;
    let mut tick = |progress: Progress| {
        if bar.is_shown() {
            let begin = *first.get_or_insert(progress.time);
            let of = |time: Duration| time.saturating_sub(begin).as_ps() as f64;
            let share = Some((of(progress.time) / of(progress.last_start).max(1.0)).min(1.0));
            let eta = eta_of_sending(share, started.elapsed());
            bar.show(
                share,
                format!("{} simulated, the last flow starts at {}{eta}", progress.time, progress.last_start),
            );
        }
        !stop.load(Ordering::Relaxed)
    };
    let outcome = experiment.run(catalogue, threads, &mut tick);
    bar.clear();
    outcome.map_err(|e| Failure::input(format!("{}: {e}", experiment.config.origin)))
}

/// Returns the text of the file that a key names; `None` if the run has none.
fn text_of<'a>(outcome: &'a Outcome, key: &str) -> Option<&'a String> {
    match key {
        "FCT_OUTPUT_FILE" => Some(&outcome.fct),
        "PFC_OUTPUT_FILE" => Some(&outcome.pfc),
        "QLEN_MON_FILE" => outcome.qlen.as_ref(),
        _ => outcome.cnp.as_ref(),
    }
}

/// Writes the files that the config names where it says, and returns their paths.
fn write(targets: &[Target], outcome: &Outcome) -> Result<Vec<PathBuf>, Failure> {
    let mut written = Vec::new();
    for Target { key, path, .. } in targets {
        if let Some(text) = text_of(outcome, key) {
            files::write(path, text)?;
            written.push(path.clone());
        }
    }
    Ok(written)
}

/// Writes the files that the config names into an output folder, and returns their paths.
fn write_into(
    source: &Source,
    targets: &[Target],
    outcome: &Outcome,
    folder: &mut Folder,
) -> Result<Vec<PathBuf>, Failure> {
    let mut written = Vec::new();
    for Target { key, name, path } in targets {
        if let Some(text) = text_of(outcome, key) {
            let what = format!("{key} of {}", source.config.origin);
            folder.text(name, "text/plain", &what, text)?;
            written.push(path.clone());
        }
    }
    Ok(written)
}

fn report(experiment: &Experiment, all: usize, outcome: &Outcome, written: &[PathBuf]) -> String {
    let hosts = &outcome.hosts;
    let cut = if experiment.flows() < all { format!(" (the first of {all})") } else { String::new() };
    let files: Vec<String> = written.iter().map(|path| path.display().to_string()).collect();
    let left = match experiment.flows() - outcome.complete {
        0 => String::new(),
        left => format!("  {left} flows are not complete\n"),
    };
    let cycle = |cycle: &String| {
        format!(
            "  DEADLOCK: {cycle} wait for each other's pauses; route without cycles, or enlarge BUFFER_SIZE\n"
        )
    };
    let deadlocks: String = outcome.deadlocks.iter().map(cycle).collect();
    format!(
        "{}{cut}\n  {} flows complete at {}; {} packets, {} sent again, {} marked, {} dropped, {} notifications; hosts were \
         paused {} times, {}\n{left}{deadlocks}  wrote {}\n",
        experiment.summary(),
        outcome.complete,
        outcome.end,
        hosts.sent,
        hosts.resent,
        hosts.marked,
        outcome.totals.dropped,
        hosts.notifications,
        hosts.pauses,
        hosts.paused,
        files.join(", ")
    )
}

fn value(experiment: &Experiment, all: usize, outcome: &Outcome, written: &[PathBuf]) -> Value {
    let hosts = &outcome.hosts;
    let files: Vec<String> = written.iter().map(|path| path.display().to_string()).collect();
    json!({
        "config": experiment.config.origin,
        "summary": experiment.summary(),
        "notes": experiment.notes,
        "flows": { "listed": all, "run": experiment.flows(), "complete": outcome.complete },
        "end_ns": outcome.end.as_ps() / 1_000,
        "packets": { "sent": hosts.sent, "sent_again": hosts.resent, "marked": hosts.marked, "dropped": outcome.totals.dropped },
        "notifications": hosts.notifications,
        "host_pauses": hosts.pauses,
        "deadlocks": outcome.deadlocks,
        "files": files,
    })
}
