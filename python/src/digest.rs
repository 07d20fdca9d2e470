//! Digests decoded into the fields that the program puts into them.

use crate::table::Table;
use arrow_array::{Array, ArrayRef, Float64Array, LargeBinaryArray, UInt64Array};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use sluice_asic::gress::Gress;
use sluice_asic::units::Time;
use sluice_ir::{ListItem, Program, Request, RequestKind};
use std::sync::Arc;

/// Bits of a digest: a field's name and width, or zeros without a name.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    name: Option<String>,
    bits: usize,
}

/// The layouts of a program's digests.
///
/// A digest does not carry its type, so its length tells which of the program's digests it is. Two digests of the same length and
/// different fields are not decoded.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layouts(Vec<Vec<Part>>);

/// Most bits of a field that is a number in a table; a wider one is bytes.
const NUMBER: usize = 64;

impl Layouts {
    /// Returns the layouts of a program's digests.
    pub(crate) fn of(program: &Program) -> Layouts {
        let requests = program.pipe(Gress::Ingress).deparser.requests.iter();
        let digests = requests.filter(|request| request.kind == RequestKind::Digest);
        let mut all: Vec<Vec<Part>> = Vec::new();
        for layout in digests.filter_map(|request| layout(program, request)) {
            if !all.contains(&layout) {
                all.push(layout);
            }
        }
        Layouts(all)
    }

    /// Returns the only layout of a digest of this many bytes.
    fn of_length(&self, bytes: usize) -> Option<&[Part]> {
        let mut fitting = self.0.iter().filter(|parts| bits(parts) == bytes * 8);
        let found = fitting.next()?;
        fitting.next().is_none().then_some(found)
    }

    /// Returns the bytes of each named field of a digest, big-endian; none if its layout is not known.
    fn fields<'l>(&'l self, data: &[u8]) -> Vec<(&'l str, usize, Vec<u8>)> {
        let mut at = 0;
        let mut found = Vec::new();
        for part in self.of_length(data.len()).unwrap_or_default() {
            if let Some(name) = &part.name {
                found.push((name.as_str(), part.bits, cut(data, at, part.bits)));
            }
            at += part.bits;
        }
        found
    }

    /// Returns a digest as an agent gets it: bytes with `fields`, numbers by name.
    pub(crate) fn digest<'py>(&self, py: Python<'py>, data: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        let fields = PyDict::new(py);
        for (name, _, bytes) in self.fields(data) {
            let number = bytes.iter().fold(0_u128, |value, byte| value << 8 | u128::from(*byte));
            fields.set_item(name, number)?;
        }
        py.import("sluice.digest")?.getattr("Digest")?.call1((PyBytes::new(py, data), fields))
    }

    /// Returns a table of digests: `time_ns`, `data`, and a column for each field of the program's digests, null in digests
    /// that do not have it.
    pub(crate) fn table(&self, py: Python<'_>, digests: &[(Time, Vec<u8>)]) -> PyResult<Table> {
        let times = digests.iter().map(|(time, _)| crate::time::nanoseconds(*time));
        let data = digests.iter().map(|(_, data)| data.as_slice());
        let mut columns: Vec<(&str, ArrayRef)> = vec![
            ("time_ns", Arc::new(Float64Array::from_iter_values(times))),
            ("data", Arc::new(LargeBinaryArray::from_iter_values(data))),
        ];
        let rows: Vec<_> = digests.iter().map(|(_, data)| self.fields(data)).collect();
        let parts = self.0.iter().flatten();
        for (name, wide) in parts.filter_map(|part| Some((part.name.as_deref()?, part.bits > NUMBER))) {
            if columns.iter().any(|(known, _)| *known == name) {
                continue;
            }
            let of = |row: &Vec<(&str, usize, Vec<u8>)>| {
                row.iter().find(|(field, ..)| *field == name).map(|(.., bytes)| bytes.clone())
            };
            let values: Vec<Option<Vec<u8>>> = rows.iter().map(of).collect();
            columns.push((name, column(&values, wide)));
        }
        Table::of(py, columns)
    }
}

fn column(values: &[Option<Vec<u8>>], wide: bool) -> ArrayRef {
    let number = |bytes: &[u8]| bytes.iter().fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
    match wide {
        true => Arc::new(values.iter().map(Option::as_deref).collect::<LargeBinaryArray>()) as Arc<dyn Array>,
        false => Arc::new(values.iter().map(|v| v.as_deref().map(number)).collect::<UInt64Array>()),
    }
}

fn bits(parts: &[Part]) -> usize {
    parts.iter().map(|part| part.bits).sum()
}

/// Returns the layout of a request; `None` if it carries something other than fields and zeros. A name that comes twice gets its
/// place among its equals: `m.slot`, `m.slot#2`.
fn layout(program: &Program, request: &Request) -> Option<Vec<Part>> {
    let mut parts: Vec<Part> = Vec::new();
    for value in &request.data {
        let item = ListItem::of(program, value)?;
        let name = match item {
            ListItem::Zeros(_) => None,
            ListItem::Bits(field, hi, lo) => {
                let data = program.fields.get(field)?;
                let whole = lo == 0 && hi + 1 == data.width;
                Some(if whole { data.name.clone() } else { format!("{}[{hi}:{lo}]", data.name) })
            }
        };
        let name = name.map(|name| {
            let is_same =
                |known: &str| known == name || known.rsplit_once('#').is_some_and(|(n, _)| n == name);
            let before = parts.iter().filter(|part| part.name.as_deref().is_some_and(is_same)).count();
            if before == 0 { name.clone() } else { format!("{name}#{}", before + 1) }
        });
        parts.push(Part { name, bits: usize::from(item.width()) });
    }
    Some(parts)
}

/// Returns `bits` bits of `data` from bit `at` on, right-aligned in whole bytes.
fn cut(data: &[u8], at: usize, bits: usize) -> Vec<u8> {
    let mut cut = vec![0_u8; bits.div_ceil(8)];
    let first = cut.len() * 8 - bits;
    for bit in 0..bits {
        let from = at + bit;
        let is_set = data.get(from / 8).is_some_and(|byte| byte >> (7 - from % 8) & 1 == 1);
        let to = first + bit;
        cut[to / 8] |= u8::from(is_set) << (7 - to % 8);
    }
    cut
}
