//! The command line without a command: the first look, on one screen. The first program of the catalogue is placed and gets its
//! sample capture; a contest compares programs in a network.

use crate::console::fail::Failure;
use crate::console::hint::proposals;
use crate::console::terminal;
use crate::open::p4::P4Args;
use crate::replay::{self, ReplayArgs};
use crate::run::contest::{self, Running};
use sluice_catalogue::Catalogue;
use std::num::NonZero;
use std::thread::available_parallelism;

/// The contest.
const CONTEST: (&str, &str) = ("first.toml", include_str!("../../fabric/contests/first.toml"));
/// The buffer profile that the contest names.
const PROFILE: (&str, &str) = ("rdma-9mb.toml", include_str!("../../fabric/contests/rdma-9mb.toml"));

/// Prints the first look; as JSON, the summary of the sample capture alone.
pub(crate) fn run(catalogue: &Catalogue, as_json: bool) -> Result<(), Failure> {
    let args = ReplayArgs::of_first(catalogue);
    if as_json {
        return replay::run(&args, catalogue, true);
    }
    terminal::print(&replay::brief(&args, catalogue)?)?;
    let p4 = P4Args::default();
    let threads = available_parallelism().map_or(1, NonZero::get);
    let running = Running { threads, out: None, uses: false, p4: &p4 };
    if let Some(contest) = contest::brief(CONTEST, PROFILE, &running, catalogue)? {
        terminal::print(&format!("\nDoes it win in a network?\n{contest}"))?;
    }
    let program = &args.program;
    let next = [
        (format!("sluice report {program}"), "stages and resources; or your own: sluice report leaf.p4"),
        (format!("sluice replay {program}"), "ports, entries and queues"),
        ("sluice programs".to_owned(), "all programs that come with Sluice"),
        ("sluice explain WORD".to_owned(), "what a word above means"),
    ];
    terminal::print(&format!("\nnext:\n{}", proposals(&next)))?;
    Ok(())
}
