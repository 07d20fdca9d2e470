//! Tables as files, written row by row in bounded memory: CSV or Parquet. A file gets its name when it is complete.

mod csv;
#[cfg(feature = "parquet")]
mod parquet;

use crate::console::fail::Failure;
use crate::output::files::Pending;
pub(crate) use csv::CsvText;
use std::borrow::Cow;
use std::path::Path;

/// Type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A number in every row.
    Number,
    /// A number, or nothing.
    Optional,
    /// Text in every row.
    Text,
}

/// A column.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: Cow<'static, str>,
    #[cfg_attr(not(feature = "parquet"), allow(dead_code, reason = "Parquet alone has types"))]
    pub(crate) kind: Kind,
}

impl Column {
    pub(crate) const fn new(name: &'static str, kind: Kind) -> Column {
        Column { name: Cow::Borrowed(name), kind }
    }

    /// Returns a column whose name is made at run time.
    pub(crate) const fn named(name: String, kind: Kind) -> Column {
        Column { name: Cow::Owned(name), kind }
    }
}

/// A value of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cell<'a> {
    Number(u64),
    Missing,
    Text(&'a str),
}

impl From<Option<u64>> for Cell<'_> {
    fn from(value: Option<u64>) -> Self {
        value.map_or(Cell::Missing, Cell::Number)
    }
}

/// Format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Comma-separated with a header line; a missing number is empty.
    Csv,
    /// Zstd-compressed.
    Parquet,
}

/// Error of a build without Parquet that is asked for it.
pub(crate) const NO_PARQUET: &str = "this build writes no Parquet; write .csv, or build with `--features parquet`, as archives and the Python package are";

impl Format {
    /// True if this build writes the format.
    pub(crate) const fn is_written(self) -> bool {
        match self {
            Format::Csv => true,
            Format::Parquet => cfg!(feature = "parquet"),
        }
    }
}

/// A table under construction.
pub(crate) struct RowWriter {
    file: Pending,
    rows: Rows,
}

enum Rows {
    Csv(Box<csv::Csv<std::fs::File>>),
    #[cfg(feature = "parquet")]
    Parquet(Box<parquet::Parquet>),
}

impl RowWriter {
    /// Creates a table that will be at `path`; `name` is its name in Parquet.
    #[cfg_attr(not(feature = "parquet"), allow(unused_variables, reason = "Parquet alone names its tables"))]
    pub(crate) fn create(
        path: &Path,
        format: Format,
        name: &str,
        columns: &[Column],
    ) -> Result<RowWriter, Failure> {
        let file = Pending::create(path)?;
        let rows = match format {
            Format::Csv => Rows::Csv(Box::new(csv::Csv::create(file.handle()?, columns)?)),
            #[cfg(feature = "parquet")]
            Format::Parquet => Rows::Parquet(Box::new(parquet::Parquet::new(file.handle()?, name, columns)?)),
            #[cfg(not(feature = "parquet"))]
            Format::Parquet => {
                return Err(Failure::input(format!("{}: {NO_PARQUET}", path.display())));
            }
        };
        Ok(RowWriter { file, rows })
    }

    /// Adds a row: a value for each column.
    pub(crate) fn row(&mut self, cells: &[Cell<'_>]) -> Result<(), Failure> {
        match &mut self.rows {
            Rows::Csv(csv) => csv.row(cells),
            #[cfg(feature = "parquet")]
            Rows::Parquet(parquet) => parquet.row(cells),
        }
    }

    /// Completes the table; it gets its name with [`Pending::finish`].
    pub(crate) fn finish(self) -> Result<Pending, Failure> {
        match self.rows {
            Rows::Csv(csv) => csv.finish()?,
            #[cfg(feature = "parquet")]
            Rows::Parquet(parquet) => parquet.finish()?,
        }
        Ok(self.file)
    }
}

#[cfg(test)]
#[cfg(feature = "parquet")]
mod tests {
    use super::*;
    use ::parquet::file::reader::{FileReader, SerializedFileReader};
    use ::parquet::record::RowAccessor;
    use std::path::PathBuf;

    const COLUMNS: [Column; 3] = [
        Column::new("time", Kind::Number),
        Column::new("name", Kind::Text),
        Column::new("depth", Kind::Optional),
    ];

    fn written(dir: &Path, format: Format, rows: u64) -> PathBuf {
        let path = dir.join("table");
        let mut table = RowWriter::create(&path, format, "table", &COLUMNS).unwrap();
        for n in 0..rows {
            let depth = (n % 3 != 0).then_some(n * 10);
            table.row(&[Cell::Number(n), Cell::Text("a,\"b\""), depth.into()]).unwrap();
        }
        table.finish().unwrap().finish().unwrap();
        path
    }

    #[test]
    fn csv_has_a_header_and_quotes_what_needs_it() {
        let dir = tempfile::tempdir().unwrap();
        let text = std::fs::read_to_string(written(dir.path(), Format::Csv, 2)).unwrap();
        assert_eq!(text, "time,name,depth\n0,\"a,\"\"b\"\"\",\n1,\"a,\"\"b\"\"\",10\n");
    }

    #[test]
    fn parquet_reads_back_over_row_groups() {
        let (dir, rows) = (tempfile::tempdir().unwrap(), 2 * parquet::GROUP as u64 + 5);
        let file = std::fs::File::open(written(dir.path(), Format::Parquet, rows)).unwrap();
        let file = SerializedFileReader::new(file).unwrap();
        assert_eq!((file.num_row_groups(), file.metadata().file_metadata().num_rows()), (3, rows as i64));
        for (n, row) in (0..).zip(file.get_row_iter(None).unwrap()) {
            let row = row.unwrap();
            assert_eq!((row.get_long(0).unwrap(), row.get_string(1).unwrap().as_str()), (n, "a,\"b\""));
            let depth = (n % 3 != 0).then_some(n * 10);
            assert_eq!(row.get_long(2).ok(), depth, "row {n}");
        }
    }

    #[test]
    fn tables_without_rows_are_complete() {
        let dir = tempfile::tempdir().unwrap();
        let read = |format| std::fs::read(written(dir.path(), format, 0)).unwrap();
        assert_eq!(read(Format::Csv), b"time,name,depth\n");
        let bytes = read(Format::Parquet);
        assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    }
}
