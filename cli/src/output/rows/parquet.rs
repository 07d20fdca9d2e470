//! Rows as Parquet, a row group at a time.

use super::{Cell, Column, Kind};
use crate::console::fail::Failure;
use parquet::basic::{Compression, ZstdLevel};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::fs::File;
use std::sync::Arc;

/// Number of rows of a row group.
pub(super) const GROUP: usize = 1 << 16;

pub(super) struct Parquet {
    writer: SerializedFileWriter<File>,
    columns: Vec<Held>,
    rows: usize,
}

/// Values of a column that are not written yet.
struct Held {
    kind: Kind,
    numbers: Vec<i64>,
    /// 1 for a number, 0 for a missing one.
    levels: Vec<i16>,
    texts: Vec<ByteArray>,
}

fn failure(error: &ParquetError) -> Failure {
    Failure::input(format!("cannot write Parquet: {error}"))
}

impl Parquet {
    pub(super) fn new(file: File, name: &str, columns: &[Column]) -> Result<Parquet, Failure> {
        let writer = Self::writer(file, name, columns).map_err(|e| failure(&e))?;
        let held =
            |c: &Column| Held { kind: c.kind, numbers: Vec::new(), levels: Vec::new(), texts: Vec::new() };
        Ok(Parquet { writer, columns: columns.iter().map(held).collect(), rows: 0 })
    }

    fn writer(
        file: File,
        name: &str,
        columns: &[Column],
    ) -> Result<SerializedFileWriter<File>, ParquetError> {
        let field = |c: &Column| match c.kind {
            Kind::Number => format!("required int64 {};", c.name),
            Kind::Optional => format!("optional int64 {};", c.name),
            Kind::Text => format!("required binary {} (utf8);", c.name),
        };
        let fields: String = columns.iter().map(field).collect();
        let schema = Arc::new(parse_message_type(&format!("message {name} {{ {fields} }}"))?);
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
            .set_created_by("sluice".to_owned())
            .build();
        SerializedFileWriter::new(file, schema, Arc::new(properties))
    }

    pub(super) fn row(&mut self, cells: &[Cell<'_>]) -> Result<(), Failure> {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            match (column.kind, cell) {
                (Kind::Text, Cell::Text(text)) => column.texts.push(ByteArray::from(*text)),
                (Kind::Number | Kind::Optional, Cell::Number(number)) => {
                    // No number that is written reaches 2^63.
                    column.numbers.push(*number as i64);
                    column.levels.push(1);
                }
                (Kind::Optional, Cell::Missing) => column.levels.push(0),
                _ => return Err(Failure::Inconsistent("a row does not fit its columns".to_owned())),
            }
        }
        self.rows += 1;
        if self.rows < GROUP { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> Result<(), Failure> {
        self.try_flush().map_err(|e| failure(&e))
    }

    fn try_flush(&mut self) -> Result<(), ParquetError> {
        if self.rows == 0 {
            return Ok(());
        }
        let mut group = self.writer.next_row_group()?;
        for held in &mut self.columns {
            let Some(mut column) = group.next_column()? else { break };
            match column.untyped() {
                ColumnWriter::Int64ColumnWriter(writer) => {
                    let levels = (held.kind == Kind::Optional).then_some(held.levels.as_slice());
                    writer.write_batch(&held.numbers, levels, None)?;
                }
                ColumnWriter::ByteArrayColumnWriter(writer) => {
                    writer.write_batch(&held.texts, None, None)?;
                }
                _ => {}
            }
            column.close()?;
            held.numbers.clear();
            held.levels.clear();
            held.texts.clear();
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }

    pub(super) fn finish(mut self: Box<Self>) -> Result<(), Failure> {
        self.flush()?;
        self.writer.close().map(|_| ()).map_err(|e| failure(&e))
    }
}
