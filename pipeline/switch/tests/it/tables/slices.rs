//! Slices of fields that actions write: bytes, cost, refusals.

use crate::tables::bench::{both_chips, call, entry, parsed, placed};
use sluice_asic::chip::{ChipSpec, Column};
use sluice_build::{exact, params, stage_program, *};
use sluice_ir::text;
use sluice_ir::{KeyValue, PrimitiveKind, Program};
use sluice_place::place;
use sluice_place::report::Report;

/// All about the frame's head
#[derive(Header)]
struct Probe {
    kind: Bits<8>,
    byte: Bits<8>,
    half: Bits<16>,
    word: Bits<32>,
    wide: Bits<48>,
    top: Bits<3>,
    low: Bits<13>,
}

#[derive(params::Params, Default)]
struct NoParams {}

#[stage_program]
fn slices(ig: &GressBuilder<'_>) {
    let h = ig.header::<Probe>();
    let start = ig.state().extract(h);
    ig.start(start);
    let tm = ig.intrinsic::<tna::ForTm>();
    let fixed = ig.action(|a| {
        a.run(h.byte.set_slice::<7, 4, 4>(0xa));
        a.run(h.low.set_slice::<4, 2, 3>(7));
        a.run(h.wide.set_slice::<31, 8, 24>(0xab_cdef));
    });
    let given = ig.action(|a, value: Arg<8>, nibble: Arg<4>| {
        a.run(h.half.set_slice::<11, 4, 8>(value));
        a.run(h.word.set_slice::<31, 28, 4>(nibble));
    });
    let copied = ig.action(|a| {
        a.run(h.word.set_slice::<15, 0, 16>(h.half));
        a.run(h.byte.set_slice::<7, 4, 4>(h.byte.slice::<3, 0, 4>()));
        a.run(h.wide.set_slice::<47, 32, 16>(h.half));
    });
    // Bits of both containers of `wide`, one of which is written first.
    let shifted = ig.action(|a| {
        a.run(h.wide.set_slice::<31, 8, 24>(h.wide.slice::<39, 16, 24>()));
    });
    let pick = ig.table([exact(h.kind)]).actions([fixed, given, copied, shifted]).size(64).build();
    ig.control(|c| {
        pick.apply();
        tm.ucast_egress_port = 8;
        // Two slices of one field are one action.
        h.top.set_slice::<2, 2, 1>(1);
        h.top.set_slice::<0, 0, 1>(0);
    });
    ig.deparser().emit(h);
}

fn program() -> Program {
    let b = Builder::new("slices", "Sets slices of fields");
    slices(&b.ingress());
    b.finish(&NoParams {}).unwrap_or_else(|d| panic!("{d:#?}"))
}

#[test]
fn only_the_bits_of_the_slice_change() {
    let p = program();
    let printed = text::print(&p);
    for line in ["h.byte[7:4] = 4w0xa;", "h.word[31:28] = nibble;", "h.byte[7:4] = h.byte[3:0];"] {
        assert!(printed.contains(line), "{line}\n{printed}");
    }
    assert_eq!(text::print(&parsed(&printed)), printed);
    let together = |body: &[sluice_ir::Primitive]| {
        body.iter().filter(|p| matches!(p.kind, PrimitiveKind::SetSlice(..))).count() == 2
    };
    assert!(p.actions.values().any(|a| a.body.len() == 3 && together(&a.body)));
    let add =
        |kind, action, args: &[u128]| entry(&p, "pick", &[KeyValue::Exact(kind)], 0, call(&p, action, args));
    let ops =
        [add(1, "fixed", &[]), add(2, "given", &[0x5a, 0x9]), add(3, "copied", &[]), add(4, "shifted", &[])];
    let head = |kind: u8| {
        vec![kind, 0x81, 0x12, 0x34, 0x55, 0x66, 0x77, 0x88, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x6f, 0xed]
    };
    let frames: Vec<Vec<u8>> = (0..5).map(|k| [head(k), vec![0; 60]].concat()).collect();
    // The field `top` is 0b011 in each frame, and 0b110 after the slices of it.
    let wanted: [&[u8]; 5] = [
        &[0, 0x81, 0x12, 0x34, 0x55, 0x66, 0x77, 0x88, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0xcf, 0xed],
        &[1, 0xa1, 0x12, 0x34, 0x55, 0x66, 0x77, 0x88, 0x11, 0x22, 0xab, 0xcd, 0xef, 0x66, 0xcf, 0xfd],
        &[2, 0x81, 0x15, 0xa4, 0x95, 0x66, 0x77, 0x88, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0xcf, 0xed],
        &[3, 0x11, 0x12, 0x34, 0x55, 0x66, 0x12, 0x34, 0x12, 0x34, 0x33, 0x44, 0x55, 0x66, 0xcf, 0xed],
        &[4, 0x81, 0x12, 0x34, 0x55, 0x66, 0x77, 0x88, 0x11, 0x22, 0x22, 0x33, 0x44, 0x66, 0xcf, 0xed],
    ];
    let ran = both_chips(&p, &ops, &frames);
    for ((_, found), wanted) in ran.packets.iter().zip(wanted) {
        assert_eq!(&found[..16], wanted);
    }
}

fn one(action: &str) -> Program {
    parsed(&format!(
        "program one;
        header h : ingress {{ bit<48> wide; bit<32> a; bit<32> b; bit<32> c; bit<16> k; }}
        intrinsic : ingress {{ bit<9> ig_tm.ucast_egress_port; }}
        action put : ingress (bit<48> v) {{ {action} ig_tm.ucast_egress_port = 9w1; }}
        table t : ingress {{ key = {{ h.k : exact; }} actions = {{ put; }} default_action = put(0); size = 1024; }}
        parser ingress {{ start = first; state first {{ extract(h); transition accept; }} }}
        control ingress {{ apply t; }}
        deparser ingress {{ emit(h); }}"
    ))
}

/// Puts bits of the identity hash of `k`, whose low byte becomes the ninth bit on of the hash, into slices.
fn hashed() -> Program {
    parsed(
        "program hashed;
        header h : ingress { bit<32> a; bit<16> b; bit<16> k; }
        intrinsic : ingress { bit<9> ig_tm.ucast_egress_port; }
        hash copy : ingress { algorithm = identity; inputs = { h.k }; width = 16; }
        action put : ingress () { h.a[19:8] = hash(copy, 4); h.a[7:0] = h.b[7:0]; ig_tm.ucast_egress_port = 9w8; }
        action rest : ingress () { h.b[15:12] = hash(copy); }
        parser ingress { start = first; state first { extract(h); transition accept; } }
        control ingress { call put; call rest; }
        deparser ingress { emit(h); }",
    )
}

#[test]
fn bits_of_a_hash_go_to_a_slice() {
    let p = hashed();
    assert_eq!(text::print(&parsed(&text::print(&p))), text::print(&p));
    let frame = [vec![0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0xab, 0xcd], vec![0; 60]].concat();
    let ran = both_chips(&p, &[], &[frame]);
    // Bits 4 to 15 of 0xabcd are 0xabc; the low four bits of it are 0xd.
    assert_eq!(ran.packets[0].1[..8], [0x11, 0x2a, 0xbc, 0x66, 0xd5, 0x66, 0xab, 0xcd]);
}

#[test]
fn a_slice_is_written_in_its_containers_alone() {
    let (whole, slice) = (one("h.wide = v;"), one("h.wide[7:0] = v[7:0];"));
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let of = |p: &Program| {
            let placement = placed(p, &chip);
            assert!(sluice_place::verify(p, &placement).is_empty());
            let totals = Report::new(p, &placement).totals;
            [Column::Slots32, Column::Slots16].map(|column| totals[column.index()])
        };
        // The 48 bits are in a container of 32 bits and one of 16.
        assert_eq!((of(&whole), of(&slice)), ([1, 1], [0, 1]));
    }
}

#[test]
fn two_slices_from_two_fields_and_the_rest_are_three_sources() {
    let two = one("h.a[15:0] = h.b[15:0]; h.a[31:16] = h.c[31:16];");
    let three = one("h.a[15:0] = h.b[15:0]; h.a[31:24] = h.c[31:24];");
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        assert!(place(&two, &chip).is_ok());
        let found = place(&three, &chip).unwrap_err();
        let text = format!("{found:?}");
        assert!(text.contains("takes 3 sources, and an instruction has 2"), "{text}");
    }
}
