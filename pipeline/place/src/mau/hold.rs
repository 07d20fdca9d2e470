//! Nodes held back, when outcomes find no carrier: what decides comes nearer to what runs on it.
//!
//! A search in small steps: each holds one more node back and schedules anew; the step that leaves the fewest outcomes
//! behind is taken, as long as there are steps.

use super::{Cost, Tables};
use crate::data::Owner;
use crate::next_table::{Carrier, LongBranch};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The earliest stages of nodes that are held back.
pub(super) type Holds = BTreeMap<Owner, u8>;

/// Schedules that a search may cost.
const SCHEDULES: u32 = 48;

/// Branches on tags, beside the one left behind, whose beginnings are held back to make room: the longest.
const OTHERS: usize = 4;

/// Holds nodes back until every outcome arrives or nothing more can be tried; returns the best found.
pub(super) fn search(
    start: Tables,
    key: impl Fn(&Cost) -> (usize, u64, u64, usize),
    mut schedule: impl FnMut(&Holds) -> Option<Tables>,
) -> Tables {
    let (mut best, mut held) = (start, Holds::new());
    let mut left = SCHEDULES;
    let mut seen: BTreeSet<Holds> = BTreeSet::from([held.clone()]);
    // A step that is no better than the one before leads on from a plateau; the best is remembered.
    let mut at = best.clone();
    while best.cost.uncarried > 0 {
        let mut next: Option<(Tables, Holds)> = None;
        for (owner, stage) in steps(&at) {
            let mut holds = held.clone();
            let earliest = holds.entry(owner).or_default();
            *earliest = stage.max(*earliest);
            if left == 0 || !seen.insert(holds.clone()) {
                continue;
            }
            left -= 1;
            let Some(found) = schedule(&holds) else { continue };
            if next.as_ref().is_none_or(|(n, _)| key(&found.cost) < key(&n.cost)) {
                let better = found.cost.uncarried < at.cost.uncarried;
                next = Some((found, holds));
                if better {
                    break;
                }
            }
        }
        let Some((found, holds)) = next else { break };
        if key(&found.cost) < key(&best.cost) {
            best = found.clone();
        }
        (at, held) = (found, holds);
    }
    best
}

/// Nodes to hold back and until which stage, the most promising first.
fn steps(tables: &Tables) -> Vec<(Owner, u8)> {
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
