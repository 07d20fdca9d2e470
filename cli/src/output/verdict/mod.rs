//! Verdicts of tests, scenarios, contests and hunts in the formats that CI systems read: JUnit XML and SARIF.

mod junit;
mod sarif;

use crate::console::fail::Failure;
use crate::output::files::Pending;
use clap::Args;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Files for CI systems.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct VerdictFiles {
    /// Write the verdicts as JUnit XML, which CI systems show as tests
    #[arg(long, value_name = "FILE", help_heading = "Verdicts for CI")]
    junit: Option<PathBuf>,
    /// Write what failed as SARIF 2.1.0, which code hosts show beside the lines
    #[arg(long, value_name = "FILE", help_heading = "Verdicts for CI")]
    sarif: Option<PathBuf>,
}

/// One verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// Group of the verdict: file, scenario or program.
    pub(crate) suite: String,
    /// Name of the test: an assertion, a property, or the chip on which a packet test ran.
    pub(crate) name: String,
    /// How it ended.
    pub(crate) ended: Ended,
    /// Place in a file that the verdict is about, with its line if it is known.
    pub(crate) at: Option<(String, Option<usize>)>,
}

/// How a test ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Passed,
    /// The test ran and does not hold; the text says how what was found differs from what was expected.
    Failed(String),
    /// The test could not be run: why.
    Broken(String),
    /// The test was left out: why.
    Skipped(String),
}

impl VerdictFiles {
    /// Writes the files that are asked for.
    pub(crate) fn write(&self, command: &str, verdicts: &[Verdict]) -> Result<(), Failure> {
        if let Some(path) = &self.junit {
            write(path, &junit::text(command, verdicts))?;
        }
        if let Some(path) = &self.sarif {
            write(path, &crate::output::files::pretty(&sarif::value(command, verdicts)))?;
        }
        Ok(())
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let mut file = Pending::create(path)?;
    file.writer().write_all(text.as_bytes()).map_err(|e| Failure::file("write", path, &e))?;
    file.finish()
}

#[cfg(test)]
pub(super) fn examples() -> Vec<Verdict> {
    let verdict =
        |suite: &str, name: &str, ended, at| Verdict { suite: suite.into(), name: name.into(), ended, at };
    vec![
        verdict("a", "sends", Ended::Passed, None),
        verdict(
            "a",
            "drops <nothing>",
            Ended::Failed("expected \"0\" & found 3".into()),
            Some(("a.toml".into(), Some(7))),
        ),
        verdict("b", "reads", Ended::Broken("cannot read b.stf".into()), Some(("b.stf".into(), None))),
        verdict("b", "pauses", Ended::Skipped("the profile has no watchdog".into()), None),
    ]
}
