//! Sweeps: one parameter of a program over many values, and the largest value that fits.

use serde::{Serialize, Serializer};
use sluice_asic::chip::Column;
use sluice_place::NoFit;
use sluice_place::report::Report;
use std::collections::BTreeMap;

/// A program placed with one value of the parameter.
#[derive(Clone, Debug)]
pub struct SweepPoint {
    /// The value.
    pub value: u64,
    /// The report, or the reason why the program does not fit.
    pub result: Result<Report, String>,
}

impl SweepPoint {
    /// Returns true if the program fits.
    #[must_use]
    pub const fn fits(&self) -> bool {
        self.result.is_ok()
    }
}

/// Points of a sweep.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// The parameter.
    pub key: String,
    /// Least value.
    pub from: u64,
    /// Largest value.
    pub to: u64,
    /// The points by value.
    pub points: Vec<SweepPoint>,
}

/// Sweeps a parameter from `from` to `to`, which is not below `from`: values double until the program does not fit,
/// then the step between the last value that fits and the first that does not is halved. `place` places the program
/// with a value.
///
/// # Errors
/// Returns the errors of `place`.
pub fn sweep<E>(
    key: &str,
    (from, to): (u64, u64),
    place: &mut dyn FnMut(u64) -> Result<Result<Report, Box<NoFit>>, E>,
) -> Result<Sweep, E> {
    let mut point = |value| {
        let result = place(value)?.map_err(|no_fit| no_fit.reason());
        Ok(SweepPoint { value, result })
    };
    let mut points = Vec::new();
    let mut value = from;
    loop {
        let next = point(value)?;
        let fits = next.fits();
        points.push(next);
        if value == to || !fits {
            break;
        }
        value = value.saturating_mul(2).max(1).min(to);
    }
    let mut sweep = Sweep { key: key.to_owned(), from, to, points };
    while let (Some(fits), Some(fails)) = (sweep.largest(), sweep.smallest_failure()) {
        if fails <= fits + 1 {
            break;
        }
        sweep.points.push(point(fits + (fails - fits) / 2)?);
    }
    sweep.points.sort_by_key(|p| p.value);
    Ok(sweep)
}

impl Sweep {
    /// Returns the largest value that fits; `None` if no value does.
    #[must_use]
    pub fn largest(&self) -> Option<u64> {
        self.points.iter().filter(|p| p.fits()).map(|p| p.value).max()
    }

    /// Returns the smallest value that does not fit; `None` if all values fit.
    #[must_use]
    pub fn smallest_failure(&self) -> Option<u64> {
        self.points.iter().filter(|p| !p.fits()).map(|p| p.value).min()
    }
}

/// The sweep with the schema `sluice.sweep/1`.
impl Serialize for Sweep {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Points<'a> {
            schema: &'static str,
            key: &'a str,
            from: u64,
            to: u64,
            largest_that_fits: Option<u64>,
            points: &'a [SweepPoint],
        }
        let Sweep { key, from, to, points } = self;
        let (from, to, largest_that_fits) = (*from, *to, self.largest());
        Points { schema: "sluice.sweep/1", key, from, to, largest_that_fits, points }.serialize(serializer)
    }
}

impl Serialize for SweepPoint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Point<'a> {
            value: u64,
            fits: bool,
            reason: Option<&'a str>,
            stages: Option<u32>,
            totals: Option<BTreeMap<&'static str, u32>>,
            total_ns: Option<u64>,
        }
        let report = self.result.as_ref().ok();
        Point {
            value: self.value,
            fits: self.fits(),
            reason: self.result.as_ref().err().map(String::as_str),
            stages: report.map(Report::stages_used),
            totals: report.map(|r| Column::ALL.map(|c| (c.id(), r.totals[c.index()])).into()),
            total_ns: report.map(|r| r.total.as_ps().div_ceil(1000)),
        }
        .serialize(serializer)
    }
}
