//! All experiments, and the texts that they name.

use crate::experiment::{Experiment, ExperimentError};
use crate::published::{Paper, Published};

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

/// Returns the text of a shipped contest, profile or list.
#[must_use]
pub fn text(name: &str) -> Option<&'static str> {
    TEXTS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// Returns the published values.
///
/// # Errors
/// If the file contradicts itself; a test rules this out for the shipped one.
pub fn published() -> Result<Published, String> {
    Published::parse(PUBLISHED)
}

/// Returns all experiments.
///
/// # Errors
/// If a file is not an experiment; a test rules this out for the shipped ones.
pub fn experiments() -> Result<Vec<Experiment>, ExperimentError> {
    EXPERIMENTS.iter().map(|(name, text)| Experiment::parse(name, text)).collect()
}

/// Returns the experiment with this id.
///
/// # Errors
/// If its file is not an experiment.
pub fn experiment(id: &str) -> Result<Option<Experiment>, ExperimentError> {
    let found = EXPERIMENTS.iter().find(|(name, _)| *name == id);
    found.map(|(name, text)| Experiment::parse(name, text)).transpose()
}

/// Returns the papers that have experiments, in the order of the file of published values.
#[must_use]
pub fn papers(published: &Published) -> Vec<&Paper> {
    let has = |paper: &&Paper| EXPERIMENTS.iter().any(|(name, _)| name.split('/').next() == Some(&paper.id));
    published.paper.iter().filter(has).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scale::{Scale, contests};
    use std::collections::BTreeSet;

    #[test]
    fn every_experiment_is_complete() {
        let published = published().unwrap();
        let mut used = BTreeSet::new();
        for ((name, _), experiment) in EXPERIMENTS.iter().zip(experiments().unwrap()) {
            assert_eq!(*name, experiment.id);
            assert!(published.paper_of(name).is_some(), "{name}: no paper");
            let asserted = experiment.claim.len() + experiment.row.len() + experiment.scenario.len();
            assert!(asserted > 0, "{name} asserts nothing");
            for scale in Scale::ALL {
                for contest in contests(&experiment, scale, &[]).unwrap() {
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
        assert!(papers(&published).len() == published.paper.len(), "a paper has no experiment");
    }
}
