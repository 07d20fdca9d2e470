//! Times: whole or decimal nanoseconds, or texts with a unit.

use crate::error::wrong;
use pyo3::prelude::*;
use sluice_asic::units::{Duration, Time};

/// Largest number of nanoseconds.
const MOST: f64 = (u64::MAX / 1000) as f64;

/// Returns a time of a run as Python has it, in nanoseconds; picoseconds are exact up to 2.5 hours.
pub(crate) fn nanoseconds(time: Time) -> f64 {
    time.as_ps() as f64 / 1000.0
}

/// Returns a time in picoseconds: a number of nanoseconds, or a text with a unit such as `1.5us`.
#[pyfunction]
pub(crate) fn picoseconds(py: Python<'_>, time: &Bound<'_, PyAny>) -> PyResult<u64> {
    duration(py, time).map(Duration::as_ps)
}

/// Returns a time that Python gave.
pub(crate) fn duration(py: Python<'_>, time: &Bound<'_, PyAny>) -> PyResult<Duration> {
    if let Ok(text) = time.extract::<String>() {
        return text.parse::<Duration>().map_err(|e| wrong(py, e));
    }
    let found = || time.repr().map_or_else(|_| "a value".to_owned(), |text| text.to_string());
    let expected = "expected nanoseconds from 0 on, or a text such as \"1.5us\"";
    if let Ok(ns) = time.extract::<u64>() {
        let ps = ns.checked_mul(1000).ok_or_else(|| wrong(py, format!("time {ns} ns is too large")))?;
        return Ok(Duration::from_ps(ps));
    }
    match time.extract::<f64>() {
        Ok(ns) if (0.0..MOST).contains(&ns) => Ok(Duration::from_ps((ns * 1000.0).round() as u64)),
        _ => Err(wrong(py, format!("time {}: {expected}", found()))),
    }
}
