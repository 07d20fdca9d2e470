//! A program, original or mutant, that runs inputs by the interpreter.

use super::judge::Golden;
use crate::hunt::{Beside, Input, Memory, Ran, Subject, SubjectError, options, restore, send};
use sluice_control::{ControlOp, ControlState};
use sluice_exec::reference::{Reference, Tracer};
use sluice_ir::Program;
use sluice_switch::property::Monitor;
use std::sync::Arc;

/// A program with its entries and what runs it.
pub(super) struct Bed<'a, T> {
    subject: &'a Subject<'a>,
    pub(super) program: Arc<Program>,
    control: ControlState,
    executor: Reference<T>,
    memory: Memory,
}

impl<'a, T: Tracer> Bed<'a, T> {
    pub(super) fn new(subject: &'a Subject<'a>, program: Program, tracer: T) -> Bed<'a, T> {
        let control = entries(subject, &program);
        let executor = Reference::traced(&program, &control, options(subject), tracer);
        Bed { subject, program: Arc::new(program), control, executor, memory: Memory::default() }
    }

    pub(super) fn tracer(&mut self) -> &mut T {
        self.executor.tracer_mut()
    }

    /// Whether every change of an input is one that the program takes. A key or an action that a mutant does not have is
    /// noticed by who writes entries, not by packets.
    pub(super) fn fits(&self, input: &Input) -> bool {
        let entries = |op: &&ControlOp| !matches!(op, ControlOp::Device(_));
        let mut ops = input.ops.iter().map(|(_, op)| op).filter(entries).peekable();
        if ops.peek().is_none() {
            return true;
        }
        let mut state = self.control.clone();
        ops.all(|op| state.apply(&self.program, op.clone()).is_ok())
    }

    /// Sends an input.
    pub(super) fn run(
        &mut self,
        golden: &Golden,
        monitor: Option<&mut Monitor>,
    ) -> Result<Ran, SubjectError> {
        let Bed { subject, program, control, executor, memory } = self;
        // One that goes round so much more often than the original does something else.
        let laps = 2 * golden.laps + 1_000;
        let beside = Beside { monitor, memory: std::mem::take(memory), laps, ..Beside::default() };
        let (config, input) = (subject.config.clone(), &golden.input);
        let sent = send(subject, program, control, config, &mut *executor, input, beside, &mut |_, _| {});
        if !input.ops.is_empty() {
            restore(program, control, executor, input);
        }
        sent
    }

    /// Takes the memory of a run back for the next one.
    pub(super) fn keep(&mut self, memory: Memory) {
        self.memory = memory;
    }
}

/// The subject's entries for a mutated program: its fixed entries and default actions are the mutant's.
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
