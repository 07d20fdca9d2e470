//! All runs of a command as tables: a row for each run, and a row for each message.

use super::Finished;
use super::store::{columns, with_cells};
use crate::console::fail::Failure;
use crate::output::files::Folder;
use crate::output::rows::{Cell, Column, Format, Kind, RowWriter};
use sluice_scenario::contest::{Performance, RunKey};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Formats of the tables, with the endings of their names.
const FORMATS: [(Format, &str); 2] = [(Format::Csv, "csv"), (Format::Parquet, "parquet")];

/// Returns the names of the tables.
pub(super) fn names() -> impl Iterator<Item = String> {
    let written = FORMATS.into_iter().filter(|(format, _)| format.is_written());
    written.flat_map(|(_, ending)| ["sweep", "flows"].map(|stem| format!("{stem}.{ending}")))
}

/// A run with its number among all runs: contests in their order, then programs, then seeds.
struct Row<'a> {
    number: u64,
    finished: &'a Finished,
    program: usize,
    seed: u64,
    run: &'a Performance,
}

/// Returns the runs of all contests.
fn rows(all: &[Finished]) -> impl Iterator<Item = Row<'_>> {
    let runs = all.iter().flat_map(|finished| {
        finished.results.series.iter().enumerate().flat_map(move |(program, series)| {
            let seeds = finished.results.seeds.iter().zip(&series.runs);
            seeds.map(move |(seed, run)| (finished, program, *seed, run))
        })
    });
    (0..).zip(runs).map(|(number, (finished, program, seed, run))| Row {
        number,
        finished,
        program,
        seed,
        run,
    })
}

impl Row<'_> {
    fn label(&self) -> &str {
        &self.finished.results.series[self.program].label
    }
}

/// Writes `sweep.csv` and `flows.csv` and the same as Parquet, if the build writes it.
pub(super) fn write(all: &[Finished], folder: &mut Folder) -> Result<(), Failure> {
    for (format, ending) in FORMATS.into_iter().filter(|(format, _)| format.is_written()) {
        let schema = if format == Format::Csv { "text/csv" } else { "application/vnd.apache.parquet" };
        let name = format!("sweep.{ending}");
        let table = runs(all, &folder.path(&name)?, format)?;
        folder.add(table.finish()?, &name, schema, "a row for each run: its keys and numbers");
        let name = format!("flows.{ending}");
        let table = flows(all, &folder.path(&name)?, format)?;
        folder.add(table.finish()?, &name, schema, "a row for each message that counts, of all runs");
    }
    Ok(())
}

/// Returns the keys that vary, in their order.
pub(super) fn axes(all: &[Finished]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (key, _) in all.iter().flat_map(|finished| &finished.axes) {
        if !names.contains(key) {
            names.push(key.clone());
        }
    }
    names
}

fn runs(all: &[Finished], path: &Path, format: Format) -> Result<RowWriter, Failure> {
    let axes = axes(all);
    let numbers: Vec<BTreeMap<String, i128>> = rows(all).map(|row| row.run.numbers()).collect();
    let names: BTreeSet<&String> = numbers.iter().flat_map(BTreeMap::keys).collect();
    let mut columns = vec![
        Column::new("run", Kind::Number),
        Column::new("digest", Kind::Text),
        Column::new("contest", Kind::Text),
    ];
    columns.extend(axes.iter().map(|key| Column::named(key.clone(), Kind::Text)));
    columns.extend([Column::new("program", Kind::Text), Column::new("seed", Kind::Number)]);
    columns.extend(names.iter().map(|name| Column::named((*name).clone(), Kind::Optional)));
    let mut table = RowWriter::create(path, format, "sweep", &columns)?;
    for (row, numbers) in rows(all).zip(&numbers) {
        let Finished { contest, axes: own, .. } = row.finished;
        let key = RunKey { program: row.program, seed: row.seed };
        let title = if contest.id.is_empty() { &contest.name } else { &contest.id };
        let digest = row.finished.digests.get(&key).map_or("", String::as_str);
        let mut cells = vec![Cell::Number(row.number), Cell::Text(digest), Cell::Text(title)];
        let value = |key: &String| own.iter().find(|(name, _)| name == key).map_or("", |(_, value)| value);
        cells.extend(axes.iter().map(|key| Cell::Text(value(key))));
        cells.extend([Cell::Text(row.label()), Cell::Number(row.seed)]);
        let number = |name: &&String| numbers.get(*name).and_then(|n| u64::try_from(*n).ok());
        cells.extend(names.iter().map(|name| Cell::from(number(name))));
        table.row(&cells)?;
    }
    Ok(table)
}

fn flows(all: &[Finished], path: &Path, format: Format) -> Result<RowWriter, Failure> {
    let mut names = vec![
        Column::new("run", Kind::Number),
        Column::new("program", Kind::Text),
        Column::new("seed", Kind::Number),
    ];
    names.extend(columns());
    names.extend([Column::new("alone_ps", Kind::Number), Column::new("slowdown_thousandths", Kind::Number)]);
    let mut table = RowWriter::create(path, format, "flows", &names)?;
    for row in rows(all) {
        for sent in &row.run.sent {
            let alone = sent.alone(row.run.slowdown).as_ps();
            with_cells(sent, |own| {
                let mut cells =
                    vec![Cell::Number(row.number), Cell::Text(row.label()), Cell::Number(row.seed)];
                cells.extend_from_slice(own);
                cells.extend([Cell::Number(alone), Cell::Number(sent.slowdown(row.run.slowdown))]);
                table.row(&cells)
            })?;
        }
    }
    Ok(table)
}
