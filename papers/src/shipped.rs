//! All experiments, and the texts that they name.

use crate::experiment::{Experiment, ExperimentError};
use crate::published::{Paper, Published};
use std::collections::BTreeMap;

/// Published values of all papers.
const PUBLISHED: &str = include_str!("../published.toml");

/// Name and text of each experiment, by paper.
const EXPERIMENTS: &[(&str, &str)] =
    &[("conweave/lossless", include_str!("../experiments/conweave/lossless.toml"))];

/// Name and text of each contest and profile.
const TEXTS: &[(&str, &str)] = &[
    ("conweave/lossless.toml", include_str!("../contests/conweave/lossless.toml")),
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
