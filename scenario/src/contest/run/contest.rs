//! Runs a contest: with each seed, each program gets the same network, hosts and messages.
//!
//! Runs are independent, so they are shared out to threads; only the [`Performance`](crate::contest::Performance) of a finished run is kept.
//!
//! A message's *slowdown* is the time from its start to its last acknowledgement, divided by its ideal time. Ideal
//! times are measured: in a separate run, one packet goes from every switch with hosts to every other one, with nothing
//! else in the network. Either the fastest program's time counts for all programs, or each program's own. Ideal times do
//! not depend on the contest's seeds: they are measured once for each program. The rest of a longer message adds its
//! serialisation time at the rate of the slowest link between the two hosts. Hosts of one switch with different links are
//! measured apart. No slowdown is below 1 (model: conweave §4.5).

use super::network_run::run;
use super::pool::run_all;
use super::progress::{Tick, Ticker};
use crate::contest::file::contest::{Contest, Contestant};
use crate::contest::network::prepared::{ContestSetup, PreparedNetwork, RunError, messages, plan, prepare};
use crate::contest::results::ideal_times::IdealTimes;
use crate::contest::results::run_store::{KeptRun, RunKey};
use crate::contest::results::series::{Results, Series};
use sluice_asic::units::Time;
use sluice_fabric::deploy::Files;

/// Runs all programs with all seeds, on as many threads as the setup allows. Runs that the setup's store has are not run
/// again.
///
/// # Errors
/// If a program cannot run in the network, a setting is out of range, a run cannot be kept, or `tick` returns false. Runs
/// that finished before are in the store.
pub fn run_contest<F: Files + Sync>(
    contest: &Contest,
    setup: &ContestSetup<'_, F>,
    tick: Tick<'_>,
) -> Result<Results, RunError<F::Error>>
where
    F::Error: Send,
{
    let (programs, seeds) = (&contest.program, contest.seeds());
    // All programs with one seed come before the next seed.
    let key =
        |number: usize| RunKey { program: number % programs.len(), seed: seeds[number / programs.len()] };
    let mut runs: Vec<Option<KeptRun>> =
        (0..programs.len() * seeds.len()).map(|number| setup.store.find(key(number))).collect();
    let missing: Vec<usize> = (0..runs.len()).filter(|number| runs[*number].is_none()).collect();
    let mut all = Vec::with_capacity(programs.len());
    for (place, program) in programs.iter().enumerate() {
        let needed = missing.iter().any(|number| key(*number).program == place);
        let line = contest.line(program.span().start);
        all.push(needed.then(|| prepare(contest, setup, program.get_ref(), line)).transpose()?);
    }
    // A workload that does not fit the network is reported before anything runs.
    if let (Some(ready), Some(seed)) = (all.iter().flatten().next(), seeds.first()) {
        messages(contest, setup, ready, *seed)?;
    }
    let mut own = run_all(setup.threads, all.len(), |place, threads| {
        let probe = |ready: &PreparedNetwork<'_>| {
            super::ideal_times::probe(contest, setup, &ready.undisturbed(), threads)
        };
        all[place].as_ref().map(probe).transpose()
    })?;
    for (number, run) in runs.iter().enumerate() {
        let known = &mut own[key(number).program];
        *known = known.take().or_else(|| run.as_ref().map(|run| run.alone.clone()));
    }
    let own: Vec<IdealTimes> = own.into_iter().map(Option::unwrap_or_default).collect();
    let ticker = Ticker::new(tick, contest.workload.time(), runs.len(), &missing);
    let done = run_all(setup.threads, missing.len(), |job, threads| {
        let number = missing[job];
        let key = key(number);
        let Some(ready) = &all[key.program] else {
            return Err(RunError::Setting("a run has no program".into()));
        };
        let (planned, hosts) = plan(contest, setup, ready, key.seed)?;
        let messages = planned.by_host(&hosts);
        let end = Time::ORIGIN + contest.workload.time() + contest.drain();
        let label = ready.contestant.label();
        let mut look = ticker.look(number, (&label, key.seed));
        let cable = contest.hosts.cable;
        let metrics = Some(&contest.metrics);
        let ran = run(ready, cable, key.seed, messages, (end, metrics), threads, &mut look)?;
        let done = KeptRun {
            performance: ran.judged(contest, ready, &own[key.program], &planned.samples),
            alone: own[key.program].clone(),
        };
        setup.store.keep(key, &done).map_err(RunError::Keep)?;
        ticker.end(number);
        Ok(done)
    })?;
    for (number, run) in missing.iter().zip(done) {
        runs[*number] = Some(run);
    }
    Ok(Results {
        series: series(contest, runs.into_iter().flatten().collect(), &IdealTimes::fastest(&own)),
        seeds,
    })
}

/// Sorts the runs, which are in order of seeds and programs, by program, and relates their messages to the fastest program.
fn series(contest: &Contest, runs: Vec<KeptRun>, fastest: &IdealTimes) -> Vec<Series> {
    let empty = |contestant: &Contestant| Series {
        label: contestant.label(),
        program: contestant.name.clone(),
        runs: Vec::new(),
    };
    let mut series: Vec<Series> = contest.program.iter().map(|program| empty(program.get_ref())).collect();
    let count = series.len();
    for (number, mut run) in runs.into_iter().enumerate() {
        run.relate(contest, fastest);
        series[number % count].runs.push(run.performance);
    }
    series
}
