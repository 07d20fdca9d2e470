//! What the programs take of both chips, and what they refuse.

use crate::world::sets;
use sluice_asic::chip::ChipSpec;
use sluice_pipeline::place::{self, place};
use sluice_pipeline::text;
use sluice_programs::by_name;

const VARIANTS: [(&str, &[&str]); 7] = [
    ("letflow", &[]),
    ("letflow", &["detect=split"]),
    ("letflow", &["detect=age", "flowlets=8192"]),
    ("spray", &[]),
    ("drb", &[]),
    ("drb", &["turns=flow"]),
    ("presto", &[]),
];

#[test]
fn every_variant_fits_both_chips_and_prints_back() {
    for (name, params) in VARIANTS {
        let program = by_name(name).unwrap().build(&sets(params)).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(text::parse(&text::print(&program)).as_ref(), Ok(&program), "{name} {params:?}");
        for chip in [ChipSpec::tofino2(), ChipSpec::tofino()] {
            let placement = place(&program, &chip)
                .unwrap_or_else(|e| panic!("{name} {params:?} on {}: {}", chip.name, e.reason()));
            let findings = place::verify(&program, &placement);
            assert!(findings.is_empty(), "{name} {params:?} on {}: {findings:#?}", chip.name);
        }
    }
}
