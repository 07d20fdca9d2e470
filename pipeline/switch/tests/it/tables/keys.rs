//! Keys of slices, of validity bits and under masks: lookups, names in files of entries, cost, refusals.

use crate::tables::bench::{both_chips, call, entry, parsed, placed};
use sluice_asic::chip::{ChipSpec, Column};
use sluice_build::{exact, params, stage_program, ternary, *};
use sluice_control::{ControlState, toml};
use sluice_ir::text;
use sluice_ir::verify::verify;
use sluice_ir::{KeyValue, Program};
use sluice_place::report::Report;

/// All about the frame's head
#[derive(Header)]
struct Head {
    kind: Bits<8>,
    flags: Bits<16>,
    mark: Bits<8>,
}

/// Follows the head if its kind is 1
#[derive(Header)]
struct More {
    word: Bits<32>,
}

#[derive(params::Params, Default)]
struct NoParams {}

#[stage_program]
fn keys(ig: &GressBuilder<'_>) {
    let (h, more) = (ig.header::<Head>(), ig.header::<More>());
    let tail = ig.state().extract(more);
    let start = ig.state().extract(h).select(h.kind).on(1, tail);
    ig.start(start);
    let tm = ig.intrinsic::<tna::ForTm>();
    let mark = ig.action(|a, value: Arg<8>| {
        h.mark = value;
    });
    let pick = ig
        .table([
            exact(h.flags.part::<15, 12>()),
            ternary(h.flags.part::<3, 0>()),
            exact(more.validity()),
            exact(h.kind).under(0xf1),
        ])
        .actions([mark])
        .size(64)
        .build();
    ig.control(|c| {
        pick.apply();
        tm.ucast_egress_port = 8;
    });
    ig.deparser().emit(h).emit(more);
}

fn program() -> Program {
    let b = Builder::new("keys", "Matches on parts of fields");
    keys(&b.ingress());
    b.finish(&NoParams {}).unwrap_or_else(|d| panic!("{d:#?}"))
}

#[test]
fn slices_validity_and_masks_decide() {
    let p = program();
    let printed = text::print(&p);
    let line = "key = { h.flags[15:12] : exact; h.flags[3:0] : ternary; valid(more) : exact; h.kind &&& 0xf1 : exact; }";
    assert!(printed.contains(line), "{printed}");
    assert_eq!(text::print(&parsed(&printed)), printed);
    let add = |top: u128, (low, mask): (u128, u128), valid: u128, kind: u128, value: u128| {
        let low = KeyValue::Ternary { value: low, mask };
        let key = [KeyValue::Exact(top), low, KeyValue::Exact(valid), KeyValue::Exact(kind)];
        entry(&p, "pick", &key, 0, call(&p, "mark", &[value]))
    };
    // The low bits of the kind decide whether the second header is there; bits 1 to 3 are not compared.
    let ops = [
        add(0xa, (0, 0), 1, 1, 0x11),
        add(0xa, (4, 4), 0, 0, 0x22),
        add(0xb, (5, 0xf), 0, 0, 0x33),
        add(0xa, (0, 0), 0, 0x10, 0x44),
    ];
    let frame =
        |kind: u8, flags: u16| [vec![kind, (flags >> 8) as u8, flags as u8, 0xee], vec![0; 60]].concat();
    let frames = [
        frame(1, 0xa000),
        frame(0, 0xaff4),
        frame(0x0e, 0xa00f),
        frame(0, 0xa000),
        frame(0, 0xb005),
        frame(0, 0xb004),
        frame(0x1c, 0xa000),
        frame(0x2c, 0xa000),
    ];
    let marked = both_chips(&p, &ops, &frames).byte(3);
    assert_eq!(marked, [0x11, 0x22, 0x22, 0xee, 0x33, 0xee, 0x44, 0xee]);
}

#[test]
fn a_slice_takes_its_own_bytes_of_the_crossbar() {
    let one = |key: &str| {
        parsed(&format!(
            "program one;
            header h : ingress {{ bit<32> a; bit<8> b; bit<8> m; }}
            header t : ingress {{ bit<8> c; }}
            intrinsic : ingress {{ bit<9> ig_tm.ucast_egress_port; }}
            action put : ingress (bit<8> v) {{ h.m = v; ig_tm.ucast_egress_port = 9w8; }}
            table t : ingress {{ key = {{ {key} }} actions = {{ put; }} default_action = put(0); size = 1024; }}
            parser ingress {{
                start = first;
                state first {{ extract(h); select (h.b) {{ (1) : second; default : accept; }} }}
                state second {{ extract(t); transition accept; }}
            }}
            control ingress {{ apply t; }}
            deparser ingress {{ emit(h); emit(t); }}"
        ))
    };
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let of = |key: &str, column: Column| {
            let p = one(key);
            let placement = placed(&p, &chip);
            assert!(sluice_place::verify(&p, &placement).is_empty());
            Report::new(&p, &placement).totals[column.index()]
        };
        let bytes = |key: &str| of(key, Column::ExactXbar);
        assert_eq!(bytes("h.a : exact;"), 4);
        assert_eq!(bytes("h.a[7:0] : exact;"), 1);
        // Bits 11 to 4 are in two bytes.
        assert_eq!(bytes("h.a[11:4] : exact;"), 2);
        assert_eq!(bytes("h.a[31:28] : exact; h.a[3:0] : exact;"), 2);
        assert_eq!(bytes("h.a &&& 0xff0000ff : exact;"), 2);
        assert_eq!(bytes("h.a[7:0] : exact; valid(t) : exact;"), 2);
        assert_eq!(of("h.a[7:0] : ternary;", Column::TernaryXbar), 1);
    }
}

#[test]
fn files_of_entries_name_the_parts() {
    let p = program();
    let text = r#"
        [[table.pick]]
        key = { "h.flags[15:12]" = 10, "h.flags[3:0]" = "4 &&& 4", "more.$valid" = 0, "h.kind" = 0x10 }
        action = "mark"
        args = { value = 7 }
        priority = 1
    "#;
    let script = toml::parse(&p, text, "entries").unwrap_or_else(|e| panic!("{e:?}"));
    let mut control = ControlState::new(&p);
    script.apply(&p, &mut control).unwrap_or_else(|e| panic!("{e:?}"));
    let table = p.table_named("pick").unwrap();
    assert_eq!(control.tables[table].entries().count(), 1);
    let entry = entry(
        &p,
        "pick",
        &[
            KeyValue::Exact(10),
            KeyValue::Ternary { value: 4, mask: 4 },
            KeyValue::Exact(0),
            KeyValue::Exact(0x12),
        ],
        1,
        call(&p, "mark", &[7]),
    );
    let error = control.apply(&p, entry).unwrap_err().to_string();
    assert!(error.contains("h.kind") && error.contains("0xf1"), "{error}");
}

#[test]
fn keys_have_separate_bits_and_fitting_masks() {
    let source = "program bad;
        header h : ingress { bit<16> a; bit<8> b; }
        intrinsic : ingress { bit<9> ig_tm.ucast_egress_port; }
        action put : ingress () { ig_tm.ucast_egress_port = 9w8; }
        table t : ingress {
            key = { h.a[7:0] : exact; h.a[11:4] : exact; h.b[8:1] : exact; h.b &&& 0x1ff : ternary; }
            actions = { put; } default_action = put(); size = 4;
        }
        table u : ingress {
            key = { h.a &&& 0xff00 : lpm; valid(h) : exact; valid(h) : exact; }
            actions = { put; } default_action = put(); size = 4;
        }
        table v : ingress {
            key = { h.a &&& 0xff00 : exact; }
            actions = { put; } default_action = put(); size = 4;
            const entries = { (0x1201) : put(); }
        }
        parser ingress { start = first; state first { extract(h); transition accept; } }
        control ingress { apply t; apply u; apply v; }
        deparser ingress { emit(h); }";
    let p = text::parse(source).unwrap_or_else(|e| panic!("{e}"));
    let found: Vec<String> = verify(&p).iter().map(|d| d.text.clone()).collect();
    assert_eq!(
        found,
        [
            "table `t` has the keys `h.a[7:0]` and `h.a[11:4]`, which have common bits",
            "table `t` matches bits 8 to 1 of `h.b`, which has 8 bits",
            "table `t` has the keys `h.b[8:1]` and `h.b`, which have common bits",
            "table `t` compares `h.b` of 8 bits under the mask 0x1ff",
            "table `u` compares `h.a` under a mask as a prefix or a range",
            "table `u` has `h.$valid` as a key twice",
            "entry 0 of table `v` has 0x1201 for `h.a`, which is compared under 0xff00",
        ]
    );
}
