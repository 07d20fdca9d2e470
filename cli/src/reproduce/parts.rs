//! Runs the parts of an experiment.

use super::ReproduceArgs;
use crate::console::fail::Failure;
use crate::console::text_file;
use crate::run::contest::{Running, Source, Texts, run_sources};
use sluice_catalogue::Catalogue;
use sluice_papers::{Evidence, Experiment, FoundPoint, Library, Rival, Scale, Trace, contests, measure};
use sluice_scenario::contest::FigureTable;
use sluice_scenario::{Lab, ScenarioFile, shipped};
use std::num::NonZero;
use std::path::Path;
use std::sync::Arc;

/// Runs all parts.
pub(super) fn run(
    experiment: &Experiment,
    library: &Library,
    args: &ReproduceArgs,
    rivals: &[Rival],
    catalogue: &Catalogue,
) -> Result<Evidence, Failure> {
    let threads =
        args.threads.or_else(|| std::thread::available_parallelism().ok()).unwrap_or(NonZero::<usize>::MIN);
    let mut found = Evidence::default();
    let (names, sources) = sources(experiment, library, (args.scale, rivals), Path::new(""))?;
    let running =
        Running { threads: threads.get(), out: args.output.as_deref(), uses: !args.again, p4: &args.p4 };
    for (part, finished) in names.into_iter().zip(run_sources(sources, &running, catalogue)?) {
        let point = FoundPoint {
            figures: FigureTable::of(&finished.results),
            axes: finished.axes,
            results: Some(finished.results),
            error: finished.verdicts.error,
        };
        found.add(&part, point);
    }
    for part in &experiment.hashing {
        let wrong = |e: String| Failure::input(format!("{}: {e}", experiment.id));
        let capture = part.packets.as_ref().zip(args.capture.as_ref());
        let bytes =
            capture.map(|(_, path)| text_file::bytes(path).map_err(|e| Failure::file("read", path, &e)));
        let bytes = bytes.transpose()?.unwrap_or_default();
        let trace = capture.map(|(program, path)| {
            let program = catalogue.get(program).map_err(|e| wrong(e.to_string()))?.as_ref();
            let name = path.to_str().unwrap_or("the capture");
            Ok::<Trace<'_>, Failure>(Trace { bytes: &bytes, name, program })
        });
        let measured = measure(part, args.scale, threads, trace.transpose()?.as_ref());
        let point = measured.map_err(wrong)?;
        found.add(&part.name, point);
    }
    scenarios(experiment, &mut found)?;
    Ok(found)
}

/// Returns the contests of an experiment, with the names of their parts. Programs of a user are in `folder`.
pub(super) fn sources(
    experiment: &Experiment,
    library: &Library,
    (scale, rivals): (Scale, &[Rival]),
    folder: &Path,
) -> Result<(Vec<String>, Vec<Source>), Failure> {
    let scaled = contests(experiment, library, scale, rivals).map_err(Failure::input)?;
    let texts = Texts(Arc::new(library.texts.clone()));
    let mut names = Vec::new();
    let mut sources = Vec::new();
    for contest in scaled {
        for point in contest.points {
            names.push(contest.part.clone());
            sources.push(Source::new(point, folder.to_owned(), texts.clone()));
        }
    }
    Ok((names, sources))
}

/// Runs the scenarios of an experiment, which are among those that come with Sluice.
fn scenarios(experiment: &Experiment, found: &mut Evidence) -> Result<(), Failure> {
    if experiment.scenario.is_empty() {
        return Ok(());
    }
    let wanted = |id: &str| experiment.scenario.iter().any(|part| part.id == id);
    let profile = |name: &str| {
        let text = shipped::profile(name).map(str::to_owned);
        text.ok_or_else(|| format!("there is no shipped buffer profile `{name}`"))
    };
    let mut lab = Lab::default();
    for (name, text) in shipped::FILES {
        let file = ScenarioFile::parse(name, text).map_err(Failure::input)?;
        lab.run(&file, &profile, &wanted, &mut |outcome| found.outcomes.push(outcome));
    }
    for part in &experiment.scenario {
        if !found.outcomes.iter().any(|outcome| outcome.id == part.id) {
            return Err(Failure::input(format!(
                "{}: there is no shipped scenario `{}`",
                experiment.id, part.id
            )));
        }
    }
    Ok(())
}
