//! Rule 4: RAMs and TCAMs against the entries that they must hold.

use super::Check;
use super::paths::in_tcam;
use crate::data::{Owner, Part};
use crate::params::param_bits;
use crate::purpose::{ArrayRef, Purpose};
use sluice_asic::chip::Column;
use sluice_asic::geometry::{self, CounterFormat, ExactTable};
use sluice_asic::select::GroupShape;
use sluice_ir::{Algorithmic, Counter, CounterHome, MatchKind, PrimitiveKind, Table};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn check(check: &mut Check<'_>) {
    for (owner, part) in check.parts() {
        if let Some(table) = check.table(owner) {
            let data = &check.program.tables[table];
            if data.algorithmic.is_some() {
                if in_tcam(check, owner, part, table) {
                    classifier(check, owner, part, table);
                    continue;
                }
                partitions(check, owner, part, table);
            }
            match data.keys.iter().map(|k| k.kind).max().filter(|_| data.algorithmic.is_none()) {
                None => {}
                Some(MatchKind::Exact) => exact(check, owner, part, table),
                Some(_) => ternary(check, owner, part, table),
            }
            action_data(check, owner, part, table);
            selector(check, owner, part, table);
            ages(check, owner, part, table);
        }
        counters(check, owner, part);
        arrays(check, owner, part);
    }
}

/// Returns the parameter bits of the widest action, the least that an entry holds.
fn widest_params(check: &Check<'_>, owner: Owner) -> u32 {
    let actions = check.cfg(owner.gress).actions(check.program, owner.node);
    actions.iter().map(|&a| param_bits(check.program, a)).max().unwrap_or(0)
}

/// Returns the least overhead bits of an entry: its action, and its parameters unless they are in action-data RAM.
fn least_overhead(check: &Check<'_>, owner: Owner, stage: u8, table: Table) -> u32 {
    let data = &check.program.tables[table];
    let actions = data.actions.len().max(1) as u32;
    let code =
        if actions > check.mau.successor_map_entries { 6 } else { actions.next_power_of_two().ilog2() };
    let in_ram = check.count(owner, stage, Column::Sram, |p| *p == Purpose::ActionData) > 0;
    if in_ram || data.profile.is_some() { code } else { code + widest_params(check, owner) }
}

fn key_bits(check: &Check<'_>, table: Table) -> u32 {
    let program = check.program;
    program.tables[table].keys.iter().map(|k| k.compared(program).count_ones()).sum()
}

/// Returns the TCAM bits that ranges take in addition to the bits of their fields: the same number again.
fn range_bits(check: &Check<'_>, table: Table) -> u64 {
    let program = check.program;
    let ranges = program.tables[table].keys.iter().filter(|k| k.kind == MatchKind::Range);
    ranges.map(|k| u64::from(k.width(program))).sum()
}

/// Checks the ways of an exact match.
fn exact(check: &mut Check<'_>, owner: Owner, part: Part, table: Table) {
    let mut ways: BTreeMap<u16, BTreeMap<u16, u32>> = BTreeMap::new();
    for used in check.units(owner, part.stage, Column::Sram) {
        if let Purpose::MatchWay { way, word } = used.purpose {
            *ways.entry(way).or_default().entry(word.unwrap_or(0)).or_default() += 1;
        }
    }
    let width = ways.values().map(BTreeMap::len).max().unwrap_or(0) as u32;
    let sizes: Vec<u32> = ways.values().map(|words| words.values().copied().max().unwrap_or(0)).collect();
    let even = ways
        .values()
        .all(|words| words.len() as u32 == width && words.values().all(|n| words.values().all(|m| m == n)));
    if !even || sizes.iter().any(|s| !s.is_power_of_two()) {
        check.report(
            owner,
            format!("ways of {sizes:?} RAMs in stage {}; powers of two of equal words needed", part.stage),
        );
    }
    let bits = key_bits(check, table);
    let direct = bits <= check.mau.hash_index_bits;
    let rules = &check.program.tables[table].rules;
    let (ways, pack_demanded) = (rules.ways, rules.pack.map_or(u32::MAX, u32::from));
    match ways.map(usize::from) {
        Some(ways) if ways != sizes.len() => {
            let text = format!("{} ways in stage {}; the author demands {ways}", sizes.len(), part.stage);
            check.report(owner, text);
        }
        Some(_) => {}
        None => {
            let least_ways = if direct { 1 } else { check.mau.exact_ways };
            check.at_least(owner, part.stage, "ways", sizes.len() as u64, u64::from(least_ways));
        }
    }
    let overhead_bits = least_overhead(check, owner, part.stage, table);
    let wanted = ExactTable {
        key_bits: bits,
        overhead_bits,
        entries: u64::from(part.entries),
        ghost: true,
        identity_hash: direct,
    };
    let pack = geometry::exact_layouts(check.mau, &wanted)
        .unwrap_or_default()
        .iter()
        .filter(|l| l.width <= width)
        .map(|l| l.pack)
        .max()
        .unwrap_or(0)
        .min(pack_demanded);
    let held = u64::from(sizes.iter().sum::<u32>()) * u64::from(pack) * u64::from(check.mau.sram_depth);
    check.at_least(owner, part.stage, "entries in match RAMs", held, u64::from(part.entries));
    hash_bits(check, owner, part, &sizes);
}

fn is_way(purpose: &Purpose) -> bool {
    matches!(purpose, Purpose::WayAddress(_))
}

/// Checks that there is an index slice for each of the first four ways of a group, and select bits for every way.
fn hash_bits(check: &mut Check<'_>, owner: Owner, part: Part, sizes: &[u32]) {
    let slices = check.mau.hash_index_slices * check.mau.hash_index_bits;
    let (mut index, mut select) = (0, 0);
    for used in check.units_for(owner, part.stage, Column::HashBit, is_way) {
        if u32::from(used.unit.col) < slices { index += 1 } else { select += 1 }
    }
    let ways = (sizes.len() as u32).min(check.mau.hash_index_slices);
    check.at_least(owner, part.stage, "index hash bits", index, u64::from(ways * check.mau.hash_index_bits));
    let needed: u32 = sizes.iter().map(|s| s.checked_ilog2().unwrap_or(0)).sum();
    check.at_least(owner, part.stage, "select hash bits", select, u64::from(needed));
}

/// Checks the TCAM of an algorithmic table: a row per subtree, its indirection, and an output for the partition's
/// number.
fn classifier(check: &mut Check<'_>, owner: Owner, part: Part, table: Table) {
    let Some(Algorithmic::Alpm { partitions, subtrees }) = check.program.tables[table].algorithmic else {
        return;
    };
    let rows = u64::from(partitions) * u64::from(subtrees);
    let bytes = key_bits(check, table).div_ceil(8);
    let found = check.count(owner, part.stage, Column::Tcam, |p| matches!(p, Purpose::KeyWord(_)));
    check.at_least(
        owner,
        part.stage,
        "TCAM blocks of a classifier",
        found,
        geometry::tcams(check.mau, rows, bytes),
    );
    let needed = geometry::tind_rams(check.mau, rows, partitions.next_power_of_two().ilog2()).unwrap_or(0);
    let found = check.count(owner, part.stage, Column::Sram, |p| *p == Purpose::Indirection);
    check.at_least(owner, part.stage, "RAMs of ternary indirection", found, needed);
    let found = check.units(owner, part.stage, Column::Slots16).count() as u64;
    check.at_least(owner, part.stage, "outputs for the partition", found, 1);
}

/// Checks the partitions of an algorithmic table: columns of equal RAMs, at most as many as one row cascades.
fn partitions(check: &mut Check<'_>, owner: Owner, part: Part, table: Table) {
    let data = &check.program.tables[table];
    let (Some(Algorithmic::Alpm { partitions, .. }) | Some(Algorithmic::Atcam { partitions, .. })) =
        data.algorithmic
    else {
        return;
    };
    let mut columns: BTreeMap<u16, u64> = BTreeMap::new();
    for used in check.units(owner, part.stage, Column::Sram) {
        if let Purpose::MatchWay { way, .. } = used.purpose {
            *columns.entry(way).or_default() += 1;
        }
    }
    let most = u64::from(check.mau.atcam_rams_per_row);
    if columns.len() as u64 > most {
        check.report(
            owner,
            format!("{} cascaded RAMs in stage {}; at most {most}", columns.len(), part.stage),
        );
    }
    let wanted = ExactTable {
        key_bits: sluice_ir::rows::atcam_key_bits(check.program, data),
        overhead_bits: least_overhead(check, owner, part.stage, table),
        entries: 1,
        ghost: false,
        identity_hash: true,
    };
    let ways = u64::from(partitions.div_ceil(check.mau.sram_depth));
    let width = columns.values().min().copied().unwrap_or(0) / ways.max(1);
    let layouts = geometry::exact_layouts(check.mau, &wanted).unwrap_or_default();
    let pack = layouts.iter().filter(|l| u64::from(l.width) <= width).map(|l| l.pack).max().unwrap_or(0);
    let held = columns.len() as u64 * u64::from(pack) * u64::from(partitions);
    check.at_least(owner, part.stage, "entries in partitions", held, part.entries.into());
    let address = u64::from(partitions.next_power_of_two().ilog2());
    let bits = check.count(owner, part.stage, Column::HashBit, is_way);
    check.at_least(owner, part.stage, "address bits of partitions", bits, address);
}

fn ternary(check: &mut Check<'_>, owner: Owner, part: Part, table: Table) {
    let mut words: BTreeMap<u16, BTreeSet<(u16, u16)>> = BTreeMap::new();
    for used in check.units(owner, part.stage, Column::Tcam) {
        if let Purpose::KeyWord(word) = used.purpose {
            words.entry(word).or_default().insert((used.unit.row, used.unit.col));
        }
    }
    let first = words.get(&0).cloned().unwrap_or_default();
    let chained = words.iter().all(|(&word, at)| {
        at.len() == first.len() && first.iter().all(|&(row, col)| at.contains(&(row + word, col)))
    });
    if !chained {
        check.report(owner, format!("TCAM words in stage {} are not in consecutive rows", part.stage));
    }
    // A nibble that is compared by range is stored in a byte, as the set of its values.
    let bits = u64::from(key_bits(check, table)) + range_bits(check, table);
    let copies = range_bits(check, table).div_ceil(4);
    let bytes = check.units(owner, part.stage, Column::TernaryXbar).count() as u64;
    check.at_least(owner, part.stage, "crossbar bytes of ranges", bytes, copies);
    let widest = words.len() as u64 * u64::from(check.mau.tcam_width);
    check.at_least(owner, part.stage, "TCAM key bits", widest, bits);
    let held = first.len() as u64 * u64::from(check.mau.tcam_depth);
    check.at_least(owner, part.stage, "entries in TCAM", held, u64::from(part.entries));
    let overhead = least_overhead(check, owner, part.stage, table);
    let needed = geometry::tind_rams(check.mau, u64::from(part.entries), overhead).unwrap_or(0);
    let found = check.count(owner, part.stage, Column::Sram, |p| *p == Purpose::Indirection);
    check.at_least(owner, part.stage, "RAMs of ternary indirection", found, needed);
}

fn action_data(check: &mut Check<'_>, owner: Owner, part: Part, table: Table) {
    let bits = widest_params(check, owner);
    let profile = check.program.tables[table].profile;
    if profile.is_none() && bits <= check.mau.immediate_bits {
        return;
    }
    let entries = profile.map_or(part.entries.max(1), |p| check.program.profiles[p].size);
    let needed = geometry::action_data(check.mau, u64::from(entries), bits).map_or(0, |l| l.rams);
    let found = check.count(owner, part.stage, Column::Sram, |p| *p == Purpose::ActionData);
    check.at_least(owner, part.stage, "RAMs of action data", found, needed);
}

fn ages(check: &mut Check<'_>, owner: Owner, part: Part, table: Table) {
    let Some(idle) = check.program.tables[table].idle else { return };
    let needed = geometry::idle_map_rams(check.mau, part.entries.into(), idle.bits.into());
    let found = check.count(owner, part.stage, Column::MapRam, |p| *p == Purpose::Ages);
    check.at_least(owner, part.stage, "map RAMs of ages", found, needed);
}

fn selector(check: &mut Check<'_>, owner: Owner, part: Part, table: Table) {
    let Some(profile) = check.program.tables[table].profile else { return };
    let Some(selector) = &check.program.profiles[profile].selector else { return };
    let words =
        u64::from(GroupShape::words_for(selector.max_group_size.max(1))) * u64::from(selector.groups.max(1));
    let rams = words.div_ceil(u64::from(check.mau.sram_depth));
    let array = ArrayRef::Selector(profile);
    synthetic(check, owner, part.stage, (Column::MeterAlu, "selector", &[array]), rams);
    let bits = selector.mode.hash_bits(false).unwrap_or(0);
    let found = check.count(owner, part.stage, Column::HashBit, |p| *p == Purpose::AluInput(array));
    check.at_least(owner, part.stage, "hash bits of its selector", found, u64::from(bits));
}

fn counters(check: &mut Check<'_>, owner: Owner, part: Part) {
    let program = check.program;
    let mut cells: Vec<(CounterFormat, u64)> = Vec::new();
    let mut arrays: Vec<ArrayRef> = Vec::new();
    let format = |c: Counter| program.counters[c].cell.format_for(program.counters[c].kind);
    let mut seen = BTreeSet::new();
    let direct = check.table(owner).and_then(|t| program.direct_counter(t));
    cells.extend(direct.map(|c| (format(c), u64::from(part.entries.max(1)))));
    arrays.extend(direct.map(ArrayRef::Counter));
    for action in check.cfg(owner.gress).actions(program, owner.node) {
        for p in &program.actions[action].body {
            let PrimitiveKind::Count(c, _) = &p.kind else { continue };
            let CounterHome::Indirect(size) = program.counters[*c].home else { continue };
            if seen.insert(*c) {
                cells.push((format(*c), u64::from(size.max(1))));
                arrays.push(ArrayRef::Counter(*c));
            }
        }
    }
    if cells.is_empty() {
        return;
    }
    let rams =
        |(format, cells): &(CounterFormat, u64)| geometry::counter(check.mau, *cells, *format).data_rams;
    let needed = cells.iter().map(rams).sum();
    let alus = check.units(owner, part.stage, Column::StatsAlu).count();
    check.at_least(owner, part.stage, "counter ALUs", alus as u64, cells.len() as u64);
    synthetic(check, owner, part.stage, (Column::StatsAlu, "counter", &arrays), needed);
}

/// Array at meter ALUs, as the rules see it.
struct Array {
    name: String,
    cells: u64,
    element_bits: u32,
    /// True for registers, which have one ALU at any size.
    one_alu: bool,
    coloured: bool,
}

/// Checks ALUs and RAMs of registers, meters, filters and WRED.
fn arrays(check: &mut Check<'_>, owner: Owner, part: Part) {
    let program = check.program;
    let cells = |home: CounterHome| match home {
        CounterHome::Direct(_) => u64::from(part.entries.max(1)),
        CounterHome::Indirect(size) => u64::from(size.max(1)),
    };
    let mut used: BTreeMap<ArrayRef, Array> = BTreeMap::new();
    for action in check.cfg(owner.gress).actions(program, owner.node) {
        for p in &program.actions[action].body {
            let array = match &p.kind {
                PrimitiveKind::Register(access) => {
                    let register = program.register_actions[access.action].register;
                    let data = &program.registers[register];
                    let element_bits = data.format.element_bits();
                    let (name, cells) = (format!("register `{}`", data.name), cells(data.home));
                    let array = Array { name, cells, element_bits, one_alu: true, coloured: false };
                    (ArrayRef::Register(register), array)
                }
                PrimitiveKind::Meter(access) => {
                    let data = &program.meters[access.meter];
                    let coloured = data.kind.is_coloured();
                    let word = if coloured { "meter" } else { data.kind.word() };
                    let (name, cells) = (format!("{word} `{}`", data.name), cells(data.home));
                    let element_bits = check.mau.sram_width;
                    let array = Array { name, cells, element_bits, one_alu: false, coloured };
                    (ArrayRef::Meter(access.meter), array)
                }
                _ => continue,
            };
            used.insert(array.0, array.1);
        }
    }
    for (which, array) in used {
        let per_word = u64::from(check.mau.sram_width / array.element_bits.max(1)).max(1);
        let needed = array.cells.div_ceil(per_word * u64::from(check.mau.sram_depth));
        let name = array.name.as_str();
        let alus = check.count(owner, part.stage, Column::MeterAlu, |p| *p == Purpose::Cells(which));
        if array.one_alu && alus != 1 {
            let text = format!("{alus} stateful ALUs of {name} in stage {}; one needed", part.stage);
            check.report(owner, text);
        }
        synthetic(check, owner, part.stage, (Column::MeterAlu, name, &[which]), needed);
        if array.coloured {
            let colours = format!("colours of {name}");
            let kept = |p: &Purpose| matches!(p, Purpose::Colours(m) if which == ArrayRef::Meter(*m));
            let found = check.count(owner, part.stage, Column::MapRam, kept);
            // Four entries' colours to a map RAM word (model: chip §5).
            let needed = array.cells.div_ceil(4 * u64::from(check.mau.sram_depth));
            check.at_least(owner, part.stage, &colours, found, needed);
        }
    }
}

/// Checks data RAMs, spare banks and map RAMs of the ALUs of one kind.
fn synthetic(
    check: &mut Check<'_>,
    owner: Owner,
    stage: u8,
    (alu, name, arrays): (Column, &str, &[ArrayRef]),
    needed: u64,
) {
    let own = |p: &Purpose| p.array().is_some_and(|a| arrays.contains(&a));
    let homes: Vec<u16> = check.units_for(owner, stage, alu, own).map(|u| u.unit.row).collect();
    let legal = if alu == Column::MeterAlu { &check.mau.meter_alu_rows } else { &check.mau.stats_alu_rows };
    if homes.is_empty() || homes.iter().any(|h| !legal.contains(&u32::from(*h))) {
        check.report(
            owner,
            format!("{name} ALUs in logical rows {homes:?} of stage {stage}; they are in {legal:?}"),
        );
        return;
    }
    let left = check.mau.sram_left_columns as u16;
    let at = |column| -> BTreeSet<(u16, u16, bool)> {
        let shift = if column == Column::MapRam { left } else { 0 };
        let units = check.units_for(owner, stage, column, own);
        let spare = |p: &Purpose| matches!(p, Purpose::SpareBank(_));
        units.map(|u| (u.unit.row, u.unit.col + shift, spare(&u.purpose))).collect()
    };
    let (srams, maps) = (at(Column::Sram), at(Column::MapRam));
    if srams != maps || srams.iter().any(|(_, col, _)| *col < left) {
        check.report(owner, format!("{name} SRAMs and map RAMs of stage {stage} are not partners"));
    }
    let spares = srams.iter().filter(|(.., spare)| *spare).count();
    check.at_least(owner, stage, &format!("{name} spare banks"), spares as u64, homes.len() as u64);
    check.at_least(owner, stage, &format!("{name} data RAMs"), (srams.len() - spares) as u64, needed);
    let reach = reach(check, alu);
    let half = check.mau.sram_rows as u16 / 2;
    for (row, ..) in &srams {
        let near = homes.iter().any(|home| {
            let home = home / 2;
            row.abs_diff(home) < reach
                && (!check.placement.chip.features.memory_core_split || row / half == home / half)
        });
        if !near {
            check
                .report(owner, format!("{name} RAM in row {row} of stage {stage} is out of its ALU's reach"));
        }
    }
}

/// Returns the number of rows that the memory of one ALU may span (model: chip §1.3, §4.5).
fn reach(check: &Check<'_>, alu: Column) -> u16 {
    let mau = check.mau;
    let rows = match (check.placement.chip.features.memory_core_split, alu) {
        (false, _) => mau.overflow_rows,
        (true, Column::MeterAlu) => mau.meter_rows_per_alu,
        (true, _) => mau.stats_rows_per_alu,
    };
    rows as u16
}
