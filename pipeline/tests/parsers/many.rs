//! Parsers with many ways through them.

use crate::bench::{agree, placed};
use sluice_asic::chip::ChipSpec;
use sluice_pipeline::text;
use std::fmt::Write;

/// `n` headers of one byte, each there if the first bit of what follows is one.
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
