//! Parsers through both engines: what programs of each construct extract, skip, refuse and emit.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

#[path = "../registers/bench.rs"]
#[allow(dead_code, reason = "shared with the tests of registers")]
mod bench;
mod counter;
mod errors;
mod lookahead;
mod ports;
mod random;
mod stacks;

use bench::both_chips;
use sluice_pipeline::build::params;
use sluice_pipeline::build::*;
use sluice_pipeline::ir::Program;
use sluice_pipeline::pass::Verdict;

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

/// What becomes of each frame on both chips: its bytes, or the parser error that lost it.
pub(crate) fn run(program: &Program, frames: &[Vec<u8>]) -> Vec<Result<Vec<u8>, u16>> {
    let ran = both_chips(program, frames);
    let of = |(out, bytes): (_, Vec<u8>)| match out {
        sluice_pipeline::pass::PassOut { verdict: Verdict::Forward, .. } => Ok(bytes),
        sluice_pipeline::pass::PassOut { verdict: Verdict::ParserError(bits), .. } => Err(bits),
        other => panic!("{other:?}"),
    };
    ran.packets.into_iter().map(of).collect()
}

/// A frame that starts with these bytes and goes on with a payload that counts.
pub(crate) fn frame(head: &[u8]) -> Vec<u8> {
    head.iter().copied().chain((0..40).map(|i| 0xc0 + i)).collect()
}
