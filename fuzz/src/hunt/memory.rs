//! What one run leaves for the next: memory, entries, and an executor that looks up as before.

use super::input::Input;
use sluice_control::{ControlState, Scope};
use sluice_exec::pass::Executor;
use sluice_ir::{Program, Table};
use sluice_switch as switch;

/// What a device had that is of no use any more, for the next one with the same program and entries.
#[derive(Default)]
pub(crate) struct Memory {
    /// Of the device.
    pub(crate) device: switch::Memory,
    /// Entries as they were before the run.
    pub(crate) control: Option<ControlState>,
}

/// What a run of an input can have changed, each scope once.
pub(super) fn scopes(input: &Input) -> Vec<Scope> {
    let mut list: Vec<Scope> = input.ops.iter().map(|(_, op)| op.scope()).collect();
    // Packet generators are switched off at the end.
    list.push(Scope::Device);
    list.sort_unstable();
    list.dedup();
    list
}

/// Gives an executor back the entries that it had before an input.
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
            // Neither says what is looked up.
            Scope::Device | Scope::Arrays => {}
            Scope::Any => {
                let tables: Vec<Table> = program.tables.keys().collect();
                tables.into_iter().for_each(|t| executor.table_changed(t, control));
                program.profiles.keys().for_each(|p| executor.profile_changed(p, control));
                executor.port_metadata_changed(control);
            }
        }
    }
}
