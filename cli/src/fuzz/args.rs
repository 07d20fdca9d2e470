//! Arguments of `sluice fuzz`.

use crate::args::{Target, count};
use crate::fail::Failure;
use crate::verdict::VerdictFiles;
use clap::Args;
use sluice_asic::units::Duration;
use std::path::PathBuf;

/// Arguments of `sluice fuzz`.
#[derive(Debug, Args)]
pub(crate) struct FuzzArgs {
    /// Program to fuzz
    pub(crate) program: String,
    /// The program's file as the user named it, if it is one
    #[arg(skip)]
    pub(crate) path: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) target: Target,
    #[command(flatten)]
    pub(crate) verdicts: VerdictFiles,
    /// Hunt for this long, in wall time [default: 60s without --cases]
    #[arg(long, value_name = "TIME")]
    pub(crate) time: Option<String>,
    /// Send this many inputs, of about 200 packets each; with the same seed the result is the same on any number of
    /// threads
    #[arg(long, value_name = "N", value_parser = cases)]
    pub(crate) cases: Option<u64>,
    /// Seed of every random number; results depend on nothing else, except with --time
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Exit with code 1 if less than this share of the reachable coverage points was reached
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    pub(crate) min_coverage: Option<u8>,
    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    /// Folder for fuzz.json, the coverage report, and for each failure captures, entries and the command that
    /// replays them
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Write the results as one self-contained page: findings, coverage on the program's text, mutants if they were run
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Entries that replace the default ones: a .toml file, or lines such as `table_add`
    #[arg(long, value_name = "FILE")]
    pub(crate) entries: Option<PathBuf>,
    /// Shared buffer, as in `sluice replay`, or `random` to draw a profile from the seed. The hunt also looks for its
    /// drop rules. In half of all inputs the senders obey PFC, and no lossless packet may be dropped
    #[arg(long, value_name = "PROFILE")]
    pub(crate) buffer: Option<String>,
    /// Compare the engine with the reference interpreter on every Nth input, and on every input with new coverage. The
    /// interpreter takes most of the time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) compare: u64,
    /// After the hunt, test the properties: run all mutants of the program (copies with one mistake), or N of them, and
    /// report which ones a property, or a comparison with the original, notices
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "all", value_parser = mutants)]
    pub(crate) mutants: Option<usize>,
}

/// Parses a number of inputs, at least 1: without inputs, nothing is known of a property.
fn cases(text: &str) -> Result<u64, String> {
    count(text)
        .ok()
        .filter(|n| *n > 0)
        .ok_or_else(|| "expected at least 1, such as 1000, 10k or 2M".to_owned())
}

/// Parses a number of mutants, or `all`.
fn mutants(text: &str) -> Result<usize, String> {
    match text {
        "all" => Ok(usize::MAX),
        text => count(text).map(|n| n as usize),
    }
}

/// End of a campaign.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    pub(crate) time: Option<std::time::Duration>,
    pub(crate) cases: Option<u64>,
}

impl FuzzArgs {
    /// Returns the end of the campaign: time or number of inputs, whichever comes first.
    pub(crate) fn budget(&self) -> Result<Budget, Failure> {
        let text = match (&self.time, self.cases) {
            (None, Some(_)) => None,
            (None, None) => Some("60s"),
            (Some(text), _) => Some(text.as_str()),
        };
        let time: Option<Duration> = text.map(str::parse).transpose().map_err(Failure::input)?;
        if time.is_some_and(Duration::is_zero) {
            return Err(Failure::with_help(
                "--time 0 leaves no time for an input",
                "give a time such as 10s, or --cases N",
            ));
        }
        let time = time.map(|t| std::time::Duration::from_nanos(t.as_nanos()));
        Ok(Budget { time, cases: self.cases })
    }

    /// Returns true if the buffer profile is drawn from the seed.
    pub(crate) fn draws_buffer(&self) -> bool {
        self.buffer.as_deref() == Some("random")
    }

    /// Returns the number of threads.
    pub(crate) fn jobs(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.jobs.map_or_else(all, usize::from)
    }
}
