//! The reference interpreter: defines what a program means, and executes it as plainly as possible.
//!
//! It walks the IR in program order, one packet at a time, looks entries up by linear scan and computes hashes bit by
//! bit, so that a reader can check it against the meaning of the IR. The engine must agree with it. Its trace is in
//! `trace` and `text`.
//!
//! Where the IR leaves a choice, the interpreter makes it:
//! - *Parsing.* Parsers see the packet's head, in which bytes that were not captured are zeros. A header that
//!   reaches beyond the head, into the tail, is a partial header.
//! - *Errors.* A partial header and a select without a match end parsing. A gress that declares
//!   `prsr.parser_err` runs its control on the headers extracted before; the unparsed rest, the partial header
//!   included, is payload. Any other gress drops the packet.
//! - *Fuel.* A parser that enters more than [`PARSER_FUEL`] states has run into its hardware timeout.
//! - *Groups without an active member* in the chosen selector word: the entry counts as hit, and the table's
//!   default action runs.
//! - *A packet that does not continue* keeps the bytes with which it entered, because its deparser does not run.
//!   If it requested a mirror copy of the packet as it leaves, it is deparsed as if it continued.
//! - *Requests* have the values of header fields from before the deparser updates checksums.

mod act;
mod apply;
mod causes;
mod checksum;
mod deparse;
mod eval;
mod lookup;
mod meter;
mod parse;
mod phv;
mod reads;
mod register;
mod request;
mod text;
mod trace;

#[cfg(test)]
mod tests;

pub use causes::VaryingInputs;
pub use parse::PARSER_FUEL;
pub use phv::Phv;
pub use text::TextTracer;
pub use trace::{Event, NoTrace, Tracer};

use crate::packet::PacketStore;
use crate::pass::{Executor, GhostUpdate, Made, Pass, PassIn, PassOut, State, Verdict};
use request::Asked;
use sluice_asic::gress::Gress;
use sluice_control::{ControlState, Entry, EntryId};
use sluice_ir::entity::EntityMap;
use sluice_ir::exchange::exchanged;
use sluice_ir::meter_array::Origin;
use sluice_ir::parser_unroll::UnrolledParser;
use sluice_ir::{Action, Field, Intrinsic, Label, ParserState, Profile, Program, Random, Table, ValueSet};

/// Capacity, in bits, for usual headers, sums and hash inputs.
const ROOM: usize = 1024;

/// Properties of the device that the interpreter cannot derive from the program.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Clock cycles of each parser state, by [`Gress::index`]; a state without a value costs one.
    pub parser_cycles: [EntityMap<ParserState, u16>; 2],
    /// True if a parser that extracts a header a second time ends with the error "second write" (Tofino), false if the second
    /// extraction replaces the first.
    pub writes_once: bool,
    /// Location of the interpreter's own state; a device brings its states along.
    pub origin: Origin,
}

/// The interpreter, with a tracer that sees every step.
///
/// The program must have passed the verifier: invalid handles cause a panic.
#[derive(Debug)]
pub struct Reference<T = NoTrace> {
    program: Program,
    control: ControlState,
    options: Options,
    /// For each gress: true if only the packet bounds loops of its parser.
    loops: [bool; 2],
    /// True for actions with moves that exchange values of fields.
    exchanging: EntityMap<Action, bool>,
    state: Box<State>,
    made: Vec<Made>,
    phv: Phv,
    tracer: T,
}

impl Reference {
    /// Returns an interpreter of `program` with initial state and without a tracer.
    #[must_use]
    pub fn new(program: &Program, control: &ControlState, options: Options) -> Reference {
        Reference::traced(program, control, options, NoTrace)
    }
}

impl<T: Tracer> Reference<T> {
    /// Returns an interpreter that reports every step to `tracer`.
    #[must_use]
    pub fn traced(program: &Program, control: &ControlState, options: Options, tracer: T) -> Reference<T> {
        Reference {
            program: program.clone(),
            control: control.clone(),
            state: Box::new(State::new(program, &options.origin)),
            options,
            loops: Gress::ALL.map(|gress| {
                UnrolledParser::of(program, gress).is_ok_and(|unrolled| unrolled.is_bounded_by_packet())
            }),
            exchanging: program
                .actions
                .values()
                .map(|action| !exchanged(program, &action.body).is_empty())
                .collect(),
            made: Vec::new(),
            phv: Phv::new(program),
            tracer,
        }
    }

    /// Returns the fields and validity bits at the end of the last pass, which differential tests compare.
    #[must_use]
    pub fn phv(&self) -> &Phv {
        &self.phv
    }

    /// Returns the tracer.
    #[must_use]
    pub fn tracer(&self) -> &T {
        &self.tracer
    }

    /// Returns the tracer, to take or clear its text.
    pub fn tracer_mut(&mut self) -> &mut T {
        &mut self.tracer
    }

    /// Runs only the parser of `gress` on a packet that arrives on a dev_port, and returns the fields and validity bits after
    /// it. The packet may have a parser error; then the headers before the error are valid.
    pub fn parse(&mut self, gress: Gress, port: u16, bytes: &[u8]) -> &Phv {
        let input = PassIn { port, ..PassIn::default() };
        let length = bytes.len() as u32;
        self.phv.start(&self.program, gress, &input, length);
        self.fill_port_metadata(gress, &input);
        let mut run = Run {
            program: &self.program,
            control: &self.control,
            options: &self.options,
            loops: self.loops,
            exchanging: &self.exchanging,
            gress,
            bytes: length,
            phv: &mut self.phv,
            state: &mut self.state,
            tracer: &mut self.tracer,
            label: None,
            draws: EntityMap::new(),
            now: 0,
            number: 0,
            made: &mut self.made,
        };
        run.parse(bytes);
        &self.phv
    }

    fn pass(&mut self, gress: Gress, number: u32, pass: &Pass, packets: &mut PacketStore) -> PassOut {
        let bytes = packets.len(pass.packet);
        self.phv.start(&self.program, gress, &pass.input, bytes);
        self.fill_port_metadata(gress, &pass.input);
        let start = Event::PassStart { gress, packet: pass.packet, port: pass.input.port, bytes };
        self.tracer.event(&self.program, &start);
        let mut run = Run {
            program: &self.program,
            control: &self.control,
            options: &self.options,
            loops: self.loops,
            exchanging: &self.exchanging,
            gress,
            bytes,
            phv: &mut self.phv,
            state: &mut self.state,
            tracer: &mut self.tracer,
            label: None,
            draws: EntityMap::new(),
            now: pass.input.global_tstamp,
            number,
            made: &mut self.made,
        };
        let out = run.pass(pass, packets);
        self.tracer.event(&self.program, &Event::PassEnd { output: out, phv: &self.phv });
        out
    }

    /// Sets the port metadata of the packet's port; in a resubmitted packet, the resubmit data instead.
    fn fill_port_metadata(&mut self, gress: Gress, input: &PassIn) {
        let row = self.control.port_metadata.get(&input.port).filter(|_| !input.resubmitted);
        let values = row.map_or(&[][..], Vec::as_slice);
        let fields: Vec<Field> = self.program.port_metadata().map(|(f, _)| f).collect();
        for (&field, value) in fields.iter().zip(values) {
            if self.program.fields[field].gress == gress {
                self.phv.set(&self.program, field, *value);
            }
        }
    }
}

impl<T: Tracer> Executor for Reference<T> {
    fn fork<'e>(&self) -> Option<Box<dyn Executor + 'e>>
    where
        Self: 'e,
    {
        Some(Box::new(Reference {
            program: self.program.clone(),
            control: self.control.clone(),
            options: self.options.clone(),
            loops: self.loops,
            exchanging: self.exchanging.clone(),
            state: Box::default(),
            made: Vec::new(),
            phv: self.phv.clone(),
            tracer: self.tracer.fork()?,
        }))
    }

    fn run(&mut self, gress: Gress, batch: &mut [Pass], packets: &mut PacketStore) {
        self.made.clear();
        for (pass, number) in batch.iter_mut().zip(0..) {
            pass.output = self.pass(gress, number, pass, packets);
        }
    }

    fn ghost(&mut self, update: &GhostUpdate) {
        self.phv.start_ghost(&self.program, update);
        self.tracer.event(&self.program, &Event::GhostStart { update });
        let mut run = Run {
            program: &self.program,
            control: &self.control,
            options: &self.options,
            loops: self.loops,
            exchanging: &self.exchanging,
            gress: Gress::Ingress,
            bytes: 0,
            phv: &mut self.phv,
            state: &mut self.state,
            tracer: &mut self.tracer,
            label: None,
            draws: EntityMap::new(),
            now: 0,
            number: 0,
            made: &mut self.made,
        };
        run.block(&self.program.ghost);
    }

    fn made(&mut self) -> &mut Vec<Made> {
        &mut self.made
    }

    fn table_changed(&mut self, table: Table, control: &ControlState) {
        self.control.tables[table].clone_from(&control.tables[table]);
    }

    fn profile_changed(&mut self, profile: Profile, control: &ControlState) {
        self.control.profiles[profile].clone_from(&control.profiles[profile]);
    }

    fn entry_changed(&mut self, table: Table, entry: EntryId, _: Option<&Entry>, control: &ControlState) {
        let (into, from) = (&mut self.control.tables[table].slots, &control.tables[table].slots);
        if into.len() < from.len() {
            into.resize(from.len(), None);
        }
        if let (Some(into), Some(from)) = (into.get_mut(entry as usize), from.get(entry as usize)) {
            into.clone_from(from);
        }
    }

    fn default_changed(&mut self, table: Table, control: &ControlState) {
        self.control.tables[table].default.clone_from(&control.tables[table].default);
    }

    fn port_metadata_changed(&mut self, control: &ControlState) {
        self.control.port_metadata.clone_from(&control.port_metadata);
    }

    fn value_set_changed(&mut self, set: ValueSet, control: &ControlState) {
        self.control.value_sets[set].clone_from(&control.value_sets[set]);
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
}

/// A pass in progress.
struct Run<'a, T> {
    program: &'a Program,
    control: &'a ControlState,
    options: &'a Options,
    /// For each gress: true if only the packet bounds loops of its parser.
    loops: [bool; 2],
    /// True for actions with moves that exchange values of fields.
    exchanging: &'a EntityMap<Action, bool>,
    gress: Gress,
    /// Length of the packet at the entry of the gress.
    bytes: u32,
    phv: &'a mut Phv,
    state: &'a mut State,
    tracer: &'a mut T,
    /// Last drop reason that an action named.
    label: Option<Label>,
    /// Number of each random number generator in this pass.
    draws: EntityMap<Random, u64>,
    /// Time of entry, in ns of the data plane's clock.
    now: u64,
    /// Index of the pass in its batch.
    number: u32,
    made: &'a mut Vec<Made>,
}

impl<T: Tracer> Run<'_, T> {
    fn tell(&mut self, event: &Event<'_>) {
        self.tracer.event(self.program, event);
    }

    /// Returns the low 16 bits of an intrinsic field; `None` if the program does not declare it in this gress.
    fn intrinsic(&self, which: Intrinsic) -> Option<u16> {
        self.phv.intrinsic(self.gress, which).map(|f| self.phv.field(f) as u16)
    }

    fn pass(&mut self, pass: &Pass, packets: &mut PacketStore) -> PassOut {
        self.draw();
        let parsed = self.parse(packets.head(pass.packet));
        let out = |run: &Self, verdict| PassOut {
            verdict,
            port: run.port(),
            qid: run.intrinsic(Intrinsic::Qid).unwrap_or(0) as u8,
            cos: run.intrinsic(Intrinsic::IngressCos).unwrap_or(0) as u8,
            parser_cycles: parsed.cycles,
            bypass: run.intrinsic(Intrinsic::BypassEgress) == Some(1),
            deflect: run.intrinsic(Intrinsic::DeflectOnDrop) == Some(1),
            colour: run.intrinsic(Intrinsic::PacketColor).unwrap_or(0) as u8,
        };
        let seen = self.phv.intrinsic(self.gress, Intrinsic::ParserErr);
        let error = if seen.is_some() { parsed.error | parsed.flags } else { parsed.error };
        if error != 0 {
            self.tell(&Event::ParserError { bits: error });
            match seen {
                Some(field) => _ = self.phv.set(self.program, field, error.into()),
                None => return out(self, Verdict::ParserError(error)),
            }
        }
        self.block(&self.program.pipe(self.gress).control);
        let asked = self.asked(pass);
        let verdict = self.verdict(&asked);
        self.make(&asked, verdict, pass.packet, packets);
        let forward = out(self, verdict);
        if verdict != Verdict::Forward && !asked.copies_what_leaves() {
            return forward;
        }
        if verdict == Verdict::Resubmit {
            return forward;
        }
        let headers = self.deparse();
        if !packets.replace_front(pass.packet, parsed.bytes, &headers) {
            let no_room = if verdict == Verdict::Forward { Verdict::NoRoom } else { verdict };
            return PassOut { verdict: no_room, ..forward };
        }
        self.finish(&asked, verdict, pass.packet, packets);
        forward
    }

    /// Returns the output port. A dropped packet has none if it still is copied to the CPU.
    fn port(&self) -> u16 {
        match self.label {
            Some(_) if self.multicast().is_some() => Intrinsic::NO_PORT,
            _ => self.intrinsic(Intrinsic::UcastEgressPort).unwrap_or(Intrinsic::NO_PORT),
        }
    }

    /// Returns the verdict, unless the deparser fails.
    fn verdict(&self, asked: &Asked) -> Verdict {
        let port = self.port();
        match self.label {
            // The copy to the CPU is all that is left of the packet.
            Some(_) if asked.multicast.is_some() => Verdict::Forward,
            Some(label) => Verdict::Label(label),
            None if asked.resubmit => Verdict::Resubmit,
            None if self.gress == Gress::Ingress
                && port == Intrinsic::NO_PORT
                && asked.multicast.is_none() =>
            {
                Verdict::NoPort
            }
            None => Verdict::Forward,
        }
    }
}
