//! Tables: rows compiled from the control state, lookup, selection.

use super::LowerError;
use super::action::ActionCode;
use super::batch::{Phv, for_lanes, lanes_where};
use super::field::SlotMap;
use super::generated::Hit;
use super::hash::HashPlan;
use super::lookup::{Exact, KeyPlan, Lookup, Lpm, Prefix, Ternary, value_and_mask};
use super::watched::Watched;
use crate::pass::State;
use sluice_asic::select::{FastMod, GroupShape, Selector};
use sluice_control::{ControlState, Entry, Then};
use sluice_ir::cfg::table_actions;
use sluice_ir::{Action, ActionCall, MatchKind, Profile, Program, Table};
use std::collections::{BTreeMap, BTreeSet};

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
#[derive(Clone, Debug, Default)]
struct Group {
    /// `None` without members.
    shape: Option<GroupShape>,
    rows: Vec<Row>,
    /// One row per member: what holds argument words.
    own: Vec<Row>,
    /// One word, all active: the choice is one modulo.
    fast: Option<FastMod>,
}

/// A table of the running program.
#[derive(Clone, Debug)]
pub(super) struct EngineTable {
    table: Table,
    key: KeyPlan,
    /// Actions that it may run, and their code.
    pub(super) actions: Vec<(Action, ActionCode)>,
    profile: Option<Profile>,
    selector: Option<(Selector, HashPlan)>,
    pub(super) lookup: Lookup,
    /// What a miss finds, then one row per slot.
    rows: Vec<Row>,
    pub(super) args: Vec<u32>,
    /// First words of free runs of argument words, by their length.
    free_args: Vec<Vec<u32>>,
    groups: Vec<Group>,
    /// Place of each group that an entry has named.
    group_at: BTreeMap<u32, u32>,
    /// Slots of the entries that name each member.
    by_member: BTreeMap<u32, BTreeSet<u32>>,
    /// An action accesses the cell of the entry in a direct array, or hits keep entries young.
    pub(super) counts: bool,
    /// Hits keep entries young.
    ages: bool,
    /// Somebody asks which lanes hit.
    hits: bool,
    /// Somebody asks which entries are found.
    pub(super) watched: Option<Watched>,
}

/// What a lookup found for each lane.
#[derive(Clone)]
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

    /// How its key lies in columns.
    pub(super) fn key(&self) -> &KeyPlan {
        &self.key
    }

    /// Whether its entries age.
    pub(super) fn ages(&self) -> bool {
        self.ages
    }

    pub(super) fn is(&self, table: Table) -> bool {
        self.table == table
    }

    pub(super) fn uses(&self, profile: Profile) -> bool {
        self.profile == Some(profile)
    }

    /// Says whether anything but the ages of entries depends on hits.
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

    /// Carries over what happened to one entry: `was` is the entry as it was before, if there was one. Costs no
    /// more the more entries there are, but for what the lookup structures say of themselves.
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

    /// The default action is another one.
    pub(super) fn default_changed(&mut self, control: &ControlState) {
        if self.rows.is_empty() || self.profile.is_some() {
            // Entries and groups that lead to no member run the default, too.
            return self.compile(control);
        }
        self.free(self.rows[0]);
        self.rows[0] = self.call(&control.tables[self.table].default, NO_ENTRY);
    }

    /// A group has other members, or others of them are active.
    pub(super) fn group_changed(&mut self, group: u32, control: &ControlState) {
        if let Some(&at) = self.group_at.get(&group) {
            self.fill_group(at, group, control);
        }
    }

    /// A member does something else.
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

    /// Gives back what an entry's row holds.
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

    /// Gives a row's argument words back.
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

    /// The row of a member; without one the default action runs.
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

    /// Compiles a group at its place. One without members has nothing to choose from: the default action runs.
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
        if entries.is_empty() || self.key.fields.is_empty() {
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

    /// Adds an entry to the lookup; false if that must be built anew.
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

    /// Takes an entry out of the lookup; false if that must be built anew.
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

    /// The key's words but for a longest-prefix column.
    fn plain(&self, e: &Entry) -> Vec<u32> {
        self.key.encode(&e.key).iter().map(|(value, _)| *value).collect()
    }

    fn prefix(&self, e: &Entry, width: u16, row: u32) -> Prefix {
        let column = self.key.fields.iter().zip(&e.key).find(|((_, kind, _), _)| *kind == MatchKind::Lpm);
        let (value, mask) = column.map_or((0, 0), |(_, column)| value_and_mask(*column, width));
        Prefix { exact: self.plain(e), value, len: mask.count_ones() as u16, row }
    }

    /// Looks up the lanes of `mask`; returns those that hit, where somebody asks for them.
    #[inline]
    pub(super) fn find<const N: usize>(&self, mask: u64, phv: &Phv<N>, found: &mut Found) -> u64 {
        if matches!(self.lookup, Lookup::Miss) {
            self.all_find::<N>(self.rows[0], mask, found);
            return 0;
        }
        if self.selector.is_none() && self.same_key::<N>(mask, phv) {
            let at = self.lookup.one(phv, mask.trailing_zeros() as usize % 64);
            self.all_find::<N>(self.rows[at as usize], mask, found);
            return if at == 0 { 0 } else { mask };
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
        if self.hits { lanes_where::<N>(mask, |l| rows[l] != 0) } else { 0 }
    }

    /// Whether all lanes of `mask` ask for one key, as those of one port or VLAN do.
    #[inline]
    fn same_key<const N: usize>(&self, mask: u64, phv: &Phv<N>) -> bool {
        let (first, last) = (mask.trailing_zeros() as usize % 64, 63 - mask.leading_zeros() as usize % 64);
        self.key.pieces().all(|(slot, bits)| {
            let column = phv.column(slot);
            let value = column[first % N].get();
            let mut differ = column[last % N].get() ^ value;
            if differ & bits == 0 {
                for_lanes::<N>(mask, |l| differ |= column[l % N].get() ^ value);
            }
            differ & bits == 0
        })
    }

    /// Looks up a batch's only packet; returns whether it hit, and the position of the action that it runs.
    #[inline(always)]
    pub(super) fn one<const N: usize>(&self, phv: &Phv<N>, found: &mut Found) -> (bool, usize) {
        let at = self.lookup.one(phv, 0);
        let Some(mut row) = self.rows.get(at as usize) else { return (false, 0) };
        found.entry[0] = row.entry;
        if row.action == GROUP {
            row = self.select(row, phv, 0);
        }
        found.base[0] = row.args;
        (at != 0, row.action as usize)
    }

    /// What one packet finds in a row; groups choose by the packet's hash.
    #[inline(always)]
    pub(super) fn hit(&self, at: u32, phv: &Phv<1>) -> Hit<'_> {
        let Some(row) = self.rows.get(at as usize) else { return Hit::new(false, (0, NO_ENTRY), &[]) };
        let chosen = if row.action == GROUP { self.select(row, phv, 0) } else { row };
        let args = self.args.get(chosen.args as usize..).unwrap_or(&[]);
        Hit::new(at != 0, (chosen.action, row.entry), args)
    }

    /// Tells the state that one packet found an entry.
    #[inline]
    pub(super) fn refresh_entry(&self, entry: u32, state: &mut State) {
        if let Some(age) = state.ages[self.table].get_mut(entry as usize) {
            *age = 0;
        }
    }

    /// Tells the state which entries the lanes of `hits` found.
    #[inline]
    pub(super) fn refresh<const N: usize>(&self, hits: u64, found: &Found, state: &mut State) {
        if self.ages {
            self.make_young::<N>(hits, found, state);
        }
    }

    #[inline(never)]
    fn make_young<const N: usize>(&self, hits: u64, found: &Found, state: &mut State) {
        let ages = &mut state.ages[self.table];
        for_lanes::<N>(hits, |l| {
            if let Some(age) = ages.get_mut(found.entry[l] as usize) {
                *age = 0;
            }
        });
    }

    /// Every lane finds the same: a table without a key or without entries its default action.
    fn all_find<const N: usize>(&self, row: Row, mask: u64, found: &mut Found) {
        for_lanes::<N>(mask, |l| (found.action[l], found.base[l]) = (row.action, row.args));
        if self.counts {
            for_lanes::<N>(mask, |l| found.entry[l] = row.entry);
        }
        found.mixed = false;
    }

    #[inline]
    fn select<'s, const N: usize>(&'s self, row: &Row, phv: &Phv<N>, lane: usize) -> &'s Row {
        let group = &self.groups[row.args as usize];
        let Some((selector, hash)) = &self.selector else { return &self.rows[0] };
        let hash = hash.eval(phv, lane);
        let slot = match group.fast {
            Some(modulus) => Some(modulus.rem(hash as u32 & 0x3fff)),
            None => group.shape.as_ref().and_then(|shape| selector.pick(u128::from(hash), shape)),
        };
        slot.and_then(|s| group.rows.get(s as usize)).unwrap_or(&self.rows[0])
    }
}
