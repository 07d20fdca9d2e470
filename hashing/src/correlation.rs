//! Balance of a later choice among flows that made the same earlier choices, by enumeration of every hash value.

use super::cv::Cv;
use super::replicas::{Order, layout, replicas};

/// Group of one switch on a path: the member table that h % q indexes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hop {
    ports: u32,
    table: Vec<u32>,
}

impl Hop {
    /// Returns a group of `ports` ports replicated to `members` members.
    #[must_use]
    pub fn new(ports: u32, members: u32, order: Order) -> Hop {
        Hop { ports, table: layout(&replicas(ports, members), order) }
    }

    /// Returns the number of members.
    #[must_use]
    pub fn members(&self) -> u32 {
        self.table.len() as u32
    }

    fn choose(&self, hash: u32) -> u32 {
        let index = (hash as usize).checked_rem(self.table.len()).unwrap_or(0);
        self.table.get(index).copied().unwrap_or(0)
    }
}

/// Balance of the last hop among flows that made the same choices before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conditional {
    /// Mean coefficient of variation over the earlier choices that occur.
    pub mean_cv: f64,
    /// Largest coefficient of variation.
    pub max_cv: f64,
    /// Mean total-variation distance between conditional and unconditional shares.
    pub mean_tv: f64,
    /// Sum of all coefficients in units of 2⁻³², each rounded up, and their number. Comparisons use these.
    sum: (u128, u64),
}

impl Conditional {
    /// Returns true if the mean coefficient is at most this many thousandths. The comparison is in integers, with the
    /// mean rounded up.
    #[must_use]
    pub fn at_most(&self, thousandths: u32) -> bool {
        self.within(u128::from(thousandths) << 32)
    }

    /// Returns true if the mean coefficient is at most twice a precision loss and a hundredth.
    #[must_use]
    pub fn near(&self, precision: Cv) -> bool {
        self.within((10 << 32) + 2_000 * u128::from(precision.units()))
    }

    /// Returns true if the mean is at most this many thousandths of 2⁻³².
    fn within(&self, most: u128) -> bool {
        self.sum.0.saturating_mul(1_000) <= most.saturating_mul(self.sum.1.into())
    }
}

/// Enumerates all hashes of `hash_bits` (1 to 20) bits over a path; `None` for an empty path or wider hashes.
#[must_use]
pub fn conditional(hash_bits: u32, path: &[Hop]) -> Option<Conditional> {
    let (last, before) = path.split_last()?;
    if !(1..=20).contains(&hash_bits) || path.iter().any(|hop| hop.table.is_empty()) {
        return None;
    }
    let classes = before.iter().fold(1usize, |n, hop| n.saturating_mul(hop.ports as usize));
    let width = last.ports as usize;
    let mut counts = vec![0u64; classes.checked_mul(width)?];
    let mut total = vec![0u64; width];
    for hash in 0..1u32 << hash_bits {
        let class =
            before.iter().fold(0, |class, hop| class * hop.ports as usize + hop.choose(hash) as usize);
        let port = last.choose(hash) as usize;
        counts[class * width + port] += 1;
        total[port] += 1;
    }
    let all: u64 = total.iter().sum();
    let (mut seen, mut sum_cv, mut max_cv, mut sum_tv) = (0.0, 0.0, 0.0f64, 0.0);
    let mut sum = (0, 0);
    for row in counts.chunks(width).filter(|row| row.iter().any(|n| *n > 0)) {
        let here: u64 = row.iter().sum();
        let exact = Cv::of(row);
        sum = (sum.0 + u128::from(exact.units()), sum.1 + 1);
        let cv = exact.value();
        let share = |n: u64, of: u64| n as f64 / of as f64;
        let tv: f64 = row.iter().zip(&total).map(|(n, t)| (share(*n, here) - share(*t, all)).abs()).sum();
        (seen, sum_cv, max_cv, sum_tv) = (seen + 1.0, sum_cv + cv, max_cv.max(cv), sum_tv + tv / 2.0);
    }
    Some(Conditional { mean_cv: sum_cv / seen, max_cv, mean_tv: sum_tv / seen, sum })
}

#[cfg(test)]
mod tests {
    use super::*;
    use Order::{Blocked, Interleaved};

    fn cv(bits: u32, sizes: &[u32], order: Order) -> Conditional {
        let hops: Vec<Hop> = sizes.iter().map(|q| Hop::new(8, *q, order)).collect();
        conditional(bits, &hops).unwrap()
    }

    #[test]
    fn scenario_13_coprime_pairs_exact() {
        // model: hashing §4.3, interleaved and blocked, 10, 12, 14 and 16 bits.
        type Row = ((u32, u32), [[f64; 4]; 2]);
        let table: [Row; 8] = [
            ((8, 9), [[0.293, 0.295, 0.294, 0.294], [0.296, 0.295, 0.294, 0.294]]),
            ((8, 25), [[0.119, 0.108, 0.106, 0.106], [0.110, 0.108, 0.106, 0.106]]),
            ((8, 57), [[0.194, 0.047, 0.047, 0.0465], [0.055, 0.048, 0.047, 0.0465]]),
            ((8, 73), [[0.246, 0.037, 0.037, 0.036], [0.048, 0.041, 0.037, 0.036]]),
            ((57, 73), [[0.878, 0.049, 0.045, 0.038], [0.106, 0.051, 0.038, 0.036]]),
            ((56, 57), [[0.194, 0.047, 0.047, 0.047], [1.25, 0.299, 0.064, 0.051]]),
            ((121, 113), [[1.93, 1.30, 0.267, 0.071], [0.717, 0.183, 0.050, 0.025]]),
            ((256, 257), [[1.00, 0.014, 0.014, 0.014], [2.43, 1.98, 1.42, 0.014]]),
        ];
        for ((a, b), rows) in table {
            for (order, row) in [Interleaved, Blocked].into_iter().zip(rows) {
                for (bits, wanted) in [10, 12, 14, 16].into_iter().zip(row) {
                    let found = cv(bits, &[a, b], order).mean_cv;
                    let tolerance = if wanted >= 1.0 { 0.006 } else { 0.0011 };
                    assert!((found - wanted).abs() < tolerance, "({a},{b}) {bits} {order}: {found}");
                }
            }
        }
        let exact = cv(16, &[8, 57], Interleaved);
        assert!((exact.mean_cv - 0.0465).abs() <= 0.0002 && exact.mean_tv < 0.01, "{exact:?}");
        assert!(exact.at_most(47) && !exact.at_most(46));
        let alone = super::super::replicas::precision(8, 57);
        assert!(exact.near(alone) && !cv(10, &[57, 73], Interleaved).near(alone));
    }

    #[test]
    fn scenario_17_triple_hop() {
        for (bits, sizes, mean, max) in [
            (16, [8, 57, 73], 0.0405, 0.0503),
            (14, [8, 57, 73], 0.0821, 0.0991),
            (16, [8, 9, 25], 0.106, 0.2),
            (14, [8, 9, 25], 0.106, 0.2),
            (16, [8, 25, 57], 0.047, 0.2),
            (14, [8, 25, 57], 0.050, 0.2),
            (16, [9, 25, 57], 0.196, 1.0),
        ] {
            let found = cv(bits, &sizes, Interleaved);
            assert!((found.mean_cv - mean).abs() < 0.0011, "{sizes:?} {bits}: {found:?}");
            assert!(found.max_cv < max + 0.001, "{sizes:?} {bits}: {found:?}");
        }
    }

    #[test]
    fn paths_that_cannot_be_enumerated_give_nothing() {
        assert_eq!(conditional(16, &[]), None);
        assert_eq!(conditional(21, &[Hop::new(8, 8, Interleaved)]), None);
        assert_eq!(conditional(8, &[Hop::new(0, 8, Interleaved)]), None);
        assert_eq!(Hop::new(8, 57, Blocked).members(), 57);
    }
}
