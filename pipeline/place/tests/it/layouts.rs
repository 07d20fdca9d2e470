//! Random layouts of TCAM blocks: the verifier accepts a layout exactly if it is legal.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use sluice_asic::chip::{ChipSpec, Column};
use sluice_ir::{MatchKind, Program};
use sluice_place::{Placement, Purpose, place, verify};
use sluice_samples::sketch::Sketch;
use std::collections::BTreeSet;

/// Returns a ternary table of two blocks' entries whose key of eight bytes takes two blocks side by side.
fn program() -> Program {
    let mut s = Sketch::new("layout");
    let (header, f) = s.header("h", &[("a", 32), ("b", 32)]);
    s.state("parse_h", header, &[], vec![]);
    let nop = s.action("nop", &[], vec![]);
    let key = [(f[0], MatchKind::Ternary), (f[1], MatchKind::Ternary)];
    let table = s.table("acl", &key, &[nop], 1024);
    let block = vec![s.apply(table)];
    s.control(block);
    s.program
}

/// Moves the table's four blocks to these rows and columns, in order of words 0, 1, 0, 1.
fn moved(placement: &Placement, at: &[(u16, u16); 4]) -> Placement {
    let mut moved = placement.clone();
    let blocks = moved.units.iter_mut().filter(|u| u.unit.column == Column::Tcam);
    for (n, (block, at)) in blocks.zip(at).enumerate() {
        (block.unit.row, block.unit.col) = *at;
        block.purpose = Purpose::KeyWord(n as u16 % 2);
    }
    moved.units.sort_by_key(|u| (u.unit, u.owner));
    moved
}

/// Returns true if no place is used twice, all are among the 12 x 2 of the chip, and each word 0 has a word 1 in the next
/// row.
fn legal(at: &[(u16, u16); 4]) -> bool {
    let places: BTreeSet<_> = at.iter().collect();
    let firsts = BTreeSet::from([at[0], at[2]]);
    let seconds = BTreeSet::from([at[1], at[3]]);
    let next: BTreeSet<_> = firsts.iter().map(|(row, col)| (row + 1, *col)).collect();
    places.len() == 4 && at.iter().all(|(row, col)| *row < 12 && *col < 2) && next == seconds
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 256, rng_seed: RngSeed::Fixed(26), failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn the_verifier_accepts_exactly_the_legal_layouts_of_tcam_blocks(
        first in (0_u16..12, 0_u16..2),
        second in (0_u16..12, 0_u16..2),
        change in prop::option::of((0_usize..4, 0_u16..13, 0_u16..3)),
    ) {
        let program = program();
        let placement = place(&program, &ChipSpec::tofino2()).unwrap();
        prop_assert_eq!(placement.units.iter().filter(|u| u.unit.column == Column::Tcam).count(), 4);
        let next = |(row, col): (u16, u16)| (row + 1, col);
        let mut at = [first, next(first), second, next(second)];
        if let Some((which, row, col)) = change {
            at[which] = (row, col);
        }
        let findings = verify(&program, &moved(&placement, &at));
        prop_assert_eq!(findings.is_empty(), legal(&at), "{:?}: {:?}", at, findings);
    }
}
