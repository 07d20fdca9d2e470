//! TOML as JSON and back, so that Python edits tables of experiments with its own types.

use crate::error::wrong;
use pyo3::prelude::*;

/// Returns a TOML text as a JSON text; `origin` names the text in errors.
#[pyfunction]
pub(crate) fn from_toml(py: Python<'_>, text: &str, origin: &str) -> PyResult<String> {
    let table: toml::Table = toml::from_str(text).map_err(|e| {
        let line = 1 + text[..e.span().map_or(0, |span| span.start)].matches('\n').count();
        wrong(py, format!("{origin}:{line}: {}", e.message()))
    })?;
    serde_json::to_string(&table).map_err(|e| wrong(py, format!("{origin}: {e}")))
}

/// Returns a JSON text, an object, as a TOML text. Keys without a value (null) are left out.
#[pyfunction]
pub(crate) fn to_toml(py: Python<'_>, json: &str) -> PyResult<String> {
    let mut value: serde_json::Value = serde_json::from_str(json).map_err(|e| wrong(py, e))?;
    drop_nulls(&mut value);
    toml::to_string(&value).map_err(|e| wrong(py, format!("a table has no form in TOML: {e}")))
}

fn drop_nulls(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(drop_nulls);
        }
        serde_json::Value::Array(list) => list.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}
