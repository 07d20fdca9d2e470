//! The program on Tofino 2, in both builds.

use sluice_asic::chip::ChipSpec;
use sluice_pipeline::ir::Program;
use sluice_pipeline::place::{self, place};
use sluice_pipeline::{report, verify};
use sluice_programs::by_name;

fn program(sets: &[(&str, &str)]) -> Program {
    let sets: Vec<(String, String)> = sets.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
    by_name("conweave").unwrap().build(&sets).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn both_builds_fit_tofino2() {
    let mut chip = ChipSpec::tofino2();
    if let Ok(n) = std::env::var("STAGES") { chip.mau.stages = n.parse().unwrap(); }
    for build in ["full", "published"] {
        let program = program(&[("build", build)]);
        let findings = verify::for_chip(&program, &chip);
        assert!(findings.is_empty(), "{build}: {findings:#?}");
        let placement = place(&program, &chip).unwrap_or_else(|e| panic!("{build}: {e}\n{e:?}"));
        println!("{}", report::text(&report::Report::new(&program, &placement)));
        let findings = place::verify(&program, &placement);
        assert!(findings.is_empty(), "{build}: {findings:#?}");
    }
}
