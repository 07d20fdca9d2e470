//! Parsers through both engines: headers that programs of each construct extract, skip, refuse and emit.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod checksums;
mod counter;
mod errors;
mod lookahead;
mod many;
mod ports;
mod random;
mod repeats;
mod residual;
mod stacks;
mod value_sets;
mod whole;
mod writes;

use crate::registers::bench::both_chips;
use sluice_asic::gress::Gress;
use sluice_build::params;
use sluice_build::*;
use sluice_control::ControlState;
use sluice_exec::engine::Engine;
use sluice_exec::packet::{HeadLayout, PacketStore};
use sluice_exec::pass::{Executor, Pass, PassIn, Verdict};
use sluice_exec::reference::{Options, Reference};
use sluice_ir::Program;
use sluice_place::Placement;

#[derive(params::Params, Default)]
struct NoParams {}

/// What every packet begins with: 8 bytes, of which programs write the last four.
#[derive(Header)]
pub(crate) struct Front {
    pub(crate) kind: Bits<8>,
    pub(crate) a: Bits<8>,
    pub(crate) b: Bits<16>,
    pub(crate) out: Bits<32>,
}

/// Builds a program whose ingress sends everything to port 1.
pub(crate) fn program(body: impl FnOnce(&GressBuilder<'_>)) -> Program {
    let b = Builder::new("parsers", "Parses");
    let ig = b.ingress();
    let tm = ig.intrinsic::<tna::ForTm>();
    body(&ig);
    ig.control(|c| c.set(tm.ucast_egress_port, 1));
    b.finish(&NoParams {}).unwrap_or_else(|d| panic!("{d:#?}"))
}

/// Returns the result of each frame on both chips: its bytes, or the parser error that lost it.
pub(crate) fn run(program: &Program, frames: &[Vec<u8>]) -> Vec<Result<Vec<u8>, u16>> {
    let ran = both_chips(program, frames);
    let of = |(out, bytes): (_, Vec<u8>)| match out {
        sluice_exec::pass::PassOut { verdict: Verdict::Forward, .. } => Ok(bytes),
        sluice_exec::pass::PassOut { verdict: Verdict::ParserError(bits), .. } => Err(bits),
        other => panic!("{other:?}"),
    };
    ran.packets.into_iter().map(of).collect()
}

/// Returns a frame that starts with these bytes and continues with a payload of ascending bytes.
pub(crate) fn frame(head: &[u8]) -> Vec<u8> {
    head.iter().copied().chain((0..40).map(|i| 0xc0 + i)).collect()
}

/// Both engines count the same parser cycles for each frame: those of the states that it goes through.
pub(crate) fn same_cycles(program: &Program, placement: &Placement, frames: &[Vec<u8>]) -> Vec<u16> {
    let control = ControlState::new(program);
    let parser_cycles = Gress::ALL.map(|g| placement.gress(g).parser.cycles.clone());
    let writes_once = !placement.chip.parser.clear_on_write;
    let options = Options { parser_cycles, writes_once, ..Options::default() };
    let mut reference = Reference::new(program, &control, options);
    let mut engine = Engine::new(program, placement, &control).unwrap();
    let cycles = |executor: &mut dyn Executor, frames: &[Vec<u8>]| -> Vec<u16> {
        let mut store = PacketStore::new(HeadLayout::default());
        let pass = |f: &Vec<u8>| Pass::new(store.insert(f, 0), PassIn::default());
        let mut passes: Vec<Pass> = frames.iter().map(pass).collect();
        executor.run(Gress::Ingress, &mut passes, &mut store);
        passes.iter().map(|p| p.output.parser_cycles).collect()
    };
    let expected: Vec<u16> = frames.chunks(64).flat_map(|f| cycles(&mut reference, f)).collect();
    let found: Vec<u16> = frames.chunks(64).flat_map(|f| cycles(&mut engine, f)).collect();
    assert_eq!(found, expected);
    expected
}
