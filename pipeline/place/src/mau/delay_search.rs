//! Local search that delays nodes, if outcomes have no carrier: a node that decides comes nearer to the nodes that
//! run on its outcome.
//!
//! Each step delays one more node, schedules everything again for each candidate, and keeps the schedule with the least
//! cost. At most `SCHEDULES` schedules are tried; the best one is returned. Module `outcome_carriers` assigns carriers
//! within one schedule.

use super::{Cost, PlacedTables};
use crate::data::Owner;
use crate::next_table::{Carrier, LongBranch};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Earliest stages of delayed nodes; an absent node is not delayed.
pub(super) type EarliestStages = BTreeMap<Owner, u8>;

/// Most schedules that a search tries.
const SCHEDULES: u32 = 48;

/// Number of branches on tags whose starts are delayed to make room for one without a carrier: the longest ones.
const OTHERS: usize = 4;

/// Delays nodes until every outcome has a carrier or no step is left; returns the best schedule found, at worst
/// `start`.
pub(super) fn search(
    start: PlacedTables,
    key: impl Fn(&Cost) -> (usize, u64, u64, usize),
    mut schedule: impl FnMut(&EarliestStages) -> Option<PlacedTables>,
) -> PlacedTables {
    let (mut best, mut delayed) = (start, EarliestStages::new());
    let mut left = SCHEDULES;
    let mut seen: BTreeSet<EarliestStages> = BTreeSet::from([delayed.clone()]);
    // The search continues from a step that is no better than the previous one, so that it can leave a plateau.
    let mut at = best.clone();
    while best.cost.uncarried > 0 {
        let mut next: Option<(PlacedTables, EarliestStages)> = None;
        for (owner, stage) in steps(&at) {
            let mut candidate = delayed.clone();
            let earliest = candidate.entry(owner).or_default();
            *earliest = stage.max(*earliest);
            if left == 0 || !seen.insert(candidate.clone()) {
                continue;
            }
            left -= 1;
            let Some(found) = schedule(&candidate) else { continue };
            if next.as_ref().is_none_or(|(n, _)| key(&found.cost) < key(&n.cost)) {
                let better = found.cost.uncarried < at.cost.uncarried;
                next = Some((found, candidate));
                if better {
                    break;
                }
            }
        }
        let Some((found, candidate)) = next else { break };
        if key(&found.cost) < key(&best.cost) {
            best = found.clone();
        }
        (at, delayed) = (found, candidate);
    }
    best
}

/// Returns the nodes to delay, each with its new earliest stage, the most promising step first.
fn steps(tables: &PlacedTables) -> Vec<(Owner, u8)> {
    let branches = &tables.long_branches;
    let mut steps = Vec::new();
    let mut add = |gress, node, stage| {
        let step = (Owner { gress, node }, stage);
        if !steps.contains(&step) {
            steps.push(step);
        }
    };
    for b in branches.iter().filter(|b| b.by == Carrier::Nothing) {
        add(b.gress, b.from, b.to_stage - 1);
        let mut others: Vec<&LongBranch> =
            branches.iter().filter(|o| *o != b && o.collides(b) && o.by != Carrier::Nothing).collect();
        others.sort_by_key(|o| (o.tag().is_none(), Reverse(o.between().len())));
        for o in others.into_iter().take(OTHERS) {
            add(o.gress, o.from, o.to_stage - 1);
        }
        add(b.gress, b.from, b.from_stage + 1);
        add(b.gress, b.to, b.to_stage + 1);
    }
    steps
}
