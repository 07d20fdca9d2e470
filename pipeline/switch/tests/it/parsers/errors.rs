//! Parser errors that the program reads.

use crate::parsers::counter::options;
use crate::parsers::{frame, program, run};
use sluice_asic::chip::ChipSpec;
use sluice_build::*;
use sluice_ir::Program;
use sluice_place::place;

/// Two bytes and their checksum
#[derive(Header)]
struct Sum {
    data: Bits<16>,
    sum: Bits<16>,
}

/// What is behind
#[derive(Header)]
struct Word {
    value: Bits<32>,
}

/// Where errors are told
#[derive(Header)]
struct Told {
    error: Bits<16>,
}

/// Where a wrong checksum is told
#[derive(Header)]
struct Flags {
    wrong: Bits<1>,
}

/// Adds a header with the error bits in front.
#[stage_program]
fn seen(ig: &GressBuilder<'_>) {
    let sum = ig.header::<Sum>();
    let words = ig.stack::<Word, 2>();
    let told = ig.header::<Told>();
    let flags = ig.metadata::<Flags>();
    let prsr = ig.intrinsic::<tna::ParserErrors>();
    let start =
        ig.state().extract(sum).verify_checksum(flags.wrong, list![sum.data, sum.sum]).select(sum.data);
    let word = ig.state().extract_next(words).select(words.last(|w| w.value));
    start.on_masked(0x0100, 0xff00, word);
    start.on_masked(0x0200, 0xff00, Reject);
    word.on(1, word);
    ig.start(start);
    ig.control(|c| {
        told.set_valid();
        told.error = prsr.parser_err;
    });
    ig.deparser().emit(told).emit(sum).emit(words);
}

/// A checksum as in `seen`; the program does not read the parser's errors.
#[stage_program]
fn unseen(ig: &GressBuilder<'_>) {
    let sum = ig.header::<Sum>();
    let flags = ig.metadata::<Flags>();
    let start =
        ig.state().extract(sum).verify_checksum(flags.wrong, list![sum.data, sum.sum]).select(sum.data);
    start.on_masked(0x0200, 0xff00, Reject);
    ig.start(start);
    ig.deparser().emit(sum);
}

fn with_sum(data: u16, right: bool, next: &[u8]) -> Vec<u8> {
    let sum = if right { !data } else { 0x1234 };
    [&data.to_be_bytes(), &sum.to_be_bytes(), next].concat()
}

fn told(program: &Program, packet: &[u8]) -> (u16, Vec<u8>) {
    let out = run(program, &[packet.to_vec()]).remove(0).unwrap();
    (u16::from_be_bytes([out[0], out[1]]), out[2..].to_vec())
}

#[test]
fn a_program_that_asks_sees_every_error_and_keeps_what_was_parsed() {
    let program = program(seen);
    let (one, two) = ([0, 0, 0, 1], [0, 0, 0, 2]);
    for (packet, error) in [
        (frame(&with_sum(0x0000, true, &[])), 0),
        (frame(&with_sum(0x0000, false, &[])), 0x1000),
        (frame(&with_sum(0x0200, true, &[])), 0x001),
        (frame(&with_sum(0x0200, false, &[])), 0x1001),
        (frame(&with_sum(0x0100, true, &two)), 0),
        (frame(&with_sum(0x0100, true, &[one, two].concat())), 0),
        // A third word has no place.
        (frame(&with_sum(0x0100, true, &[one, one].concat())), 0x001),
        (with_sum(0x0100, true, &[0, 0]), 0x002),
        (with_sum(0x0100, false, &[one.as_slice(), &[0]].concat()), 0x1002),
        (vec![1, 2, 3], 0x002),
    ] {
        assert_eq!(told(&program, &packet), (error, packet.clone()), "{packet:02x?}");
    }
}

#[test]
fn others_lose_packets_by_all_but_checksums() {
    let program = program(unseen);
    let frames = [
        frame(&with_sum(0, true, &[])),
        frame(&with_sum(0, false, &[])),
        frame(&with_sum(0x0200, false, &[])),
        vec![1, 2],
    ];
    let wanted = [Ok(frames[0].clone()), Ok(frames[1].clone()), Err(0x001), Err(0x002)];
    assert_eq!(run(&program, &frames), wanted);
}

#[test]
fn a_counter_beyond_its_range_is_an_error_of_its_own() {
    assert_eq!(run(&program(options), &[frame(&[0x4d, 6])]), [Err(0x004)]);
}

#[test]
fn tofino_names_the_extractor_without_bytes_too() {
    let program = program(unseen);
    for (chip, error) in [(ChipSpec::tofino(), 0x022), (ChipSpec::tofino2(), 0x002)] {
        let placement = place(&program, &chip).unwrap();
        let ran = crate::registers::bench::agree(&program, &placement, &[vec![1, 2]]);
        assert_eq!(ran.packets[0].0.verdict, sluice_exec::pass::Verdict::ParserError(error), "{}", chip.name);
    }
}
