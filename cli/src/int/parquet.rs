//! The rows as a Parquet file, zstd-compressed. What may not live here: what a row is.

use super::rows::{COLUMNS, Row};
use crate::fail::Failure;
use parquet::basic::{Compression, ZstdLevel};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::fs::File;
use std::sync::Arc;

/// Rows of a row group.
const GROUP: usize = 1 << 16;

pub(super) fn write(file: File, rows: &[Row]) -> Result<(), Failure> {
    try_write(file, rows).map_err(|e| Failure::Inconsistent(format!("cannot write Parquet: {e}")))
}

fn try_write(file: File, rows: &[Row]) -> Result<(), ParquetError> {
    let optional: String = COLUMNS.iter().map(|c| format!("optional int64 {c};")).collect();
    let schema = format!(
        "message hops {{ required int64 record; required int64 time; required binary source (utf8); \
         required int64 hop; {optional} }}"
    );
    let schema = Arc::new(parse_message_type(&schema)?);
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_created_by("sluice".to_owned())
        .build();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties))?;
    for rows in rows.chunks(GROUP) {
        let mut group = writer.next_row_group()?;
        numbers(&mut group, rows.iter().map(|r| Some(r.record)), false)?;
        numbers(&mut group, rows.iter().map(|r| Some(r.time)), false)?;
        sources(&mut group, rows)?;
        numbers(&mut group, rows.iter().map(|r| Some(r.hop.into())), false)?;
        for column in 0..COLUMNS.len() {
            numbers(&mut group, rows.iter().map(|r| r.values()[column]), true)?;
        }
        group.close()?;
    }
    writer.close().map(|_| ())
}

fn numbers(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: impl Iterator<Item = Option<u64>> + Clone,
    optional: bool,
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else { return Ok(()) };
    if let ColumnWriter::Int64ColumnWriter(writer) = column.untyped() {
        let present: Vec<i64> = values.clone().flatten().map(|v| v as i64).collect();
        let levels: Vec<i16> = values.map(|v| i16::from(v.is_some())).collect();
        writer.write_batch(&present, optional.then_some(levels.as_slice()), None)?;
    }
    column.close()
}

fn sources(group: &mut SerializedRowGroupWriter<'_, File>, rows: &[Row]) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else { return Ok(()) };
    if let ColumnWriter::ByteArrayColumnWriter(writer) = column.untyped() {
        let names: Vec<ByteArray> = rows.iter().map(|r| ByteArray::from(r.source.name())).collect();
        writer.write_batch(&names, None, None)?;
    }
    column.close()
}
