//! What carries outcomes over stages: tags, and where there are too few, gateways that test again, or relays, tables that
//! hand an outcome on from stage to stage.
//!
//! What may not live here: which outcomes cross stages.

use super::super::data::Owner;
use super::super::next_table::{Carrier, LongBranch};
use super::fit::Fit;
use super::pool::{Content, Pool};
use super::retest::Retester;
use sluice_asic::chip::{Column, MauSpec};

/// Gives every branch a tag or a substitute, in order. When no tag is free, one of the branches in each other's way makes
/// room: the longest whose conditions can be tested again, else the shortest that finds room for relays.
pub(super) fn carry(
    pools: &mut [Pool],
    fit: &Fit<'_>,
    again: Option<&Retester<'_>>,
    branches: &mut [LongBranch],
) {
    let mau = &fit.chip.mau;
    for i in 0..branches.len() {
        let on = |tag: u8| {
            let (before, branch) = (&branches[..i], &branches[i]);
            before.iter().enumerate().filter(move |(_, b)| b.tag() == Some(tag) && b.collides(branch))
        };
        let tags = 0..u8::try_from(mau.long_branch_tags).unwrap_or(u8::MAX);
        if let Some(free) = tags.clone().find(|t| on(*t).next().is_none()) {
            branches[i].by = Carrier::Tag(free);
            continue;
        }
        // Only a branch that is alone in the way can make room for this one.
        let alone = tags.filter_map(|t| {
            let mut there = on(t);
            there.next().filter(|_| there.next().is_none()).map(|(j, b)| (b.between().len(), j, Some(t)))
        });
        let mut ways: Vec<(usize, usize, Option<u8>)> = alone.collect();
        ways.push((branches[i].between().len(), i, None));
        ways.sort_unstable();
        let tested = again.and_then(|again| {
            let mut longest = ways.iter().rev();
            longest.find_map(|&(_, j, tag)| Some((j, tag, again.retest(fit, pools, &branches[j])?)))
        });
        let found = tested.or_else(|| {
            let mut shortest = ways.iter();
            shortest
                .find_map(|&(_, j, tag)| Some((j, tag, Carrier::Relays(relays(pools, mau, &branches[j])?))))
        });
        let Some((j, tag, by)) = found else { continue };
        if let Some(tag) = tag {
            branches[i].by = Carrier::Tag(tag);
        }
        branches[j].by = by;
    }
}

/// A logical id and a result bus in each stage between, as a keyless table has (facts: asic §3.6); nothing if a stage has
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
