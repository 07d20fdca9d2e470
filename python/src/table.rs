//! Tables of results, which other libraries open without a copy by Arrow's PyCapsule interface.

use crate::error::wrong;
use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, LargeBinaryArray, NullArray, RecordBatch,
    RecordBatchIterator, RecordBatchReader, StringArray,
};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::ChunkReader;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyList};
use std::sync::Arc;

/// A table with named columns, in one or more batches of rows.
#[pyclass(frozen, module = "sluice")]
pub(crate) struct Table {
    schema: Arc<Schema>,
    batches: Vec<RecordBatch>,
}

impl Table {
    /// Returns a table of these columns, which have the same length.
    pub(crate) fn of(py: Python<'_>, columns: Vec<(&str, ArrayRef)>) -> PyResult<Table> {
        let batch = RecordBatch::try_from_iter_with_nullable(
            columns.into_iter().map(|(name, column)| (name, column, true)),
        );
        Ok(Table::from(batch.map_err(|e| wrong(py, e))?))
    }

    /// Reads Parquet.
    fn read(source: impl ChunkReader + 'static) -> Result<Table, String> {
        let reader = ParquetRecordBatchReaderBuilder::try_new(source).and_then(|builder| builder.build());
        let reader = reader.map_err(|e| e.to_string())?;
        let schema = reader.schema();
        let batches = reader.collect::<Result<Vec<_>, _>>().map_err(|e| e.to_string())?;
        Ok(Table { schema, batches })
    }

    fn column(&self, py: Python<'_>, name: &str) -> PyResult<usize> {
        self.schema.index_of(name).map_err(|_| {
            let names: Vec<&str> = self.schema.fields().iter().map(|field| field.name().as_str()).collect();
            let renamed = renamed(name).find(|new| names.contains(&new.as_str()));
            let help = renamed.map_or_else(String::new, |new| format!("\n  = help: its name is `{new}`"));
            wrong(py, format!("the table has no column `{name}`; there are {}{help}", names.join(", ")))
        })
    }
}

/// Returns the names that a column of files may have in tables, where times are in ns and slowdowns are ratios.
fn renamed(name: &str) -> impl Iterator<Item = String> + '_ {
    let units = [("_ps", "_ns"), ("_thousandths", "")];
    let of_unit = move |(old, new)| Some(format!("{}{new}", name.strip_suffix(old)?));
    let (front, statistic) = name.split_at(name.rfind(['_', '.']).map_or(0, |at| at + 1));
    units.into_iter().filter_map(of_unit).chain([format!("{front}slowdown_{statistic}")])
}

impl From<RecordBatch> for Table {
    fn from(batch: RecordBatch) -> Table {
        Table { schema: batch.schema(), batches: vec![batch] }
    }
}

#[pymethods]
impl Table {
    /// Makes a table from column names and lists of equal length; a list has numbers, texts, bytes or truth values, or None.
    #[new]
    fn new(py: Python<'_>, columns: Vec<(String, Bound<'_, PyList>)>) -> PyResult<Table> {
        let mut arrays = Vec::with_capacity(columns.len());
        for (name, values) in &columns {
            arrays.push((name.as_str(), array(py, name, values)?));
        }
        if arrays.is_empty() {
            return Ok(Table { schema: Arc::new(Schema::empty()), batches: Vec::new() });
        }
        Table::of(py, arrays)
    }

    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let at = self.column(py, name)?;
        let list = PyList::empty(py);
        for batch in &self.batches {
            append(py, batch.column(at).as_ref(), &list)?;
        }
        Ok(list)
    }

    fn __repr__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        python(slf, "text")
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        python(slf, "html_of")
    }

    /// Returns the table as a frame of pandas; texts, bytes and columns with nulls get pandas' types for them.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        python(slf, "to_pandas")
    }

    /// Returns the table as a frame of polars, without a copy.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        python(slf, "to_polars")
    }

    /// Returns the rows as dicts.
    fn to_rows<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        python(slf, "to_rows")
    }

    /// Returns the rows from `start` on, `count` of them or as many as there are.
    fn slice(&self, start: usize, count: usize) -> Table {
        let (mut skipped, mut left, mut batches) = (start, count, Vec::new());
        for batch in &self.batches {
            let from = skipped.min(batch.num_rows());
            let taken = left.min(batch.num_rows() - from);
            batches.push(batch.slice(from, taken));
            (skipped, left) = (skipped - from, left - taken);
        }
        Table { schema: self.schema.clone(), batches }
    }

    /// Returns the table with columns of numbers divided and renamed: name, new name, divisor. Names that the table lacks are
    /// passed over.
    fn divided(&self, py: Python<'_>, columns: Vec<(String, String, f64)>) -> PyResult<Table> {
        let of = |name: &str| columns.iter().find(|(old, ..)| old == name);
        let fields = self.schema.fields().iter().map(|field| match of(field.name()) {
            Some((_, new, _)) => Field::new(new, DataType::Float64, true),
            None => field.as_ref().clone(),
        });
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let mut batches = Vec::with_capacity(self.batches.len());
        for batch in &self.batches {
            let mut arrays = Vec::with_capacity(batch.num_columns());
            for (field, array) in self.schema.fields().iter().zip(batch.columns()) {
                arrays.push(match of(field.name()) {
                    Some((.., divisor)) => quotients(py, field.name(), array, *divisor)?,
                    None => Arc::clone(array),
                });
            }
            batches.push(RecordBatch::try_new(Arc::clone(&schema), arrays).map_err(|e| wrong(py, e))?);
        }
        Ok(Table { schema, batches })
    }

    /// Returns all columns as lists by name.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for name in self.column_names() {
            columns.set_item(&name, self.__getitem__(py, &name)?)?;
        }
        Ok(columns)
    }

    /// Returns the table as bytes of a Parquet file; equal tables give equal bytes.
    fn to_parquet<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let written = py.detach(|| {
            let properties = WriterProperties::builder()
                .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
                .set_created_by("sluice".to_owned())
                .build();
            let mut writer = ArrowWriter::try_new(Vec::new(), self.schema.clone(), Some(properties))?;
            self.batches.iter().try_for_each(|batch| writer.write(batch))?;
            writer.into_inner()
        });
        Ok(PyBytes::new(py, &written.map_err(|e| wrong(py, e))?))
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface allows a producer to ignore the request if it cannot cast.
        let _ = requested_schema;
        let batches = self.batches.clone().into_iter().map(Ok::<_, ArrowError>);
        let reader = RecordBatchIterator::new(batches, self.schema.clone());
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}

/// Reads the bytes of a Parquet file.
#[pyfunction]
pub(crate) fn parquet_table(py: Python<'_>, content: Vec<u8>) -> PyResult<Table> {
    py.detach(|| Table::read(bytes::Bytes::from(content))).map_err(|e| wrong(py, e))
}

/// Reads a Parquet file.
#[pyfunction]
pub(crate) fn read_parquet(py: Python<'_>, path: std::path::PathBuf) -> PyResult<Table> {
    let read = py.detach(|| std::fs::File::open(&path).map_err(|e| e.to_string()).and_then(Table::read));
    read.map_err(|e| wrong(py, format!("cannot read {}: {e}", path.display())))
}

/// Calls a function of the module `sluice.frames` with a table.
fn python<'py>(table: &Bound<'py, Table>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    table.py().import("sluice.frames")?.getattr(name)?.call1((table,))
}

/// Returns a column of numbers divided by a number.
fn quotients(py: Python<'_>, name: &str, array: &ArrayRef, divisor: f64) -> PyResult<ArrayRef> {
    macro_rules! each {
        ($kind:ty) => {
            array
                .as_primitive::<$kind>()
                .iter()
                .map(|v| v.map(|v| v as f64 / divisor))
                .collect::<Float64Array>()
        };
    }
    Ok(Arc::new(match array.data_type() {
        DataType::Null => Float64Array::new_null(array.len()),
        DataType::UInt8 => each!(UInt8Type),
        DataType::UInt16 => each!(UInt16Type),
        DataType::UInt32 => each!(UInt32Type),
        DataType::UInt64 => each!(UInt64Type),
        DataType::Int64 => each!(Int64Type),
        DataType::Float64 => array.as_primitive::<Float64Type>().unary(|v| v / divisor),
        other => return Err(wrong(py, format!("column `{name}` of type {other} is not of numbers"))),
    }))
}

/// Returns the column of a list.
fn array(py: Python<'_>, name: &str, values: &Bound<'_, PyList>) -> PyResult<ArrayRef> {
    let first = values.iter().find(|value| !value.is_none());
    let Some(first) = first else { return Ok(Arc::new(NullArray::new(values.len()))) };
    let mixed = |_| wrong(py, format!("column `{name}` mixes kinds of values, or has one of another kind"));
    if first.is_instance_of::<pyo3::types::PyBool>() {
        let all: Vec<Option<bool>> = values.extract().map_err(mixed)?;
        return Ok(Arc::new(BooleanArray::from(all)));
    }
    if let Ok(all) = values.extract::<Vec<Option<i64>>>() {
        return Ok(Arc::new(Int64Array::from(all)));
    }
    if let Ok(all) = values.extract::<Vec<Option<f64>>>() {
        return Ok(Arc::new(Float64Array::from(all)));
    }
    if let Ok(all) = values.extract::<Vec<Option<String>>>() {
        return Ok(Arc::new(StringArray::from(all)));
    }
    let all: Vec<Option<Vec<u8>>> = values.extract().map_err(mixed)?;
    Ok(Arc::new(all.iter().map(Option::as_deref).collect::<LargeBinaryArray>()))
}

/// Appends the values of a column to a list.
fn append(py: Python<'_>, array: &dyn Array, list: &Bound<'_, PyList>) -> PyResult<()> {
    macro_rules! each {
        ($values:expr) => {
            $values.iter().try_for_each(|value| list.append(value))
        };
    }
    match array.data_type() {
        DataType::Null => (0..array.len()).try_for_each(|_| list.append(py.None())),
        DataType::Boolean => each!(array.as_boolean()),
        DataType::UInt8 => each!(array.as_primitive::<UInt8Type>()),
        DataType::UInt16 => each!(array.as_primitive::<UInt16Type>()),
        DataType::UInt32 => each!(array.as_primitive::<UInt32Type>()),
        DataType::UInt64 => each!(array.as_primitive::<UInt64Type>()),
        DataType::Int64 => each!(array.as_primitive::<Int64Type>()),
        DataType::Float64 => each!(array.as_primitive::<Float64Type>()),
        DataType::Utf8 => each!(array.as_string::<i32>()),
        DataType::LargeBinary => array
            .as_binary::<i64>()
            .iter()
            .try_for_each(|value| list.append(value.map(|bytes| PyBytes::new(py, bytes)))),
        other => {
            Err(wrong(py, format!("a column of type {other} cannot be a list; open the table with Arrow")))
        }
    }
}
