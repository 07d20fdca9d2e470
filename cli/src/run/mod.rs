//! `sluice run`: runs buffer scenarios or contests of programs, and checks their expectations; runs configs of ns-3
//! simulators.

pub(crate) mod contest;
mod json;
pub(crate) mod kept;
mod markdown;
mod ns3;
mod page;
pub(crate) mod scenario_job;
mod sizes;
mod source;
mod sweep;
mod text;
mod watch;

use crate::console::fail::Failure;
use crate::console::hint::own_arguments;
use crate::console::invocation::Out;
use crate::console::numbers::{number, threads};
use crate::console::terminal;
use crate::output::files::{self, Folder, pretty};
use crate::output::timeline::check_built;
use crate::output::trace_out::TraceOutArgs;
use crate::output::verdict::{Ended, Verdict, VerdictFiles};
use clap::Args;
use sluice_asic::names::did_you_mean;
use sluice_asic::units::Duration;
use sluice_catalogue::Catalogue;
use sluice_scenario::contest::WatchFlow;
use sluice_scenario::{Lab, Outcome};
use source::Source;
use std::io::Write;
use std::num::NonZero;
use std::path::PathBuf;
use watch::{Finished, Form};

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Files of scenarios or contests, or the config.txt of HPCC's or ConWeave's ns-3 simulator [default: all scenarios
    /// that come with Sluice]
    pub(crate) files: Vec<PathBuf>,
    /// Run only scenarios with this id, or with an id that continues it after `.`, `-` or `/`; repeatable
    #[arg(long, value_name = "ID")]
    pub(crate) filter: Vec<String>,
    /// List the scenarios instead of running them
    #[arg(long)]
    pub(crate) list: bool,
    /// Print the results as Markdown, the handbook's page docs/scenarios.md
    #[arg(long, conflicts_with_all = ["list", "output"])]
    pub(crate) markdown: bool,
    /// Folder for run.json, run.csv, run.md, a table and charts of each sweep, and manifest.json
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Write the results as one self-contained page: which expectations hold, plots, programs compared
    #[arg(long, value_name = "FILE", conflicts_with_all = ["list", "dry_run", "watch_flow", "write_flows"])]
    pub(crate) html: Option<PathBuf>,
    /// With -o, write a timeline of each device: contents of pools, groups and queues during its scenario; repeatable
    #[arg(long, value_enum, value_name = "FORMAT", requires = "output")]
    timelines: Vec<Form>,
    /// Sample at multiples of this time, for example 1us, instead of at every change
    #[arg(long, value_name = "TIME", value_parser = crate::output::timeline::interval, requires = "timelines")]
    timelines_every: Option<Duration>,
    /// Run each contest with N seeds, from its first one on [default: the file's, or 5]
    #[arg(long, value_name = "N", value_parser = number::<u32>(1..=1000))]
    pub(crate) seeds: Option<u32>,
    /// Do all runs of contests, also those that the output folder has already
    #[arg(long, requires = "output")]
    pub(crate) again: bool,
    /// Estimate the packets, time and memory of contests instead of running them
    #[arg(long, conflicts_with_all = ["list", "output", "markdown"])]
    pub(crate) dry_run: bool,
    /// Run a contest with its first seed up to the end of one message, and write the message's rate, window, round trip and
    /// queues over time: the number of a message (`pair` in flows.csv), or FROM-TO, such as 10.0.0.1-10.0.1.1
    #[arg(long, value_name = "MESSAGE", requires = "output", conflicts_with_all = ["list", "markdown"])]
    pub(crate) watch_flow: Option<WatchFlow>,
    /// Time between two samples of --watch-flow
    #[arg(long, value_name = "TIME", default_value = "1us", value_parser = crate::output::timeline::interval)]
    pub(crate) watch_every: Duration,
    /// Write the messages of contests as lists of flows, one for each workload and seed, instead of running them
    #[arg(long, value_name = "DIR", conflicts_with_all = ["list", "markdown", "output"])]
    pub(crate) write_flows: Option<PathBuf>,
    /// Of a config of an ns-3 simulator, run only the first N flows
    #[arg(long, value_name = "N", value_parser = number::<usize>(..))]
    pub(crate) flows: Option<usize>,
    /// Threads on which a contest's runs are done; results do not depend on it
    #[arg(long, default_value = "1", value_name = "N", value_parser = threads)]
    pub(crate) threads: NonZero<usize>,
    /// Do the runs of a contest on a Ray cluster, such as ray://host:10001; needs the Python package: python -m sluice run
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) on: Option<String>,
    #[command(flatten)]
    pub(crate) traces: TraceOutArgs,
    #[command(flatten)]
    pub(crate) verdicts: VerdictFiles,
    #[command(flatten)]
    pub(crate) p4: crate::open::p4::P4Args,
}

/// Runs scenarios.
pub(crate) fn run(args: &RunArgs, catalogue: &Catalogue, as_json: bool) -> Result<(), Failure> {
    if args.on.is_some() {
        return Err(needs_python("run"));
    }
    if args.traces.wanted() && args.watch_flow.is_none() {
        let help = "add --watch-flow MESSAGE -o DIR, for example --watch-flow 1 -o out";
        return Err(Failure::with_help("--trace-out of a contest traces the frames of one message", help));
    }
    let (configs, others) = ns3::among(&args.files)?;
    match (configs.is_empty(), others.is_empty()) {
        (true, _) => {}
        (false, true) => return ns3::run(configs, args, catalogue, as_json),
        (false, false) => {
            return Err(Failure::input(
                "a run takes either configs of ns-3 simulators or files of Sluice, not both; use two commands",
            ));
        }
    }
    if args.flows.is_some() {
        return Err(Failure::input("--flows is for configs of ns-3 simulators"));
    }
    let (contests, others) = contest::among(&others)?;
    match (contests.is_empty(), others.is_empty()) {
        (true, _) => {}
        (false, true) => return contest::run(contests, args, catalogue, as_json),
        (false, false) => {
            return Err(Failure::input(
                "a run takes either contests or scenarios, not both; use two commands",
            ));
        }
    }
    if args.seeds.is_some() {
        return Err(Failure::input("--seeds is for contests; a scenario has no random workload"));
    }
    if args.dry_run || args.watch_flow.is_some() {
        return Err(Failure::input(
            "--dry-run and --watch-flow are for contests; name a file with [workload]",
        ));
    }
    if args.write_flows.is_some() {
        return Err(Failure::input("--write-flows is for contests; a scenario has no messages"));
    }
    let sources = Source::all(&others)?;
    let wanted = |id: &str| {
        args.filter.is_empty()
            || args.filter.iter().any(|f| {
                id.strip_prefix(f.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-', '/']))
            })
    };
    if args.list {
        return list(&sources, &wanted, as_json);
    }
    for form in &args.timelines {
        check_built(form.ending().1).map_err(Failure::input)?;
    }
    let finished = Finished::default();
    let mut lab = Lab::default();
    if let Some(dir) = args.output.as_ref().filter(|_| !args.timelines.is_empty()) {
        lab.watch(args.timelines_every, watch::watches(dir, &args.timelines, &finished));
    }
    let names = names(&sources, &wanted);
    if names.is_empty() {
        let ids = sources.iter().flat_map(|source| source.file.ids());
        let near = args.filter.first().map_or(String::new(), |filter| did_you_mean(filter, ids));
        return Err(Failure::with_help(
            format!("no scenario is called `{}`{near}", args.filter.join("`, `")),
            "`sluice run --list` shows the ids",
        ));
    }
    let folder = Folder::asked("run", args.output.as_ref(), names_of_files(&names, &args.timelines))?;
    let mut out = terminal::results(as_json || args.markdown);
    let rows = (!as_json && !args.markdown).then(|| text::Rows::new(&names));
    if let Some(rows) = &rows {
        out.write_all(rows.head().as_bytes())?;
    }
    let outcomes = outcomes(lab, &sources, &wanted, &mut |outcome| match &rows {
        Some(rows) => out.write_all(rows.row(outcome).as_bytes()),
        None => Ok(()),
    })?;
    if args.markdown {
        write!(out, "{}", markdown::page(&outcomes))?;
    } else if as_json {
        writeln!(out, "{}", serde_json::json!(json::Outcomes::of(&outcomes)))?;
    } else {
        write!(out, "{}", text::report(&outcomes))?;
    }
    if let Some(path) = &args.html {
        let command = format!("sluice run {}", own_arguments::<RunArgs>("run", ""));
        files::write(path, &page::page(&outcomes, command.trim_end()))?;
    }
    if let Some(mut folder) = folder {
        let value = pretty(&json::Outcomes::of(&outcomes));
        folder.text("run.json", json::SCHEMA, "every scenario with its assertions", &value)?;
        let csv = text::csv(&outcomes)?;
        folder.text("run.csv", "text/csv", "every assertion: found, expected, unit", &csv)?;
        let page = markdown::page(&outcomes);
        folder.text("run.md", "text/markdown", "the same as a page", &page)?;
        for outcome in outcomes.iter().filter(|o| !o.points.is_empty()) {
            let stem = stem(&outcome.id, &outcome.profile);
            let csv = sweep::csv(outcome)?;
            folder.text(
                &format!("{stem}.csv"),
                "text/csv",
                "a sweep: its keys and what each case saved",
                &csv,
            )?;
            for (name, chart) in sweep::charts(outcome) {
                let file = format!("{stem}.{}.svg", name.replace('/', "-"));
                folder.chart(&file, "image/svg+xml", "the same drawn over the last key", &chart)?;
            }
        }
        watch::hand_over(&finished, &mut folder);
        folder.finish()?;
    }
    args.verdicts.write("run", &outcomes.iter().flat_map(for_ci).collect::<Vec<_>>())?;
    match outcomes.iter().all(|o| o.passed() != Some(false)) {
        true => Ok(()),
        false => Err(Failure::Property),
    }
}

/// Returns the beginning of the names of a scenario's files.
fn stem(id: &str, profile: &str) -> String {
    format!("{id}.{profile}").replace('/', "-")
}

/// Returns the names of the files of `-o`, for these scenarios with their profiles.
fn names_of_files(scenarios: &[(String, String)], timelines: &[Form]) -> Vec<String> {
    let mut names: Vec<String> = ["run.json", "run.csv", "run.md"].map(str::to_owned).into();
    for (id, profile) in scenarios {
        let stem = stem(id, profile);
        names.extend([format!("{stem}.csv"), format!("{stem}.*.svg")]);
        names.extend(timelines.iter().map(|form| watch::names(id, profile, *form)));
    }
    names
}

/// Returns the failure of `--on` in a binary, which has no client of a cluster.
pub(crate) fn needs_python(command: &str) -> Failure {
    Failure::with_help(
        "--on needs the Python package, which does the runs on the cluster",
        format!(
            "install the wheel of Sluice, then `python -m sluice {command} .. --on ADDRESS` (docs/python.md)"
        ),
    )
}

/// Returns the verdicts on a scenario's assertions.
fn for_ci(outcome: &Outcome) -> Vec<Verdict> {
    let suite = match outcome.profile.as_str() {
        "" => outcome.id.clone(),
        profile => format!("{} on {profile}", outcome.id),
    };
    let verdict = |name: String, ended: Ended, line: Option<usize>| Verdict {
        suite: suite.clone(),
        name,
        ended,
        at: Some((outcome.origin.clone(), line)),
    };
    if let Some(why) = &outcome.not_applicable {
        return vec![verdict(outcome.title.clone(), Ended::Skipped(why.clone()), None)];
    }
    let mut all = Vec::new();
    for check in &outcome.checks {
        let unit = if check.unit.is_empty() { String::new() } else { format!(" {}", check.unit) };
        let ended = match check.passed {
            true => Ended::Passed,
            false => {
                Ended::Failed(format!("found {}{unit}, expected {}{unit}", check.actual, check.expected))
            }
        };
        let case = if check.case.is_empty() { String::new() } else { format!(" ({})", check.case) };
        all.push(verdict(format!("{}{case}", check.what), ended, Some(check.line)));
    }
    if let Some(error) = &outcome.error {
        all.push(verdict(outcome.title.clone(), Ended::Broken(error.clone()), None));
    }
    all
}

/// Runs the scenarios, and calls `ended` with each as soon as it has run. After an error of `ended`, the rest runs all the same.
fn outcomes(
    mut lab: Lab,
    sources: &[Source],
    wanted: &dyn Fn(&str) -> bool,
    ended: &mut dyn FnMut(&Outcome) -> std::io::Result<()>,
) -> Result<Vec<Outcome>, Failure> {
    let (mut list, mut printed) = (Vec::new(), Ok(()));
    for source in sources {
        let profiles = |name: &str| source.profile(name);
        lab.run(&source.file, &profiles, wanted, &mut |outcome| {
            if printed.is_ok() {
                printed = ended(&outcome);
            }
            list.push(outcome);
        });
    }
    printed?;
    Ok(list)
}

/// Returns the ids and profiles of the scenarios that run.
fn names(sources: &[Source], wanted: &dyn Fn(&str) -> bool) -> Vec<(String, String)> {
    let mut names = Vec::new();
    for file in sources.iter().map(|source| &source.file) {
        for scenario in file.scenario.iter().map(|s| s.get_ref()).filter(|s| wanted(&s.id)) {
            let mut profiles = scenario.device.over(&file.device).profiles.unwrap_or_default();
            if scenario.host.is_some() {
                profiles = vec!["host".to_owned()];
            }
            names.extend(profiles.into_iter().map(|profile| (scenario.id.clone(), profile)));
        }
        let skipped = file.skip.iter().filter(|skip| wanted(&skip.id));
        names.extend(skipped.map(|skip| (skip.id.clone(), String::new())));
    }
    names
}

fn list(sources: &[Source], wanted: &dyn Fn(&str) -> bool, as_json: bool) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for file in sources.iter().map(|s| &s.file) {
        for scenario in file.scenario.iter().map(|s| s.get_ref()).filter(|s| wanted(&s.id)) {
            let profiles = scenario.device.over(&file.device).profiles.unwrap_or_default().join(", ");
            rows.push([scenario.id.clone(), scenario.source.clone(), profiles, scenario.title.clone()]);
        }
        for skip in file.skip.iter().filter(|s| wanted(&s.id)) {
            let why = format!("not run: {}", skip.reason);
            rows.push([skip.id.clone(), skip.source.clone(), why, skip.title.clone()]);
        }
    }
    let mut out = Out::new();
    if as_json {
        let keys = ["id", "source", "profiles", "title"];
        let row = |row: &[String; 4]| -> serde_json::Map<String, serde_json::Value> {
            keys.iter().zip(row).map(|(k, v)| ((*k).to_owned(), v.as_str().into())).collect()
        };
        let list: Vec<_> = rows.iter().map(row).collect();
        writeln!(out, "{}", serde_json::json!({ "schema": "sluice.scenarios/1", "scenarios": list }))?;
        return Ok(());
    }
    for [id, source, profiles, title] in rows {
        writeln!(out, "{id:<10} {title}\n           {source}; {profiles}")?;
    }
    Ok(())
}
