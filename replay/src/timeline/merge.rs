//! Timelines of a network's switches: tables with a column for the switch, a drawing for each. What may not live here:
//! what one row says.

use super::chart::Levels;
use super::{COLUMNS, Target, TimelineArgs, cells, draw};
use crate::fail::Failure;
use crate::files::beside;
use crate::rows::{Cell, Column, Kind, RowWriter};
use sluice_asic::units::{Duration, Time};
use sluice_pipeline::switch::{Level, Subject, TimelineRow};
use std::path::PathBuf;

/// A row that has not been written.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    time: Time,
    subject: Subject,
    name: Box<str>,
    index: u16,
    level: Level,
}

impl From<&TimelineRow<'_>> for Row {
    fn from(row: &TimelineRow<'_>) -> Row {
        let TimelineRow { time, subject, name, index, level } = *row;
        Row { time, subject, name: name.into(), index, level }
    }
}

/// Files under construction.
pub(crate) struct NetworkFiles {
    tables: Vec<RowWriter>,
    drawings: Vec<PathBuf>,
    /// By switch: its name, what is drawn of it, rows that have not been written.
    switches: Vec<(String, Levels, Vec<Row>)>,
    every: Option<Duration>,
}

impl NetworkFiles {
    /// Starts the files that are asked for, if any, for switches of these names.
    pub(crate) fn create(args: &TimelineArgs, names: Vec<String>) -> Result<Option<NetworkFiles>, Failure> {
        if args.timeline.is_empty() {
            return Ok(None);
        }
        let (mut tables, mut drawings) = (Vec::new(), Vec::new());
        let columns: Vec<Column> = [Column::new("switch", Kind::Text)].into_iter().chain(COLUMNS).collect();
        for Target { path, format } in &args.timeline {
            match format {
                Some(format) => tables.push(RowWriter::create(path, *format, "timeline", &columns)?),
                None => drawings.push(path.clone()),
            }
        }
        let switches = names.into_iter().map(|name| (name, Levels::default(), Vec::new())).collect();
        Ok(Some(NetworkFiles { tables, drawings, switches, every: args.timeline_every }))
    }

    /// When to look: at multiples of this, else at every change.
    pub(crate) fn every(&self) -> Option<Duration> {
        self.every
    }

    /// Adds rows of a switch, which come in order of time.
    pub(crate) fn take(&mut self, switch: usize, rows: impl IntoIterator<Item = Row>) {
        if let Some((.., waiting)) = self.switches.get_mut(switch) {
            waiting.extend(rows);
        }
    }

    /// Writes the rows up to a time, in order of time and switch: no earlier ones can come.
    pub(crate) fn flush(&mut self, until: Time) -> Result<(), Failure> {
        let mut due: Vec<(Time, usize, Row)> = Vec::new();
        for (switch, (.., waiting)) in self.switches.iter_mut().enumerate() {
            let count = waiting.partition_point(|row| row.time <= until);
            due.extend(waiting.drain(..count).map(|row| (row.time, switch, row)));
        }
        due.sort_by_key(|(time, switch, _)| (*time, *switch));
        for (_, switch, row) in &due {
            let Some((name, levels, _)) = self.switches.get_mut(*switch) else { continue };
            let row = TimelineRow {
                time: row.time,
                subject: row.subject,
                name: &row.name,
                index: row.index,
                level: row.level,
            };
            if !self.drawings.is_empty() {
                levels.add(&row);
            }
            let values: Vec<Cell<'_>> = [Cell::Text(name)].into_iter().chain(cells(&row)).collect();
            self.tables.iter_mut().try_for_each(|table| table.row(&values))?;
        }
        Ok(())
    }

    /// Completes the files.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        self.flush(Time::MAX)?;
        let mut done = Vec::new();
        for table in self.tables {
            done.push(table.finish()?);
        }
        for path in &self.drawings {
            for (name, levels, _) in self.switches.iter().filter(|(_, levels, _)| !levels.is_empty()) {
                done.push(draw(levels, &beside(path, name))?);
            }
        }
        done.into_iter().try_for_each(crate::files::Pending::finish)
    }
}
