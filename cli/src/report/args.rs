//! Arguments of `sluice report`.

use crate::console::numbers::number;
use crate::open::target::{Placing, Target};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use sluice_place::{PASSES, PassInfo};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Program to place: a name, or a .sluice or .p4 file
    pub(crate) program: String,
    #[command(flatten)]
    pub(crate) target: Target,
    #[command(flatten)]
    pub(crate) placing: Placing,
    /// Print all tables of the report: units by stage, tables, memories, reasons, PHV, parser, deparser, cycles, power
    #[arg(long)]
    pub(crate) full: bool,
    /// Folder for report.txt, report.json, report.html and the vendor's layout
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Write the report as one self-contained page; with --compare, the comparison
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Write the graph of dependencies, by stage, and the graphs of the parsers for Graphviz: `dot -Tsvg FILE`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["compare", "sweep", "watch"])]
    pub(crate) dot: Option<PathBuf>,
    /// Print the result of a pass of placement in place of the report, also if a later pass finds that the program does not fit
    #[arg(long, value_name = "PASS", value_parser = pass(), conflicts_with_all = ["json", "full", "output", "html", "dot", "vendor_layout", "compare", "sweep", "watch", "why_not"])]
    pub(crate) dump: Option<&'static PassInfo>,
    /// Print the columns of the vendor compiler's mau.resources.log and table_summary.log
    #[arg(long, conflicts_with = "json")]
    pub(crate) vendor_layout: bool,
    /// Compare with another report, given by words: PROGRAM, chip=CHIP, objective=AIM, without=NAMES, key=value.
    /// Settings that the words do not name are as in this report
    #[arg(long, value_name = "WORDS", conflicts_with_all = ["vendor_layout", "sweep"])]
    pub(crate) compare: Option<String>,
    /// Place the program for many values of a parameter and find the largest that fits: ipv4_routes=1k..1M
    #[arg(long, value_name = "KEY=FROM..TO", conflicts_with_all = ["vendor_layout", "html"])]
    pub(crate) sweep: Option<String>,
    /// Place the program again whenever its file changes, and print what became different; ends with Ctrl-C, or after N
    /// changes
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "18446744073709551615", conflicts_with_all = ["vendor_layout", "html", "sweep", "compare", "output"], value_parser = number::<u64>(..))]
    pub(crate) watch: Option<u64>,
    /// If the program does not fit: what keeps it from fitting, in order, and the smallest change found that makes it
    /// fit; tried by at most 100 placements
    #[arg(long, conflicts_with_all = ["compare", "sweep", "watch"])]
    pub(crate) why_not: bool,
}

/// Reads the name of a pass of placement.
fn pass() -> impl TypedValueParser<Value = &'static PassInfo> {
    let names = PASSES.map(|pass| PossibleValue::new(pass.name).help(pass.doc));
    PossibleValuesParser::new(names)
        .try_map(|name| PassInfo::named(&name).ok_or_else(|| format!("there is no pass {name}")))
}
