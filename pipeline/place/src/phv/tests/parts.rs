//! Operations on parts of fields, and sums at the top of a byte.

use super::*;
use sluice_asic::phv::AluClass;

fn slice(f: Field, hi: u16, lo: u16) -> Expr {
    Expr::Slice(Box::new(field(f)), hi, lo)
}

/// Returns lowest bit, width, place in the container and size of the container of each slice.
fn shape(chip: &ChipSpec, placed: &PhvAllocation, f: Field) -> Vec<(u16, u16, u8, u32)> {
    let bits = |c| info(chip, c).size.bits();
    placed.slices(f).iter().map(|s| (s.lo, s.width, s.at, bits(s.container))).collect()
}

#[test]
fn a_difference_of_low_parts_takes_two_words() {
    // The two stamps are bytes of packets: only their low 32 bits need containers of their own.
    let mut s = Small::new();
    let (_, h) = s.header("h", &[("sent", 48), ("kind", 16)]);
    let now = s.sketch.intrinsic(sluice_ir::Intrinsic::GlobalTstamp);
    let delta = s.sketch.meta("delta", 32);
    s.set(delta, alu(AluOp::Sub, slice(now, 31, 0), slice(h[0], 31, 0)));
    let program = s.program();
    for chip in chips() {
        let placed = allocated(&program, &chip);
        assert_eq!(shape(&chip, &placed, h[0])[1], (0, 32, 0, 32));
        assert_eq!(shape(&chip, &placed, now)[1], (0, 32, 0, 32));
        let group = |f: Field| info(&chip, placed.slices(f).last().unwrap().container).mau_group;
        assert_eq!((group(now), group(h[0])), (group(delta), group(delta)));
    }
}

#[test]
fn the_low_byte_of_a_narrow_field_has_a_container_if_the_sum_needs_it() {
    let mut s = Small::new();
    let (_, h) = s.header("h", &[("wide", 32), ("a", 8), ("b", 8)]);
    s.set(h[1], alu(AluOp::Add, field(h[2]), slice(h[0], 7, 0)));
    let program = s.program();
    for chip in chips() {
        let placed = allocated(&program, &chip);
        assert_eq!(shape(&chip, &placed, h[0]).last(), Some(&(0, 8, 0, 8)));
    }
}

#[test]
fn a_part_that_is_no_bytes_of_a_header_is_refused() {
    let mut s = Small::new();
    let (_, h) = s.header("h", &[("wide", 48)]);
    let sum = s.sketch.meta("sum", 32);
    s.set(sum, alu(AluOp::Add, slice(h[0], 35, 4), field(sum)));
    assert_says(
        &refusal(&s.program(), &ChipSpec::tofino()),
        "bits 35 to 4 of `h.wide` are an operand of a whole-container operation",
    );
}

#[test]
fn a_part_of_more_than_a_word_is_refused() {
    let mut s = Small::new();
    let wide = s.sketch.meta("wide", 64);
    let sum = s.sketch.meta("sum", 40);
    s.set(sum, alu(AluOp::Add, slice(wide, 39, 0), field(sum)));
    assert_says(&refusal(&s.program(), &ChipSpec::tofino()), "which has at most 32 bits of a field");
}

#[test]
fn bytes_that_the_parser_copies_keep_whole_containers_beside_a_part() {
    // The part has nine bits; its container takes the two bytes around it.
    let mut s = Small::new();
    let (_, h) = s.header("h", &[("path", 64)]);
    let (path, port) = (s.sketch.meta("path", 64), s.sketch.meta("port", 9));
    s.set(port, alu(AluOp::Xor, slice(path, 8, 0), field(port)));
    let mut program = s.program();
    also(&mut program, ParserOpKind::Set(path, field(h[0])));
    for chip in chips() {
        let placed = allocated(&program, &chip);
        assert_eq!(shape(&chip, &placed, path).last(), Some(&(0, 16, 0, 16)));
    }
}

#[test]
fn a_stamp_of_the_hardware_carries() {
    let mut s = Small::new();
    let now = s.sketch.intrinsic(sluice_ir::Intrinsic::GlobalTstamp);
    let later = s.sketch.meta("later", 48);
    s.set(later, alu(AluOp::Add, field(now), Expr::Const(1 << 20, 48)));
    let program = s.program();
    for chip in chips() {
        let placed = allocated(&program, &chip);
        let [high, low] = placed.slices(now) else { panic!("{placed:?}") };
        let (high, low) = (info(&chip, high.container), info(&chip, low.container));
        assert_eq!((low.number % 2, high.number), (0, low.number + 1));
        assert_eq!((low.alu(), high.mau_group), (AluClass::Full, low.mau_group));
    }
}

#[test]
fn a_constant_is_added_at_the_top_of_a_byte() {
    let mut s = Small::new();
    let (_, h) = s.header("tcp", &[("offset", 4), ("reserved", 4), ("flags", 8)]);
    let longer = s.sketch.meta("longer", 4);
    s.set(longer, alu(AluOp::Add, field(h[0]), Expr::Const(4, 4))).set(h[0], field(longer));
    let program = s.program();
    for chip in chips() {
        let placed = allocated(&program, &chip);
        assert_eq!(shape(&chip, &placed, longer), [(0, 4, 4, 8)]);
        assert_eq!(shape(&chip, &placed, h[0]), [(0, 4, 4, 8)]);
    }
}

#[test]
fn other_operations_at_the_top_of_a_byte_are_refused() {
    // The lower bits of the second operand would carry, and so would those of the constant's difference. A field that takes a sum
    // owns its container.
    for value in [
        |a: Field, b: Field| alu(AluOp::Add, field(a), field(b)),
        |a: Field, _: Field| alu(AluOp::Sub, Expr::Const(4, 4), field(a)),
        |a: Field, _: Field| alu(AluOp::Shl, field(a), Expr::Const(1, 4)),
    ] {
        let mut s = Small::new();
        let (_, h) = s.header("tcp", &[("offset", 4), ("reserved", 4)]);
        let (longer, by) = (s.sketch.meta("longer", 4), s.sketch.meta("by", 4));
        s.set(longer, value(h[0], by));
        refused(s.program());
    }
    let mut s = Small::new();
    let (_, h) = s.header("tcp", &[("offset", 4), ("reserved", 4)]);
    s.set(h[0], alu(AluOp::Sub, field(h[0]), Expr::Param(0, 4)));
    refused(s.program());

    fn refused(program: Program) {
        let found = refusal(&program, &ChipSpec::tofino());
        assert_says(&found, "`tcp.offset` (4 bits at bit 0 of `tcp`)");
    }
}

#[test]
fn the_verifier_knows_where_a_sum_may_be() {
    let mut s = Small::new();
    let (_, h) = s.header("tcp", &[("offset", 4), ("reserved", 4)]);
    let longer = s.sketch.meta("longer", 4);
    s.set(longer, alu(AluOp::Add, field(h[0]), Expr::Const(4, 4)));
    let program = s.program();
    let chip = ChipSpec::tofino();
    let mut placed = allocated(&program, &chip);
    placed.fields[longer][0].at = 0;
    assert_says(&findings(&program, &chip, &placed), "is an operand of a whole-container operation");
    // A part that is not at bit 0.
    let mut s = Small::new();
    let (wide, sum) = (s.sketch.meta("wide", 48), s.sketch.meta("sum", 16));
    s.set(sum, alu(AluOp::Add, slice(wide, 15, 0), field(sum)));
    let program = s.program();
    let mut placed = allocated(&program, &chip);
    let low = placed.fields[wide].last_mut().unwrap();
    (low.at, low.container) = (4, named(&chip, "W20"));
    assert_says(&findings(&program, &chip, &placed), "is not in one container from bit 0");
}

#[test]
fn a_field_that_one_action_gathers_from_four_bytes_is_cut_into_bytes() {
    let mut s = Small::new();
    let (_, h) = s.header("h", &[("d", 8), ("x", 8), ("b", 8), ("y", 8), ("c", 8), ("z", 8), ("a", 8)]);
    let word = s.sketch.meta("word", 32);
    let part = |i: u16, f: Field| PrimitiveKind::SetSlice(word, i * 8 + 7, i * 8, field(f));
    s.call(vec![part(3, h[6]), part(2, h[2]), part(1, h[4]), part(0, h[0])]);
    let program = s.program();
    for chip in chips() {
        let placed = allocated(&program, &chip);
        assert_eq!(shape(&chip, &placed, word).len(), 4);
    }
}

#[test]
fn a_number_of_48_bits_that_the_parser_copies_takes_bytes_before_it() {
    for (before, fits) in [(16, true), (8, false)] {
        let mut s = Small::new();
        let (_, h) = s.header("h", &[("before", before), ("stamp", 48)]);
        let (stamp, sum) = (s.sketch.meta("stamp", 48), s.sketch.meta("sum", 48));
        s.set(sum, alu(AluOp::Add, field(stamp), field(sum)));
        let mut program = s.program();
        also(&mut program, ParserOpKind::Set(stamp, field(h[1])));
        for chip in chips() {
            let placed = allocate(&program, &chip, &Options::default(), &cfgs(&program));
            assert_eq!(placed.is_ok(), fits, "{before} bits before, {}", chip.name);
            if let Ok(placed) = placed {
                assert_eq!(shape(&chip, &placed, stamp), [(32, 16, 0, 32), (0, 32, 0, 32)]);
            }
        }
    }
}
