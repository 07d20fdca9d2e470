//! All-reduce by recursive halving and doubling.
//!
//! A rank owns a range of the buffer's parts, at first all of them. In each halving step it sends one half of its range to
//! its partner and keeps the other; then the partners double their ranges in the reverse order.

use super::Iteration;
use crate::contest::workload::fault::Fault;
use crate::contest::workload::plan::Builder;

pub(super) fn plan(it: &Iteration<'_>, into: &mut Builder<'_>) -> Result<Vec<Vec<u32>>, Fault> {
    let ranks = it.len();
    let mut ranges = vec![(0, ranks); ranks];
    let mut received: Vec<Option<u32>> = vec![None; ranks];
    let halving = std::iter::successors(Some(ranks / 2), |distance| Some(distance / 2));
    let distances: Vec<usize> = halving.take_while(|distance| *distance > 0).collect();
    for distance in &distances {
        let mut next = vec![None; ranks];
        for rank in 0..ranks {
            let (first, end) = ranges[rank];
            let middle = (first + end) / 2;
            let (kept, sent) = match rank & distance {
                0 => ((first, middle), (middle, end)),
                _ => ((middle, end), (first, middle)),
            };
            ranges[rank] = kept;
            next[rank ^ distance] = Some(exchange(it, rank, distance, sent, received[rank], into)?);
        }
        received = next;
    }
    for distance in distances.iter().rev() {
        let (mut next, before) = (vec![None; ranks], ranges.clone());
        for rank in 0..ranks {
            next[rank ^ distance] = Some(exchange(it, rank, distance, before[rank], received[rank], into)?);
            let other = before[rank ^ distance];
            ranges[rank] = (before[rank].0.min(other.0), before[rank].1.max(other.1));
        }
        received = next;
    }
    Ok(received.into_iter().map(|one| one.into_iter().collect()).collect())
}

/// Sends a range of parts to the partner at a distance, after what came in the step before.
fn exchange(
    it: &Iteration<'_>,
    rank: usize,
    distance: &usize,
    (first, end): (usize, usize),
    before: Option<u32>,
    into: &mut Builder<'_>,
) -> Result<u32, Fault> {
    let when = match before {
        None => it.begin[rank].when,
        Some(before) => it.begin[rank].and(before, into),
    };
    into.send(it.ranks[rank], it.ranks[rank ^ distance], it.part(first, end), when)
}
