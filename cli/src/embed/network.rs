//! Replays through networks with properties and a control plane of the caller.

use super::{Called, Error};
use crate::command_line::args::Command;
use crate::command_line::usage;
use crate::console::fail::Failure;
use crate::console::invocation;
use crate::open::p4;
use crate::replay::{self, Callers, PlaneOf, PropertiesOf, network};
use sluice_catalogue::Catalogue;
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Parts that a caller adds to a replay through a network.
#[derive(Default)]
pub struct Additions {
    /// Makes the properties of a switch by its name, in addition to those of `--check`. Switches run on several threads.
    pub properties: Option<PropertiesOf>,
    /// Makes the control plane, in place of that of `--control-plane`.
    pub control_plane: Option<PlaneOf>,
}

/// Runs `sluice replay` with these arguments, which have `--topology`, and returns what it prints; the output is JSON. The replay
/// ends early after another thread has set `stop`.
///
/// # Errors
/// If an argument or a file is wrong, or the program does not fit.
pub fn replay_network(
    catalogue: &Catalogue,
    arguments: &[OsString],
    additions: Additions,
    stop: &Arc<AtomicBool>,
) -> Result<Called, Error> {
    let (result, printed) =
        invocation::kept(arguments, Arc::clone(stop), || replay(catalogue, arguments, additions));
    let err = String::from_utf8_lossy(&printed.err).into_owned();
    let code = match result {
        Ok(()) => 0,
        // The summary says what does not hold; without one the program does not fit.
        Err(Failure::Property) if !printed.out.is_empty() => 1,
        Err(Failure::Property) => {
            return Err(Error { text: err.trim_start_matches("error: ").trim_end().to_owned(), code: 1 });
        }
        Err(failure) => return Err(failure.into()),
    };
    Ok(Called { code, out: printed.out, err })
}

fn replay(catalogue: &Catalogue, arguments: &[OsString], additions: Additions) -> Result<(), Failure> {
    let words = ["sluice".into(), "replay".into()].into_iter().chain(arguments.iter().cloned());
    let cli = usage::read(&p4::as_p4c(words).collect::<Vec<_>>())
        .map_err(|text| Failure::input(text.trim_start_matches("error: ").trim_end()))?;
    let Some(Command::Replay(args)) = &cli.command else { return Err(Failure::input("no program")) };
    let program = replay::open(args, catalogue)?;
    let topology = args.topology.clone().ok_or_else(|| Failure::input("no --topology"))?;
    let Additions { properties, control_plane } = additions;
    let callers = Callers { properties, control_plane };
    network::run(args, &program, &topology, callers, true)
}
