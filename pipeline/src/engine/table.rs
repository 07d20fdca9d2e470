//! Tables: rows compiled from the control state, lookup, selection.
//!
//! What may not live here: what actions do, and when a table is applied.

use super::LowerError;
use super::action::ActionCode;
use super::batch::{Phv, for_lanes, lanes_where};
use super::field::SlotMap;
use super::hash::HashPlan;
use super::lookup::{Exact, KeyPlan, Lookup, Lpm, Prefix, Ternary, value_and_mask};
use crate::control::{ControlState, Entry, Then};
use crate::flow::table_actions;
use crate::ir::{Action, ActionCall, MatchKind, Profile, Program, Table};
use sluice_asic::select::{FastMod, GroupShape, Selector, SelectorMode};
use std::collections::BTreeMap;

/// A row that stands for a group, not an action.
const GROUP: u32 = u32::MAX;
/// `Row::entry` of rows that no entry has.
pub(super) const NO_ENTRY: u32 = u32::MAX;

/// What a lookup finds.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// Position in the table's actions, or [`GROUP`].
    action: u32,
    /// First argument word, or the group's position.
    args: u32,
    /// Slot of the entry.
    entry: u32,
}

/// Members of a group by slot.
#[derive(Clone, Debug)]
struct Group {
    shape: GroupShape,
    rows: Vec<u32>,
    /// One word, all active: the choice is one modulo.
    fast: Option<FastMod>,
}

/// A table of the running program.
#[derive(Debug)]
pub(super) struct EngineTable {
    table: Table,
    key: KeyPlan,
    /// Actions that it may run, and their code.
    pub(super) actions: Vec<(Action, ActionCode)>,
    profile: Option<Profile>,
    selector: Option<(Selector, HashPlan)>,
    lookup: Lookup,
    rows: Vec<Row>,
    pub(super) args: Vec<u32>,
    groups: Vec<Group>,
    /// An action accesses the cell of the entry in a direct array.
    counts: bool,
}

/// What a lookup found for each lane.
pub(super) struct Found {
    rows: [u32; 64],
    /// Position of the action in the table's actions.
    pub(super) action: [u32; 64],
    pub(super) base: [u32; 64],
    pub(super) entry: [u32; 64],
    /// Not all lanes found the same action.
    pub(super) mixed: bool,
}

impl Default for Found {
    fn default() -> Self {
        Found { rows: [0; 64], action: [0; 64], base: [0; 64], entry: [NO_ENTRY; 64], mixed: false }
    }
}

impl EngineTable {
    pub(super) fn new(
        program: &Program,
        table: Table,
        slots: &mut SlotMap<'_>,
        mut lower: impl FnMut(Action, &mut SlotMap<'_>) -> Result<ActionCode, LowerError>,
    ) -> Result<EngineTable, LowerError> {
        let key = KeyPlan::new(program, table, slots);
        let profile = program.tables[table].profile;
        let selector = match profile.and_then(|p| program.profiles[p].selector.as_ref()) {
            Some(s) => Some((Selector::new(s.mode), HashPlan::new(program, s.hash, slots)?)),
            None => None,
        };
        let mut actions = Vec::new();
        for action in table_actions(program, table) {
            actions.push((action, lower(action, slots)?));
        }
        let counts = actions.iter().any(|(_, code)| code.uses_entry);
        let (rows, args, groups) = (Vec::new(), Vec::new(), Vec::new());
        let lookup = Lookup::Miss;
        Ok(EngineTable { table, key, actions, profile, selector, lookup, rows, args, groups, counts })
    }

    pub(super) fn is(&self, table: Table) -> bool {
        self.table == table
    }

    pub(super) fn uses(&self, profile: Profile) -> bool {
        self.profile == Some(profile)
    }

    /// Rebuilds rows and lookup from the control state.
    pub(super) fn compile(&mut self, control: &ControlState) {
        self.rows.clear();
        self.args.clear();
        self.groups.clear();
        let state = &control.tables[self.table];
        let miss = self.call(&state.default, NO_ENTRY);
        self.rows.push(miss);
        let mut order: Vec<(u32, &Entry)> = state.entries().collect();
        order.sort_by_key(|(_, e)| (e.priority, e.seq));
        let mut known = BTreeMap::new();
        let entries: Vec<(&Entry, u32)> =
            order.into_iter().map(|(slot, e)| (e, self.row(slot, e, control, &mut known))).collect();
        self.lookup = self.build(&entries);
    }

    fn call(&mut self, call: &ActionCall, entry: u32) -> Row {
        // The control plane refuses actions that the table does not have.
        let action = self.actions.iter().position(|(a, _)| *a == call.action).unwrap_or(0);
        let args = self.args.len() as u32;
        self.actions[action].1.encode_args(&call.args, &mut self.args);
        Row { action: action as u32, args, entry }
    }

    fn member(&mut self, member: u32, entry: u32, control: &ControlState) -> Row {
        match self.profile.and_then(|p| control.profiles[p].members.get(&member)) {
            Some(call) => self.call(call, entry),
            None => Row { entry, ..self.rows[0] },
        }
    }

    fn row(
        &mut self,
        slot: u32,
        e: &Entry,
        control: &ControlState,
        known: &mut BTreeMap<u32, Option<u32>>,
    ) -> u32 {
        let row = match &e.then {
            Then::Call(call) => self.call(call, slot),
            Then::Member(m) => self.member(*m, slot, control),
            Then::Group(g) => {
                let at = match known.get(g) {
                    Some(at) => *at,
                    None => {
                        let at = self.group(*g, control);
                        known.insert(*g, at);
                        at
                    }
                };
                // A group without members has nothing to choose from: the default action runs.
                at.map_or(Row { entry: slot, ..self.rows[0] }, |at| Row {
                    action: GROUP,
                    args: at,
                    entry: slot,
                })
            }
        };
        self.rows.push(row);
        self.rows.len() as u32 - 1
    }

    /// Compiles a group; `None` when it has no members.
    fn group(&mut self, group: u32, control: &ControlState) -> Option<u32> {
        let (_, mode) = self.profile.zip(self.selector.as_ref().map(|(s, _)| s.mode()))?;
        let slots = control.profiles[self.profile?].slots(group);
        let members = slots.members.clone();
        let mut rows = vec![0; members.len()];
        for (at, member) in members.iter().enumerate() {
            if let Some(m) = member {
                let row = self.member(*m, NO_ENTRY, control);
                self.rows.push(row);
                rows[at] = self.rows.len() as u32 - 1;
            }
        }
        let shape = slots.shape?;
        let one_word = shape.words().len() == 1 && shape.words()[0].live() == shape.words()[0].used();
        let fast = (mode == SelectorMode::Fair && one_word).then(|| FastMod::new(shape.live()));
        self.groups.push(Group { shape, rows, fast });
        Some(self.groups.len() as u32 - 1)
    }

    fn build(&self, entries: &[(&Entry, u32)]) -> Lookup {
        if entries.is_empty() || self.key.fields.is_empty() {
            return Lookup::Miss;
        }
        let plain = |key: &[(u32, u32)]| key.iter().map(|(v, _)| *v).collect::<Vec<_>>();
        if let Some((field, width)) = self.key.lpm() {
            let prefixes = entries
                .iter()
                .map(|(e, row)| {
                    let (value, mask) = self.prefix_of(e, width);
                    Prefix {
                        exact: plain(&self.key.encode(&e.key)),
                        value,
                        len: mask.count_ones() as u16,
                        row: *row,
                    }
                })
                .collect();
            return Lookup::Lpm(Lpm::new(field, width, &self.key.words, prefixes));
        }
        let keys = entries.iter().map(|(e, row)| (self.key.encode(&e.key), *row));
        if self.key.has_ternary() {
            return Lookup::Ternary(Ternary::new(&self.key.words, &keys.collect::<Vec<_>>()));
        }
        let keys: Vec<_> = keys.map(|(k, row)| (plain(&k), row)).collect();
        Lookup::Exact(Exact::new(&self.key.words, &keys))
    }

    fn prefix_of(&self, e: &Entry, width: u16) -> (u128, u128) {
        let column = self.key.fields.iter().zip(&e.key).find(|((_, kind, _), _)| *kind == MatchKind::Lpm);
        column.map_or((0, 0), |(_, column)| value_and_mask(*column, width))
    }

    /// Looks up the lanes of `mask`; returns those that hit.
    #[inline]
    pub(super) fn find<const N: usize>(&self, mask: u64, phv: &Phv, found: &mut Found) -> u64 {
        if matches!(self.lookup, Lookup::Miss) {
            self.all_miss::<N>(mask, found);
            return 0;
        }
        self.lookup.find::<N>(mask, phv, &mut found.rows);
        let Found { rows, action, base, entry, mixed } = found;
        let first = self.rows[rows[mask.trailing_zeros() as usize % 64] as usize].action;
        let mut differ = 0;
        if self.selector.is_some() {
            for_lanes::<N>(mask, |l| {
                let row = &self.rows[rows[l] as usize];
                entry[l] = row.entry;
                let row = if row.action == GROUP { self.select(row, phv, l) } else { row };
                (action[l], base[l]) = (row.action, row.args);
            });
            let first = action[mask.trailing_zeros() as usize % 64];
            for_lanes::<N>(mask, |l| differ |= action[l] ^ first);
        } else if self.counts {
            for_lanes::<N>(mask, |l| {
                let row = &self.rows[rows[l] as usize];
                (action[l], base[l], entry[l]) = (row.action, row.args, row.entry);
                differ |= row.action ^ first;
            });
        } else {
            for_lanes::<N>(mask, |l| {
                let row = &self.rows[rows[l] as usize];
                (action[l], base[l]) = (row.action, row.args);
                differ |= row.action ^ first;
            });
        }
        *mixed = differ != 0;
        lanes_where::<N>(mask, |l| rows[l] != 0)
    }

    /// A table without a key or without entries: every lane gets the default action.
    fn all_miss<const N: usize>(&self, mask: u64, found: &mut Found) {
        let row = self.rows[0];
        for_lanes::<N>(mask, |l| (found.action[l], found.base[l]) = (row.action, row.args));
        if self.counts {
            for_lanes::<N>(mask, |l| found.entry[l] = row.entry);
        }
        found.mixed = false;
    }

    #[inline]
    fn select(&self, row: &Row, phv: &Phv, lane: usize) -> &Row {
        let group = &self.groups[row.args as usize];
        let Some((selector, hash)) = &self.selector else { return &self.rows[0] };
        let hash = hash.eval(phv, lane);
        let slot = match group.fast {
            Some(modulus) => Some(modulus.rem(hash as u32 & 0x3fff)),
            None => selector.pick(u128::from(hash), &group.shape),
        };
        let row = slot.and_then(|s| group.rows.get(s as usize)).copied().unwrap_or(0);
        &self.rows[row as usize]
    }
}
