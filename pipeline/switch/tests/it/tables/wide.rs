//! Sums and differences with a carry over two containers, and funnel shifts: bytes, places, refusals.

use crate::tables::bench::{both_chips, call, entry, parsed, placed};
use sluice_asic::chip::{ChipSpec, Column};
use sluice_asic::phv::PhvInventory;
use sluice_build::{exact, funnel_shift, params, stage_program, *};
use sluice_ir::text;
use sluice_ir::verify::verify;
use sluice_ir::{KeyValue, Program};
use sluice_place::place;
use sluice_place::report::Report;
use sluice_report::text as as_text;

/// Two numbers and what comes of them
#[derive(Header)]
struct Numbers {
    kind: Bits<8>,
    byte: Bits<8>,
    _pad: Bits<16>,
    a: Bits<64>,
    b: Bits<64>,
    out: Bits<64>,
    words: Bits<32>,
    word: Bits<32>,
}

/// A number that no header has room for
#[derive(Header)]
struct Kept {
    sum: Bits<48>,
}

#[derive(params::Params, Default)]
struct NoParams {}

#[stage_program]
fn wide(ig: &GressBuilder<'_>) {
    let h = ig.header::<Numbers>();
    let start = ig.state().extract(h);
    ig.start(start);
    let tm = ig.intrinsic::<tna::ForTm>();
    let m = ig.metadata::<Kept>();
    let add = ig.action(|a| {
        h.out = h.a + h.b;
    });
    let sub = ig.action(|a| {
        h.out = h.a - h.b;
    });
    let count = ig.action(|a| {
        h.out = h.a + 1;
    });
    let far = ig.action(|a| {
        h.out = h.a + 0xffff_fffe_0000_0003;
    });
    let given = ig.action(|a, by: Arg<64>| {
        h.out = h.a - by;
    });
    let start = ig.action(|a| {
        m.sum = h.a.slice::<47, 0, 48>();
    });
    let words = ig.action(|a| {
        h.out = h.words.cast::<64>() + h.b;
    });
    let funnel = ig.action(|a| {
        h.word = funnel_shift(h.words, h.word, 12);
    });
    let pick = ig
        .table([exact(h.kind)])
        .actions([add, sub, count, far, given, start, words, funnel])
        .size(64)
        .build();
    ig.control(|c| {
        pick.apply();
        if h.byte == 1 {
            m.sum = m.sum + 0xffff;
        }
        if h.byte == 1 {
            h.out = m.sum.cast::<64>();
        }
        tm.ucast_egress_port = 8;
    });
    ig.deparser().emit(h);
}

fn program() -> Program {
    let b = Builder::new("wide", "Numbers of more than 32 bits");
    wide(&b.ingress());
    b.finish(&NoParams {}).unwrap_or_else(|d| panic!("{d:#?}"))
}

fn frame(kind: u8, byte: u8, a: u64, b: u64) -> Vec<u8> {
    let head = [&[kind, byte, 0, 0][..], &a.to_be_bytes(), &b.to_be_bytes(), &[0; 8]].concat();
    [head, vec![0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0], vec![0xee; 40]].concat()
}

#[test]
fn carries_and_borrows_cross_containers() {
    let p = program();
    let printed = text::print(&p);
    for line in ["h.out = add(h.a, h.b);", "h.word = funnel_shift(h.words, h.word, 12);"] {
        assert!(printed.contains(line), "{line}\n{printed}");
    }
    assert_eq!(text::print(&parsed(&printed)), printed);
    let by: u64 = 0x0000_0001_8000_0000;
    let row =
        |kind, name, args: &[u128]| entry(&p, "pick", &[KeyValue::Exact(kind)], 0, call(&p, name, args));
    let ops = [
        row(1, "add", &[]),
        row(2, "sub", &[]),
        row(3, "count", &[]),
        row(4, "far", &[]),
        row(5, "given", &[by.into()]),
        row(6, "start", &[]),
        row(7, "words", &[]),
        row(8, "funnel", &[]),
    ];
    let edges = [0, 1, 0x7fff_ffff, 0xffff_ffff, 0x1_0000_0000, 0xffff_ffff_ffff, u64::MAX - 1, u64::MAX];
    let mut frames = Vec::new();
    let mut wanted: Vec<(u64, u32)> = Vec::new();
    for a in edges {
        for b in edges {
            let plain = 0x9abc_def0;
            let sum48 = (a & 0xffff_ffff_ffff).wrapping_add(0xffff) & 0xffff_ffff_ffff;
            for (kind, byte, out, word) in [
                (1, 0, a.wrapping_add(b), plain),
                (2, 0, a.wrapping_sub(b), plain),
                (3, 0, a.wrapping_add(1), plain),
                (4, 0, a.wrapping_add(0xffff_fffe_0000_0003), plain),
                (5, 0, a.wrapping_sub(by), plain),
                (6, 1, sum48, plain),
                (7, 0, b.wrapping_add(0x1234_5678), plain),
                (8, 0, 0, 0x6789_abcd),
            ] {
                frames.push(frame(kind, byte, a, b));
                wanted.push((out, word));
            }
        }
    }
    let ran = both_chips(&p, &ops, &frames);
    for ((_, found), (out, word)) in ran.packets.iter().zip(wanted) {
        assert_eq!(found[20..28], out.to_be_bytes(), "{:x?}", &found[..20]);
        assert_eq!(found[32..36], word.to_be_bytes());
    }
}

#[test]
fn a_carry_goes_from_an_even_container_to_the_next() {
    let p = program();
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let placement = placed(&p, &chip);
        assert!(sluice_place::verify(&p, &placement).is_empty());
        let inventory = PhvInventory::new(&chip.phv);
        for (f, data) in p.fields.iter().filter(|(_, d)| d.width > 32) {
            let [high, low] = placement.phv.slices(f) else { panic!("`{}` is in two", data.name) };
            let [high, low] = [high, low].map(|s| inventory.get(s.container).unwrap());
            assert_eq!((low.number % 2, low.number + 1, low.mau_group), (0, high.number, high.mau_group));
            assert_eq!((low.size.bits(), high.size.bits()), (32, 32), "{}", data.name);
        }
        // A parameter of 64 bits takes two words of the bus.
        let report = Report::new(&p, &placement);
        assert!(report.totals[Column::Slots32.index()] >= 2);
        let shown =
            |name: &str, [low, high]: [&str; 2]| as_text(&report).contains(&format!("{name} {low}-{high}"));
        let carried: Vec<&str> = report.phv.carries.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(carried, ["h.a", "h.b", "h.out", "m.sum"]);
        assert!(report.phv.carries.iter().all(|c| shown(&c.name, [&c.low, &c.high])), "{}", as_text(&report));
    }
}

/// Returns a program with an action body on a header of these fields, and with a metadata field.
fn small(fields: &str, body: &str) -> Program {
    let source = format!(
        "program small;
        header h : ingress {{ {fields} }}
        metadata : ingress {{ bit<48> m.x; bit<64> m.y; bit<32> m.w; bit<16> m.s; }}
        intrinsic : ingress {{ bit<9> ig_tm.ucast_egress_port; bit<48> ig.ingress_mac_tstamp; }}
        action put : ingress () {{ {body} ig_tm.ucast_egress_port = 9w8; }}
        parser ingress {{ start = first; state first {{ extract(h); transition accept; }} }}
        control ingress {{ call put; }}
        deparser ingress {{ emit(h); }}"
    );
    text::parse(&source).unwrap_or_else(|e| panic!("{e}"))
}

/// Returns the reason why placement refuses a program, which must be the same on both chips.
fn refusal(p: &Program) -> String {
    let texts = [ChipSpec::tofino(), ChipSpec::tofino2()].map(|chip| match place(p, &chip) {
        Err(refused) => format!("{}: {}", refused.diags[0].text, refused.diags[0].help),
        Ok(_) => panic!("it fits"),
    });
    assert_eq!(texts[0], texts[1]);
    texts[0].clone()
}

#[test]
fn only_sums_and_differences_of_whole_words_carry() {
    let seq = "bit<48> seq; bit<16> rest;";
    assert_eq!(
        refusal(&small(seq, "h.seq = add(h.seq, 48w1);")),
        "`h.seq` of 48 bits is an operand of whole-container arithmetic, which takes two containers of 32 bits, which \
         packet bytes of 48 bits do not fill: declare it 64 bits wide on a byte boundary, or keep the number in a \
         metadata field that actions fill"
    );
    assert_eq!(
        refusal(&small("bit<64> a;", "h.a = minu(h.a, 64w7);")),
        "`h.a` of 64 bits is an operand of whole-container arithmetic, which has at most 32 bits; only sums and \
         differences carry over two containers: compute on a 32-bit part kept in a separate metadata field"
    );
    assert_eq!(
        refusal(&small("bit<96> a;", "h.a = add(h.a, 96w1);")),
        "`h.a` of 96 bits is an operand of whole-container arithmetic, which has at most 64 bits with a carry: compute \
         on a part of at most 64 bits"
    );
}

#[test]
fn funnels_take_whole_fields_and_five_bits() {
    let said = |body: &str| -> Vec<String> {
        let p = small("bit<32> a; bit<12> b; bit<20> c;", body);
        verify(&p).iter().map(|d| format!("{}: {}", d.text, d.help)).collect()
    };
    assert_eq!(
        said(
            "h.a = funnel_shift(h.a, 32w1, 4); h.b = funnel_shift(h.b, h.b, 4); m.w = funnel_shift(m.w, m.w, 32);"
        ),
        [
            "action `put` applies `funnel_shift` to a value that is not in the PHV: both operands are fields: keep the \
             value in a metadata field",
            "action `put` shifts two values of 12 bits side by side (`funnel_shift`): the operands are whole \
             containers: declare the fields 8, 16 or 32 bits wide",
            "action `put` shifts by 32 (`funnel_shift`); the amount is 0 to 31: shift the upper operand alone by what \
             is left",
        ]
    );
    assert_eq!(
        said("m.w = funnel_shift(m.w, m.s, 1); m.s = 16w1;"),
        [
            "action `put` shifts 32 and 16 bits side by side: both operands must be equally wide: cast or slice one"
        ]
    );
}
