//! Limits of a program: the scarcest resources, with their users.

use crate::{Placement, Unit, node_name};
use sluice_asic::chip::Column;
use sluice_ir::Program;
use std::collections::{BTreeMap, BTreeSet};

/// A resource, in the stage with its highest use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Resource.
    pub column: Column,
    /// Stage.
    pub stage: u8,
    /// Units in use in that stage.
    pub used: u32,
    /// Units of a stage.
    pub available: u32,
    /// Nodes and their units, the largest user first.
    pub users: Vec<(String, u32)>,
}

/// Number of resources that are listed.
const SHOWN: usize = 5;

/// Returns the resources with the highest use in a stage, the highest share first.
pub(super) fn of(program: &Program, placement: &Placement) -> Vec<Limit> {
    let mut peaks: Vec<Limit> = Column::ALL.iter().filter_map(|&c| peak(program, placement, c)).collect();
    // Shares compared as cross products; ties keep the vendor's order.
    peaks.sort_by(|a, b| (b.used * a.available).cmp(&(a.used * b.available)));
    peaks.truncate(SHOWN);
    peaks
}

fn peak(program: &Program, placement: &Placement, column: Column) -> Option<Limit> {
    let colours = column == Column::Vliw;
    let key = |u: Unit| (u.row, if colours { 0 } else { u.col });
    let mut by_stage: BTreeMap<u8, BTreeSet<(u16, u16)>> = BTreeMap::new();
    for used in placement.units.iter().filter(|u| u.unit.column == column) {
        by_stage.entry(used.unit.stage).or_default().insert(key(used.unit));
    }
    let (stage, units) =
        by_stage.into_iter().max_by_key(|(stage, units)| (units.len(), std::cmp::Reverse(*stage)))?;
    let mut users: BTreeMap<_, BTreeSet<(u16, u16)>> = BTreeMap::new();
    for used in placement.units.iter().filter(|u| u.unit.column == column && u.unit.stage == stage) {
        users.entry(used.owner).or_default().insert(key(used.unit));
    }
    let mut users: Vec<(String, u32)> = users
        .into_iter()
        .map(|(o, units)| (node_name(program, &placement.gress(o.gress).cfg, o.node), units.len() as u32))
        .collect();
    users.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    Some(Limit {
        column,
        stage,
        used: units.len() as u32,
        available: column.available(&placement.chip.mau),
        users,
    })
}
