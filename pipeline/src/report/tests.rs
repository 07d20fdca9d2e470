//! The report of sample programs: golden text, the JSON contract, agreement of both.

use super::{Report, json, json_no_fit, text, text_no_fit};
use crate::place::{place, samples};
use sluice_asic::chip::{ChipSpec, Column};

const KEYS: [&str; 14] = [
    "arrays",
    "assumptions",
    "chip",
    "fits",
    "latency",
    "params",
    "parser",
    "phv",
    "program",
    "reason",
    "resources",
    "schema",
    "stages_used",
    "tables",
];

fn report(routes: u32, chip: &ChipSpec) -> Report {
    let program = samples::l3(routes);
    Report::new(&program, &place(&program, chip).unwrap())
}

#[test]
fn golden_text_of_l3_on_both_chips() {
    insta::assert_snapshot!("l3_tofino", text(&report(12_000, &ChipSpec::tofino())));
    insta::assert_snapshot!("l3_tofino2_100k_routes", text(&report(100_000, &ChipSpec::tofino2())));
}

#[test]
fn golden_text_of_a_program_too_big() {
    let program = samples::l3(2_000_000);
    let no_fit = place(&program, &ChipSpec::tofino()).unwrap_err();
    insta::assert_snapshot!("l3_does_not_fit", text_no_fit(&no_fit));
}

#[test]
fn the_matrix_fits_a_wide_terminal() {
    let report = report(100_000, &ChipSpec::tofino2());
    let text = text(&report);
    let matrix: Vec<&str> = text.lines().take_while(|l| !l.starts_with("What limits")).collect();
    assert!(matrix.len() > 2 * report.stages.len());
    assert!(matrix.iter().all(|l| l.chars().count() <= 160));
}

#[test]
fn json_has_every_key_of_the_contract() {
    let chip = ChipSpec::tofino2();
    let value = json(&report(4096, &chip));
    let keys: Vec<&String> = value.as_object().unwrap().keys().collect();
    let mut sorted = keys.clone();
    sorted.sort();
    assert_eq!(sorted, KEYS);
    assert_eq!(value["schema"], "sluice.report/1");
    assert_eq!(value["fits"], true);
    assert!(value["reason"].is_null());
    assert_eq!(value["stages_used"]["total"], 3);
    assert_eq!(value["resources"]["columns"].as_array().unwrap().len(), 20);
    assert_eq!(value["resources"]["stages"].as_array().unwrap().len(), 20);
    assert_eq!(value["resources"]["stages"][0]["used"]["tcam"], 8);
    assert!(
        value["latency"]["ingress"]["parser_cycles"][0]["path"]
            .as_str()
            .unwrap()
            .starts_with("parse_ethernet")
    );
    assert!(value["latency"]["total_ns"].as_u64().unwrap() > 0);
    for total in value["resources"]["totals"].as_array().unwrap() {
        let (used, available) = (total["used"].as_f64().unwrap(), total["available"].as_f64().unwrap());
        let percent = total["percent"].as_f64().unwrap();
        assert!((percent - 100.0 * used / available).abs() <= 0.005 + 1e-9, "{total}");
    }
    assert!(!value["assumptions"].as_array().unwrap().is_empty());
}

#[test]
fn json_of_a_program_too_big_has_the_same_keys() {
    let program = samples::one_ternary(2_000_000);
    let no_fit = place(&program, &ChipSpec::tofino()).unwrap_err();
    let value = json_no_fit(&program, &no_fit);
    let mut keys: Vec<&String> = value.as_object().unwrap().keys().collect();
    keys.sort();
    assert_eq!(keys, KEYS);
    assert_eq!(value["fits"], false);
    assert!(value["reason"].as_str().unwrap().contains("tcam"), "{}", value["reason"]);
    for key in ["stages_used", "latency", "resources", "phv", "parser"] {
        assert!(value[key].is_null(), "{key}");
    }
}

#[test]
fn totals_are_sums_of_stages_and_within_the_chip() {
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let report = report(12_000, &chip);
        for column in Column::ALL {
            let i = column.index();
            assert_eq!(report.totals[i], report.stages.iter().map(|s| s.used[i]).sum::<u32>());
            assert!(report.stages.iter().all(|s| s.used[i] <= report.available[i]), "{column}");
        }
        assert!(report.totals[Column::Slots16.index()] > 0, "slots are counted");
    }
}
