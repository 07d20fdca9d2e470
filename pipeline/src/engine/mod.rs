//! The fast engine: the *placed* program, lowered once, run a batch at a time.
//!
//! Each operation is dispatched once per batch and runs over all lanes in which it is due; lanes are bits
//! of a mask, so a batch of one costs no more than its own operations. There is no string, no allocation
//! and no lookup by name on the packet path. What the engine executes are containers and stages of the
//! [`Placement`], not the program text: if a placement is illegal, its results differ from the reference
//! interpreter's. What may not live here: the device around the pipeline, time.

mod action;
mod batch;
mod checksum;
mod code;
mod control;
mod covering;
mod deparser;
mod field;
mod gateway;
mod gress;
mod hash;
mod leave;
mod lookup;
mod lower;
mod parser;
mod port;
mod register;
mod request;
mod table;
mod walk;
mod watched;

use crate::control::{ControlState, Entry, EntryId};
use crate::cover::{Coverage, Points};
use crate::ir::{Profile, Program, Table};
use crate::meters::Origin;
use crate::packet::PacketStore;
use crate::pass::{Executor, GhostUpdate, MAX_BATCH, Made, Pass, State};
use crate::place::Placement;
use batch::Phv;
use code::GressCode;
use gress::{GressRun, Lanes};
use lower::lower;
use sluice_asic::gress::Gress;
use table::EngineTable;

/// A program that the engine cannot run although it was placed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the engine cannot run this program: {reason}")]
pub struct LowerError {
    reason: String,
}

impl LowerError {
    fn new(reason: impl Into<String>) -> Self {
        LowerError { reason: reason.into() }
    }
}

/// The engine of one pipe.
pub struct Engine {
    gresses: [GressEngine; 2],
    state: State,
    made: Vec<Made>,
    /// What is counted, if anything is.
    points: Option<Points>,
}

/// One gress: what runs, and PHVs for one packet and for batches of more.
#[derive(Clone)]
struct GressEngine {
    run: GressRun,
    lanes: Box<Lanes>,
    one: Phv<1>,
    many: Phv<MAX_BATCH>,
}

impl Engine {
    /// Lowers a placed program with its control state.
    ///
    /// # Errors
    /// When the program has a form that the engine does not run: a parser with thousands of paths, arithmetic
    /// that no container can hold.
    pub fn new(
        program: &Program,
        placement: &Placement,
        control: &ControlState,
    ) -> Result<Engine, LowerError> {
        Engine::lowered(program, placement, control, None)
    }

    /// The same, and it counts which of these points packets reach; they are the points of the program.
    ///
    /// # Errors
    /// As [`Engine::new`].
    pub fn covered(
        program: &Program,
        placement: &Placement,
        control: &ControlState,
        points: Points,
    ) -> Result<Engine, LowerError> {
        Engine::lowered(program, placement, control, Some(points))
    }

    fn lowered(
        program: &Program,
        placement: &Placement,
        control: &ControlState,
        points: Option<Points>,
    ) -> Result<Engine, LowerError> {
        let lower = |gress| lower(program, placement, gress, points.as_ref()).map(GressEngine::new);
        let mut engine = Engine {
            gresses: [lower(Gress::Ingress)?, lower(Gress::Egress)?],
            state: State::new(program, &Origin::of(&placement.chip)),
            made: Vec::new(),
            points,
        };
        for gress in &mut engine.gresses {
            for table in &mut gress.run.code.tables {
                table.compile(control);
            }
            gress.run.code.port_metadata.compile(control);
        }
        Ok(engine)
    }

    /// Bytes of the longest parse path: the head of a packet must hold them.
    #[must_use]
    pub fn parse_depth(&self) -> u32 {
        self.gresses.iter().map(|g| g.run.code.parser.depth).max().unwrap_or(0)
    }
}

impl Engine {
    /// The tables that are wanted.
    fn tables(&mut self, wanted: impl Fn(&EngineTable) -> bool) -> impl Iterator<Item = &mut EngineTable> {
        self.gresses.iter_mut().flat_map(|g| &mut g.run.code.tables).filter(move |t| wanted(t))
    }
}

impl Executor for Engine {
    fn run(&mut self, gress: Gress, batch: &mut [Pass], packets: &mut PacketStore) {
        let engine = &mut self.gresses[gress.index()];
        self.made.clear();
        if batch.len() == 1 {
            engine.run.first = 0;
            let GressEngine { run, lanes, one, .. } = engine;
            return run.run(batch, packets, one, lanes, &mut self.state, &mut self.made);
        }
        for (i, batch) in batch.chunks_mut(MAX_BATCH).enumerate() {
            let GressEngine { run, lanes, one, many } = engine;
            run.first = (i * MAX_BATCH) as u32;
            let (state, made) = (&mut self.state, &mut self.made);
            match batch {
                [_] => run.run(batch, packets, one, lanes, state, made),
                _ => run.run(batch, packets, many, lanes, state, made),
            }
        }
    }

    fn ghost(&mut self, update: &GhostUpdate) {
        let GressEngine { run, lanes, one, .. } = &mut self.gresses[Gress::Ingress.index()];
        run.ghost(update, one, lanes, &mut self.state);
    }

    fn made(&mut self) -> &mut Vec<Made> {
        &mut self.made
    }

    fn table_changed(&mut self, table: Table, control: &ControlState) {
        self.tables(|t| t.is(table)).for_each(|t| t.compile(control));
    }

    fn profile_changed(&mut self, profile: Profile, control: &ControlState) {
        self.tables(|t| t.uses(profile)).for_each(|t| t.compile(control));
    }

    fn entry_changed(&mut self, table: Table, entry: EntryId, was: Option<&Entry>, control: &ControlState) {
        self.tables(|t| t.is(table)).for_each(|t| t.entry_changed(entry, was, control));
    }

    fn default_changed(&mut self, table: Table, control: &ControlState) {
        self.tables(|t| t.is(table)).for_each(|t| t.default_changed(control));
    }

    fn member_changed(&mut self, profile: Profile, member: u32, control: &ControlState) {
        self.tables(|t| t.uses(profile)).for_each(|t| t.member_changed(member, control));
    }

    fn group_changed(&mut self, profile: Profile, group: u32, control: &ControlState) {
        self.tables(|t| t.uses(profile)).for_each(|t| t.group_changed(group, control));
    }

    fn fork(&self) -> Option<Engine> {
        // What two of them count would have to be added up.
        let uncounted = self.points.is_none();
        uncounted.then(|| Engine {
            gresses: self.gresses.clone(),
            state: State::default(),
            made: Vec::new(),
            points: None,
        })
    }

    fn port_metadata_changed(&mut self, control: &ControlState) {
        self.gresses.iter_mut().for_each(|g| g.run.code.port_metadata.compile(control));
    }

    fn state(&self) -> &State {
        &self.state
    }

    fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }

    fn take_coverage(&mut self, coverage: &mut Coverage) {
        let Some(points) = &self.points else { return };
        for gress in &mut self.gresses {
            let GressRun { code, covered, .. } = &mut gress.run;
            code.parser.take_counts(|number, n| coverage.add(number, n));
            for ((_, number), times) in code.covered.iter().zip(covered) {
                coverage.add(*number, std::mem::take(times));
            }
            for table in &code.tables {
                table.take_found(|number| coverage.hit(number));
            }
            for plan in &code.accesses {
                plan.take_counts(|point, n| {
                    if let Some(number) = points.number(point) {
                        coverage.add(number, n);
                    }
                });
            }
        }
    }
}

impl GressEngine {
    fn new(code: GressCode) -> GressEngine {
        let (one, many) = (Phv::new(code.slots), Phv::new(code.slots));
        GressEngine { run: GressRun::new(code), lanes: Box::new(Lanes::new()), one, many }
    }
}
