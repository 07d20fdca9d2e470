//! All experiments, and the texts that they name.

use crate::experiment::{Experiment, ExperimentError};
use crate::published::{Paper, Published};
use std::collections::BTreeMap;

/// Published values of all papers.
const PUBLISHED: &str = include_str!("../published.toml");

/// Name and text of each experiment, by paper.
const EXPERIMENTS: &[(&str, &str)] = &[
    ("conweave/asymmetry", include_str!("../experiments/conweave/asymmetry.toml")),
    ("conweave/buffer", include_str!("../experiments/conweave/buffer.toml")),
    ("conweave/fat-tree", include_str!("../experiments/conweave/fat-tree.toml")),
    ("conweave/irn", include_str!("../experiments/conweave/irn.toml")),
    ("conweave/loss", include_str!("../experiments/conweave/loss.toml")),
    ("conweave/lossless", include_str!("../experiments/conweave/lossless.toml")),
    ("conweave/overhead", include_str!("../experiments/conweave/overhead.toml")),
    ("conweave/rivals", include_str!("../experiments/conweave/rivals.toml")),
    ("conweave/theta", include_str!("../experiments/conweave/theta.toml")),
    ("conweave/workloads", include_str!("../experiments/conweave/workloads.toml")),
    ("letflow/asymmetric", include_str!("../experiments/letflow/asymmetric.toml")),
    ("letflow/data-mining", include_str!("../experiments/letflow/data-mining.toml")),
    ("letflow/flowlets", include_str!("../experiments/letflow/flowlets.toml")),
    ("letflow/symmetric", include_str!("../experiments/letflow/symmetric.toml")),
    ("letflow/timeout", include_str!("../experiments/letflow/timeout.toml")),
    ("hpcc/fairness", include_str!("../experiments/hpcc/fairness.toml")),
    ("hpcc/fat-tree", include_str!("../experiments/hpcc/fat-tree.toml")),
    ("hpcc/flow-control", include_str!("../experiments/hpcc/flow-control.toml")),
    ("hpcc/incast", include_str!("../experiments/hpcc/incast.toml")),
    ("hpcc/join", include_str!("../experiments/hpcc/join.toml")),
    ("hpcc/max-stage", include_str!("../experiments/hpcc/max-stage.toml")),
    ("hpcc/mice", include_str!("../experiments/hpcc/mice.toml")),
    ("hpcc/parameters", include_str!("../experiments/hpcc/parameters.toml")),
    ("hpcc/reaction", include_str!("../experiments/hpcc/reaction.toml")),
    ("azure/congestion-leak", include_str!("../experiments/azure/congestion-leak.toml")),
    ("azure/dcqcn-tuning", include_str!("../experiments/azure/dcqcn-tuning.toml")),
    ("azure/ecn-before-pfc", include_str!("../experiments/azure/ecn-before-pfc.toml")),
    ("azure/fence", include_str!("../experiments/azure/fence.toml")),
    ("azure/long-links", include_str!("../experiments/azure/long-links.toml")),
    ("azure/long-round-trips", include_str!("../experiments/azure/long-round-trips.toml")),
    ("azure/loopback", include_str!("../experiments/azure/loopback.toml")),
    ("azure/macsec", include_str!("../experiments/azure/macsec.toml")),
    ("azure/nic-generations", include_str!("../experiments/azure/nic-generations.toml")),
    ("azure/random-loss", include_str!("../experiments/azure/random-loss.toml")),
    ("azure/rtt-fairness", include_str!("../experiments/azure/rtt-fairness.toml")),
    ("azure/slow-receiver", include_str!("../experiments/azure/slow-receiver.toml")),
    ("azure/small-buffers", include_str!("../experiments/azure/small-buffers.toml")),
    ("azure/static-flow-control", include_str!("../experiments/azure/static-flow-control.toml")),
    ("azure/storm", include_str!("../experiments/azure/storm.toml")),
    ("azure/testbed-fairness", include_str!("../experiments/azure/testbed-fairness.toml")),
    ("azure/transfer-modes", include_str!("../experiments/azure/transfer-modes.toml")),
    ("hashing/clos", include_str!("../experiments/hashing/clos.toml")),
    ("hashing/spineless", include_str!("../experiments/hashing/spineless.toml")),
    ("hashing/trace", include_str!("../experiments/hashing/trace.toml")),
    ("hashing/wan", include_str!("../experiments/hashing/wan.toml")),
    ("dcqcn/fairness", include_str!("../experiments/dcqcn/fairness.toml")),
    ("dcqcn/parking-lot", include_str!("../experiments/dcqcn/parking-lot.toml")),
    ("dcqcn/rate", include_str!("../experiments/dcqcn/rate.toml")),
    ("dcqcn/thresholds", include_str!("../experiments/dcqcn/thresholds.toml")),
    ("dcqcn/victim", include_str!("../experiments/dcqcn/victim.toml")),
    ("pfc/alpha", include_str!("../experiments/pfc/alpha.toml")),
    ("pfc/deadlock", include_str!("../experiments/pfc/deadlock.toml")),
    ("pfc/livelock", include_str!("../experiments/pfc/livelock.toml")),
    ("pfc/slow-receiver", include_str!("../experiments/pfc/slow-receiver.toml")),
    ("pfc/storm", include_str!("../experiments/pfc/storm.toml")),
];

/// Name and text of each contest and profile.
const TEXTS: &[(&str, &str)] = &[
    ("azure/congestion-leak.toml", include_str!("../contests/azure/congestion-leak.toml")),
    ("azure/dcqcn-tuning.toml", include_str!("../contests/azure/dcqcn-tuning.toml")),
    ("azure/far-and-near.toml", include_str!("../contests/azure/far-and-near.toml")),
    ("azure/fence.toml", include_str!("../contests/azure/fence.toml")),
    ("azure/long-round-trips.toml", include_str!("../contests/azure/long-round-trips.toml")),
    ("azure/loopback.toml", include_str!("../contests/azure/loopback.toml")),
    ("azure/nic-generations.toml", include_str!("../contests/azure/nic-generations.toml")),
    ("azure/pairs.csv", include_str!("../contests/azure/pairs.csv")),
    ("azure/random-loss.toml", include_str!("../contests/azure/random-loss.toml")),
    ("azure/rtt-fairness.toml", include_str!("../contests/azure/rtt-fairness.toml")),
    ("azure/static-flow-control.toml", include_str!("../contests/azure/static-flow-control.toml")),
    ("azure/testbed-fairness.toml", include_str!("../contests/azure/testbed-fairness.toml")),
    ("azure/transfer-modes.toml", include_str!("../contests/azure/transfer-modes.toml")),
    ("azure/uneven-receivers.toml", include_str!("../contests/azure/uneven-receivers.toml")),
    ("conweave/asymmetry.toml", include_str!("../contests/conweave/asymmetry.toml")),
    ("conweave/buffer.toml", include_str!("../contests/conweave/buffer.toml")),
    ("conweave/fat-tree.toml", include_str!("../contests/conweave/fat-tree.toml")),
    ("conweave/irn.toml", include_str!("../contests/conweave/irn.toml")),
    ("conweave/lone.toml", include_str!("../contests/conweave/lone.toml")),
    ("conweave/loss.toml", include_str!("../contests/conweave/loss.toml")),
    ("conweave/lossless.toml", include_str!("../contests/conweave/lossless.toml")),
    ("conweave/overhead.toml", include_str!("../contests/conweave/overhead.toml")),
    ("conweave/rivals.toml", include_str!("../contests/conweave/rivals.toml")),
    ("conweave/theta.toml", include_str!("../contests/conweave/theta.toml")),
    ("conweave/workloads.toml", include_str!("../contests/conweave/workloads.toml")),
    ("dcqcn/fairness-dcqcn.toml", include_str!("../contests/dcqcn/fairness-dcqcn.toml")),
    ("dcqcn/fairness.toml", include_str!("../contests/dcqcn/fairness.toml")),
    ("dcqcn/incast.toml", include_str!("../contests/dcqcn/incast.toml")),
    ("dcqcn/parking-lot.toml", include_str!("../contests/dcqcn/parking-lot.toml")),
    ("dcqcn/rate.toml", include_str!("../contests/dcqcn/rate.toml")),
    ("dcqcn/victim-dcqcn.toml", include_str!("../contests/dcqcn/victim-dcqcn.toml")),
    ("dcqcn/victim.toml", include_str!("../contests/dcqcn/victim.toml")),
    ("hpcc/fairness.toml", include_str!("../contests/hpcc/fairness.toml")),
    ("hpcc/incast-mix-others.toml", include_str!("../contests/hpcc/incast-mix-others.toml")),
    ("hpcc/incast-mix.toml", include_str!("../contests/hpcc/incast-mix.toml")),
    ("hpcc/join-dcqcn.toml", include_str!("../contests/hpcc/join-dcqcn.toml")),
    ("hpcc/join.toml", include_str!("../contests/hpcc/join.toml")),
    ("hpcc/leaf-spine-others.toml", include_str!("../contests/hpcc/leaf-spine-others.toml")),
    ("hpcc/leaf-spine.toml", include_str!("../contests/hpcc/leaf-spine.toml")),
    ("hpcc/max-stage.toml", include_str!("../contests/hpcc/max-stage.toml")),
    ("hpcc/mice-dcqcn.toml", include_str!("../contests/hpcc/mice-dcqcn.toml")),
    ("hpcc/mice.toml", include_str!("../contests/hpcc/mice.toml")),
    ("hpcc/star-dcqcn.toml", include_str!("../contests/hpcc/star-dcqcn.toml")),
    ("hpcc/star.toml", include_str!("../contests/hpcc/star.toml")),
    ("letflow/asymmetric-ecmp.toml", include_str!("../contests/letflow/asymmetric-ecmp.toml")),
    ("letflow/asymmetric-presto.toml", include_str!("../contests/letflow/asymmetric-presto.toml")),
    ("letflow/asymmetric-spray.toml", include_str!("../contests/letflow/asymmetric-spray.toml")),
    ("letflow/asymmetric-wcmp.toml", include_str!("../contests/letflow/asymmetric-wcmp.toml")),
    ("letflow/asymmetric.toml", include_str!("../contests/letflow/asymmetric.toml")),
    ("letflow/data-mining-tenth.txt", include_str!("../contests/letflow/data-mining-tenth.txt")),
    ("letflow/data-mining.toml", include_str!("../contests/letflow/data-mining.toml")),
    ("letflow/long-ecmp.toml", include_str!("../contests/letflow/long-ecmp.toml")),
    ("letflow/long-spray.toml", include_str!("../contests/letflow/long-spray.toml")),
    ("letflow/long.toml", include_str!("../contests/letflow/long.toml")),
    ("letflow/symmetric-presto.toml", include_str!("../contests/letflow/symmetric-presto.toml")),
    ("letflow/symmetric-spray.toml", include_str!("../contests/letflow/symmetric-spray.toml")),
    ("letflow/symmetric.toml", include_str!("../contests/letflow/symmetric.toml")),
    ("letflow/timeout.toml", include_str!("../contests/letflow/timeout.toml")),
    ("pfc/alpha.toml", include_str!("../contests/pfc/alpha.toml")),
    ("pfc/livelock.toml", include_str!("../contests/pfc/livelock.toml")),
    ("pfc/messages.csv", include_str!("../contests/pfc/messages.csv")),
    ("pfc/ring.toml", include_str!("../contests/pfc/ring.toml")),
    ("pfc/slow-receiver.toml", include_str!("../contests/pfc/slow-receiver.toml")),
    ("azure-dense.toml", include_str!("../profiles/azure-dense.toml")),
    ("azure-sparse.toml", include_str!("../profiles/azure-sparse.toml")),
    ("azure-watchdog.toml", include_str!("../profiles/azure-watchdog.toml")),
    ("dcqcn-12mb.toml", include_str!("../profiles/dcqcn-12mb.toml")),
    ("dcqcn-static-late.toml", include_str!("../profiles/dcqcn-static-late.toml")),
    ("dcqcn-static.toml", include_str!("../profiles/dcqcn-static.toml")),
    ("dcqcn-step.toml", include_str!("../profiles/dcqcn-step.toml")),
    ("dctcp-65-packets.toml", include_str!("../profiles/dctcp-65-packets.toml")),
    ("hpcc-32mb-lossy.toml", include_str!("../profiles/hpcc-32mb-lossy.toml")),
    ("hpcc-32mb-step.toml", include_str!("../profiles/hpcc-32mb-step.toml")),
    ("hpcc-32mb.toml", include_str!("../profiles/hpcc-32mb.toml")),
    ("pfc-alpha-16.toml", include_str!("../profiles/pfc-alpha-16.toml")),
    ("pfc-alpha-64.toml", include_str!("../profiles/pfc-alpha-64.toml")),
    ("rdma-24mb-headroom.toml", include_str!("../profiles/rdma-24mb-headroom.toml")),
    ("rdma-2mb-headroom.toml", include_str!("../profiles/rdma-2mb-headroom.toml")),
    ("rdma-4mb-headroom.toml", include_str!("../profiles/rdma-4mb-headroom.toml")),
    ("rdma-9mb-far.toml", include_str!("../profiles/rdma-9mb-far.toml")),
    ("rdma-9mb-headroom.toml", include_str!("../profiles/rdma-9mb-headroom.toml")),
    ("rdma-9mb-lossy.toml", include_str!("../profiles/rdma-9mb-lossy.toml")),
    ("rdma-9mb.toml", include_str!("../profiles/rdma-9mb.toml")),
    ("tcp-600-packets.toml", include_str!("../profiles/tcp-600-packets.toml")),
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
    fn contests_have_files_of_their_own_beside_what_they_name() {
        let library = Library::shipped().unwrap();
        let mut files = BTreeSet::new();
        for experiment in &library.experiments {
            for contest in contests(experiment, &library, Scale::Quick, &[]).unwrap() {
                assert!(files.insert(contest.file.clone()), "{} is there twice", contest.file);
                let profile = contest.points[0].contest.buffer.clone().filter(|name| name.ends_with(".toml"));
                assert!(profile.is_none_or(|name| contest.names.contains(&name)), "{}", contest.file);
            }
        }
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
