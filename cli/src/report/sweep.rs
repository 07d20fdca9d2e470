//! `sluice report --sweep`: parses the range, runs the sweep, writes files and text.

use super::{placed, plot, print};
use crate::console::fail::Failure;
use crate::console::table::{Layout, table, wide};
use crate::open::door::OpenProgram;
use crate::open::resolve;
use crate::output::files::{Folder, pretty};
use crate::output::rows::CsvText;
use crate::report::args::ReportArgs;
use sluice_asic::chip::Column;
use sluice_asic::units::count;
use sluice_report::{SweepPoint, sweep};

/// A parameter and the values to try.
struct Range {
    key: String,
    from: u64,
    to: u64,
}

/// Parses `key=1k..1M`.
fn range(text: &str) -> Result<Range, Failure> {
    let wrong = |why: String| {
        Failure::with_help(why, "write `--sweep KEY=FROM..TO`, for example `--sweep ipv4_routes=1k..1M`")
    };
    let (key, values) =
        text.split_once('=').ok_or_else(|| wrong(format!("--sweep `{text}` names no parameter")))?;
    let (from, to) =
        values.split_once("..").ok_or_else(|| wrong(format!("--sweep `{values}` is not a range")))?;
    let number = |text: &str| count(text.trim()).map_err(|e| wrong(format!("--sweep range `{values}`: {e}")));
    let (from, to) = (number(from)?, number(to.trim_start_matches('='))?);
    if from == 0 || from > to {
        return Err(wrong(format!("--sweep range `{values}`: FROM must be at least 1 and at most TO")));
    }
    Ok(Range { key: key.to_owned(), from, to })
}

fn row(point: &SweepPoint) -> Vec<String> {
    match &point.result {
        Ok(r) => {
            let total = |c: Column| r.totals[c.index()].to_string();
            vec![
                point.value.to_string(),
                r.stages_used().to_string(),
                total(Column::Sram),
                total(Column::Tcam),
                total(Column::MapRam),
                r.total.as_ps().div_ceil(1000).to_string(),
                r.limits.first().map_or_else(String::new, |l| {
                    format!("{} in stage {}: {} of {}", l.column.vendor_name(), l.stage, l.used, l.available)
                }),
            ]
        }
        Err(_) => vec![point.value.to_string(), "no fit".to_owned()],
    }
}

/// Returns a row for each value; a value that does not fit has the reason alone. Times are in ps.
fn csv(points: &[SweepPoint]) -> Result<String, Failure> {
    let columns = ["value", "fits", "stages", "sram_rams", "tcam_blocks", "map_rams", "latency_ps", "reason"];
    let mut table = CsvText::new(&columns)?;
    for point in points {
        match &point.result {
            Ok(r) => {
                let total = |c: Column| r.totals[c.index()];
                let (sram, tcam, map) = (total(Column::Sram), total(Column::Tcam), total(Column::MapRam));
                let latency = r.total.as_ps();
                table.row(&[&point.value, &true, &r.stages_used(), &sram, &tcam, &map, &latency, &""])?;
            }
            Err(reason) => table.row(&[&point.value, &false, &"", &"", &"", &"", &"", reason])?,
        }
    }
    table.finish()
}

/// Runs and prints the sweep; fails with exit code 1 if no value fits.
pub(super) fn run(args: &ReportArgs, opened: &OpenProgram, text: &str, as_json: bool) -> Result<(), Failure> {
    let range = range(text)?;
    let chip = resolve::chip(&args.target.chip)?;
    let Range { key, from, to } = range;
    let names = ["sweep.txt", "sweep.json", "sweep.csv", "sweep.svg"];
    let folder = Folder::asked("report", args.output.as_ref(), names)?;
    let sweep =
        sweep(&key, (from, to), &mut |value| placed(args, &opened.stage, &chip, Some((&key, value))))?;
    let (points, largest) = (&sweep.points, sweep.largest());
    let heading = ["value", "stages", "SRAM", "TCAM", "map RAM", "ns", "closest to its limit"];
    let rows = |table: Layout| table(&heading, points.iter().map(row).collect());
    let verdict = match largest {
        Some(largest) if sweep.smallest_failure().is_some() => {
            format!("{key} = {largest} is the largest that fits {}", chip.name)
        }
        Some(largest) => format!("all values fit {}, the largest tried is {largest}", chip.name),
        None => format!("no value fits {}", chip.name),
    };
    let why = points.iter().find_map(|p| p.result.as_ref().err().map(|e| (p.value, e)));
    let why = why.map_or_else(String::new, |(value, e)| format!("at {value}: {e}\n"));
    let text = |table| {
        let (program, chip, rows) = (opened.name(), &chip.name, rows(table));
        format!("{program} on {chip}, {key} from {from} to {to}\n\n{rows}\n\n{verdict}\n{why}")
    };
    if let Some(mut folder) = folder {
        folder.text("sweep.txt", "text/plain", "the sweep for people", &text(wide))?;
        folder.text("sweep.json", "sluice.sweep/1", "the sweep for machines", &pretty(&sweep))?;
        folder.text("sweep.csv", "text/csv", "a row for each value", &csv(points)?)?;
        let title = format!("{} on {}", opened.name(), chip.name);
        let drawing = plot::sweep(&title, &sweep);
        folder.chart("sweep.svg", "image/svg+xml", "stages and memory against the parameter", &drawing)?;
        folder.finish()?;
    }
    print(&text(table), &sweep, as_json)?;
    if largest.is_some() { Ok(()) } else { Err(Failure::Property) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        let r = range("routes=1k..=4k").unwrap();
        assert_eq!((r.key.as_str(), r.from, r.to), ("routes", 1000, 4000));
        for wrong in ["routes", "routes=5", "routes=0..4", "routes=5..4", "routes=a..4"] {
            assert!(range(wrong).is_err(), "{wrong}");
        }
    }
}
