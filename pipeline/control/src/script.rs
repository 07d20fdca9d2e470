//! Operations read from a file, each with its line.

use super::{Change, ControlOp, ControlState};
use sluice_asic::units::Duration;
use sluice_ir::Program;
use thiserror::Error;

/// An operation and where it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sourced {
    /// Line from 1.
    pub line: u32,
    /// The operation.
    pub op: ControlOp,
    /// When it takes effect, from the start of the run; zero for what is there from the start.
    pub at: Duration,
}

/// The operations of a file, in the order in which they must be applied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// Name of the file, for errors.
    pub origin: String,
    /// The operations.
    pub ops: Vec<Sourced>,
}

/// Something wrong in a file of entries.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("error: {text}\n  --> {origin}:{line}{}", if .help.is_empty() { String::new() } else { format!("\n  = help: {}", .help) })]
pub struct EntryError {
    /// Name of the file.
    pub origin: String,
    /// Line from 1.
    pub line: u32,
    /// What was found and what was expected, one sentence without a full stop.
    pub text: String,
    /// How to mend it; empty if nothing useful can be said.
    pub help: String,
}

impl Script {
    /// Whether the operations, one after the other, could be applied to this state, which stays as it is.
    ///
    /// # Errors
    /// As [`Script::apply`].
    pub fn check(&self, program: &Program, control: &ControlState) -> Result<(), Vec<EntryError>> {
        self.apply(program, &mut control.clone()).map(|_| ())
    }

    /// Applies all operations, or none.
    ///
    /// # Errors
    /// Every operation that is refused, with its line; `control` is unchanged then.
    pub fn apply(
        &self,
        program: &Program,
        control: &mut ControlState,
    ) -> Result<Vec<Change>, Vec<EntryError>> {
        self.apply_beside(program, control, Vec::new())
    }

    /// Applies all operations, or none if any is refused or if the file's reader had found `errors`: those come
    /// together with what the operations that could be read are refused for.
    pub(super) fn apply_beside(
        &self,
        program: &Program,
        control: &mut ControlState,
        mut errors: Vec<EntryError>,
    ) -> Result<Vec<Change>, Vec<EntryError>> {
        let mut next = control.clone();
        let mut changes = Vec::with_capacity(self.ops.len());
        let unread = !errors.is_empty();
        for Sourced { line, op, .. } in &self.ops {
            match next.apply(program, op.clone()) {
                Ok(change) => changes.push(change),
                // What is missing may have been in a line that could not be read.
                Err(e) if unread && e.is_missing() => {}
                Err(e) => errors.push(EntryError {
                    origin: self.origin.clone(),
                    line: *line,
                    text: e.to_string(),
                    help: String::new(),
                }),
            }
        }
        if errors.is_empty() {
            *control = next;
            Ok(changes)
        } else {
            errors.sort_by_key(|e| e.line);
            Err(errors)
        }
    }
}
