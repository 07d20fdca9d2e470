//! Effects of configuration changes on the state of a pipe.

use crate::pass::{Count, State};
use sluice_control::cells::Cells;
use sluice_control::{Change, ControlError, EntryId};
use sluice_ir::{CounterHome, Program, Table};

impl State {
    /// Applies a configuration change to the state: the cells of direct arrays and the counted lookups are reset when their entry
    /// is added or deleted, a cleared counter becomes 0, and registers and meters get the values of the operation.
    ///
    /// # Errors
    /// A meter configuration that the chip does not have; the state is unchanged then.
    pub fn apply(&mut self, program: &Program, change: Change) -> Result<(), Box<ControlError>> {
        let state = self;
        match change {
            Change::Modified(table, entry) => restart_ageing(table, entry, state),
            Change::Inserted(table, entry) | Change::Deleted(table, entry) => {
                restart_ageing(table, entry, state);
                state.forget_hits(table, entry);
                return reset_direct(program, table, entry, state);
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
                let refused = |error| Box::new(ControlError::Meter { meter: name(), error });
                state.meters[meter].configure(index, config.as_ref()).map_err(refused)?;
            }
            _ => {}
        }
        Ok(())
    }
}

/// Resets the cells of an entry in the direct arrays of its table.
fn reset_direct(
    program: &Program,
    table: Table,
    entry: EntryId,
    state: &mut State,
) -> Result<(), Box<ControlError>> {
    let home = CounterHome::Direct(table);
    for (c, data) in program.counters.iter() {
        if data.home == home && state.counters.get(c).is_some() {
            put(&mut state.counters[c], Some(entry), Count::default());
        }
    }
    for (r, data) in program.registers.iter().filter(|(_, data)| data.home == home) {
        state.apply(program, Change::Register(r, Some(entry), Some(data.first())))?;
    }
    for (m, data) in program.meters.iter().filter(|(_, data)| data.home == home) {
        state.apply(program, Change::Meter(m, Some(entry), data.initial))?;
    }
    Ok(())
}

/// Restarts the ageing of an entry that was added or changed.
fn restart_ageing(table: Table, entry: EntryId, state: &mut State) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_ir::Counter;
    use sluice_ir::entity::Entity;
    use sluice_ir::meter_array::Origin;
    use sluice_samples::router::router;

    #[test]
    fn a_new_entry_starts_counting_at_zero() {
        let program = router();
        let acl = program.table_named("acl").unwrap();
        let mut state = State::new(&program, &Origin::default());
        let hits = program.direct_counter(acl).unwrap();
        state.counters.values_mut().for_each(|c| c.fill(Count { packets: 5, bytes: 0 }));
        state.apply(&program, Change::Modified(acl, 1)).unwrap();
        assert_eq!(state.counters[hits].iter().map(|c| c.packets).collect::<Vec<_>>(), [5, 5, 5]);
        state.apply(&program, Change::Inserted(acl, 1)).unwrap();
        assert_eq!(state.counters[hits].iter().map(|c| c.packets).collect::<Vec<_>>(), [5, 0, 5]);
        state.apply(&program, Change::Counter(Counter::new(0), None)).unwrap();
        assert_eq!(state.counters[Counter::new(0)].iter().map(|c| c.packets).sum::<u64>(), 0);
    }
}
