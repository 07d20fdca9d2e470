//! Assigns carriers to outcomes that are used in a later stage than they are decided in.
//!
//! A carrier is a long-branch tag, the next-table pointer (module `pointer`), a gateway that tests the condition again
//! (module `retest`), or relay tables that pass the outcome on from stage to stage. Tags are preferred. Module
//! `delay_search` changes the schedule if some outcome has none.

use super::super::data::Owner;
use super::super::next_table::{Carrier, LongBranch, uncarried};
use super::super::purpose::Purpose;
use super::fit::Fit;
use super::pointer::Pointer;
use super::pool::{Content, Mark, Pool};
use super::retest::Retester;
use sluice_asic::chip::{Column, MauSpec};
use std::cmp::Reverse;

/// Carriers that options can turn off; tags and relays are always allowed.
pub(super) struct OptionalCarriers<'a> {
    /// Gateways that test a condition again.
    pub(super) retest: Option<&'a Retester<'a>>,
    /// Next-table pointer.
    pub(super) pointer: Option<&'a Pointer<'a>>,
}

/// Most moves in a chain, in which each branch takes the carrier of the next, to make room for one branch.
const DEPTH: u32 = 3;

/// Most branches that leave one tag, or the pointer, for one branch.
const LEAVING: usize = 3;

/// Most calls of [`Carriers::make_room`] for one schedule.
const TRIES: u32 = 2_000;

/// Gives every branch a carrier, if one can be found; the others keep [`Carrier::Nothing`].
///
/// 1. All branches get carriers in order, without the pointer.
/// 2. If one has none, several orders of branches for the pointer are tried. A branch without a carrier comes first in
///    further orders. The best assignment is kept.
/// 3. A branch that still has none makes other branches move to another carrier, at most `DEPTH` deep.
pub(super) fn carry(
    pools: &mut [Pool],
    fit: &Fit<'_>,
    optional: &OptionalCarriers<'_>,
    branches: &mut [LongBranch],
) {
    let mut carriers = Carriers { pools, fit, optional, tries: TRIES };
    let marks = carriers.marks();
    let mut best = (carriers.attempt(branches, None), None);
    if best.0.0 == 0 {
        return;
    }
    let all: Vec<usize> = (0..branches.len()).collect();
    let mut orders = Vec::new();
    if optional.pointer.is_some() {
        orders = vec![all.clone(), all.clone(), all];
        orders[0].sort_by_key(|&i| Reverse(branches[i].between().len()));
        orders[1].sort_by_key(|&i| branches[i].between().len());
    }
    while let Some(order) = orders.pop() {
        carriers.roll_back(&marks);
        let key = carriers.attempt(branches, Some(&order));
        if key < best.0 {
            // A branch without a carrier is tried first on the pointer.
            let left = (0..branches.len()).filter(|&i| branches[i].by == Carrier::Nothing);
            orders = left
                .map(|i| [i].into_iter().chain(order.iter().copied().filter(|j| *j != i)).collect())
                .collect();
            best = (key, Some(order));
        }
    }
    carriers.roll_back(&marks);
    carriers.attempt(branches, best.1.as_deref());
    for i in 0..branches.len() {
        if branches[i].by == Carrier::Nothing {
            carriers.make_room(branches, i, DEPTH);
        }
    }
}

struct Carriers<'a, 'f> {
    pools: &'a mut [Pool],
    fit: &'a Fit<'f>,
    optional: &'a OptionalCarriers<'a>,
    tries: u32,
}

impl Carriers<'_, '_> {
    fn marks(&self) -> Vec<Mark> {
        self.pools.iter().map(Pool::mark).collect()
    }

    fn roll_back(&mut self, marks: &[Mark]) {
        for (pool, mark) in self.pools.iter_mut().zip(marks) {
            pool.roll_back(*mark);
        }
    }

    /// Puts branches on the pointer in the order `pointed`, unless they would disturb one that is on it, and finds carriers
    /// for the others. Returns the number of branches without a carrier, and of units taken.
    fn attempt(&mut self, branches: &mut [LongBranch], pointed: Option<&[usize]>) -> (usize, usize) {
        let before = self.marks();
        for b in branches.iter_mut() {
            b.by = Carrier::Nothing;
        }
        for &i in pointed.unwrap_or_default() {
            self.point(branches, i);
        }
        for i in 0..branches.len() {
            if branches[i].by == Carrier::Nothing {
                self.one(branches, i, pointed.is_some());
            }
        }
        let taken = self.marks().iter().zip(&before).map(|(now, then)| now.since(*then)).sum();
        (uncarried(branches), taken)
    }

    /// Puts a branch on the pointer if there is room.
    fn point(&self, branches: &mut [LongBranch], i: usize) {
        let may = self.optional.pointer.is_some_and(|p| p.takes(branches, i));
        if may {
            branches[i].by = Carrier::Pointer;
        }
    }

    /// Finds a carrier for a branch, and other carriers for the branches that have to leave it. Changes nothing and returns
    /// false if one of these finds no other carrier.
    fn make_room(&mut self, branches: &mut [LongBranch], i: usize, depth: u32) -> bool {
        if self.tries == 0 {
            return false;
        }
        self.tries -= 1;
        if let Some(by) = self.unshared(branches, i) {
            branches[i].by = by;
            return true;
        }
        if depth == 0 {
            return false;
        }
        let tags = 0..u8::try_from(self.fit.chip.mau.long_branch_tags).unwrap_or(u8::MAX);
        let on_tag = |t: u8| {
            let there = (0..branches.len()).filter(|&j| branches[j].tag() == Some(t));
            (Carrier::Tag(t), there.filter(|&j| branches[j].collides(&branches[i])).collect::<Vec<_>>())
        };
        let pointed = self.optional.pointer.and_then(|p| p.in_the_way(branches, i));
        let mut candidates: Vec<(Carrier, Vec<usize>)> = tags.map(on_tag).collect();
        candidates.extend(pointed.map(|there| (Carrier::Pointer, there)));
        candidates.retain(|(_, there)| there.len() <= LEAVING);
        candidates.sort_by_key(|(_, there)| there.len());
        for (by, there) in candidates {
            let (before, marks) = (branches.to_vec(), self.marks());
            branches[i].by = by;
            for &j in &there {
                branches[j].by = Carrier::Nothing;
            }
            if there
                .iter()
                .all(|&j| branches[j].by != Carrier::Nothing || self.make_room(branches, j, depth - 1))
            {
                return true;
            }
            branches.clone_from_slice(&before);
            self.roll_back(&marks);
        }
        false
    }

    /// Returns a carrier that no other branch has to leave.
    fn unshared(&mut self, branches: &[LongBranch], i: usize) -> Option<Carrier> {
        let mau = &self.fit.chip.mau;
        let mut tags = 0..u8::try_from(mau.long_branch_tags).unwrap_or(u8::MAX);
        let free = |t: &u8| !branches.iter().any(|b| b.tag() == Some(*t) && b.collides(&branches[i]));
        if let Some(tag) = tags.find(free) {
            return Some(Carrier::Tag(tag));
        }
        if self.optional.pointer.is_some_and(|p| p.takes(branches, i)) {
            return Some(Carrier::Pointer);
        }
        let retest = self.optional.retest.and_then(|retest| retest.retest(self.fit, self.pools, branches, i));
        retest.or_else(|| relays(self.pools, mau, &branches[i]).map(Carrier::Relays))
    }

    /// Gives a branch a free tag. If none is free, one of the branches that compete for a tag gets another carrier: the
    /// longest whose conditions can be tested again, else the shortest with room for relays. If there is neither, the branch
    /// that ends last stays without a carrier.
    fn one(&mut self, branches: &mut [LongBranch], i: usize, pointed: bool) {
        let mau = &self.fit.chip.mau;
        let on = |tag: u8| {
            let branch = &branches[i];
            branches.iter().enumerate().filter(move |(_, b)| b.tag() == Some(tag) && b.collides(branch))
        };
        let tags = 0..u8::try_from(mau.long_branch_tags).unwrap_or(u8::MAX);
        if let Some(free) = tags.clone().find(|t| on(*t).next().is_none()) {
            branches[i].by = Carrier::Tag(free);
            return;
        }
        // A tag with two or more colliding branches is not considered.
        let alone = tags.filter_map(|t| {
            let mut there = on(t);
            there.next().filter(|_| there.next().is_none()).map(|(j, b)| (b.between().len(), j, Some(t)))
        });
        let mut candidates: Vec<(usize, usize, Option<u8>)> = alone.collect();
        candidates.push((branches[i].between().len(), i, None));
        candidates.sort_unstable();
        let pointer = self.optional.pointer.filter(|_| pointed);
        let pointed =
            candidates.iter().rev().find(|(_, j, _)| pointer.is_some_and(|p| p.takes(branches, *j)));
        let mut found = pointed.map(|&(_, j, tag)| (j, tag, Carrier::Pointer));
        if found.is_none()
            && let Some(retest) = self.optional.retest
        {
            let mut longest = candidates.iter().rev();
            found = longest
                .find_map(|&(_, j, tag)| Some((j, tag, retest.retest(self.fit, self.pools, branches, j)?)));
        }
        if found.is_none() {
            let mut shortest = candidates.iter();
            found = shortest.find_map(|&(_, j, tag)| {
                Some((j, tag, Carrier::Relays(relays(self.pools, mau, &branches[j])?)))
            });
        }
        let last = candidates.iter().max_by_key(|(_, j, tag)| (branches[*j].to_stage, tag.is_none()));
        let Some((j, tag, by)) = found.or_else(|| last.map(|&(_, j, tag)| (j, tag, Carrier::Nothing))) else {
            return;
        };
        if let Some(tag) = tag {
            branches[i].by = Carrier::Tag(tag);
        }
        branches[j].by = by;
    }
}

/// Takes a logical id and a result bus in each stage between, as a keyless table has them (model: chip §3.6). Returns the
/// logical ids; takes nothing and returns `None` if a stage has no room.
fn relays(pools: &mut [Pool], mau: &MauSpec, branch: &LongBranch) -> Option<Vec<u8>> {
    let owner = Owner { gress: branch.gress, node: branch.to };
    let ids = || 0..mau.logical_tables as u16;
    let buses =
        || (0..mau.sram_rows as u16).flat_map(|r| (0..mau.result_buses_per_row as u16).map(move |b| (r, b)));
    let room: Vec<(u16, (u16, u16))> = branch
        .between()
        .map(|stage| {
            let pool = pools.get(usize::from(stage))?;
            let id = ids().find(|id| pool.is_free(Column::LogicalTable, *id, 0))?;
            Some((id, buses().find(|&(r, b)| pool.is_free(Column::ExactResultBus, r, b))?))
        })
        .collect::<Option<_>>()?;
    for (stage, (id, (row, bus))) in branch.between().zip(&room) {
        let Some(pool) = pools.get_mut(usize::from(stage)) else { continue };
        pool.take((Column::LogicalTable, *id, 0), owner, Content::Own, Purpose::Relay);
        pool.take((Column::ExactResultBus, *row, *bus), owner, Content::Own, Purpose::Relay);
    }
    Some(room.into_iter().map(|(id, _)| id as u8).collect())
}
