//! All draws of a scheme together.

use super::outcome::Outcome;
use sluice_fabric::decimals::rounded;
use sluice_fabric::polarization::Results;

/// One scheme, with all its draws that have a plan.
pub(super) struct Draws<'r> {
    /// Name of the scheme, with the number of draws if there are several.
    pub(super) name: String,
    /// Results by draw.
    pub(super) results: Vec<&'r Results>,
}

impl<'r> Draws<'r> {
    /// Returns all schemes that have a plan, in order.
    pub(super) fn of(outcomes: &'r [Outcome]) -> Vec<Draws<'r>> {
        let planned = |o: &'r Outcome| Some((o.scheme, o.name.as_str(), &**o.results.as_ref().ok()?));
        let planned: Vec<_> = outcomes.iter().filter_map(planned).collect();
        let schemes = planned.chunk_by(|(a, ..), (b, ..)| a == b);
        let draws = |chunk: &[(Option<_>, &str, &'r Results)]| {
            let results: Vec<&Results> = chunk.iter().map(|(_, _, results)| *results).collect();
            let name = match (chunk, results.len()) {
                ([(Some(scheme), ..), ..], n) if n > 1 => format!("{scheme}, {n} draws"),
                ([(_, name, _), ..], _) => (*name).to_owned(),
                ([], _) => String::new(),
            };
            Draws { name, results }
        };
        schemes.map(draws).collect()
    }

    /// Returns the draw with the least even group.
    pub(super) fn worst(&self) -> Option<&'r Results> {
        self.results.iter().copied().max_by(|a, b| worst(a).total_cmp(&worst(b)))
    }

    /// Returns the variations of all groups of all draws, in ascending order.
    pub(super) fn cdf(&self) -> Vec<f64> {
        let mut all: Vec<f64> = self.results.iter().flat_map(|r| r.cdf()).collect();
        all.sort_by(f64::total_cmp);
        all
    }

    /// Returns the number of draws whose least even group varies by more than `cv`.
    pub(super) fn above(&self, cv: f64) -> usize {
        self.results.iter().filter(|r| worst(r) > cv).count()
    }
}

/// Returns the largest variation of a draw; a group without traffic counts as a group with all flows on one link.
fn worst(results: &Results) -> f64 {
    results.cdf().last().copied().unwrap_or(0.0)
}

/// Returns the value at some percent of an ascending list.
pub(super) fn quantile(ascending: &[f64], percent: usize) -> Option<f64> {
    ascending.get((ascending.len() * percent / 100).min(ascending.len().saturating_sub(1))).copied()
}

/// Returns the values at 0, 1, .. 100 percent of an ascending list, for JSON.
pub(super) fn percentiles(ascending: &[f64]) -> Vec<Option<f64>> {
    (0..=100).map(|percent| quantile(ascending, percent).map(rounded)).collect()
}
