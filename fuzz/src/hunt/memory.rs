//! State that one run hands to the next: recycled memory, entries, and an executor with its entries restored.

use super::input::Input;
use sluice_control::{ControlState, Scope};
use sluice_exec::pass::Executor;
use sluice_ir::{Program, Table};
use sluice_switch as switch;

/// Memory of a finished run, recycled by the next run with the same program and entries.
#[derive(Default)]
pub(crate) struct Memory {
    /// Memory of the device.
    pub(crate) device: switch::Memory,
    /// Entries as they were before the run; `None` if there was no run.
    pub(crate) control: Option<ControlState>,
}

/// Returns the scopes that a run of an input can have changed, each once.
pub(super) fn scopes(input: &Input) -> Vec<Scope> {
    let mut list: Vec<Scope> = input.ops.iter().map(|(_, op)| op.scope()).collect();
    // Packet generators are switched off at the end.
    list.push(Scope::Device);
    list.sort_unstable();
    list.dedup();
    list
}

/// Restores the entries that an executor had before an input.
pub(crate) fn restore(
    program: &Program,
    control: &ControlState,
    executor: &mut impl Executor,
    input: &Input,
) {
    for scope in scopes(input) {
        match scope {
            Scope::Table(table) => executor.table_changed(table, control),
            Scope::Profile(profile) => executor.profile_changed(profile, control),
            Scope::ValueSet(set) => executor.value_set_changed(set, control),
            // These scopes change no lookup.
            Scope::Device | Scope::Arrays => {}
            Scope::Any => {
                let tables: Vec<Table> = program.tables.keys().collect();
                tables.into_iter().for_each(|t| executor.table_changed(t, control));
                program.profiles.keys().for_each(|p| executor.profile_changed(p, control));
                executor.port_metadata_changed(control);
                program.value_sets.keys().for_each(|s| executor.value_set_changed(s, control));
            }
        }
    }
}
