//! The fast engine: the *placed* program, lowered once, run a batch at a time.
//!
//! Each operation is dispatched once per batch and runs over all lanes in which it is due; lanes are bits
//! of a mask, so a batch of one costs no more than its own operations. There is no string, no allocation
//! and no lookup by name on the packet path. What the engine executes are containers and stages of the
//! [`Placement`], not the program text: if a placement is illegal, its results differ from the reference
//! interpreter's. What may not live here: the device around the pipeline, time.

mod action;
mod batch;
mod deparser;
mod field;
mod gateway;
mod hash;
mod lookup;
mod lower;
mod parser;
mod table;

use crate::control::ControlState;
use crate::ir::{Intrinsic, Profile, Program, Table};
use crate::packet::{HeadSpan, Packet, PacketStore};
use crate::pass::{Executor, MAX_BATCH, Pass, PassIn, PassOut, State, Verdict};
use crate::place::Placement;
use action::{Effects, EntryOf, label_of};
use arrayvec::ArrayVec;
use batch::{Phv, first_lanes, for_lanes, lanes_where};
use lower::{GressCode, Step, lower};
use parser::{Heads, ParserScratch};
use sluice_asic::gress::Gress;
use table::{Found, NO_ENTRY};

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
}

/// Code and scratch memory of one gress.
struct GressEngine {
    code: GressCode,
    phv: Phv,
    preds: Vec<u64>,
    parser: ParserScratch,
    found: Found,
    lanes: Option<Box<Lanes>>,
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
        let mut engine = Engine {
            gresses: [
                GressEngine::new(lower(program, placement, Gress::Ingress)?),
                GressEngine::new(lower(program, placement, Gress::Egress)?),
            ],
            state: State::new(program),
        };
        for gress in &mut engine.gresses {
            for table in &mut gress.code.tables {
                table.compile(control);
            }
        }
        Ok(engine)
    }

    /// Bytes of the longest parse path: the head of a packet must hold them.
    #[must_use]
    pub fn parse_depth(&self) -> u32 {
        self.gresses.iter().map(|g| g.code.parser.depth).max().unwrap_or(0)
    }
}

impl Executor for Engine {
    fn run(&mut self, gress: Gress, batch: &mut [Pass], packets: &mut PacketStore) {
        for batch in batch.chunks_mut(MAX_BATCH) {
            self.gresses[gress.index()].run(batch, packets, &mut self.state);
        }
    }

    fn table_changed(&mut self, table: Table, control: &ControlState) {
        let tables = self.gresses.iter_mut().flat_map(|g| &mut g.code.tables);
        tables.filter(|t| t.is(table)).for_each(|t| t.compile(control));
    }

    fn profile_changed(&mut self, profile: Profile, control: &ControlState) {
        let tables = self.gresses.iter_mut().flat_map(|g| &mut g.code.tables);
        tables.filter(|t| t.uses(profile)).for_each(|t| t.compile(control));
    }

    fn state(&self) -> &State {
        &self.state
    }

    fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }
}

/// What is known of the lanes of a batch besides their PHV. Kept between batches: only the lanes in use are
/// written.
struct Lanes {
    packets: ArrayVec<(Packet, HeadSpan), MAX_BATCH>,
    start: [usize; 64],
    head: [u32; 64],
    bytes: [u32; 64],
    leaf: [u16; 64],
    labels: [u32; 64],
}

impl Lanes {
    fn new() -> Lanes {
        Lanes {
            packets: ArrayVec::new(),
            start: [0; 64],
            head: [0; 64],
            bytes: [0; 64],
            leaf: [0; 64],
            labels: [0; 64],
        }
    }
}

impl GressEngine {
    fn new(code: GressCode) -> GressEngine {
        let (phv, preds) = (Phv::new(code.slots), vec![0; code.preds]);
        let (parser, found) = (ParserScratch::default(), Found::default());
        GressEngine { code, phv, preds, parser, found, lanes: Some(Box::new(Lanes::new())) }
    }

    fn run(&mut self, batch: &mut [Pass], packets: &mut PacketStore, state: &mut State) {
        let mask = first_lanes(batch.len());
        // Taken out while the batch runs, so that the other parts can be borrowed beside it.
        let mut lanes = self.lanes.take().unwrap_or_else(|| Box::new(Lanes::new()));
        self.enter(batch, packets, &mut lanes);
        self.parse(mask, packets, &mut lanes, state);
        let leaves = &self.code.parser.leaves;
        let failed = if self.code.sees_errors {
            0
        } else {
            lanes_where(mask, |l| leaves[usize::from(lanes.leaf[l])].error != 0)
        };
        self.control(mask & !failed, &mut lanes, state);
        self.leave(mask, failed, batch, packets, &lanes);
        self.lanes = Some(lanes);
    }

    /// Clears the PHVs and fills intrinsic fields.
    fn enter(&mut self, batch: &[Pass], packets: &PacketStore, lanes: &mut Lanes) {
        self.phv.clear(batch.len());
        lanes.packets.clear();
        for (l, pass) in batch.iter().enumerate() {
            let span = packets.span(pass.packet);
            lanes.packets.push((pass.packet, span));
            (lanes.start[l], lanes.head[l]) = (span.start, (span.end - span.start) as u32);
            lanes.bytes[l] = packets.len(pass.packet);
            lanes.labels[l] = 0;
        }
        for (which, at) in &self.code.inputs {
            for (l, pass) in batch.iter().enumerate() {
                let value = intrinsic_value(*which, &pass.input, lanes.bytes[l]);
                if value != 0 {
                    at.write(&self.phv, l, u128::from(value));
                }
            }
        }
    }

    fn parse(&mut self, mask: u64, packets: &mut PacketStore, lanes: &mut Lanes, state: &mut State) {
        let Lanes { start, head, bytes, leaf, labels, .. } = lanes;
        let heads = Heads { bytes: packets.heads_mut(), start, len: head };
        let (phv, hashes, found) = (&self.phv, &self.code.hashes, &self.found);
        self.code.parser.run(mask, &heads, phv, &mut self.parser, leaf, |code, lanes_of| {
            let entry = EntryOf { args: &[], base: &found.base, entry: &found.entry };
            let mut fx = Effects { hashes, state: &mut *state, bytes, labels };
            action::run(code, lanes_of, phv, &entry, &mut fx);
        });
        let errors = self.code.inputs.iter().find(|(which, _)| *which == Intrinsic::ParserErr);
        if let Some((_, at)) = errors {
            let leaves = &self.code.parser.leaves;
            for_lanes(mask, |l| at.write(phv, l, u128::from(leaves[usize::from(leaf[l])].error)));
        }
    }

    fn control(&mut self, mask: u64, lanes: &mut Lanes, state: &mut State) {
        let GressEngine { code, phv, preds, found, .. } = self;
        preds.fill(0);
        preds[0] = mask;
        let mut fx = Effects { hashes: &code.hashes, state, bytes: &lanes.bytes, labels: &mut lanes.labels };
        for step in &code.steps {
            match step {
                Step::Snapshot(copies) => {
                    for (from, to) in copies {
                        let (from, to) = (phv.column(*from), phv.column(*to));
                        for_lanes(mask, |l| to[l].set(from[l].get()));
                    }
                }
                Step::Gateway { gate, pred, then, otherwise } => {
                    let here = preds[*pred];
                    let yes = if here == 0 { 0 } else { gate.eval(here, phv) };
                    set(preds, *then, yes);
                    set(preds, *otherwise, here & !yes);
                }
                Step::Table { table, pred, hit, miss, ran } => {
                    let here = preds[*pred];
                    if here != 0 {
                        let table = &code.tables[*table];
                        let hits = table.find(here, phv, found);
                        set(preds, *hit, hits);
                        set(preds, *miss, here & !hits);
                        run_found(table, here, phv, found, &mut fx, |action, lanes_of| {
                            for (_, p) in ran.iter().filter(|(a, _)| *a == action) {
                                preds[*p] |= lanes_of;
                            }
                        });
                    }
                }
                Step::Action { code, action, pred, ran } => {
                    let here = preds[*pred];
                    if here != 0 {
                        let entry = EntryOf { args: &[], base: &[0; 64], entry: &[NO_ENTRY; 64] };
                        action::run(code, here, phv, &entry, &mut fx);
                        for (_, p) in ran.iter().filter(|(a, _)| a == action) {
                            preds[*p] = here;
                        }
                    }
                }
            }
        }
    }

    /// Decides each lane's verdict and rewrites the packets that go on.
    fn leave(
        &mut self,
        mask: u64,
        failed: u64,
        batch: &mut [Pass],
        packets: &mut PacketStore,
        lanes: &Lanes,
    ) {
        let GressEngine { code, phv, .. } = self;
        let mut on = 0u64;
        for_lanes(mask, |l| {
            let leaf = &code.parser.leaves[usize::from(lanes.leaf[l])];
            let port = code.port.as_ref().map_or(Intrinsic::NO_PORT, |at| at.read(phv, l) as u16);
            let verdict = if failed >> l & 1 == 1 {
                Verdict::ParserError(leaf.error)
            } else if let Some(label) = label_of(lanes.labels[l]) {
                Verdict::Label(label)
            } else if code.chooses_port && port == Intrinsic::NO_PORT {
                Verdict::NoPort
            } else {
                on |= 1 << l;
                Verdict::Forward
            };
            let qid = code.qid.as_ref().map_or(0, |at| at.read(phv, l) as u8);
            batch[l].output = PassOut { verdict, port, qid, parser_cycles: leaf.cycles };
        });
        let no_room = code.deparser.run(on, &code.parser.leaves, &lanes.leaf, phv, packets, &lanes.packets);
        for_lanes(no_room, |l| batch[l].output.verdict = Verdict::NoRoom);
    }
}

#[inline(always)]
fn set(preds: &mut [u64], pred: Option<usize>, lanes: u64) {
    if let Some(p) = pred {
        preds[p] = lanes;
    }
}

/// Runs what a lookup found, one action at a time over all lanes that chose it.
#[inline]
fn run_found(
    table: &table::EngineTable,
    mask: u64,
    phv: &Phv,
    found: &Found,
    fx: &mut Effects<'_>,
    mut ran: impl FnMut(crate::ir::Action, u64),
) {
    let entry = EntryOf { args: &table.args, base: &found.base, entry: &found.entry };
    let mut rest = mask;
    while rest != 0 {
        let action = found.action[rest.trailing_zeros() as usize];
        let lanes = lanes_where(rest, |l| found.action[l] == action);
        rest &= !lanes;
        let (id, code) = &table.actions[action as usize];
        action::run(code, lanes, phv, &entry, fx);
        ran(*id, lanes);
    }
}

/// The device's value of an intrinsic field at the start of a pass.
fn intrinsic_value(which: Intrinsic, input: &PassIn, bytes: u32) -> u64 {
    match which {
        Intrinsic::IngressPort | Intrinsic::EgressPort => u64::from(input.port),
        Intrinsic::IngressMacTstamp => input.mac_tstamp,
        Intrinsic::GlobalTstamp => input.global_tstamp,
        Intrinsic::UcastEgressPort => u64::from(Intrinsic::NO_PORT),
        Intrinsic::EnqQdepth => u64::from(input.enq_qdepth),
        Intrinsic::EnqTstamp => u64::from(input.enq_tstamp),
        Intrinsic::DeqQdepth => u64::from(input.deq_qdepth),
        Intrinsic::DeqTimedelta => u64::from(input.deq_timedelta),
        Intrinsic::EgressQid => u64::from(input.qid),
        Intrinsic::PktLength => u64::from(bytes),
        Intrinsic::ParserErr | Intrinsic::Qid | Intrinsic::DropCtl => 0,
    }
}
