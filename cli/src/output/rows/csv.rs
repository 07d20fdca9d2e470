//! Rows as comma-separated text: lines end with a line feed, values have quotes if they need them.

use super::{Cell, Column};
use crate::console::fail::Failure;
use crate::console::plain::plain;
use crate::console::table::{Columns, headings};
use csv::{ErrorKind, Writer, WriterBuilder};
use std::fmt::{Display, Write as _};
use std::fs::File;
use std::io::{self, Write};

/// A table under construction.
pub(super) struct Csv<W: Write> {
    out: Writer<W>,
    /// The text of a value.
    value: String,
}

impl<W: Write> Csv<W> {
    /// Starts a table with its line of column names.
    fn new<'n>(out: W, names: impl IntoIterator<Item = &'n str>) -> Result<Csv<W>, Failure> {
        let out = WriterBuilder::new().flexible(true).from_writer(out);
        let mut csv = Csv { out, value: String::new() };
        names.into_iter().try_for_each(|name| csv.value(&name))?;
        csv.end_row()?;
        Ok(csv)
    }

    /// Adds a value to the row. Control characters are shown, and what a spreadsheet would take for a formula is text there.
    fn value(&mut self, value: &dyn Display) -> Result<(), Failure> {
        self.value.clear();
        // Writing into a String cannot fail.
        let _ = write!(self.value, "{value}");
        if self.value.contains(char::is_control) {
            self.value = plain(&self.value).into_owned();
        }
        if is_formula(&self.value) {
            self.value.insert(0, '\'');
        }
        self.out.write_field(&self.value).map_err(failure)
    }

    fn end_row(&mut self) -> Result<(), Failure> {
        self.out.write_record(None::<&[u8]>).map_err(failure)
    }
}

impl Csv<File> {
    /// Starts a table in a file.
    pub(super) fn create(file: File, columns: &[Column]) -> Result<Csv<File>, Failure> {
        Csv::new(file, columns.iter().map(|c| c.name.as_ref()))
    }

    /// Adds a row: a value for each column.
    pub(super) fn row(&mut self, cells: &[Cell<'_>]) -> Result<(), Failure> {
        for cell in cells {
            match cell {
                Cell::Number(number) => self.value(number)?,
                Cell::Missing => self.value(&"")?,
                Cell::Text(text) => self.value(text)?,
            }
        }
        self.end_row()
    }

    /// Completes the table.
    pub(super) fn finish(mut self) -> Result<(), Failure> {
        Ok(self.out.flush()?)
    }
}

/// A table in memory, for values that have a text form.
pub(crate) struct CsvText(Csv<Vec<u8>>);

impl CsvText {
    /// Starts a table with its line of column names.
    pub(crate) fn new(names: &[&str]) -> Result<CsvText, Failure> {
        Csv::new(Vec::new(), names.iter().copied()).map(CsvText)
    }

    /// Returns the table with these columns.
    pub(crate) fn of_columns<'r, T: 'r>(
        columns: &Columns<T>,
        rows: impl IntoIterator<Item = &'r T>,
    ) -> Result<String, Failure> {
        let mut table = CsvText::new(&headings(columns))?;
        for row in rows {
            columns.iter().try_for_each(|(_, cell)| table.0.value(&cell(row)))?;
            table.0.end_row()?;
        }
        table.finish()
    }

    /// Adds a row: a value for each column.
    pub(crate) fn row(&mut self, values: &[&dyn Display]) -> Result<(), Failure> {
        values.iter().try_for_each(|value| self.0.value(value))?;
        self.0.end_row()
    }

    /// Returns the text of the table.
    pub(crate) fn finish(self) -> Result<String, Failure> {
        let bytes = self.0.out.into_inner().map_err(|e| e.into_error())?;
        String::from_utf8(bytes).map_err(|e| Failure::Inconsistent(format!("a table is not UTF-8: {e}")))
    }
}

/// Returns true if a spreadsheet takes a value that is no number for a formula.
fn is_formula(value: &str) -> bool {
    value.starts_with(['=', '+', '-', '@', '\t']) && value != "-" && value.parse::<f64>().is_err()
}

fn failure(error: csv::Error) -> Failure {
    match error.into_kind() {
        ErrorKind::Io(e) => e.into(),
        other => io::Error::other(format!("{other:?}")).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_and_controls_are_text() {
        let mut table = CsvText::new(&["label", "n"]).unwrap();
        for label in ["=1+1", "@x", "+4 %", "-", "-4.5", "-x", "a\u{1b}[2Jb"] {
            table.row(&[&label, &-1]).unwrap();
        }
        assert_eq!(
            table.finish().unwrap(),
            "label,n\n'=1+1,-1\n'@x,-1\n'+4 %,-1\n-,-1\n-4.5,-1\n'-x,-1\na\\u001b[2Jb,-1\n"
        );
    }
}
