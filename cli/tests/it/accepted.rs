//! Constructs of P4 that programs of others have, through `sluice test`: bytes that follow from the P4 text by hand.

use super::support::{folder, ok, text};
use std::fs;

const PROGRAM: &str = r#"#include <core.p4>
#if __TARGET_TOFINO__ == 2
#include <t2na.p4>
#else
#include <tna.p4>
#endif
header eth_h { bit<48> dst; bit<48> src; bit<16> type; }
header rec_h { bit<32> a; bit<32> b; bit<16> p; bit<16> q; bit<8> x; bit<8> y; }
header adr_h { bit<64> va; }
struct heads_t { eth_h eth; rec_h rec; adr_h adr; }
struct md_t { bit<32> t; }
TOP
parser IP(packet_in pkt, out heads_t h, out md_t m, out ingress_intrinsic_metadata_t ig) {
    state start { pkt.extract(ig); pkt.advance(PORT_METADATA_SIZE); pkt.extract(h.eth); pkt.extract(h.rec);
        transition select(h.rec.y) { 1 : adr; default : accept; } }
    state adr { pkt.extract(h.adr); transition accept; }
}
control Ig(inout heads_t h, inout md_t m, in ingress_intrinsic_metadata_t ig,
           in ingress_intrinsic_metadata_from_parser_t ip,
           inout ingress_intrinsic_metadata_for_deparser_t id, inout ingress_intrinsic_metadata_for_tm_t it) {
    action mark(bit<16> v) { h.rec.q = v; }
    action swap(inout bit<8> x, inout bit<8> y) { bit<8> t = x; x = y; y = t; }
    table near { key = { h.rec.a : exact; } actions = { mark; NoAction; } default_action = NoAction(); size = 64; }
    Register<bit<32>, bit<1>>(2) cell;
    LOCALS
    apply { it.ucast_egress_port = 1; APPLY }
}
control ID(packet_out pkt, inout heads_t h, in md_t m, in ingress_intrinsic_metadata_for_deparser_t id) {
    apply { pkt.emit(h); }
}
parser EP(packet_in pkt, out heads_t h, out md_t m, out egress_intrinsic_metadata_t eg) {
    state start { pkt.extract(eg); transition accept; }
}
control Eg(inout heads_t h, inout md_t m, in egress_intrinsic_metadata_t eg,
           in egress_intrinsic_metadata_from_parser_t ep,
           inout egress_intrinsic_metadata_for_deparser_t ed, inout egress_intrinsic_metadata_for_output_port_t eo) { apply {} }
control ED(packet_out pkt, inout heads_t h, in md_t m, in egress_intrinsic_metadata_for_deparser_t ed) { apply { pkt.emit(h); } }
Pipeline(IP(), Ig(), ID(), EP(), Eg(), ED()) pipe;
Switch(pipe) main;
"#;

/// A packet: the header `rec`, and with `y` = 1 the header `adr`.
#[derive(Clone, Copy, Default)]
struct Packet {
    a: u32,
    b: u32,
    p: u16,
    q: u16,
    x: u8,
    adr: Option<u64>,
}

impl Packet {
    fn hex(self) -> String {
        let Packet { a, b, p, q, x, adr } = self;
        let y = u8::from(adr.is_some());
        let adr = adr.map_or(String::new(), |adr| format!("{adr:016x}"));
        format!(
            "0200000000aa0200000000bb9000{a:08x}{b:08x}{p:04x}{q:04x}{x:02x}{y:02x}{adr}{}",
            "5a".repeat(32)
        )
    }
}

/// Where a program differs from the common one.
struct Case {
    top: &'static str,
    locals: &'static str,
    apply: &'static str,
    chips: &'static [&'static str],
}

const BOTH: &[&str] = &["tofino", "tofino2"];

fn case(locals: &'static str, apply: &'static str) -> Case {
    Case { top: "", locals, apply, chips: BOTH }
}

/// Runs packets through a program; each leaves as the second of its pair says. The table `near` marks packets with `a` = 5.
fn run(case: &Case, packets: &[(Packet, Packet)]) {
    let dir = folder("accepted");
    let p4 = PROGRAM.replace("TOP", case.top).replace("LOCALS", case.locals).replace("APPLY", case.apply);
    fs::write(dir.path().join("case.p4"), p4).unwrap();
    let mut test = format!("program = \"case.p4\"\nchip = {:?}\n[[step]]\n", case.chips);
    if case.apply.contains("near") {
        test += "add = { table = \"near\", key = { a = 5 }, action = \"mark\", args = { v = 7 } }\n";
    }
    for (sent, expected) in packets {
        let (sent, expected) = (sent.hex(), expected.hex());
        test += &format!("[[step]]\nsend = {{ port = \"dev:0\", hex = \"{sent}\" }}\n");
        test += &format!("expect = {{ port = \"dev:1\", hex = \"{expected}\" }}\n");
    }
    let file = dir.path().join("case.toml");
    fs::write(&file, test).unwrap();
    let said = ok(&["test", text(&file)]);
    assert!(said.contains(&format!("{} passed", case.chips.len())), "{said}");
}

#[test]
fn hits_and_misses_are_values() {
    let five = Packet { a: 5, ..Packet::default() };
    let six = Packet { a: 6, ..Packet::default() };
    run(
        &case("", "bool local = near.apply().hit; if (local) { h.rec.p = 1; } else { h.rec.p = 2; }"),
        &[(five, Packet { p: 1, q: 7, ..five }), (six, Packet { p: 2, ..six })],
    );
    // The table is applied only if the left side asks for it.
    let asks = Packet { x: 1, ..five };
    run(
        &case("", "if (h.rec.x == 1 && near.apply().hit) { h.rec.p = 1; } else { h.rec.p = 2; }"),
        &[(asks, Packet { p: 1, q: 7, ..asks }), (five, Packet { p: 2, ..five })],
    );
    run(
        &case("", "h.rec.p = near.apply().miss ? 16w3 : h.rec.q;"),
        &[(five, Packet { p: 7, q: 7, ..five }), (six, Packet { p: 3, ..six })],
    );
}

#[test]
fn actions_write_slices_and_exchange_values() {
    let packet = Packet { a: 0x1122_3344, b: 0x5566_7788, ..Packet::default() };
    let swapped = Packet { a: 0x1122_3377, b: 0x5566_4488, ..packet };
    run(&case("", "swap(h.rec.a[7:0], h.rec.b[15:8]);"), &[(packet, swapped)]);
    let exchanged = Packet { a: packet.b, b: packet.a, ..packet };
    run(
        &case("action exchange() { bit<32> t = h.rec.a; h.rec.a = h.rec.b; h.rec.b = t; }", "exchange();"),
        &[(packet, exchanged), (exchanged, packet)],
    );
    // Three fields in a ring, of which one is narrower.
    let ring = "action ring() { bit<16> t = h.rec.p; h.rec.p = h.rec.q; h.rec.q = (bit<16>)h.rec.x; h.rec.x = t[7:0]; }";
    let three = Packet { p: 0x1122, q: 0x3344, x: 0x55, ..packet };
    run(&case(ring, "ring();"), &[(three, Packet { p: 0x3344, q: 0x55, x: 0x22, ..packet })]);
    run(&case("action both() { swap(h.rec.a[7:0], h.rec.b[15:8]); }", "both();"), &[(packet, swapped)]);
}

#[test]
fn arguments_are_copied_in_and_out() {
    let packet = Packet { a: 1, b: 2, ..Packet::default() };
    let both = "action both(inout bit<32> one, inout bit<32> two, in bit<32> by) { one = one + by; two = one + two; }";
    // `one` is 6, `two` is 7, and the last one copied out stays.
    run(&case(both, "both(h.rec.a, h.rec.a, 5);"), &[(packet, Packet { a: 7, ..packet })]);
    run(&case(both, "both(h.rec.a, h.rec.b, 5);"), &[(packet, Packet { a: 6, b: 8, ..packet })]);
    let named = "action named(inout bit<32> v) { h.rec.a = 9; v = v + 1; h.rec.b = h.rec.a; }";
    run(&case(named, "named(h.rec.a);"), &[(packet, Packet { a: 2, b: 9, ..packet })]);
    let whole = "action whole(inout rec_h v) { h.rec.a = 9; v.a = v.a + 1; h.rec.b = h.rec.a; }";
    // `v.b` is as before, and all of `v` is copied out.
    run(&case(whole, "whole(h.rec);"), &[(packet, Packet { a: 2, ..packet })]);
    // An argument before a table has the value from before the table, too.
    let note = "action note(in bit<16> old, in bool hit) { h.rec.p = old; if (hit) { h.rec.x = 1; } }";
    let [five, six] = [5, 6].map(|a| Packet { a, q: 3, ..packet });
    run(
        &case(note, "note(h.rec.q, near.apply().hit);"),
        &[(five, Packet { p: 3, q: 7, x: 1, ..five }), (six, Packet { p: 3, ..six })],
    );
}

#[test]
fn arguments_of_controls_are_copied_in_and_out() {
    let packet = Packet { a: 1, b: 2, ..Packet::default() };
    let control = |top, apply| Case { top, locals: "Inner() c;", apply, chips: BOTH };
    let pair =
        "control Inner(inout bit<32> one, inout bit<32> two) { apply { one = one + 5; two = one + two; } }";
    run(&control(pair, "c.apply(h.rec.a, h.rec.a);"), &[(packet, Packet { a: 7, ..packet })]);
    let sum = "control Inner(inout heads_t h, inout bit<32> v) { apply { h.rec.a = 9; v = v + 1; } }";
    run(&control(sum, "c.apply(h, h.rec.a);"), &[(packet, Packet { a: 2, ..packet })]);
    run(&control(sum, "c.apply(h, h.rec.b);"), &[(packet, Packet { a: 9, b: 3, ..packet })]);
    // The last parameter gives the place its value.
    let last = "control Inner(inout bit<32> v, inout heads_t h) { apply { h.rec.a = 9; v = v + 1; } }";
    run(&control(last, "c.apply(h.rec.a, h);"), &[(packet, Packet { a: 9, ..packet })]);
    let read = "control Inner(in rec_h v, inout heads_t h) { apply { h.rec.a = 9; h.rec.b = v.a; } }";
    run(&control(read, "c.apply(h.rec, h);"), &[(packet, Packet { a: 9, b: 1, ..packet })]);
    let made = "control Inner(out adr_h v) { apply { v.va = 5; } }";
    let apply = "if (h.adr.isValid()) { c.apply(h.adr); if (!h.adr.isValid()) { h.rec.p = 2; h.adr.setValid(); h.adr.va = 6; } }";
    let sent = Packet { adr: Some(1), ..packet };
    run(&control(made, apply), &[(sent, Packet { p: 2, adr: Some(6), ..packet })]);
    let slice = "control Inner(inout bit<8> v) { apply { v = v + 1; } }";
    run(&control(slice, "c.apply(h.rec.a[15:8]);"), &[(packet, Packet { a: 0x101, ..packet })]);
}

#[test]
fn exit_leaves_through_actions_that_call_actions() {
    let [stays, leaves] = [1, 2].map(|x| Packet { x, ..Packet::default() });
    let locals = "action leave() { exit; } action maybe() { if (h.rec.x == 2) { leave(); } }";
    run(&case(locals, "maybe(); h.rec.p = 3;"), &[(stays, Packet { p: 3, ..stays }), (leaves, leaves)]);
}

#[test]
fn a_register_is_read_before_the_table_that_follows() {
    let pair = "
    RegisterAction<bit<32>, bit<1>, bit<32>>(cell) look = { void apply(inout bit<32> v, out bit<32> r) { r = v; v = v + 1; } };
    action other(bit<8> v) { h.rec.x = v; }
    table moved { key = { h.rec.a : exact; } actions = { other; } const default_action = other(1); size = 16; }";
    let packet = Packet::default();
    // The cell of `x` = 0 counts; the table writes `x` afterwards.
    run(
        &case(
            pair,
            "bit<32> old = look.execute((bit<1>)h.rec.x); if (moved.apply().hit) { h.rec.q = 1; } else { h.rec.b = old; }",
        ),
        &[(packet, Packet { x: 1, ..packet }), (packet, Packet { x: 1, b: 1, ..packet })],
    );
}

#[test]
fn registers_are_accessed_once_by_each_packet() {
    let [one, two, three] = [1, 2, 3].map(|x| Packet { x, a: 9, ..Packet::default() });
    let add = "RegisterAction<bit<32>, bit<1>, bit<32>>(cell) add = { void apply(inout bit<32> v, out bit<32> r) { v = v + 1; r = v; } };";
    let by_value =
        "if (h.rec.x == 1) { h.rec.a = add.execute(0); } if (h.rec.x == 2) { h.rec.b = add.execute(0); }";
    run(
        &Case { chips: &["tofino2"], ..case(add, by_value) },
        &[
            (one, Packet { a: 1, ..one }),
            (two, Packet { b: 2, ..two }),
            (three, three),
            (one, Packet { a: 3, ..one }),
        ],
    );
    let pair = "
    RegisterAction<bit<32>, bit<1>, bit<32>>(cell) look = { void apply(inout bit<32> v, out bit<32> r) { r = v; } };
    RegisterAction<bit<32>, bit<1>, bit<32>>(cell) put = { void apply(inout bit<32> v) { v = h.rec.a; } };";
    run(
        &case(
            pair,
            "bit<32> old = look.execute(0); if (h.rec.x == 1) { put.execute(0); } else { h.rec.b = old; }",
        ),
        &[(two, two), (one, one), (two, Packet { b: 9, ..two })],
    );
    let nine = Packet { a: 9, ..Packet::default() };
    run(
        &case("action seen() { h.rec.a = cell.read(0); cell.write(0, 5); }", "seen();"),
        &[(nine, Packet { a: 0, ..nine }), (nine, Packet { a: 5, ..nine })],
    );
    // Nothing needs what is read first.
    run(&case(pair, "bit<32> old = look.execute(0); put.execute(0);"), &[(one, one)]);
}

#[test]
fn results_of_registers_decide_and_fill_wide_fields() {
    let packet = Packet::default();
    let first = "RegisterAction<bit<32>, bit<1>, bool>(cell) first = { void apply(inout bit<32> v, out bool r) { if (v == 0) { r = true; } v = 1; } };";
    run(
        &case(first, "if (first.execute(1)) { h.rec.p = 1; } else { h.rec.p = 2; }"),
        &[(packet, Packet { p: 1, ..packet }), (packet, Packet { p: 2, ..packet })],
    );
    let wide = Packet { adr: Some(0x1_ffff_ffff), ..packet };
    let carried = Packet { adr: Some(0x2_0000_000f), ..packet };
    for (result, read) in [("bit<64>", "step.execute(0)"), ("bit<32>", "(bit<64>)step.execute(0)")] {
        let locals = format!(
            "RegisterAction<bit<32>, bit<1>, {result}>(cell) step = {{ void apply(inout bit<32> v, out {result} r) {{ r = ({result})v; v = v + 16; }} }};"
        );
        let apply = format!("if (h.adr.isValid()) {{ bit<64> o = {read}; h.adr.va = h.adr.va + o; }}");
        run(&case(locals.leak(), apply.leak()), &[(wide, wide), (wide, carried)]);
    }
    let index = "Register<bit<32>, bit<0>>(1) serial; RegisterAction<bit<32>, bit<0>, bit<32>>(serial) next = { void apply(inout bit<32> v, out bit<32> r) { r = v; v = v + 1; } };";
    let nine = Packet { a: 9, ..packet };
    run(&case(index, "h.rec.a = next.execute(0);"), &[(nine, packet), (nine, Packet { a: 1, ..packet })]);
}

#[test]
fn constants_and_choices_of_values() {
    let packet = Packet { a: 100, b: 7, ..Packet::default() };
    run(&case("", "h.rec.a = h.rec.a - 14 - 20 - 8 + 1;"), &[(packet, Packet { a: 59, ..packet })]);
    run(
        &case("", "h.rec.a = h.rec.a < h.rec.b ? h.rec.a : h.rec.b;"),
        &[(packet, Packet { a: 7, ..packet }), (Packet { a: 3, ..packet }, Packet { a: 3, ..packet })],
    );
    // Arguments that are known decide inside an action.
    let put =
        "action put(in bit<8> k, in bool big) { if (big) { h.rec.p = 1; } else { h.rec.p = (bit<16>)k; } }";
    let other = Packet { x: 1, ..packet };
    run(
        &case(put, "if (h.rec.x == 0) { put(3, false); } else { put(4, true); }"),
        &[(packet, Packet { p: 3, ..packet }), (other, Packet { p: 1, ..other })],
    );
    let top = "const int KIND = 16w3;\n# pick one of these\n#TODO rename\n";
    run(
        &Case { top, ..case("", "if (h.rec.p == KIND) { h.rec.q = 5; }") },
        &[(Packet { p: 3, ..packet }, Packet { p: 3, q: 5, ..packet }), (packet, packet)],
    );
}
