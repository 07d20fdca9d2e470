//! What users may write behind `sluice fuzz`.

use crate::args::{Target, count};
use crate::fail::Failure;
use clap::Args;
use sluice_asic::units::Duration;
use std::path::PathBuf;

/// Arguments of `sluice fuzz`.
#[derive(Debug, Args)]
pub(crate) struct FuzzArgs {
    /// Program to fuzz
    pub(crate) program: String,
    #[command(flatten)]
    pub(crate) target: Target,
    /// Hunt for this long, in wall time [default: 60s without --cases]
    #[arg(long, value_name = "TIME")]
    pub(crate) time: Option<String>,
    /// Send this many inputs, of about 200 packets each; with the same seed the result is the same on any number of
    /// threads
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) cases: Option<u64>,
    /// Seed: everything but the time it takes follows from it
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Fail, with exit code 1, unless this share of all points that can be reached was
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    pub(crate) min_coverage: Option<u8>,
    /// Threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    /// Folder for fuzz.json, the coverage report, and for each failure captures, entries and the command that
    /// replays them
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Entries instead of the default ones: .toml, or lines like `table_add`
    #[arg(long, value_name = "FILE")]
    pub(crate) entries: Option<PathBuf>,
    /// Shared buffer, as in `sluice replay`, or `random`, which the seed draws: its rules become reasons of drops to reach.
    /// Senders of one half of all inputs obey PFC, and lose nothing that is lossless
    #[arg(long, value_name = "PROFILE")]
    pub(crate) buffer: Option<String>,
    /// Compare the engine with the reference interpreter on every Nth input, and on all that reach something new: the
    /// interpreter takes most of the time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) compare: u64,
    /// Then change the program in every way that stands for a mistake, or in N of them, and see which changes
    /// properties and a comparison with the unchanged program notice
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "all", value_parser = mutants)]
    pub(crate) mutants: Option<usize>,
}

/// How many mutants: a number, or all.
fn mutants(text: &str) -> Result<usize, String> {
    match text {
        "all" => Ok(usize::MAX),
        text => count(text).map(|n| n as usize),
    }
}

/// When a campaign ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    pub(crate) time: Option<std::time::Duration>,
    pub(crate) cases: Option<u64>,
}

impl FuzzArgs {
    /// By what the campaign ends: whichever comes first.
    pub(crate) fn budget(&self) -> Result<Budget, Failure> {
        let text = match (&self.time, self.cases) {
            (None, Some(_)) => None,
            (None, None) => Some("60s"),
            (Some(text), _) => Some(text.as_str()),
        };
        let time: Option<Duration> = text.map(str::parse).transpose().map_err(Failure::input)?;
        let time = time.map(|t| std::time::Duration::from_nanos(t.as_nanos()));
        Ok(Budget { time, cases: self.cases })
    }

    /// Whether the seed draws the buffer profile.
    pub(crate) fn draws_buffer(&self) -> bool {
        self.buffer.as_deref() == Some("random")
    }

    /// Threads.
    pub(crate) fn jobs(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.jobs.map_or_else(all, usize::from)
    }
}
