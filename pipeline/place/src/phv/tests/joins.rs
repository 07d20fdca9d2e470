//! Containers whose size a number decides, and fields of tables that are in different stages anyway.

use super::*;
use sluice_ir::{Intrinsic, MatchKind};

fn slice(f: Field, hi: u16, lo: u16) -> Expr {
    Expr::Slice(Box::new(field(f)), hi, lo)
}

/// Returns size of container, lowest bit, width and place of each slice of a field.
fn places(chip: &ChipSpec, allocation: &PhvAllocation, f: Field) -> Vec<(u32, u16, u16, u8)> {
    let of = |s: &crate::data::FieldSlice| (info(chip, s.container).size.bits(), s.lo, s.width, s.at);
    allocation.slices(f).iter().map(of).collect()
}

#[test]
fn a_header_field_takes_its_neighbour_along_to_the_container_of_a_number() {
    let mut s = Small::new();
    let (_, h) = s.header("h", &[("kind", 8), ("sent", 16), ("ended", 16), ("rest", 8)]);
    let (now, late) = (s.sketch.meta("now", 32), s.sketch.meta("late", 32));
    s.set(now, alu(AluOp::Add, field(now), field(late)));
    s.call(vec![set(h[1], slice(now, 15, 0)), set(h[2], slice(late, 15, 0))]);
    let program = s.program();
    for chip in chips() {
        let allocation = allocated(&program, &chip);
        assert_eq!(places(&chip, &allocation, h[1]), [(32, 0, 16, 16)]);
        assert_eq!(places(&chip, &allocation, h[2]), [(32, 0, 16, 0)]);
        assert_eq!(places(&chip, &allocation, h[0]), [(8, 0, 8, 0)]);
    }
}

#[test]
fn a_word_of_two_header_fields_is_an_operand_with_a_number() {
    let mut s = Small::new();
    let (_, h) = s.header("h", &[("from", 16), ("to", 16), ("seq", 32)]);
    let (word, sum) = (s.sketch.meta("word", 32), s.sketch.meta("sum", 32));
    let part = |hi, lo, f| PrimitiveKind::SetSlice(word, hi, lo, field(f));
    s.call(vec![part(31, 16, h[0]), part(15, 0, h[1])]);
    s.set(sum, alu(AluOp::Xor, field(sum), field(word)));
    s.set(sum, alu(AluOp::Add, field(sum), Expr::Const(1, 32)));
    let program = s.program();
    for chip in chips() {
        let allocation = allocated(&program, &chip);
        assert_eq!(places(&chip, &allocation, word), [(32, 0, 32, 0)]);
        assert_eq!(places(&chip, &allocation, h[0]), [(32, 0, 16, 16)]);
    }
}

#[test]
fn a_number_of_its_own_does_not_come_along() {
    let mut s = Small::new();
    let (_, h) = s.header("h", &[("sent", 16), ("count", 16)]);
    let now = s.sketch.meta("now", 32);
    s.set(now, alu(AluOp::Add, field(now), Expr::Const(1, 32)));
    s.set(h[0], slice(now, 15, 0));
    s.set(h[1], alu(AluOp::Add, field(h[1]), Expr::Const(1, 16)));
    assert_says(&refusal(&s.program(), &ChipSpec::tofino()), "`h.sent` is computed from");
}

#[test]
fn a_time_stamp_has_parts_of_two_words() {
    let mut s = Small::new();
    let stamp = s.sketch.intrinsic(Intrinsic::GlobalTstamp);
    let (high, low) = (s.sketch.meta("high", 32), s.sketch.meta("low", 32));
    s.set(high, slice(stamp, 47, 16)).set(low, slice(stamp, 31, 0));
    s.set(low, alu(AluOp::Sub, field(low), field(high)));
    let program = s.program();
    for chip in chips() {
        let allocation = allocated(&program, &chip);
        assert!(places(&chip, &allocation, stamp).iter().all(|(bits, ..)| *bits == 32));
        // Bytes beside a part are no zeros, so an operation on whole containers cannot take it.
        let mut harmed = program.clone();
        let last = harmed.actions.keys().last().unwrap();
        let top = Expr::Cast(Box::new(slice(stamp, 47, 32)), 32);
        harmed.actions[last].body[0].kind = set(low, alu(AluOp::Sub, field(low), top));
        assert_says(
            &findings(&harmed, &chip, &allocation),
            "which the parser fills with the bytes beside it",
        );
    }
}

/// Three hundred flags, each written by a table that matches the flag before it: more than there are containers.
#[test]
fn flags_of_a_chain_of_tables_share_containers_when_these_run_out() {
    let mut s = Sketch::new("chain");
    let flags: Vec<Field> = (0..300).map(|i| s.meta(&format!("f{i}"), 1)).collect();
    let mut block = Vec::new();
    for (i, pair) in flags.windows(2).enumerate() {
        let action = s.action(&format!("a{i}"), &[], vec![set(pair[1], Expr::Const(1, 1))]);
        let table = s.table(&format!("t{i}"), &[(pair[0], MatchKind::Exact)], &[action], 2);
        block.push(s.apply(table));
    }
    s.control(block);
    for chip in chips() {
        let allocation = allocated(&s.program, &chip);
        let containers: std::collections::BTreeSet<Container> =
            allocation.fields.values().flatten().map(|s| s.container).collect();
        assert_eq!(containers.len(), 38);
    }
}

/// An action copies the bits of an address to flags; more words than a group has would have one flag each.
#[test]
fn copies_of_bits_of_one_field_are_beside_each_other() {
    let mut s = Small::new();
    let (_, h) = s.header("h", &[("address", 32)]);
    let flags: Vec<Field> = (0..32).map(|i| s.sketch.meta(&format!("f{i}"), 1)).collect();
    s.call(flags.iter().zip(0..).map(|(f, bit)| set(*f, slice(h[0], bit, bit))).collect());
    let program = s.program();
    for chip in chips() {
        let allocation = allocated(&program, &chip);
        for (f, bit) in flags.iter().zip(0..) {
            assert_eq!(places(&chip, &allocation, *f), [(32, 0, 1, bit)]);
            assert_eq!(allocation.slices(*f)[0].container, allocation.slices(flags[0])[0].container);
        }
    }
}

#[test]
fn a_header_that_takes_neighbours_along_saves_containers() {
    // Forty words from sixteen fields of a byte each: cut into bytes, they would need 160 containers.
    let mut s = Small::new();
    let fields: Vec<String> = (0..16).map(|i| format!("s{i}")).collect();
    let (_, h) = s.header("h", &fields.iter().map(|f| (f.as_str(), 8)).collect::<Vec<_>>());
    let words: Vec<Field> = (0..40).map(|i| s.sketch.meta(&format!("w{i}"), 32)).collect();
    for (i, word) in words.iter().enumerate() {
        let bytes = (0..4).map(|b| {
            let lo = 24 - 8 * b;
            PrimitiveKind::SetSlice(*word, lo + 7, lo, field(h[i % 4 * 4 + usize::from(b)]))
        });
        s.call(bytes.collect());
    }
    let program = s.program();
    let chip = ChipSpec::tofino();
    let allocation = allocated(&program, &chip);
    assert_eq!(places(&chip, &allocation, words[0]), [(32, 0, 32, 0)]);
    assert_eq!(places(&chip, &allocation, h[1]), [(32, 0, 8, 16)]);
}

#[test]
fn a_byte_of_a_wide_field_takes_a_neighbour_along() {
    let text = "sluice 1; program shifted;
        header a : ingress { bit<128> wide; bit<8> kind; }
        header b : ingress { bit<8> pad; bit<8> small; bit<16> word; }
        action low : ingress () { b.small = a.wide[47:40]; b.word = funnel_shift(a.wide[47:32], a.wide[31:16], 8); }
        action high : ingress () { b.small = a.wide[71:64]; b.word = a.wide[63:48]; }
        table t : ingress { key = { a.kind : exact; } actions = { low; high; } default_action = low(); size = 16; }
        parser ingress { start = first; state first { extract(a); extract(b); transition accept; } }
        control ingress { apply t; }
        deparser ingress { emit(a); emit(b); }";
    let program = sluice_ir::text::parse(text).unwrap();
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let placement = crate::place(&program, &chip).unwrap_or_else(|e| panic!("{}", e.reason()));
        let wide = program.field_named(Gress::Ingress, "a.wide").unwrap();
        // Bits 64 to 71 are in a container of 16 bits, with the byte above them.
        let slice = placement.phv.fields[wide].iter().find(|s| s.lo <= 64 && 64 < s.lo + s.width).unwrap();
        assert_eq!((slice.lo, slice.width), (64, 16));
    }
}
