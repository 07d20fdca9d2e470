//! Sorts rows of several switches by time.

use super::RowSink;
use crate::error::Error;
use sluice_asic::units::Time;
use sluice_fabric::network::SwitchId;
use sluice_switch::{Level, Subject, TimelineRow};

/// A row that borrows nothing.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    time: Time,
    subject: Subject,
    name: Box<str>,
    index: u16,
    level: Level,
    limit: Option<u32>,
}

impl From<&TimelineRow<'_>> for Row {
    fn from(row: &TimelineRow<'_>) -> Row {
        let TimelineRow { time, subject, name, index, level, limit } = *row;
        Row { time, subject, name: name.into(), index, level, limit }
    }
}

impl Row {
    fn as_row(&self) -> TimelineRow<'_> {
        let &Row { time, subject, ref name, index, level, limit } = self;
        TimelineRow { time, subject, name, index, level, limit }
    }
}

/// Rows of a network's switches on their way to a sink.
pub(crate) struct Merge<'a> {
    rows: &'a mut dyn RowSink,
    /// For each switch, rows in order of time that the sink has not received.
    waiting: Vec<Vec<Row>>,
}

impl<'a> Merge<'a> {
    pub(crate) fn new(rows: &'a mut dyn RowSink, switches: usize) -> Merge<'a> {
        Merge { rows, waiting: vec![Vec::new(); switches] }
    }

    /// Adds rows of a switch, which come in order of time.
    pub(crate) fn add(&mut self, switch: SwitchId, rows: impl IntoIterator<Item = Row>) {
        if let Some(waiting) = self.waiting.get_mut(switch.0 as usize) {
            waiting.extend(rows);
        }
    }

    /// Passes the rows up to `until` to the sink, in order of time and switch. No earlier rows may follow.
    pub(crate) fn flush(&mut self, until: Time) -> Result<(), Error> {
        let mut due: Vec<(SwitchId, Row)> = Vec::new();
        for (switch, waiting) in (0..).map(SwitchId).zip(&mut self.waiting) {
            let count = waiting.partition_point(|row| row.time <= until);
            due.extend(waiting.drain(..count).map(|row| (switch, row)));
        }
        due.sort_by_key(|(switch, row)| (row.time, *switch));
        due.iter().try_for_each(|(switch, row)| self.rows.row(*switch, &row.as_row())).map_err(Error::Rows)
    }
}
