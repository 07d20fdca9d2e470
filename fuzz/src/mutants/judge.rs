//! Inputs for mutants, each with the results of the unmutated program.

use super::state_snapshot::StateSnapshot;
use crate::hunt::{
    Aim, Beside, Corpus, Digest, Input, Maker, Memory, Subject, SubjectError, VisibleDigest, restore, send,
};
use sluice_exec::cover::Coverage;
use sluice_exec::engine::Engine;
use sluice_exec::pass::Executor;
use sluice_ir::Program;
use std::sync::{Arc, OnceLock};

/// Most recirculations of an input. An input with more, such as one full of timer packets, takes the time of many others.
const MOST_LAPS: u64 = 10_000;

/// An input with the results of the unmutated program.
pub(super) struct Golden {
    pub(super) input: Input,
    /// Digest of sent and dropped packets.
    pub(super) digest: Digest,
    /// Digest of bytes, ports, fates and order of packets.
    pub(super) visible: VisibleDigest,
    pub(super) snapshot: StateSnapshot,
    /// Recirculations of all packets together.
    pub(super) laps: u64,
    /// Coverage points that the input reaches, ascending.
    reached: Vec<u32>,
}

impl Golden {
    /// Returns true if the input reaches one of these points.
    pub(super) fn reaches(&self, points: &[u32]) -> bool {
        points.iter().any(|p| self.reached.binary_search(p).is_ok())
    }
}

/// Runs the unmutated program with the engine; the hunt has compared the engine with the interpreter.
pub(super) struct Original<'s> {
    subject: &'s Subject<'s>,
    program: Arc<Program>,
    engine: Engine,
    memory: Memory,
}

impl<'s> Original<'s> {
    pub(super) fn new(subject: &'s Subject<'s>) -> Result<Original<'s>, SubjectError> {
        let Subject { program, placement, control, points, .. } = subject;
        let engine = Engine::covered(program, placement, control, points.clone(), &[])
            .map_err(|e| SubjectError::Device(e.to_string()))?;
        let program = Arc::new(program.clone());
        Ok(Original { subject, program, engine, memory: Memory::default() })
    }

    /// Runs an input; returns `None` if the run was stopped after `MOST_LAPS` recirculations or at the end of the drain.
    pub(super) fn run(&mut self, mut input: Input) -> Result<Option<Golden>, SubjectError> {
        let Subject { control, config, points, .. } = self.subject;
        let program = &self.program;
        let mut coverage = Coverage::new(points);
        let mut seen = |engine: &mut dyn Executor, _| engine.take_coverage(&mut coverage);
        let (engine, config) = (&mut self.engine, config.clone());
        let memory = std::mem::take(&mut self.memory);
        let mut visible = VisibleDigest::default();
        let beside = Beside { memory, laps: MOST_LAPS, visible: Some(&mut visible), ..Beside::default() };
        let mut ran = send(self.subject, program, control, config, &mut *engine, &input, beside, &mut seen)?;
        if !input.ops.is_empty() {
            restore(program, control, engine, &input);
        }
        input.pieces = Vec::new();
        let snapshot = StateSnapshot::of(&mut ran.memory.device.states);
        self.memory = ran.memory;
        if ran.cut {
            return Ok(None);
        }
        // Entries are numbered after points.
        let reached = coverage.reached().chain(coverage.found()).collect();
        Ok(Some(Golden { input, digest: ran.digest, visible, snapshot, laps: ran.laps, reached }))
    }
}

/// Inputs with one aim, made when they are first used and shared by all threads.
pub(super) struct InputList {
    aim: Aim,
    /// Number of the list; with the seed, it determines the inputs.
    number: u64,
    inputs: Vec<OnceLock<Option<Golden>>>,
}

/// Arguments from which the inputs of an [`InputList`] are made.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) maker: &'a Maker<'a>,
    pub(super) seed: u64,
    pub(super) corpus: &'a Corpus,
}

impl InputList {
    pub(super) fn new(aim: Aim, number: u64, inputs: usize) -> InputList {
        InputList { aim, number, inputs: (0..inputs).map(|_| OnceLock::new()).collect() }
    }

    /// Returns the inputs in order; `None` for an input that the device refuses or whose run was stopped.
    pub(super) fn inputs<'a, 'o>(
        &'a self,
        source: Source<'o>,
        original: &'o mut Original<'_>,
    ) -> impl Iterator<Item = Option<&'a Golden>> {
        let first = self.number << 32;
        (first..).zip(&self.inputs).map(move |(number, slot)| {
            let make = || {
                let input = source.maker.aimed(source.seed, number, source.corpus, &self.aim);
                original.run(input).ok().flatten()
            };
            slot.get_or_init(make).as_ref()
        })
    }
}
