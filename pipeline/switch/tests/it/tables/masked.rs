//! Sets under a mask: bytes, cost, refusals.

use crate::tables::bench::{both_chips, call, entry, parsed, placed};
use sluice_asic::chip::{ChipSpec, Column};
use sluice_build::{exact, params, stage_program, *};
use sluice_ir::text;
use sluice_ir::verify::verify;
use sluice_ir::{KeyValue, Program};
use sluice_place::report::Report;

/// All about the frame's head
#[derive(Header)]
struct Probe {
    kind: Bits<8>,
    byte: Bits<8>,
    half: Bits<16>,
    word: Bits<32>,
    top: Bits<3>,
    low: Bits<13>,
}

#[derive(params::Params, Default)]
struct NoParams {}

#[stage_program]
fn marks(ig: &GressBuilder<'_>) {
    let h = ig.header::<Probe>();
    let start = ig.state().extract(h);
    ig.start(start);
    let tm = ig.intrinsic::<tna::ForTm>();
    let fixed = ig.action(|a| {
        a.run(h.byte.set_masked(0xff, 0x3c));
        a.run(h.low.set_masked(0, 0xff));
    });
    let given = ig.action(|a, value: Arg<32>, mask: Arg<32>, half: Arg<16>| {
        a.run(h.word.set_masked(value, mask));
        a.run(h.half.set_masked(half, 0x0ff0));
    });
    let maybe = ig.action(|a, flag: Arg<1>, word: Arg<32>, top: Arg<3>| {
        a.run(h.word.set_if(flag, word));
        a.run(h.top.set_if(flag, top));
    });
    let pick = ig.table([exact(h.kind)]).actions([fixed, given, maybe]).size(64).build();
    ig.control(|c| {
        pick.apply();
        tm.ucast_egress_port = 8;
    });
    ig.deparser().emit(h);
}

fn program() -> Program {
    let b = Builder::new("marks", "Sets bits under masks");
    marks(&b.ingress());
    b.finish(&NoParams {}).unwrap_or_else(|d| panic!("{d:#?}"))
}

#[test]
fn only_the_bits_of_the_mask_change() {
    let p = program();
    let printed = text::print(&p);
    for line in [
        "set_masked(h.byte, 8w0xff, 8w0x3c);",
        "set_masked(h.word, value, mask);",
        "set_masked(h.top, top, flag);",
    ] {
        assert!(printed.contains(line), "{line}\n{printed}");
    }
    assert_eq!(text::print(&parsed(&printed)), printed);
    let add =
        |kind, action, args: &[u128]| entry(&p, "pick", &[KeyValue::Exact(kind)], 0, call(&p, action, args));
    let ops = [
        add(1, "fixed", &[]),
        add(2, "given", &[0xdead_beef, 0xffff_0000, 0xffff]),
        add(3, "given", &[0xdead_beef, 0x0000_00ff, 0]),
        add(4, "maybe", &[1, 0x0102_0304, 5]),
        add(5, "maybe", &[0, 0x0102_0304, 5]),
    ];
    let head = |kind: u8| vec![kind, 0x81, 0x12, 0x34, 0x55, 0x66, 0x77, 0x88, 0x6f, 0xed];
    let frames: Vec<Vec<u8>> = (0..6).map(|k| [head(k), vec![0; 60]].concat()).collect();
    let wanted: [&[u8]; 6] = [
        &[0, 0x81, 0x12, 0x34, 0x55, 0x66, 0x77, 0x88, 0x6f, 0xed],
        &[1, 0xbd, 0x12, 0x34, 0x55, 0x66, 0x77, 0x88, 0x6f, 0x00],
        &[2, 0x81, 0x1f, 0xf4, 0xde, 0xad, 0x77, 0x88, 0x6f, 0xed],
        &[3, 0x81, 0x10, 0x04, 0x55, 0x66, 0x77, 0xef, 0x6f, 0xed],
        &[4, 0x81, 0x12, 0x34, 0x01, 0x02, 0x03, 0x04, 0xaf, 0xed],
        &[5, 0x81, 0x12, 0x34, 0x55, 0x66, 0x77, 0x88, 0x6f, 0xed],
    ];
    let ran = both_chips(&p, &ops, &frames);
    for ((_, found), wanted) in ran.packets.iter().zip(wanted) {
        assert_eq!(&found[..10], wanted);
    }
}

#[test]
fn value_and_mask_take_a_pair_of_bus_words() {
    let one = |mask: &str| {
        parsed(&format!(
            "program one;
            header h : ingress {{ bit<32> a; bit<32> b; }}
            intrinsic : ingress {{ bit<9> ig_tm.ucast_egress_port; }}
            action put : ingress (bit<32> v, bit<32> m) {{ {mask} ig_tm.ucast_egress_port = 9w8; }}
            table t : ingress {{ key = {{ h.b : exact; }} actions = {{ put; }} default_action = put(0, 0); size = 1024; }}
            parser ingress {{ start = first; state first {{ extract(h); transition accept; }} }}
            control ingress {{ apply t; }}
            deparser ingress {{ emit(h); }}"
        ))
    };
    let (plain, masked) = (one("h.a = v;"), one("set_masked(h.a, v, m);"));
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let of = |p: &Program, column: Column| {
            let placement = placed(p, &chip);
            assert!(sluice_place::verify(p, &placement).is_empty());
            Report::new(p, &placement).totals[column.index()]
        };
        assert_eq!(of(&masked, Column::Slots32), of(&plain, Column::Slots32) + 1);
        assert_eq!(of(&masked, Column::ActionBusBytes), of(&plain, Column::ActionBusBytes) + 4);
        // Eight bytes of an entry no longer are immediate data.
        assert!(of(&masked, Column::Sram) > of(&plain, Column::Sram));
    }
}

#[test]
fn fields_are_no_masks() {
    let source = "program bad;
        header h : ingress { bit<8> a; bit<8> b; }
        intrinsic : ingress { bit<9> ig_tm.ucast_egress_port; }
        action put : ingress () { set_masked(h.a, h.b, 8w1); set_masked(h.b, 8w1, 4w1); ig_tm.ucast_egress_port = 9w8; }
        parser ingress { start = first; state first { extract(h); transition accept; } }
        control ingress { call put; }
        deparser ingress { emit(h); }";
    let p = text::parse(source).unwrap_or_else(|e| panic!("{e}"));
    let found: Vec<String> = verify(&p).iter().map(|d| format!("{}: {}", d.text, d.help)).collect();
    assert_eq!(
        found,
        [
            "action `put` sets `h.a` under a mask from a value that is not action data: value and mask are constants or \
             parameters: copy a field by another action",
            "action `put` sets `h.b` of 8 bits to a mask of 4 bits: make both equally wide: cast or slice the value",
        ]
    );
}
