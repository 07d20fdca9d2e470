//! All-to-all: rank r sends its parts to r + 1, r + 2, .., so that the ranks do not all send to the same one first.

use super::Iteration;
use crate::contest::workload::fault::Fault;
use crate::contest::workload::plan::Builder;
use sluice_asic::units::Duration;

pub(super) fn plan(
    it: &Iteration<'_>,
    outstanding: usize,
    into: &mut Builder<'_>,
) -> Result<Vec<Vec<u32>>, Fault> {
    let ranks = it.len();
    let mut received = vec![Vec::new(); ranks];
    for rank in 0..ranks {
        let mut sent = Vec::with_capacity(ranks - 1);
        for step in 1..ranks {
            let when = match sent.len().checked_sub(outstanding) {
                None => it.begin[rank].when,
                Some(before) => into.after(&sent[before..=before], Duration::ZERO),
            };
            let to = (rank + step) % ranks;
            let message = into.send(it.ranks[rank], it.ranks[to], it.part(to, to + 1), when)?;
            sent.push(message);
            received[to].push(message);
        }
    }
    Ok(received)
}
