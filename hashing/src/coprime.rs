//! The choice of a group's size: coprime with the sizes of correlated switches, precise, and within limits.
//!
//! Two groups that share a hash are independent if their sizes q1 and q2 are coprime and two conditions hold
//! (model: hashing §4.1). C1: each size is much larger than its number of ports, or a multiple of it. C2: the hash has
//! many more values than q1·q2. C1 is tested by the exact precision loss. C2 is met if the product of all sizes on a
//! shared path is at most an eighth of the hash's values; beyond that, all hash values of the path are enumerated.

use super::correlation::{Hop, conditional};
use super::cv::{Cv, gcd};
use super::replicas::{Order, precision};
use std::fmt;
use thiserror::Error;

/// Least ratio of the number of hash values to the product of the sizes on a path (model: hashing §4.3).
pub const RANGE_FACTOR: u64 = 8;

/// Conditions under which a group's size is chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Ports of the group, m.
    pub ports: u32,
    /// Sizes of correlated switches: one list for each path that these switches share with this one.
    pub paths: Vec<Vec<u32>>,
    /// Bits of the hash that the modulo sees: 14 for a Tofino selector, 16 for RTAG7.
    pub hash_bits: u32,
    /// Most members of one group: 120 in a selector word.
    pub width: u32,
    /// Most entries of the member table that this group may take.
    pub entries: u32,
    /// Largest coefficient of variation allowed, in thousandths; `None` for the smallest that is possible.
    pub target: Option<u32>,
    /// Order of the members.
    pub order: Order,
}

impl Request {
    /// Returns the request for a group of `ports` ports after switches of these sizes on a Tofino: 14 bits, one
    /// selector word, target 0.05.
    #[must_use]
    pub fn tofino(ports: u32, upstream: &[u32]) -> Request {
        Request {
            ports,
            paths: if upstream.is_empty() { Vec::new() } else { vec![upstream.to_vec()] },
            hash_bits: 14,
            width: 120,
            entries: 120,
            target: Some(50),
            order: Order::Interleaved,
        }
    }
}

/// Verdict on a size.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The size is chosen. `tight`: the hash has few values for it (C2), but enumeration shows that the target is met.
    Chosen {
        /// True if C2 is met only by enumeration.
        tight: bool,
    },
    /// The size is admissible, but a smaller one is too, or the request is for the most precise one and another is more
    /// precise.
    Dearer,
    /// The size shares a factor with a correlated switch's size.
    CommonFactor {
        /// Size of the correlated switch.
        with: u32,
        /// Common factor.
        factor: u32,
    },
    /// C1: the shares of the ports differ too much.
    Imprecise,
    /// C2: the hash has too few values.
    HashTooShort {
        /// Product of all sizes on the path.
        product: u64,
        /// Largest product that the hash's width allows.
        limit: u64,
        /// Coefficient of variation by enumeration, rounded; `None` if enumeration was not possible.
        cv: Option<f64>,
    },
}

/// A size that was considered.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Size, q.
    pub members: u32,
    /// Precision loss of the size.
    pub precision: Cv,
    /// Verdict on the size.
    pub verdict: Verdict,
}

/// A chosen size and all sizes that were considered.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// Chosen size.
    pub members: u32,
    /// All sizes considered, smallest first.
    pub candidates: Vec<Candidate>,
}

/// Reason for which there is no size.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum NoSize {
    /// The group has no ports.
    #[error("a group needs at least one port")]
    NoPorts,
    /// The group has more ports than members are allowed.
    #[error(
        "{ports} ports do not fit {limit} members; the limit is the smaller of selector width and table budget"
    )]
    TooManyPorts {
        /// Ports.
        ports: u32,
        /// Members allowed.
        limit: u32,
    },
    /// No size is admissible.
    #[error(
        "no size from {ports} to {limit} is coprime with {upstream:?} and within {target} of even shares; raise \
         the table budget or the target, or change a size upstream"
    )]
    NoneFits {
        /// Ports.
        ports: u32,
        /// Members allowed.
        limit: u32,
        /// Sizes upstream.
        upstream: Vec<Vec<u32>>,
        /// The target as text.
        target: String,
        /// All sizes considered.
        candidates: Vec<Candidate>,
    },
}

/// Chooses the smallest size that meets the target, or the most precise size if there is no target.
///
/// # Errors
/// If no size is admissible.
pub fn choose(request: &Request) -> Result<Choice, NoSize> {
    let limit = request.width.min(request.entries);
    if request.ports == 0 {
        return Err(NoSize::NoPorts);
    }
    if request.ports > limit {
        return Err(NoSize::TooManyPorts { ports: request.ports, limit });
    }
    let mut found = None;
    let mut candidates: Vec<Candidate> = Vec::new();
    for members in request.ports..=limit {
        // After the first admissible size, no further size needs enumeration.
        let candidate = judge(request, members, found.is_none() || request.target.is_none());
        if found.is_none() && matches!(candidate.verdict, Verdict::Chosen { .. }) {
            found = Some(members);
        }
        candidates.push(candidate);
    }
    let fits = |c: &&Candidate| matches!(c.verdict, Verdict::Chosen { .. });
    let most_precise = || candidates.iter().filter(fits).min_by_key(|c| (c.precision, c.members));
    let best = if request.target.is_some() { found } else { most_precise().map(|c| c.members) };
    let Some(members) = best else {
        let target = request.target.map_or("any".to_owned(), |t| format!("{:.3}", f64::from(t) / 1000.0));
        let upstream = request.paths.clone();
        return Err(NoSize::NoneFits { ports: request.ports, limit, upstream, target, candidates });
    };
    for c in candidates.iter_mut().filter(|c| c.members != members) {
        if matches!(c.verdict, Verdict::Chosen { .. }) {
            c.verdict = Verdict::Dearer;
        }
    }
    Ok(Choice { members, candidates })
}

/// Returns true if a size is admissible, even if a smaller one is too.
#[must_use]
pub fn admits(request: &Request, members: u32) -> bool {
    members >= request.ports
        && members <= request.width.min(request.entries)
        && matches!(judge(request, members, true).verdict, Verdict::Chosen { .. })
}

fn judge(request: &Request, members: u32, enumerate: bool) -> Candidate {
    let precision = precision(request.ports, members);
    Candidate { members, precision, verdict: verdict(request, members, precision, enumerate) }
}

fn verdict(request: &Request, members: u32, precision: Cv, enumerate: bool) -> Verdict {
    for with in request.paths.iter().flatten() {
        let factor = gcd(u64::from(*with), members.into()) as u32;
        if factor > 1 {
            return Verdict::CommonFactor { with: *with, factor };
        }
    }
    if request.target.is_some_and(|t| !precision.at_most(t)) {
        return Verdict::Imprecise;
    }
    if !enumerate {
        return Verdict::Dearer;
    }
    let limit = (1u64 << request.hash_bits.min(63)) / RANGE_FACTOR;
    let mut tight = false;
    for path in &request.paths {
        let product = path.iter().fold(u64::from(members), |p, q| p.saturating_mul(u64::from(*q)));
        if product <= limit {
            continue;
        }
        // The numbers of upstream ports are unknown. A size with as many ports as members is the strictest case.
        let hop = |q: &u32| Hop::new((*q).min(request.ports), *q, request.order);
        let mut hops: Vec<Hop> = path.iter().map(hop).collect();
        hops.push(Hop::new(request.ports, members, request.order));
        let found = conditional(request.hash_bits, &hops);
        let met = match (&found, request.target) {
            (Some(found), Some(target)) => found.at_most(target),
            (Some(found), None) => found.near(precision),
            (None, _) => false,
        };
        if !met {
            return Verdict::HashTooShort { product, limit, cv: found.map(|f| f.mean_cv) };
        }
        tight = true;
    }
    Verdict::Chosen { tight }
}

/// Two sizes of a set that share a factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("group sizes {a} and {b} share the factor {factor}; correlated switches need coprime sizes")]
pub struct SharedFactor {
    /// First size.
    pub a: u32,
    /// Second size.
    pub b: u32,
    /// Their greatest common divisor.
    pub factor: u32,
}

/// Checks that all sizes are pairwise coprime.
///
/// # Errors
/// The first pair that shares a factor.
pub fn pairwise(sizes: &[u32]) -> Result<(), SharedFactor> {
    for (i, &a) in sizes.iter().enumerate() {
        for &b in sizes.get(i + 1..).unwrap_or(&[]) {
            let factor = gcd(a.into(), b.into()) as u32;
            if factor != 1 {
                return Err(SharedFactor { a, b, factor });
            }
        }
    }
    Ok(())
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Chosen { tight: false } => f.write_str("chosen"),
            Verdict::Chosen { tight: true } => {
                f.write_str("chosen; the hash's values are few for it, but enumeration meets the target")
            }
            Verdict::Dearer => f.write_str("would do, but takes more entries or is less precise"),
            Verdict::CommonFactor { with, factor } => write!(f, "shares the factor {factor} with {with}"),
            Verdict::Imprecise => f.write_str("shares too uneven for the target"),
            Verdict::HashTooShort { product, limit, cv } => {
                write!(f, "product of sizes {product} is beyond {limit}, an eighth of the hash's values")?;
                cv.map_or(Ok(()), |cv| write!(f, "; enumeration finds CV {cv:.3}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rtag7(ports: u32, upstream: &[u32], target: u32) -> Request {
        Request {
            hash_bits: 16,
            width: 1024,
            entries: 1024,
            target: Some(target),
            ..Request::tofino(ports, upstream)
        }
    }

    #[test]
    fn smallest_sizes_of_the_table() {
        // model: hashing §4.3: coprime with 8, at most .1, .05, .03.
        for (ports, sizes) in [
            (4, [19, 35, 59]),
            (6, [23, 47, 77]),
            (8, [31, 55, 89]),
            (12, [35, 71, 119]),
            (16, [47, 79, 143]),
            (32, [63, 127, 191]),
        ] {
            for (target, wanted) in [100, 50, 30].into_iter().zip(sizes) {
                let choice = choose(&rtag7(ports, &[8], target)).unwrap();
                assert_eq!(choice.members, wanted, "{ports} ports, {target}/1000");
            }
        }
    }

    #[test]
    fn scenario_14_c2_violation() {
        let request = Request { hash_bits: 10, target: Some(100), ..Request::tofino(8, &[57]) };
        let refused = judge(&request, 73, true);
        let Verdict::HashTooShort { product: 4161, limit: 128, cv: Some(cv) } = refused.verdict else {
            panic!("{refused:?}");
        };
        assert!((cv - 0.878).abs() < 0.01, "{cv}");
        let no_size = choose(&Request { target: Some(40), ..request }).unwrap_err();
        assert!(no_size.to_string().contains("coprime with [[57]]"), "{no_size}");
    }

    #[test]
    fn scenario_15_c1_violation() {
        let choice = choose(&rtag7(16, &[8], 50)).unwrap();
        let seventeen = &choice.candidates[1];
        assert_eq!((seventeen.members, &seventeen.verdict), (17, &Verdict::Imprecise));
        assert_eq!(choice.members, 79);
    }

    #[test]
    fn scenario_16_gcd_trap() {
        assert_eq!(pairwise(&[8, 9, 57]), Err(SharedFactor { a: 9, b: 57, factor: 3 }));
        assert_eq!(pairwise(&[8, 25, 57]), Ok(()));
        for (a, b) in [(9, 57), (9, 105), (57, 105), (25, 65), (25, 105), (49, 105), (65, 105)] {
            assert!(pairwise(&[a, b]).is_err(), "{a} {b}");
        }
        let trapped = judge(&rtag7(8, &[8, 9], 50), 57, true);
        assert_eq!(trapped.verdict, Verdict::CommonFactor { with: 9, factor: 3 });
    }

    #[test]
    fn a_tofino_takes_one_word_at_most() {
        // model: hashing §6: 121 members are two words, and two words are no modulo.
        let most = choose(&Request { target: None, ..Request::tofino(8, &[8]) }).unwrap();
        assert_eq!(most.members, 119);
        assert_eq!(most.candidates.last().map(|c| c.members), Some(120));
        let error = choose(&Request { width: 120, ..Request::tofino(121, &[]) }).unwrap_err();
        assert_eq!(error, NoSize::TooManyPorts { ports: 121, limit: 120 });
        assert_eq!(choose(&Request::tofino(0, &[])), Err(NoSize::NoPorts));
        // Without upstream sizes, the number of ports is the best size, with even shares.
        assert_eq!(choose(&Request::tofino(8, &[])).unwrap().members, 8);
    }

    #[test]
    fn triples_are_enumerated_where_the_product_is_large() {
        let request = rtag7(8, &[8, 57], 50);
        assert_eq!(judge(&request, 73, true).verdict, Verdict::Chosen { tight: true });
        let fourteen = Request { hash_bits: 14, ..request };
        assert!(matches!(judge(&fourteen, 73, true).verdict, Verdict::HashTooShort { product: 33_288, .. }));
    }
}
