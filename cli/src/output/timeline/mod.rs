//! `--timeline FILE`: contents of pools, priority groups and queues over time, as CSV, Parquet or a drawing.
//!
//! Rows are written as they arise, and a drawing keeps a bounded number of points. So memory depends on the number of
//! places, not on the length of a run, and files are complete after Ctrl-C.

mod network;

use crate::console::fail::Failure;
use crate::output::files::Pending;
use crate::output::rows::{Cell, Column, Format, Kind, NO_PARQUET, RowWriter};
use clap::Args;
pub(crate) use network::NetworkFiles;
use sluice_asic::units::Duration;
use sluice_charts::{LineChart, Style};
use sluice_fabric::network::SwitchId;
use sluice_replay::{BoxError, Levels, RowSink};
use sluice_switch::{Subject, TimelineRow};
use std::path::{Path, PathBuf};

/// Flags of timelines.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Timelines")]
pub(crate) struct TimelineArgs {
    /// Write contents, pauses and watermarks of pools, priority groups, headroom and queues over time: .csv, .parquet,
    /// or .svg for a drawing; repeatable. In a network tables have a column for the switch, and each switch has a
    /// separate drawing: FILE.SWITCH.svg
    #[arg(long, value_name = "FILE", value_parser = target)]
    pub(crate) timeline: Vec<Target>,
    /// Sample at multiples of this time, for example 1us, instead of at every change; also for the plots of a page
    #[arg(long, value_name = "TIME", value_parser = interval)]
    pub(crate) timeline_every: Option<Duration>,
}

impl TimelineArgs {
    /// Returns the interval of samples; `wanted` is true if something shows them.
    pub(crate) fn every(&self, wanted: bool) -> Result<Option<Duration>, Failure> {
        match self.timeline_every {
            Some(_) if !wanted => {
                let help = "add --timeline FILE or --html FILE";
                Err(Failure::with_help(
                    "--timeline-every has no effect, because nothing shows the samples",
                    help,
                ))
            }
            every => Ok(every),
        }
    }
}

/// An output file and its format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) path: PathBuf,
    /// A table; a drawing if `None`.
    pub(crate) format: Option<Format>,
}

fn target(text: &str) -> Result<Target, String> {
    let path = PathBuf::from(text);
    let format = match path.extension().and_then(|e| e.to_str()) {
        Some("csv") => Some(Format::Csv),
        Some("parquet") => Some(Format::Parquet),
        Some("svg") => None,
        _ => return Err("expected a name that ends in .csv, .parquet or .svg".to_owned()),
    };
    check_built(format)?;
    Ok(Target { path, format })
}

/// Refuses a table, or a drawing if `None`, that this build leaves out.
pub(crate) fn check_built(format: Option<Format>) -> Result<(), String> {
    match format {
        Some(format) if !format.is_written() => Err(NO_PARQUET.to_owned()),
        None if !LineChart::IS_DRAWN => {
            Err("this build draws no charts; build it with the feature `plots`, or write .csv".to_owned())
        }
        _ => Ok(()),
    }
}

pub(crate) fn interval(text: &str) -> Result<Duration, String> {
    let time: Duration = crate::console::numbers::quantity(text)?;
    if time.is_zero() { Err("expected a time above 0, for example 1us".to_owned()) } else { Ok(time) }
}

/// Number of columns of a table.
const COUNT: usize = 12;
/// Columns of a table; times are in ps since the first packet, everything else but `index` is in cells.
const COLUMNS: [Column; COUNT] = [
    Column::new("time_ps", Kind::Number),
    Column::new("subject", Kind::Text),
    Column::new("name", Kind::Text),
    Column::new("index", Kind::Number),
    Column::new("cells", Kind::Number),
    Column::new("reserved", Kind::Optional),
    Column::new("shared", Kind::Optional),
    Column::new("headroom", Kind::Optional),
    Column::new("watermark", Kind::Number),
    Column::new("headroom_watermark", Kind::Optional),
    Column::new("paused", Kind::Optional),
    Column::new("limit", Kind::Optional),
];

/// Returns the values of a row; values that a place does not have are missing.
fn cells<'a>(row: &TimelineRow<'a>) -> [Cell<'a>; COUNT] {
    let level = &row.level;
    let number = |n: u32| Cell::Number(n.into());
    let (group, queue) = (row.subject == Subject::Group, row.subject == Subject::Queue);
    let only = |has: bool, n: u32| if has { number(n) } else { Cell::Missing };
    [
        Cell::Number(row.time.as_ps()),
        Cell::Text(row.subject.name()),
        Cell::Text(row.name),
        Cell::Number(row.index.into()),
        number(level.cells),
        only(group || queue, level.reserved),
        only(group || queue, level.shared),
        only(group, level.headroom),
        number(level.watermark),
        only(group, level.headroom_watermark),
        only(group || queue, level.paused.into()),
        row.limit.map_or(Cell::Missing, number),
    ]
}

/// Files of a timeline under construction.
#[derive(Default)]
pub(crate) struct Files {
    tables: Vec<(RowWriter, PathBuf)>,
    drawings: Vec<PathBuf>,
    levels: Levels,
    /// True if a page shows the levels.
    on_page: bool,
    /// First error; kept, because [`Files::take`] returns none.
    error: Option<Failure>,
}

impl Files {
    /// Starts files.
    pub(crate) fn create(targets: &[Target]) -> Result<Files, Failure> {
        let mut files = Files::default();
        for Target { path, format } in targets {
            match format {
                Some(format) => {
                    let table = RowWriter::create(path, *format, "timeline", &COLUMNS)?;
                    files.tables.push((table, path.clone()));
                }
                None => files.drawings.push(path.clone()),
            }
        }
        Ok(files)
    }

    /// Keeps the levels for a page.
    pub(crate) fn on_page(self) -> Files {
        Files { on_page: true, ..self }
    }

    /// Returns the levels, for a page.
    pub(crate) const fn levels(&self) -> &Levels {
        &self.levels
    }

    /// Adds a row of a switch's timeline.
    pub(crate) fn take(&mut self, row: &TimelineRow<'_>) {
        if self.on_page || !self.drawings.is_empty() {
            self.levels.add(row);
        }
        let cells = cells(row);
        for (table, _) in &mut self.tables {
            if let Err(error) = table.row(&cells) {
                self.error.get_or_insert(error);
            }
        }
    }

    /// Completes the files; they get their names with [`Pending::finish`].
    pub(crate) fn complete(self) -> Result<Vec<(Pending, PathBuf)>, Failure> {
        let Files { tables, drawings, levels, error, .. } = self;
        error.map_or(Ok(()), Err)?;
        let mut done = Vec::new();
        for (table, path) in tables {
            done.push((table.finish()?, path));
        }
        for path in drawings {
            done.push((draw(&levels, &path)?, path));
        }
        Ok(done)
    }

    /// Completes the files and gives them their names.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        self.complete()?.into_iter().try_for_each(|(file, _)| file.finish())
    }
}

/// Writes a drawing; the file gets its name with [`Pending::finish`].
fn draw(levels: &Levels, path: &Path) -> Result<Pending, Failure> {
    let mut chart = LineChart::new("Buffer over time", "time, us", "cells");
    for line in levels.lines() {
        chart.add(&line.name, line.points, Style::Steps);
    }
    let mut file = Pending::create(path)?;
    let written = std::io::Write::write_all(file.writer(), chart.svg()?.as_bytes());
    written.map_err(|e| Failure::file("write", path, &e))?;
    Ok(file)
}

impl RowSink for Files {
    fn row(&mut self, _: SwitchId, row: &TimelineRow<'_>) -> Result<(), BoxError> {
        self.take(row);
        self.error.take().map_or(Ok(()), |error| Err(error.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_a_file_becomes() {
        assert_eq!(target("a/b.csv").unwrap().format, Some(Format::Csv));
        match target("b.parquet") {
            Ok(target) => {
                assert_eq!((target.format, Format::Parquet.is_written()), (Some(Format::Parquet), true))
            }
            Err(error) => assert_eq!((error.as_str(), Format::Parquet.is_written()), (NO_PARQUET, false)),
        }
        assert_eq!(target("b.svg").unwrap().format, None);
        assert!(target("b.txt").is_err() && target("csv").is_err());
        assert!(interval("0").is_err() && interval("1us") == Ok(Duration::from_micros(1)));
    }
}
