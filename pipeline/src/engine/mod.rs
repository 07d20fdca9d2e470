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
mod deparser;
mod field;
mod gateway;
mod hash;
mod lookup;
mod lower;
mod open;
mod parser;
mod port;
mod register;
mod request;
mod table;

use crate::control::{ControlState, Entry, EntryId};
use crate::cover::{Coverage, Points};
use crate::ir::{Intrinsic, Profile, Program, Table};
use crate::meters::Origin;
use crate::packet::PacketStore;
use crate::pass::{Executor, GhostUpdate, MAX_BATCH, Made, Pass, PassIn, PassOut, State, Verdict};
use crate::place::Placement;
use action::{Effects, EntryOf, label_of};
use batch::{Phv, first_lanes, for_lanes, lanes_where};
use deparser::DeparserLanes;
use field::FieldAt;
use lower::{GressCode, Step, lower};
use open::Open;
use parser::{Ended, Heads, ParserScratch};
use register::{Notes, Stamps, settle};
use request::Lanes as RequestLanes;
use sluice_asic::gress::Gress;
use table::{EngineTable, Found, NO_ENTRY};

/// `parser_err`: a checksum that was verified is wrong (facts: asic §10).
const WRONG_CHECKSUM: u64 = 0x1000;

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

/// Code and scratch memory of one gress.
#[derive(Clone)]
struct GressRun {
    code: GressCode,
    /// The lanes in which each predicate holds, of those that a step decided.
    preds: Vec<u64>,
    open: Open,
    parser: ParserScratch,
    found: Found,
    /// One of each array with several users, and one more for accesses that are done at once.
    notes: Vec<Notes>,
    /// Position in the caller's batch of the first lane.
    first: u32,
    /// Lanes counted per predicate of the code that is.
    covered: Vec<u64>,
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

/// What is known of the lanes of a batch besides their PHV. Kept between batches: only the lanes in use are
/// written.
#[derive(Clone)]
struct Lanes {
    /// Each packet's first byte among all heads.
    start: [usize; 64],
    /// Bytes of its head.
    head: [u32; 64],
    /// Bytes of all of it.
    bytes: [u32; 64],
    leaf: [u16; 64],
    labels: [u32; 64],
    /// Lanes that have a label.
    dropped: u64,
    /// The data plane's clock in ns at entry; filled for programs that ask meters.
    now: [u64; 64],
    /// A number per generator and lane.
    random: Vec<[u32; 64]>,
}

impl Lanes {
    fn new() -> Lanes {
        Lanes {
            start: [0; 64],
            head: [0; 64],
            bytes: [0; 64],
            leaf: [0; 64],
            labels: [0; 64],
            dropped: 0,
            now: [0; 64],
            random: Vec::new(),
        }
    }
}

impl GressEngine {
    fn new(code: GressCode) -> GressEngine {
        let (one, many) = (Phv::new(code.slots), Phv::new(code.slots));
        GressEngine { run: GressRun::new(code), lanes: Box::new(Lanes::new()), one, many }
    }
}

impl GressRun {
    fn new(code: GressCode) -> GressRun {
        let (preds, open) = (vec![0; code.preds], Open::new(code.steps.len()));
        let (parser, found) = (ParserScratch::default(), Found::default());
        let notes = (0..=code.noted).map(|_| Notes::new()).collect();
        let covered = vec![0; code.covered.len()];
        GressRun { code, preds, open, parser, found, notes, first: 0, covered }
    }

    /// Runs a batch of at most `N` passes.
    fn run<const N: usize>(
        &mut self,
        batch: &mut [Pass],
        packets: &mut PacketStore,
        phv: &mut Phv<N>,
        lanes: &mut Lanes,
        state: &mut State,
        made: &mut Vec<Made>,
    ) {
        let mask = if N == 1 { 1 } else { first_lanes(batch.len()) };
        phv.clear(batch.len());
        self.enter(mask, batch, packets, phv, lanes);
        if self.code.timed || !self.code.randoms.is_empty() {
            self.prepare(batch, lanes, state);
        }
        let failed = self.parse(mask, packets, phv, lanes, state);
        let failed = if self.code.sees_errors { 0 } else { failed };
        self.control(0, mask & !failed, phv, lanes, state);
        self.leave((mask, failed), batch, packets, phv, lanes, made);
    }

    /// Fills intrinsic fields.
    fn enter<const N: usize>(
        &self,
        mask: u64,
        batch: &[Pass],
        packets: &PacketStore,
        phv: &Phv<N>,
        lanes: &mut Lanes,
    ) {
        lanes.dropped = 0;
        for_lanes::<N>(mask, |l| {
            let span = packets.span(batch[l].packet);
            (lanes.start[l], lanes.head[l], lanes.bytes[l]) = (span.start, span.head, span.bytes);
        });
        self.code.port_metadata.run::<N>(mask, batch, phv);
        for (which, at) in &self.code.inputs {
            let bytes = &lanes.bytes;
            let into = (at, mask, phv);
            match which {
                Intrinsic::IngressPort | Intrinsic::EgressPort => fill(into, batch, |i| u64::from(i.port)),
                Intrinsic::UcastEgressPort => fill(into, batch, |_| u64::from(Intrinsic::NO_PORT)),
                Intrinsic::IngressMacTstamp => fill(into, batch, |i| i.mac_tstamp),
                Intrinsic::GlobalTstamp => fill(into, batch, |i| i.global_tstamp),
                Intrinsic::EnqQdepth => fill(into, batch, |i| u64::from(i.enq_qdepth)),
                Intrinsic::EnqTstamp => fill(into, batch, |i| u64::from(i.enq_tstamp)),
                Intrinsic::DeqQdepth => fill(into, batch, |i| u64::from(i.deq_qdepth)),
                Intrinsic::DeqTimedelta => fill(into, batch, |i| u64::from(i.deq_timedelta)),
                Intrinsic::EgressQid => fill(into, batch, |i| u64::from(i.qid)),
                Intrinsic::PktLength => at.write_lanes::<N>(mask, phv, |l| u64::from(bytes[l])),
                Intrinsic::ResubmitFlag => fill(into, batch, |i| u64::from(i.resubmitted)),
                Intrinsic::EgressRid => fill(into, batch, |i| u64::from(i.rid)),
                Intrinsic::EgressRidFirst => fill(into, batch, |i| u64::from(i.rid_first)),
                Intrinsic::EgressCos => fill(into, batch, |i| u64::from(i.cos)),
                Intrinsic::DeflectionFlag => fill(into, batch, |i| u64::from(i.deflected)),
                Intrinsic::EnqCongestStat => fill(into, batch, |i| u64::from(i.enq_congest_stat)),
                // Written after parsing, or zero at first.
                _ => {}
            }
        }
    }

    /// What meters and random numbers need: the time of each entry, a number of each generator per pass.
    #[inline(never)]
    fn prepare(&self, batch: &[Pass], lanes: &mut Lanes, state: &mut State) {
        for (now, pass) in lanes.now.iter_mut().zip(batch) {
            *now = pass.input.global_tstamp;
        }
        lanes.random.resize(self.code.randoms.len(), [0; 64]);
        for ((random, width), numbers) in self.code.randoms.iter().zip(&mut lanes.random) {
            let stream = &mut state.randoms[*random];
            numbers.iter_mut().zip(batch).for_each(|(n, _)| *n = stream.draw(*width) as u32);
        }
    }

    /// Parses; returns the lanes whose parsing failed.
    fn parse<const N: usize>(
        &mut self,
        mask: u64,
        packets: &PacketStore,
        phv: &Phv<N>,
        lanes: &mut Lanes,
        state: &mut State,
    ) -> u64 {
        let Lanes { start, head, bytes, leaf, labels, now, .. } = lanes;
        let mut windows = [packets.window(start[0]); N];
        for_lanes::<N>(mask & !1, |l| windows[l % N] = packets.window(start[l]));
        let heads = Heads { windows, len: head };
        let (hashes, found) = (&self.code.hashes, &self.found);
        let mut ended = Ended { leaf, failed: 0, wrong: 0 };
        let parser = &self.code.parser;
        parser.run::<N>(mask, &heads, phv, &mut self.parser, &mut ended, |code, lanes_of| {
            let entry = EntryOf { args: &[], base: &found.base, entry: &found.entry };
            // Parsers do not access registers.
            let (accesses, notes) = (&[][..], &mut [][..]);
            let state = &mut *state;
            let mut fx =
                Effects { hashes, accesses, notes, state, bytes, labels, dropped: 0, now, random: &[] };
            action::run::<N>(code, lanes_of, phv, &entry, &mut fx);
        });
        let Ended { failed, wrong, .. } = ended;
        if let Some((_, at)) = self.code.inputs.iter().find(|(which, _)| *which == Intrinsic::ParserErr) {
            let leaves = &self.code.parser.leaves;
            at.write_lanes::<N>(mask, phv, |l| {
                u64::from(leaves[usize::from(leaf[l])].error) | ((wrong >> l & 1) * WRONG_CHECKSUM)
            });
        }
        failed
    }

    /// Runs the ghost control on an update.
    fn ghost(&mut self, update: &GhostUpdate, phv: &mut Phv<1>, lanes: &mut Lanes, state: &mut State) {
        let Some(root) = self.code.ghost else { return };
        phv.clear(1);
        lanes.bytes[0] = 0;
        for (which, at) in self.code.inputs.iter().filter(|(which, _)| which.is_ghost()) {
            at.write_lanes::<1>(1, phv, |_| update.field(*which).into());
        }
        self.control(root, 1, phv, lanes, state);
    }

    /// Runs the steps below the predicate `root`. A batch does each step for all lanes in which it is due; one packet
    /// takes the outcome of a step and goes on to the next that is due.
    fn control<const N: usize>(
        &mut self,
        root: usize,
        mask: u64,
        phv: &Phv<N>,
        lanes: &mut Lanes,
        state: &mut State,
    ) {
        let GressRun { code, preds, open, found, notes, covered, .. } = self;
        if !covered.is_empty() {
            preds.fill(0);
        }
        if mask == 0 {
            return;
        }
        (preds[root], preds[code.every]) = (mask, mask);
        open.start(&code.starts[usize::from(code.ghost == Some(root))]);
        let Lanes { bytes, labels, now, random, .. } = lanes;
        let (hashes, accesses) = (&code.hashes, &code.accesses);
        let mut fx = Effects { hashes, accesses, notes, state, bytes, labels, dropped: 0, now, random };
        while let Some((at, step)) = open.next().and_then(|at| Some((at, code.steps.get(at)?))) {
            let here = if N == 1 { 1 } else { preds[usize::from(code.due[at])] };
            // Of one packet every action runs at one place, where its operations stand in line.
            let (action, args) = match step {
                Step::Snapshot(copies) => {
                    for (from, to) in copies {
                        let (from, to) = (phv.column(*from), phv.column(*to));
                        for_lanes::<N>(mask, |l| to[l % N].set(from[l % N].get()));
                    }
                    continue;
                }
                Step::Settle(arrays) => {
                    for &n in arrays {
                        let stamps = Stamps { bytes: fx.bytes, now: fx.now };
                        settle::<N>(&mut fx.notes[n], fx.accesses, phv, stamps, fx.state);
                    }
                    continue;
                }
                Step::Probe(probes) => {
                    let mut lanes = here;
                    for probe in probes {
                        let yes = probe.gate.eval::<N>(lanes, phv);
                        for (pred, held) in [(probe.holds, yes), (probe.fails, lanes & !yes)] {
                            pred.into_iter().for_each(|pred| preds[pred] |= held);
                        }
                        lanes = yes;
                    }
                    continue;
                }
                Step::Gateway { gate, then, otherwise } => {
                    let yes = gate.eval::<N>(here, phv);
                    then.take(yes, preds, open);
                    otherwise.take(here & !yes, preds, open);
                    continue;
                }
                Step::Table { table, hit, miss, ran } => {
                    let table = &code.tables[*table];
                    if N == 1 {
                        let (hits, action) = table.one(phv, found);
                        table.refresh::<N>(hits.into(), found, fx.state);
                        (if hits { hit } else { miss }).take(1, preds, open);
                        let (Some((_, code)), Some(arm)) = (table.actions.get(action), ran.get(action))
                        else {
                            continue;
                        };
                        arm.take(1, preds, open);
                        (code, &table.args[..])
                    } else {
                        let hits = table.find::<N>(here, phv, found);
                        table.refresh::<N>(hits, found, fx.state);
                        hit.take(hits, preds, open);
                        miss.take(here & !hits, preds, open);
                        run_found::<N>(table, here, phv, found, &mut fx, |action, lanes_of| {
                            ran[action].take(lanes_of, preds, open);
                        });
                        continue;
                    }
                }
                Step::Action { code, ran, .. } => {
                    ran.take(here, preds, open);
                    if N == 1 {
                        found.entry[0] = NO_ENTRY;
                        (code, &[][..])
                    } else {
                        let entry = EntryOf { args: &[], base: &[0; 64], entry: &[NO_ENTRY; 64] };
                        action::run::<N>(code, here, phv, &entry, &mut fx);
                        continue;
                    }
                }
            };
            let entry = EntryOf { args, base: &found.base, entry: &found.entry };
            action::run_ops::<N>(action, here, phv, &entry, &mut fx);
        }
        lanes.dropped = fx.dropped;
        for ((pred, _), times) in code.covered.iter().zip(covered) {
            *times += u64::from(preds[*pred].count_ones());
        }
    }

    /// Decides each lane's verdict and rewrites the packets that go on.
    fn leave<const N: usize>(
        &mut self,
        (mask, failed): (u64, u64),
        batch: &mut [Pass],
        packets: &mut PacketStore,
        phv: &Phv<N>,
        lanes: &Lanes,
        made: &mut Vec<Made>,
    ) {
        let GressRun { code, first, .. } = self;
        let leaf_of = |l: usize| usize::from(lanes.leaf[l]);
        let asked = code.requests.asked::<N>(mask & !failed, batch, phv);
        let nothing = PassOut { port: Intrinsic::NO_PORT, ..PassOut::default() };
        for_lanes::<N>(mask, |l| {
            batch[l].output = PassOut { parser_cycles: code.parser.cycles[leaf_of(l)], ..nothing };
        });
        // Field by field: where each lies is asked once, not per lane.
        let mut nowhere = mask;
        if let Some(at) = &code.port {
            nowhere = 0;
            at.read_lanes::<N>(mask, phv, |l, port| {
                let port = port as u16;
                nowhere |= u64::from(port == Intrinsic::NO_PORT) << l;
                batch[l].output.port = port;
            });
        }
        if let Some(at) = &code.qid {
            at.read_lanes::<N>(mask, phv, |l, qid| batch[l].output.qid = qid as u8);
        }
        if let Some(at) = &code.cos {
            at.read_lanes::<N>(mask, phv, |l, cos| batch[l].output.cos = cos as u8);
        }
        if let Some(at) = &code.bypass {
            at.read_lanes::<N>(mask, phv, |l, bit| batch[l].output.bypass = bit == 1);
        }
        if let Some(at) = &code.deflect {
            at.read_lanes::<N>(mask, phv, |l, bit| batch[l].output.deflect = bit == 1);
        }
        if let Some(at) = &code.colour {
            at.read_lanes::<N>(mask, phv, |l, colour| batch[l].output.colour = colour as u8);
        }
        let on = mask & !failed & !lanes.dropped;
        let again = asked.resubmit & on;
        let on = on & !again;
        let nowhere = if code.chooses_port { nowhere & on & !asked.multicast } else { 0 };
        for_lanes::<N>(failed, |l| {
            batch[l].output.verdict = Verdict::ParserError(code.parser.leaves[leaf_of(l)].error);
        });
        for_lanes::<N>(lanes.dropped & !failed, |l| {
            batch[l].output.verdict = label_of(lanes.labels[l]).map_or(Verdict::Forward, Verdict::Label);
        });
        for_lanes::<N>(nowhere, |l| batch[l].output.verdict = Verdict::NoPort);
        for_lanes::<N>(again, |l| batch[l].output.verdict = Verdict::Resubmit);
        let on = on & !nowhere;
        let from = made.len();
        if asked.any() {
            let run = RequestLanes { first: *first, batch, phv, resubmit: again };
            code.requests.make::<N>(&asked, &run, packets, made);
        }
        // A copy of what leaves is taken from the packet, be it dropped or not.
        let deparsed = on | asked.leaving & !again;
        let of_lanes = DeparserLanes { leaf: &lanes.leaf, batch, start: &lanes.start };
        let no_room = code.deparser.run::<N>(deparsed, &code.parser.leaves, &of_lanes, phv, packets);
        for_lanes::<N>(no_room & on, |l| batch[l].output.verdict = Verdict::NoRoom);
        if asked.any() {
            let run = RequestLanes { first: *first, batch, phv, resubmit: again };
            let left = (deparsed & !no_room, on & !no_room);
            code.requests.finish::<N>(&asked, left, &run, packets, made);
            made[from..].sort_by_key(|m| m.pass);
        }
    }
}

/// Fills an intrinsic field of the lanes of a mask.
#[inline(always)]
fn fill<const N: usize>(
    (at, mask, phv): (&FieldAt, u64, &Phv<N>),
    batch: &[Pass],
    value: impl Fn(&PassIn) -> u64,
) {
    at.write_lanes::<N>(mask, phv, |l| value(&batch[l].input));
}

/// Runs what a lookup found, one action at a time over all lanes that chose it; tells `ran` its position among the
/// table's.
#[inline]
fn run_found<const N: usize>(
    table: &table::EngineTable,
    mask: u64,
    phv: &Phv<N>,
    found: &Found,
    fx: &mut Effects<'_>,
    mut ran: impl FnMut(usize, u64),
) {
    let entry = EntryOf { args: &table.args, base: &found.base, entry: &found.entry };
    let mut rest = mask;
    while rest != 0 {
        let action = found.action[rest.trailing_zeros() as usize % MAX_BATCH];
        let lanes = if found.mixed { lanes_where::<N>(rest, |l| found.action[l] == action) } else { rest };
        rest &= !lanes;
        let (_, code) = &table.actions[action as usize];
        action::run::<N>(code, lanes, phv, &entry, fx);
        ran(action as usize, lanes);
    }
}
