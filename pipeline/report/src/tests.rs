//! The report of sample programs: golden text, the JSON contract, agreement of both.

use super::{Document, compare, html, json, resources_log, short, table_summary, text, text_no_fit};
use expect_test::expect_file;
use sluice_asic::chip::{ChipSpec, Column};
use sluice_place::place;
use sluice_place::report::Report;
use sluice_samples::sketch as samples;

const KEYS: [&str; 25] = [
    "arrays",
    "assumptions",
    "chip",
    "containers",
    "demands",
    "deparser",
    "dependencies",
    "fits",
    "latency",
    "next_tables",
    "notes",
    "objective",
    "params",
    "parser",
    "phv",
    "power",
    "program",
    "reason",
    "remedies",
    "resources",
    "schema",
    "stages_used",
    "tables",
    "units",
    "without",
];

fn report(routes: u32, chip: &ChipSpec) -> Report {
    let program = samples::l3(routes);
    Report::new(&program, &place(&program, chip).unwrap())
}

#[test]
fn golden_text_of_l3_on_both_chips() {
    expect_file!["golden/l3_tofino.txt"].assert_eq(&text(&report(12_000, &ChipSpec::tofino())));
    expect_file!["golden/l3_tofino2_100k_routes.txt"]
        .assert_eq(&text(&report(100_000, &ChipSpec::tofino2())));
}

#[test]
fn golden_text_of_a_program_too_big() {
    let program = samples::l3(2_000_000);
    let no_fit = place(&program, &ChipSpec::tofino()).unwrap_err();
    expect_file!["golden/l3_does_not_fit.txt"].assert_eq(&text_no_fit(&no_fit));
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
    let parser = &value["parser"]["ingress"];
    assert_eq!((&parser["depth"], &parser["depth_available"]), (&34.into(), &16368.into()));
    let rows: u64 = parser["states"].as_array().unwrap().iter().map(|s| s["rows"].as_u64().unwrap()).sum();
    // The rows of the intrinsic metadata come before those of the states.
    assert_eq!(parser["rows"].as_u64().unwrap(), rows + 1);
    let deparser = &value["deparser"]["egress"];
    assert_eq!(deparser["header_bytes"]["used"], 14);
    assert_eq!(deparser["dictionary_entries"]["available"], 128);
}

#[test]
fn json_of_a_program_too_big_has_the_same_keys() {
    let program = samples::one_ternary(2_000_000);
    let no_fit = place(&program, &ChipSpec::tofino()).unwrap_err();
    let value = serde_json::json!(Document::no_fit(&program, &no_fit));
    let mut keys: Vec<&String> = value.as_object().unwrap().keys().collect();
    keys.sort();
    assert_eq!(keys, KEYS);
    assert_eq!(value["fits"], false);
    assert!(value["reason"].as_str().unwrap().contains("tcam"), "{}", value["reason"]);
    for key in ["stages_used", "latency", "resources", "phv", "parser", "deparser", "next_tables"] {
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

#[test]
fn totals_are_the_distinct_units_of_the_json() {
    let value = json(&report(100_000, &ChipSpec::tofino2()));
    for total in value["resources"]["totals"].as_array().unwrap() {
        let column = &total["id"];
        let units = value["units"].as_array().unwrap().iter().filter(|u| &u["column"] == column);
        // Both colours of an instruction row count once.
        let colours = column == "vliw";
        let distinct: std::collections::BTreeSet<(u64, u64, u64)> = units
            .map(|u| {
                let number = |key: &str| u[key].as_u64().unwrap();
                (number("stage"), number("row"), if colours { 0 } else { number("col") })
            })
            .collect();
        assert_eq!(total["used"], distinct.len(), "{column}");
    }
}

#[test]
fn stage_cycles_add_up_to_the_gress() {
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let report = report(12_000, &chip);
        for (gress, stages) in report.gresses.iter().zip(&report.detail.stages) {
            let sum: u64 = stages.iter().map(|s| s.contribution.0).sum();
            assert_eq!(u64::from(gress.mau_cycles), sum + u64::from(chip.latency.corner_turn));
        }
    }
}

#[test]
fn the_short_report_fits_the_terminal() {
    let report = report(12_000, &ChipSpec::tofino());
    let table = |width: Option<usize>| -> Vec<String> {
        let text = short(&report, width);
        let lines =
            text.lines().skip_while(|line| !line.starts_with("STAGE")).take_while(|line| !line.is_empty());
        lines.map(str::to_owned).collect()
    };
    let whole = table(None);
    assert_eq!(table(Some(1_000)), whole);
    for width in [60, 80, 100] {
        let lines = table(Some(width));
        assert_eq!(lines.len(), whole.len());
        assert!(lines.iter().all(|line| line.chars().count() <= width), "{width}: {lines:#?}");
    }
    assert!(whole[0].contains("NEXT") && !table(Some(60))[0].contains("NEXT"));
}

#[test]
fn the_page_needs_nothing_else_and_names_everything() {
    let report = report(12_000, &ChipSpec::tofino());
    let page = html(&report);
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>"));
    for outside in ["http:", "https:", "<link", "src=", "@import"] {
        assert!(!page.contains(outside), "{outside}");
    }
    for table in &report.tables {
        assert!(page.contains(&table.name), "{}", table.name);
    }
    for container in &report.detail.containers {
        assert!(page.contains(&format!("<b>{}</b>", container.name)), "{}", container.name);
    }
    // Every element has an end.
    for element in ["section", "table", "tr", "svg", "details", "g"] {
        let begun =
            page.matches(&format!("<{element}>")).count() + page.matches(&format!("<{element} ")).count();
        assert_eq!(begun, page.matches(&format!("</{element}>")).count(), "{element}");
    }
}

#[test]
fn golden_vendor_layout() {
    let report = report(12_000, &ChipSpec::tofino());
    expect_file!["golden/l3_mau_resources_log.txt"].assert_eq(&resources_log(&report));
    expect_file!["golden/l3_table_summary_log.txt"].assert_eq(&table_summary(&report));
}

#[test]
fn a_report_compared_with_itself_has_no_difference() {
    let (small, large) = (report(12_000, &ChipSpec::tofino()), report(30_000, &ChipSpec::tofino()));
    let same = compare(["a".into(), "b".into()], [&small, &small]);
    assert!(same.rows.iter().all(|r| r.values[0] == r.values[1]));
    let grown = compare(["a".into(), "b".into()], [&small, &large]);
    let tcam = grown.rows.iter().find(|r| r.what == "TCAM").unwrap();
    assert!(tcam.values[0] < tcam.values[1] && grown.text().contains("TCAM"));
}

/// The sums of the power model, by hand, for a program of a ternary table followed by an exact one.
#[test]
fn power_adds_up_table_by_table() {
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let program = samples::l3(1000);
        let placement = place(&program, &chip).unwrap();
        let report = Report::new(&program, &placement);
        let p = &report.power;
        assert_eq!(p.limit, chip.power.limit);
        assert!(p.worst > 0 && p.worst < p.limit, "{p:?}");
        // Every search of a TCAM block counts.
        let filter = p.tables.iter().find(|t| t.name == "port_filter").unwrap();
        let table = report.tables.iter().find(|t| t.name == "port_filter").unwrap();
        assert!(filter.nanowatts >= u64::from(table.tcams) * chip.power.tcam_search, "{filter:?}");
        // The path is made of tables that take something, and takes no more than all of them.
        assert!(p.path.iter().all(|n| p.tables.iter().any(|t| t.name == *n)));
        let sum = |list: &[String]| -> u64 {
            p.tables.iter().filter(|t| list.contains(&t.name)).map(|t| t.nanowatts).sum()
        };
        assert_eq!(p.worst, sum(&p.path));
        let all: Vec<String> = p.tables.iter().map(|t| t.name.clone()).collect();
        assert!(p.worst <= sum(&all));
    }
}
