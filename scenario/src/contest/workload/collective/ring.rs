//! Collectives on a ring: in step s, rank r sends part r - s of the buffer to rank r + 1.
//!
//! With n ranks, n - 1 steps reduce and scatter, or gather; 2 (n - 1) steps reduce all. With equal lines the last takes
//! 2 (n - 1) times the time of one part from one rank to the next.

use super::Iteration;
use crate::contest::workload::fault::Fault;
use crate::contest::workload::plan::Builder;

pub(super) fn plan(it: &Iteration<'_>, steps: usize, into: &mut Builder<'_>) -> Result<Vec<Vec<u32>>, Fault> {
    let ranks = it.len();
    // What each rank received in the step before.
    let mut received: Vec<Option<u32>> = vec![None; ranks];
    for step in 0..steps {
        let mut next = vec![None; ranks];
        for (rank, before) in received.iter().enumerate() {
            let when = match before {
                None => it.begin[rank].when,
                Some(before) => it.begin[rank].and(*before, into),
            };
            let part = (rank + 2 * ranks - step) % ranks;
            let to = (rank + 1) % ranks;
            next[to] = Some(into.send(it.ranks[rank], it.ranks[to], it.part(part, part + 1), when)?);
        }
        received = next;
    }
    Ok(received.into_iter().map(|one| one.into_iter().collect()).collect())
}
