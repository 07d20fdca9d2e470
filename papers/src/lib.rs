//! Experiments of papers: what was published, what Sluice runs, and how both compare.
//!
//! An [`Experiment`] is a file of this crate. Its parts are contests, buffer scenarios and hashing of flows, which the caller
//! runs. Its rows set a number of a run beside a published value ([`Published`]), its claims are inequalities that must hold.
//! [`Judgement`] has the verdict on each of them, and [`markdown`] and [`html`] write it down.
//!
//! | module | content |
//! |---|---|
//! | `experiment` | the file of an experiment |
//! | `published` | the values that papers published, in one file |
//! | `shipped` | a library of experiments with the texts that they name; the one that comes with Sluice |
//! | `scale` | the contests of an experiment at a scale, with the programs of a user as rivals |
//! | `hashing` | parts that send flows through hash functions |
//! | `found` | the numbers that the parts gave |
//! | `judge` | verdicts |
//! | `page` | the results as Markdown and as a page |
//!
//! Nothing here opens a file, prints, or knows a program: contests name the programs.

mod experiment;
mod found;
mod hashing;
mod judge;
mod page;
mod published;
mod scale;
mod shipped;

pub use experiment::{
    Axis, Claim, ContestPart, Experiment, ExperimentError, HashingPart, PlotSetting, Row, ScenarioPart,
};
pub use found::{Evidence, FoundPoint};
pub use hashing::{Trace, measure};
pub use judge::{
    ClaimResult, Judgement, RivalRow, RowResult, Tally, Verdict, estimate as estimate_text, judge,
};
pub use page::{Reproduced, chapter, html, markdown, markdown_text, overview, row_cells};
pub use published::{Paper, Published, PublishedValue, Reading, Side};
pub use scale::{Rival, Scale, ScaledContest, contests};
pub use shipped::Library;

/// Reads the TOML of a file; an error has its line.
fn read<'t, T: serde::Deserialize<'t>>(text: &'t str) -> Result<T, String> {
    sluice_asic::toml_reader::read(text).map_err(|mistake| format!("line {}: {mistake}", mistake.line(text)))
}
