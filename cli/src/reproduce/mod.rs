//! `sluice reproduce`: repeats experiments of papers.

mod files;
mod json;
mod parts;
mod text;

use crate::console::fail::Failure;
use crate::console::terminal;
use crate::open::p4::{P4Args, as_p4c};
use crate::run::contest::Source;
use crate::run::needs_python;
use clap::{Args, Parser};
use serde_json::json;
use sluice_catalogue::Catalogue;
use sluice_papers::{Evidence, Experiment, Judgement, Library, Reproduced, Rival, Scale, judge};
use std::ffi::OsString;
use std::io::Write;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(Debug, Args)]
pub(crate) struct ReproduceArgs {
    /// Experiments, such as conweave/lossless; a paper's name stands for all of its experiments, and `all` for all papers'
    /// [default: list them]
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    /// Size of the runs: quick (minutes for all experiments) or full (hours)
    #[arg(long, value_name = "quick|full", default_value_t = Scale::Quick)]
    scale: Scale,
    /// A program of yours that runs as one more rival: a .p4 or .sluice file, or a name; repeatable
    #[arg(long, value_name = "PROGRAM")]
    with: Vec<String>,
    /// Experiments of your own: a folder with published.toml, and the folders experiments, contests and profiles, as `papers` of
    /// Sluice's sources [default: the experiments that come with Sluice]
    #[arg(long, value_name = "DIR")]
    papers: Option<PathBuf>,
    /// Capture of yours (pcap or pcapng), whose packets the experiments send that need one; without it `all` and names of papers
    /// leave these out
    #[arg(long, value_name = "FILE")]
    capture: Option<PathBuf>,
    /// Print the results as Markdown; of `all`, the handbook's page docs/papers.md
    #[arg(long)]
    markdown: bool,
    /// Write the results as one self-contained page: numbers beside the published ones, plots, claims
    #[arg(long, value_name = "FILE", requires = "ids")]
    html: Option<PathBuf>,
    /// Folder for a page and a table of each experiment, the contests as files, and the runs, which are not run again
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Do all runs, also those that the output folder has already
    #[arg(long, requires = "output")]
    again: bool,
    /// Threads that share the runs; results do not depend on it [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = crate::console::numbers::threads)]
    threads: Option<NonZero<usize>>,
    /// Do the runs of contests on a Ray cluster, such as ray://host:10001; needs the Python package: python -m sluice reproduce
    #[arg(long, value_name = "ADDRESS")]
    on: Option<String>,
    #[command(flatten)]
    p4: P4Args,
}

/// An experiment that was run.
struct Done {
    experiment: Experiment,
    found: Evidence,
    judgement: Judgement,
    /// Time of the run, as a text.
    took: String,
}

impl Done {
    /// Returns the experiment for a page.
    fn shown(&self) -> Reproduced<'_> {
        let Done { experiment, found, judgement, took } = self;
        Reproduced { experiment, judgement, found, took }
    }
}

/// Runs or lists experiments.
pub(crate) fn run(args: &ReproduceArgs, catalogue: &Catalogue, as_json: bool) -> Result<(), Failure> {
    if args.on.is_some() {
        return Err(needs_python("reproduce"));
    }
    let library = library(args)?;
    let mut out = terminal::results(as_json || args.markdown || args.ids.is_empty());
    if args.ids.is_empty() {
        match as_json {
            true => writeln!(out, "{}", json!(json::Experiments::of(&library.experiments)))?,
            false => write!(out, "{}", text::list(&library))?,
        }
        return Ok(());
    }
    let mut wanted = chosen(&args.ids, &library.experiments)?;
    if args.capture.is_none() {
        for id in &args.ids {
            if let Some(lacking) =
                wanted.iter().find(|experiment| experiment.id == *id && experiment.needs_capture())
            {
                return Err(Failure::with_help(
                    format!("{} sends the packets of a capture, and there is none", lacking.id),
                    "name one: --capture trace.pcapng",
                ));
            }
        }
        wanted.retain(|experiment| {
            if experiment.needs_capture() {
                terminal::note(format_args!(
                    "note: {} is left out: it needs --capture FILE\n",
                    experiment.id
                ));
            }
            !experiment.needs_capture()
        });
    }
    let rivals: Vec<Rival> = args.with.iter().map(|program| Rival::new(program)).collect();
    let output = files::open(&wanted, &library, args, &rivals)?;
    let mut done = Vec::with_capacity(wanted.len());
    for experiment in wanted {
        done.push(one(experiment.clone(), args, (&library, &rivals), catalogue)?);
        if let (Some(done), false) = (done.last(), as_json || args.markdown) {
            write!(out, "{}", text::report(done, args.scale))?;
            out.flush()?;
        }
    }
    if as_json {
        writeln!(out, "{}", json!(json::Results::of(&done, args.scale)))?;
    } else if args.markdown {
        write!(out, "{}", text::page(&done, &library, args.scale))?;
    }
    if let Some(path) = &args.html {
        let shown: Vec<Reproduced<'_>> = done.iter().map(Done::shown).collect();
        crate::output::files::write(path, &sluice_papers::html(&shown, &library.published, args.scale))?;
    }
    if let Some(output) = output {
        files::write(&done, &library, args, output)?;
    }
    // A disagreement or a doubt whose cause is known is a result; one without is a failure.
    match done.iter().any(|done| done.judgement.is_unexplained()) {
        false => Ok(()),
        true => Err(Failure::Property),
    }
}

/// Returns the experiments of a folder, or those that come with Sluice.
fn library(args: &ReproduceArgs) -> Result<Library, Failure> {
    match &args.papers {
        Some(folder) => files::library(folder),
        None => Library::shipped().map_err(|e| Failure::Inconsistent(e.to_string())),
    }
}

/// The arguments of the command by themselves.
#[derive(Debug, Parser)]
#[command(name = "reproduce")]
struct Line {
    #[command(flatten)]
    args: ReproduceArgs,
}

/// Returns the contests that `sluice reproduce` with these arguments runs, and the options of their P4 programs. Programs of
/// `--with` are in `folder`.
pub(crate) fn sources(arguments: &[String], folder: &Path) -> Result<(Vec<Source>, P4Args), Failure> {
    let words = std::iter::once("reproduce".into()).chain(arguments.iter().map(OsString::from));
    let words = as_p4c(words);
    let Line { args } = Line::try_parse_from(words).map_err(|e| {
        let text = e.to_string();
        Failure::input(text.trim_start_matches("error: ").trim_end())
    })?;
    let library = library(&args)?;
    let rivals: Vec<Rival> = args.with.iter().map(|program| Rival::new(program)).collect();
    let mut sources = Vec::new();
    for experiment in chosen(&args.ids, &library.experiments)? {
        sources.extend(parts::sources(experiment, &library, (args.scale, &rivals), folder)?.1);
    }
    Ok((sources, args.p4))
}

/// Returns the experiments that the ids mean, in the order of the list.
fn chosen<'a>(ids: &[String], all: &'a [Experiment]) -> Result<Vec<&'a Experiment>, Failure> {
    let means = |id: &str, experiment: &Experiment| {
        id == "all"
            || experiment.id == id
            || experiment.id.strip_prefix(id).is_some_and(|rest| rest.starts_with('/'))
    };
    let names = |experiment: &'a Experiment| {
        let id = experiment.id.as_str();
        [id, id.split('/').next().unwrap_or(id), "all"]
    };
    for id in ids {
        if !all.iter().any(|experiment| means(id, experiment)) {
            let near = sluice_asic::names::nearest(id, all.iter().flat_map(names));
            let help = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
            let help = format!("{help}`sluice reproduce` lists all experiments");
            return Err(Failure::with_help(format!("there is no experiment `{id}`"), help));
        }
    }
    Ok(all.iter().filter(|experiment| ids.iter().any(|id| means(id, experiment))).collect())
}

/// Runs and judges one experiment.
fn one(
    experiment: Experiment,
    args: &ReproduceArgs,
    (library, rivals): (&Library, &[Rival]),
    catalogue: &Catalogue,
) -> Result<Done, Failure> {
    let began = Instant::now();
    let found = parts::run(&experiment, library, args, rivals, catalogue)?;
    let judgement = judge(&experiment, &found, &library.published, rivals).map_err(Failure::input)?;
    let takes_rivals = experiment.contest.iter().any(|part| part.rivals);
    for rival in rivals.iter().filter(|_| !takes_rivals) {
        let (id, program) = (&experiment.id, &rival.program);
        terminal::note(format_args!(
            "note: {id} has no programs that compete, so {program} does not take part\n"
        ));
    }
    Ok(Done { experiment, found, judgement, took: text::seconds(began.elapsed()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(words: &[&str]) -> ReproduceArgs {
        Line::parse_from(["reproduce"].iter().chain(words)).args
    }

    #[test]
    fn brief_experiments_give_the_verdicts_that_are_explained() {
        let library = Library::shipped().unwrap();
        let catalogue = sluice_generated::catalogue();
        let args = args(&["all"]);
        for experiment in library.experiments.iter().filter(|experiment| experiment.brief) {
            let done = one(experiment.clone(), &args, (&library, &[]), &catalogue).unwrap();
            assert_eq!(done.judgement.errors, [""; 0], "{}", experiment.id);
            let unexplained = done.judgement.doubts().filter(|(.., because)| because.is_empty());
            let unexplained: Vec<_> = unexplained.collect();
            assert!(unexplained.is_empty(), "{}: {unexplained:?}", text::report(&done, args.scale));
            // What is explained does disagree: a cause of something that agrees is stale.
            let rows = done.judgement.rows.iter().map(|row| (&row.row.what, &row.row.because, row.verdict));
            let claims =
                done.judgement.claims.iter().map(|claim| (&claim.what, &claim.because, claim.verdict));
            for (what, because, verdict) in rows.chain(claims) {
                let stale = verdict == sluice_papers::Verdict::Agrees && !because.is_empty();
                assert!(!stale, "{}: `{what}` agrees, so its `because` is stale", experiment.id);
            }
        }
    }

    #[test]
    fn an_experiment_that_needs_a_capture_is_refused_without_one() {
        let refused = run(&args(&["hashing/trace"]), &sluice_generated::catalogue(), false).unwrap_err();
        assert_eq!(refused.to_string(), "hashing/trace sends the packets of a capture, and there is none");
        assert_eq!(refused.help(), Some("name one: --capture trace.pcapng"));
    }

    #[test]
    fn ids_are_experiments_papers_or_all() {
        let library = Library::shipped().unwrap();
        let count = |id: &str| chosen(&[id.to_owned()], &library.experiments).map(|list| list.len());
        assert_eq!(count("hpcc/mice").unwrap(), 1);
        assert!(count("hpcc").unwrap() > 1 && count("all").unwrap() > count("hpcc").unwrap());
        let failure = count("hpc/mice").unwrap_err();
        assert!(failure.help().unwrap().contains("did you mean `hpcc/mice`?"), "{failure}");
        // The beginning of a name is not a paper.
        assert!(count("hpc").is_err());
    }
}
