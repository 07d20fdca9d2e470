//! The commands, each with its arguments.

use crate::console::numbers::number;
use crate::console::text_file;
use clap::{Args, Parser, Subcommand};
use sluice_asic::limits;

/// Emulator of Tofino-style switches: shows whether a data-plane program fits the chip, and what it does to packets.
///
/// Without a command, takes a first look: places `l3-ecmp` on a Tofino 2, replays its sample capture, and compares load balancers
/// in a network. With --json, prints the summary of that replay.
#[derive(Debug, Parser)]
#[command(name = "sluice", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// Options of all commands.
#[derive(Debug, Args)]
pub(crate) struct GlobalArgs {
    /// Print JSON on stdout; diagnostics go to stderr
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print errors alone: no results for readers, progress, hints and notes. The exit code, --json and files remain
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Most bytes of a file that is read whole, such as TOML, CSV and JSON
    #[arg(long, global = true, value_name = "BYTES", hide_short_help = true,
          value_parser = number::<u64>(1..), default_value_t = text_file::MAX_TEXT)]
    pub(crate) max_text: u64,
    #[arg(long = "max", global = true, value_name = "NAME=N", hide_short_help = true, value_parser = limit,
          help = limits_help())]
    pub(crate) limits: Vec<(String, u64)>,
}

/// Returns the help of `--max`.
fn limits_help() -> String {
    let names: Vec<&str> = limits::ALL.into_iter().map(|limit| limit.name).collect();
    format!(
        "Most work of a kind that a file may ask for, in place of the default; repeatable. The names are {}",
        names.join(", ")
    )
}

/// Parses `NAME=N`, the value of `--max`.
fn limit(text: &str) -> Result<(String, u64), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=N, for example placing-steps=1G")?;
    let limit = limits::named(name.trim())?;
    Ok((limit.name.to_owned(), number::<u64>(1..)(value.trim())?))
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the stage programs, or the parameters of one
    Programs(crate::programs::ProgramsArgs),
    /// Write a program to start from
    New(crate::new::NewArgs),
    /// Check a .sluice file: can it be read, is it legal, and with --place, does it fit; or check a P4 program
    Check(crate::check::CheckArgs),
    /// Place a program on a chip: does it fit, and with which stages, resources, PHV, parser rows and cycles
    Report(crate::report::ReportArgs),
    /// Run packet tests (.stf, .toml): entries, packets in, expected packets
    Test(crate::test::TestArgs),
    /// Send captures through an emulated switch, or through a network of switches
    Replay(Box<crate::replay::ReplayArgs>),
    /// Generate captures from a seed: UDP, TCP, RoCEv2, CNP, VXLAN, ARP, PFC, or flows and frames from a file
    Gen(Box<crate::r#gen::GenArgs>),
    /// Explain a word of the output: drop reason, report column, key, assumption
    Explain(crate::explain::ExplainArgs),
    /// Print the default entries of a program, print a template, or check a file of entries
    Entries(crate::entries::EntriesArgs),
    /// Measure whether ECMP hashing leaves links of a network idle (polarisation), under several hashing schemes
    Polarization(Box<crate::polarization::PolarizationArgs>),
    /// Run buffer scenarios, or contests of programs, from TOML files and check their expectations
    Run(crate::run::RunArgs),
    /// Repeat experiments of papers, and set their numbers beside the published ones
    Reproduce(crate::reproduce::ReproduceArgs),
    /// Compare two folders of contest results, number by number
    Compare(crate::compare::CompareArgs),
    /// Hunt for packets that break a property of a program; guided by coverage, shrunk to a small capture
    Fuzz(Box<crate::fuzz::FuzzArgs>),
    /// Count the flowlets of a capture, and measure in which order load balancers deliver it
    Flowlets(Box<crate::flowlets::FlowletsArgs>),
    /// Decode in-band telemetry (INT) in a capture
    Int(crate::int::IntArgs),
    /// Print the JSON Schema of an output of `--json`
    Schema(crate::schema::SchemaArgs),
    /// Print version, features, threads, chips and programs of this binary
    Doctor,
    /// Print a script with which a shell completes commands and options: bash, zsh, fish, elvish, powershell
    Completions(crate::shell::CompletionsArgs),
    /// Write the manual pages of all commands
    Man(crate::shell::ManArgs),
}
