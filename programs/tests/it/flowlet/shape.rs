//! Resources that the programs take on both chips, and parameters that they refuse.

use crate::flowlet::world::sets;
use crate::placed::place;
use expect_test::expect_file;
use sluice_asic::chip::{ChipSpec, Column};
use sluice_ir::text;
use sluice_place::report::Report;
use sluice_place::verify;
use sluice_programs::catalogue;

const VARIANTS: [(&str, &[&str]); 20] = [
    ("letflow", &[]),
    ("letflow", &["detect=split"]),
    ("letflow", &["detect=age", "flowlets=8192"]),
    ("spray", &[]),
    ("drb", &[]),
    ("drb", &["turns=flow"]),
    ("presto", &[]),
    ("flare", &[]),
    ("flare", &["weights=2,1"]),
    ("drill", &[]),
    ("drill", &["samples=4"]),
    ("drill", &["samples=1", "remember=false"]),
    ("conga", &[]),
    ("conga", &["uplinks=4-11"]),
    ("conga", &["uplinks=4-8"]),
    ("conga", &["uplinks=4-6"]),
    ("conga", &["uplinks=4-5"]),
    ("conga", &["role=spine"]),
    ("hula", &[]),
    ("hula", &["refresh=false", "role=spine"]),
];

/// Returns the resource that a chip lacks for a program.
fn lacks(name: &str, params: &[&str], chip: &ChipSpec) -> Option<&'static str> {
    match (name, params, chip.features.ghost) {
        ("drill", _, false) => Some("the program has a ghost control, which tofino does not run"),
        // Ties of more than four uplinks take masks.
        ("conga", ["uplinks=4-11" | "uplinks=4-8"], false) => {
            Some("compares under a mask; this chip's comparators have none")
        }
        _ => None,
    }
}

#[test]
fn every_variant_fits_both_chips_and_prints_back() {
    for (name, params) in VARIANTS {
        let program = catalogue().get(name).unwrap().build(&sets(params)).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(text::parse(&text::print(&program)).as_ref(), Ok(&program), "{name} {params:?}");
        for chip in [ChipSpec::tofino2(), ChipSpec::tofino()] {
            if let Some(lacks) = lacks(name, params, &chip) {
                let why = place(&program, &chip).unwrap_err().reason();
                assert!(why.contains(lacks), "{why}");
                continue;
            }
            let placement = place(&program, &chip)
                .unwrap_or_else(|e| panic!("{name} {params:?} on {}: {}", chip.name, e.reason()));
            let findings = verify(&program, &placement);
            assert!(findings.is_empty(), "{name} {params:?} on {}: {findings:#?}", chip.name);
        }
    }
}

#[test]
fn parameters_that_do_not_go_together_are_refused() {
    let said = |name: &str, params: &[&str]| {
        catalogue().get(name).unwrap().build(&sets(params)).unwrap_err().to_string()
    };
    assert!(said("letflow", &["flowlets=1000"]).contains("the next is 1024"));
    assert!(said("letflow", &["timeout=100ns"]).contains("stamps in units of 256ns"));
    assert!(said("letflow", &["timeout=2s", "tick=1ns"]).contains("change tick"));
    assert!(said("letflow", &["detect=age", "flowlets=131072"]).contains("at most 65536 packets"));
    assert!(said("letflow", &["detect=guess"]).contains("none of pair, split, age"));
    assert!(said("spray", &["weights=1"]).contains("2 to 16 uplinks"));
    assert!(said("spray", &["weights=100,100"]).contains("1 to 120"));
    assert!(said("spray", &["weights=0,0,1"]).contains("first two uplinks"));
    assert!(said("presto", &["flows=100"]).contains("the next is 128"));
    assert!(said("flare", &["weights=8,1"]).contains("at most 8"));
    assert!(said("flare", &["groups=4", "visited=5"]).contains("there are 4 groups"));
}

#[test]
fn eight_paths_of_flare_fill_the_stages_of_a_tofino() {
    let program = catalogue().get("flare").unwrap().build(&sets(&["weights=1,1,1,1,1,1,1,1"])).unwrap();
    for chip in [ChipSpec::tofino2(), ChipSpec::tofino()] {
        assert!(place(&program, &chip).is_ok(), "{}", chip.name);
    }
}

#[test]
fn reports_of_the_defaults() {
    for chip in [ChipSpec::tofino2(), ChipSpec::tofino()] {
        let mut all = String::new();
        for (name, params) in VARIANTS {
            let program = catalogue().get(name).unwrap().build(&sets(params)).unwrap();
            if lacks(name, params, &chip).is_some() {
                all += &format!("{name} {params:?}: {}\n", place(&program, &chip).unwrap_err().reason());
                continue;
            }
            let report = Report::new(&program, &place(&program, &chip).unwrap());
            let used = Column::ALL.iter().map(|c| (c.id(), report.totals[c.index()])).filter(|(_, n)| *n > 0);
            let used: Vec<String> = used.map(|(name, n)| format!("{name} {n}")).collect();
            all += &format!("{name} {params:?}: {} stages; {}\n", report.stages_used(), used.join(", "));
        }
        expect_file![format!("golden/leaf_{}.txt", chip.name)].assert_eq(&all);
    }
}
