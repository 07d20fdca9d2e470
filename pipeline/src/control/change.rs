//! What operations changed, and how it reaches what programs remember. What may not live here: operations, rules.

use super::op::ArrayRef;
use super::{ControlError, EntryId};
use crate::cells::Cells;
use crate::ir::{Counter, CounterHome, Meter, MeterConfig, Profile, Program, Register, Table};
use crate::pass::{Count, State};
use sluice_asic::salu::State as Element;

/// What an operation changed: which executor structures to rebuild.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A new entry.
    Inserted(Table, EntryId),
    /// An entry does something else.
    Modified(Table, EntryId),
    /// An entry is gone.
    Deleted(Table, EntryId),
    /// A table's default action.
    Default(Table),
    /// A member of a profile.
    Member(Profile, u32),
    /// A group of a profile.
    Group(Profile, u32),
    /// A counter is to be zeroed: one cell or all.
    Counter(Counter, Option<u32>),
    /// Mirror sessions or multicast groups.
    Replication,
    /// Port metadata.
    PortMetadata,
    /// The packet generator, a port or a queue.
    Device,
    /// Elements of a register are to be written: one or all, with a value or the first one.
    Register(Register, Option<u32>, Option<Element>),
    /// Nothing; a cell, or all, is to be noted.
    Read(ArrayRef, Option<u32>),
    /// Cells of a meter are to be configured: one or all.
    Meter(Meter, Option<u32>, Option<MeterConfig>),
    /// A parameter of a register, by position, has this value.
    Param(Register, u8, u32),
    /// All elements of a register become the first value, and packets find this word until the device says that they have.
    Clear(Register, u32),
}

impl Change {
    /// The table whose lookups changed.
    #[must_use]
    pub const fn table(self) -> Option<Table> {
        match self {
            Change::Inserted(t, _) | Change::Modified(t, _) | Change::Deleted(t, _) | Change::Default(t) => {
                Some(t)
            }
            _ => None,
        }
    }

    /// The profile whose members or groups changed.
    #[must_use]
    pub const fn profile(self) -> Option<Profile> {
        match self {
            Change::Member(p, _) | Change::Group(p, _) => Some(p),
            _ => None,
        }
    }

    /// Carries the change over to what the program remembers: cells of direct arrays start afresh with a new
    /// entry and end with it, a cleared counter is zero, registers and meters are as the operation says.
    ///
    /// # Errors
    /// When the chip's meters cannot be configured so; nothing has changed then.
    pub fn settle(self, program: &Program, state: &mut State) -> Result<(), ControlError> {
        match self {
            Change::Modified(table, entry) => young(table, entry, state),
            Change::Inserted(table, entry) | Change::Deleted(table, entry) => {
                young(table, entry, state);
                return afresh(program, table, entry, state);
            }
            Change::Counter(counter, index) if state.counters.get(counter).is_some() => {
                put(&mut state.counters[counter], index, Count::default());
            }
            Change::Register(register, index, value) if state.registers.get(register).is_some() => {
                let value = value.unwrap_or(program.registers[register].first());
                put(&mut state.registers[register], index, value);
            }
            Change::Clear(register, busy) if state.busy.get(register).is_some() => {
                state.registers[register].fill(program.registers[register].first());
                state.busy[register] = Some(busy);
            }
            Change::Param(register, param, value) if state.params.get(register).is_some() => {
                if let Some(slot) = state.params[register].get_mut(usize::from(param)) {
                    *slot = value;
                }
            }
            Change::Meter(meter, index, config) if state.meters.get(meter).is_some() => {
                let name = || program.meters[meter].name.clone();
                let refused = |error| ControlError::Meter { meter: name(), error };
                state.meters[meter].configure(index, config.as_ref()).map_err(refused)?;
            }
            _ => {}
        }
        Ok(())
    }
}

/// The cells of an entry in the direct arrays of its table, as new.
fn afresh(program: &Program, table: Table, entry: EntryId, state: &mut State) -> Result<(), ControlError> {
    let home = CounterHome::Direct(table);
    for (c, data) in program.counters.iter() {
        if data.home == home && state.counters.get(c).is_some() {
            put(&mut state.counters[c], Some(entry), Count::default());
        }
    }
    for (r, data) in program.registers.iter().filter(|(_, data)| data.home == home) {
        Change::Register(r, Some(entry), Some(data.first())).settle(program, state)?;
    }
    for (m, data) in program.meters.iter().filter(|(_, data)| data.home == home) {
        Change::Meter(m, Some(entry), data.initial).settle(program, state)?;
    }
    Ok(())
}

/// An entry that is new, or that was changed, has just been used.
fn young(table: Table, entry: EntryId, state: &mut State) {
    if state.ages.get(table).is_some() {
        state.ages[table].get_mut(entry as usize).into_iter().for_each(|age| *age = 0);
    }
}

fn put<T: Copy + PartialEq>(cells: &mut Cells<T>, index: Option<u32>, value: T) {
    match index {
        None => cells.fill(value),
        Some(i) => cells.get_mut(i as usize).into_iter().for_each(|c| *c = value),
    }
}
