//! From the words of a command line to the exit code of its command.

use crate::check;
use crate::command_line::args::{Cli, Command};
use crate::command_line::usage;
use crate::compare;
use crate::console::fail::{Failure, complain, release};
use crate::console::terminal;
use crate::console::text_file;
use crate::doctor;
use crate::entries;
use crate::explain;
use crate::first;
use crate::flowlets;
use crate::fuzz;
use crate::r#gen;
use crate::int;
use crate::new;
use crate::open::p4;
use crate::polarization;
use crate::programs;
use crate::replay;
use crate::report;
use crate::reproduce;
use crate::run;
use crate::schema;
use crate::shell;
use crate::test;
use sluice_asic::limits;
use sluice_catalogue::Catalogue;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs the command of these arguments, the first of which is the name of the binary, and returns its exit code.
pub(crate) fn command(catalogue: &Catalogue, arguments: impl Iterator<Item = OsString>) -> u8 {
    let cli = match usage::parse(p4::as_p4c(arguments)) {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    terminal::set_quiet(cli.global.quiet);
    text_file::set_limit(cli.global.max_text);
    let chosen =
        cli.global.limits.iter().filter_map(|(name, value)| Some((limits::named(name).ok()?, *value)));
    limits::set(&chosen.collect::<Vec<_>>());
    let result = catch_unwind(AssertUnwindSafe(|| run_command(cli, catalogue)));
    match result.unwrap_or_else(|panic| Err(Failure::panicked(&*panic))) {
        Ok(()) => {
            release();
            0
        }
        Err(failure) => {
            if !matches!(failure, Failure::Input { .. }) {
                release();
            }
            let code = failure.code();
            if !matches!(failure, Failure::BrokenPipe | Failure::Property) {
                complain(&failure);
            }
            code
        }
    }
}

fn run_command(cli: Cli, catalogue: &Catalogue) -> Result<(), Failure> {
    let as_json = cli.global.json;
    match cli.command {
        None => first::run(catalogue, as_json),
        Some(Command::Programs(args)) => programs::run(&args, catalogue, as_json),
        Some(Command::New(args)) => new::run(&args),
        Some(Command::Check(args)) => check::run(&args, as_json),
        Some(Command::Report(args)) => report::run(&args, catalogue, as_json),
        Some(Command::Replay(args)) => replay::run(&args, catalogue, as_json),
        Some(Command::Gen(args)) => r#gen::run(&args, as_json),
        Some(Command::Explain(args)) => explain::run(&args, catalogue, as_json),
        Some(Command::Entries(args)) => entries::run(&args, catalogue, as_json),
        Some(Command::Polarization(args)) => polarization::run(&args, catalogue, as_json),
        Some(Command::Run(args)) => run::run(&args, catalogue, as_json),
        Some(Command::Reproduce(args)) => reproduce::run(&args, catalogue, as_json),
        Some(Command::Compare(args)) => compare::run(&args, as_json),
        Some(Command::Fuzz(args)) => fuzz::run(&args, catalogue, as_json),
        Some(Command::Flowlets(args)) => flowlets::run(&args, catalogue, as_json),
        Some(Command::Test(args)) => test::run(&args, catalogue, as_json),
        Some(Command::Int(args)) => int::run(&args, as_json),
        Some(Command::Schema(args)) => schema::run(&args, as_json),
        Some(Command::Doctor) => doctor::run(catalogue, as_json),
        Some(Command::Completions(args)) => shell::completions(&args, usage::command()),
        Some(Command::Man(args)) => shell::man(&args, usage::command()),
    }
}
