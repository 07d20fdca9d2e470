//! States, selects, lookahead, stacks, counters, value sets and errors of parsers.

use super::{PACKET, Parts};
use sluice_reference::{Gress, Nothing, PassIn, Verdict};

const NEXT: &str = "state one { pkt.extract(hdr.t); md.m = 1; transition accept; }
    state two { md.m = 2; transition accept; }
    state three { md.m = 3; transition accept; }";

fn taken(parse: &str) -> u32 {
    let parts = Parts { parse, states: NEXT, apply: "hdr.o.x = (bit<32>)md.m;", ..Parts::default() };
    let packet = [&PACKET[..], &[0x77, 0x88]].concat();
    parts.words(&packet)[0]
}

#[test]
fn the_first_case_that_matches_is_taken() {
    assert_eq!(taken("select(hdr.i.a) { 0x12 : one; _ : two; }"), 1);
    assert_eq!(taken("select(hdr.i.a) { 0x02 &&& 0x0f : two; 0x12 : one; default : three; }"), 2);
    assert_eq!(
        taken("select(hdr.i.a, hdr.i.b) { (0x12, 0) : one; (0x10 .. 0x20, 0xf0) : two; default : three; }"),
        2
    );
    assert_eq!(taken("select(hdr.i.a, hdr.i.b) { (_, 0x10 &&& 0x10) : three; default : one; }"), 3);
}

#[test]
fn lookahead_takes_nothing() {
    assert_eq!(taken("select(pkt.lookahead<bit<8>>()) { 0x77 : one; default : two; }"), 1);
    assert_eq!(taken("select(pkt.lookahead<bit<16>>()[7:0]) { 0x88 : two; default : one; }"), 2);
}

#[test]
fn advance_skips_bits() {
    let parts = Parts {
        parse: "skip;",
        states: "state skip { pkt.advance(8); pkt.extract(hdr.t); transition accept; }",
        ..Parts::default()
    };
    let packet = [&PACKET[..], &[0x77, 0x88, 0x99]].concat();
    assert_eq!(parts.bytes(&packet)[8..], [0x88, 0x99]);
}

#[test]
fn stacks_fill_in_order() {
    let parts = Parts {
        parse: "more;",
        states: "state more { pkt.extract(hdr.s.next); transition select(hdr.s.last.v) { 0 : accept; default : more; } }",
        apply: "hdr.o.x = (bit<32>)hdr.s[0].v; if (!hdr.s[2].isValid()) { hdr.o.y = 1; }",
        ..Parts::default()
    };
    let packet = [&PACKET[..], &[5, 0, 9]].concat();
    assert_eq!(parts.bytes(&packet), [0, 0, 0, 5, 0, 0, 0, 1, 5, 0, 9]);
    // A fourth element is one too many.
    let packet = [&PACKET[..], &[5, 6, 7, 8]].concat();
    assert_eq!(parts.passes(&[&packet], &mut Nothing)[0].verdict, Verdict::ParserError(1));
}

#[test]
fn counters_count_bytes() {
    let parts = Parts {
        parser_locals: "ParserCounter() counter;",
        parse: "load;",
        states: "state load { counter.set(hdr.i.a, 0xff, 0, 7, 0xf1); transition more; }
                 state more { pkt.extract(hdr.s.next); counter.decrement(1); transition next; }
                 state next { transition select(counter.is_zero()) { true : accept; false : more; } }",
        apply: "hdr.o.x = 0; if (hdr.s[2].isValid()) { hdr.o.x = 3; }",
        ..Parts::default()
    };
    // 0x12 + 0xf1 = 3 bytes.
    let packet = [&PACKET[..], &[1, 2, 3, 4]].concat();
    assert_eq!(parts.bytes(&packet), [0, 0, 0, 3, 0, 0, 0, 0, 1, 2, 3, 4]);
}

#[test]
fn nested_parsers_take_and_return_headers() {
    let parts = Parts {
        top: "parser Inner(packet_in pkt, out byte_h h, inout bit<8> sum) {
                state start { pkt.extract(h); sum = sum + h.v; transition accept; }
              }",
        parser_locals: "Inner() inner;",
        parse: "more;",
        states: "state more { md.m = 3; inner.apply(pkt, hdr.t, md.m); transition accept; }",
        apply: "hdr.o.x = (bit<32>)md.m;",
        ..Parts::default()
    };
    let packet = [&PACKET[..], &[4, 9]].concat();
    assert_eq!(parts.bytes(&packet), [0, 0, 0, 7, 0, 0, 0, 0, 4, 9]);
}

#[test]
fn value_sets_have_members_of_the_control_plane() {
    let parts = Parts {
        parser_locals: "value_set<bit<8>>(4) known;",
        parse: "select(hdr.i.a) { known : one; default : two; }",
        states: NEXT,
        apply: "hdr.o.x = (bit<32>)md.m;",
        ..Parts::default()
    };
    let tree = parts.tree();
    let mut reference = tree.reference();
    let input = PassIn::new(Gress::Ingress, 0, [&PACKET[..], &[1]].concat());
    assert_eq!(reference.pass(&input, &mut Nothing).unwrap().bytes[3], 2);
    let set = reference.pipe().value_sets.keys().next().unwrap();
    reference.control.value_sets.insert(set, vec![vec![(0x10.into(), 0xf0.into())]]);
    assert_eq!(reference.pass(&input, &mut Nothing).unwrap().bytes[3], 1);
}

#[test]
fn packets_that_end_early_are_dropped_or_shown() {
    let short =
        |apply: &str| Parts { apply, ..Parts::default() }.passes(&[&PACKET[..5]], &mut Nothing).remove(0);
    // Bit 1: partial header; bit 5: an extractor of Tofino without bytes.
    assert_eq!(short("").verdict, Verdict::ParserError(0x22));
    let seen = short("hdr.o.x = (bit<32>)prsr.parser_err; if (hdr.i.isValid()) { hdr.o.y = 1; }");
    assert_eq!(
        (seen.verdict, seen.bytes),
        (Verdict::Forward, vec![0, 0, 0, 0x22, 0, 0, 0, 0, 0x12, 0xf0, 0x80, 1, 1])
    );
    let parts = Parts { parse: "select(hdr.i.a) { 1 : accept; }", ..Parts::default() };
    assert_eq!(parts.passes(&[&PACKET], &mut Nothing)[0].verdict, Verdict::ParserError(1));
}

#[test]
fn a_header_is_extracted_once_on_tofino() {
    let parts = Parts {
        parse: "again;",
        states: "state again { pkt.extract(hdr.i); transition accept; }",
        ..Parts::default()
    };
    let packet = [PACKET, PACKET].concat();
    assert_eq!(parts.passes(&[&packet], &mut Nothing)[0].verdict, Verdict::ParserError(0x100));
}
