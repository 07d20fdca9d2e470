//! Header stacks: extraction, selects on the last element, moving elements.

use crate::parsers::{Front, frame, program, run};
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_build::*;
use sluice_place::place;

/// An MPLS label
#[derive(Header)]
pub(crate) struct Mpls {
    pub(crate) label: Bits<20>,
    pub(crate) exp: Bits<3>,
    pub(crate) bos: Bits<1>,
    pub(crate) ttl: Bits<8>,
}

/// Kind 0 leaves the labels, 1 pops one, 2 pops two, 3 pushes one, 4 writes the second one's TTL.
#[stage_program]
pub(crate) fn labels(ig: &GressBuilder<'_>) {
    let front = ig.header::<Front>();
    /// The labels of the packet
    let mpls = ig.stack::<Mpls, 4>();
    let start = ig.state().extract(front).select(front.a);
    let label = ig.state().extract_next(mpls).select(mpls.last(|e| e.bos));
    start.on(1, label);
    label.on(0, label);
    ig.start(start);
    let pop_one = ig.action(|a| {
        mpls.pop_front(1);
    });
    let pop_two = ig.action(|a| {
        mpls.pop_front(2);
    });
    let push = ig.action(|a| {
        mpls.push_front(1);
    });
    let fill = ig.action(|a| {
        mpls[0].set_valid();
        mpls[0].label = 0x12345;
        mpls[0].exp = 0;
        mpls[0].bos = 0;
        mpls[0].ttl = 64;
    });
    ig.control(|c| match front.kind {
        1 => pop_one.call(),
        2 => pop_two.call(),
        3 => {
            push.call();
            fill.call();
        }
        _ => {
            if mpls[1].is_valid() && front.kind == 4 {
                mpls[1].ttl = 9;
            }
        }
    });
    ig.deparser().emit(front).emit(mpls);
}

fn label(value: u32, bottom: bool, ttl: u8) -> Vec<u8> {
    (value << 12 | u32::from(bottom) << 8 | u32::from(ttl)).to_be_bytes().to_vec()
}

fn packet(kind: u8, labels: &[Vec<u8>]) -> Vec<u8> {
    let front = vec![kind, u8::from(!labels.is_empty()), 0, 0, 0, 0, 0, 0];
    frame(&[front, labels.concat()].concat())
}

#[test]
fn labels_are_extracted_popped_and_pushed() {
    let program = program(labels);
    let three = [label(1, false, 10), label(2, false, 20), label(3, true, 30)];
    let out = run(&program, &[0, 1, 2, 3, 4].map(|kind| packet(kind, &three)));
    assert_eq!(out[0], Ok(packet(0, &three)));
    assert_eq!(out[1], Ok(packet(1, &three[1..])));
    assert_eq!(out[2], Ok(packet(2, &three[2..])));
    let pushed = [&[label(0x12345, false, 64)], &three[..]].concat();
    assert_eq!(out[3], Ok(packet(3, &pushed)));
    let changed = [label(1, false, 10), label(2, false, 9), label(3, true, 30)];
    assert_eq!(out[4], Ok(packet(4, &changed)));
}

#[test]
fn a_full_stack_loses_its_last_element_by_a_push() {
    let program = program(labels);
    let four: Vec<Vec<u8>> = (0..4).map(|i| label(i, i == 3, i as u8)).collect();
    let out = run(&program, &[packet(3, &four), packet(2, &[label(7, true, 1)]), packet(1, &[])]);
    let pushed = [&[label(0x12345, false, 64)], &four[..3]].concat();
    assert_eq!(out[0], Ok(packet(3, &pushed)));
    // More is popped than there is. The front still says that labels follow, because no action has changed it.
    let none = frame(&[2, 1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(out[1], Ok(none));
    assert_eq!(out[2], Ok(packet(1, &[])));
}

#[test]
fn one_element_too_many_is_no_match() {
    let program = program(labels);
    let five: Vec<Vec<u8>> = (0..5).map(|i| label(i, i == 4, 1)).collect();
    let unfinished = [label(1, false, 1)];
    let mut short = packet(0, &unfinished);
    short.truncate(14);
    assert_eq!(run(&program, &[packet(0, &five), short]), [Err(0x001), Err(0x002)]);
}

#[test]
fn each_element_has_rows_of_its_own() {
    let program = program(labels);
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let placement = place(&program, &chip).unwrap();
        let placed = &placement.gress(Gress::Ingress).parser;
        let list = sluice_place::parser::paths(&program, Gress::Ingress, placed);
        // No label, one to four, and one too many.
        assert_eq!(list.list.len(), 6);
        assert!(placed.rows >= 4 * 2, "{}", placed.rows);
    }
}

#[test]
fn broken_placements_are_found() {
    let program = program(labels);
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let good = place(&program, &chip).unwrap();
        let says = |words: &str, broken: &sluice_place::Placement| {
            let diags = sluice_place::verify(&program, broken);
            assert!(diags.iter().any(|d| d.text.contains(words)), "{words}: {diags:#?}");
        };
        let mut broken = good.clone();
        let copy = broken.gresses[0].parser.states.iter().position(|s| s.extracted == [2]).unwrap();
        broken.gresses[0].parser.states.remove(copy);
        says("no rows after [2] elements", &broken);
        // Two elements' validity bits exchanged: one rotation does not move them all.
        let mut broken = good.clone();
        let [first, second, ..] = program.stacks.values().next().unwrap().headers[..] else { panic!() };
        let bit = broken.phv.valid[first];
        broken.phv.valid[first] = broken.phv.valid[second];
        broken.phv.valid[second] = bit;
        says("moves validity bits", &broken);
    }
}
