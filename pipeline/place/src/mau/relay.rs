//! What carries outcomes over stages: tags, and where there are too few, the next-table pointer, gateways that test
//! again, or relays, tables that hand an outcome on from stage to stage.

use super::super::data::Owner;
use super::super::next_table::{Carrier, LongBranch, uncarried};
use super::fit::Fit;
use super::pointer::Pointer;
use super::pool::{Content, Mark, Pool};
use super::retest::Retester;
use sluice_asic::chip::{Column, MauSpec};
use std::cmp::Reverse;

/// By what outcomes may be carried beside tags and relays.
pub(super) struct Means<'a> {
    /// Conditions tested again.
    pub(super) again: Option<&'a Retester<'a>>,
    /// The next-table pointer.
    pub(super) pointer: Option<&'a Pointer<'a>>,
}

/// How many branches may give way one after the other to make room for one.
const DEPTH: u32 = 3;

/// How many branches at most leave one tag, or the pointer, for one.
const LEAVING: usize = 3;

/// How many times room is looked for before a placement is given up.
const TRIES: u32 = 2_000;

/// Gives every branch a carrier, if one can be found.
///
/// The pointer comes last. If something has no carrier without it, several choices of what is on it are tried, and what
/// then has none is preferred for it in further ones; the best is kept. What still has none makes others give way, as
/// far as each finds another carrier.
pub(super) fn carry(pools: &mut [Pool], fit: &Fit<'_>, means: &Means<'_>, branches: &mut [LongBranch]) {
    let mut carriers = Carriers { pools, fit, means, tries: TRIES };
    let marks = carriers.marks();
    let mut best = (carriers.attempt(branches, None), None);
    if best.0.0 == 0 {
        return;
    }
    let all: Vec<usize> = (0..branches.len()).collect();
    let mut orders = Vec::new();
    if means.pointer.is_some() {
        orders = vec![all.clone(), all.clone(), all];
        orders[0].sort_by_key(|&i| Reverse(branches[i].between().len()));
        orders[1].sort_by_key(|&i| branches[i].between().len());
    }
    while let Some(order) = orders.pop() {
        carriers.roll_back(&marks);
        let key = carriers.attempt(branches, Some(&order));
        if key < best.0 {
            // Whatever has no carrier might have one on the pointer.
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
    means: &'a Means<'a>,
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

    /// Puts branches on the pointer in the given order, where they do not disturb those before, and finds carriers for the
    /// others; says how many have none, and how many units it took.
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

    fn point(&self, branches: &mut [LongBranch], i: usize) {
        let may = self.means.pointer.is_some_and(|p| p.takes(branches, i));
        if may {
            branches[i].by = Carrier::Pointer;
        }
    }

    /// Finds a carrier for a branch, from which others may have to leave for another one; nothing changes if they cannot.
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
        let pointed = self.means.pointer.and_then(|p| p.in_the_way(branches, i));
        let mut ways: Vec<(Carrier, Vec<usize>)> = tags.map(on_tag).collect();
        ways.extend(pointed.map(|there| (Carrier::Pointer, there)));
        ways.retain(|(_, there)| there.len() <= LEAVING);
        ways.sort_by_key(|(_, there)| there.len());
        for (by, there) in ways {
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

    /// A carrier that nobody has to leave.
    fn unshared(&mut self, branches: &[LongBranch], i: usize) -> Option<Carrier> {
        let mau = &self.fit.chip.mau;
        let mut tags = 0..u8::try_from(mau.long_branch_tags).unwrap_or(u8::MAX);
        let free = |t: &u8| !branches.iter().any(|b| b.tag() == Some(*t) && b.collides(&branches[i]));
        if let Some(tag) = tags.find(free) {
            return Some(Carrier::Tag(tag));
        }
        if self.means.pointer.is_some_and(|p| p.takes(branches, i)) {
            return Some(Carrier::Pointer);
        }
        let again = self.means.again.and_then(|again| again.retest(self.fit, self.pools, branches, i));
        again.or_else(|| relays(self.pools, mau, &branches[i]).map(Carrier::Relays))
    }

    /// A tag or a substitute. When no tag is free, one of the branches in each other's way makes room: the longest whose
    /// conditions can be tested again, else the shortest that finds room for relays, else the one that ends last.
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
        // Only a branch that is alone in the way can make room for this one.
        let alone = tags.filter_map(|t| {
            let mut there = on(t);
            there.next().filter(|_| there.next().is_none()).map(|(j, b)| (b.between().len(), j, Some(t)))
        });
        let mut ways: Vec<(usize, usize, Option<u8>)> = alone.collect();
        ways.push((branches[i].between().len(), i, None));
        ways.sort_unstable();
        let pointer = self.means.pointer.filter(|_| pointed);
        let pointed = ways.iter().rev().find(|(_, j, _)| pointer.is_some_and(|p| p.takes(branches, *j)));
        let mut found = pointed.map(|&(_, j, tag)| (j, tag, Carrier::Pointer));
        if found.is_none()
            && let Some(again) = self.means.again
        {
            let mut longest = ways.iter().rev();
            found = longest
                .find_map(|&(_, j, tag)| Some((j, tag, again.retest(self.fit, self.pools, branches, j)?)));
        }
        if found.is_none() {
            let mut shortest = ways.iter();
            found = shortest.find_map(|&(_, j, tag)| {
                Some((j, tag, Carrier::Relays(relays(self.pools, mau, &branches[j])?)))
            });
        }
        let last = ways.iter().max_by_key(|(_, j, tag)| (branches[*j].to_stage, tag.is_none()));
        let Some((j, tag, by)) = found.or_else(|| last.map(|&(_, j, tag)| (j, tag, Carrier::Nothing))) else {
            return;
        };
        if let Some(tag) = tag {
            branches[i].by = Carrier::Tag(tag);
        }
        branches[j].by = by;
    }
}

/// A logical id and a result bus in each stage between, as a keyless table has (model: chip §3.6); nothing if a stage has
/// no room.
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
        pool.take((Column::LogicalTable, *id, 0), owner, Content::Own, "relay");
        pool.take((Column::ExactResultBus, *row, *bus), owner, Content::Own, "relay");
    }
    Some(room.into_iter().map(|(id, _)| id as u8).collect())
}
