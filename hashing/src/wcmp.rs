//! Expansion of weights to members.
//!
//! There are three methods to turn weights with sum W into q >= W members (model: hashing §4.4). *Naive* replicates W
//! virtual ports evenly. *Split*, the paper's method, gives each port its weight as often as W fits into q and
//! distributes the rest evenly. *Largest remainder* rounds each port's exact share, and is better if weights are
//! skewed. The measure for all is the variation of members per weight.

use super::cv::Cv;
use super::replicas::replicas;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// Method of distributing members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// W virtual ports, replicated evenly.
    Naive,
    /// Weights first, the remainder evenly: the paper's split coprime.
    Split,
    /// Exact shares, rounded by largest remainder.
    LargestRemainder,
}

impl Method {
    /// All methods with their names.
    pub const ALL: [(&'static str, Method); 3] =
        [("naive", Method::Naive), ("split", Method::Split), ("largest-remainder", Method::LargestRemainder)];
}

impl FromStr for Method {
    type Err = &'static str;
    fn from_str(text: &str) -> Result<Method, &'static str> {
        Method::ALL
            .iter()
            .find(|(name, _)| *name == text)
            .map(|(_, m)| *m)
            .ok_or("expected naive, split or largest-remainder")
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Method::ALL.iter().find(|(_, m)| m == self).map_or("", |(name, _)| name))
    }
}

/// Reason for which weights cannot be expanded.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WcmpError {
    /// No port has weight.
    #[error("a weighted group needs a port with a weight above 0")]
    NoWeight,
    /// There are fewer members than the sum of the weights.
    #[error(
        "{members} members are fewer than the weights' sum {sum}; reduce the weights first, or take more"
    )]
    TooFew {
        /// Members.
        members: u32,
        /// Sum of weights.
        sum: u64,
    },
}

/// Returns the number of members of each port; a port of weight 0 gets none.
///
/// # Errors
/// If no port has weight, or if there are fewer members than the weights' sum.
pub fn expand(method: Method, weights: &[u32], members: u32) -> Result<Vec<u32>, WcmpError> {
    let sum: u64 = weights.iter().map(|w| u64::from(*w)).sum();
    if sum == 0 {
        return Err(WcmpError::NoWeight);
    }
    if u64::from(members) < sum {
        return Err(WcmpError::TooFew { members, sum });
    }
    let sum = sum as u32;
    Ok(match method {
        Method::Naive => naive(weights, sum, members),
        Method::Split => split(weights, sum, members),
        Method::LargestRemainder => largest_remainder(weights, sum, members),
    })
}

fn naive(weights: &[u32], sum: u32, members: u32) -> Vec<u32> {
    let virtual_ports = replicas(sum, members);
    let mut rest = virtual_ports.as_slice();
    let mut take = |weight: u32| {
        let (mine, others) = rest.split_at(weight as usize);
        rest = others;
        mine.iter().sum()
    };
    weights.iter().map(|w| take(*w)).collect()
}

fn split(weights: &[u32], sum: u32, members: u32) -> Vec<u32> {
    let used = weights.iter().filter(|w| **w > 0).count() as u32;
    let mut evenly = replicas(used, members % sum).into_iter();
    let share = |w: u32| if w == 0 { 0 } else { members / sum * w + evenly.next().unwrap_or(0) };
    weights.iter().copied().map(share).collect()
}

fn largest_remainder(weights: &[u32], sum: u32, members: u32) -> Vec<u32> {
    let product = |w: u32| u64::from(w) * u64::from(members);
    let mut shares: Vec<u32> = weights.iter().map(|w| (product(*w) / u64::from(sum)) as u32).collect();
    let mut order: Vec<usize> = (0..weights.len()).collect();
    // The sort is stable, so of equal remainders the first port's is first.
    order.sort_by_key(|i| std::cmp::Reverse(product(weights[*i]) % u64::from(sum)));
    let missing = members - shares.iter().sum::<u32>();
    for i in order.into_iter().take(missing as usize) {
        shares[i] += 1;
    }
    shares
}

/// Result of one method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expansion {
    /// Method.
    pub method: Method,
    /// Members of each port.
    pub members: Vec<u32>,
    /// Variation of members per weight.
    pub cv: Cv,
}

/// Returns the results of all three methods.
///
/// # Errors
/// As [`expand`].
pub fn compare(weights: &[u32], members: u32) -> Result<[Expansion; 3], WcmpError> {
    let one = |method| {
        let members = expand(method, weights, members)?;
        let cv = Cv::of_ratios(&members, weights);
        Ok(Expansion { method, members, cv })
    };
    Ok([one(Method::Naive)?, one(Method::Split)?, one(Method::LargestRemainder)?])
}

/// Returns smaller weights with a sum of at most `limit` that are closest to the given ones: first the smallest maximum
/// oversubscription of a port, then the smallest sum. Every port with weight keeps some.
///
/// # Errors
/// If no port has weight, or if `limit` is less than the number of ports with weight.
pub fn reduce(weights: &[u32], limit: u32) -> Result<Vec<u32>, WcmpError> {
    let sum: u64 = weights.iter().map(|w| u64::from(*w)).sum();
    let used = weights.iter().filter(|w| **w > 0).count() as u32;
    if sum == 0 {
        return Err(WcmpError::NoWeight);
    }
    if limit < used {
        return Err(WcmpError::TooFew { members: limit, sum: used.into() });
    }
    if sum <= u64::from(limit) {
        return Ok(weights.to_vec());
    }
    let candidates = (used..=limit).map(|total| shrink(weights, sum, total));
    let best = candidates.min_by(|a, b| {
        let ((an, ad), (bn, bd)) = (oversubscription(weights, a), oversubscription(weights, b));
        (an * bd).cmp(&(bn * ad))
    });
    Ok(best.unwrap_or_default())
}

/// Returns weights of sum `total` in nearly the old proportion; every port with weight keeps some.
fn shrink(weights: &[u32], sum: u64, total: u32) -> Vec<u32> {
    let exact = |w: u32| u64::from(w) * u64::from(total);
    let mut small: Vec<u32> =
        weights.iter().map(|w| if *w == 0 { 0 } else { ((exact(*w) / sum) as u32).max(1) }).collect();
    // Adds missing weight to the port that is furthest below its share, and removes excess from the one furthest above.
    loop {
        let have: u32 = small.iter().sum();
        let excess = |i: usize| i128::from(small[i]) * i128::from(sum) - i128::from(exact(weights[i]));
        let ports = (0..weights.len()).filter(|i| weights[*i] > 0);
        let (change, port) = match have.cmp(&total) {
            std::cmp::Ordering::Equal => return small,
            std::cmp::Ordering::Less => (1, ports.min_by_key(|i| excess(*i))),
            std::cmp::Ordering::Greater => (-1, ports.filter(|i| small[*i] > 1).max_by_key(|i| excess(*i))),
        };
        let Some(port) = port else { return small };
        small[port] = small[port].saturating_add_signed(change);
    }
}

/// Returns the largest ratio of new to old share over the ports, as a fraction.
fn oversubscription(weights: &[u32], small: &[u32]) -> (u128, u128) {
    let new_sum: u128 = small.iter().map(|w| u128::from(*w)).sum();
    let old_sum: u128 = weights.iter().map(|w| u128::from(*w)).sum();
    let ratios = weights.iter().zip(small).filter(|(w, _)| **w > 0);
    let ratios = ratios.map(|(w, s)| (u128::from(*s) * old_sum, u128::from(*w) * new_sum));
    ratios.max_by(|(an, ad), (bn, bd)| (an * bd).cmp(&(bn * ad))).unwrap_or((0, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Row = (&'static [u32], u32, [(&'static [u32], f64); 3]);

    /// model: hashing §4.4: weights, q, then members and CV of the three methods.
    #[rustfmt::skip]
    const TABLE: [Row; 21] = [
        (&[3, 1], 7, [(&[6, 1], 0.3333), (&[5, 2], 0.0909), (&[5, 2], 0.0909)]),
        (&[3, 1], 5, [(&[4, 1], 0.1429), (&[4, 1], 0.1429), (&[4, 1], 0.1429)]),
        (&[3, 1], 9, [(&[7, 2], 0.0769), (&[7, 2], 0.0769), (&[7, 2], 0.0769)]),
        (&[3, 1], 11, [(&[9, 2], 0.2), (&[8, 3], 0.0588), (&[8, 3], 0.0588)]),
        (&[3, 1], 57, [(&[43, 14], 0.0118), (&[43, 14], 0.0118), (&[43, 14], 0.0118)]),
        (&[1, 1], 5, [(&[3, 2], 0.2), (&[3, 2], 0.2), (&[3, 2], 0.2)]),
        (&[2, 1], 5, [(&[4, 1], 0.3333), (&[3, 2], 0.1429), (&[3, 2], 0.1429)]),
        (&[2, 1], 8, [(&[6, 2], 0.2), (&[5, 3], 0.0909), (&[5, 3], 0.0909)]),
        (&[2, 1], 17, [(&[12, 5], 0.0909), (&[11, 6], 0.0435), (&[11, 6], 0.0435)]),
        (&[5, 3], 13, [(&[10, 3], 0.3333), (&[8, 5], 0.0204), (&[8, 5], 0.0204)]),
        (&[1, 2, 3], 7, [(&[2, 2, 3], 0.3536), (&[2, 2, 3], 0.3536), (&[1, 2, 4], 0.1414)]),
        (&[1, 2, 3], 11, [(&[2, 4, 5], 0.0832), (&[3, 4, 4], 0.3244), (&[2, 4, 5], 0.0832)]),
        (&[1, 2, 3], 57, [(&[10, 20, 27], 0.0488), (&[10, 19, 28], 0.0295), (&[10, 19, 28], 0.0295)]),
        (&[4, 3, 2, 1], 13, [(&[7, 3, 2, 1], 0.2735), (&[5, 4, 3, 1], 0.1420), (&[5, 4, 3, 1], 0.1420)]),
        (&[4, 3, 2, 1], 17, [(&[8, 6, 2, 1], 0.3333), (&[6, 5, 4, 2], 0.1208), (&[7, 5, 3, 2], 0.1043)]),
        (&[4, 3, 2, 1], 57, [(&[24, 18, 10, 5], 0.0909), (&[22, 17, 12, 6], 0.0374), (&[23, 17, 11, 6], 0.0315)]),
        (&[8, 8, 4], 23, [(&[11, 8, 4], 0.1571), (&[9, 9, 5], 0.0505), (&[9, 9, 5], 0.0505)]),
        (&[7, 5, 3, 1], 19, [(&[10, 5, 3, 1], 0.1676), (&[8, 6, 4, 1], 0.1023), (&[8, 6, 4, 1], 0.1023)]),
        (&[7, 5, 3, 1], 57, [(&[28, 17, 9, 3], 0.1222), (&[24, 17, 11, 5], 0.1700), (&[25, 18, 11, 3], 0.0773)]),
        (&[10, 10, 1], 23, [(&[12, 10, 1], 0.0884), (&[11, 11, 1], 0.0442), (&[11, 11, 1], 0.0442)]),
        (&[9, 1], 57, [(&[52, 5], 0.0722), (&[49, 8], 0.1901), (&[51, 6], 0.0286)]),
    ];

    #[test]
    fn scenario_18_wcmp_vectors() {
        for (weights, members, wanted) in TABLE {
            for (found, (list, cv)) in compare(weights, members).unwrap().into_iter().zip(wanted) {
                assert_eq!(found.members, list, "{weights:?} / {members} {}", found.method);
                assert!((found.cv.value() - cv).abs() < 0.00006, "{weights:?} / {members}: {}", found.cv);
            }
        }
    }

    #[test]
    fn scenario_19_wcmp_skew() {
        let [naive, split, largest] = compare(&[9, 1], 17).unwrap();
        assert_eq!((naive.members, split.members, largest.members), (vec![16, 1], vec![13, 4], vec![15, 2]));
        assert!((split.cv.value() - 0.4694).abs() < 0.0001 && (naive.cv.value() - 0.28).abs() < 0.0001);
        assert!(split.cv > naive.cv && largest.cv < naive.cv);
    }

    #[test]
    fn scenario_20_wcmp_edges() {
        for (_, method) in Method::ALL {
            let of = |weights: &[u32], members| expand(method, weights, members);
            assert_eq!(of(&[3, 1], 3), Err(WcmpError::TooFew { members: 3, sum: 4 }));
            assert_eq!(of(&[0, 0], 3), Err(WcmpError::NoWeight));
            assert_eq!(of(&[7, 5, 3, 1], 16), Ok(vec![7, 5, 3, 1]));
            assert_eq!(Cv::of_ratios(&of(&[7, 5, 3, 1], 16).unwrap(), &[7, 5, 3, 1]), Cv::ZERO);
            assert_eq!(of(&[5], 9), Ok(vec![9]));
            assert_eq!(of(&[3, 0, 1], 8), Ok(vec![6, 0, 2]));
            assert_eq!(of(&[3, 0, 1], 9).unwrap()[1], 0);
            // Equal weights are ECMP.
            for members in 8..100 {
                assert_eq!(of(&[1; 8], members), Ok(replicas(8, members)), "{method}");
            }
        }
        // Remainders that are less than the number of ports, and divisible by it.
        assert_eq!(expand(Method::Split, &[4, 3, 2, 1], 12), Ok(vec![5, 4, 2, 1]));
        assert_eq!(expand(Method::Split, &[4, 3, 2, 1], 14), Ok(vec![5, 4, 3, 2]));
    }

    #[test]
    fn reduction_fits_and_keeps_every_port() {
        assert_eq!(reduce(&[100, 50], 3), Ok(vec![2, 1]));
        assert_eq!(reduce(&[100, 0, 50], 120), Ok(vec![2, 0, 1]));
        assert_eq!(reduce(&[5, 3], 8), Ok(vec![5, 3]));
        let small = reduce(&[1000, 1, 500], 16).unwrap();
        assert!(small.iter().sum::<u32>() <= 16 && small.iter().all(|w| *w > 0), "{small:?}");
        assert_eq!(reduce(&[1, 1, 1], 2), Err(WcmpError::TooFew { members: 2, sum: 3 }));
        assert_eq!(reduce(&[], 2), Err(WcmpError::NoWeight));
    }
}
