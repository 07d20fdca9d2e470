//! Hash bits and hash distribution of a stage.
//!
//! The choice of hash groups and bits (model: chip §1.2, §3.1, §11.1). A group's bits belong to one node each; several
//! nodes may use one group.

use super::super::data::Owner;
use super::super::purpose::Purpose;
use super::pool::{Content, Pool};
use sluice_asic::chip::{Column, MauSpec};
use std::collections::BTreeSet;

/// Source of the address of a cuckoo way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WayHash {
    /// Hash group.
    pub(crate) group: u16,
    /// RAM index slice.
    slice: u16,
    /// Select bits.
    select: Vec<u16>,
}

/// Takes index slices and select bits for ways of these sizes (in RAMs, powers of two). Ways beyond the slices of a
/// group reuse the slices with other select bits; ways for which a group has no bits left use the next group. `None`
/// if the groups do not suffice.
pub(crate) fn ways(pool: &mut Pool, mau: &MauSpec, owner: Owner, sizes: &[u32]) -> Option<Vec<WayHash>> {
    let mut placed: Vec<WayHash> = Vec::new();
    while placed.len() < sizes.len() {
        let rest = &sizes[placed.len()..];
        let mut best: Vec<WayHash> = Vec::new();
        for group in 0..mau.hash_groups as u16 {
            if placed.iter().any(|w| w.group == group) {
                continue;
            }
            let found = ways_in_group(pool, mau, group, rest);
            if found.len() > best.len() {
                best = found;
            }
        }
        if best.is_empty() {
            return None;
        }
        placed.extend(best);
    }
    for (i, way) in placed.iter().enumerate() {
        let width = mau.hash_index_bits as u16;
        let index = way.slice * width..(way.slice + 1) * width;
        for bit in index.chain(way.select.iter().copied()) {
            pool.take((Column::HashBit, way.group, bit), owner, Content::Own, Purpose::WayAddress(i as u16));
        }
    }
    Some(placed)
}

/// Returns as many of the first ways as one group has bits for; takes nothing.
fn ways_in_group(pool: &Pool, mau: &MauSpec, group: u16, sizes: &[u32]) -> Vec<WayHash> {
    let width = mau.hash_index_bits as u16;
    let free = |bit: u16| free(pool, group, bit);
    let slices: Vec<u16> =
        (0..mau.hash_index_slices as u16).filter(|s| (s * width..(s + 1) * width).all(free)).collect();
    let first = first_select(mau);
    let mut select = (first..first + mau.hash_select_bits as u16).filter(|&b| free(b));
    let mut found = Vec::new();
    for (i, size) in sizes.iter().enumerate() {
        // Ways on one slice are not independent, so slices are reused only if all slices of the group are free.
        let reuse = slices.len() as u32 == mau.hash_index_slices;
        let turn = if reuse { i.checked_rem(slices.len()).unwrap_or(i) } else { i };
        let Some(&slice) = slices.get(turn) else { break };
        let bits: Vec<u16> = select.by_ref().take(size.max(&1).ilog2() as usize).collect();
        if bits.len() < size.max(&1).ilog2() as usize {
            break;
        }
        found.push(WayHash { group, slice, select: bits });
    }
    found
}

/// First select bit of a group.
pub(crate) fn first_select(mau: &MauSpec) -> u16 {
    (mau.hash_index_slices * mau.hash_index_bits) as u16
}

/// Takes the select bits at these offsets in one group, for a gateway. Returns the group; `None` if no group has all
/// of them.
pub(crate) fn gateway(
    pool: &mut Pool,
    mau: &MauSpec,
    owner: Owner,
    offsets: impl Iterator<Item = u16> + Clone,
) -> Option<u16> {
    let first = first_select(mau);
    let group = (0..mau.hash_groups as u16).find(|&g| offsets.clone().all(|b| free(pool, g, first + b)))?;
    for bit in offsets {
        pool.take((Column::HashBit, group, first + bit), owner, Content::Own, Purpose::Condition);
    }
    Some(group)
}

/// Returns true if the bit is free and no bit of its byte goes to a meter ALU, whose hash input is masked by whole
/// bytes.
fn free(pool: &Pool, group: u16, bit: u16) -> bool {
    let byte = bit / 8 * 8;
    pool.is_free(Column::HashBit, group, bit)
        && !(byte..byte + 8)
            .any(|b| matches!(pool.content(Column::HashBit, group, b), Some(Content::Shared(_))))
}

/// Takes these bits of one group for a meter ALU; their bytes must have no other users. Returns false if no group has
/// them.
pub(crate) fn alu(
    pool: &mut Pool,
    mau: &MauSpec,
    owner: Owner,
    (shared, purpose): (Content, &Purpose),
    bits: &BTreeSet<u16>,
) -> bool {
    let all = mau.hash_group_bits() as u16;
    let whole = |byte: u16| byte * 8..(byte * 8 + 8).min(all);
    let bytes: BTreeSet<u16> = bits.iter().map(|b| b / 8).collect();
    let fits =
        |group: &u16| bytes.iter().all(|&b| whole(b).all(|bit| pool.is_free(Column::HashBit, *group, bit)));
    let Some(group) = (0..mau.hash_groups as u16).find(fits).filter(|_| bits.iter().all(|b| *b < all)) else {
        return false;
    };
    for &bit in bits {
        pool.take((Column::HashBit, group, bit), owner, shared, purpose.clone());
    }
    true
}

/// Bits that go through hash distribution.
pub(crate) struct Distributed {
    /// Number of bits.
    pub(crate) bits: u32,
    /// Number of the computation; `None` if nodes do not share it.
    pub(crate) what: Option<u32>,
    /// Purpose.
    pub(crate) purpose: Purpose,
}

/// Takes hash distribution slices of `dist_bits` bits each, or joins the slices of a node with the same computation.
/// One hash group feeds a unit; slice `s` gets the group's bits from `s * dist_bits` on. The error is the column that
/// ran out.
pub(crate) fn distribute(
    pool: &mut Pool,
    mau: &MauSpec,
    owner: Owner,
    dist_bits: u32,
    wanted: Distributed,
) -> Result<(), Column> {
    let Distributed { bits, what, purpose } = wanted;
    if what.is_some_and(|what| pool.join_computation(what, bits, owner)) {
        return Ok(());
    }
    let of = what.map(|what| (what, bits));
    let content = of.map_or(Content::Own, |(what, bits)| Content::Hashed(what, bits));
    let mut left = bits;
    while left > 0 {
        let take = left.min(dist_bits) as u16;
        let Some((unit, slice, group)) = free_slice(pool, mau, take, dist_bits as u16) else {
            let all_taken = slices(mau).all(|(u, s)| !pool.is_free(Column::HashDist, u, s));
            return Err(if all_taken { Column::HashDist } else { Column::HashBit });
        };
        pool.take((Column::HashDist, unit, slice), owner, Content::Dist { group, of }, purpose.clone());
        for bit in slice * dist_bits as u16..slice * dist_bits as u16 + take {
            pool.take((Column::HashBit, group, bit), owner, content, purpose.clone());
        }
        left -= u32::from(take);
    }
    Ok(())
}

fn slices(mau: &MauSpec) -> impl Iterator<Item = (u16, u16)> {
    let per_unit = mau.hash_dist_slices as u16;
    (0..mau.hash_dist_units as u16).flat_map(move |u| (0..per_unit).map(move |s| (u, s)))
}

/// Returns the hash group that feeds a unit; `None` while no slice of the unit is in use.
fn fed_by(pool: &Pool, mau: &MauSpec, unit: u16) -> Option<u16> {
    (0..mau.hash_dist_slices as u16).find_map(|s| match pool.content(Column::HashDist, unit, s) {
        Some(Content::Dist { group, .. }) => Some(group),
        _ => None,
    })
}

fn free_slice(pool: &Pool, mau: &MauSpec, bits: u16, dist_bits: u16) -> Option<(u16, u16, u16)> {
    for (unit, slice) in slices(mau).filter(|&(u, s)| pool.is_free(Column::HashDist, u, s)) {
        let fed = fed_by(pool, mau, unit);
        for group in (0..mau.hash_groups as u16).rev() {
            let first = slice * dist_bits;
            let fits = first + bits <= mau.hash_group_bits() as u16
                && (first..first + bits).all(|b| free(pool, group, b));
            if fits && fed.is_none_or(|f| f == group) {
                return Some((unit, slice, group));
            }
        }
    }
    None
}
