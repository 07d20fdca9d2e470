//! Tables of the engine: rows and lookup structures compiled from the control state. Module `find` looks packets up.

mod find;
mod hit;

pub use hit::Hit;

use super::action::ActionCode;
use super::error::LowerError;
use super::field::SlotMap;
use super::hash::HashPlan;
use super::lookup::{Exact, KeyPlan, Lookup, Lpm, Prefix, Ternary, value_and_mask};
use super::watched::Watched;
use sluice_asic::select::{FastMod, GroupShape, Selector};
use sluice_control::{ControlState, Entry, Then};
use sluice_ir::cfg::table_actions;
use sluice_ir::{Action, ActionCall, MatchKind, Profile, Program, Table};
use std::collections::{BTreeMap, BTreeSet};

/// Value of `Row::action` for a row that names a group and not an action.
const GROUP: u32 = u32::MAX;
/// Value of `Row::entry` for rows that belong to no entry.
pub(super) const NO_ENTRY: u32 = u32::MAX;

/// Result of a lookup.
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
#[derive(Clone, Debug, Default)]
struct Group {
    /// `None` without members.
    shape: Option<GroupShape>,
    rows: Vec<Row>,
    /// One row per member; these rows own the argument words.
    own: Vec<Row>,
    /// For a group of one selector word whose members are all active: the choice is one modulo.
    fast: Option<FastMod>,
}

/// A lowered table with its entries.
#[derive(Clone, Debug)]
pub(super) struct EngineTable {
    table: Table,
    key: KeyPlan,
    /// Actions of the table, and their code.
    pub(super) actions: Vec<(Action, ActionCode)>,
    profile: Option<Profile>,
    selector: Option<(Selector, HashPlan)>,
    pub(super) lookup: Lookup,
    /// Row of a miss, then one row per slot.
    rows: Vec<Row>,
    pub(super) args: Vec<u32>,
    /// Free ranges of argument words: first words, by length.
    free_args: Vec<Vec<u32>>,
    groups: Vec<Group>,
    /// Index of each group that an entry has named.
    group_at: BTreeMap<u32, u32>,
    /// Slots of the entries that name each member.
    by_member: BTreeMap<u32, BTreeSet<u32>>,
    /// True if an action accesses the entry's cell in a direct array, or entries age.
    pub(super) counts: bool,
    /// True if entries age.
    ages: bool,
    /// True if the program or coverage depends on which lanes hit.
    hits: bool,
    /// Constant entries that matched, for coverage; `None` if they are not counted.
    pub(super) watched: Option<Watched>,
}

/// Results of a lookup for each lane.
#[derive(Clone)]
pub(super) struct LaneLookups {
    rows: [u32; 64],
    /// Position of the action in the table's actions.
    pub(super) action: [u32; 64],
    pub(super) base: [u32; 64],
    pub(super) entry: [u32; 64],
    /// True if the lanes have different actions.
    pub(super) mixed: bool,
}

impl Default for LaneLookups {
    fn default() -> Self {
        LaneLookups { rows: [0; 64], action: [0; 64], base: [0; 64], entry: [NO_ENTRY; 64], mixed: false }
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
            Some(s) => Some((s.arithmetic(), HashPlan::new(program, s.hash, slots)?)),
            None => None,
        };
        let mut actions = Vec::new();
        for action in table_actions(program, table) {
            actions.push((action, lower(action, slots)?));
        }
        let ages = program.tables[table].idle.is_some();
        let counts = ages || actions.iter().any(|(_, code)| code.uses_entry);
        Ok(EngineTable {
            table,
            key,
            actions,
            profile,
            selector,
            lookup: Lookup::Miss,
            rows: Vec::new(),
            args: Vec::new(),
            free_args: Vec::new(),
            groups: Vec::new(),
            group_at: BTreeMap::new(),
            by_member: BTreeMap::new(),
            counts,
            ages,
            hits: ages,
            watched: None,
        })
    }

    pub(super) const fn table(&self) -> Table {
        self.table
    }

    /// Returns the layout of the key in columns.
    pub(super) fn key(&self) -> &KeyPlan {
        &self.key
    }

    /// Returns true if entries age.
    pub(super) fn ages(&self) -> bool {
        self.ages
    }

    pub(super) fn is(&self, table: Table) -> bool {
        self.table == table
    }

    pub(super) fn uses(&self, profile: Profile) -> bool {
        self.profile == Some(profile)
    }

    /// Sets whether anything other than the ages of entries depends on hits.
    pub(super) fn tells_hits(&mut self, asked: bool) {
        self.hits |= asked;
    }

    /// Rebuilds rows and lookup from the control state.
    pub(super) fn compile(&mut self, control: &ControlState) {
        self.rows.clear();
        self.args.clear();
        self.free_args.clear();
        self.groups.clear();
        self.group_at.clear();
        self.by_member.clear();
        let state = &control.tables[self.table];
        let miss = self.call(&state.default, NO_ENTRY);
        self.rows.resize(state.slots.len() + 1, miss);
        for (slot, e) in state.entries() {
            self.rows[slot as usize + 1] = self.row(slot, e, control);
        }
        let mut order: Vec<(u32, &Entry)> = state.entries().collect();
        order.sort_by_key(|(_, e)| (e.priority, e.seq));
        self.lookup = self.build(&order);
    }

    /// Applies the change of one entry; `was` is the old entry, `None` if the entry is new. Apart from the lookup structures,
    /// the cost does not depend on the number of entries.
    pub(super) fn entry_changed(&mut self, slot: u32, was: Option<&Entry>, control: &ControlState) {
        let now = control.tables[self.table].slots.get(slot as usize).and_then(Option::as_ref);
        if self.rows.is_empty() {
            return self.compile(control);
        }
        let at = slot as usize + 1;
        if at >= self.rows.len() {
            self.rows.resize(at + 1, self.rows[0]);
        }
        if let Some(was) = was {
            self.forget(slot, was);
        }
        if let Some(now) = now {
            self.rows[at] = self.row(slot, now, control);
        }
        let stays =
            was.zip(now).is_some_and(|(a, b)| (&a.key, a.priority, a.seq) == (&b.key, b.priority, b.seq));
        let known = stays
            || was.is_none_or(|was| self.take_out(was, control))
                && now.is_none_or(|now| self.put_in(now, slot));
        if !known {
            self.compile(control);
        }
    }

    /// Applies a change of the default action.
    pub(super) fn default_changed(&mut self, control: &ControlState) {
        if self.rows.is_empty() || self.profile.is_some() {
            // Entries and groups that lead to no member run the default, too.
            return self.compile(control);
        }
        self.free(self.rows[0]);
        self.rows[0] = self.call(&control.tables[self.table].default, NO_ENTRY);
    }

    /// Applies a change of a group's members or of their activity.
    pub(super) fn group_changed(&mut self, group: u32, control: &ControlState) {
        if let Some(&at) = self.group_at.get(&group) {
            self.fill_group(at, group, control);
        }
    }

    /// Applies a change of a member's action.
    pub(super) fn member_changed(&mut self, member: u32, control: &ControlState) {
        for slot in self.by_member.get(&member).cloned().unwrap_or_default() {
            let row = self.rows[slot as usize + 1];
            self.free(row);
            self.rows[slot as usize + 1] = self.member(member, slot, control);
        }
        let Some(profile) = self.profile else { return };
        let groups = &control.profiles[profile].groups;
        let users = groups.iter().filter(|(_, list)| list.iter().any(|m| m.member == member));
        users.for_each(|(group, _)| self.group_changed(*group, control));
    }

    /// Frees the memory of an entry's row.
    fn forget(&mut self, slot: u32, was: &Entry) {
        let row = self.rows[slot as usize + 1];
        self.free(row);
        self.rows[slot as usize + 1] = self.rows[0];
        if let Then::Member(member) = was.then
            && let Some(users) = self.by_member.get_mut(&member)
        {
            users.remove(&slot);
        }
    }

    fn call(&mut self, call: &ActionCall, entry: u32) -> Row {
        // The control plane refuses actions that the table does not have.
        let action = self.actions.iter().position(|(a, _)| *a == call.action).unwrap_or(0);
        let code = &self.actions[action].1;
        let words = code.arg_words();
        let args = match self.free_args.get_mut(words).and_then(Vec::pop) {
            Some(args) => args,
            None => {
                self.args.resize(self.args.len() + words, 0);
                (self.args.len() - words) as u32
            }
        };
        code.encode_args(&call.args, &mut self.args[args as usize..args as usize + words]);
        Row { action: action as u32, args, entry }
    }

    /// Frees the argument words of a row.
    fn free(&mut self, row: Row) {
        let Some((_, code)) = self.actions.get(row.action as usize) else { return };
        let words = code.arg_words();
        if self.free_args.len() <= words {
            self.free_args.resize(words + 1, Vec::new());
        }
        if words > 0 {
            self.free_args[words].push(row.args);
        }
    }

    /// Returns the row of a member; that of the default action if there is no such member.
    fn member(&mut self, member: u32, entry: u32, control: &ControlState) -> Row {
        let call = self.profile.and_then(|p| control.profiles[p].members.get(&member));
        self.call(call.unwrap_or(&control.tables[self.table].default), entry)
    }

    fn row(&mut self, slot: u32, e: &Entry, control: &ControlState) -> Row {
        match &e.then {
            Then::Call(call) => self.call(call, slot),
            Then::Member(m) => {
                self.by_member.entry(*m).or_default().insert(slot);
                self.member(*m, slot, control)
            }
            Then::Group(g) => {
                let at = match self.group_at.get(g) {
                    Some(at) => *at,
                    None => {
                        let at = self.groups.len() as u32;
                        self.groups.push(Group::default());
                        self.group_at.insert(*g, at);
                        self.fill_group(at, *g, control);
                        at
                    }
                };
                Row { action: GROUP, args: at, entry: slot }
            }
        }
    }

    /// Compiles a group at index `at`. If the group has no members, the default action runs.
    fn fill_group(&mut self, at: u32, group: u32, control: &ControlState) {
        for row in std::mem::take(&mut self.groups[at as usize].own) {
            self.free(row);
        }
        let fair = self.selector.as_ref().is_some_and(|(s, _)| s.is_plain_fair());
        let slots = self.profile.map(|p| control.profiles[p].slots(group)).unwrap_or_default();
        let mut of_member: BTreeMap<u32, Row> = BTreeMap::new();
        let mut rows = Vec::with_capacity(slots.members.len());
        for member in &slots.members {
            rows.push(match member {
                Some(m) => match of_member.get(m) {
                    Some(row) => *row,
                    None => {
                        let row = self.member(*m, NO_ENTRY, control);
                        of_member.insert(*m, row);
                        row
                    }
                },
                None => self.rows.first().copied().unwrap_or(Row { action: 0, args: 0, entry: NO_ENTRY }),
            });
        }
        let one_word = |s: &GroupShape| s.words().len() == 1 && s.words()[0].live() == s.words()[0].used();
        let fast = slots.shape.as_ref().filter(|s| fair && one_word(s)).map(|s| FastMod::new(s.live()));
        self.groups[at as usize] =
            Group { shape: slots.shape, rows, own: of_member.into_values().collect(), fast };
    }

    fn build(&self, entries: &[(u32, &Entry)]) -> Lookup {
        if entries.is_empty() || self.key.columns.is_empty() {
            return Lookup::Miss;
        }
        if let Some((field, width)) = self.key.lpm() {
            let prefixes = entries.iter().map(|(slot, e)| self.prefix(e, width, slot + 1)).collect();
            return Lookup::Lpm(Lpm::new(field, width, &self.key.words, prefixes));
        }
        if self.key.has_ternary() {
            let lines: Vec<_> = entries
                .iter()
                .flat_map(|(slot, e)| {
                    self.key.lines(&e.key).into_iter().map(move |line| (line, (e.priority, e.seq), slot + 1))
                })
                .collect();
            return Lookup::Ternary(Ternary::new(&self.key.words, &lines));
        }
        let keys: Vec<_> = entries.iter().map(|(slot, e)| (self.plain(e), slot + 1)).collect();
        Lookup::Exact(Exact::new(&self.key.words, &keys))
    }

    /// Adds an entry to the lookup; returns false if the lookup must be rebuilt.
    fn put_in(&mut self, e: &Entry, slot: u32) -> bool {
        let row = slot + 1;
        let prefix = self.key.lpm().map(|(_, width)| self.prefix(e, width, row));
        let plain = self.plain(e);
        match &mut self.lookup {
            Lookup::Miss => {
                self.lookup = self.build(&[(slot, e)]);
                true
            }
            Lookup::Exact(t) => t.insert(&plain, row),
            Lookup::Lpm(t) => prefix.is_some_and(|p| t.insert(&p)),
            Lookup::Ternary(t) => t.insert(&self.key.lines(&e.key), (e.priority, e.seq), row),
        }
    }

    /// Removes an entry from the lookup; returns false if the lookup must be rebuilt.
    fn take_out(&mut self, e: &Entry, control: &ControlState) -> bool {
        let width = self.key.lpm().map_or(0, |(_, width)| width);
        let prefix = self.key.lpm().map(|(_, width)| self.prefix(e, width, 0));
        let plain = self.plain(e);
        match &mut self.lookup {
            Lookup::Miss => false,
            Lookup::Exact(t) => t.remove(&plain).is_some(),
            Lookup::Lpm(t) => match (prefix, control.covering(self.table, &e.key, width)) {
                (Some(p), Ok(cover)) => t.remove(&p, cover.map(|(len, slot)| (len, slot + 1))),
                _ => false,
            },
            Lookup::Ternary(t) => {
                t.remove((e.priority, e.seq));
                !t.is_empty()
            }
        }
    }

    /// Returns the words of an entry's key without its longest-prefix column.
    fn plain(&self, e: &Entry) -> Vec<u32> {
        self.key.encode(&e.key).iter().map(|(value, _)| *value).collect()
    }

    fn prefix(&self, e: &Entry, width: u16, row: u32) -> Prefix {
        let column = self.key.columns.iter().zip(&e.key).find(|(c, _)| c.kind == MatchKind::Lpm);
        let (value, mask) = column.map_or((0, 0), |(_, column)| value_and_mask(*column, width));
        Prefix { exact: self.plain(e), value, len: mask.count_ones() as u16, row }
    }
}
