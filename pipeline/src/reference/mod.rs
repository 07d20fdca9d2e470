//! The reference interpreter: what a program means, executed as plainly as possible.
//!
//! It walks the IR in program order, one packet at a time, looks entries up by linear scan and computes
//! hashes bit by bit, so that a reader can check it against the meaning of the IR. The fast engine must agree
//! with it. What lives here: the interpreter and its trace. What may not: placement, speed, time.
//!
//! Where the IR leaves a choice, it is made here:
//! - *Parsing.* Parsers see the packet's head, in which bytes that were not captured stand as zeros. A header
//!   that reaches beyond the head, into the tail, is a partial header.
//! - *Errors.* A partial header and a select without a match end parsing. A gress that declares
//!   `prsr.parser_err` runs its control on what was extracted before; the unparsed rest, the partial header
//!   included, is payload. Any other gress loses the packet.
//! - *Fuel.* A parser that enters more than [`PARSER_FUEL`] states has run into its hardware timeout.
//! - *Groups without an active member* in the chosen selector word leave nothing to run: the entry counts as
//!   hit, and the table's default action runs.
//! - *A packet that does not go on* keeps the bytes it came with; its deparser does not run.

mod act;
mod apply;
mod checksum;
mod deparse;
mod eval;
mod lookup;
mod parse;
mod phv;
mod register;
mod text;
mod trace;

#[cfg(test)]
mod tests;

pub use parse::PARSER_FUEL;
pub use phv::Phv;
pub use text::TextTracer;
pub use trace::{Event, NoTrace, Tracer};

use crate::control::ControlState;
use crate::entity::EntityMap;
use crate::ir::{Intrinsic, Label, ParserState, Profile, Program, Table};
use crate::packet::PacketStore;
use crate::pass::{Executor, Pass, PassOut, State, Verdict};
use sluice_asic::gress::Gress;

/// What the reference interpreter cannot know from the program.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Clock cycles of each parser state, per gress (index with [`Gress::index`]); a state without a value
    /// costs one.
    pub parser_cycles: [EntityMap<ParserState, u16>; 2],
}

/// The interpreter, with a tracer that sees every step.
///
/// The program must have passed the verifier: handles that point nowhere make it panic.
#[derive(Debug)]
pub struct Reference<T = NoTrace> {
    program: Program,
    control: ControlState,
    options: Options,
    state: State,
    phv: Phv,
    tracer: T,
}

impl Reference {
    /// An interpreter of `program` with all state zero and nobody looking.
    #[must_use]
    pub fn new(program: &Program, control: &ControlState, options: Options) -> Reference {
        Reference::traced(program, control, options, NoTrace)
    }
}

impl<T: Tracer> Reference<T> {
    /// An interpreter that tells `tracer` every step.
    #[must_use]
    pub fn traced(program: &Program, control: &ControlState, options: Options, tracer: T) -> Reference<T> {
        Reference {
            program: program.clone(),
            control: control.clone(),
            options,
            state: State::new(program),
            phv: Phv::new(program),
            tracer,
        }
    }

    /// Fields and validity bits as the last pass left them: what differential tests compare.
    #[must_use]
    pub fn phv(&self) -> &Phv {
        &self.phv
    }

    /// The tracer.
    #[must_use]
    pub fn tracer(&self) -> &T {
        &self.tracer
    }

    /// The tracer, to take its text or to clear it.
    pub fn tracer_mut(&mut self) -> &mut T {
        &mut self.tracer
    }

    fn pass(&mut self, gress: Gress, pass: &Pass, packets: &mut PacketStore) -> PassOut {
        let bytes = packets.len(pass.packet);
        self.phv.start(&self.program, gress, &pass.input, bytes);
        let start = Event::PassStart { gress, packet: pass.packet, port: pass.input.port, bytes };
        self.tracer.event(&self.program, &start);
        let mut run = Run {
            program: &self.program,
            control: &self.control,
            options: &self.options,
            gress,
            bytes,
            phv: &mut self.phv,
            state: &mut self.state,
            tracer: &mut self.tracer,
            label: None,
        };
        let out = run.pass(pass, packets);
        self.tracer.event(&self.program, &Event::PassEnd { output: out });
        out
    }
}

impl<T: Tracer> Executor for Reference<T> {
    fn run(&mut self, gress: Gress, batch: &mut [Pass], packets: &mut PacketStore) {
        for pass in batch {
            pass.output = self.pass(gress, pass, packets);
        }
    }

    fn table_changed(&mut self, table: Table, control: &ControlState) {
        self.control.tables[table].clone_from(&control.tables[table]);
    }

    fn profile_changed(&mut self, profile: Profile, control: &ControlState) {
        self.control.profiles[profile].clone_from(&control.profiles[profile]);
    }

    fn state(&self) -> &State {
        &self.state
    }

    fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }
}

/// One pass under way.
struct Run<'a, T> {
    program: &'a Program,
    control: &'a ControlState,
    options: &'a Options,
    gress: Gress,
    /// Length of the packet as it entered the gress.
    bytes: u32,
    phv: &'a mut Phv,
    state: &'a mut State,
    tracer: &'a mut T,
    /// The last drop label named.
    label: Option<Label>,
}

impl<T: Tracer> Run<'_, T> {
    fn tell(&mut self, event: &Event<'_>) {
        self.tracer.event(self.program, event);
    }

    /// The low 16 bits of an intrinsic field, if the program declares it in this gress.
    fn intrinsic(&self, which: Intrinsic) -> Option<u16> {
        self.program.intrinsic(self.gress, which).map(|f| self.phv.field(f) as u16)
    }

    fn pass(&mut self, pass: &Pass, packets: &mut PacketStore) -> PassOut {
        let parsed = self.parse(packets.head(pass.packet));
        let out = |run: &Self, verdict| PassOut {
            verdict,
            port: run.intrinsic(Intrinsic::UcastEgressPort).unwrap_or(Intrinsic::NO_PORT),
            qid: run.intrinsic(Intrinsic::Qid).unwrap_or(0) as u8,
            parser_cycles: parsed.cycles,
        };
        if parsed.error != 0 {
            self.tell(&Event::ParserError { bits: parsed.error });
            match self.program.intrinsic(self.gress, Intrinsic::ParserErr) {
                Some(field) => _ = self.phv.set(self.program, field, parsed.error.into()),
                None => return out(self, Verdict::ParserError(parsed.error)),
            }
        }
        self.block(&self.program.pipe(self.gress).control);
        if let Some(label) = self.label {
            return out(self, Verdict::Label(label));
        }
        let forward = out(self, Verdict::Forward);
        if self.gress == Gress::Ingress && forward.port == Intrinsic::NO_PORT {
            return PassOut { verdict: Verdict::NoPort, ..forward };
        }
        let headers = self.deparse();
        let fits = packets.replace_front(pass.packet, parsed.bytes, &headers);
        if fits { forward } else { PassOut { verdict: Verdict::NoRoom, ..forward } }
    }
}
