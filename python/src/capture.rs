//! Captures as tables.

use crate::error::wrong;
use crate::table::Table;
use arrow_array::{Int64Array, LargeBinaryArray, StringArray, UInt32Array};
use pyo3::prelude::*;
use sluice_pcaps::capture::{CaptureError, CaptureReader};
use std::path::PathBuf;
use std::sync::Arc;

/// Frames of a capture, by column.
#[derive(Default)]
struct Frames {
    times: Vec<i64>,
    interfaces: Vec<String>,
    lengths: Vec<u32>,
    bytes: Vec<Vec<u8>>,
}

impl Frames {
    fn read(path: &PathBuf) -> Result<Frames, CaptureError> {
        let mut reader = CaptureReader::open(path)?;
        let mut frames = Frames::default();
        while reader.advance()? {
            let Some(frame) = reader.frame() else { break };
            // 2^63 nanoseconds since the epoch are in the year 2262.
            frames.times.push(i64::try_from(frame.time.as_ns()).unwrap_or(i64::MAX));
            frames.lengths.push(frame.orig_len);
            frames.bytes.push(frame.data.to_vec());
            let name =
                reader.interfaces().get(frame.interface as usize).map(|interface| interface.name.to_string());
            frames.interfaces.push(name.unwrap_or_default());
        }
        Ok(frames)
    }
}

/// Reads a capture (pcap or pcapng, also packed): `time_ns` since the epoch, `interface`, `length` on the wire, `bytes`.
#[pyfunction]
pub(crate) fn read_capture(py: Python<'_>, path: PathBuf) -> PyResult<Table> {
    let read = py.detach(|| Frames::read(&path));
    let Frames { times, interfaces, lengths, bytes } = read.map_err(|e| wrong(py, e))?;
    Table::of(
        py,
        vec![
            ("time_ns", Arc::new(Int64Array::from(times))),
            ("interface", Arc::new(StringArray::from(interfaces))),
            ("length", Arc::new(UInt32Array::from(lengths))),
            ("bytes", Arc::new(LargeBinaryArray::from_iter_values(bytes))),
        ],
    )
}
