//! Arguments of `sluice fuzz`.

use crate::console::fail::Failure;
use crate::console::numbers::{number, quantity};
use crate::open::target::Target;
use crate::output::verdict::VerdictFiles;
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
    #[command(flatten)]
    pub(crate) verdicts: VerdictFiles,
    /// Hunt for this long, in wall time [default: 60s without --cases]
    #[arg(long, value_name = "TIME", value_parser = quantity::<Duration>)]
    pub(crate) time: Option<Duration>,
    /// Send this many inputs, of about 200 packets each; with the same seed the result is the same on any number of
    /// threads
    #[arg(long, value_name = "N", value_parser = number::<u64>(1..))]
    pub(crate) cases: Option<u64>,
    /// Seed of every random number; results depend on nothing else, except with --time
    #[arg(long, default_value_t = 1, value_parser = number::<u64>(..))]
    pub(crate) seed: u64,
    /// Exit with code 1 if less than this share of the reachable coverage points was reached
    #[arg(long, value_name = "PERCENT", value_parser = number::<u8>(0..=100))]
    pub(crate) min_coverage: Option<u8>,
    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = number::<u16>(1..=1024))]
    pub(crate) jobs: Option<u16>,
    /// Folder for fuzz.json, the coverage report, and for each failure captures, entries and the command that
    /// replays them
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Folder of inputs that reached new coverage: they are sent first, and the hunt adds those that it finds. The name of a
    /// file follows from its content
    #[arg(long, value_name = "DIR")]
    pub(crate) corpus: Option<PathBuf>,
    /// Add the inputs of another corpus that reach something new, repeatable; without --time and --cases nothing else is sent
    #[arg(long, value_name = "DIR", requires = "corpus")]
    pub(crate) merge: Vec<PathBuf>,
    /// Keep only the fewest inputs of the corpus that reach the same coverage; without --time and --cases nothing else is sent
    #[arg(long, visible_alias = "minimize", requires = "corpus")]
    pub(crate) minimise: bool,
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
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = number::<u64>(1..))]
    pub(crate) compare: u64,
    /// After the hunt, test the properties: run all mutants of the program (copies with one mistake), or N of them, and
    /// report which ones a property, or a comparison with the original, notices
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "all", value_parser = mutants)]
    pub(crate) mutants: Option<usize>,
}

/// Parses a number of mutants, or `all`.
fn mutants(text: &str) -> Result<usize, String> {
    match text {
        "all" => Ok(usize::MAX),
        text => number(1..)(text).map_err(|e| format!("{e}, or `all`")),
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
        if self.time.is_none() && self.cases.is_none() && (self.minimise || !self.merge.is_empty()) {
            return Ok(Budget { time: None, cases: Some(0) });
        }
        let time = match (self.time, self.cases) {
            (None, None) => Some(Duration::from_secs(60)),
            (time, _) => time,
        };
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
