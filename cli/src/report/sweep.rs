//! `sluice report --sweep`: how far a parameter can go.

use super::{plot, print};
use crate::args::{ReportArgs, Target, count};
use crate::fail::Failure;
use crate::files::{Folder, pretty};
use crate::resolve;
use crate::table::table;
use serde_json::{Value, json};
use sluice_asic::chip::{ChipSpec, Column};
use sluice_catalogue::Catalogue;
use sluice_place::report::Report;

/// What came of one value.
pub(super) struct Point {
    pub(super) value: u64,
    /// The report, or why the program does not fit.
    pub(super) result: Result<Report, String>,
}

/// A parameter and the values to try.
struct Range {
    key: String,
    from: u64,
    to: u64,
}

/// `key=1k..1M`
fn range(text: &str) -> Result<Range, Failure> {
    let wrong =
        |why: String| Failure::with_help(why, "write `--sweep key=FROM..TO`, such as `ipv4_routes=1k..1M`");
    let (key, values) = text.split_once('=').ok_or_else(|| wrong(format!("`{text}` names no parameter")))?;
    let (from, to) = values.split_once("..").ok_or_else(|| wrong(format!("`{values}` is no range")))?;
    let number = |text: &str| count(text.trim()).map_err(|e| wrong(format!("`{text}` in `{values}`: {e}")));
    let (from, to) = (number(from)?, number(to.trim_start_matches('='))?);
    if from == 0 || from > to {
        return Err(wrong(format!("`{values}` is empty or begins at 0")));
    }
    Ok(Range { key: key.to_owned(), from, to })
}

/// Places a program with one parameter at one value.
pub(super) fn point(
    args: &ReportArgs,
    catalogue: &Catalogue,
    chip: &ChipSpec,
    key: &str,
    value: u64,
) -> Result<Point, Failure> {
    let mut sets = args.target.sets.clone();
    sets.retain(|(k, _)| k != key);
    sets.push((key.to_owned(), value.to_string()));
    let target = Target { sets, ..args.target.clone() };
    let program = resolve::build(resolve::stage(catalogue, &args.program)?, &target)?;
    let result = match resolve::fit(&program, chip, &args.placing.options()) {
        Ok(placement) => Ok(Report::new(&program, &placement)),
        Err(no_fit) => Err(no_fit.reason()),
    };
    Ok(Point { value, result })
}

/// Doubles from one end to the other, then halves the step between the last value that fits and the first
/// that does not.
fn points(
    args: &ReportArgs,
    catalogue: &Catalogue,
    chip: &ChipSpec,
    range: &Range,
) -> Result<Vec<Point>, Failure> {
    let mut list = Vec::new();
    let mut value = range.from;
    loop {
        let next = point(args, catalogue, chip, &range.key, value)?;
        let fits = next.result.is_ok();
        list.push(next);
        if value == range.to || !fits {
            break;
        }
        value = value.saturating_mul(2).min(range.to);
    }
    let largest = |list: &[Point]| list.iter().filter(|p| p.result.is_ok()).map(|p| p.value).max();
    let smallest = |list: &[Point]| list.iter().filter(|p| p.result.is_err()).map(|p| p.value).min();
    while let (Some(fits), Some(fails)) = (largest(&list), smallest(&list)) {
        if fails <= fits + 1 {
            break;
        }
        list.push(point(args, catalogue, chip, &range.key, fits + (fails - fits) / 2)?);
    }
    list.sort_by_key(|p| p.value);
    Ok(list)
}

fn row(point: &Point) -> Vec<String> {
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

fn value(range: &Range, points: &[Point], largest: Option<u64>) -> Value {
    json!({
        "schema": "sluice.sweep/1",
        "key": range.key,
        "from": range.from,
        "to": range.to,
        "largest_that_fits": largest,
        "points": points.iter().map(|p| match &p.result {
            Ok(r) => json!({
                "value": p.value, "fits": true, "reason": null, "stages": r.stages_used(),
                "totals": Column::ALL.iter().map(|c| (c.id().to_owned(), Value::from(r.totals[c.index()])))
                    .collect::<serde_json::Map<_, _>>(),
                "total_ns": r.total.as_ps().div_ceil(1000),
            }),
            Err(reason) => json!({
                "value": p.value, "fits": false, "reason": reason, "stages": null, "totals": null,
                "total_ns": null,
            }),
        }).collect::<Vec<_>>(),
    })
}

/// Prints the sweep; exit 1 when no value fits.
pub(super) fn run(
    args: &ReportArgs,
    catalogue: &Catalogue,
    text: &str,
    as_json: bool,
) -> Result<(), Failure> {
    let range = range(text)?;
    let chip = resolve::chip(&args.target.chip)?;
    let points = points(args, catalogue, &chip, &range)?;
    let largest = points.iter().filter(|p| p.result.is_ok()).map(|p| p.value).max();
    let heading = ["value", "stages", "SRAM", "TCAM", "map RAM", "ns", "closest to its limit"];
    let rows = table(&heading, points.iter().map(row).collect());
    let verdict = match largest {
        Some(largest) if points.iter().any(|p| p.result.is_err()) => {
            format!("{} = {largest} is the largest that fits {}", range.key, chip.name)
        }
        Some(largest) => format!("all values fit {}, the largest tried is {largest}", chip.name),
        None => format!("no value fits {}", chip.name),
    };
    let why = points.iter().find_map(|p| p.result.as_ref().err().map(|e| (p.value, e)));
    let why = why.map_or_else(String::new, |(value, e)| format!("at {value}: {e}\n"));
    let text = format!(
        "{} on {}, {} from {} to {}\n\n{rows}\n\n{verdict}\n{why}",
        args.program, chip.name, range.key, range.from, range.to
    );
    let value = value(&range, &points, largest);
    if let Some(dir) = &args.output {
        let mut folder = Folder::default();
        folder.text(dir, "sweep.txt", "text", "the sweep for people", &text)?;
        folder.text(dir, "sweep.json", "sluice.sweep/1", "the sweep for machines", &pretty(&value))?;
        let title = format!("{} on {}", args.program, chip.name);
        let drawing = plot::sweep(&title, &range.key, &points)?;
        folder.text(dir, "sweep.svg", "svg", "stages and memory against the parameter", &drawing)?;
        folder.finish(dir)?;
    }
    print(&text, &value, as_json)?;
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
