//! The command line of Sluice: parses flags, resolves them, runs, prints.
//!
//! [`main_with`] is the whole of the `sluice` binary except for its allocator. No other crate prints, parses flags, or
//! names files.

mod args;
mod entries;
mod explain;
mod fail;
mod files;
mod flowlets;
mod fuzz;
mod r#gen;
mod headroom;
mod int;
mod interrupt;
mod polarization;
mod programs;
mod progress;
mod replay;
mod report;
mod resolve;
mod rows;
mod run;
mod table;
mod timeline;

use args::{Cli, Command, ReplayArgs};
use clap::Parser;
use fail::{Failure, print_error};
use sluice_catalogue::Catalogue;
use std::process::ExitCode;

/// Runs the command line of this process with the programs of `catalogue` and returns its exit code.
#[must_use]
pub fn main_with(catalogue: &Catalogue) -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.command {
        None => replay::run(&ReplayArgs::of_first(catalogue), catalogue, cli.json),
        Some(Command::Programs(args)) => programs::run(&args, catalogue, cli.json),
        Some(Command::Report(args)) => report::run(&args, catalogue, cli.json),
        Some(Command::Replay(args)) => replay::run(&args, catalogue, cli.json),
        Some(Command::Gen(args)) => r#gen::run(&args, cli.json),
        Some(Command::Explain(args)) => explain::run(&args, catalogue, cli.json),
        Some(Command::Entries(args)) => entries::run(&args, catalogue, cli.json),
        Some(Command::Polarization(args)) => polarization::run(&args, cli.json),
        Some(Command::Run(args)) => run::run(&args, catalogue, cli.json),
        Some(Command::Fuzz(args)) => fuzz::run(&args, catalogue, cli.json),
        Some(Command::Flowlets(args)) => flowlets::run(&args, catalogue, cli.json),
        Some(Command::Int(args)) => int::run(&args, cli.json),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let code = failure.code();
            if !matches!(failure, Failure::BrokenPipe | Failure::Property) {
                complain(&failure);
            }
            ExitCode::from(code)
        }
    }
}

/// Prints a failure and its advice on stderr.
fn complain(failure: &Failure) {
    print_error(format_args!("error: {failure}\n"));
    if let Some(help) = failure.help() {
        print_error(format_args!("  = help: {help}\n"));
    }
}
