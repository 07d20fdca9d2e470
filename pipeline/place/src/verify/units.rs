//! Rules 2, 3 and 8: coordinates, owners, sharing, ternary tables per stage.

use super::{Check, paths};
use crate::data::{Owner, Unit, UnitUse};
use crate::next_table::{Carrier, LongBranch};
use crate::purpose::Purpose;
use sluice_asic::chip::{Column, MauSpec};
use sluice_asic::gress::Gress;
use sluice_ir::cfg::NodeKind;
use sluice_ir::entity::Entity;
use sluice_ir::verify::Diag;
use sluice_ir::{Counter, CounterHome, Meter, PrimitiveKind, Profile, Random, Register};
use std::collections::BTreeSet;

pub(super) fn check(check: &mut Check<'_>) {
    let units = &check.placement.units;
    if !units.windows(2).all(|w| (w[0].unit, w[0].owner) < (w[1].unit, w[1].owner)) {
        let text = "units are not sorted, or one is named twice for one owner";
        check.diags.push(Diag::error(sluice_ir::Loc::default(), text));
    }
    for used in units {
        exists(check, used);
    }
    if !check.diags.is_empty() {
        return;
    }
    for group in units.chunk_by(|a, b| a.unit == b.unit).filter(|g| g.len() > 1) {
        if !shareable(check, group) {
            let names: Vec<String> = group.iter().map(|u| check.name(u.owner)).collect();
            check.report(
                group[0].owner,
                format!("{} is used by {} at once", place(group[0].unit), names.join(" and ")),
            );
        }
    }
    for (owner, part) in check.parts() {
        let own = check
            .units(owner, part.stage, Column::LogicalTable)
            .filter(|u| !matches!(u.purpose, Purpose::Relay | Purpose::Retest));
        let own: Vec<u16> = own.map(|u| u.unit.row).collect();
        if own != [u16::from(part.logical_id)] {
            check.report(
                owner,
                format!("logical ids {own:?} in stage {}, its part has {}", part.stage, part.logical_id),
            );
        }
    }
    for stage in 0..check.mau.stages as u8 {
        random_bits(check, stage);
        let tcam = |u: &&UnitUse| u.unit.stage == stage && u.unit.column == Column::Tcam;
        let tables: BTreeSet<Owner> = units.iter().filter(tcam).map(|u| u.owner).collect();
        let (found, most) = (tables.len(), check.mau.ternary_tables);
        if let Some(last) = tables.last().filter(|_| found > most as usize) {
            check.report(*last, format!("{found} ternary tables in stage {stage}; {most} possible"));
        }
    }
}

fn place(unit: Unit) -> String {
    format!("{} {},{} of stage {}", unit.column, unit.row, unit.col, unit.stage)
}

fn exists(check: &mut Check<'_>, used: &UnitUse) {
    let (unit, owner) = (used.unit, used.owner);
    let node_exists = owner.node.index() < check.cfg(owner.gress).nodes.len();
    if !node_exists {
        let text = format!("{} belongs to a node that does not exist", place(unit));
        check.diags.push(Diag::error(sluice_ir::Loc::default(), text));
        return;
    }
    let (rows, cols) = extent(check.mau, unit.column);
    let mid = unit.column == Column::TernaryXbar && u32::from(unit.col) == check.mau.ternary_xbar_group_bytes;
    let in_range = u32::from(unit.stage) < check.mau.stages
        && u32::from(unit.row) < rows
        && (u32::from(unit.col) < cols || mid && unit.row % 2 == 0);
    if !in_range {
        check.report(owner, format!("{} does not exist", place(unit)));
    }
    let carries = |b: &LongBranch| match &b.by {
        Carrier::Relays(_) => {
            used.purpose == Purpose::Relay
                && matches!(unit.column, Column::LogicalTable | Column::ExactResultBus)
                && b.between().contains(&unit.stage)
        }
        Carrier::Retest(retest) => {
            let gateway = [Column::Gateway, Column::ExactSearchBus, Column::ExactXbar, Column::HashBit];
            unit.stage == retest.stage && (used.purpose == Purpose::Retest || gateway.contains(&unit.column))
        }
        _ => false,
    };
    let of = |b: &&LongBranch| (b.gress, b.to) == (owner.gress, owner.node);
    let carrier = check.placement.long_branches.iter().filter(of).any(carries);
    if !carrier && !check.placed(owner).parts.iter().any(|p| p.stage == unit.stage) {
        check.report(owner, format!("owns {} but has no part there", place(unit)));
    }
}

/// Returns the rows and columns of each kind of unit (model: chip §1.2).
fn extent(mau: &MauSpec, column: Column) -> (u32, u32) {
    match column {
        Column::ExactXbar => (mau.exact_xbar_groups, mau.exact_xbar_group_bytes),
        Column::TernaryXbar => (mau.ternary_xbar_groups, mau.ternary_xbar_group_bytes),
        Column::HashBit => (mau.hash_groups, mau.hash_group_bits()),
        Column::HashDist => (mau.hash_dist_units, mau.hash_dist_slices),
        Column::Gateway => (mau.gateway_rows, mau.gateways_per_row),
        Column::Sram => (mau.sram_rows, mau.sram_columns()),
        Column::MapRam => (mau.map_ram_rows, mau.map_ram_columns),
        Column::Tcam => (mau.tcam_rows, mau.tcam_columns),
        Column::Vliw => (mau.imem_rows, mau.imem_colours),
        Column::MeterAlu | Column::StatsAlu => (mau.logical_rows(), 1),
        Column::Stash => (mau.sram_rows, mau.stash_units_per_row),
        Column::ExactSearchBus => (mau.sram_rows, mau.search_buses_per_row),
        Column::ExactResultBus => (mau.sram_rows, mau.result_buses_per_row),
        Column::TindResultBus => (mau.sram_rows, mau.tind_buses_per_row),
        Column::ActionBusBytes => (mau.action_bus_bytes, 1),
        Column::Slots8 | Column::Slots16 | Column::Slots32 => (mau.action_slots_per_size, 1),
        Column::LogicalTable => (mau.logical_tables, 1),
    }
}

fn shareable(check: &Check<'_>, group: &[UnitUse]) -> bool {
    let same_purpose = group.windows(2).all(|w| w[0].purpose == w[1].purpose);
    match group[0].unit.column {
        Column::ExactXbar | Column::TernaryXbar | Column::ExactSearchBus => same_purpose,
        Column::LogicalTable => attached(check, group),
        Column::Sram | Column::MapRam | Column::MeterAlu | Column::StatsAlu => {
            same_purpose && common_memory(check, group)
        }
        Column::HashBit | Column::HashDist => {
            same_purpose
                && (common_memory(check, group) && matches!(group[0].purpose, Purpose::AluInput(_))
                    || common_hash(check, group))
        }
        _ => false,
    }
}

/// Checks that the random numbers of a stage have at most 64 bits together; tables may share them (model: chip §1.2).
fn random_bits(check: &mut Check<'_>, stage: u8) {
    let mut drawn: BTreeSet<Random> = BTreeSet::new();
    let mut last = None;
    for (owner, _) in check.parts().into_iter().filter(|(_, part)| part.stage == stage) {
        for action in check.cfg(owner.gress).actions(check.program, owner.node) {
            for p in &check.program.actions[action].body {
                if let PrimitiveKind::Random(_, random) = &p.kind {
                    drawn.insert(*random);
                    last = Some(owner);
                }
            }
        }
    }
    let bits: u32 = drawn.iter().map(|&r| u32::from(check.program.randoms[r].width)).sum();
    if let Some(owner) = last.filter(|_| bits > 64) {
        check.report(owner, format!("{bits} random bits in stage {stage}; a stage has 64"));
    }
}

/// Returns true for a gateway and a table or action in its branch.
fn attached(check: &Check<'_>, group: &[UnitUse]) -> bool {
    let [a, b] = group else { return false };
    let decides = |gateway: Owner, table: Owner| {
        let cfg = check.cfg(table.gress);
        let parent = cfg.preds[cfg.nodes[table.node].pred].of;
        gateway.gress == table.gress
            && matches!(check.kind(gateway), NodeKind::Gateway(_))
            && !matches!(check.kind(table), NodeKind::Gateway(_))
            && parent.is_some_and(|(_, n, _)| n == gateway.node)
    };
    decides(a.owner, b.owner) || decides(b.owner, a.owner)
}

/// Returns true if all owners, of one gress, use one profile, indirect counter, register or meter.
fn common_memory(check: &Check<'_>, group: &[UnitUse]) -> bool {
    let all: Vec<BTreeSet<Memory>> = group.iter().map(|u| memories(check, u.owner)).collect();
    let one_gress = group.windows(2).all(|w| w[0].owner.gress == w[1].owner.gress);
    one_gress && all[0].iter().any(|m| all.iter().all(|set| set.contains(m)))
}

/// Returns true if all owners, of one gress, compute the value that the purpose names.
fn common_hash(check: &Check<'_>, group: &[UnitUse]) -> bool {
    let one_gress = group.windows(2).all(|w| w[0].owner.gress == w[1].owner.gress);
    let computes = |u: &UnitUse| match &u.purpose {
        Purpose::Computed(computation) => paths::computations(check, u.owner).contains(computation),
        _ => false,
    };
    one_gress && group.iter().all(computes)
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Memory {
    Profile(Profile),
    Counter(Counter),
    Register(Register),
    Meter(Meter),
}

fn memories(check: &Check<'_>, owner: Owner) -> BTreeSet<Memory> {
    let program = check.program;
    let gress: Gress = owner.gress;
    let mut set = BTreeSet::new();
    for action in check.cfg(gress).actions(program, owner.node) {
        for p in &program.actions[action].body {
            if let PrimitiveKind::Count(c, _) = &p.kind
                && matches!(program.counters[*c].home, CounterHome::Indirect(_))
            {
                set.insert(Memory::Counter(*c));
            }
            if let PrimitiveKind::Register(access) = &p.kind {
                set.insert(Memory::Register(program.register_actions[access.action].register));
            }
            if let PrimitiveKind::Meter(access) = &p.kind {
                set.insert(Memory::Meter(access.meter));
            }
        }
    }
    let profile = check.table(owner).and_then(|t| program.tables[t].profile);
    set.extend(profile.map(Memory::Profile));
    set
}
