//! The forms of register actions other than comparisons and updates: predicates, math unit, saturation, wide elements,
//! and forms that only Tofino 2 has.

use crate::registers::bench::{agree, placed};
use crate::registers::constructs::{Probe, frame, outs, program};
use sluice_asic::chip::ChipSpec;
use sluice_asic::salu::{MathOp, MathUnit, State as Element};
use sluice_build::*;
use sluice_ir::Program;
use sluice_ir::text;
use sluice_ir::verify;

/// Returns the `out` fields on Tofino 2, and the findings on Tofino.
fn tofino2(program: &Program, frames: &[Vec<u8>]) -> (Vec<u32>, crate::registers::bench::Ran, String) {
    let ran = agree(program, &placed(program, &ChipSpec::tofino2()), frames);
    let outs = ran.packets.iter().map(|(_, b)| u32::from_be_bytes(b[11..15].try_into().unwrap())).collect();
    let refused = verify::for_chip(program, &ChipSpec::tofino());
    (outs, ran, refused.iter().map(ToString::to_string).collect())
}

#[stage_program]
fn predicates(ig: &GressBuilder<'_>, h: Hdr<Probe>) {
    let last = ig.register::<32>(64);
    /// Bit 0 to 3 by (larger than the last, not 7)
    let classify = ig.register_action(last, |r| {
        r.out = predicate([gt(h.a, r.value), ne(h.b, 7)]);
        r.value = h.a;
    });
    /// Both conditions at once decide
    let both = ig.register_action(last, |r| {
        if h.a > r.value && h.b != 7 || h.a <= r.value && h.b == 7 {
            r.value = h.b;
        } else {
            r.value += 1;
        }
        r.out = r.value;
    });
    ig.control(|c| match h.kind {
        0 => h.out = classify.execute(h.slot),
        _ => h.out = both.execute(h.slot),
    });
}

#[test]
fn a_predicate_is_one_bit_per_outcome_and_conditions_combine_freely() {
    let rows = [
        (0, 5, 0, 1 << 0b11),
        (0, 5, 7, 1 << 0b00),
        (0, 6, 7, 1 << 0b01),
        (0, 6, 1, 1 << 0b10),
        (1, 7, 3, 3),
        (1, 9, 7, 4),
        (1, 2, 7, 7),
        (1, 2, 3, 8),
    ];
    let frames: Vec<_> = rows.map(|(kind, a, b, _)| frame(kind, 1, a, b)).to_vec();
    assert_eq!(outs(&program(predicates), &frames).0, rows.map(|(.., out)| out));
}

#[stage_program]
fn roots(ig: &GressBuilder<'_>, h: Hdr<Probe>) {
    let value = ig.register::<32>(16);
    let root = ig.register_action(value, |r| {
        r.value = approximate(MathOp::Sqrt, (1, 1), h.a);
        r.out = r.value;
    });
    /// The root of what was there, unless it is small
    let again = ig.register_action(value, |r| {
        if r.value < 4 {
            r.value += 100;
        } else {
            r.value = approximate(MathOp::Sqrt, (1, 1), r.value);
        }
        r.out = r.value;
    });
    ig.control(|c| match h.kind {
        0 => h.out = root.execute(h.slot),
        _ => h.out = again.execute(h.slot),
    });
}

#[test]
fn the_math_unit_approximates_as_its_table_says() {
    let unit = MathUnit::approximate(MathOp::Sqrt, 1, 1).unwrap();
    let inputs = [0, 1, 2, 9, 100, 1_000_000, u32::MAX];
    let frames: Vec<_> = inputs.map(|a| frame(0, 2, a, 0)).to_vec();
    let found = outs(&program(roots), &frames).0;
    assert_eq!(found, inputs.map(|a| unit.eval(a)));
    assert!(found[4].abs_diff(10) <= 1 && found[5].abs_diff(1000) <= 63, "{found:?}");
    let chain = [frame(0, 3, 10_000, 0), frame(1, 3, 0, 0), frame(1, 3, 0, 0), frame(1, 3, 0, 0)];
    let (a, b) = (unit.eval(10_000), unit.eval(unit.eval(10_000)));
    let c = unit.eval(b);
    assert_eq!(outs(&program(roots), &chain).0, [a, b, c, if c < 4 { c + 100 } else { unit.eval(c) }]);
}

#[stage_program]
fn caps(ig: &GressBuilder<'_>, h: Hdr<Probe>) {
    let level = ig.register::<8>(size(16).init(0x70));
    let signed_add = ig.register_action(level, |r| {
        r.value = r.value.sat_add_signed(h.a.slice::<7, 0, 8>());
        r.out = r.value;
    });
    let smallest = ig.register_action(level, |r| {
        r.value = r.value.min_signed(h.a.slice::<7, 0, 8>());
        r.out = r.value;
    });
    let bits = ig.register_action(level, |r| {
        r.out = r.value;
        r.value = r.value ^ h.a.slice::<7, 0, 8>();
    });
    ig.control(|c| match h.kind {
        0 => h.out = signed_add.execute(h.slot),
        1 => h.out = smallest.execute(h.slot),
        _ => h.out = bits.execute(h.slot),
    });
}

#[test]
fn sums_stop_at_both_ends_and_extremes_have_a_sign() {
    let rows =
        [(0, 0x20, 0x7f), (0, 0x81, 0), (0, 0x80, 0x80), (1, 0x81, 0x80), (1, 0x7f, 0x80), (2, 0xff, 0x80)];
    let frames: Vec<_> = rows.map(|(kind, a, _)| frame(kind, 1, a, 0)).to_vec();
    assert_eq!(outs(&program(caps), &frames).0, rows.map(|(.., out)| out));
}

/// Divides, shows the index, compares under masks and matches, all in one register.
#[stage_program]
fn tofino2_units(ig: &GressBuilder<'_>, h: Hdr<Probe>) {
    let total = ig.register::<32>(size(32).init(1000));
    let divide = ig.register_action(total, |r| {
        r.out = quotient(r.value, h.b);
        r.out1 = remainder(r.value, h.b);
    });
    let masked = ig.register_action(total, |r| {
        if (r.value & 0xf) == 8 {
            r.value = h.a;
        }
        r.out = address();
    });
    let alike = ig.register_action(total, |r| {
        if matches(r.value, h.a, 0xff00) {
            r.out = 1;
        }
    });
    ig.control(|c| match h.kind {
        0 => h.out = divide.execute(h.slot).also(1, h.a),
        1 => h.out = masked.execute(h.slot),
        _ => h.out = alike.execute(h.slot),
    });
}

#[test]
fn divider_address_masks_and_matches_are_tofino_2s() {
    let rows = [
        (0, 4, 0, 7, 142),
        (1, 9, 0x1234, 0, 9),
        (1, 9, 0x5678, 0, 9),
        (2, 9, 0x12ff, 0, 1),
        (2, 9, 0x13ff, 0, 0),
        (0, 9, 0, (-5i32) as u32, (-932i32) as u32 & 0xffff),
        (0, 9, 0, 0, 0x7fff),
    ];
    let program = program(tofino2_units);
    let frames: Vec<_> = rows.map(|(kind, slot, a, b, _)| frame(kind, slot, a, b)).to_vec();
    let (found, ran, refused) = tofino2(&program, &frames);
    assert_eq!(found, rows.map(|(.., out)| out));
    // 1000 = 142 * 7 + 6; 0x1234 = 4660 is a multiple of 5.
    let second = |i: usize| u32::from_be_bytes(ran.packets[i].1[3..7].try_into().unwrap());
    assert_eq!((second(0), second(5), second(6)), (6, 0, 0x1234));
    for wanted in ["`divide`", "`masked`", "`alike`", "= help: "] {
        assert!(refused.contains(wanted), "{wanted}: {refused}");
    }
}

#[stage_program]
fn four_comparisons(ig: &GressBuilder<'_>, h: Hdr<Probe>) {
    let bands = ig.register_pair::<32>(16);
    /// Which band a value lies in, by four bounds
    let band = ig.register_action(bands, |r| {
        r.out = predicate([gt(h.a, 10), gt(h.a, 100), gt(h.a, r.lo), eq(h.b, r.hi)]);
        r.out1 = r.lo;
        r.lo = h.a;
        r.hi = h.b;
    });
    ig.control(|c| h.out = band.execute(h.slot).also(1, h.a));
}

#[test]
fn four_comparisons_and_a_second_output_word_are_tofino_2s() {
    let rows = [(5, 0, 0b1100), (50, 1, 0b0101), (20, 1, 0b1001), (200, 1, 0b1111), (150, 2, 0b0011)];
    let program = program(four_comparisons);
    let frames: Vec<_> = rows.map(|(a, b, _)| frame(0, 3, a, b)).to_vec();
    let (found, ran, refused) = tofino2(&program, &frames);
    assert_eq!(found, rows.map(|(.., outcome)| 1 << outcome));
    let before: Vec<u32> =
        ran.packets.iter().map(|(_, b)| u32::from_be_bytes(b[3..7].try_into().unwrap())).collect();
    assert_eq!(before, [0, 5, 50, 20, 200]);
    assert!(refused.contains("needs 4 comparisons; a stateful ALU of this chip has 2"), "{refused}");
}

#[stage_program]
fn lanes(ig: &GressBuilder<'_>, h: Hdr<Probe>) {
    /// Load of sixteen paths
    let loads = ig.register::<128>(8);
    let post = LanePost { subtract: false, amount: PostAmount::Constant(10) };
    let what =
        LaneSearch { op: LaneOp::Min8, from_phv: false, mask: LaneMask::Constant(0x0007), post: Some(post) };
    /// The least loaded of three paths, which gets ten more
    let least = ig.register_action(loads, |r| {
        r.search(what, None);
        r.out = lane(LanePart::Index);
        r.out1 = lane(LanePart::Changed);
    });
    ig.control(|c| h.out = least.execute(h.slot).also(1, h.a));
}

#[test]
fn a_lane_search_spreads_load() {
    let program = program(lanes);
    let frames: Vec<_> = (0..5).map(|_| frame(0, 2, 0, 0)).collect();
    let (found, ran, refused) = tofino2(&program, &frames);
    // Of equal lanes, the highest wins.
    assert_eq!(found, [2, 1, 0, 2, 1]);
    let changed: Vec<u32> =
        ran.packets.iter().map(|(_, b)| u32::from_be_bytes(b[3..7].try_into().unwrap())).collect();
    assert_eq!(changed, [10, 10, 10, 20, 20]);
    let element = crate::registers::bench::element(&program, &ran, "loads", 2);
    assert_eq!(element, Element::word(0x14_14_0a));
    assert!(refused.contains("register action `least`"), "{refused}");
}

/// Wide elements are copied: the old word out in four parts, the new one in.
const WIDE: &str = "program wide;
header h : ingress { bit<64> a; bit<64> b; bit<32> o0; bit<32> o1; bit<32> o2; bit<32> o3; }
intrinsic : ingress { bit<9> ig_tm.ucast_egress_port; }
register pair : ingress { element = \"64x2\"; size = 4; initial = 0x1122334455667788, 0x99aabbccddeeff00; }
register_action swap (pair) { @out0 = @lo; @out1 = @hi; @out2 = @lo; @out3 = @hi; @lo = h.a; @hi = h.b; }
action go : ingress () {
    h.o0, h.o1:1, h.o2:2, h.o3:3 = execute(swap, 32w1);
    ig_tm.ucast_egress_port = 9w1;
}
parser ingress { start = first; state first { extract(h); transition accept; } }
control ingress { call go; }
deparser ingress { emit(h); }";

#[test]
fn wide_pairs_are_copied_through_four_output_words() {
    let program = text::parse(WIDE).unwrap_or_else(|e| panic!("{e}"));
    let frame = |a: u64, b: u64| [a.to_be_bytes(), b.to_be_bytes(), [0; 8], [0; 8], [0; 8]].concat();
    let (a, b) = (0x0102_0304_0506_0708, 0xf0e0_d0c0_b0a0_9080);
    let (_, ran, refused) = tofino2(&program, &[frame(a, b), frame(1, 2)]);
    let words = |i: usize| -> Vec<u32> {
        ran.packets[i].1[16..32].chunks(4).map(|w| u32::from_be_bytes(w.try_into().unwrap())).collect()
    };
    assert_eq!(words(0), [0x5566_7788, 0xddee_ff00, 0x1122_3344, 0x99aa_bbcc]);
    assert_eq!(words(1), [0x0506_0708, 0xb0a0_9080, 0x0102_0304, 0xf0e0_d0c0]);
    assert_eq!(ran.state.registers.values().next().unwrap()[1], Element::pair(1, 2));
    assert!(refused.contains("register"), "{refused}");
}
