//! Small programs on small chips, whose right answer follows from the chip's numbers.

use super::{Change, Ended, Question, RelaxedValue, Resize, WhyNot, why_not};
use crate::remedies::Remedy;
use sluice_asic::chip::ChipSpec;
use sluice_ir::text::Source;
use sluice_ir::{MatchKind, Program};
use sluice_place::Options;

/// A program with one header of 16 bytes; `tables` are declared, and `control` is ingress.
fn text(tables: &str, control: &str) -> String {
    format!(
        "program small;
         param rows = 2000 : 1 .. 100000;
         header h : ingress {{ bit<32> a; bit<32> b; bit<32> c; bit<16> sum; bit<16> sum2; }}
         metadata : ingress {{ bit<32> m.x; bit<32> m.y; }}
         intrinsic : ingress {{ bit<9> ig_tm.ucast_egress_port; }}
         action nop : ingress () {{ }}
         action out : ingress (bit<9> port) {{ ig_tm.ucast_egress_port = port; }}
         action set_x : ingress (bit<32> x) {{ m.x = x; }}
         action set_y : ingress (bit<32> y) {{ m.y = y; }}
         {tables}
         parser ingress {{ start = go; state go {{ extract(h); transition accept; }} }}
         control ingress {{ {control} }}
         deparser ingress {{ emit(h); }}"
    )
}

fn table(name: &str, key: &str, action: &str, rest: &str) -> String {
    format!(
        "table {name} : ingress {{ key = {{ {key} }} actions = {{ {action}; nop; }} default_action = nop(); {rest} }}\n"
    )
}

fn build(text: &str, rows: Option<u64>) -> Program {
    let sets: Vec<(&str, u128)> = rows.map(|n| ("rows", n.into())).into_iter().collect();
    Source::read(text, "small.sluice").unwrap().build(&sets).unwrap().0
}

fn chip(values: &str) -> ChipSpec {
    ChipSpec::from_toml(&format!("base = \"tofino2\"\nname = \"small\"\n{values}\n"), "small.toml").unwrap()
}

/// Returns the answer, of a search that is stopped after `placements`.
fn ask(text: &str, chip: &ChipSpec, chips: &[ChipSpec], mut placements: usize) -> Option<WhyNot> {
    let (program, options) = (build(text, None), Options::default());
    let question = Question { program: &program, chip, options: &options, chips };
    why_not(&question, &mut |_, value| Some(build(text, Some(value))), &mut |done, most| {
        assert!(done < most, "{done} of {most}");
        placements = placements.saturating_sub(1);
        placements > 0
    })
}

fn answer(text: &str, chip: &ChipSpec) -> WhyNot {
    ask(text, chip, &[], 1000).unwrap()
}

fn relaxed(key: &str, chip: &str, value: &str) -> RelaxedValue {
    let [key, chip, value] = [key, chip, value].map(str::to_owned);
    RelaxedValue { key, chip, value }
}

fn resources(answer: &WhyNot) -> Vec<&str> {
    answer.bindings.iter().map(|b| b.resource.as_str()).collect()
}

/// One stage with two TCAM blocks of 512 rows.
const TWO_BLOCKS: &str = "mau.stages = 1\nlatency.forced_match_stage = 0\nmau.tcam_rows = 1";

#[test]
fn a_program_that_fits_has_no_answer() {
    let t = text(&table("acl", "h.a : ternary;", "out", "size = 1024;"), "apply acl;");
    assert_eq!(ask(&t, &chip(TWO_BLOCKS), &[], 1000), None);
}

#[test]
fn the_largest_table_that_two_blocks_hold_has_1024_entries() {
    let t = text(&table("acl", "h.a : ternary;", "out", "size = 2000;"), "apply acl;");
    let answer = answer(&t, &chip(TWO_BLOCKS));
    let size = Change::Size { table: "acl".to_owned(), size: Resize { from: 2000, to: 1024 } };
    assert_eq!(answer.smallest(), Some(&size));
    // One entry more is one row too many.
    let more = Change::Size { table: "acl".to_owned(), size: Resize { from: 2000, to: 1025 } };
    assert!(answer.tried.iter().any(|t| t.change == more && t.reason.is_some()));
    assert_eq!((resources(&answer), answer.fits_relaxed), (vec!["tcam"], true));
    // 2000 entries take four blocks; four times the rows are the first step.
    assert!(answer.bindings[0].relaxed.contains(&relaxed("mau.tcam_rows", "1", "4")));
    assert_eq!(answer.ended, Ended::Complete);
}

#[test]
fn a_parameter_and_a_chip_are_remedies() {
    let t = text(&table("acl", "h.a : ternary;", "out", "size = rows;"), "apply acl;");
    let answer = ask(&t, &chip(TWO_BLOCKS), &[ChipSpec::tofino()], 1000).unwrap();
    let lower = Remedy::Lower { key: "rows".to_owned(), from: 2000, to: 1024 };
    assert_eq!(answer.remedies(), [lower, Remedy::Chip { chip: "tofino".to_owned() }]);
}

#[test]
fn a_pin_that_is_too_early_goes() {
    let tables = table("first", "h.a : exact;", "set_x", "size = 64;")
        + &table("second", "m.x : exact;", "out", "size = 64; pin = 0;");
    let answer = answer(&text(&tables, "apply first; apply second;"), &chip("mau.stages = 4"));
    assert_eq!(answer.smallest(), Some(&Change::Unpin { table: "second".to_owned(), stage: 0 }));
}

#[test]
fn entries_that_compare_all_bits_need_no_tcam() {
    // A key of 96 bits takes three blocks side by side, and the chip has two.
    let keys = "h.a : ternary; h.b : ternary; h.c : ternary;";
    let all = "0xffffffff";
    let entries = |mask: &str| {
        format!("size = 2; const entries = {{ (1 &&& {all}, 2 &&& {all}, 3 &&& {mask}) : out(4); }}")
    };
    let wide = answer(&text(&table("acl", keys, "out", &entries(all)), "apply acl;"), &chip(TWO_BLOCKS));
    let kind = |from_field: &str| {
        wide.tried.iter().any(|t| matches!(&t.change, Change::Kind { field, .. } if field == from_field))
    };
    assert!(kind("h.a") && kind("h.b") && kind("h.c"));
    // An entry that leaves a bit of `c` open forbids an exact `c`.
    let open = text(&table("acl", keys, "out", &entries("0xfffffffe")), "apply acl;");
    let open = answer(&open, &chip(TWO_BLOCKS));
    let exact = |t: &&super::Trial| matches!(&t.change, Change::Kind { field, to: MatchKind::Exact, .. } if field == "h.c");
    assert_eq!(open.tried.iter().find(exact), None);
    assert_eq!(wide.tried.iter().filter(exact).count(), 1);

    // One ternary key alone becomes exact without a loss.
    let one = "size = 2; const entries = { (1 &&& 0xffffffff) : out(4); }";
    let none = chip("mau.stages = 1\nlatency.forced_match_stage = 0\nmau.tcam_rows = 0");
    let answer = answer(&text(&table("acl", "h.a : ternary;", "out", one), "apply acl;"), &none);
    let change = Change::Kind {
        table: "acl".to_owned(),
        field: "h.a".to_owned(),
        from: MatchKind::Ternary,
        to: MatchKind::Exact,
        proven: true,
    };
    assert_eq!(answer.smallest(), Some(&change));
}

#[test]
fn constraints_come_in_order() {
    // A chain of three tables in two stages, and 5000 ternary entries for four blocks.
    let tables = table("first", "h.a : exact;", "set_x", "size = 64;")
        + &table("second", "m.x : exact;", "set_y", "size = 64;")
        + &table("third", "m.y : exact;", "out", "size = 64;")
        + &table("acl", "h.b : ternary;", "out", "size = 30000;");
    let t = text(&tables, "apply first; apply second; apply third; apply acl;");
    let answer = answer(&t, &chip("mau.stages = 2\nlatency.forced_match_stage = 0\nmau.tcam_rows = 1"));
    assert_eq!(resources(&answer), ["stages", "tcam"]);
    assert!(answer.fits_relaxed);
    // Neither is mended by one change.
    assert_eq!(answer.smallest(), None);
}

#[test]
fn a_number_of_the_deparser_is_raised_to_what_is_needed() {
    let t = text("", "call nop;").replace(
        "emit(h);",
        "h.sum = checksum(h, { h.a, h.b }); h.sum2 = checksum(h, { h.b, h.c }); emit(h);",
    );
    let answer = answer(&t, &chip("deparser.checksum_units = 1"));
    assert_eq!(resources(&answer), ["deparser.checksum_units"]);
    let value = relaxed("deparser.checksum_units", "1", "2");
    assert_eq!((&answer.bindings[0].relaxed, answer.fits_relaxed), (&vec![value], true));
    assert_eq!(answer.smallest(), None);
}

#[test]
fn an_earlier_stop_gives_a_prefix() {
    let t = text(&table("acl", "h.a : ternary;", "out", "size = 2000;"), "apply acl;");
    let chip = chip(TWO_BLOCKS);
    let all = ask(&t, &chip, &[ChipSpec::tofino()], 1000).unwrap();
    for placements in 1..=all.placements {
        let part = ask(&t, &chip, &[ChipSpec::tofino()], placements).unwrap();
        assert_eq!((part.placements, part.ended), (placements - 1, Ended::Stopped));
        assert_eq!(part.tried, all.tried[..part.tried.len()]);
    }
    assert_eq!(ask(&t, &chip, &[ChipSpec::tofino()], 1000).unwrap(), all);
}

#[test]
fn text_and_json_tell_the_same() {
    let t = text(&table("acl", "h.a : ternary;", "out", "size = 2000;"), "apply acl;");
    let answer = answer(&t, &chip(TWO_BLOCKS));
    let (text, json) = (answer.text(), serde_json::json!(answer));
    assert_eq!(
        answer.answer(),
        "the smallest change found that makes it fit: table `acl` with size = 1024 (from 2000, 48.8 % less)"
    );
    assert!(text.contains("  1. tcam: "), "{text}");
    assert!(text.contains("mau.tcam_rows = 4 (the chip has 1)"), "{text}");
    assert_eq!(json["smallest"]["size"]["to"], 1024);
    assert_eq!(json["constraints"][0]["resource"], "tcam");
    assert_eq!(json["tried"].as_array().map(Vec::len), Some(answer.tried.len()));
    assert_eq!(json["ended"], "complete");
}
