//! Generated code: Rust that [`generate`] writes for a placed program, compiled ahead, and run in place of the engine's
//! own steps.
//!
//! A packet's containers are words at fixed indices. An operation is a line of Rust, a parser state a function, and a
//! table's actions are the arms of one `match`, so nothing is dispatched. Tables, registers, requests and deparser
//! plans are those of the engine. This module has the interface of generated code, and runs passes by it.
//!
//! [`generate`]: super::generate

mod lane;

pub use super::table::Hit;
pub use lane::{Lane, counter, counter_plus, subtracted};
pub use sluice_asic::alu::{AluOp, width_mask};

use super::action::label_of;
use super::batch::Phv;
use super::code::GressCode;
use super::gress::{GressRun, Lanes};
use super::leave::Leaving;
use crate::packet::PacketStore;
use crate::pass::{Made, Pass, PassIn, PassOut, State, Verdict};
use sluice_ir::Intrinsic;
use std::cell::Cell;

/// The words of a packet: one for each container that something reads or writes between parser and deparser.
pub type Words<const S: usize> = [Cell<u32>; S];

/// Code of one gress, for a PHV of `S` words.
pub trait Code<const S: usize> {
    /// Sets the intrinsic fields that the device provides; `bytes` is the packet's length.
    fn enter(w: &Words<S>, input: &PassIn, bytes: u32);
    /// Parses, and returns the number of the leaf that parsing ended at.
    fn parse(x: &mut Lane<'_>, w: &Words<S>) -> u16;
    /// Sets `parser_err`.
    fn parser_error(w: &Words<S>, error: u64);
    /// Runs the control.
    fn control(x: &mut Lane<'_>, w: &Words<S>);
    /// Runs the control on an update of the ghost thread.
    fn ghost(x: &mut Lane<'_>, w: &Words<S>);
    /// Sets the outputs to the device, except for the verdict.
    fn outputs(w: &Words<S>, out: &mut PassOut);
    /// Returns true if the packet makes a request to the deparser, which the deparser may still refuse.
    fn asks(w: &Words<S>) -> bool;
    /// Returns the set of valid headers.
    fn valid(w: &Words<S>) -> u64;
    /// Stores a header's containers in its bytes: all if `whole`, else those that may have been rewritten.
    fn store(w: &Words<S>, header: u8, whole: bool, to: &mut [u8]);
}

/// Run of a batch, or of a queue-depth update, through one gress.
pub struct Frame<'a> {
    pub(super) gress: &'a mut GressRun,
    pub(super) phv: &'a mut Phv<1>,
    pub(super) lanes: &'a mut Lanes,
    pub(super) state: &'a mut State,
    pub(super) batch: &'a mut [Pass],
    pub(super) packets: Option<&'a mut PacketStore>,
    pub(super) made: &'a mut Vec<Made>,
    /// Constants that the program's text refers to by their index.
    pub(super) pool: &'a [u32],
}

/// Code of one gress.
#[derive(Clone, Copy, Debug)]
pub struct GressFn {
    words: usize,
    run: fn(&mut Frame<'_>),
    ghost: fn(&mut Frame<'_>),
}

impl GressFn {
    /// Returns the code of a gress.
    #[must_use]
    pub const fn of<G: Code<S>, const S: usize>() -> GressFn {
        GressFn { words: S, run: run::<G, S>, ghost: ghost::<G, S> }
    }

    /// Returns true if the code is for a PHV of this many words.
    pub(super) const fn fits(&self, words: usize) -> bool {
        self.words == words
    }

    pub(super) fn run(&self, frame: &mut Frame<'_>) {
        (self.run)(frame);
    }

    pub(super) fn ghost(&self, frame: &mut Frame<'_>) {
        (self.ghost)(frame);
    }
}

/// Code of a placed program.
#[derive(Clone, Copy, Debug)]
pub struct Generated {
    /// The program's name.
    pub program: &'static str,
    /// The chip that it was placed on.
    pub chip: &'static str,
    /// [Digest](super::generate::Text::digest) of the text that was compiled. Programs that lower to the same text run the
    /// code.
    pub digest: [u8; 32],
    /// Ingress and egress.
    pub gresses: [GressFn; 2],
}

/// Runs a batch, one packet after the other.
fn run<G: Code<S>, const S: usize>(frame: &mut Frame<'_>) {
    let Frame { gress, phv, lanes, state, batch, packets, made, pool } = frame;
    let (Some(w), Some(packets)) = (phv.words::<S>(), packets.as_deref_mut()) else { return };
    for number in 0..batch.len() {
        let Some(pass) = batch.get_mut(number..=number) else { return };
        one::<G, S>(gress, (phv, w), (lanes, pool), state, (number as u32, pass), packets, made);
    }
}

/// Runs one pass.
#[inline(always)]
fn one<G: Code<S>, const S: usize>(
    gress: &mut GressRun,
    (phv, w): (&Phv<1>, &Words<S>),
    (lanes, pool): (&mut Lanes, &[u32]),
    state: &mut State,
    (number, pass): (u32, &mut [Pass]),
    packets: &mut PacketStore,
    made: &mut Vec<Made>,
) {
    w.iter().for_each(|word| word.set(0));
    let [Pass { packet, input, .. }] = *pass else { return };
    let span = packets.span(packet);
    lanes.start[0] = span.start;
    G::enter(w, &input, span.bytes);
    let code = &gress.code;
    code.port_metadata.run::<1>(1, pass, phv);
    if code.timed || !code.randoms.is_empty() {
        gress.prepare(pass, lanes, state);
    }
    let mut lane = Lane::new(
        &gress.code,
        phv,
        state,
        (lanes, pool, &mut gress.reached),
        (packets.window(span.start), span.head, span.bytes),
    );
    let leaf = G::parse(&mut lane, w);
    let error = gress.code.parser.error(leaf);
    G::parser_error(w, u64::from(error) | lane.wrong_checksum());
    let failed = error != 0 && !gress.code.sees_errors;
    if !failed {
        G::control(&mut lane, w);
    }
    let (label, dropped) = lane.end();
    let took = gress.code.parser.took.and_then(|slot| w.get(usize::from(slot)));
    let took = took.map_or(0, |cycles| cycles.get().min(u16::MAX.into()) as u16);
    let mut output = PassOut {
        port: Intrinsic::NO_PORT,
        parser_cycles: gress.code.parser.cycles(leaf).saturating_add(took),
        ..PassOut::default()
    };
    G::outputs(w, &mut output);
    if !failed && G::asks(w) {
        pass[0].output = output;
        (lanes.leaf[0], lanes.labels[0], lanes.dropped) = (leaf, label, dropped.into());
        gress.first = number;
        return ask(gress, (phv, G::valid(w)), lanes, pass, packets, made);
    }
    let GressCode { chooses_port, parser, deparser, .. } = &mut gress.code;
    output.verdict = if failed {
        Verdict::ParserError(error)
    } else if dropped {
        label_of(label).map_or(Verdict::Forward, Verdict::Label)
    } else if *chooses_port && output.port == Intrinsic::NO_PORT {
        Verdict::NoPort
    } else if deparser.rewrite(
        (leaf, G::valid(w)),
        &parser.leaves,
        (span.start, packet),
        phv,
        packets,
        |header, whole, bytes| G::store(w, header, whole, bytes),
    ) {
        Verdict::NoRoom
    } else {
        Verdict::Forward
    };
    pass[0].output = output;
}

/// Ends the pass of a packet that makes requests.
#[inline(never)]
fn ask(
    gress: &mut GressRun,
    (phv, valid): (&Phv<1>, u64),
    lanes: &Lanes,
    pass: &mut [Pass],
    packets: &mut PacketStore,
    made: &mut Vec<Made>,
) {
    let asked = gress.code.requests.asked::<1>((1, lanes.dropped), pass, phv);
    let nowhere = pass.iter().any(|pass| pass.output.port == Intrinsic::NO_PORT);
    let leaving = Leaving { mask: 1, failed: 0, nowhere: nowhere.into(), asked };
    gress.go::<1>(leaving, |_, _| [valid], pass, packets, phv, lanes, made);
}

/// Runs the ghost control.
fn ghost<G: Code<S>, const S: usize>(frame: &mut Frame<'_>) {
    let Frame { gress, phv, lanes, state, pool, .. } = frame;
    let Some(w) = phv.words::<S>() else { return };
    let reached = &mut gress.reached;
    let nothing = (&[0; crate::packet::WINDOW], 0, 0);
    let mut lane = Lane::new(&gress.code, phv, state, (lanes, pool, reached), nothing);
    G::ghost(&mut lane, w);
}
