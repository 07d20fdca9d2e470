//! A program without mistakes, and the verifier's diagnostics after changes of it.

use super::{for_chip, has_errors, verify};
use crate::entity::Entity;
use crate::text::parse;
use crate::{Expr, Field, ParserState, Program};
use sluice_asic::chip::ChipSpec;

/// A program without diagnostics on any chip.
const CLEAN: &str = r#"program clean;
header eth : ingress { bit<48> dst; bit<48> src; bit<16> ether_type; }
header ipv4 : ingress { bit<8> ttl; bit<8> protocol; bit<16> hdr_checksum; bit<32> dst; }
header udp : ingress { bit<16> src_port; bit<16> dst_port; }
header eg_eth : egress { bit<48> dst; bit<48> src; bit<16> ether_type; }
metadata : ingress { bit<16> m.flow; bit<16> m.port; bit<1> m.bad; bit<8> m.old; }
intrinsic : ingress {
    bit<9> ig.ingress_port; bit<9> ig_tm.ucast_egress_port; bit<7> ig_tm.qid;
}
label no_route = drop;
label absorbed = consume;
hash flow : ingress { algorithm = crc_16; inputs = { ipv4.dst, 8w1 }; width = 16; seed = 7; rotate = 3; }
hash select : ingress { algorithm = crc_64; inputs = { ipv4.dst, m.port }; width = 51; }
counter per_route : ingress { kind = packets; direct = route; }
counter per_port : ingress { kind = bytes; size = 512; }
profile hops : ingress { size = 64; selector = resilient(select); groups = 4; max_group_size = 32; }
action forward : ingress (bit<9> port, bit<7> queue) {
    ig_tm.ucast_egress_port = port;
    m.old = ipv4.ttl;
    ipv4.ttl = add(ipv4.ttl, 8w255);
    count(per_port, port);
}
action mark : ingress () { m.flow = hash(flow); count(per_route); }
action discard : ingress () { drop(no_route); }
action absorb : ingress () { drop(absorbed); }
action rewrite : ingress (bit<48> mac) { eth.dst = mac; }
table route : ingress {
    key = { ipv4.dst : lpm; }
    actions = { mark; }
    default_action = discard();
    size = 1024;
}
table nexthop : ingress {
    key = { m.flow : exact; }
    actions = { forward; }
    default_action = discard();
    size = 16;
    profile = hops;
}
table mac : ingress {
    key = { m.port : exact; m.bad : ternary; }
    actions = { rewrite; absorb; }
    default_action = absorb();
    size = 16;
    const entries = {
        (1, _) : rewrite(0x112233445566);
        (2, 1 &&& 1) : absorb();
    }
}
parser ingress {
    start = parse_eth;
    state parse_eth {
        extract(eth);
        select (eth.ether_type) { (0x800) : parse_ipv4; default : accept; }
    }
    state parse_ipv4 {
        extract(ipv4);
        m.bad = verify_checksum({ ipv4.ttl, ipv4.protocol, ipv4.hdr_checksum, ipv4.dst });
        select (ipv4.protocol) { (17) : parse_udp; default : accept; }
    }
    state parse_udp { extract(udp); m.port = udp.dst_port; transition accept; }
}
parser egress {
    start = parse_all;
    state parse_all { extract(eg_eth); transition accept; }
}
control ingress {
    if (valid(ipv4) && ipv4.ttl > 8w1) {
        apply route { hit { apply nexthop; } }
        if (m.old == 8w0) { call discard; }
    } else {
        apply mac;
    }
}
deparser ingress {
    ipv4.hdr_checksum = checksum(ipv4, { ipv4.ttl, ipv4.protocol, ipv4.dst });
    emit(eth);
    emit(ipv4);
    emit(udp);
}
deparser egress { emit(eg_eth); }
"#;

fn program(edits: &[(&str, &str)]) -> Program {
    let mut text = CLEAN.to_owned();
    for (from, to) in edits {
        assert_eq!(text.matches(from).count(), 1, "`{from}` must stand once");
        text = text.replace(from, to);
    }
    parse(&text).unwrap()
}

fn show(diags: &[super::Diag]) -> String {
    diags.iter().map(|d| format!("{d}\n")).collect()
}

/// A section of `mistakes.txt`: the changes of `CLEAN`, the chip if there is one, and the expected diagnostics.
struct Mistake<'t> {
    title: &'t str,
    chip: Option<&'t str>,
    edits: Vec<(String, String)>,
    wanted: &'t str,
}

fn mistakes(text: &str) -> impl Iterator<Item = Mistake<'_>> {
    text.split("## ").skip(1).map(|section| {
        let (head, body) = section.split_once('\n').unwrap();
        let (title, chip) = head.split_once(" @ ").map_or((head, None), |(t, c)| (t, Some(c)));
        let mut wanted = body;
        let mut edits = Vec::new();
        let mut take = |sign: &str| {
            let (line, rest) = wanted.strip_prefix(sign)?.split_once('\n')?;
            wanted = rest;
            Some(line.replace("\\n", "\n"))
        };
        while let (Some(from), Some(to)) = (take("- "), take("+ ")) {
            edits.push((from, to));
        }
        Mistake { title, chip, edits, wanted: wanted.trim() }
    })
}

#[test]
fn the_clean_program_is_clean() {
    let clean = program(&[]);
    assert_eq!(show(&verify(&clean)), "");
    assert_eq!(show(&for_chip(&clean, &ChipSpec::tofino())), "");
    assert_eq!(show(&for_chip(&clean, &ChipSpec::tofino2())), "");
}

/// Each mistake of the file gives exactly the expected diagnostics. On a failure the test prints the actual ones.
#[test]
fn mistakes_are_found() {
    let mut wrong = String::new();
    for mistake in mistakes(include_str!("mistakes.txt")) {
        let edits: Vec<(&str, &str)> = mistake.edits.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        let p = program(&edits);
        let diags = match mistake.chip {
            Some(chip) => for_chip(&p, &ChipSpec::from_name(chip).unwrap()),
            None => verify(&p),
        };
        let found = show(&diags);
        assert!(!found.is_empty(), "{}: nothing is found", mistake.title);
        if found.trim() != mistake.wanted {
            wrong += &format!("## {}\n{found}\n", mistake.title);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn dangling_references_end_the_check() {
    let mut p = program(&[]);
    p.hashes.values_mut().next().unwrap().inputs.push(Expr::Field(Field::new(999)));
    p.pipes[0].start = crate::Next::State(ParserState::new(77));
    let diags = verify(&p);
    assert!(has_errors(&diags));
    assert_eq!(
        show(&diags),
        "error: hash `flow` names field 999, but the program has 19\n  --> <text>:12:1\n  \
         = help: add the field before it is used\n\
         error: ingress parser names state 77, but the program has 4\n  = help: add the state before it is used\n"
    );
    assert_eq!(for_chip(&p, &ChipSpec::tofino()), []);
}

/// Reads of header 5 and of header 150 of 200, which the parser extracts on no path, or on one of several.
#[test]
fn headers_of_any_number_are_followed() {
    let headers: String = (0..200).map(|n| format!("header h{n} : ingress {{ bit<8> x; }}\n")).collect();
    let found = |header: usize, extracts: &str| {
        let h = format!("h{header}");
        let p = program(&[
            ("header udp :", format!("{headers}header udp :").as_str()),
            ("absorb : ingress () {", format!("absorb : ingress () {{ m.old = {h}.x;").as_str()),
            ("extract(udp);", extracts.replace('H', &h).as_str()),
            ("emit(udp);", format!("emit(udp); emit({h});").as_str()),
        ]);
        let diags =
            verify(&p).into_iter().map(|d| (d.severity, d.text.replace(&h, "H"), d.help.replace(&h, "H")));
        diags.collect::<Vec<_>>()
    };
    let never = found(150, "extract(udp);");
    assert_eq!(never[0].1, "`H.x` is read by action `absorb` but header `H` is never valid here");
    assert_eq!(never[1].1, "ingress emits header `H`, which is never valid");
    let maybe = found(150, "extract(udp); extract(H);");
    assert_eq!(maybe[0].1, "`H.x` is read by action `absorb` where header `H` may be invalid");
    assert_eq!((never.len(), maybe.len()), (2, 1));
    assert_eq!(found(5, "extract(udp);"), never);
    assert_eq!(found(5, "extract(udp); extract(H);"), maybe);
}

#[test]
fn warnings_alone_are_no_errors() {
    let p = program(&[("label no_route = drop;", "label no_route = drop; label spare = drop;")]);
    let diags = verify(&p);
    assert_eq!(diags.len(), 1);
    assert!(!has_errors(&diags));
}
