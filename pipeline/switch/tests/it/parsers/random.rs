//! Random bytes through the parsers of these tests, and through random parsers: both engines agree on both chips.

use crate::parsers::{counter, program, same_cycles, stacks};
use crate::registers::bench::{agree, placed};
use proptest::prelude::*;
use sluice_asic::chip::ChipSpec;
use sluice_ir::Program;
use sluice_ir::text;
use sluice_ir::verify::{for_chip, has_errors, verify};
use sluice_place::{Placement, place, verify as verify_placement};
use std::fmt::Write;
use std::sync::OnceLock;

fn worlds() -> &'static [(Program, Placement)] {
    static WORLDS: OnceLock<Vec<(Program, Placement)>> = OnceLock::new();
    WORLDS.get_or_init(|| {
        let programs = [program(counter::options), program(stacks::labels)];
        let chips = [ChipSpec::tofino(), ChipSpec::tofino2()];
        let all = programs.iter().flat_map(|p| chips.iter().map(move |c| (p, c)));
        all.map(|(p, chip)| (p.clone(), placed(p, chip))).collect()
    })
}

fn frames(most: usize) -> impl Strategy<Value = Vec<Vec<u8>>> {
    let byte = prop_oneof![3 => 0..5u8, 1 => any::<u8>()];
    proptest::collection::vec(proptest::collection::vec(byte, 0..64), 1..most)
}

/// Random draws from which a parser is made.
struct Draw {
    data: Vec<u32>,
    at: usize,
}

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.at += 1;
        let turn = (self.at / self.data.len()) as u32;
        (self.data[self.at % self.data.len()].wrapping_mul(2 * turn + 1) >> 5) as usize % n
    }
}

/// States of the random parsers, each with a separate header; they continue in later states, around a loop, or in an earlier
/// state, so that only the packet bounds the repetitions.
const STATES: usize = 5;

/// Returns a parser whose states extract, skip, look ahead, count and take stack elements.
fn random_program(d: &mut Draw) -> String {
    let sees = d.below(2) == 0;
    let mut text = String::from("program random;\n");
    for i in 0..STATES {
        _ = writeln!(text, "header h{i} : ingress {{ bit<8> kind; bit<4> low; bit<4> high; bit<16> word; }}");
    }
    for i in 0..3 {
        _ = writeln!(text, "header e{i} : ingress {{ bit<7> value; bit<1> end; bit<8> more; }}");
    }
    text += "header out : ingress { bit<32> seen; bit<16> error; bit<16> bad; }\n\
             stack s : ingress { e0; e1; e2; }\n\
             metadata : ingress { bit<32> m.seen; bit<8> m.small; bit<1> m.bad; }\n\
             intrinsic : ingress { bit<9> ig_tm.ucast_egress_port; }\n";
    if sees {
        text += "intrinsic : ingress { bit<16> prsr.parser_err; }\n";
    }
    text += "parser ingress {\nstart = s0;\n";
    for i in 0..STATES {
        state(d, i, &mut text);
    }
    text += "}\naction finish : ingress () { set_valid(out); out.seen = m.seen; ig_tm.ucast_egress_port = 9w1; }\n";
    if sees {
        text += "action tell : ingress () { out.error = prsr.parser_err; }\n";
    }
    match d.below(4) {
        0 => {
            text += "action move : ingress () { e0.value = e1.value; e0.end = e1.end; e0.more = e1.more; copy_valid(e0, e1); \
             e1.value = e2.value; e1.end = e2.end; e1.more = e2.more; copy_valid(e1, e2); set_invalid(e2); }\n"
        }
        1 => {
            text += "action move : ingress () { e2.value = e1.value; e2.end = e1.end; e2.more = e1.more; copy_valid(e2, e1); \
             e1.value = e0.value; e1.end = e0.end; e1.more = e0.more; copy_valid(e1, e0); set_invalid(e0); }\n"
        }
        2 => text += "action move : ingress () { set_invalid(h2); set_valid(e1); }\n",
        _ => text += "action move : ingress () { set_invalid(h1); }\n",
    }
    let tell = if sees { "call tell;" } else { "" };
    _ = writeln!(
        text,
        "control ingress {{ call finish; {tell} if (valid(h0) && h0.low == 4w1) {{ call move; }} }}"
    );
    text += "deparser ingress { emit(out); emit(h0); emit(e0); emit(e1); emit(e2);";
    for i in 1..STATES {
        _ = write!(text, " emit(h{i});");
    }
    text + " }\n"
}

/// Returns the next state of state `i`: mostly a later one, or an end.
fn next(d: &mut Draw, i: usize) -> String {
    let ends = ["accept", "accept", "reject"];
    match d.below(7) {
        6 => format!("s{}", d.below(i + 1)),
        0 => ends[d.below(3)].to_owned(),
        _ if i + 1 < STATES => format!("s{}", i + 1 + d.below(STATES - i - 1)),
        _ => "accept".to_owned(),
    }
}

fn state(d: &mut Draw, i: usize, text: &mut String) {
    let mut ops = String::new();
    if d.below(6) == 0 {
        _ = write!(ops, "m.small = lookahead({}); ", 8 * d.below(3));
    }
    if d.below(5) == 0 {
        _ = write!(ops, "advance({}); ", 1 + d.below(5));
    }
    _ = write!(ops, "extract(h{i}); ");
    match d.below(5) {
        0 => _ = write!(ops, "m.seen = lookahead({}); ", 8 * d.below(4)),
        1 => _ = write!(ops, "m.small = h{i}.kind; "),
        2 => {
            let zeros = ["", "8w0, ", "16w0, "][d.below(3)];
            _ = write!(
                ops,
                "m.bad = verify_checksum({{ {zeros}h{i}.kind, h{i}.low, h{i}.high, h{i}.word }}); "
            )
        }
        3 => _ = write!(ops, "m.seen = 32w0x1234; "),
        _ => {}
    }
    let (to, other) = (next(d, i), next(d, i));
    let keys = [
        format!("h{i}.kind"),
        format!("h{i}.low"),
        format!("lookahead({}, {})", d.below(20), 1 + d.below(20)),
    ];
    // A state continues with a plain select, a loop that the counter bounds, or a loop over the stack.
    match d.below(4) {
        0 => {
            let (mask, add) = (d.below(3), 256 - d.below(2));
            let (max, rotate) = ([255, 3, 7][d.below(3)], d.below(2));
            let from = [format!("h{i}.kind"), format!("lookahead({})", 8 * d.below(3))][d.below(2)].clone();
            _ = writeln!(
                text,
                "state s{i} {{ {ops} set_counter({from}, {max}, {rotate}, {mask}, {}); \
                 select (counter_is_zero(), counter_is_negative()) {{ (1, 0) : {to}; (_, 1) : reject; default : s{i}_lap; }} }}\n\
                 state s{i}_lap {{ advance({}); decrement(1); select (counter_is_zero()) {{ (1) : {other}; default : s{i}_lap; }} }}",
                add % 256,
                1 + d.below(3)
            );
        }
        // Each element can be taken once in a program.
        1 if i == 1 => {
            _ = writeln!(
                text,
                "state s{i} {{ {ops} transition s{i}_next; }}\n\
                 state s{i}_next {{ extract_next(s); select (last(s, 1)) {{ (1) : {to}; default : s{i}_next; }} }}"
            );
        }
        n => {
            let list: Vec<&str> = keys.iter().skip(n % 3).map(String::as_str).collect();
            let value = |d: &mut Draw| ["1 &&& 1", "0 &&& 1", "_"][d.below(3)];
            let values: Vec<&str> = list.iter().map(|_| value(d)).collect();
            _ = writeln!(
                text,
                "state s{i} {{ {ops} select ({}) {{ ({}) : {to}; default : {other}; }} }}",
                list.join(", "),
                values.join(", ")
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn engines_agree(frames in frames(70), world in 0..4usize) {
        let (program, placement) = &worlds()[world];
        agree(program, placement, &frames);
    }

    #[test]
    fn engines_agree_on_random_parsers(
        data in proptest::collection::vec(any::<u32>(), 32..64),
        frames in frames(40),
        tofino2: bool,
    ) {
        let source = random_program(&mut Draw { data, at: 0 });
        let program = text::parse(&source).unwrap_or_else(|e| panic!("{e}\n{source}"));
        let diags = verify(&program);
        // A loop that the counter bounds extracts a header once.
        prop_assume!(!diags.iter().any(|diag| diag.text.contains("a second time")));
        prop_assert!(!has_errors(&diags), "{diags:#?}\n{source}");
        prop_assert_eq!(&text::parse(&text::print(&program)).unwrap(), &program);
        let chip = if tofino2 { ChipSpec::tofino2() } else { ChipSpec::tofino() };
        // Tofino refuses a program that writes a field twice.
        prop_assume!(!has_errors(&for_chip(&program, &chip)));
        let placement = place(&program, &chip).unwrap_or_else(|e| panic!("{e:?}\n{source}"));
        prop_assert_eq!(verify_placement(&program, &placement), []);
        agree(&program, &placement, &frames);
        same_cycles(&program, &placement, &frames);
    }
}
