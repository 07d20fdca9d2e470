//! Loops that only the packet bounds: headers in any order.

use crate::parsers::{program, same_cycles};
use crate::registers::bench::{agree, placed};
use sluice_asic::chip::ChipSpec;
use sluice_build::*;
use sluice_exec::pass::{PassOut, Verdict};
use sluice_ir::Program;

/// An option of one byte
#[allow(dead_code, reason = "some fields only give the layout")]
#[derive(Header)]
pub(crate) struct One {
    kind: Bits<8>,
}

/// An option of two bytes
#[allow(dead_code, reason = "some fields only give the layout")]
#[derive(Header)]
pub(crate) struct Two {
    kind: Bits<8>,
    value: Bits<8>,
}

/// An option of three bytes
#[allow(dead_code, reason = "some fields only give the layout")]
#[derive(Header)]
pub(crate) struct Three {
    kind: Bits<8>,
    value: Bits<16>,
}

/// Options of one to three bytes in any order, up to a byte that is none of them. Actions write to the second one.
#[stage_program]
pub(crate) fn options(ig: &GressBuilder<'_>) {
    let one = ig.header::<One>();
    let two = ig.header::<Two>();
    let three = ig.header::<Three>();
    let start = ig.state().select(lookahead::<8>(0));
    let parse_one = ig.state().extract(one);
    let parse_two = ig.state().extract(two);
    let parse_three = ig.state().extract(three);
    start.on(0xbb, parse_one);
    start.on(0xcc, parse_two);
    start.on(0xdd, parse_three);
    start.otherwise(Accept);
    parse_one.otherwise(start);
    parse_two.otherwise(start);
    parse_three.otherwise(start);
    ig.start(start);
    ig.control(|c| {
        if two.is_valid() && three.is_valid() {
            two.value = 0x77;
        }
    });
    ig.deparser().emit(one).emit(two).emit(three);
}

/// Returns the result of frames on a chip: bytes, or the parser error.
fn ran(program: &Program, chip: &ChipSpec, frames: &[&[u8]]) -> Vec<Result<Vec<u8>, u16>> {
    let frames: Vec<Vec<u8>> = frames.iter().map(|bytes| bytes.to_vec()).collect();
    let of = |(out, bytes): (PassOut, Vec<u8>)| match out.verdict {
        Verdict::Forward => Ok(bytes),
        Verdict::ParserError(bits) => Err(bits),
        other => panic!("{other:?}"),
    };
    agree(program, &placed(program, chip), &frames).packets.into_iter().map(of).collect()
}

#[test]
fn headers_come_in_any_order_and_leave_in_that_of_the_deparser() {
    let program = program(options);
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let found = ran(
            &program,
            &chip,
            &[
                &[0xdd, 1, 2, 0xcc, 3, 0xbb, 0, 9],
                &[0xcc, 3, 0xbb, 0],
                &[0xbb, 1],
                &[0, 1, 2],
                &[0xdd, 1, 2, 0xcc, 3],
            ],
        );
        let expected = [
            Ok(vec![0xbb, 0xcc, 0x77, 0xdd, 1, 2, 0, 9]),
            Ok(vec![0xbb, 0xcc, 3, 0]),
            Ok(vec![0xbb, 1]),
            Ok(vec![0, 1, 2]),
            // The packet ends where the next option is looked for.
            Err(0x002),
        ];
        assert_eq!(found, expected, "{}", chip.name);
    }
}

#[test]
fn a_header_that_comes_again_replaces_the_first_or_is_an_error() {
    let program = program(options);
    let again: &[u8] = &[0xcc, 1, 0xbb, 0xcc, 2, 0xff];
    assert_eq!(ran(&program, &ChipSpec::tofino2(), &[again]), [Ok(vec![0xbb, 0xcc, 2, 0xff])]);
    // A parser of Tofino writes a container once.
    assert_eq!(ran(&program, &ChipSpec::tofino(), &[again]), [Err(0x100)]);
}

#[test]
fn a_parser_reaches_448_bytes_of_a_loop() {
    let program = program(options);
    let last = [&[0xbb_u8; 447][..], &[0, 1]].concat();
    let beyond = [&[0xbb_u8; 448][..], &[0, 1]].concat();
    let found = ran(&program, &ChipSpec::tofino2(), &[&last, &beyond]);
    assert_eq!(found, [Ok(vec![0xbb, 0, 1]), Err(0x002)]);
}

#[test]
fn repetitions_share_rows_and_cost_their_cycles() {
    let program = program(options);
    let chip = ChipSpec::tofino2();
    let placement = placed(&program, &chip);
    let frames: Vec<Vec<u8>> = (0..4).map(|n| [vec![0xcc; 2 * n], vec![0; 8]].concat()).collect();
    let cycles = same_cycles(&program, &placement, &frames);
    let lap = cycles[1] - cycles[0];
    assert!(lap >= 2);
    assert_eq!(cycles, [cycles[0], cycles[0] + lap, cycles[0] + 2 * lap, cycles[0] + 3 * lap]);
}
