//! Entries, members and writes of one pipe alone.
//!
//! Every pipe has memories of its own. As long as nothing is asked of one pipe alone, one set of entries stands for all
//! of them. A pipe that differs has a state of its own, which takes what is asked of all pipes too. The entries of one
//! table are either the same in all pipes or each of one pipe, since an entry's number must mean one entry: the first
//! one decides while the table is empty.

use super::{Change, ControlError, ControlOp, ControlState};
use sluice_ir::{Program, Table};

impl ControlOp {
    /// The operation in one pipe alone, or in all for `None`.
    #[must_use]
    pub fn in_pipe(self, pipe: Option<u8>) -> ControlOp {
        match pipe {
            None => self,
            Some(pipe) => ControlOp::InPipe { pipe, op: Box::new(self) },
        }
    }

    /// The table whose entries it changes, by number or by key.
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

    /// What it asks for that the whole device has once, if that is what it does.
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
    /// What is configured in a pipe.
    #[must_use]
    pub fn of_pipe(&self, pipe: u8) -> &ControlState {
        self.pipes.get(&pipe).unwrap_or(self)
    }

    /// The pipes that have something of their own.
    pub fn own_pipes(&self) -> impl Iterator<Item = (u8, &ControlState)> {
        self.pipes.iter().map(|(pipe, state)| (*pipe, state))
    }

    /// Whether the entries of a table are each of one pipe.
    #[must_use]
    pub fn is_per_pipe(&self, table: Table) -> bool {
        self.per_pipe.contains(&table)
    }

    /// Whether lookups differ in a pipe from those in others.
    #[must_use]
    pub fn looks_up_alone(&self, pipe: u8) -> bool {
        self.pipes.get(&pipe).is_some_and(|own| own.tables != self.tables || own.profiles != self.profiles)
    }

    /// An operation in all pipes: all of them take it, or none.
    pub(super) fn apply_in_all(&mut self, program: &Program, op: ControlOp) -> Result<Change, ControlError> {
        if let Some(table) = op.entries_of().filter(|t| self.per_pipe.contains(t)) {
            if self.pipes.values().any(|own| own.tables[table].entries().next().is_some()) {
                let table = program.tables[table].name.clone();
                return Err(ControlError::PerPipe { table });
            }
            self.per_pipe.remove(&table);
            // The numbers of entries begin anew, so that they are the same everywhere.
            let empty = self.tables[table].slots.clone();
            for own in self.pipes.values_mut() {
                own.tables[table].slots.clone_from(&empty);
                own.index[table] = Default::default();
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

    /// An operation in one pipe alone.
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
