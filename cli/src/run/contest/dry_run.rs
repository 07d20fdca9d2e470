//! `--dry-run`: how much work, time and memory contests will take, without running them.
//!
//! Time is packet-hops over the speed that the first run of each program has on this machine from its start, plus the time in which
//! ideal times are measured. No results are kept.

use super::{Opened, Source, failure, with_setup};
use crate::console::fail::Failure;
use crate::console::table::table;
use crate::console::terminal;
use sluice_scenario::contest::{Amount, RunError, Trial};
use std::io::Write;
use std::num::NonZero;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

/// Packet-hops after which a trial ends. Of a contest at half load on 64 hosts of 100 Gb/s they are 150 us, after which speed
/// changes little.
const HOPS: u64 = 200_000;

/// Time after which a trial ends: a program with many timers may need minutes for so many packet-hops.
const LONGEST: Duration = Duration::from_secs(1);

/// Least packet-hops of a trial, however long they take, if the run has as many: fewer say nothing about its speed.
const LEAST: u64 = 1_000;

/// Estimate of one program's runs.
struct Estimate {
    label: String,
    amount: Amount,
    runs: u64,
    /// Packet-hops of a second in the trial.
    speed: f64,
    /// Seconds to build the network of each run.
    start: f64,
    /// Seconds to place the program and to measure ideal times, which all runs share.
    once: f64,
    /// Bytes of memory of this process after the trial, if known.
    resident: Option<u64>,
}

/// Prints the estimates.
pub(super) fn run(
    sources: &[Source],
    opened: &[Opened],
    threads: usize,
    as_json: bool,
) -> Result<(), Failure> {
    let mut out = terminal::results(as_json);
    let (mut time, mut contests) = (Duration::ZERO, Vec::new());
    for (source, opened) in sources.iter().zip(opened) {
        let estimates = estimates(source, opened)?;
        time += estimates.iter().map(Estimate::time).sum::<Duration>();
        if as_json {
            contests.push(json(source, &estimates));
        } else {
            writeln!(out, "{}{}\n", source.point.contest.name, title(source))?;
            writeln!(out, "{}\n", text(&estimates))?;
        }
    }
    let processors = available_parallelism().map_or(1, NonZero::get);
    let wall = time.as_secs_f64() / threads.min(runs(sources)).min(processors).max(1) as f64;
    if as_json {
        let value = serde_json::json!({ "schema": "sluice.dry-run/1", "contests": contests, "seconds": wall, "threads": threads });
        return Ok(writeln!(out, "{value}")?);
    }
    writeln!(
        out,
        "{} runs, about {} with {threads} thread(s); speeds are of the beginning of a run on this machine; nothing was run to its end",
        runs(sources),
        spoken(wall)
    )?;
    Ok(())
}

fn runs(sources: &[Source]) -> usize {
    sources.iter().map(|s| s.point.contest.program.len() * s.point.contest.seeds().len()).sum()
}

fn title(source: &Source) -> String {
    if source.point.axes.is_empty() { String::new() } else { format!(", {}", source.point.title()) }
}

fn estimates(source: &Source, opened: &Opened) -> Result<Vec<Estimate>, Failure> {
    let contest = &source.point.contest;
    let mut all = Vec::new();
    for (place, program) in contest.program.iter().enumerate() {
        let estimate = with_setup(source, opened, (1, &()), |setup| -> Result<Estimate, Failure> {
            let begun = Instant::now();
            let trial = Trial::new(contest, setup, place).map_err(|e| failure(contest, e))?;
            let placed = begun.elapsed().as_secs_f64();
            let once = placed + probing(&trial).map_err(|e| failure(contest, e))?;
            let (start, speed) = speed(&trial).map_err(|e| failure(contest, e))?;
            let (amount, runs) = (trial.amount, contest.seeds().len() as u64);
            let (label, resident) = (program.get_ref().label(), resident());
            Ok(Estimate { label, amount, runs, speed, start, once, resident })
        });
        all.push(estimate?);
    }
    Ok(all)
}

/// Returns the seconds in which a program's ideal times are measured, from as much of the measurement as a trial may last.
fn probing<E>(trial: &Trial<'_>) -> Result<f64, RunError<E>> {
    let begun = Instant::now();
    let (mut first, mut done) = (None, 1.0);
    trial.probe(&mut |share| {
        let now = begun.elapsed();
        first.get_or_insert(now.as_secs_f64());
        let goes_on = now < LONGEST;
        if !goes_on {
            done = share;
        }
        goes_on
    })?;
    let (whole, first) = (begun.elapsed().as_secs_f64(), first.unwrap_or(0.0));
    Ok(first + (whole - first) / f64::max(done, 1e-3))
}

/// Returns the seconds in which a program's network is built, and the packet-hops of a second in a trial.
fn speed<E>(trial: &Trial<'_>) -> Result<(f64, f64), RunError<E>> {
    let begun = Instant::now();
    let mut looks: Vec<(u64, f64)> = Vec::new();
    let whole = trial.run(&mut |hops| {
        let now = begun.elapsed().as_secs_f64();
        let first = looks.first().map_or(now, |(_, first)| *first);
        looks.push((hops, now));
        hops < LEAST || hops < HOPS && now - first < LONGEST.as_secs_f64()
    })?;
    let first = looks.first().copied().unwrap_or_default();
    let (last, end) = looks.last().copied().unwrap_or_default();
    // The first packets meet cold caches and short queues, so they count only if there are no others.
    let later = looks.iter().rev().find(|(hops, _)| *hops <= last / 4).filter(|_| !whole);
    let (hops, begin) = later.copied().unwrap_or(first);
    Ok((first.1, (last - hops) as f64 / f64::max(end - begin, 1e-9)))
}

/// Returns the bytes of memory that this process uses; `None` on systems that do not say.
fn resident() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}

impl Estimate {
    /// Time of all runs on one thread.
    fn time(&self) -> Duration {
        let each = self.start + self.amount.hops as f64 / self.speed.max(1.0);
        Duration::from_secs_f64(self.once + each * self.runs as f64)
    }

    /// Bytes of memory while one run is done and until all results are written.
    fn memory(&self) -> Option<u64> {
        Some(self.resident? + self.amount.memory * self.runs)
    }
}

fn text(estimates: &[Estimate]) -> String {
    let header =
        ["PROGRAM", "RUNS", "MESSAGES", "PACKETS", "PACKET-HOPS", "HOPS A SECOND", "TIME", "MEMORY MB"];
    let row = |e: &Estimate| {
        let memory = e.memory().map_or_else(|| "-".to_owned(), |bytes| (bytes / 1_000_000).to_string());
        let Amount { messages, packets, hops, .. } = e.amount;
        let (speed, time) = (format!("{:.0}", e.speed), spoken(e.time().as_secs_f64()));
        [
            e.label.clone(),
            e.runs.to_string(),
            messages.to_string(),
            packets.to_string(),
            hops.to_string(),
            speed,
            time,
            memory,
        ]
        .to_vec()
    };
    table(&header, estimates.iter().map(row).collect())
}

fn json(source: &Source, estimates: &[Estimate]) -> serde_json::Value {
    let row = |e: &Estimate| {
        serde_json::json!({
            "program": e.label, "runs": e.runs, "messages": e.amount.messages, "bytes": e.amount.bytes,
            "packets": e.amount.packets, "packet_hops": e.amount.hops, "packet_hops_per_second": e.speed.round(),
            "seconds": (e.time().as_secs_f64() * 1000.0).round() / 1000.0, "memory_bytes": e.memory(),
        })
    };
    let sweep = source.point.axes.iter().map(|(key, value)| (key.clone(), value.as_str().into()));
    serde_json::json!({
        "name": source.point.contest.name,
        "sweep": sweep.collect::<serde_json::Map<_, _>>(),
        "programs": estimates.iter().map(row).collect::<Vec<_>>(),
    })
}

/// Returns a time for readers.
fn spoken(seconds: f64) -> String {
    match seconds {
        s if s < 100.0 => format!("{s:.1} s"),
        s if s < 6_000.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3_600.0),
    }
}
