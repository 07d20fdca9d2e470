//! Random bytes through every parser of these tests: both engines agree on both chips.

use crate::bench::{agree, placed};
use crate::{counter, program, stacks};
use proptest::prelude::*;
use sluice_asic::chip::ChipSpec;
use sluice_pipeline::ir::Program;
use sluice_pipeline::place::Placement;
use std::sync::OnceLock;

fn worlds() -> &'static [(Program, Placement)] {
    static WORLDS: OnceLock<Vec<(Program, Placement)>> = OnceLock::new();
    WORLDS.get_or_init(|| {
        let programs = [program(counter::options), program(stacks::labels)];
        let chips = [ChipSpec::tofino(), ChipSpec::tofino2()];
        let all = programs.iter().flat_map(|p| chips.iter().map(move |c| (p, c)));
        all.map(|(p, chip)| (p.clone(), placed(p, chip))).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn engines_agree(
        frames in proptest::collection::vec(proptest::collection::vec(prop_oneof![3 => 0..5u8, 1 => any::<u8>()], 0..64), 1..70),
        world in 0..4usize,
    ) {
        let (program, placement) = &worlds()[world];
        agree(program, placement, &frames);
    }
}
