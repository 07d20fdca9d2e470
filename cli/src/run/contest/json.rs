//! Results of contests as JSON.

use super::Finished;
use serde::Serialize;
use sluice_scenario::contest::{Figure, Performance, Results, RunKey, Series, Verdict};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// Name of the schema.
pub(super) const SCHEMA: &str = "sluice.contest/2";

/// The results of all contests: a document of schema `sluice.contest/2`.
#[derive(Serialize)]
pub(super) struct Contests<'a> {
    schema: &'static str,
    contests: Vec<ContestRow<'a>>,
}

#[derive(Serialize)]
struct ContestRow<'a> {
    id: &'a str,
    name: &'a str,
    source: &'a str,
    topology: &'a str,
    sweep: BTreeMap<&'a str, &'a str>,
    seeds: &'a [u64],
    programs: Vec<ProgramRow<'a>>,
    expect: &'a [Verdict],
    error: Option<&'a str>,
}

#[derive(Serialize)]
struct ProgramRow<'a> {
    label: &'a str,
    program: &'a str,
    /// Digest of the configuration of each run.
    runs: Vec<Option<&'a str>>,
    deadlocks: Vec<Deadlock<'a>>,
    warnings: Vec<&'a str>,
    units: BTreeMap<String, &'static str>,
    numbers: BTreeMap<String, Figure>,
    unfinished: Vec<UnfinishedRow>,
}

#[derive(Serialize)]
struct Deadlock<'a> {
    seed: u64,
    cycle: &'a str,
}

#[derive(Serialize)]
struct UnfinishedRow {
    seed: u64,
    from: Ipv4Addr,
    to: Ipv4Addr,
    bytes: u64,
    start_ns: u64,
    acknowledged_packets: u64,
}

impl<'a> Contests<'a> {
    pub(super) fn of(all: &'a [Finished]) -> Contests<'a> {
        Contests { schema: SCHEMA, contests: all.iter().map(ContestRow::of).collect() }
    }
}

impl<'a> ContestRow<'a> {
    fn of(finished: &'a Finished) -> ContestRow<'a> {
        let Finished { contest, axes, results, verdicts, digests } = finished;
        let series = results.series.iter().enumerate();
        ContestRow {
            id: &contest.id,
            name: &contest.name,
            source: &contest.source,
            topology: &contest.topology,
            sweep: axes.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect(),
            seeds: &results.seeds,
            programs: series.map(|(place, series)| ProgramRow::of(place, series, results, digests)).collect(),
            expect: &verdicts.list,
            error: verdicts.error.as_deref(),
        }
    }
}

impl<'a> ProgramRow<'a> {
    fn of(
        program: usize,
        series: &'a Series,
        results: &Results,
        digests: &'a BTreeMap<RunKey, String>,
    ) -> ProgramRow<'a> {
        let runs = || results.seeds.iter().copied().zip(&series.runs);
        let unfinished = runs().flat_map(|(seed, run)| {
            run.unfinished.iter().map(move |one| UnfinishedRow {
                seed,
                from: one.from,
                to: one.left.message.to,
                bytes: one.left.message.bytes,
                start_ns: one.left.message.start.since_origin().as_nanos(),
                acknowledged_packets: one.left.acknowledged,
            })
        });
        let deadlocks =
            runs().flat_map(|(seed, run)| run.deadlocks.iter().map(move |cycle| Deadlock { seed, cycle }));
        let digest = |seed: &u64| digests.get(&RunKey { program, seed: *seed }).map(String::as_str);
        let numbers = series.figures();
        let units = numbers.keys().filter_map(|name| Some((name.clone(), Performance::unit(name)?)));
        ProgramRow {
            label: &series.label,
            program: &series.program,
            runs: results.seeds.iter().map(digest).collect(),
            deadlocks: deadlocks.collect(),
            warnings: series.warnings(),
            units: units.collect(),
            numbers,
            unfinished: unfinished.collect(),
        }
    }
}
