//! The shipped programs on the chips.

use crate::placed::place;
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_ir::cfg::{Cfg, Outcome};
use sluice_place::NoFit;
use sluice_programs::catalogue;
use sluice_report as report;

fn chips() -> [ChipSpec; 2] {
    [ChipSpec::tofino2(), ChipSpec::tofino()]
}

/// Returns whether `l3-ecmp` with these parameters fits a chip.
fn fit(params: &[(&str, &str)], chip: &ChipSpec) -> Result<(), NoFit> {
    let sets: Vec<(String, String)> = params.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
    place(&catalogue().get("l3-ecmp").unwrap().build(&sets).unwrap(), chip).map(|_| ())
}

/// Returns the feature that a program needs and a chip lacks.
fn misses(program: &str, chip: &str) -> Option<&'static str> {
    match (program, chip) {
        ("pfc", "tofino") => Some("`dprsr.adv_flow_ctl` is used, which tofino does not have"),
        // Tofino cannot mirror a packet as it entered egress.
        ("conweave", "tofino") => Some("needs 3 comparisons; a stateful ALU of this chip has 2"),
        ("int", "tofino") => Some("mirror_io_select"),
        ("drill", "tofino") => Some("the program has a ghost control, which tofino does not run"),
        _ => None,
    }
}

#[test]
fn every_program_fits_both_chips_with_its_defaults_or_says_what_is_missing() {
    for shipped in catalogue().programs() {
        let program = shipped.build(&[]).unwrap();
        for chip in chips() {
            match (place(&program, &chip), misses(shipped.name(), &chip.name)) {
                (Ok(placement), None) => {
                    let findings = sluice_place::verify(&program, &placement);
                    assert!(findings.is_empty(), "{} on {}: {findings:#?}", shipped.name(), chip.name);
                }
                (Err(no_fit), Some(why)) => assert!(no_fit.to_string().contains(why), "{no_fit}"),
                (Err(no_fit), None) => panic!("{} on {}: {no_fit}", shipped.name(), chip.name),
                (Ok(_), Some(why)) => panic!("{} fits {}, which lacks {why}", shipped.name(), chip.name),
            }
        }
    }
}

/// Two decisions that a node cannot make together: a packet runs one action of a table, and its lookup hits or misses.
fn contrary(a: Outcome, b: Outcome) -> bool {
    use Outcome::{Else, Hit, Miss, Ran, Then};
    match (a, b) {
        (Then, Else) | (Else, Then) | (Hit, Miss) | (Miss, Hit) => true,
        (Ran(a), Ran(b)) => a != b,
        _ => false,
    }
}

#[test]
fn nodes_exclude_each_other_where_a_node_above_both_decided_differently() {
    let mut found = [0, 0];
    for program in catalogue().programs().iter().map(|p| p.build(&[]).unwrap()) {
        for cfg in Gress::ALL.map(|g| Cfg::of(&program, g)) {
            let above = |n| cfg.outcomes(cfg.nodes[n].pred);
            for (a, b) in cfg.nodes.keys().flat_map(|a| cfg.nodes.keys().map(move |b| (a, b))) {
                let decided = |(n, x): &(_, _)| above(b).iter().any(|(m, y)| n == m && contrary(*x, *y));
                let apart = cfg.is_ghost(a) != cfg.is_ghost(b) || above(a).iter().any(decided);
                assert_eq!(cfg.exclusive(a, b), apart, "{}: {a:?} {b:?}", program.name);
                found[usize::from(apart)] += 1;
            }
        }
    }
    assert!(found.iter().all(|n| *n > 1_000), "{found:?}");
}

#[test]
fn hash_parameters_cost_no_chip_the_program() {
    for chip in chips() {
        for params in [
            &[("selection", "resilient")][..],
            &[("hash_fields_v4", "vlan,ingress_port,ttl"), ("hash_width", "32")],
            &[("hash_seed_style", "prefix"), ("hash_seed", "7"), ("hash_width", "16"), ("hash_rotate", "8")],
        ] {
            if let Err(no_fit) = fit(params, &chip) {
                panic!("{params:?}: {no_fit}");
            }
        }
    }
}

#[test]
fn tcam_limits_the_routes() {
    let [tofino2, tofino] = chips();
    assert_eq!(fit(&[("ipv4_routes", "100000")], &tofino2), Ok(()));
    for (routes, chip) in [("400000", &tofino2), ("100000", &tofino)] {
        let no_fit = fit(&[("ipv4_routes", routes)], chip).unwrap_err();
        assert!(no_fit.to_string().to_lowercase().contains("tcam"), "{no_fit}");
    }
}

#[test]
fn plain_modulo_is_placed_and_marked_as_not_on_the_chip() {
    for chip in chips() {
        let sets = [("selection".to_owned(), "plain-modulo".to_owned())];
        let program = catalogue().get("l3-ecmp").unwrap().build(&sets).unwrap();
        let placement = place(&program, &chip).unwrap();
        let text = report::text(&sluice_place::report::Report::new(&program, &placement));
        assert!(text.contains("selects by plain modulo, which no chip has"), "{text}");
    }
}

#[test]
fn a_kept_placement_is_the_one_that_placing_finds() {
    let program = catalogue().get("ecmp").unwrap().build(&[]).unwrap();
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let found = sluice_place::place(&program, &chip);
        assert_eq!(place(&program, &chip), found);
        assert_eq!(place(&program, &chip), found);
    }
}
