//! Sums that are compared, and halves that are read after they were written.

use crate::registers::bench::element;
use crate::registers::constructs::{Probe, frame, outs, program};
use sluice_asic::salu::State as Element;
use sluice_build::*;

#[stage_program]
fn orders(ig: &GressBuilder<'_>, h: Hdr<Probe>) {
    let first = ig.register::<32>(size(16).init(0xffff_fff0));
    let sum = ig.register_action(first, |r| {
        if unsigned(lt(r.value + h.a, 0x100)) {
            r.out = 1;
        }
    });
    let gap = ig.register_action(first, |r| {
        if unsigned(gt(h.a - r.value, 4)) {
            r.out = 1;
        }
    });
    let signs = ig.register_action(first, |r| {
        if signed(lt(r.value + h.a, 3)) {
            r.out = 1;
        }
    });
    let clock = ig.register_action(first, |r| {
        if serial(gt(h.a - r.value, 4)) {
            r.out = 1;
        }
    });
    ig.control(|c| match h.kind {
        0 => h.out = sum.execute(h.slot),
        1 => h.out = gap.execute(h.slot),
        2 => h.out = signs.execute(h.slot),
        _ => h.out = clock.execute(h.slot),
    });
}

#[test]
fn sums_are_exact_but_for_sequence_numbers() {
    let rows = [
        // The sum is 0x1_0000_0010, and not 0x10.
        (0, 0x20, 0),
        (0, 0xffff_ffff, 0),
        // 5 is less than the element.
        (1, 5, 0),
        (1, 0xffff_fff4, 0),
        (1, 0xffff_fff5, 1),
        // -16 + 18, -16 + 19, and -16 - 2^31, which has no 32 bits.
        (2, 18, 1),
        (2, 19, 0),
        (2, 0x8000_0000, 1),
        // 5 is 21 after the element.
        (3, 5, 1),
        (3, 0xffff_fff4, 0),
    ];
    let frames: Vec<_> = rows.map(|(kind, a, _)| frame(kind, 1, a, 0)).to_vec();
    assert_eq!(outs(&program(orders), &frames).0, rows.map(|(.., out)| out));
}

#[stage_program]
fn kept(ig: &GressBuilder<'_>, h: Hdr<Probe>) {
    let pair = ig.register_pair::<32>(16);
    /// Exchanges the halves if the lower one was above `a`, and returns what it was
    let exchange = ig.register_action(pair, |r| {
        r.lo = r.hi;
        if r.lo.before() > h.a {
            r.hi = r.lo.before();
        } else {
            r.hi = h.b;
        }
        r.out = r.lo.before();
    });
    ig.control(|c| h.out = exchange.execute(h.slot));
}

#[test]
fn a_half_before_the_access_is_read_after_a_write() {
    // (a, b), the lower half before, and both halves after.
    let rows = [((5, 9), 0, (0, 9)), ((5, 8), 0, (9, 8)), ((5, 7), 9, (8, 9)), ((8, 4), 8, (9, 4))];
    for n in 0..rows.len() {
        let frames: Vec<_> = rows[..=n].iter().map(|((a, b), ..)| frame(0, 2, *a, *b)).collect();
        let program = program(kept);
        let (found, ran) = outs(&program, &frames);
        assert_eq!(found[n], rows[n].1, "{n}");
        assert_eq!(element(&program, &ran, "pair", 2), Element::pair(rows[n].2.0, rows[n].2.1), "{n}");
    }
}
