//! Remedies for a program that does not fit: single changes, found by placing it again.

use serde::Serialize;
use sluice_ir::Program;

/// One change after which a program fits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Remedy {
    /// A parameter lowered to the largest value that fits.
    Lower {
        /// The parameter.
        #[serde(rename = "set")]
        key: String,
        /// Its value.
        from: u64,
        /// The largest value that fits.
        to: u64,
    },
    /// Another chip.
    Chip {
        /// Its name.
        chip: String,
    },
}

impl Remedy {
    /// Returns the share of the parameter's value that is given up, 0 to 1; infinity for another chip.
    #[must_use]
    pub fn loss(&self) -> f64 {
        match self {
            Remedy::Lower { from, to, .. } => (from - to) as f64 / *from as f64,
            Remedy::Chip { .. } => f64::INFINITY,
        }
    }
}

/// Returns single changes after which a program fits, the smallest loss first: a lower value of one parameter, or one
/// of `chips`. `fits` places the program with a change.
///
/// # Errors
/// Returns the errors of `fits`.
pub fn remedies<E>(
    program: &Program,
    chips: &[&str],
    fits: &mut dyn FnMut(&Remedy) -> Result<bool, E>,
) -> Result<Vec<Remedy>, E> {
    let mut list = Vec::new();
    for param in &program.params {
        let Ok(from) = param.value.parse::<u64>() else { continue };
        let lower = |to| Remedy::Lower { key: param.key.clone(), from, to };
        list.extend(lowered(from, &mut |to| fits(&lower(to)))?.map(lower));
    }
    for chip in chips {
        let remedy = Remedy::Chip { chip: (*chip).to_owned() };
        if fits(&remedy)? {
            list.push(remedy);
        }
    }
    list.sort_by(|a, b| a.loss().total_cmp(&b.loss()));
    Ok(list)
}

/// Values of a parameter that are tried first.
pub(crate) const TRIED_FIRST: [u64; 5] = [1, 2, 4, 8, 16];

/// Returns the largest value below `from` that fits, if a lower value helps.
fn lowered<E>(from: u64, fits: &mut dyn FnMut(u64) -> Result<bool, E>) -> Result<Option<u64>, E> {
    // The smallest value shows whether the parameter matters at all. A program may refuse 1, so the next powers of
    // two are tried.
    let mut good = None;
    for value in TRIED_FIRST.into_iter().filter(|v| *v < from) {
        if fits(value)? {
            good = Some(value);
            break;
        }
    }
    let Some(mut good) = good else { return Ok(None) };
    let mut bad = from;
    while bad > good + 1 {
        let middle = good + (bad - good) / 2;
        if fits(middle)? { good = middle } else { bad = middle }
    }
    Ok(Some(good))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    #[test]
    fn the_largest_value_below_is_found() {
        for most in 1..100 {
            let found = lowered::<Infallible>(100, &mut |v| Ok(v <= most));
            assert_eq!(found, Ok(Some(most)));
        }
        assert_eq!(lowered::<Infallible>(100, &mut |_| Ok(false)), Ok(None));
        // Values that the program refuses count as not fitting.
        assert_eq!(lowered::<Infallible>(100, &mut |v| Ok((4..50).contains(&v))), Ok(Some(49)));
    }
}
