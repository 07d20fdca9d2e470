//! The choice of a weighted group's size.

use super::coprime::{NoSize, Request};
use super::cv::{Cv, gcd};
use super::wcmp::{Expansion, Method, WcmpError, compare, reduce};
use thiserror::Error;

/// A weighted group with a size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weighted {
    /// Weights after reduction to the table.
    pub reduced: Vec<u32>,
    /// Number of members.
    pub size: u32,
    /// Members of each port by the chosen method.
    pub members: Vec<u32>,
    /// Variation of members per reduced weight.
    pub cv: Cv,
    /// Results of the other methods at this size.
    pub others: Vec<Expansion>,
    /// Warnings for users.
    pub notes: Vec<String>,
}

/// Reason for which a weighted group has no size.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum NoWeighted {
    /// The weights cannot be expanded.
    #[error(transparent)]
    Weights(#[from] WcmpError),
    /// No size is admissible.
    #[error(transparent)]
    Size(#[from] NoSize),
}

/// Reduces the weights to the table and takes the smallest size that is at least their sum, coprime with the sizes
/// upstream, and within the target. Without such a size, takes the most even coprime one and adds a note.
/// `request.ports` is ignored.
///
/// # Errors
/// If no port has weight, if there is no room, or if no size is coprime.
pub fn plan(
    weights: &[u32],
    method: Method,
    fixed: Option<u32>,
    request: &Request,
) -> Result<Weighted, NoWeighted> {
    let limit = request.width.min(request.entries);
    let reduced = reduce(weights, fixed.unwrap_or(limit).min(limit))?;
    let sum: u32 = reduced.iter().sum();
    let mut notes = Vec::new();
    if reduced != weights {
        notes.push(format!("weights {weights:?} are reduced to {reduced:?} to fit {limit} members"));
    }
    let coprime =
        |q: &u32| request.paths.iter().flatten().all(|with| gcd(u64::from(*with), u64::from(*q)) == 1);
    let of = |q: u32| -> Result<(u32, Expansion), WcmpError> {
        let all = compare(&reduced, q)?;
        let [naive, split, largest] = all;
        Ok((q, [naive, split, largest].into_iter().find(|e| e.method == method).ok_or(WcmpError::NoWeight)?))
    };
    let chosen = match fixed {
        Some(q) => of(q)?,
        None => {
            let sizes: Vec<_> = (sum..=limit).filter(coprime).map(of).collect::<Result<_, _>>()?;
            let met = sizes.iter().find(|(_, e)| request.target.is_some_and(|t| e.cv.at_most(t)));
            let best = met.or_else(|| sizes.iter().min_by_key(|(q, e)| (e.cv, *q))).cloned();
            if let (None, Some(target)) = (met, request.target) {
                notes.push(format!(
                    "no size meets {:.3}; the most even one is taken",
                    f64::from(target) / 1000.0
                ));
            }
            best.ok_or_else(|| NoSize::NoneFits {
                ports: sum,
                limit,
                upstream: request.paths.clone(),
                target: "any".to_owned(),
                candidates: Vec::new(),
            })?
        }
    };
    let (size, expansion) = chosen;
    if !coprime(&size) {
        notes.push(format!("{size} members share a factor with a size upstream: traffic will polarise"));
    }
    let others: Vec<Expansion> =
        compare(&reduced, size)?.into_iter().filter(|e| e.method != method).collect();
    if let Some(better) = others.iter().filter(|e| e.cv < expansion.cv).min_by_key(|e| e.cv) {
        notes.push(format!(
            "{} would vary by {} only, {method} by {}",
            better.method, better.cv, expansion.cv
        ));
    }
    Ok(Weighted { reduced, size, members: expansion.members, cv: expansion.cv, others, notes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reduced_then_expanded() {
        let request = Request { target: Some(30), ..Request::tofino(2, &[8]) };
        let plan = plan(&[300, 100], Method::Split, None, &request).unwrap();
        assert_eq!(plan.reduced, [3, 1]);
        assert!(plan.size % 2 == 1 && plan.size <= 120 && plan.cv.at_most(30));
        assert_eq!(plan.members.iter().sum::<u32>(), plan.size);
    }

    #[test]
    fn scenario_19_the_better_way_is_offered() {
        let request = Request::tofino(2, &[8]);
        let skewed = plan(&[9, 1], Method::Split, Some(17), &request).unwrap();
        assert_eq!(skewed.members, [13, 4]);
        assert!(skewed.notes.iter().any(|n| n.starts_with("largest-remainder")), "{:?}", skewed.notes);
        let paper = plan(&[3, 1], Method::Split, Some(7), &request).unwrap();
        assert_eq!((paper.members, paper.notes.len()), (vec![5, 2], 0));
        let even = plan(&[3, 1], Method::Split, Some(8), &request).unwrap();
        assert!(even.notes[0].contains("polarise"));
        assert!(plan(&[3, 1], Method::Split, Some(3), &request).is_ok(), "reduced to three members");
        assert!(plan(&[0], Method::Split, None, &request).is_err());
    }
}
