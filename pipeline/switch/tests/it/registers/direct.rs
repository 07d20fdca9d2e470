//! Registers of entries, indices from hashes, arrays that tables share.

use crate::registers::bench::element;
use crate::registers::constructs::{Probe, frame, outs, program};
use sluice_asic::gress::Gress;
use sluice_build::*;
use sluice_ir::Expr;
use sluice_ir::verify::verify;
use sluice_place::{Computation, Purpose, Source};

#[stage_program]
fn entry_register(ig: &GressBuilder<'_>, h: Hdr<Probe>) {
    /// Bytes in flight per destination
    let load = ig.register::<32>(per_entry().init(100));
    let add = ig.register_action(load, |r| {
        r.value += h.a;
        r.out = r.value;
    });
    let take = ig.action(|a| h.out = add.at_entry());
    let table = ig
        .table([exact(h.slot)])
        .actions([take])
        .register(load)
        .entries(entries![(10) => take, (20) => take])
        .build();
    ig.control(|c| table.apply());
}

#[test]
fn a_direct_register_is_indexed_by_the_matched_entry() {
    let program = program(entry_register);
    let frames = [(10, 1), (20, 5), (10, 2), (30, 9), (20, 5)].map(|(slot, a)| frame(0, slot, a, 0));
    let (found, ran) = outs(&program, &frames);
    assert_eq!(found, [101, 105, 103, 0, 110]);
    assert_eq!((element(&program, &ran, "load", 0).lo, element(&program, &ran, "load", 1).lo), (103, 110));
}

#[stage_program]
fn hashed(ig: &GressBuilder<'_>, h: Hdr<Probe>) {
    let where_to = ig.hash::<10>("crc_16").inputs(list![h.a, h.b]).build();
    let seen = ig.register::<8>(1024);
    let count = ig.register_action(seen, |r| {
        r.out = r.value;
        r.value += 1;
    });
    ig.control(|c| h.out = count.execute(where_to));
}

#[test]
fn a_hash_is_an_index_without_a_stage_of_its_own() {
    let program = program(hashed);
    let frames = [(1, 2), (1, 2), (2, 1), (1, 2)].map(|(a, b)| frame(0, 0, a, b));
    assert_eq!(outs(&program, &frames).0, [0, 1, 0, 2]);
    let placement = crate::registers::bench::placed(&program, &sluice_asic::chip::ChipSpec::tofino2());
    let stages = placement.gresses[0].nodes.values().flat_map(|n| &n.parts).map(|p| p.stage).max();
    assert_eq!(stages, Some(0));
}

#[stage_program]
fn fingerprints(ig: &GressBuilder<'_>, h: Hdr<Probe>) {
    let slot = ig.hash::<8>("crc_8").inputs(list![h.a]).build();
    let print = ig.hash::<16>("crc_16").inputs(list![h.a, h.b]).build();
    /// Fingerprint of the flow that was seen last
    let prints = ig.register::<16>(256);
    /// Whether the slot belonged to another flow; it belongs to this one from now on
    let claim = ig.register_action(prints, |r| {
        if r.value != print {
            r.out = 1;
        }
        r.value = print;
    });
    ig.control(|c| h.out = claim.execute(slot));
}

#[test]
fn hashes_are_operands_of_a_stateful_alu() {
    let program = program(fingerprints);
    let frames = [(1, 2), (1, 2), (1, 3), (1, 3), (2, 3), (1, 2)].map(|(a, b)| frame(0, 0, a, b));
    let (found, ran) = outs(&program, &frames);
    assert_eq!(found, [1, 0, 1, 0, 1, 1]);
    let held = ran.state.registers.values().next().unwrap().iter().filter(|e| e.lo != 0).count();
    assert_eq!(held, 2);
}

fn errors(text: &str) -> Vec<String> {
    let program = sluice_ir::text::parse(text).unwrap_or_else(|e| panic!("{e}"));
    let errors = verify(&program);
    errors
        .into_iter()
        .filter(|d| d.severity == sluice_ir::verify::Severity::Error)
        .map(|d| d.to_string())
        .collect()
}

/// Returns a program with these declarations and this control block.
fn with(declarations: &str, control: &str) -> String {
    format!(
        "program p;
header h : ingress {{ bit<8> kind; bit<8> slot; bit<32> a; bit<32> b; }}
{declarations}
parser ingress {{ start = first; state first {{ extract(h); transition accept; }} }}
control ingress {{ {control} }}
deparser ingress {{ emit(h); }}
"
    )
}

#[test]
fn a_second_access_on_a_path_names_both_lines() {
    let arrays = "register r : ingress { element = \"32\"; size = 8; }
register_action inc (r) { @lo = add(@lo, 1); @out0 = @lo; }
counter c : ingress { kind = packets; size = 8; }
meter m : ingress { kind = bytes; size = 8; }
random x : ingress { width = 32; }";
    for (first, second, golden) in [
        (
            "h.a = execute(inc, h.slot);",
            "h.b = execute(inc, h.kind);",
            "error: register `r` is accessed twice on one path
  --> <text>:9:27
  --> <text>:8:27  first access
  = help: a stateful ALU serves one access per packet: put the two in opposite arms of one `if`, or use two registers",
        ),
        (
            "count(c, h.slot);",
            "count(c, h.kind);",
            "error: counter `c` is accessed twice on one path
  --> <text>:9:27
  --> <text>:8:27  first access
  = help: a counter takes one count per packet: remove one, or use two counters",
        ),
        (
            "h.a = meter(m, h.slot);",
            "h.b = meter(m, h.kind);",
            "error: meter `m` is accessed twice on one path
  --> <text>:9:27
  --> <text>:8:27  first access
  = help: a meter ALU serves one access per packet: put the two in opposite arms of one `if`, or use two meters",
        ),
        (
            "h.a = random(x);",
            "h.b = random(x);",
            "error: generator `x` is accessed twice on one path
  --> <text>:9:27
  --> <text>:8:27  first access
  = help: a generator gives each pass one number: use it from a metadata field, or declare two generators",
        ),
    ] {
        let declarations = format!(
            "{arrays}\naction one : ingress () {{ {first} }}\naction two : ingress () {{ {second} }}"
        );
        let found = errors(&with(&declarations, "call one; if (h.kind == 8w3) { call two; }"));
        assert_eq!(found, [golden], "{}", found.join("\n"));
        let apart = with(&declarations, "if (h.kind == 8w3) { call two; } else { call one; }");
        assert!(errors(&apart).is_empty());
    }
}

#[test]
fn direct_arrays_refuse_what_they_cannot_be_asked() {
    let table = "register r : ingress { element = \"32\"; direct = t; }
register_action inc (r) { @lo = add(@lo, 1); }
table t : ingress { key = { h.slot : exact; } actions = { a; } default_action = a(); size = 4; }";
    let other =
        "table u : ingress { key = { h.kind : exact; } actions = { a; } default_action = a(); size = 4; }";
    for (action, extra, wanted) in [
        ("execute(inc, h.slot);", "", "accesses register `r` at an index"),
        ("execute(inc, @entry);", "apply u;", "the direct register of table `t`, but table `u` runs it"),
        ("execute(inc, @entry);", "call a;", "but it is called without a table"),
    ] {
        let other = if extra.contains('u') { other } else { "" };
        let declarations = format!("action a : ingress () {{ {action} }}\n{table}\n{other}");
        let text = errors(&with(&declarations, &format!("apply t; {extra}"))).join("\n");
        assert!(text.contains(wanted), "{action} {extra}: {text}");
    }
    let two = format!(
        "action a : ingress () {{ execute(inc, @entry); }}\nmeter m : ingress {{ kind = bytes; direct = t; }}\n{table}"
    );
    let text = errors(&with(&two, "apply t;")).join("\n");
    assert!(text.contains("which has `r` already"), "{text}");
}

/// Returns a program with four registers that either branch of a condition accesses in the same row.
fn rows() -> String {
    let (mut declarations, mut control) = (String::new(), String::new());
    for n in 0..4 {
        declarations += &format!(
            "register r{n} : ingress {{ element = \"8\"; size = 4096; }}
register_action up{n} (r{n}) {{ @lo = add(@lo, 1); @out0 = @lo; }}
register_action down{n} (r{n}) {{ @lo = sub(@lo, 1); @out0 = @lo; }}
action raise{n} : ingress () {{ m.x{n} = execute(up{n}, m.row); }}
action lower{n} : ingress () {{ m.x{n} = execute(down{n}, m.row); }}
metadata : ingress {{ bit<8> m.x{n}; }}
"
        );
        control += &format!("if (h.kind == 8w1) {{ call raise{n}; }} else {{ call lower{n}; }} ");
    }
    declarations += "metadata : ingress { bit<12> m.row; }
action find : ingress () { m.row = h.a[11:0]; }
action show : ingress () { h.b = cast(m.x3, 32); }
";
    with(&declarations, &format!("call find; {control} call show;"))
}

#[test]
fn accesses_by_one_value_share_a_slice_of_hash_distribution() {
    use sluice_asic::chip::{ChipSpec, Column};
    let program = sluice_ir::text::parse(&rows()).unwrap_or_else(|e| panic!("{e}"));
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let placement = crate::registers::bench::placed(&program, &chip);
        let units = |column: Column| {
            let of = placement.units.iter().filter(move |u| u.unit.column == column);
            of.map(|u| (u.unit.stage, u.unit.row, u.unit.col)).collect::<std::collections::BTreeSet<_>>()
        };
        let stages: std::collections::BTreeSet<u8> = units(Column::HashDist).iter().map(|u| u.0).collect();
        assert_eq!(stages.len(), 1, "all eight accesses in one stage");
        assert_eq!((units(Column::HashDist).len(), units(Column::HashBit).len()), (1, 12), "{}", chip.name);
    }
    // One slice for two different values is found.
    let mut placement = crate::registers::bench::placed(&program, &ChipSpec::tofino2());
    let other = program.field_named(Gress::Ingress, "h.b").unwrap();
    for used in placement.units.iter_mut().filter(|u| u.unit.column == Column::HashDist) {
        used.purpose = Purpose::Computed(Computation::for_actions(Source::Value(Expr::Field(other))));
    }
    assert!(!sluice_place::verify(&program, &placement).is_empty());
}
