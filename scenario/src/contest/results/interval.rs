//! Mean of a figure over seeds, with its 95 % confidence interval.
//!
//! The interval is Student's: mean ± t(0.975, n - 1) * s / sqrt(n), where s is the standard deviation of the n seeds' values. It
//! assumes that the seeds' values are independent and about normally distributed.

use serde::Serialize;

/// Quantiles t(0.975, degrees of freedom), from one degree of freedom on (NIST/SEMATECH e-Handbook of Statistical Methods, table
/// 1.3.6.7.2).
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/// Mean over seeds, with a 95 % confidence interval if there are at least two seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// Mean; 0 of no value.
    pub mean: f64,
    /// Half the length of the interval; `None` if there are fewer than two values.
    pub half: Option<f64>,
}

impl Estimate {
    /// Returns the mean and the interval of one value per seed.
    #[must_use]
    pub fn of(values: &[i128]) -> Estimate {
        let count = values.len() as f64;
        let mean = values.iter().map(|value| *value as f64).sum::<f64>() / count.max(1.0);
        let half = student(values.len()).map(|t| {
            let squares: f64 = values.iter().map(|value| (*value as f64 - mean).powi(2)).sum();
            t * (squares / (count - 1.0) / count).sqrt()
        });
        Estimate { mean, half }
    }

    /// Returns the lower end of the interval; the mean if there is none.
    #[must_use]
    pub fn low(&self) -> f64 {
        self.mean - self.half.unwrap_or(0.0)
    }

    /// Returns the upper end of the interval; the mean if there is none.
    #[must_use]
    pub fn high(&self) -> f64 {
        self.mean + self.half.unwrap_or(0.0)
    }
}

/// Returns the quantile for this number of values, `None` for fewer than two. Beyond the table, the last quantile is taken: it is
/// larger than the true one, by at most 4.2 %.
fn student(values: usize) -> Option<f64> {
    let row = values.checked_sub(2)?;
    STUDENT.get(row).or(STUDENT.last()).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_students() {
        // Mean 3, s = sqrt(2.5), s / sqrt(5) = 0.70711, times 2.776.
        let five = Estimate::of(&[1, 2, 3, 4, 5]);
        assert!((five.mean - 3.0).abs() < 1e-12 && (five.half.unwrap() - 1.962_93).abs() < 1e-4, "{five:?}");
        assert!((five.low() - 1.037_07).abs() < 1e-4 && (five.high() - 4.962_93).abs() < 1e-4);
        // s = sqrt(2), s / sqrt(2) = 1, times 12.706.
        let two = Estimate::of(&[-1, 1]);
        assert!(two.mean.abs() < 1e-12 && (two.half.unwrap() - 12.706).abs() < 1e-9);
        assert_eq!(Estimate::of(&[7, 7, 7]), Estimate { mean: 7.0, half: Some(0.0) });
        assert_eq!(Estimate::of(&[7]), Estimate { mean: 7.0, half: None });
        assert_eq!(Estimate::of(&[]), Estimate { mean: 0.0, half: None });
    }

    #[test]
    fn quantiles_fall_and_end_with_the_table() {
        assert!(STUDENT.windows(2).all(|pair| pair[0] > pair[1]));
        assert_eq!((student(0), student(1), student(2)), (None, None, Some(12.706)));
        assert_eq!((student(31), student(32), student(1000)), (Some(2.042), Some(2.042), Some(2.042)));
    }
}
