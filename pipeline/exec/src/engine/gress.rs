//! One gress of an engine: its code, its scratch memory, and a pass from the first byte to the verdict.
//!
//! This module has the start of a pass, intrinsic fields and parser. [`control`] and [`leave`] have the rest.
//!
//! [`control`]: super::control
//! [`leave`]: super::leave

use super::action::{self, Effects};
use super::batch::{Phv, first_lanes, for_lanes};
use super::code::GressCode;
use super::field::FieldAt;
use super::parser::{Ended, Heads, ParserScratch};
use super::register::Notes;
use super::source::EntryOf;
use super::table::LaneLookups;
use super::walk::Walk;
use crate::packet::PacketStore;
use crate::pass::{GhostUpdate, Made, Pass, PassIn, State};
use sluice_ir::Intrinsic;

/// `parser_err`: a verified checksum is wrong (model: chip §10).
pub(super) const WRONG_CHECKSUM: u64 = 0x1000;

/// Code and scratch memory of one gress.
#[derive(Clone)]
pub(super) struct GressRun {
    pub(super) code: GressCode,
    /// Lanes of a batch in which each predicate is true.
    pub(super) preds: Vec<u64>,
    pub(super) walk: Walk,
    pub(super) parser: ParserScratch,
    pub(super) found: LaneLookups,
    /// Accesses to each array with several users, and one more for accesses that run at once.
    pub(super) notes: Vec<Notes>,
    /// Position of the first lane in the caller's batch.
    pub(super) first: u32,
    /// Number of packets at each coverage point; empty if coverage is not counted.
    pub(super) reached: Vec<u64>,
}

/// Data of a batch's lanes other than their PHVs. Kept between batches: only the lanes in use are overwritten.
#[derive(Clone)]
pub(super) struct Lanes {
    /// Offset of each packet's first byte among all heads.
    pub(super) start: [usize; 64],
    /// Length of each packet's head, bytes.
    pub(super) head: [u32; 64],
    /// Length of each whole packet, bytes.
    pub(super) bytes: [u32; 64],
    pub(super) leaf: [u16; 64],
    pub(super) labels: [u32; 64],
    /// Lanes with a drop reason.
    pub(super) dropped: u64,
    /// Time of entry, in ns of the data plane's clock; set for programs with meters.
    pub(super) now: [u64; 64],
    /// Number that each random number generator drew for each lane.
    pub(super) random: Vec<[u32; 64]>,
}

impl Lanes {
    pub(super) fn new() -> Lanes {
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

impl GressRun {
    pub(super) fn new(code: GressCode) -> GressRun {
        let (preds, walk) = (vec![0; code.preds], Walk::new(code.steps.len()));
        let (parser, found) = (ParserScratch::default(), LaneLookups::default());
        let notes = (0..=code.noted).map(|_| Notes::new()).collect();
        let reached = vec![0; code.points];
        GressRun { code, preds, walk, parser, found, notes, first: 0, reached }
    }

    /// Runs a batch of at most `N` passes.
    pub(super) fn run<const N: usize>(
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

    /// Sets intrinsic fields.
    fn enter<const N: usize>(
        &self,
        mask: u64,
        batch: &[Pass],
        packets: &PacketStore,
        phv: &Phv<N>,
        lanes: &mut Lanes,
    ) {
        lanes.dropped = 0;
        let lengths = lanes.head.iter_mut().zip(&mut lanes.bytes);
        for ((pass, start), (head, bytes)) in batch.iter().zip(&mut lanes.start).zip(lengths) {
            let span = packets.span(pass.packet);
            (*start, *head, *bytes) = (span.start, span.head, span.bytes);
        }
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
                // Set after parsing, or zero at the start.
                _ => {}
            }
        }
    }

    /// Sets the inputs of meters and random numbers: the time of each entry, and one number of each generator per pass.
    #[inline(never)]
    pub(super) fn prepare(&self, batch: &[Pass], lanes: &mut Lanes, state: &mut State) {
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
        let batch = 64 - mask.leading_zeros() as usize;
        let mut windows = [packets.window(start[0]); N];
        for_lanes::<N>(mask & !1, |l| windows[l % N] = packets.window(start[l]));
        let shortest = if N == 1 { head[0] } else { head.iter().take(batch).copied().min().unwrap_or(0) };
        let heads = Heads { windows, len: head, shortest };
        let (hashes, found) = (&self.code.hashes, &self.found);
        let mut ended = Ended { leaf, failed: 0, wrong: 0, reached: &mut self.reached };
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

    /// Sets the fields of an update for the ghost control, if there is one; returns the predicate with which the control
    /// starts.
    pub(super) fn enter_ghost(
        &self,
        update: &GhostUpdate,
        phv: &mut Phv<1>,
        lanes: &mut Lanes,
    ) -> Option<usize> {
        let root = self.code.ghost?;
        phv.clear(1);
        lanes.bytes[0] = 0;
        for (which, at) in self.code.inputs.iter().filter(|(which, _)| which.is_ghost()) {
            at.write_lanes::<1>(1, phv, |_| update.field(*which).into());
        }
        Some(root)
    }
}

/// Sets an intrinsic field of all passes.
#[inline(always)]
fn fill<const N: usize>(
    (at, mask, phv): (&FieldAt, u64, &Phv<N>),
    batch: &[Pass],
    value: impl Fn(&PassIn) -> u64,
) {
    match at.single() {
        Some(p) => {
            for (cell, pass) in phv.column(p.slot).iter().zip(batch) {
                cell.set(cell.get() & p.keep | (value(&pass.input) as u32 & p.mask()) << p.at);
            }
        }
        None => at.write_lanes::<N>(mask, phv, |l| value(&batch[l].input)),
    }
}
