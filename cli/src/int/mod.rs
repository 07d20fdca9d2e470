//! `sluice int decode FILE`: prints the telemetry in a capture, hop by hop.

mod args;
mod plot;
mod rows;
mod text;

pub(crate) use args::IntArgs;

use crate::console::fail::Failure;
use crate::console::terminal;
use crate::output::files::{Folder, pretty};
use crate::output::rows::Format;
use args::{Action, DecodeArgs};
use rows::{Decoded, Row};
use serde_json::json;
use sluice_pcaps::capture::CaptureReader;
use sluice_pcaps::int::decode;
use std::io::Write;
use text::Outcome;

/// Runs `sluice int`.
pub(crate) fn run(args: &IntArgs, as_json: bool) -> Result<(), Failure> {
    let Action::Decode(args) = &args.action;
    let folder = Folder::asked("int", args.output.as_ref(), NAMES)?;
    let decoded = read(args)?;
    let outcome = Outcome::of(&decoded);
    let written = folder.map_or(Ok(()), |folder| write_files(folder, &outcome, &decoded.rows));
    let mut out = terminal::results(as_json);
    if as_json {
        writeln!(out, "{}", json!(outcome))?;
    } else {
        write!(out, "{}", text::text(&outcome, args.limit))?;
    }
    written
}

/// Reads all telemetry of the capture. Broken telemetry is an error, unless it is to be skipped.
fn read(args: &DecodeArgs) -> Result<Decoded, Failure> {
    let mut reader = CaptureReader::open(&args.file).map_err(Failure::input)?;
    let (marks, name) = (args.marks(), args.file.display());
    let mut decoded = Decoded::default();
    let mut origin = None;
    while let Some(frame) = reader.next_frame().map_err(Failure::input)? {
        decoded.frames += 1;
        let origin = *origin.get_or_insert(frame.time);
        let time = frame.time.ps_since(origin).unwrap_or(0) / 1_000;
        match decode(frame.data, &marks) {
            Ok(None) => {}
            Ok(Some(found)) => decoded.add(frame.record, time, &found),
            Err(_) if args.skip_broken => decoded.broken += 1,
            Err(error) => {
                return Err(Failure::with_help(
                    format!(
                        "{name}: record {}, {error} (at byte {} of the file)",
                        frame.record, frame.offset
                    ),
                    "the frame may not be telemetry: set --dscp, --int-port, --report-port and --hpcc-port to those of the \
                     network, or skip such frames with --skip-broken",
                ));
            }
        }
    }
    Ok(decoded)
}

/// Names of the files of `-o`.
const NAMES: [&str; 5] = ["int.json", "hops.csv", "hops.parquet", "latency.svg", "queue.svg"];

fn write_files(mut folder: Folder, outcome: &Outcome<'_>, rows: &[Row]) -> Result<(), Failure> {
    let what = "counts, and latency and queues by node and port";
    folder.text("int.json", outcome.schema, what, &pretty(outcome))?;
    let csv = rows::write(&folder.path("hops.csv")?, Format::Csv, rows)?;
    folder.add(csv, "hops.csv", "text/csv", "one row per hop of a packet or report; times in ns");
    if Format::Parquet.is_written() {
        let parquet = rows::write(&folder.path("hops.parquet")?, Format::Parquet, rows)?;
        folder.add(parquet, "hops.parquet", "sluice.int.hops/1", "the same rows");
    }
    for (name, what, chart) in plot::charts(rows) {
        folder.chart(name, "image/svg+xml", what, &chart)?;
    }
    folder.finish()
}

/// Returns the rows by node and egress port; `u32::MAX` means unknown.
fn by_port(rows: &[Row]) -> std::collections::BTreeMap<(u32, u32), Vec<&Row>> {
    let mut ports: std::collections::BTreeMap<(u32, u32), Vec<&Row>> = std::collections::BTreeMap::new();
    for row in rows {
        let none = u32::MAX;
        ports.entry((row.node.unwrap_or(none), row.egress_port.unwrap_or(none))).or_default().push(row);
    }
    ports
}
