//! What the programs take of both chips.

use crate::world::sets;
use sluice_asic::chip::ChipSpec;
use sluice_pipeline::place::place;
use sluice_pipeline::report::{self, Report};
use sluice_programs::by_name;

#[test]
fn reports_of_the_defaults() {
    for chip in [ChipSpec::tofino2(), ChipSpec::tofino()] {
        for name in ["ecmp", "wcmp"] {
            let program = by_name(name).unwrap().build(&[]).unwrap();
            let placement = place(&program, &chip).unwrap();
            insta::assert_snapshot!(
                format!("{name}_{}", chip.name),
                report::text(&Report::new(&program, &placement))
            );
        }
    }
}

#[test]
fn member_tables_that_are_too_large_do_not_fit() {
    let program = by_name("ecmp").unwrap().build(&sets(&["groups=65535", "routes=1000000"])).unwrap();
    for chip in [ChipSpec::tofino2(), ChipSpec::tofino()] {
        let no_fit = place(&program, &chip).unwrap_err();
        assert!(!no_fit.to_string().is_empty());
    }
}
