//! Limits of what one action can do to one container.

use super::*;
use sluice_samples::sketch::param;

/// Allocates the program on both chips, which must agree; the error is the reason why that is impossible.
fn verdict(s: Small) -> Result<(), String> {
    let program = s.program();
    let [a, b] = chips().map(|chip| match allocate(&program, &chip, &Options::default(), &cfgs(&program)) {
        Ok(_) => Ok(()),
        Err(found) => Err(texts(&found).join("; ")),
    });
    assert_eq!(a.is_ok(), b.is_ok(), "the chips differ: {a:?} {b:?}");
    a
}

#[track_caller]
fn refused(s: Small, part: &str) {
    let text = verdict(s).unwrap_err();
    assert!(text.contains(part), "{text}");
}

/// A header of four nibbles and a byte.
fn nibbles() -> (Small, Vec<Field>) {
    let mut s = Small::new();
    let (_, h) = s.header("h", &[("a", 4), ("b", 4), ("c", 4), ("d", 4), ("e", 8)]);
    (s, h)
}

#[test]
fn constants_and_parameters_share_one_bus_word() {
    let (mut s, h) = nibbles();
    s.call(vec![set(h[0], Expr::Const(5, 4)), set(h[1], param(0, 4))]);
    assert_eq!(verdict(s), Ok(()));
}

#[test]
fn a_hash_and_a_constant_do_not() {
    let (mut s, h) = nibbles();
    let hash = s.sketch.hash("x", &[h[4]], 4);
    s.call(vec![PrimitiveKind::Hash(h[0], hash), set(h[1], Expr::Const(5, 4))]);
    refused(s, "two words of the action data bus");
}

#[test]
fn a_nibble_can_be_rotated_into_place() {
    let (mut s, h) = nibbles();
    s.set(h[0], field(h[3]));
    assert_eq!(verdict(s), Ok(()));
}

#[test]
fn two_nibbles_from_two_bytes_cannot_both_be_rotated() {
    let mut s = Small::new();
    let (_, h) = s.header("h", &[("a", 4), ("b", 4), ("c", 4), ("d", 4), ("e", 4), ("f", 4)]);
    s.call(vec![set(h[0], field(h[3])), set(h[1], field(h[4]))]);
    refused(s, "its sources cannot be merged");
}

#[test]
fn two_nibbles_in_place_can_be_merged() {
    let mut s = Small::new();
    let (_, h) = s.header("h", &[("a", 4), ("b", 4), ("c", 4), ("d", 4), ("e", 4), ("f", 4)]);
    s.call(vec![set(h[0], field(h[2])), set(h[1], field(h[5]))]);
    assert_eq!(verdict(s), Ok(()));
}

#[test]
fn a_source_and_data_beside_bits_that_stay_are_three() {
    let mut s = Small::new();
    let (_, h) = s.header("h", &[("a", 3), ("b", 3), ("c", 2), ("d", 3), ("e", 5)]);
    s.call(vec![set(h[0], field(h[3])), set(h[1], Expr::Const(1, 3))]);
    refused(s, "that takes 3 sources, and an instruction has 2");
}

#[test]
fn parts_of_a_wide_field_that_overlap_are_in_one_container() {
    let mut s = Small::new();
    let [time, x, y] = [("time", 48), ("x", 32), ("y", 32)].map(|(name, width)| s.sketch.meta(name, width));
    let part = |lo| Expr::Cast(Box::new(Expr::Slice(Box::new(field(time)), 31, lo)), 32);
    // Cut at bit 20, `y` would take two containers and zeros.
    s.set(x, part(20)).set(y, part(10));
    let program = s.program();
    for chip in chips() {
        let allocation = allocated(&program, &chip);
        assert!(allocation.slices(time).iter().any(|s| s.lo <= 10 && s.lo + s.width == 32));
    }
}

#[test]
fn an_operation_and_a_copy_are_two_instructions() {
    let (mut s, h) = nibbles();
    let masked = alu(AluOp::And, field(h[0]), Expr::Const(3, 4));
    s.call(vec![set(h[0], masked), set(h[1], Expr::Const(1, 4))]);
    refused(s, "two instructions");
}

#[test]
fn a_mask_by_data_leaves_the_neighbour_alone() {
    let (mut s, h) = nibbles();
    s.set(h[0], alu(AluOp::And, field(h[0]), Expr::Const(3, 4)));
    s.set(h[1], alu(AluOp::Or, param(0, 4), field(h[1])));
    assert_eq!(verdict(s), Ok(()));
}

#[test]
fn a_function_without_a_neutral_operand_does_not() {
    let (mut s, h) = nibbles();
    s.set(h[0], alu(AluOp::Nand, field(h[0]), Expr::Const(3, 4)));
    refused(s, "whole-container operation");
}

#[test]
fn three_operands_are_too_many() {
    let mut s = Small::new();
    let (_, h) = s.header("h", &[("a", 32), ("b", 32), ("c", 32)]);
    s.set(h[0], alu(AluOp::Or, field(h[0]), alu(AluOp::Or, field(h[1]), field(h[2]))));
    refused(s, "that takes 3 sources");
}

#[test]
fn a_slice_that_lies_elsewhere_is_no_operand() {
    let mut s = Small::new();
    let (_, h) = s.header("h", &[("a", 32)]);
    let x = s.sketch.meta("x", 32);
    let high = Expr::Cast(Box::new(Expr::Slice(Box::new(field(h[0])), 31, 16)), 32);
    s.set(x, alu(AluOp::Add, field(x), high));
    refused(s, "not at the same bits");
}

#[test]
fn a_widened_operand_finds_zeros_in_its_padding() {
    let mut s = Small::new();
    let (x, small) = (s.sketch.meta("x", 32), s.sketch.meta("small", 8));
    s.set(x, alu(AluOp::Add, field(x), Expr::Cast(Box::new(field(small)), 32)));
    assert_eq!(verdict(s), Ok(()));
}

#[test]
fn the_last_write_of_an_action_counts() {
    let (mut s, h) = nibbles();
    let hash = s.sketch.hash("x", &[h[4]], 4);
    s.call(vec![PrimitiveKind::Hash(h[0], hash), set(h[0], Expr::Const(1, 4)), set(h[1], Expr::Const(5, 4))]);
    assert_eq!(verdict(s), Ok(()));
}

#[test]
fn equal_bitwise_functions_with_data_are_one_instruction() {
    for (second, fits) in [(AluOp::Or, true), (AluOp::And, false)] {
        let mut s = Small::new();
        let (_, h) = s.header("h", &[("a", 2), ("b", 6)]);
        let with = |op, f, width| set(f, alu(op, field(f), Expr::Const(1, width)));
        s.call(vec![with(AluOp::Or, h[0], 2), with(second, h[1], 6)]);
        let program = s.program();
        for chip in chips() {
            let placed = allocate(&program, &chip, &Options::default(), &cfgs(&program));
            assert_eq!(placed.is_ok(), fits, "{second}");
        }
    }
}
