//! Constants.

use super::{messages, snippet};
use expect_test::expect;
use sluice_asic::intrinsic::Architecture;
use sluice_p4::check::Value;

/// Returns the value of the constant `X` of a snippet.
fn value(text: &str) -> Value {
    let snippet = snippet(Architecture::T2na, text);
    assert_eq!(snippet.diagnostics.errors(), 0, "{text}");
    let name = snippet.ast.names.find("X").expect("the snippet has X");
    let decl = snippet.checked.top[&name][0];
    snippet.checked.constants[&decl].clone()
}

fn int(value: i64) -> Value {
    Value::Int(value.into())
}

#[test]
fn operators_on_constants() {
    for (text, wanted) in [
        ("const bit<8> X = 250 + 10 - 8;", 252),
        ("const int X = 250 + 10;", 260),
        ("const bit<8> X = 8w250 + 10;", 4),
        ("const bit<8> X = 8w250 |+| 10;", 255),
        ("const bit<8> X = 8w3 |-| 10;", 0),
        ("const bit<8> X = ~8w1;", 254),
        ("const bit<8> X = -1;", 255),
        ("const int<8> X = -8s1;", -1),
        ("const int<8> X = (int<8>) 8w255;", -1),
        ("const bit<16> X = 8w0xab ++ 8w0xcd;", 0xabcd),
        ("const bit<8> X = 16w0xabcd[11:4];", 0xbc),
        ("const bit<32> X = 1 << 31;", 1 << 31),
        ("const bit<8> X = 0xff & ~8w4;", 0xfb),
        ("const bit<8> X = true ? 8w1 : 2;", 1),
        ("const bit<1> X = (bit<1>) (3 > 2 && 7 % 4 == 3);", 1),
        ("const bit<8> A = 7; const bit<16> X = (bit<16>) A * 3;", 21),
        ("const bit<8> X = (bit<8>) MeterColor_t.RED;", 3),
        ("const bit<8> X = MeterColor_t.YELLOW;", 1),
        ("enum bit<8> e_t { A = 3, B = 4 } const bit<8> X = e_t.A + e_t.B;", 7),
        ("const int X = COMPILER_VERSION;", (9 << 24) + (13 << 12) + 4),
        ("const bit<32> X = PORT_METADATA_SIZE;", 192),
    ] {
        assert_eq!(value(text), int(wanted), "{text}");
    }
}

#[test]
fn conditions_on_constants() {
    for text in [
        "const bool X = 8w255 + 1 == 0;",
        "const bool X = 255 + 1 == 256;",
        "const bool X = -1 < 0;",
        "const bool X = !(8s127 + 1 > 0);",
        "const bool X = HashAlgorithm_t.CRC16 != HashAlgorithm_t.CRC32;",
        "const bool X = false || !false;",
    ] {
        assert_eq!(value(text), Value::Bool(true), "{text}");
    }
}

#[test]
fn values_that_do_not_exist() {
    let text = "const bit<8> A = 1 / 0;\nconst bit<8> B = 5 / (0 - 2);\nconst int C = 1 << 5000;\nconst bit<8> D = 300;\nconst bit<8> E = 8w256;";
    expect![[r#"
        error: operator `/` has no result: the divisor is 0
         --> snippet.p4:2:18
          |
        2 | const bit<8> A = 1 / 0;
          |                  ^^^^^
        error: operator `/` has no result: numbers below 0 cannot be divided
         --> snippet.p4:3:18
          |
        3 | const bit<8> B = 5 / (0 - 2);
          |                  ^^^^^^^^^^
        error: operator `<<` has no result: the result has more than 2048 bits
         --> snippet.p4:4:15
          |
        4 | const int C = 1 << 5000;
          |               ^^^^^^^^^
        warning: the number 300 does not fit `bit<8>`
         --> snippet.p4:5:18
          |
        5 | const bit<8> D = 300;
          |                  ^^^ its low bits are 44
          |
          = help: write a number in the range of the type, or a wider type
        warning: the number 256 does not fit its width of 8 bits
         --> snippet.p4:6:18
          |
        6 | const bit<8> E = 8w256;
          |                  ^^^^^ its low bits are 0
          |
          = help: write a number in the range of the width, or a greater width
    "#]]
    .assert_eq(&messages(text));
}

#[test]
fn sizes_of_types() {
    let text = "header a_h { bit<8> x; bit<16> y; }\nstruct b_t { a_h a; bit<3> z; }\n\
        control C(inout b_t b, inout bit<32> o)() { apply { o = sizeInBytes(b); o = sizeInBits(b); o = b.a.minSizeInBytes(); } }";
    let snippet = snippet(Architecture::T2na, text);
    assert_eq!(snippet.diagnostics.errors(), 0);
    let mut sizes: Vec<String> = Vec::new();
    for expr in snippet.ast.exprs.keys() {
        if snippet.checked.calls.contains_key(&expr) {
            sizes.extend(snippet.checked.values.get(&expr).and_then(Value::as_int).map(ToString::to_string));
        }
    }
    assert_eq!(sizes, ["4", "27", "3"]);
}

#[test]
fn assertions() {
    let text = "const bool OK = static_assert(1 + 1 == 2, \"arithmetic\");\nconst bool BAD = static_assert(QUEUE_ID_WIDTH == 5, \"five bits\");";
    expect![[r#"
        error: the assertion does not hold: five bits
         --> snippet.p4:3:32
          |
        3 | const bool BAD = static_assert(QUEUE_ID_WIDTH == 5, "five bits");
          |                                ^^^^^^^^^^^^^^^^^^^
    "#]]
    .assert_eq(&messages(text));
}
