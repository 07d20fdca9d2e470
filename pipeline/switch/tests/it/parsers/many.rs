//! Parsers with many paths.

use crate::registers::bench::{agree, placed};
use sluice_asic::chip::ChipSpec;
use sluice_ir::text;
use std::fmt::Write;

/// Returns a program with `n` headers of one byte, each present if the first bit of the following bytes is one.
fn optional(n: usize) -> String {
    let mut text = String::from("program many;\nintrinsic : ingress { bit<9> ig_tm.ucast_egress_port; }\n");
    let (mut states, mut emits) = (String::new(), String::new());
    for i in 0..n {
        _ = writeln!(text, "header h{i} : ingress {{ bit<1> here; bit<7> value; }}");
        let next = if i + 1 < n { format!("t{}", i + 1) } else { "accept".to_owned() };
        _ = writeln!(states, "state t{i} {{ select (lookahead(0, 1)) {{ (1) : s{i}; default : {next}; }} }}");
        _ = writeln!(states, "state s{i} {{ extract(h{i}); transition {next}; }}");
        _ = write!(emits, "emit(h{i}); ");
    }
    _ = writeln!(
        text,
        "action forward : ingress () {{ ig_tm.ucast_egress_port = 9w1; h3.value = 7w5; set_invalid(h1); }}"
    );
    text + &format!(
        "parser ingress {{ start = t0; {states} }}\ncontrol ingress {{ if (valid(h3)) {{ call forward; }} else {{ call plain; }} }}\n\
         action plain : ingress () {{ ig_tm.ucast_egress_port = 9w1; }}\ndeparser ingress {{ {emits} }}\n"
    )
}

#[test]
fn thousands_of_ways_agree() {
    let program = text::parse(&optional(11)).unwrap_or_else(|e| panic!("{e}"));
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let placement = placed(&program, &chip);
        let frames: Vec<Vec<u8>> = (0..130u32)
            .map(|n| {
                let bits = n.wrapping_mul(0x9e37_79b9);
                (0..24).map(|i| (bits.rotate_right(i) as u8 & 0x7f) | ((bits >> i & 1) << 7) as u8).collect()
            })
            .collect();
        agree(&program, &placement, &frames);
    }
}

/// Loops one after the other, each with as many repetitions as the counter can count, as deep as a parser may read.
#[test]
fn the_longest_way_is_unrolled() {
    let mut text = String::from(
        "program deep;\nheader h : ingress { bit<8> n; }\nheader end : ingress { bit<8> x; }\n\
         intrinsic : ingress { bit<9> ig_tm.ucast_egress_port; }\n\
         parser ingress { start = s0; state s0 { extract(h); transition a0; }\n",
    );
    for i in 0..3 {
        let next = if i < 2 { format!("a{}", i + 1) } else { "last".to_owned() };
        _ = writeln!(text, "state a{i} {{ set_counter(127); transition l{i}; }}");
        _ = writeln!(
            text,
            "state l{i} {{ advance(1); decrement(1); select (counter_is_zero()) {{ (1) : {next}; default : l{i}; }} }}"
        );
    }
    text += "state last { extract(end); transition accept; } }\n\
             action forward : ingress () { ig_tm.ucast_egress_port = 9w1; }\ncontrol ingress { call forward; }\n\
             deparser ingress { emit(h); emit(end); }\n";
    let program = text::parse(&text).unwrap_or_else(|e| panic!("{e}"));
    let placement = placed(&program, &ChipSpec::tofino2());
    let frames: Vec<Vec<u8>> = [1, 200, 382, 383, 400].map(|n| vec![7; n]).to_vec();
    let ran = agree(&program, &placement, &frames);
    let lengths: Vec<usize> = ran.packets.iter().map(|(_, b)| b.len()).collect();
    assert_eq!(lengths, [1, 200, 382, 2, 19]);
}
