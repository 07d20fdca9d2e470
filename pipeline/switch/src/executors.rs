//! Executors of a switch's pipes: one for all pipes, and separate ones for pipes whose entries differ.

use sluice_control::{Change, ControlState, Entry};
use sluice_exec::pass::Executor;

/// Executors of all pipes.
pub(super) struct Executors<'e> {
    shared: Box<dyn Executor + 'e>,
    /// Separate executors of pipes whose entries differ, by pipe.
    own: Vec<Option<Box<dyn Executor + 'e>>>,
}

impl<'e> Executors<'e> {
    /// Returns executors of this many pipes, none of which has a separate one.
    pub(super) fn new(shared: Box<dyn Executor + 'e>, pipes: usize) -> Self {
        Executors { shared, own: (0..pipes).map(|_| None).collect() }
    }

    /// Returns the executor that the pipes share.
    pub(super) fn shared(&mut self) -> &mut (dyn Executor + 'e) {
        &mut *self.shared
    }

    /// Returns the executor of a pipe.
    #[inline]
    pub(super) fn of(&mut self, pipe: usize) -> &mut (dyn Executor + 'e) {
        &mut **self.own[pipe].as_mut().unwrap_or(&mut self.shared)
    }

    /// Returns true if a pipe has a separate executor.
    pub(super) fn differ(&self) -> bool {
        self.own.iter().any(Option::is_some)
    }

    /// Returns true if this pipe has a separate executor.
    pub(super) fn has_own(&self, pipe: usize) -> bool {
        self.own[pipe].is_some()
    }

    /// Gives a pipe a separate executor with the entries of the shared one; `None` if the shared one cannot be copied.
    pub(super) fn separate(&mut self, pipe: usize) -> Option<&mut (dyn Executor + 'e)> {
        let own = self.shared.fork()?;
        Some(&mut **self.own[pipe].insert(own))
    }

    /// Notifies the executors of all pipes of a change of entries.
    pub(super) fn changed(&mut self, change: Change, was: Option<&Entry>, control: &ControlState) {
        notify(&mut *self.shared, change, was, control);
        for (pipe, own) in (0..).zip(&mut self.own) {
            if let Some(own) = own {
                notify(&mut **own, change, was, control.of_pipe(pipe));
            }
        }
    }

    /// Notifies the separate executor of a pipe, if there is one, of a change of the pipe's entries.
    pub(super) fn changed_in(
        &mut self,
        pipe: u8,
        change: Change,
        was: Option<&Entry>,
        control: &ControlState,
    ) {
        if let Some(own) = &mut self.own[usize::from(pipe)] {
            notify(&mut **own, change, was, control.of_pipe(pipe));
        }
    }
}

/// Notifies an executor of a change of lookups.
fn notify(executor: &mut dyn Executor, change: Change, was: Option<&Entry>, control: &ControlState) {
    match change {
        Change::Inserted(table, entry) | Change::Modified(table, entry) | Change::Deleted(table, entry) => {
            executor.entry_changed(table, entry, was, control);
        }
        Change::Default(table) => executor.default_changed(table, control),
        Change::Member(profile, member) => executor.member_changed(profile, member, control),
        Change::Group(profile, group) => executor.group_changed(profile, group, control),
        Change::PortMetadata => executor.port_metadata_changed(control),
        Change::ValueSet(set) => executor.value_set_changed(set, control),
        _ => {}
    }
}
