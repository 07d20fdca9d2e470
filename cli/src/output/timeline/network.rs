//! Timelines of a network's switches: tables with a column for the switch, a drawing for each.

use super::{COLUMNS, Target, cells, draw};
use crate::console::fail::Failure;
use crate::output::files::{Pending, beside};
use crate::output::rows::{Cell, Column, Kind, RowWriter};
use sluice_fabric::network::SwitchId;
use sluice_replay::{BoxError, Levels, RowSink};
use sluice_switch::TimelineRow;
use std::path::PathBuf;

/// Files under construction.
pub(crate) struct NetworkFiles {
    tables: Vec<RowWriter>,
    drawings: Vec<PathBuf>,
    /// By switch: its name, and the levels to draw.
    switches: Vec<(String, Levels)>,
    /// True if a page shows the levels.
    on_page: bool,
}

impl NetworkFiles {
    /// Starts files for switches of these names.
    pub(crate) fn create(targets: &[Target], names: Vec<String>) -> Result<NetworkFiles, Failure> {
        let (mut tables, mut drawings) = (Vec::new(), Vec::new());
        let columns: Vec<Column> = [Column::new("switch", Kind::Text)].into_iter().chain(COLUMNS).collect();
        for Target { path, format } in targets {
            match format {
                Some(format) => tables.push(RowWriter::create(path, *format, "timeline", &columns)?),
                None => drawings.push(path.clone()),
            }
        }
        let switches = names.into_iter().map(|name| (name, Levels::default())).collect();
        Ok(NetworkFiles { tables, drawings, switches, on_page: false })
    }

    /// Keeps the levels for a page.
    pub(crate) fn on_page(self) -> NetworkFiles {
        NetworkFiles { on_page: true, ..self }
    }

    /// Returns the levels of each switch, for a page.
    pub(crate) fn levels(&self) -> impl Iterator<Item = (&str, &Levels)> {
        self.switches.iter().map(|(name, levels)| (name.as_str(), levels))
    }

    /// Completes the files and gives them their names. Returns a note for each drawing that has no file, because no switch held
    /// anything.
    pub(crate) fn finish(self) -> Result<Vec<String>, Failure> {
        let mut done = Vec::new();
        for table in self.tables {
            done.push(table.finish()?);
        }
        for path in &self.drawings {
            for (name, levels) in self.switches.iter().filter(|(_, levels)| !levels.is_empty()) {
                done.push(draw(levels, &beside(path, name))?);
            }
        }
        done.into_iter().try_for_each(Pending::finish)?;
        let empty = self.switches.iter().all(|(_, levels)| levels.is_empty());
        let drawings = self.drawings.iter().filter(|_| empty);
        let note = |path: &PathBuf| {
            format!(
                "--timeline {}: no drawing, because no buffer held more than it does when idle",
                path.display()
            )
        };
        Ok(drawings.map(note).collect())
    }
}

impl RowSink for NetworkFiles {
    fn row(&mut self, switch: SwitchId, row: &TimelineRow<'_>) -> Result<(), BoxError> {
        let Some((name, levels)) = self.switches.get_mut(switch.0 as usize) else { return Ok(()) };
        if self.on_page || !self.drawings.is_empty() {
            levels.add(row);
        }
        let values: Vec<Cell<'_>> = [Cell::Text(name)].into_iter().chain(cells(row)).collect();
        Ok(self.tables.iter_mut().try_for_each(|table| table.row(&values))?)
    }
}
