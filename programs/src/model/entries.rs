//! Lookups in lists of entries, as a reader of the list would do them.

use sluice_control::{ControlState, Entry, Then};
use sluice_ir::{ActionCall, KeyValue, Program};

/// Number of bits of a 32-bit or 128-bit address after its prefix, and so of the bits that a lookup ignores.
fn ignored(width: u32, len: u16) -> u32 {
    width.saturating_sub(len.into())
}

/// An action with its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Call<'a> {
    /// Name of the action.
    pub(crate) action: &'a str,
    /// Its arguments.
    pub(crate) args: &'a [u128],
}

impl Call<'_> {
    /// Returns an argument; 0 if there is none.
    pub(crate) fn arg(&self, at: usize) -> u128 {
        self.args.get(at).copied().unwrap_or(0)
    }

    /// Returns an argument as a dev_port.
    pub(crate) fn port(&self, at: usize) -> u16 {
        self.arg(at) as u16
    }
}

/// The entries of a device, by the names of its tables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entries<'a> {
    names: &'a Program,
    control: &'a ControlState,
}

/// Members of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group<'a> {
    /// The members, each as often as its weight.
    pub(crate) members: Vec<Call<'a>>,
    /// True if all members are up, and fit into one word of the selector.
    pub(crate) whole: bool,
}

/// Members that one word of the selector holds.
const WORD: usize = 120;

impl<'a> Entries<'a> {
    /// Returns the entries of this control plane; `names` has the names of its tables and actions.
    pub(crate) fn new(names: &'a Program, control: &'a ControlState) -> Entries<'a> {
        Entries { names, control }
    }

    fn call(&self, call: &'a ActionCall) -> Call<'a> {
        Call { action: &self.names.actions[call.action].name, args: &call.args }
    }

    fn list(&self, table: &str) -> impl Iterator<Item = &'a Entry> + use<'a> {
        let of = self.names.tables.iter().find(|(_, data)| data.name == table).map(|(table, _)| table);
        let state = of.map(|table| &self.control.tables[table]);
        state.into_iter().flat_map(|state| state.slots.iter().flatten())
    }

    /// Returns the default action that the control plane set. `None` if a miss does what the program says.
    pub(crate) fn default(&self, table: &str) -> Option<Call<'a>> {
        let (table, data) = self.names.tables.iter().find(|(_, data)| data.name == table)?;
        let default = &self.control.tables[table].default;
        (*default != data.default).then(|| self.call(default))
    }

    fn then(&self, entry: &'a Entry) -> Option<Call<'a>> {
        match &entry.then {
            Then::Call(call) => Some(self.call(call)),
            _ => None,
        }
    }

    /// Returns the exact values of one key column.
    pub(crate) fn keys(&self, table: &str, column: usize) -> impl Iterator<Item = u128> + use<'a> {
        self.list(table).filter_map(move |entry| match entry.key.get(column) {
            Some(KeyValue::Exact(value)) => Some(*value),
            _ => None,
        })
    }

    fn exact_entry(&self, table: &str, key: &[u128]) -> Option<&'a Entry> {
        let is = |entry: &&Entry| {
            entry.key.len() == key.len()
                && entry.key.iter().zip(key).all(|(found, value)| *found == KeyValue::Exact(*value))
        };
        self.list(table).find(is)
    }

    /// Looks up a key in a table with exact keys; on a miss the default action that the control plane set.
    pub(crate) fn exact(&self, table: &str, key: &[u128]) -> Option<Call<'a>> {
        match self.exact_entry(table, key) {
            Some(entry) => self.then(entry),
            None => self.default(table),
        }
    }

    /// Looks up an address of `width` bits by longest prefix, after exact keys; a miss as in [`Self::exact`].
    pub(crate) fn longest(
        &self,
        table: &str,
        exact: &[u128],
        (address, width): (u128, u32),
    ) -> Option<Call<'a>> {
        let covers = |entry: &'a Entry| {
            let (last, first) = entry.key.split_last()?;
            let same = first.len() == exact.len()
                && first.iter().zip(exact).all(|(found, value)| *found == KeyValue::Exact(*value));
            let KeyValue::Lpm { value, len } = last else { return None };
            let bits = ignored(width, *len);
            let cut = |address: u128| address.checked_shr(bits).unwrap_or(0);
            (same && cut(address) == cut(*value)).then_some((*len, entry))
        };
        match self.list(table).filter_map(covers).max_by_key(|(len, _)| *len) {
            Some((_, entry)) => self.then(entry),
            None => self.default(table),
        }
    }

    /// Looks up values in a table with ternary keys: the entry with the lowest priority number wins; a miss as in
    /// [`Self::exact`].
    pub(crate) fn ternary(&self, table: &str, values: &[u128]) -> Option<Call<'a>> {
        let agrees = |(key, value): (&KeyValue, &u128)| match key {
            KeyValue::Ternary { value: wanted, mask } => value & mask == wanted & mask,
            KeyValue::Exact(wanted) => value == wanted,
            _ => false,
        };
        let matching = self.list(table).filter(|entry| entry.key.iter().zip(values).all(agrees));
        match matching.min_by_key(|entry| (entry.priority, entry.seq)) {
            Some(entry) => self.then(entry),
            None => self.default(table),
        }
    }

    /// Returns the group that a table with one exact key selects.
    pub(crate) fn group(&self, table: &str, key: u128) -> Option<Group<'a>> {
        let Then::Group(number) = self.exact_entry(table, &[key])?.then else { return None };
        let (_, data) = self.names.tables.iter().find(|(_, data)| data.name == table)?;
        let profile = &self.control.profiles[data.profile?];
        let group = profile.groups.get(&number)?;
        let up = || group.iter().filter(|member| member.active);
        let each = up().flat_map(|member| std::iter::repeat_n(member.member, member.weight as usize));
        let members: Vec<Call<'a>> =
            each.filter_map(|member| profile.members.get(&member)).map(|call| self.call(call)).collect();
        let whole = up().count() == group.len() && (1..=WORD).contains(&members.len());
        Some(Group { members, whole })
    }
}
