//! Check of a finished placement, from its coordinates and the program's effects alone.
//!
//! Rules:
//! 1. Shape: tables and actions are those of the program's control flow and run under its conditions; each node has
//!    parts, in stages of the chip, in rising order; parts together hold the table's size; a pin is kept.
//! 2. Units: coordinates exist; the list is sorted and names a unit once per owner; an owner has a part in the unit's
//!    stage.
//! 3. Sharing: a unit has one owner, except crossbar bytes (same container byte), search buses (same crossbar and
//!    hash group), the logical id of a gateway and its table, units of a profile, counter, register or meter that all
//!    owners use, and hash and hash distribution bits of a computation that all owners make.
//! 4. Memories: match words, ternary indirection, action data, counters and selectors have the RAMs that their
//!    entries need; way sizes are powers of two; TCAM words are in consecutive rows; counters and selectors have a
//!    map RAM for every SRAM, a spare bank per ALU, and are within the rows that the ALU reaches.
//! 5. Paths: every byte that a node reads is on a crossbar, in its lane; a condition's bytes are in one group and its
//!    search bus carries that group; every match row has a search bus, every indirection row a result bus; hashes
//!    have their bits and distribution slices.
//! 6. Actions: every action that writes has an instruction word; words of one row are of one gress and write
//!    different containers; outputs of the action bus own their bytes, and there are enough of them.
//! 7. Order: match, action and output dependencies are stages apart; anti and control dependencies are in the same
//!    stage with rising logical ids, or apart; nodes with container conflicts never share a stage.
//! 8. Limits that no coordinate shows: ternary tables and random bits per stage.
//! 9. Timing: the dependency of a stage on the stages before it is at least as strong as its nodes require; cycles
//!    follow from that.
//! 10. PHV: see [`super::phv::verify`].
//! 11. Parser: TCAM rows exist and have one owner; every state that can be reached has rows for each count of stack
//!     elements before it; there are enough cycles for the bytes moved past and matched and for the containers
//!     filled.
//!     A state without rows selects on nothing, and one row has room for it and each state before it.
//! 12. Deparser: there are enough dictionary entries for the bytes emitted; entries, validity bits and checksum units
//!     do not exceed those of the chip.
//! 13. Next tables: see [`next_table`], and [`retest`] for conditions that are tested again.
//! 14. Packet values reach meter ALUs as crossbar bytes at the positions that the ALU takes, or as bits of one hash
//!     group that share no byte with other bits: see [`operands`].

//!
//! The verifier does not search, and it reads neither demands nor pools of the passes. It does share with them the numbers of
//! RAMs that a table takes (`sluice_asic::geometry`), the cycles of a stage (`sluice_asic::latency`), the parameter bits of
//! an action, the view of the PHV, and the effects and exclusions of the control-flow graph: an error in those shows in
//! neither. So tests derive geometry a second time (`asic-model/tests/it/geometry_again.rs`), and compare the placer with all
//! placements of small programs (`tests/it/small_chips.rs`) and the verifier with random layouts (`tests/it/layouts.rs`).

mod actions;
mod carried;
mod conditions;
mod memory;
mod next_table;
mod operands;
mod order;
mod parser;
mod paths;
mod retest;
mod shape;
mod timing;
mod units;

#[cfg(test)]
mod tests;

use super::bits::PhvView;
use super::data::{Owner, Part, PlacedNode, Placement, UnitUse};
use super::deps::node_name;
use super::phv;
use super::purpose::Purpose;
use sluice_asic::chip::{Column, MauSpec};
use sluice_asic::gress::Gress;
use sluice_ir::cfg::{Cfg, NodeKind};
use sluice_ir::verify::Diag;
use sluice_ir::{Header, Loc, Program, Table};
use std::collections::BTreeSet;

/// Returns everything that is wrong with a placement; empty if it obeys all rules.
#[must_use]
pub fn verify(program: &Program, placement: &Placement) -> Vec<Diag> {
    let mut check = Check {
        program,
        placement,
        mau: &placement.chip.mau,
        view: PhvView::new(&placement.chip, &placement.phv),
        diags: Vec::new(),
    };
    // The other rules use parts as indices, which this rule checks.
    shape::check(&mut check);
    if !check.diags.is_empty() {
        return check.diags;
    }
    order::check(&mut check);
    next_table::check(&mut check);
    units::check(&mut check);
    if !check.diags.is_empty() {
        return check.diags;
    }
    memory::check(&mut check);
    paths::check(&mut check);
    operands::check(&mut check);
    actions::check(&mut check);
    timing::check(&mut check);
    parser::check(&mut check);
    deparser(&mut check);
    let cfgs = Gress::ALL.map(|g| placement.gress(g).cfg.clone());
    check.diags.extend(phv::verify(program, &placement.chip, &cfgs, &placement.phv));
    check.diags
}

/// Checks rule 12.
fn deparser(check: &mut Check<'_>) {
    let spec = &check.placement.chip.deparser;
    for gress in Gress::ALL {
        let cost = check.placement.gress(gress).deparser;
        let deparser = &check.program.pipe(gress).deparser;
        // A header that is emitted twice has one validity bit.
        let headers: BTreeSet<Header> = deparser.emit.iter().copied().collect();
        let bytes: u32 = deparser.emit.iter().map(|h| check.program.header_bits(*h) / 8).sum();
        let found = [
            ("bytes in dictionary entries", bytes, cost.entries * spec.entry_bytes),
            ("dictionary entries", cost.entries, spec.entries),
            ("validity bits", headers.len() as u32, spec.pov_bits.min(cost.pov_bits)),
            ("checksum units", deparser.checksums.len() as u32, spec.checksum_units.min(cost.checksum_units)),
            ("bytes of headers", cost.header_bytes, spec.max_header_bytes),
        ];
        for (what, needed, have) in found.into_iter().filter(|(_, needed, have)| needed > have) {
            let text = format!("placement of the {gress} deparser: {needed} {what}; there are {have}");
            check.diags.push(Diag::error(Loc::default(), text));
        }
    }
}

/// Inputs and findings of the rules.
struct Check<'a> {
    program: &'a Program,
    placement: &'a Placement,
    mau: &'a MauSpec,
    view: PhvView<'a>,
    diags: Vec<Diag>,
}

impl<'a> Check<'a> {
    fn cfg(&self, gress: Gress) -> &'a Cfg {
        &self.placement.gress(gress).cfg
    }

    fn owners(&self) -> Vec<Owner> {
        let nodes = |gress| self.cfg(gress).nodes.keys().map(move |node| Owner { gress, node });
        Gress::ALL.into_iter().flat_map(nodes).collect()
    }

    fn kind(&self, owner: Owner) -> &'a NodeKind {
        &self.cfg(owner.gress).nodes[owner.node].kind
    }

    fn table(&self, owner: Owner) -> Option<Table> {
        match self.kind(owner) {
            NodeKind::Table(table) => Some(*table),
            _ => None,
        }
    }

    fn placed(&self, owner: Owner) -> &'a PlacedNode {
        &self.placement.gress(owner.gress).nodes[owner.node]
    }

    fn parts(&self) -> Vec<(Owner, Part)> {
        self.owners().into_iter().flat_map(|o| self.placed(o).parts.iter().map(move |p| (o, *p))).collect()
    }

    fn name(&self, owner: Owner) -> String {
        node_name(self.program, self.cfg(owner.gress), owner.node)
    }

    fn loc(&self, owner: Owner) -> Loc {
        self.cfg(owner.gress).nodes[owner.node].loc
    }

    /// Returns the units of a column that a part owns.
    fn units(&self, owner: Owner, stage: u8, column: Column) -> impl Iterator<Item = &'a UnitUse> + use<'a> {
        // Rule 2 checks that units are sorted.
        let units = &self.placement.units;
        let first = units.partition_point(|u| (u.unit.stage, u.unit.column) < (stage, column));
        let of_column =
            units.iter().skip(first).take_while(move |u| (u.unit.stage, u.unit.column) == (stage, column));
        of_column.filter(move |u| u.owner == owner)
    }

    /// Returns the units of a column that a part owns for a purpose.
    fn units_for<F: Fn(&Purpose) -> bool>(
        &self,
        owner: Owner,
        stage: u8,
        column: Column,
        wanted: F,
    ) -> impl Iterator<Item = &'a UnitUse> + use<'a, F> {
        self.units(owner, stage, column).filter(move |u| wanted(&u.purpose))
    }

    /// Counts the units of a column that a part owns for a purpose.
    fn count(&self, owner: Owner, stage: u8, column: Column, wanted: impl Fn(&Purpose) -> bool) -> u64 {
        self.units_for(owner, stage, column, wanted).count() as u64
    }

    fn report(&mut self, owner: Owner, text: impl std::fmt::Display) {
        let diag = Diag::error(self.loc(owner), format!("placement of `{}`: {text}", self.name(owner)));
        self.diags.push(diag);
    }

    /// Reports `text` unless `found` is at least `needed`.
    fn at_least(&mut self, owner: Owner, stage: u8, what: &str, found: u64, needed: u64) {
        if found < needed {
            self.report(owner, format!("{found} {what} in stage {stage}; {needed} needed"));
        }
    }
}
