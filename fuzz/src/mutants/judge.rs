//! Inputs for mutants, each with what the unmutated program does with it.

use super::remains::Remains;
use crate::hunt::{Aim, Beside, Corpus, Digest, Input, Maker, Memory, Subject, SubjectError, restore, send};
use sluice_exec::cover::Coverage;
use sluice_exec::engine::Engine;
use sluice_exec::pass::Executor;
use sluice_ir::Program;
use std::sync::{Arc, OnceLock};

/// Laps of packets in an input at most: those that fill it with timers would take the time of many others.
const MOST_LAPS: u64 = 10_000;

/// An input with what the unmutated program does.
pub(super) struct Golden {
    pub(super) input: Input,
    pub(super) digest: Digest,
    pub(super) remains: Remains,
    /// Laps through recirculation ports.
    pub(super) laps: u64,
    /// Points that it reaches, ascending.
    reached: Vec<u32>,
}

impl Golden {
    /// Whether it reaches one of these points.
    pub(super) fn reaches(&self, points: &[u32]) -> bool {
        points.iter().any(|p| self.reached.binary_search(p).is_ok())
    }
}

/// Runs the unmutated program, as the engine does, which the hunt has compared with the interpreter.
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

    /// `None` for an input that keeps the device too busy with itself.
    pub(super) fn run(&mut self, mut input: Input) -> Result<Option<Golden>, SubjectError> {
        let Subject { control, config, points, .. } = self.subject;
        let program = &self.program;
        let mut coverage = Coverage::new(points);
        let mut seen = |engine: &mut &mut Engine, _| engine.take_coverage(&mut coverage);
        let (engine, config) = (&mut self.engine, config.clone());
        let memory = std::mem::take(&mut self.memory);
        let beside = Beside { memory, laps: MOST_LAPS, ..Beside::default() };
        let mut ran = send(self.subject, program, control, config, &mut *engine, &input, beside, &mut seen)?;
        if !input.ops.is_empty() {
            restore(program, control, engine, &input);
        }
        input.pieces = Vec::new();
        let remains = Remains::of(&mut ran.memory.device.states);
        self.memory = ran.memory;
        if ran.cut {
            return Ok(None);
        }
        // Entries are numbered behind points.
        let reached = coverage.reached().chain(coverage.found()).collect();
        Ok(Some(Golden { input, digest: ran.digest, remains, laps: ran.laps, reached }))
    }
}

/// Inputs with one aim, made when they are first wanted.
pub(super) struct Shelf {
    aim: Aim,
    /// Its number, from which its inputs follow.
    number: u64,
    inputs: Vec<OnceLock<Option<Golden>>>,
}

/// Where inputs of a shelf come from.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) maker: &'a Maker<'a>,
    pub(super) seed: u64,
    pub(super) corpus: &'a Corpus,
}

impl Shelf {
    pub(super) fn new(aim: Aim, number: u64, inputs: usize) -> Shelf {
        Shelf { aim, number, inputs: (0..inputs).map(|_| OnceLock::new()).collect() }
    }

    /// Its inputs in order; `None` for one that the device does not take.
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
