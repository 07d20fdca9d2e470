//! The parser counter: loops over as many words as a field says.

use crate::parsers::{frame, program, run, same_cycles};
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_build::*;
use sluice_place::parser::paths;
use sluice_place::place;

/// The first byte of IPv4 and one more
#[allow(dead_code, reason = "some fields only give the layout")]
#[derive(Header)]
pub(crate) struct Head {
    version: Bits<4>,
    ihl: Bits<4>,
    protocol: Bits<8>,
}

/// What is behind the options
#[derive(Header)]
pub(crate) struct Inner {
    tag: Bits<16>,
}

/// IPv4 options: `ihl - 5` words follow the head, which has two bytes here.
#[stage_program]
pub(crate) fn options(ig: &GressBuilder<'_>) {
    let head = ig.header::<Head>();
    let inner = ig.header::<Inner>();
    let start = ig
        .state()
        .extract(head)
        .set_counter_from(head.ihl, CounterFrom { max: 12, mask: 3, add: 251, ..CounterFrom::default() })
        .select(list![counter_is_zero(), counter_is_negative()]);
    let option = ig.state().advance(4).add_counter(-1).select(counter_is_zero());
    let behind = ig.state().extract(inner);
    start.on_tuple([(1, 1), (0, 0)], behind);
    start.on_tuple([(0, 0), (1, 1)], Reject);
    start.otherwise(option);
    option.on(1, behind);
    option.otherwise(option);
    ig.start(start);
    ig.control(|c| {
        if inner.is_valid() {
            inner.tag = 0xabcd;
        }
    });
    ig.deparser().emit(head).emit(inner);
}

#[test]
fn the_counter_bounds_a_loop() {
    let program = program(options);
    let packet = |ihl: u8| {
        let words: Vec<u8> = (0..4 * ihl.saturating_sub(5)).collect();
        frame(&[&[0x40 | ihl, 6], words.as_slice(), &[1, 2]].concat())
    };
    for ihl in 5..=12 {
        assert_eq!(run(&program, &[packet(ihl)]), [Ok(frame(&[0x40 | ihl, 6, 0xab, 0xcd]))], "ihl {ihl}");
    }
    // Below five the counter is negative; above twelve it is out of range.
    assert_eq!(run(&program, &[packet(4), packet(13), packet(15)]), [Err(0x001), Err(0x004), Err(0x004)]);
    // The packet ends among the options.
    assert_eq!(run(&program, &[packet(12)[..20].to_vec()]), [Err(0x002)]);
}

#[test]
fn laps_share_rows_and_cost_a_cycle_each() {
    let program = program(options);
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let placement = place(&program, &chip).unwrap();
        let placed = &placement.gress(Gress::Ingress).parser;
        let list = paths(&program, Gress::Ingress, placed);
        // From none to seven options, and the error.
        assert_eq!(list.list.len(), 9);
        let bytes: Vec<u32> = list.list.iter().map(|p| p.bytes).collect();
        let cycles: Vec<u32> = list.list.iter().map(|p| p.cycles).collect();
        assert!(bytes.contains(&(2 + 7 * 4 + 2)), "{bytes:?}");
        let lap = u32::from(placed.cycles[list.list.last().unwrap().states[1]]);
        let (least, most) = (cycles.iter().min().unwrap(), cycles.iter().max().unwrap());
        assert!(*most >= least + 7 * lap, "{cycles:?}");
        assert!(placed.rows < 16, "{}", placed.rows);
    }
}

#[test]
fn each_lap_adds_its_cycles() {
    let program = program(options);
    let placement = place(&program, &ChipSpec::tofino2()).unwrap();
    let frames: Vec<Vec<u8>> = (5..=12).map(|ihl| frame(&[0x40 | ihl, 6])).collect();
    let cycles = same_cycles(&program, &placement, &frames);
    let states: Vec<u16> = placement.gress(Gress::Ingress).parser.cycles.values().copied().collect();
    assert_eq!(cycles[0], states[0] + states[2]);
    assert!(cycles.windows(2).all(|w| w[1] == w[0] + states[1]), "{cycles:?}");
}

#[stage_program]
fn constant(ig: &GressBuilder<'_>) {
    let head = ig.header::<Head>();
    let start = ig.state().extract(head).set_counter(-3);
    let lap = ig.state().advance(2).add_counter(1).select(counter_is_negative());
    start.otherwise(lap);
    lap.on(1, lap);
    ig.start(start);
    ig.deparser().emit(head);
}

#[test]
fn a_constant_counts_upwards_too() {
    let program = program(constant);
    let out = run(&program, &[frame(&[0x45, 1, 1, 2, 3, 4, 5, 6])]);
    assert_eq!(out, [Ok(frame(&[0x45, 1]))]);
}

/// A count of groups, each with a count of its own.
#[derive(Header)]
struct Groups {
    count: Bits<8>,
    /// Bytes of each group
    size: Bits<8>,
}

#[stage_program]
fn nested(ig: &GressBuilder<'_>) {
    let groups = ig.header::<Groups>();
    let inner = ig.header::<Inner>();
    let start = ig
        .state()
        .extract(groups)
        .set_counter_from(groups.count, CounterFrom { max: 5, ..Default::default() });
    let group = ig.state().select(counter_is_zero());
    let enter = ig.state().push_counter_from(groups.size, CounterFrom { max: 6, ..Default::default() });
    let item = ig.state().select(counter_is_zero());
    let skip = ig.state().advance(1).add_counter(-1);
    let leave = ig.state().pop_counter().add_counter(-1);
    let behind = ig.state().extract(inner);
    start.otherwise(group);
    group.on(1, behind);
    group.otherwise(enter);
    enter.otherwise(item);
    item.on(1, leave);
    item.otherwise(skip);
    skip.otherwise(item);
    leave.otherwise(group);
    ig.start(start);
    ig.deparser().emit(groups).emit(inner);
}

#[test]
fn loops_within_loops_keep_the_outer_counter() {
    let program = program(nested);
    let chip = ChipSpec::tofino2();
    let placement = place(&program, &chip).unwrap();
    let cases = [(0u8, 3u8), (1, 1), (2, 3), (5, 6), (3, 0), (6, 1), (1, 7)];
    let frames: Vec<Vec<u8>> = cases
        .iter()
        .map(|(count, size)| {
            let skipped: Vec<u8> = (0..count * size).collect();
            frame(&[&[*count, *size], skipped.as_slice(), &[0xaa, 0xbb]].concat())
        })
        .collect();
    let ran = crate::registers::bench::agree(&program, &placement, &frames);
    for ((count, size), (_, bytes)) in cases.iter().zip(&ran.packets).take(5) {
        assert_eq!(*bytes, frame(&[*count, *size, 0xaa, 0xbb]));
    }
    for (out, _) in &ran.packets[5..] {
        assert_eq!(out.verdict, sluice_exec::pass::Verdict::ParserError(0x004));
    }
    let refused = place(&program, &ChipSpec::tofino()).unwrap_err();
    assert!(
        refused
            .reason()
            .contains("pushes 1 counter on the parser counter's stack; the stack of tofino holds 0"),
        "{}",
        refused.reason()
    );
}

/// As `nested`; `count` is the number of bytes in all groups, of which each has `size`.
#[stage_program]
fn linked(ig: &GressBuilder<'_>) {
    let groups = ig.header::<Groups>();
    let inner = ig.header::<Inner>();
    let start = ig
        .state()
        .extract(groups)
        .set_counter_from(groups.count, CounterFrom { max: 12, ..Default::default() });
    let group = ig.state().select(counter_is_zero());
    let enter =
        ig.state().push_linked_counter_from(groups.size, CounterFrom { max: 6, ..Default::default() });
    let skip = ig.state().advance(1).add_counter(-1).select(counter_is_zero());
    let leave = ig.state().pop_counter();
    let behind = ig.state().extract(inner);
    start.otherwise(group);
    group.on(1, behind);
    group.otherwise(enter);
    enter.otherwise(skip);
    skip.on(1, leave);
    skip.otherwise(skip);
    leave.otherwise(group);
    ig.start(start);
    ig.deparser().emit(groups).emit(inner);
}

#[test]
fn a_linked_counter_changes_with_the_one_above() {
    let program = program(linked);
    let placement = place(&program, &ChipSpec::tofino2()).unwrap();
    let cases = [(0u8, 3u8), (3, 3), (6, 2), (12, 6), (4, 1)];
    let packet = |(count, size): &(u8, u8)| {
        let skipped: Vec<u8> = (0..*count).collect();
        frame(&[&[*count, *size], skipped.as_slice(), &[0xaa, 0xbb]].concat())
    };
    let frames: Vec<Vec<u8>> = cases.iter().map(packet).collect();
    let ran = crate::registers::bench::agree(&program, &placement, &frames);
    for ((count, size), (_, bytes)) in cases.iter().zip(&ran.packets) {
        assert_eq!(*bytes, frame(&[*count, *size, 0xaa, 0xbb]));
    }
}

/// A byte ahead says how many words of four bytes follow, in units of two bytes; none of them is kept.
#[stage_program]
fn words(ig: &GressBuilder<'_>) {
    let inner = ig.header::<Inner>();
    // Rotated by one bit to the right, the byte counts words.
    let how = CounterFrom { max: 8, rotate: 1, mask: 6, add: 0 };
    let start = ig.state().set_counter_ahead(8, how).advance(2).select(counter_is_zero());
    let word = ig.state().advance(4).add_counter(-1).select(counter_is_zero());
    let behind = ig.state().extract(inner);
    start.on(1, behind);
    start.otherwise(word);
    word.on(1, behind);
    word.otherwise(word);
    ig.start(start);
    ig.deparser().emit(inner);
}

#[test]
fn the_counter_is_loaded_from_a_byte_ahead() {
    let program = program(words);
    let packet =
        |units: u8| [vec![7, units], vec![0; 2 * usize::from(units)], vec![0xab, 0xcd, units]].concat();
    let found = run(&program, &[packet(0), packet(2), packet(8), packet(10), vec![7]]);
    let rest = |units| Ok(vec![0xab, 0xcd, units]);
    assert_eq!(found, [rest(0), rest(2), rest(8), Err(0x004), Err(0x002)]);
}
