//! All experiments, and the texts that they name.

use crate::experiment::{Experiment, ExperimentError};
use crate::published::{Paper, Published};
use std::collections::BTreeMap;

/// Published values of all papers.
const PUBLISHED: &str = include_str!("../published.toml");

/// Name and text of each experiment, by paper.
const EXPERIMENTS: &[(&str, &str)] = &[
    ("conweave/lossless", include_str!("../experiments/conweave/lossless.toml")),
    ("hpcc/incast", include_str!("../experiments/hpcc/incast.toml")),
    ("hpcc/join", include_str!("../experiments/hpcc/join.toml")),
    ("hpcc/mice", include_str!("../experiments/hpcc/mice.toml")),
    ("hpcc/parameters", include_str!("../experiments/hpcc/parameters.toml")),
    ("hpcc/reaction", include_str!("../experiments/hpcc/reaction.toml")),
    ("hashing/clos", include_str!("../experiments/hashing/clos.toml")),
    ("hashing/spineless", include_str!("../experiments/hashing/spineless.toml")),
    ("hashing/wan", include_str!("../experiments/hashing/wan.toml")),
];

/// Name and text of each contest and profile.
const TEXTS: &[(&str, &str)] = &[
    ("conweave/lossless.toml", include_str!("../contests/conweave/lossless.toml")),
    ("hpcc/join-dcqcn.toml", include_str!("../contests/hpcc/join-dcqcn.toml")),
    ("hpcc/join.toml", include_str!("../contests/hpcc/join.toml")),
    ("hpcc/mice-dcqcn.toml", include_str!("../contests/hpcc/mice-dcqcn.toml")),
    ("hpcc/mice.toml", include_str!("../contests/hpcc/mice.toml")),
    ("hpcc/star-dcqcn.toml", include_str!("../contests/hpcc/star-dcqcn.toml")),
    ("hpcc/star.toml", include_str!("../contests/hpcc/star.toml")),
    ("hpcc-32mb.toml", include_str!("../profiles/hpcc-32mb.toml")),
    ("rdma-9mb.toml", include_str!("../profiles/rdma-9mb.toml")),
];

/// Experiments with everything that they name.
#[derive(Clone, Debug)]
pub struct Library {
    /// The experiments, by paper.
    pub experiments: Vec<Experiment>,
    /// Published values.
    pub published: Published,
    /// Contests, profiles and lists, by the names that experiments and contests call them.
    pub texts: BTreeMap<String, String>,
}

impl Library {
    /// Returns the experiments that come with Sluice.
    ///
    /// # Errors
    /// If a file is none; a test rules this out.
    pub fn shipped() -> Result<Library, ExperimentError> {
        Library::new(PUBLISHED, EXPERIMENTS.iter().copied(), TEXTS.iter().copied())
    }

    /// Returns the experiments of these files: the text of the published values; name and text of each experiment, of which the
    /// name is the id; name and text of everything else.
    ///
    /// # Errors
    /// If a file is none of its kind, or an id is not that of its file.
    pub fn new<'a>(
        published: &str,
        experiments: impl Iterator<Item = (&'a str, &'a str)>,
        texts: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> Result<Library, ExperimentError> {
        let wrong = |id: &str, what: String| ExperimentError { id: id.to_owned(), what };
        let published = Published::parse(published).map_err(|e| wrong("published.toml", e))?;
        let mut list = Vec::new();
        for (name, text) in experiments {
            let experiment = Experiment::parse(name, text)?;
            if experiment.id != name {
                let what = format!(
                    "the file has the id `{}`; expected `{name}`, as the file is called",
                    experiment.id
                );
                return Err(wrong(name, what));
            }
            if published.paper_of(name).is_none() {
                return Err(wrong(
                    name,
                    "no paper of published.toml has the first part of this id".to_owned(),
                ));
            }
            list.push(experiment);
        }
        let texts = texts.map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
        Ok(Library { experiments: list, published, texts })
    }

    /// Returns the papers that have experiments, in the order of the file of published values.
    #[must_use]
    pub fn papers(&self) -> Vec<&Paper> {
        let has = |paper: &&Paper| self.experiments.iter().any(|e| e.id.split('/').next() == Some(&paper.id));
        self.published.paper.iter().filter(has).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scale::{Scale, contests};
    use std::collections::BTreeSet;

    /// Returns the files in a folder of this crate and in the folders in it, relative to the folder.
    fn files(folder: &str) -> Vec<String> {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let (mut open, mut found) = (vec![root.clone()], Vec::new());
        while let Some(at) = open.pop() {
            for entry in std::fs::read_dir(&at).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.push(path);
                } else {
                    found.push(path.strip_prefix(&root).unwrap().display().to_string());
                }
            }
        }
        found.sort();
        found
    }

    #[test]
    fn every_file_is_shipped() {
        let mut experiments: Vec<String> =
            EXPERIMENTS.iter().map(|(name, _)| format!("{name}.toml")).collect();
        experiments.sort();
        assert_eq!(files("experiments"), experiments);
        let mut texts: Vec<String> = TEXTS.iter().map(|(name, _)| (*name).to_owned()).collect();
        texts.sort();
        let mut all = files("contests");
        all.extend(files("profiles"));
        all.sort();
        assert_eq!(all, texts);
    }

    #[test]
    fn every_experiment_is_complete() {
        let library = Library::shipped().unwrap();
        let published = &library.published;
        let mut used = BTreeSet::new();
        for experiment in &library.experiments {
            let name = &experiment.id;
            let asserted = experiment.claim.len() + experiment.row.len() + experiment.scenario.len();
            assert!(asserted > 0, "{name} asserts nothing");
            for scale in Scale::ALL {
                for contest in contests(experiment, &library, scale, &[]).unwrap() {
                    let seeds = contest.points.iter().map(|point| point.contest.seeds().len()).min();
                    assert!(seeds >= Some(5), "{name}: {} has {seeds:?} seeds", contest.name);
                }
            }
            assert!(experiment.hashing.iter().all(|part| part.seeds >= 5), "{name}: too few seeds");
            for row in &experiment.row {
                used.extend([&row.published, &row.reference, &row.theory].into_iter().flatten().cloned());
                assert!(
                    row.published.is_some() || row.reference.is_some() || row.theory.is_some(),
                    "{name}: `{}` is beside nothing; a value with `read = \"none\"` says that none was published",
                    row.what
                );
            }
            let drawn = experiment.plot.iter().flat_map(|plot| &plot.published);
            for prefix in drawn {
                let some: Vec<String> = published
                    .value
                    .iter()
                    .filter(|value| value.id.starts_with(prefix.as_str()))
                    .map(|value| value.id.clone())
                    .collect();
                assert!(!some.is_empty(), "{name}: no published value begins with `{prefix}`");
                used.extend(some);
            }
        }
        let unused: Vec<&str> =
            published.value.iter().map(|value| value.id.as_str()).filter(|id| !used.contains(*id)).collect();
        assert!(unused.is_empty(), "no experiment has {unused:?}");
        assert!(library.papers().len() == published.paper.len(), "a paper has no experiment");
    }
}
