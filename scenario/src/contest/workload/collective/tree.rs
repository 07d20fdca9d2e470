//! All-reduce on a binary tree, whose rank r has the children 2 r + 1 and 2 r + 2.
//!
//! The buffer goes in chunks: up, where a rank sends a chunk when its children's have arrived, and from the first rank down.
//! A rank sends `outstanding` chunks to the same rank before it waits for an acknowledgement.

use super::{Begin, Iteration};
use crate::contest::workload::fault::Fault;
use crate::contest::workload::plan::{Builder, When};
use sluice_asic::units::Duration;

pub(super) fn plan(
    it: &Iteration<'_>,
    chunks: usize,
    outstanding: usize,
    into: &mut Builder<'_>,
) -> Result<Vec<Vec<u32>>, Fault> {
    let (ranks, children) = (it.len(), |rank: usize| [2 * rank + 1, 2 * rank + 2]);
    let chunk = |number: usize| {
        let before = |part: usize| u128::from(it.bytes) * part as u128 / chunks as u128;
        (before(number + 1) - before(number)) as u64
    };
    // Chunks from each rank to its parent, and from its parent to it.
    let (mut up, mut down) = (vec![Vec::new(); ranks], vec![Vec::new(); ranks]);
    for rank in (1..ranks).rev() {
        for number in 0..chunks {
            let mut needs: Vec<u32> =
                children(rank).iter().filter_map(|c| up.get(*c)?.get(number).copied()).collect();
            let own = &up[rank];
            needs.extend(number.checked_sub(outstanding).and_then(|before| own.get(before)));
            let when = ready(&needs, &it.begin[rank], into);
            let sent = into.send(it.ranks[rank], it.ranks[(rank - 1) / 2], chunk(number), when)?;
            up[rank].push(sent);
        }
    }
    for rank in 1..ranks {
        let parent = (rank - 1) / 2;
        for number in 0..chunks {
            let mut needs: Vec<u32> = match parent {
                0 => children(0).iter().filter_map(|c| up.get(*c)?.get(number).copied()).collect(),
                _ => vec![down[parent][number]],
            };
            let own: &Vec<u32> = &down[rank];
            needs.extend(number.checked_sub(outstanding).and_then(|before| own.get(before)));
            let when = ready(&needs, &it.begin[parent], into);
            let sent = into.send(it.ranks[parent], it.ranks[rank], chunk(number), when)?;
            down[rank].push(sent);
        }
    }
    down[0] = children(0).iter().filter_map(|c| up.get(*c)).flatten().copied().collect();
    Ok(down)
}

/// Returns when a chunk can be sent. A rank that needs nothing waits for its iteration. One that needs something has begun
/// its own: whatever it needs was sent by ranks that began theirs, and those ended the iteration before later than it did.
fn ready(needs: &[u32], begin: &Begin, into: &mut Builder<'_>) -> When {
    if needs.is_empty() { begin.when } else { into.after(needs, Duration::ZERO) }
}
