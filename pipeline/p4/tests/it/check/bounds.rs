//! Programs that a careless walk would not end on: deep nesting, and types and constants that double with each line.

use super::{control, messages};
use sluice_p4::syntax::ast::MAX_DEPTH;
use std::fmt::Write;

#[test]
fn deep_expressions_and_statements() {
    for (open, close) in
        [("(", ")"), ("~(", ")"), ("(8w1 + ", ")"), ("(m.good ? 8w1 : ", ")"), ("(bit<8>) (", ")")]
    {
        let text = format!("h.ipv4.ttl = {}8w1{};", open.repeat(MAX_DEPTH / 3), close.repeat(MAX_DEPTH / 3));
        assert_eq!(messages(&control(&text)), "", "{open}");
    }
    let text =
        format!("{}h.ipv4.ttl = 1;{}", "if (m.good) { ".repeat(MAX_DEPTH / 3), " }".repeat(MAX_DEPTH / 3));
    assert_eq!(messages(&control(&text)), "");
    for (open, close) in [("(", ")"), ("~(", ")"), ("{", "}"), ("max(8w1, ", ")"), ("h.ipv4.src[", ":0]")] {
        let text = format!("h.ipv4.ttl = {}8w1{};", open.repeat(100_000), close.repeat(100_000));
        assert!(messages(&control(&text)).len() < 10_000, "{open}");
    }
}

#[test]
fn types_that_double() {
    let mut text = String::from("struct pair<A, B> { A a; B b; }\ntypedef bit<8> t0;\n");
    for level in 1..=60 {
        let below = level - 1;
        let _ = writeln!(text, "typedef pair<t{below}, t{below}> t{level};");
    }
    text += "control C<T>(inout t60 x, inout T y, inout bit<8> z, packet_out p) { apply { p.emit(x); z = x; z = (bit<8>) sizeInBits(x); x = {x.a, x.a}; } }\n";
    text += "control D(inout t60 x, inout bit<8> z, packet_out p) { C<t60>() c; apply { c.apply(x, x, z, p); } }\n";
    let found = messages(&text);
    assert_eq!(found.matches("error: ").count(), 1, "{found}");
    assert!(found.len() < 2_000, "{found}");
}

#[test]
fn structs_that_double() {
    let mut text = String::from("struct s0 { bit<8> x; }\n");
    for level in 1..=60 {
        let below = level - 1;
        let _ = writeln!(text, "struct s{level} {{ s{below} a; s{below} b; }}");
    }
    text += "control C(inout s60 x, inout bit<32> z) { apply { z = sizeInBytes(x); } }\n";
    assert!(messages(&text).len() < 2_000);
}

#[test]
fn constants_that_double() {
    let mut text = String::from("struct s0 { bit<8> x; }\nconst s0 C0 = {1};\n");
    for level in 1..=60 {
        let below = level - 1;
        let _ = writeln!(
            text,
            "struct s{level} {{ s{below} a; s{below} b; }}\nconst s{level} C{level} = {{C{below}, C{below}}};"
        );
    }
    let found = messages(&text);
    assert!(found.starts_with("error: the constant has more than 65536 numbers"), "{found}");
    assert_eq!(found.matches("error: ").count(), 1, "{found}");
}

#[test]
fn truncated_programs() {
    let text = control("m.word = h.ipv4.len; if (m.good) { h.vlan.push_front(1); }");
    for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)).step_by(3) {
        let found = messages(&text[..end]);
        assert!(found.len() < 10_000, "{found}");
    }
}
