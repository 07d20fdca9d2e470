//! The least congested uplinks, and a random one of them.

use super::Params;
use super::feedback::Known;
use super::params::{FEW, UPLINKS};
use super::ties::{Words, ties};
use crate::leaf::Leaf;
use sluice_build::*;

/// Congestion of an uplink that does not lead to the destination's leaf; above every measured value (8 to 15).
pub(super) const NOWHERE: u64 = 31;

/// Congestion of one of two uplinks
#[derive(Header, Debug)]
struct Winner {
    /// Lower congestion of a pair of uplinks; in the first instance, at the end, the lowest of all uplinks
    least: Bits<8>,
}

/// Uplinks that may carry a new flowlet
#[derive(Header, Debug)]
pub(super) struct Best {
    /// Random number, 0 to 255, that picks one of several least congested uplinks
    coin: Bits<8>,
    /// 1 if so many uplinks are least congested that `second` has those that are not
    pub(super) many: Bits<1>,
    /// Generation and number of the least congested uplink that the coin picks (see [`Words::first`])
    pub(super) first: Bits<32>,
    /// Generation, and the uplinks with which the flow's previous one is compared (see [`Words::second`])
    pub(super) second: Bits<32>,
    /// 1 if the gap since the last packet ended the flowlet, so that the packet begins a new one
    pub(super) fresh: Bits<1>,
}

/// Finds the least congested uplinks: a tournament of pairs, in rounds, gives the lowest congestion.
#[stage_program]
pub(super) fn least(ig: &GressBuilder<'_>, leaf: Leaf, known: &Known, p: &Params) -> Best {
    let m = leaf.m;
    let best = ig.metadata::<Best>();
    let uplinks = &known.uplinks;
    let mut winners = Vec::new();
    for _ in uplinks.chunks(2) {
        let winner = ig.metadata::<Winner>();
        winners.push(winner);
    }
    let reach = reach(ig, leaf, known, p);
    /// Takes the lower congestion of each pair of uplinks
    let better = ig.action(|a| {
        for (winner, pair) in winners.iter().zip(uplinks.chunks(2)) {
            winner.least = pair[0].path.min(pair[pair.len() - 1].path);
        }
    });
    let mut rounds = Vec::new();
    let mut left = winners.len();
    while left > 1 {
        let pairs: Vec<_> = (0..left)
            .step_by(2)
            .map(|n| (winners[n / 2], winners[n], winners[(n + 1).min(left - 1)]))
            .collect();
        /// Takes the lower congestion of the winners of two pairs
        let least = ig.action(|a| {
            for (winner, one, other) in pairs {
                winner.least = one.least.min(other.least);
            }
        });
        rounds.push(least);
        left = left.div_ceil(2);
    }
    /// Subtracts the lowest congestion from each uplink's
    let compare = ig.action(|a| {
        for uplink in uplinks {
            uplink.path = uplink.path - winners[0].least;
        }
    });
    let coin = ig.random::<8>();
    let equals = equals(ig, m.generation, best, known, p);
    ig.control(|c| {
        if m.group != 0 {
            best.coin = coin.get();
            reach.apply();
            better.call();
            for round in &rounds {
                round.call();
            }
            compare.call();
            equals.apply();
        }
    });
    best
}

/// Declares the table of the uplinks that lead to a leaf.
#[stage_program]
#[allow(clippy::let_and_return, reason = "a `let` gives a declaration its name")]
fn reach(ig: &GressBuilder<'_>, leaf: Leaf, known: &Known, p: &Params) -> TableRef {
    let (m, uplinks) = (leaf.m, &known.uplinks);
    let doc = "Lower bound of each uplink's congestion: 0 if the uplink leads to the leaf, 31 if it does not";
    ig.named("set_reach", doc);
    let set_reach = if p.many() {
        ig.action(
            |a,
             first: Arg<8>,
             second: Arg<8>,
             third: Arg<8>,
             fourth: Arg<8>,
             fifth: Arg<8>,
             sixth: Arg<8>,
             seventh: Arg<8>,
             eighth: Arg<8>| {
                for (uplink, base) in
                    uplinks.iter().zip([first, second, third, fourth, fifth, sixth, seventh, eighth])
                {
                    uplink.path = uplink.path.max(base);
                }
            },
        )
    } else {
        ig.action(|a, first: Arg<8>, second: Arg<8>, third: Arg<8>, fourth: Arg<8>| {
            for (uplink, base) in uplinks.iter().zip([first, second, third, fourth]) {
                uplink.path = uplink.path.max(base);
            }
        })
    };
    /// Destination leaf to the uplinks that lead to it; without an entry all uplinks do
    let reach = ig.table([exact(m.group)]).actions([set_reach]).size(p.groups()).build();
    reach
}

/// Declares the table of ties: which uplinks are least congested, and the random number, give the words of a choice.
#[stage_program]
fn equals(ig: &GressBuilder<'_>, generation: Bits<32>, best: Best, known: &Known, p: &Params) -> TableRef {
    let few = ig.action(|a, first: Arg<32>, second: Arg<32>| {
        best.first = generation | first;
        best.second = generation | second;
    });
    let many = ig.action(|a, first: Arg<32>, second: Arg<32>| {
        best.first = generation | first;
        best.second = generation | second;
        best.many = 1;
    });
    let rows = ties(p.count(), if p.many() { UPLINKS } else { FEW });
    let doc = "Set of least congested uplinks (those with 0) and coin to the uplink for a new flowlet";
    ig.named("equals", doc);
    match p.count() {
        0 | 1 => ties_table::<2>(ig, best, known, [few, many], &rows),
        2 => ties_table::<3>(ig, best, known, [few, many], &rows),
        3 => ties_table::<4>(ig, best, known, [few, many], &rows),
        4 => ties_table::<5>(ig, best, known, [few, many], &rows),
        5 => ties_table::<6>(ig, best, known, [few, many], &rows),
        6 => ties_table::<7>(ig, best, known, [few, many], &rows),
        7 => ties_table::<8>(ig, best, known, [few, many], &rows),
        _ => ties_table::<9>(ig, best, known, [few, many], &rows),
    }
}

/// Declares the table of ties with a column for each uplink and one for the random number.
fn ties_table<const COLUMNS: usize>(
    ig: &GressBuilder<'_>,
    best: Best,
    known: &Known,
    [few, many]: [ActionRef; 2],
    rows: &[Words],
) -> TableRef {
    let key = |n: usize| known.uplinks.get(n).map_or_else(|| range(best.coin), |uplink| ternary(uplink.path));
    let mut table = ig.table::<COLUMNS>(std::array::from_fn(key)).actions([few, many]);
    for row in rows {
        let cell = |n: usize| match n {
            n if n + 1 == COLUMNS => Cell::Between(row.coin.0.into(), row.coin.1.into()),
            n if row.set >> n & 1 == 1 => Cell::Value(0),
            _ => Cell::Any,
        };
        let action = if row.many { many } else { few };
        let args = vec![row.first.into(), row.second.into()];
        table = table.entries([Row::new(std::array::from_fn(cell), action, args)]);
    }
    table.build()
}

/// Chooses the link of a spine by the hash of the outer addresses and ports.
#[stage_program]
pub(super) fn by_hash(ig: &GressBuilder<'_>, leaf: Leaf) {
    let m = leaf.m;
    let low = ig.hash::<16>(HashAlgorithm::Identity).inputs(list![m.flow.slice::<15, 0, 16>()]).build();
    let draw = ig.action(|a| m.draw = low.get());
    ig.control(|c| {
        if m.group != 0 {
            draw.call();
        }
    });
}
