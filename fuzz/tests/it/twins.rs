//! A shipped program and its P4, lowered again, do the same with the packets of hunts, on the interpreter and on the engine.
//!
//! `SLUICE_TWIN_INPUTS` is the number of inputs per program; each has about 200 packets.

use crate::placed::place;
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::intrinsic::Architecture;
use sluice_asic::port::PortMap;
use sluice_asic::salu::State as Element;
use sluice_catalogue::{Catalogue, StageProgram};
use sluice_control::ControlState;
use sluice_exec::engine::Engine;
use sluice_exec::packet::{HeadLayout, Packet, PacketStore};
use sluice_exec::pass::{Count, Executor, GhostUpdate, MadeKind, Pass, PassIn, PassOut, Verdict};
use sluice_exec::reference::{Options, Reference};
use sluice_fuzz::hunt::{Corpus, Maker, Shot, Subject};
use sluice_ir::Program;
use sluice_ir::meter_array::Origin;
use sluice_p4::parse;
use sluice_p4::prelude::WithPrelude;
use sluice_p4::source::Texts;
use sluice_p4::write::write;
use sluice_place::Placement;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Inputs per program where the environment states no number: over 2,000 for all shipped programs.
const INPUTS: u64 = 120;

/// An effect of a pass.
#[derive(Clone, Debug, PartialEq)]
enum Fate {
    /// The end of a pass: its label, if it ended by one, and its results without the label and the parser's time.
    Pass(Gress, Option<String>, PassOut),
    /// Bytes of the packet behind the pass, or of a copy or digest.
    Bytes(Vec<u8>),
    /// A copy for a session, with a mirror header of this many bytes.
    Mirror(u16, u16),
    /// A digest of this kind.
    Digest(u8),
    /// Anything else.
    Made(MadeKind),
}

/// Fates of all packets, and the state after them, sorted by name.
#[derive(Debug, PartialEq)]
struct Fates {
    packets: Vec<Fate>,
    registers: Vec<(String, Vec<(usize, Element)>)>,
    counters: Vec<(String, Vec<Count>)>,
}

/// A program that is placed and has its entries.
struct Side {
    program: Program,
    placement: Placement,
    control: ControlState,
}

impl Side {
    fn of(stage: &dyn StageProgram, program: Program, ports: &PortMap) -> Side {
        let placement =
            place(&program, &ChipSpec::tofino2()).unwrap_or_else(|e| panic!("{}: {e}", program.name));
        let setup = stage.default_setup(&program, ports).unwrap_or_else(|e| panic!("{}: {e}", program.name));
        let control = Subject::entries(&program, setup.ops).unwrap();
        Side { program, placement, control }
    }

    /// Returns the fates of packets and the state after them, on the interpreter and on the engine.
    fn fates(&self, shots: &[Shot]) -> [Fates; 2] {
        let writes_once = !self.placement.chip.parser.clear_on_write;
        let options = Options { origin: Origin::of(&self.placement.chip), writes_once, ..Options::default() };
        let mut reference = Reference::new(&self.program, &self.control, options);
        let mut engine = Engine::new(&self.program, &self.placement, &self.control).unwrap();
        let executors: [&mut dyn Executor; 2] = [&mut reference, &mut engine];
        executors.map(|executor| {
            for change in self.control.arrays.changes() {
                executor.state_mut().apply(&self.program, change).unwrap();
            }
            let mut packets = Vec::new();
            let mut store = PacketStore::new(HeadLayout::default());
            for (n, shot) in shots.iter().enumerate() {
                self.packet(executor, &mut store, n, shot, &mut packets);
            }
            let (registers, counters) = (self.registers(executor), self.counters(executor));
            Fates { packets, registers, counters }
        })
    }

    /// Sends one packet through ingress, twice after a resubmit, and through egress.
    fn packet(
        &self,
        executor: &mut dyn Executor,
        store: &mut PacketStore,
        n: usize,
        shot: &Shot,
        fates: &mut Vec<Fate>,
    ) {
        if !self.program.ghost.is_empty() && n.is_multiple_of(7) {
            let (qlength, qid) = ((n as u32).wrapping_mul(0x9e37) & 0x3_ffff, (n as u16 * 5) & 0x7ff);
            executor.ghost(&GhostUpdate {
                ping_pong: n.is_multiple_of(2),
                qlength,
                qid,
                pipe: (n % 4) as u8,
            });
        }
        let now = 0xffff_ffff_ff00 + 400 * n as u64;
        let arrival =
            PassIn { port: shot.port, mac_tstamp: now, global_tstamp: now + 25, ..PassIn::default() };
        let mut pass = Pass::new(store.insert(&shot.bytes, 0), arrival);
        self.pass(executor, store, Gress::Ingress, &mut pass, fates);
        if pass.output.verdict == Verdict::Resubmit {
            pass = Pass::new(pass.packet, PassIn { resubmitted: true, ..arrival });
            self.pass(executor, store, Gress::Ingress, &mut pass, fates);
        }
        if pass.output.verdict == Verdict::Forward {
            let depth = (n as u32 * 977) % 9000;
            let PassOut { port, qid, cos, .. } = pass.output;
            let departure = PassIn {
                port,
                qid,
                cos,
                enq_qdepth: depth,
                deq_qdepth: depth / 2,
                global_tstamp: now + 900,
                ..PassIn::default()
            };
            pass = Pass::new(pass.packet, departure);
            self.pass(executor, store, Gress::Egress, &mut pass, fates);
        }
        store.remove(pass.packet);
    }

    fn pass(
        &self,
        executor: &mut dyn Executor,
        store: &mut PacketStore,
        gress: Gress,
        pass: &mut Pass,
        fates: &mut Vec<Fate>,
    ) {
        let mut one = [*pass];
        executor.run(gress, &mut one, store);
        *pass = one[0];
        let output = PassOut { parser_cycles: 0, verdict: Verdict::Forward, ..pass.output };
        // Labels of a program and of its P4 have other numbers.
        fates.push(match pass.output.verdict {
            Verdict::Label(label) => Fate::Pass(gress, Some(self.program.labels[label].name.clone()), output),
            verdict => Fate::Pass(gress, None, PassOut { verdict, ..output }),
        });
        if matches!(pass.output.verdict, Verdict::Forward | Verdict::Resubmit) {
            fates.push(Fate::Bytes(bytes(store, pass.packet)));
        }
        let all: Vec<_> = executor.made().drain(..).collect();
        for made in all {
            let (fate, packet) = match made.kind {
                MadeKind::Mirror { session, header, copy, .. } => (Fate::Mirror(session, header), Some(copy)),
                MadeKind::Digest { kind, data, .. } => (Fate::Digest(kind), Some(data)),
                MadeKind::Multicast(_) | MadeKind::FlowControl(_) | MadeKind::Pktgen(_) => {
                    (Fate::Made(made.kind), None)
                }
            };
            fates.push(fate);
            if let Some(packet) = packet {
                fates.push(Fate::Bytes(bytes(store, packet)));
                store.remove(packet);
            }
        }
    }

    /// Returns the elements of registers that no longer have their first value.
    fn registers(&self, executor: &dyn Executor) -> Vec<(String, Vec<(usize, Element)>)> {
        by_name(self.program.registers.iter().map(|(register, data)| {
            let cells = executor.state().registers[register].iter().enumerate();
            let changed = cells.filter(|(_, cell)| **cell != data.first());
            (data.name.clone(), changed.map(|(at, cell)| (at, *cell)).collect())
        }))
    }

    /// Returns the cells of counters.
    fn counters(&self, executor: &dyn Executor) -> Vec<(String, Vec<Count>)> {
        by_name(self.program.counters.iter().map(|(counter, data)| {
            (data.name.clone(), executor.state().counters[counter].iter().copied().collect())
        }))
    }
}

fn by_name<T>(arrays: impl Iterator<Item = (String, T)>) -> Vec<(String, T)> {
    let mut arrays: Vec<_> = arrays.collect();
    arrays.sort_by(|a, b| a.0.cmp(&b.0));
    arrays
}

fn bytes(store: &PacketStore, packet: Packet) -> Vec<u8> {
    [store.head(packet), store.tail(packet)].concat()
}

/// Returns the program that a program's P4 is, with the names that its entries have.
fn twin(program: &Program) -> Program {
    let text = write(program).unwrap();
    let loader = WithPrelude::new(Texts::new().with("twin.p4", &text), Architecture::T2na);
    let mut parsed = parse(&loader, "twin.p4", &sluice_p4::Options::default());
    let mut twin = parsed.lower(Architecture::T2na).unwrap().program;
    let short = |name: &mut String| {
        if let Some((_, rest)) =
            name.split_once('.').filter(|(of, _)| ["Ingress", "Egress", "Ghost"].contains(of))
        {
            *name = rest.to_owned();
        }
    };
    twin.tables.values_mut().for_each(|d| short(&mut d.name));
    twin.actions.values_mut().for_each(|d| short(&mut d.name));
    twin.profiles.values_mut().for_each(|d| short(&mut d.name));
    twin.counters.values_mut().for_each(|d| short(&mut d.name));
    twin.registers.values_mut().for_each(|d| short(&mut d.name));
    twin.meters.values_mut().for_each(|d| short(&mut d.name));
    twin.hashes.values_mut().for_each(|d| short(&mut d.name));
    (twin.name, twin.params) = (program.name.clone(), program.params.clone());
    twin
}

fn same(catalogue: &Catalogue, stage: &dyn StageProgram, inputs: u64) {
    let name = stage.name();
    let ports = PortMap::default_for(&ChipSpec::tofino2()).unwrap();
    let program = stage.build(&stage.hunt()).unwrap();
    let twin = Side::of(stage, twin(&program), &ports);
    let own = Side::of(stage, program, &ports);
    let subject = Subject::new(
        catalogue,
        own.program.clone(),
        own.placement.clone(),
        ports,
        own.control.clone(),
        Vec::new,
    );
    let (maker, corpus) = (Maker::new(&subject), Corpus::default());
    let mut forwarded = 0;
    for number in 0..inputs {
        let input = maker.input(11, number, &corpus);
        let expected = own.fates(&input.shots);
        for (found, on) in twin.fates(&input.shots).iter().zip(["interpreter", "engine"]) {
            for (at, (expected, found)) in expected[0].packets.iter().zip(&found.packets).enumerate() {
                assert_eq!(found, expected, "{name}, input {number}, {on}, fate {at}");
            }
            assert_eq!(*found, expected[0], "{name}, input {number}, {on}");
        }
        assert_eq!(expected[0], expected[1], "{name}, input {number}: the engine of the program itself");
        let out = |fate: &&Fate| {
            matches!(fate, Fate::Pass(Gress::Egress, None, PassOut { verdict: Verdict::Forward, .. }))
        };
        forwarded += expected[0].packets.iter().filter(out).count();
    }
    assert!(forwarded > 0, "{name}: packets are forwarded");
}

#[test]
fn programs_and_their_p4_do_the_same() {
    let inputs =
        std::env::var("SLUICE_TWIN_INPUTS").ok().and_then(|text| text.parse().ok()).unwrap_or(INPUTS);
    let catalogue = sluice_programs::catalogue();
    let programs = catalogue.programs();
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(stage) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
            same(&catalogue, stage.as_ref(), inputs);
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, NonZero::get) {
            scope.spawn(work);
        }
    });
}
