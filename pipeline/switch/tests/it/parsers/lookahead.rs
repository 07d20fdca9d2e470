//! Bits ahead of the parser's place, and bytes that it skips.

use crate::parsers::{Front, frame, program, run};
use sluice_build::*;

/// One byte
#[allow(dead_code, reason = "some fields only give the layout")]
#[derive(Header)]
struct Four {
    version: Bits<4>,
    rest: Bits<4>,
    tail: Bits<24>,
}

/// Two bytes
#[allow(dead_code, reason = "some fields only give the layout")]
#[derive(Header)]
struct Six {
    version: Bits<4>,
    rest: Bits<12>,
}

/// What was seen
#[derive(Header)]
struct Seen {
    word: Bits<32>,
    half: Bits<16>,
}

/// Like a label of MPLS: the first four bits of the following bytes say which header they are.
#[stage_program]
fn peek(ig: &GressBuilder<'_>) {
    let front = ig.header::<Front>();
    let four = ig.header::<Four>();
    let six = ig.header::<Six>();
    let seen = ig.metadata::<Seen>();
    let start = ig
        .state()
        .extract(front)
        .set(seen.word, lookahead::<32>(8))
        .set(seen.half, lookahead::<16>(0))
        .select(list![front.kind, lookahead::<4>(0), lookahead::<8>(20)]);
    let parse_four = ig.state().extract(four);
    let parse_six = ig.state().extract(six);
    start.on_tuple([(1, 0xff), (4, 0xf), (0, 0)], parse_four);
    start.on_tuple([(1, 0xff), (6, 0xf), (0, 0)], parse_six);
    start.on_tuple([(2, 0xff), (0, 0), (0xbc, 0xff)], parse_six);
    ig.start(start);
    ig.control(|c| {
        front.out = seen.word;
        front.b = seen.half;
        if four.is_valid() {
            four.rest = 0xf;
        }
        if six.is_valid() {
            six.rest = 0xfff;
        }
    });
    ig.deparser().emit(front).emit(four).emit(six);
}

#[test]
fn bits_ahead_choose_the_state_and_are_copied() {
    let program = program(peek);
    let front = |kind: u8| vec![kind, 0, 0, 0, 0, 0, 0, 0];
    let packet = |kind: u8, next: [u8; 6]| frame(&[front(kind), next.to_vec()].concat());
    let out = run(
        &program,
        &[
            packet(1, [0x45, 1, 2, 3, 4, 5]),
            packet(1, [0x60, 1, 2, 3, 4, 5]),
            packet(1, [0x50, 1, 2, 3, 4, 5]),
            packet(2, [0x50, 1, 0x2b, 0xc3, 4, 5]),
            front(1),
            [front(1), vec![0x45, 1, 2, 3]].concat(),
        ],
    );
    let seen = |kind: u8, next: [u8; 6], ahead: [u8; 6]| {
        let head = vec![kind, 0, ahead[0], ahead[1], ahead[1], ahead[2], ahead[3], ahead[4]];
        Ok(frame(&[head, next.to_vec()].concat()))
    };
    assert_eq!(out[0], seen(1, [0x4f, 1, 2, 3, 4, 5], [0x45, 1, 2, 3, 4, 5]));
    assert_eq!(out[1], seen(1, [0x6f, 0xff, 2, 3, 4, 5], [0x60, 1, 2, 3, 4, 5]));
    assert_eq!(out[2], seen(1, [0x50, 1, 2, 3, 4, 5], [0x50, 1, 2, 3, 4, 5]));
    assert_eq!(out[3], seen(2, [0x5f, 0xff, 0x2b, 0xc3, 4, 5], [0x50, 1, 0x2b, 0xc3, 4, 5]));
    // Lookahead beyond the end is an error, like extraction there.
    assert_eq!(out[4], Err(0x002));
    assert_eq!(out[5], Err(0x002));
}

#[stage_program]
fn skip(ig: &GressBuilder<'_>) {
    let front = ig.header::<Front>();
    let six = ig.header::<Six>();
    let start = ig.state().extract(front).select(front.kind);
    let between = ig.state().advance(3).extract(six);
    let last = ig.state().advance(40);
    start.on(1, between);
    start.on(2, last);
    ig.start(start);
    ig.deparser().emit(front).emit(six);
}

#[test]
fn skipped_bytes_do_not_leave() {
    let program = program(skip);
    let packet = |kind: u8, next: &[u8]| frame(&[&[kind, 0, 0, 0, 0, 0, 0, 0], next].concat());
    let frames = [0, 1, 2].map(|kind| packet(kind, &[1, 2, 3, 0x64, 5, 6]));
    let out = run(&program, &frames);
    assert_eq!(out[0], Ok(packet(0, &[1, 2, 3, 0x64, 5, 6])));
    assert_eq!(out[1], Ok(packet(1, &[0x64, 5, 6])));
    // Only the end of the payload is left after this place.
    assert_eq!(out[2], Ok(vec![2, 0, 0, 0, 0, 0, 0, 0, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7]));
    let short = vec![2, 0, 0, 0, 0, 0, 0, 0, 1, 2];
    assert_eq!(run(&program, &[short]), [Err(0x002)]);
}

/// Single bits ahead
#[derive(Header)]
struct Flags {
    first: Bits<1>,
    low: Bits<3>,
}

/// Bits that are not whole bytes land in fields of their own, where they are in their byte.
#[stage_program]
fn bits(ig: &GressBuilder<'_>) {
    let front = ig.header::<Front>();
    let flags = ig.metadata::<Flags>();
    let start = ig
        .state()
        .set(flags.first, lookahead::<1>(0))
        .set(flags.low, lookahead::<3>(13))
        .extract(front)
        .otherwise(Accept);
    ig.start(start);
    ig.control(|c| {
        if flags.first == 1 {
            front.b = 1;
        }
        if flags.low == 5 {
            front.out = 5;
        }
    });
    ig.deparser().emit(front);
}

#[test]
fn bits_ahead_are_copied() {
    let program = program(bits);
    let sent = |kind, a| frame(&[kind, a, 0, 0, 0, 0, 0, 0]);
    let got = |kind, a, b, out| Ok(frame(&[kind, a, 0, b, 0, 0, 0, out]));
    let found = run(&program, &[sent(0x80, 0xfd), sent(0x7f, 0x05), sent(0xff, 0x04)]);
    assert_eq!(found, [got(0x80, 0xfd, 1, 5), got(0x7f, 0x05, 0, 5), got(0xff, 0x04, 1, 0)]);
}
