//! The engine: runs the *placed* program, lowered once, in batches of packets.
//!
//! Each operation is dispatched once per batch and runs over all lanes for which it is due. Lanes are bits of a mask. The
//! packet path has no string, no allocation and no lookup by name. The engine executes the containers and stages of the
//! [`Placement`], not the program text: if a placement is illegal, the results differ from those of the reference
//! interpreter.

mod action;
mod batch;
mod checksum;
mod code;
mod control;
mod covering;
mod deparser;
mod field;
mod gateway;
pub mod generate;
pub mod generated;
mod gress;
mod hash;
mod leave;
mod list;
mod lookup;
mod lower;
mod parser;
mod port;
mod register;
mod request;
mod table;
mod walk;
mod watched;

use crate::cover::{Coverage, Points};
use crate::packet::PacketStore;
use crate::pass::{Executor, GhostUpdate, MAX_BATCH, Made, Pass, State};
use batch::Phv;
use code::GressCode;
use generated::{Frame, Generated, GressFn};
use gress::{GressRun, Lanes};
use lower::lower;
use sluice_asic::gress::Gress;
use sluice_control::{ControlState, Entry, EntryId};
use sluice_ir::meter_array::Origin;
use sluice_ir::{Profile, Program, Table, ValueSet};
use sluice_place::Placement;
use table::EngineTable;

/// Batches of at least this many packets run by steps even if there is generated code: the dispatch of a step costs little
/// per lane, and memory accesses of the lanes overlap (`docs/speed.md`).
const WIDE: usize = 48;

/// Reason why the engine cannot run a placed program.
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

/// Engine of one pipe.
pub struct Engine {
    gresses: [GressEngine; 2],
    state: Box<State>,
    made: Vec<Made>,
    /// Coverage points; `None` if coverage is not counted.
    points: Option<Points>,
}

/// Lowered gress with PHVs for one packet and for larger batches.
#[derive(Clone)]
struct GressEngine {
    run: GressRun,
    lanes: Box<Lanes>,
    one: Phv<1>,
    many: Phv<MAX_BATCH>,
    /// Generated code with its constants; `None` if the engine runs by steps.
    generated: Option<(GressFn, Box<[u32]>)>,
}

impl Engine {
    /// Lowers a placed program with its control state.
    ///
    /// # Errors
    /// If the program has a form that the engine does not run: a parser with thousands of paths, or arithmetic that no
    /// container has room for.
    pub fn new(
        program: &Program,
        placement: &Placement,
        control: &ControlState,
    ) -> Result<Engine, LowerError> {
        Engine::lowered(program, placement, control, None)
    }

    /// As [`Engine::new`], with generated code for the program if the list has any. The results are the same.
    ///
    /// # Errors
    /// As [`Engine::new`].
    pub fn generated(
        program: &Program,
        placement: &Placement,
        control: &ControlState,
        list: &[Generated],
    ) -> Result<Engine, LowerError> {
        Ok(Engine::new(program, placement, control)?.by(program, placement, list))
    }

    /// Returns the engine with generated code for its program, if the list has any.
    fn by(mut self, program: &Program, placement: &Placement, list: &[Generated]) -> Engine {
        let same = |g: &&Generated| g.program == program.name && g.chip == placement.chip.name;
        let mut list = list.iter().filter(same).peekable();
        if list.peek().is_some() {
            let [ingress, egress] = &self.gresses;
            let text = generate::text(program, placement, [&ingress.run.code, &egress.run.code]);
            let digest = text.digest();
            let found = list.find(|g| g.digest == digest).map(|g| g.gresses);
            let code = found.into_iter().flatten().zip(text.pools);
            for (gress, (code, pool)) in self.gresses.iter_mut().zip(code) {
                let fits = code.fits(gress.run.code.slots);
                gress.generated = fits.then(|| (code, pool.into()));
            }
        }
        self
    }

    /// Returns true if the engine runs generated code.
    #[must_use]
    pub fn runs_generated(&self) -> bool {
        self.gresses.iter().all(|g| g.generated.is_some())
    }

    /// Returns an engine that counts the packets at `points`, which are those of the program. It runs generated code that
    /// counts, if the list has any for the program.
    ///
    /// # Errors
    /// As [`Engine::new`].
    pub fn covered(
        program: &Program,
        placement: &Placement,
        control: &ControlState,
        points: Points,
        list: &[Generated],
    ) -> Result<Engine, LowerError> {
        Ok(Engine::lowered(program, placement, control, Some(points))?.by(program, placement, list))
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
            state: Box::new(State::new(program, &Origin::of(&placement.chip))),
            made: Vec::new(),
            points,
        };
        for gress in &mut engine.gresses {
            for table in &mut gress.run.code.tables {
                table.compile(control);
            }
            gress.run.code.port_metadata.compile(control);
            gress.run.code.parser.compile(None, control);
        }
        Ok(engine)
    }

    /// Returns the bytes of the longest parse path, which the head of a packet must hold.
    #[must_use]
    pub fn parse_depth(&self) -> u32 {
        self.gresses.iter().map(|g| g.run.code.parser.depth).max().unwrap_or(0)
    }
}

impl Engine {
    /// Returns the tables that `wanted` selects.
    fn tables(&mut self, wanted: impl Fn(&EngineTable) -> bool) -> impl Iterator<Item = &mut EngineTable> {
        self.gresses.iter_mut().flat_map(|g| &mut g.run.code.tables).filter(move |t| wanted(t))
    }
}

impl Executor for Engine {
    fn run(&mut self, gress: Gress, batch: &mut [Pass], packets: &mut PacketStore) {
        let engine = &mut self.gresses[gress.index()];
        self.made.clear();
        if batch.len() < WIDE
            && let Some((code, mut frame)) =
                engine.frame(&mut self.state, batch, Some(packets), &mut self.made)
        {
            return code.run(&mut frame);
        }
        if batch.len() == 1 {
            engine.run.first = 0;
            let GressEngine { run, lanes, one, .. } = engine;
            return run.run(batch, packets, one, lanes, &mut self.state, &mut self.made);
        }
        for (i, batch) in batch.chunks_mut(MAX_BATCH).enumerate() {
            let GressEngine { run, lanes, one, many, .. } = engine;
            run.first = (i * MAX_BATCH) as u32;
            let (state, made) = (&mut self.state, &mut self.made);
            match batch {
                [_] => run.run(batch, packets, one, lanes, state, made),
                _ => run.run(batch, packets, many, lanes, state, made),
            }
        }
    }

    fn ghost(&mut self, update: &GhostUpdate) {
        let engine = &mut self.gresses[Gress::Ingress.index()];
        let GressEngine { run, lanes, one, .. } = engine;
        let Some(root) = run.enter_ghost(update, one, lanes) else { return };
        if let Some((code, mut frame)) = engine.frame(&mut self.state, &mut [], None, &mut self.made) {
            return code.ghost(&mut frame);
        }
        let GressEngine { run, lanes, one, .. } = engine;
        run.control(root, 1, one, lanes, &mut self.state);
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

    fn fork<'e>(&self) -> Option<Box<dyn Executor + 'e>> {
        // The counts of two engines would have to be added up.
        let uncounted = self.points.is_none();
        uncounted.then(|| {
            let (gresses, state) = (self.gresses.clone(), Box::default());
            Box::new(Engine { gresses, state, made: Vec::new(), points: None }) as Box<dyn Executor>
        })
    }

    fn port_metadata_changed(&mut self, control: &ControlState) {
        self.gresses.iter_mut().for_each(|g| g.run.code.port_metadata.compile(control));
    }

    fn value_set_changed(&mut self, set: ValueSet, control: &ControlState) {
        self.gresses.iter_mut().for_each(|g| g.run.code.parser.compile(Some(set), control));
    }

    fn state(&self) -> &State {
        &self.state
    }

    fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }

    fn swap_state(&mut self, state: &mut Box<State>) {
        std::mem::swap(&mut self.state, state);
    }

    fn take_coverage(&mut self, coverage: &mut Coverage) {
        let Some(points) = &self.points else { return };
        for gress in &mut self.gresses {
            let GressRun { code, reached, .. } = &mut gress.run;
            for (number, times) in (0..).zip(reached).filter(|(_, times)| **times > 0) {
                coverage.add(number, std::mem::take(times));
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
        GressEngine { run: GressRun::new(code), lanes: Box::new(Lanes::new()), one, many, generated: None }
    }

    /// Returns the generated code, if there is any, and the structures on which it works.
    fn frame<'a>(
        &'a mut self,
        state: &'a mut State,
        batch: &'a mut [Pass],
        packets: Option<&'a mut PacketStore>,
        made: &'a mut Vec<Made>,
    ) -> Option<(GressFn, Frame<'a>)> {
        let GressEngine { run: gress, lanes, one: phv, generated, .. } = self;
        let (code, pool) = generated.as_ref()?;
        Some((*code, Frame { gress, phv, lanes, state, batch, packets, made, pool }))
    }
}
