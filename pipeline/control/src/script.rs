//! Operations read from a file, with their lines.

use super::{Change, ControlOp, ControlState};
use sluice_asic::units::Duration;
use sluice_ir::Program;
use thiserror::Error;

/// An operation with its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sourced {
    /// Line number, from 1.
    pub line: u32,
    /// The operation.
    pub op: ControlOp,
    /// Time at which it takes effect, from the start of the run; zero: before the first packet.
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

/// A mistake in a file of entries.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("error: {text}\n  --> {origin}:{line}{}", if .help.is_empty() { String::new() } else { format!("\n  = help: {}", .help) })]
pub struct EntryError {
    /// Name of the file.
    pub origin: String,
    /// Line number, from 1.
    pub line: u32,
    /// Found and expected values: one sentence without a full stop.
    pub text: String,
    /// How to fix it; empty if there is no useful advice.
    pub help: String,
}

impl Script {
    /// Checks that the operations could be applied to this state, one after another. The state does not
    /// change.
    ///
    /// # Errors
    /// Refuses the same operations as [`Script::apply`].
    pub fn check(&self, program: &Program, control: &ControlState) -> Result<(), Vec<EntryError>> {
        self.apply(program, &mut control.clone()).map(|_| ())
    }

    /// Applies all operations, or none.
    ///
    /// # Errors
    /// Returns every refused operation with its line. If one is refused, `control` does not change.
    pub fn apply(
        &self,
        program: &Program,
        control: &mut ControlState,
    ) -> Result<Vec<Change>, Vec<EntryError>> {
        self.apply_beside(program, control, Vec::new())
    }

    /// Applies all operations, or none if an operation is refused or the reader of the file found `errors`.
    /// The result has both kinds of mistakes.
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
                // The missing object may have been defined in a line that could not be read.
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
