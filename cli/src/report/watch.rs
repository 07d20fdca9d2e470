//! `sluice report FILE --watch`: places the program again when its file changes, and prints what became different.

use super::print;
use crate::console::fail::{Failure, complain, print_error};
use crate::console::interrupt::interrupt_flag;
use crate::open::p4;
use crate::open::resolve;
use crate::report::args::ReportArgs;
use sluice_asic::chip::ChipSpec;
use sluice_catalogue::StageProgram;
use sluice_place::NoFit;
use sluice_place::report::Report;
use sluice_program_file::{OpenError, ProgramFile};
use sluice_report as report;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::sleep;
use std::time::Duration;

/// Time between two looks at the file.
const INTERVAL: Duration = Duration::from_millis(100);

/// Prints the report, and then the differences after every change of the file. Ends after `changes` changes, or by Ctrl-C.
pub(super) fn run(
    args: &ReportArgs,
    (path, name): (&Path, &str),
    changes: u64,
    as_json: bool,
) -> Result<(), Failure> {
    let chip = resolve::chip(&args.target.chip)?;
    let stop = interrupt_flag();
    let mut text = p4::text(path)?;
    let look = Look { args, path, name, chip: &chip, as_json };
    let mut last = None;
    look.look(&mut last)?;
    for _ in 0..changes {
        let changed = loop {
            sleep(INTERVAL);
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            // An editor may take the file away for a moment, or write it in parts: only a text that stays counts.
            let Ok(now) = p4::text(path) else { continue };
            if now != text {
                sleep(INTERVAL);
                if p4::text(path).is_ok_and(|later| later == now) {
                    break now;
                }
            }
        };
        text = changed;
        look.look(&mut last)?;
    }
    Ok(())
}

/// The watched file, and the form in which its reports are printed.
struct Look<'a> {
    args: &'a ReportArgs,
    path: &'a Path,
    /// Name of the program.
    name: &'a str,
    chip: &'a ChipSpec,
    as_json: bool,
}

impl Look<'_> {
    /// Places the file's program and prints the report, or the differences from `last`. A mistake in the file is printed, and
    /// does not end the watch.
    fn look(&self, last: &mut Option<Report>) -> Result<(), Failure> {
        let now = match self.placed() {
            Ok(Ok(now)) => now,
            Ok(Err(no_fit)) => {
                print_error(crate::console::snippet::no_fit(&no_fit));
                return Ok(());
            }
            Err(failure @ Failure::Input { .. }) => {
                complain(&failure);
                return Ok(());
            }
            Err(failure) => return Err(failure),
        };
        match last {
            None => print(&report::text(&now), &report::Document::of(&now), self.as_json)?,
            Some(last) => {
                let names = [last.program.clone(), now.program.clone()];
                print(&differences(last, &now), &report::compare(names, [last, &now]), self.as_json)?;
            }
        }
        *last = Some(now);
        Ok(())
    }

    fn placed(&self) -> Result<Result<Report, Box<NoFit>>, Failure> {
        let text = p4::text(self.path)?;
        let file = ProgramFile::parse(&self.path.display().to_string(), &text).map_err(OpenError::from)?;
        let stage: Arc<dyn StageProgram> = Arc::new(file.named(self.name));
        let program = resolve::build(&stage, &self.args.target)?;
        let placement = resolve::fit(&program, self.chip, &self.args.placing.options());
        Ok(placement.map(|placement| Report::new(&program, &placement)))
    }
}

/// Returns the quantities and the places of tables that differ, one per line.
fn differences(last: &Report, now: &Report) -> String {
    let mut out = format!("{} on {}: fits, {} stages\n", now.program, now.chip, now.stages_used());
    let names = [last.program.clone(), now.program.clone()];
    let mut count = 0;
    let mut line = |what: &str, before: &str, after: &str| {
        count += 1;
        // Writing into a String cannot fail.
        _ = writeln!(out, "  {what}: {before} -> {after}");
    };
    for row in report::compare(names, [last, now]).rows.iter().filter(|row| row.values[0] != row.values[1]) {
        line(&row.what, &row.values[0].to_string(), &row.values[1].to_string());
    }
    let (before, after) = (places(last), places(now));
    for name in before.keys().chain(after.keys().filter(|name| !before.contains_key(*name))) {
        let at =
            |places: &BTreeMap<String, String>| places.get(name).cloned().unwrap_or("nowhere".to_owned());
        if before.get(name) != after.get(name) {
            line(&format!("`{name}`"), &at(&before), &at(&after));
        }
    }
    if count == 0 {
        out.push_str("  nothing is different\n");
    }
    out
}

/// Returns the stages of each table and condition.
fn places(report: &Report) -> BTreeMap<String, String> {
    let places = report.tables.iter().map(|table| {
        let mut stages: Vec<String> = table.parts.iter().map(|part| part.stage.to_string()).collect();
        stages.dedup();
        let word = if stages.len() == 1 { "stage" } else { "stages" };
        (format!("{} {}", table.gress, table.name), format!("{word} {}", stages.join(", ")))
    });
    places.collect()
}
