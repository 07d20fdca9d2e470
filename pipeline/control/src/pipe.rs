//! Entries, members and writes of a single pipe.
//!
//! Every pipe has separate memories. As long as no operation names a pipe, one state is the state of all pipes. A
//! pipe that differs has a separate state, to which operations on all pipes are applied too. The entries of
//! one table are either the same in all pipes or each in one pipe, because an entry number must identify one
//! entry. The first entry decides, while the table is empty.

use super::{Change, ControlError, ControlOp, ControlState};
use sluice_ir::{Program, Table};

impl ControlOp {
    /// Makes this an operation on one pipe, or on all pipes for `None`.
    #[must_use]
    pub fn in_pipe(self, pipe: Option<u8>) -> ControlOp {
        match pipe {
            None => self,
            Some(pipe) => ControlOp::InPipe { pipe, op: Box::new(self) },
        }
    }

    /// Returns the table whose entries the operation changes, by number or by key.
    const fn entries_of(&self) -> Option<Table> {
        match self {
            ControlOp::InsertEntry { table, .. }
            | ControlOp::InsertAgeing { table, .. }
            | ControlOp::ModifyEntry { table, .. }
            | ControlOp::SetEntryTtl { table, .. }
            | ControlOp::DeleteEntry { table, .. } => Some(*table),
            _ => None,
        }
    }

    /// Returns the name of the setting if the operation changes one that the whole device shares.
    const fn of_device(&self) -> Option<&'static str> {
        match self {
            ControlOp::SetMirrorSession { .. } => Some("mirror sessions"),
            ControlOp::SetMulticastGroup { .. } | ControlOp::SetExclusionPorts { .. } => {
                Some("multicast groups")
            }
            ControlOp::SetPortMetadata { .. } => Some("port metadata, which is of a port's pipe anyhow,"),
            ControlOp::Device(_) => Some("ports, queues and packet generators"),
            ControlOp::InsertAgeing { .. } | ControlOp::SetEntryTtl { .. } => Some("entries that age"),
            ControlOp::InPipe { .. } => Some("operations of a pipe"),
            _ => None,
        }
    }
}

impl ControlState {
    /// Returns the state of a pipe.
    #[must_use]
    pub fn of_pipe(&self, pipe: u8) -> &ControlState {
        self.pipes.get(&pipe).unwrap_or(self)
    }

    /// Returns the pipes that have a separate state.
    pub fn own_pipes(&self) -> impl Iterator<Item = (u8, &ControlState)> {
        self.pipes.iter().map(|(pipe, state)| (*pipe, state))
    }

    /// True if the entries of a table are each in one pipe.
    #[must_use]
    pub fn is_per_pipe(&self, table: Table) -> bool {
        self.per_pipe.contains(&table)
    }

    /// True if lookups in this pipe differ from those in other pipes.
    #[must_use]
    pub fn looks_up_alone(&self, pipe: u8) -> bool {
        self.pipes.get(&pipe).is_some_and(|own| {
            own.tables != self.tables || own.profiles != self.profiles || own.value_sets != self.value_sets
        })
    }

    /// Applies an operation to all pipes, or to none if one of them refuses it.
    pub(super) fn apply_in_all(&mut self, program: &Program, op: ControlOp) -> Result<Change, ControlError> {
        if let Some(table) = op.entries_of().filter(|t| self.per_pipe.contains(t)) {
            if self.pipes.values().any(|own| own.tables[table].entries().next().is_some()) {
                let table = program.tables[table].name.clone();
                return Err(ControlError::PerPipe { table });
            }
            self.per_pipe.remove(&table);
            // Entry numbers start again, so that they are equal in all pipes.
            let empty = self.tables[table].slots.clone();
            for own in self.pipes.values_mut() {
                own.tables[table].slots.clone_from(&empty);
                own.index[table].clear();
            }
        }
        let mut pipes = self.pipes.clone();
        for own in pipes.values_mut() {
            own.apply_here(program, op.clone())?;
        }
        let change = self.apply_here(program, op)?;
        self.pipes = pipes;
        Ok(change)
    }

    /// Applies an operation to one pipe.
    pub(super) fn apply_in(
        &mut self,
        program: &Program,
        pipe: u8,
        op: ControlOp,
    ) -> Result<Change, ControlError> {
        if let Some(what) = op.of_device() {
            return Err(ControlError::NotPerPipe { pipe, what });
        }
        let table = op.entries_of().filter(|t| program.tables.get(*t).is_some());
        if let Some(table) = table {
            let data = &program.tables[table];
            if data.idle.is_some() {
                return Err(ControlError::NotPerPipe { pipe, what: "entries that age" });
            }
            let common = !self.per_pipe.contains(&table) && self.tables[table].entries().next().is_some();
            if common && data.entries.is_empty() {
                return Err(ControlError::AllPipes { pipe, table: data.name.clone() });
            }
        }
        let mut own = self.of_pipe(pipe).clone();
        (own.pipes, own.per_pipe) = Default::default();
        let change = own.apply_here(program, op)?;
        self.pipes.insert(pipe, own);
        self.per_pipe.extend(table);
        Ok(change)
    }
}
