//! Resources that the programs take on both chips.

use crate::lossless::bench::chips;
use crate::placed::place;
use expect_test::expect_file;
use sluice_place::report::Report;
use sluice_programs::catalogue;
use sluice_report as report;

#[test]
fn reports_of_the_defaults() {
    for chip in chips() {
        for (name, sets) in [("ecn-mark", None), ("pfc", (chip.name == "tofino").then_some("false"))] {
            let sets: Vec<(String, String)> =
                sets.map(|v| ("obey".to_owned(), v.to_owned())).into_iter().collect();
            let program = catalogue().get(name).unwrap().build(&sets).unwrap();
            let placement = place(&program, &chip).unwrap();
            expect_file![format!("golden/{name}_{}.txt", chip.name)]
                .assert_eq(&report::text(&Report::new(&program, &placement)));
        }
    }
}

#[test]
fn tofino_says_what_it_lacks() {
    let program = catalogue().get("pfc").unwrap().build(&[]).unwrap();
    let no_fit = place(&program, &chips()[1]).unwrap_err().to_string();
    assert!(no_fit.contains("`dprsr.adv_flow_ctl` is used, which tofino does not have"), "{no_fit}");
}
