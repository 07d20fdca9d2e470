//! Test harness of the mutation check: runs inputs through the original program or a mutant with the reference interpreter.

use super::judge::Golden;
use crate::hunt::{Beside, Input, Memory, Ran, Subject, SubjectError, VisibleDigest, options, restore, send};
use sluice_control::{ControlOp, ControlState};
use sluice_exec::reference::{Reference, Tracer};
use sluice_ir::Program;
use sluice_switch::property::Monitor;
use std::sync::Arc;

/// A program with its entries and interpreter.
pub(super) struct Harness<'a, T> {
    subject: &'a Subject<'a>,
    pub(super) program: Arc<Program>,
    control: ControlState,
    executor: Reference<T>,
    memory: Memory,
}

impl<'a, T: Tracer> Harness<'a, T> {
    pub(super) fn new(subject: &'a Subject<'a>, program: Program, tracer: T) -> Harness<'a, T> {
        let control = entries(subject, &program);
        let executor = Reference::traced(&program, &control, options(subject), tracer);
        Harness { subject, program: Arc::new(program), control, executor, memory: Memory::default() }
    }

    pub(super) fn tracer(&mut self) -> &mut T {
        self.executor.tracer_mut()
    }

    /// Returns true if the program accepts every change of entries in the input. A mutant without a key or action is noticed
    /// by the writer of entries, not by packets, so such inputs are left out.
    pub(super) fn fits(&self, input: &Input) -> bool {
        let entries = |op: &&ControlOp| !matches!(op, ControlOp::Device(_));
        let mut ops = input.ops.iter().map(|(_, op)| op).filter(entries).peekable();
        if ops.peek().is_none() {
            return true;
        }
        let mut state = self.control.clone();
        ops.all(|op| state.apply(&self.program, op.clone()).is_ok())
    }

    /// Sends an input; the caller may return the memory of the result with [`Self::keep`].
    pub(super) fn run(
        &mut self,
        golden: &Golden,
        monitor: Option<&mut Monitor>,
        visible: Option<&mut VisibleDigest>,
    ) -> Result<Ran, SubjectError> {
        let Harness { subject, program, control, executor, memory } = self;
        // A mutant that recirculates packets so much more often than the original differs from it.
        let laps = 2 * golden.laps + 1_000;
        let beside = Beside { monitor, visible, memory: std::mem::take(memory), laps, ..Beside::default() };
        let (config, input) = (subject.config.clone(), &golden.input);
        let sent = send(subject, program, control, config, &mut *executor, input, beside, &mut |_, _| {});
        if !input.ops.is_empty() {
            restore(program, control, executor, input);
        }
        sent
    }

    /// Takes the memory of a run, to use it again in the next one.
    pub(super) fn keep(&mut self, memory: Memory) {
        self.memory = memory;
    }
}

/// Returns the subject's entries for a mutated program. Constant entries and unchanged default actions are those of the mutant.
fn entries(subject: &Subject<'_>, program: &Program) -> ControlState {
    let (mut control, own) = (subject.control.clone(), ControlState::new(program));
    for (table, data) in program.tables.iter() {
        let was = &subject.program.tables[table];
        if !data.entries.is_empty() || !was.entries.is_empty() {
            control.tables[table].clone_from(&own.tables[table]);
        }
        if control.tables[table].default == was.default {
            control.tables[table].default.clone_from(&data.default);
        }
    }
    control
}
