//! A program with entries on both engines: packets in, bytes and state out.

use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_control::{ControlOp, ControlState, Then};
use sluice_exec::engine::Engine;
use sluice_exec::packet::{HeadLayout, PacketStore};
use sluice_exec::pass::{Executor, Pass, PassIn, PassOut, State};
use sluice_exec::reference::{Options, Reference};
use sluice_ir::meter_array::Origin;
use sluice_ir::text;
use sluice_ir::verify::{has_errors, verify};
use sluice_ir::{ActionCall, KeyValue, Program};
use sluice_place::{Placement, place};

/// Output of a run, packet by packet, and the state after it.
#[derive(Debug, PartialEq)]
pub(crate) struct Ran {
    pub(crate) packets: Vec<(PassOut, Vec<u8>)>,
    pub(crate) state: State,
}

impl Ran {
    /// Byte `at` of every packet.
    pub(crate) fn byte(&self, at: usize) -> Vec<u8> {
        self.packets.iter().map(|(_, bytes)| bytes[at]).collect()
    }
}

/// A program of the text form that must be clean.
pub(crate) fn parsed(source: &str) -> Program {
    let program = text::parse(source).unwrap_or_else(|e| panic!("{e}\n{source}"));
    let diags = verify(&program);
    assert!(!has_errors(&diags), "{diags:#?}");
    let printed = text::print(&program);
    assert_eq!(text::print(&text::parse(&printed).unwrap_or_else(|e| panic!("{e}\n{printed}"))), printed);
    program
}

pub(crate) fn placed(program: &Program, chip: &ChipSpec) -> Placement {
    place(program, chip).unwrap_or_else(|e| panic!("{e:?}"))
}

/// Runs frames through ingress.
pub(crate) fn run(executor: &mut dyn Executor, frames: &[Vec<u8>], batch: usize) -> Ran {
    let mut store = PacketStore::new(HeadLayout::default());
    let mut packets = Vec::new();
    for frames in frames.chunks(batch) {
        let input = |i: usize| PassIn { port: 8, global_tstamp: 1000 * i as u64, ..PassIn::default() };
        let mut passes: Vec<Pass> = frames
            .iter()
            .enumerate()
            .map(|(i, f)| Pass::new(store.insert(f, 0), input(packets.len() + i)))
            .collect();
        executor.run(Gress::Ingress, &mut passes, &mut store);
        for pass in passes {
            let bytes = [store.head(pass.packet), store.tail(pass.packet)].concat();
            packets.push((PassOut { parser_cycles: 0, ..pass.output }, bytes));
            store.remove(pass.packet);
        }
    }
    Ran { packets, state: executor.state().clone() }
}

/// The reference's state lives where the engine's does.
fn options(placement: &Placement) -> Options {
    let writes_once = !placement.chip.parser.clear_on_write;
    Options { origin: Origin::of(&placement.chip), writes_once, ..Options::default() }
}

/// Runs the reference, and the engine at several batch sizes, which must agree with it in everything.
pub(crate) fn agree(
    program: &Program,
    placement: &Placement,
    control: &ControlState,
    frames: &[Vec<u8>],
) -> Ran {
    let expected = run(&mut Reference::new(program, control, options(placement)), frames, 1);
    for batch in [1, 7, 64] {
        let mut engine = Engine::new(program, placement, control).unwrap_or_else(|e| panic!("{e}"));
        let found = run(&mut engine, frames, batch);
        for (i, (e, f)) in expected.packets.iter().zip(&found.packets).enumerate() {
            assert_eq!(e, f, "packet {i} of batch {batch}: {:02x?}\n{}", frames[i], text::print(program));
        }
        for (register, data) in program.registers.iter() {
            let cells = expected.state.registers[register].iter().zip(&found.state.registers[register]);
            for (i, (e, f)) in cells.enumerate() {
                assert_eq!(e, f, "{}[{i}] at batch {batch}\n{}", data.name, text::print(program));
            }
        }
        assert_eq!(expected.state, found.state, "batch {batch}");
    }
    expected
}

/// Like [`agree`], on both chips, with entries that `ops` add.
pub(crate) fn both_chips(program: &Program, ops: &[ControlOp], frames: &[Vec<u8>]) -> Ran {
    let control = configured(program, ops);
    agree(program, &placed(program, &ChipSpec::tofino()), &control, frames);
    agree(program, &placed(program, &ChipSpec::tofino2()), &control, frames)
}

pub(crate) fn configured(program: &Program, ops: &[ControlOp]) -> ControlState {
    let mut control = ControlState::new(program);
    for op in ops {
        control.apply(program, op.clone()).unwrap_or_else(|e| panic!("{e}: {op:?}"));
    }
    control
}

/// A call of an action by name.
pub(crate) fn call(program: &Program, action: &str, args: &[u128]) -> ActionCall {
    ActionCall { action: program.action_named(action).unwrap(), args: args.to_vec() }
}

/// An entry of a table by names.
pub(crate) fn entry(
    program: &Program,
    table: &str,
    key: &[KeyValue],
    priority: u32,
    then: ActionCall,
) -> ControlOp {
    let table = program.table_named(table).unwrap();
    ControlOp::InsertEntry { table, key: key.to_vec(), priority, then: Then::Call(then) }
}
