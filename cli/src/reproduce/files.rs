//! The files of `sluice reproduce`: a folder of experiments of one's own, and the results of `-o`.

use super::{Done, ReproduceArgs, json, text};
use crate::console::fail::Failure;
use crate::console::text_file::read_text;
use crate::output::files::{Folder, pretty};
use crate::run::contest::RUNS;
use sluice_papers::{Experiment, Library, Rival, ScaledContest, contests, html, markdown};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The output folder, and the contests of each experiment.
pub(super) type Output = (Folder, Vec<Vec<ScaledContest>>);

/// Opens the output folder for experiments, with the contests that each will have there.
pub(super) fn open(
    experiments: &[&Experiment],
    library: &Library,
    args: &ReproduceArgs,
    rivals: &[Rival],
) -> Result<Option<Output>, Failure> {
    let Some(dir) = &args.output else { return Ok(None) };
    let scaled = experiments.iter().map(|experiment| contests(experiment, library, args.scale, rivals));
    let scaled: Vec<Vec<ScaledContest>> = scaled.collect::<Result<_, _>>().map_err(Failure::input)?;
    let mut names: Vec<String> =
        vec![RUNS.to_owned() + "/", "reproduce.json".to_owned(), "papers.md".to_owned()];
    names.extend(experiments.iter().flat_map(|experiment| {
        let stem = stem(experiment);
        [format!("{stem}.html"), format!("{stem}.md")]
    }));
    for contest in scaled.iter().flatten() {
        names.push(contest.file.clone());
        names.extend(contest.names.iter().cloned());
    }
    Ok(Some((Folder::open("reproduce", dir, names)?, scaled)))
}

/// Returns the beginning of the names of an experiment's files.
fn stem(experiment: &Experiment) -> String {
    experiment.id.replace('/', "-")
}

/// Writes a page and a table of each experiment, and its contests as `sluice run` takes them.
pub(super) fn write(
    all: &[Done],
    library: &Library,
    args: &ReproduceArgs,
    (mut folder, scaled): Output,
) -> Result<(), Failure> {
    let value = pretty(&json::Results::of(all, args.scale));
    folder.text("reproduce.json", json::SCHEMA, "every number, claim and verdict", &value)?;
    let page = text::page(all, library, args.scale);
    folder.text("papers.md", "text/markdown", "all experiments, by paper", &page)?;
    let mut named = BTreeSet::new();
    for (done, contests) in all.iter().zip(scaled) {
        let Done { experiment, judgement, took, .. } = done;
        let stem = stem(experiment);
        let page = html(&[done.shown()], &library.published, args.scale);
        folder.text(&format!("{stem}.html"), "text/html", "an experiment as a page", &page)?;
        let page = markdown(experiment, judgement, args.scale, took);
        folder.text(&format!("{stem}.md"), "text/markdown", "the same as tables", &page)?;
        for contest in contests {
            let what = "a contest of an experiment, as `sluice run` takes it";
            folder.text(&contest.file, "application/toml", what, &contest.text)?;
            named.extend(contest.names);
        }
    }
    for name in named {
        let what = "a profile, list or topology that contests name";
        folder.text(&name, "text/plain", what, &library.texts[&name])?;
    }
    folder.finish()
}

/// Reads a folder of experiments: `published.toml`, and everything in `experiments`, `contests` and `profiles`. The id of an
/// experiment is its path in `experiments` without `.toml`; contests and profiles are called by their paths in their folders.
pub(super) fn library(folder: &Path) -> Result<Library, Failure> {
    let read = |path: &Path| read_text(path);
    let published = read(&folder.join("published.toml"))?;
    let texts = |part: &str| -> Result<Vec<(String, String)>, Failure> {
        let root = folder.join(part);
        let mut paths = Vec::new();
        if root.is_dir() {
            below(&root, LEVELS, &mut paths)?;
        }
        paths.sort();
        let name = |path: &Path| path.strip_prefix(&root).unwrap_or(path).display().to_string();
        paths.iter().map(|path| Ok((name(path), read(path)?))).collect()
    };
    let mut experiments = texts("experiments")?;
    experiments.iter_mut().for_each(|(name, _)| *name = name.trim_end_matches(".toml").to_owned());
    let mut others = texts("contests")?;
    others.extend(texts("profiles")?);
    let found = Library::new(
        &published,
        experiments.iter().map(|(name, text)| (name.as_str(), text.as_str())),
        others.iter().map(|(name, text)| (name.as_str(), text.as_str())),
    );
    found.map_err(|e| Failure::input(format!("{}: {e}", folder.display())))
}

/// Most folders inside each other.
const LEVELS: usize = 4;

/// Collects the files in a folder and in the folders in it.
fn below(folder: &Path, levels: usize, into: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let error = |e: &std::io::Error| Failure::file("read", folder, e);
    for entry in std::fs::read_dir(folder).map_err(|e| error(&e))? {
        let path = entry.map_err(|e| error(&e))?.path();
        match path.is_dir() {
            true if levels > 0 => below(&path, levels - 1, into)?,
            true => {}
            false => into.push(path),
        }
    }
    Ok(())
}
