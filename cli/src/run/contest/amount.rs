//! Figures as text: the mean over seeds, and half the length of its 95 % interval.

use sluice_scenario::contest::{Estimate, Figure};

/// Returns a slowdown in thousandths as a factor, such as `1.59 ±0.03`. Seeds that agree, and a single seed, have no interval.
/// No slowdown is below 1, so 0 in all seeds means that no message was measured: `-`.
pub(super) fn times(figure: &Figure) -> String {
    if figure.constant() == Some(0) {
        return "-".to_owned();
    }
    let Estimate { mean, half } = figure.estimate();
    with_half(mean / 1000.0, half.filter(|_| figure.constant().is_none()).map(|half| half / 1000.0), 2)
}

/// Returns a count, such as `385744 ±1203`: with one decimal if the mean is below 100 and no whole number.
pub(super) fn count(figure: &Figure) -> String {
    if let Some(constant) = figure.constant() {
        return constant.to_string();
    }
    let Estimate { mean, half } = figure.estimate();
    with_half(mean, half, decimals(mean))
}

/// Returns the interval of a difference, such as `-2412.3 to -2180.9`; the difference itself if there is no interval.
pub(super) fn range(figure: &Figure) -> String {
    match figure.constant() {
        Some(constant) => constant.to_string(),
        None => {
            let estimate = figure.estimate();
            format!("{:.1} to {:.1}", estimate.low(), estimate.high())
        }
    }
}

const fn decimals(mean: f64) -> usize {
    if mean < 100.0 { 1 } else { 0 }
}

fn with_half(mean: f64, half: Option<f64>, decimals: usize) -> String {
    let half = half.map_or_else(String::new, |half| format!(" ±{half:.decimals$}"));
    format!("{mean:.decimals$}{half}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_their_interval_unless_seeds_agree() {
        // Means 1.6 and 150.5; half an interval of two values is 12.706 * their distance / 2.
        assert_eq!(times(&Figure(vec![1_590, 1_610])), "1.60 ±0.13");
        assert_eq!(times(&Figure(vec![1_596, 1_596])), "1.60");
        assert_eq!(times(&Figure(vec![1_596])), "1.60");
        assert_eq!(times(&Figure(vec![0, 0])), "-");
        assert_eq!(count(&Figure(vec![150, 151])), "150 ±6");
        assert_eq!(count(&Figure(vec![0, 1])), "0.5 ±6.4");
        assert_eq!(count(&Figure(vec![0, 0])), "0");
        assert_eq!(range(&Figure(vec![-10, -12])), "-23.7 to 1.7");
        assert_eq!(range(&Figure(vec![-10])), "-10");
    }
}
