//! RAM and TCAM blocks of a stage, with the buses and ALUs that their rows need.
//!
//! The choice of rows and columns (model: chip §1.2, §1.3, §3.1, §4.5). Match ways, ternary indirection and action data
//! start from the left; counters and selectors have to be on the right, where the map RAMs are.

use super::super::data::Owner;
use super::super::purpose::{ArrayRef, Purpose};
use super::hash::WayHash;
use super::pool::{Content, Pool};
use sluice_asic::chip::{ChipSpec, Column, MauSpec};
use sluice_ir::Meter;

/// Array of counters, selector words, register elements or meters to place at one or more ALUs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Synthetic {
    /// [`Column::StatsAlu`] or [`Column::MeterAlu`].
    pub(crate) alu: Column,
    /// RAMs with data; one spare bank per ALU comes on top.
    pub(crate) data_rams: u32,
    /// Most ALUs over which it may be spread.
    pub(crate) most_alus: u32,
    /// Content of its units, which decides whether nodes may share them.
    pub(crate) content: Content,
    /// The array.
    pub(crate) array: ArrayRef,
}

/// Places the RAMs of exact-match ways; way `i` has `sizes[i] * width` RAMs. Each is on a row that has a search bus
/// with the word's crossbar group and the way's hash group. The error is the column that ran out.
pub(crate) fn ways(
    pool: &mut Pool,
    mau: &MauSpec,
    owner: Owner,
    sizes: &[u32],
    width: u32,
    hashes: &[WayHash],
    groups: &[u16],
) -> Result<(), Column> {
    let mut first_row = None;
    for (i, (size, hash)) in sizes.iter().zip(hashes).enumerate() {
        for _ in 0..*size {
            for word in 0..width {
                let xbar = groups.get(word as usize % groups.len().max(1)).copied().unwrap_or(0);
                let (row, col) = match_ram(pool, mau, owner, (xbar, hash.group))?;
                let purpose = Purpose::MatchWay { way: i as u16, word: (width > 1).then_some(word as u16) };
                pool.take((Column::Sram, row, col), owner, Content::Own, purpose);
                first_row.get_or_insert(row);
            }
        }
    }
    let buses = mau.result_buses_per_row as u16;
    let rows = first_row.into_iter().chain(0..mau.sram_rows as u16);
    match free_bus(pool, Column::ExactResultBus, rows, buses) {
        Some((row, bus)) => {
            pool.take((Column::ExactResultBus, row, bus), owner, Content::Own, Purpose::MatchResult)
        }
        None => return Err(Column::ExactResultBus),
    };
    Ok(())
}

/// Returns a free RAM on a row that has this search bus, or has a free one; takes the bus for `owner`.
fn match_ram(
    pool: &mut Pool,
    mau: &MauSpec,
    owner: Owner,
    (xbar, hash): (u16, u16),
) -> Result<(u16, u16), Column> {
    let bus = Content::Bus { xbar, hash: Some(hash) };
    let purpose = Purpose::SearchBus { xbar, hash: Some(hash) };
    let buses = mau.search_buses_per_row as u16;
    let rows = || 0..mau.sram_rows as u16;
    let has =
        |pool: &Pool, row| (0..buses).any(|b| pool.content(Column::ExactSearchBus, row, b) == Some(bus));
    if let Some(at) = rows().filter(|&r| has(pool, r)).find_map(|r| free_ram(pool, mau, r).map(|c| (r, c))) {
        let held = (0..buses).find(|&b| pool.content(Column::ExactSearchBus, at.0, b) == Some(bus));
        if let Some(b) = held {
            pool.take((Column::ExactSearchBus, at.0, b), owner, bus, purpose);
        }
        return Ok(at);
    }
    let open = rows().filter_map(|r| free_ram(pool, mau, r).map(|c| (r, c))).collect::<Vec<_>>();
    let with_bus = open.iter().find_map(|&(r, c)| {
        (0..buses).find(|&b| pool.is_free(Column::ExactSearchBus, r, b)).map(|b| (r, c, b))
    });
    match with_bus {
        Some((row, col, b)) => {
            pool.take((Column::ExactSearchBus, row, b), owner, bus, purpose);
            Ok((row, col))
        }
        None if open.is_empty() => Err(Column::Sram),
        None => Err(Column::ExactSearchBus),
    }
}

/// Returns a free column of a row: the leftmost on the left side, else the rightmost, which leaves room for counters.
fn free_ram(pool: &Pool, mau: &MauSpec, row: u16) -> Option<u16> {
    let left = mau.sram_left_columns as u16;
    let all = mau.sram_columns() as u16;
    (0..left).chain((left..all).rev()).find(|&c| pool.is_free(Column::Sram, row, c))
}

fn free_bus(pool: &Pool, column: Column, rows: impl Iterator<Item = u16>, buses: u16) -> Option<(u16, u16)> {
    rows.flat_map(|r| (0..buses).map(move |b| (r, b))).find(|&(r, b)| pool.is_free(column, r, b))
}

/// Places ternary-indirection RAMs; every row with such RAMs needs a result bus.
pub(crate) fn indirection(pool: &mut Pool, mau: &MauSpec, owner: Owner, count: u32) -> Result<(), Column> {
    let buses = mau.tind_buses_per_row as u16;
    let mut bus_of: Option<u16> = None;
    for _ in 0..count {
        let here = bus_of.and_then(|row| free_ram(pool, mau, row).map(|col| (row, col)));
        let (row, col) = match here {
            Some(at) => at,
            None => {
                let open: Vec<_> = (0..mau.sram_rows as u16)
                    .rev()
                    .filter_map(|r| free_ram(pool, mau, r).map(|c| (r, c)))
                    .collect();
                if open.is_empty() {
                    return Err(Column::Sram);
                }
                let found = open.iter().find_map(|&(r, c)| {
                    free_bus(pool, Column::TindResultBus, r..r + 1, buses).map(|(_, b)| (r, c, b))
                });
                let Some((row, col, bus)) = found else { return Err(Column::TindResultBus) };
                pool.take((Column::TindResultBus, row, bus), owner, Content::Own, Purpose::IndirectionResult);
                bus_of = Some(row);
                (row, col)
            }
        };
        pool.take((Column::Sram, row, col), owner, Content::Own, Purpose::Indirection);
    }
    Ok(())
}

/// Places action-data RAMs.
pub(crate) fn action_data(
    pool: &mut Pool,
    mau: &MauSpec,
    owner: Owner,
    count: u32,
    content: Content,
) -> Result<(), Column> {
    for _ in 0..count {
        let found = (0..mau.sram_rows as u16).rev().find_map(|r| free_ram(pool, mau, r).map(|c| (r, c)));
        let Some((row, col)) = found else { return Err(Column::Sram) };
        pool.take((Column::Sram, row, col), owner, content, Purpose::ActionData);
    }
    Ok(())
}

/// Places the map RAMs of ages in any free places, because ages need no SRAM.
pub(crate) fn idle(pool: &mut Pool, mau: &MauSpec, owner: Owner, count: u32) -> Result<(), Column> {
    let all = (0..mau.map_ram_rows as u16).flat_map(|r| (0..mau.map_ram_columns as u16).map(move |c| (r, c)));
    // Map RAMs whose SRAM is taken come first, because counters cannot use them.
    let mut free: Vec<(u16, u16)> = all.filter(|&(r, c)| pool.is_free(Column::MapRam, r, c)).collect();
    free.sort_by_key(|&(r, c)| pool.is_free(Column::Sram, r, mau.sram_left_columns as u16 + c));
    if free.len() < count as usize {
        return Err(Column::MapRam);
    }
    for (row, col) in free.into_iter().take(count as usize) {
        pool.take((Column::MapRam, row, col), owner, Content::Own, Purpose::Ages);
    }
    Ok(())
}

/// Places counters or selector words with their map RAMs, spare banks and ALUs.
pub(crate) fn synthetic(
    pool: &mut Pool,
    chip: &ChipSpec,
    owner: Owner,
    what: Synthetic,
) -> Result<(), Column> {
    let mut why = what.alu;
    for alus in 1..=what.most_alus {
        let mark = pool.mark();
        let mut left = what.data_rams;
        let done = (0..alus).all(|i| {
            let share = left.div_ceil(alus - i);
            left -= share;
            match one_alu(pool, chip, owner, what, share + 1) {
                Ok(()) => true,
                Err(column) => {
                    why = column;
                    false
                }
            }
        });
        if done {
            return Ok(());
        }
        pool.roll_back(mark);
    }
    Err(why)
}

/// Places the map RAMs that hold a meter's colours; they need no SRAM. Returns false if too few are free.
pub(crate) fn colours(
    pool: &mut Pool,
    mau: &MauSpec,
    owner: Owner,
    content: Content,
    (count, meter): (u32, Meter),
) -> bool {
    for _ in 0..count {
        let spots =
            (0..mau.map_ram_rows as u16).flat_map(|r| (0..mau.map_ram_columns as u16).map(move |c| (r, c)));
        let mut free = spots.filter(|&(r, c)| pool.is_free(Column::MapRam, r, c));
        let Some((row, col)) = free.next() else { return false };
        pool.take((Column::MapRam, row, col), owner, content, Purpose::Colours(meter));
    }
    true
}

/// Takes one ALU with `rams` RAMs, one of them the spare bank, on rows around the ALU's row.
fn one_alu(pool: &mut Pool, chip: &ChipSpec, owner: Owner, what: Synthetic, rams: u32) -> Result<(), Column> {
    let mau = &chip.mau;
    let homes = if what.alu == Column::MeterAlu { &mau.meter_alu_rows } else { &mau.stats_alu_rows };
    let mut why = what.alu;
    for &home in homes {
        if !pool.is_free(what.alu, home as u16, 0) {
            continue;
        }
        let Some(window) = windows(chip, what.alu, home / 2).into_iter().find(|w| room(pool, mau, w) >= rams)
        else {
            why = if home_maps_free(pool, mau) < rams { Column::MapRam } else { Column::Sram };
            continue;
        };
        pool.take((what.alu, home as u16, 0), owner, what.content, Purpose::Cells(what.array));
        let spots: Vec<(u16, u16)> =
            window.iter().flat_map(|&r| spots(pool, mau, r)).take(rams as usize).collect();
        for (i, (row, map)) in spots.into_iter().enumerate() {
            let spare = i + 1 == rams as usize;
            let purpose = if spare { Purpose::SpareBank(what.array) } else { Purpose::Cells(what.array) };
            let col = mau.sram_left_columns as u16 + map;
            pool.take((Column::Sram, row, col), owner, what.content, purpose.clone());
            pool.take((Column::MapRam, row, map), owner, what.content, purpose);
        }
        return Ok(());
    }
    Err(why)
}

fn home_maps_free(pool: &Pool, mau: &MauSpec) -> u32 {
    let maps =
        (0..mau.map_ram_rows as u16).flat_map(|r| (0..mau.map_ram_columns as u16).map(move |c| (r, c)));
    maps.filter(|&(r, c)| pool.is_free(Column::MapRam, r, c)).count() as u32
}

/// Returns the windows of rows that an ALU at physical row `home` can use, the smallest first (model: chip §1.3, §4.5).
fn windows(chip: &ChipSpec, alu: Column, home: u32) -> Vec<Vec<u16>> {
    let mau = &chip.mau;
    let most = row_limit(chip, alu);
    let half = mau.sram_rows / 2;
    let (low, high) = match chip.features.memory_core_split {
        true if home < half => (0, half),
        true => (half, mau.sram_rows),
        false => (0, mau.sram_rows),
    };
    let mut list = Vec::new();
    for size in 1..=most {
        for first in (home + 1).saturating_sub(size).max(low)..=home {
            if first + size <= high {
                let mut rows: Vec<u16> = (first as u16..(first + size) as u16).collect();
                rows.sort_by_key(|&r| (r.abs_diff(home as u16), r));
                list.push(rows);
            }
        }
    }
    list
}

/// Returns the most rows that the memory of one ALU may span.
pub(crate) fn row_limit(chip: &ChipSpec, alu: Column) -> u32 {
    match (chip.features.memory_core_split, alu) {
        (false, _) => chip.mau.overflow_rows,
        (true, Column::MeterAlu) => chip.mau.meter_rows_per_alu,
        (true, _) => chip.mau.stats_rows_per_alu,
    }
}

/// Returns the row and map RAM column of each place in a row whose map RAM and SRAM are both free.
fn spots(pool: &Pool, mau: &MauSpec, row: u16) -> Vec<(u16, u16)> {
    (0..mau.map_ram_columns as u16)
        .filter(|&c| pool.is_free(Column::MapRam, row, c))
        .filter(|&c| pool.is_free(Column::Sram, row, mau.sram_left_columns as u16 + c))
        .map(|c| (row, c))
        .collect()
}

fn room(pool: &Pool, mau: &MauSpec, rows: &[u16]) -> u32 {
    rows.iter().map(|&r| spots(pool, mau, r).len() as u32).sum()
}

/// Places `groups` chains of `width` TCAM blocks, each in consecutive rows of one column. Returns false if one has no
/// room.
pub(crate) fn tcam(pool: &mut Pool, mau: &MauSpec, owner: Owner, groups: u32, width: u32) -> bool {
    let width = width as u16;
    for _ in 0..groups {
        let free = |r: u16, c: u16| (r..r + width).all(|row| pool.is_free(Column::Tcam, row, c));
        let last = (mau.tcam_rows as u16 + 1).saturating_sub(width);
        let found = (0..mau.tcam_columns as u16)
            .flat_map(|c| (0..last).map(move |r| (r, c)))
            .find(|&(r, c)| free(r, c));
        let Some((row, col)) = found else { return false };
        for word in 0..width {
            pool.take((Column::Tcam, row + word, col), owner, Content::Own, Purpose::KeyWord(word));
        }
    }
    true
}
