//! Resources that the programs take on both chips.

use crate::balance::world::sets;
use crate::placed::place;
use expect_test::expect_file;
use sluice_asic::chip::ChipSpec;
use sluice_asic::port::PortMap;
use sluice_control::ControlOp;
use sluice_place::report::Report;
use sluice_programs::catalogue;
use sluice_report as report;

#[test]
fn reports_of_the_defaults() {
    for chip in [ChipSpec::tofino2(), ChipSpec::tofino()] {
        for name in ["ecmp", "wcmp"] {
            let program = catalogue().get(name).unwrap().build(&[]).unwrap();
            let placement = place(&program, &chip).unwrap();
            expect_file![format!("golden/{name}_{}.txt", chip.name)]
                .assert_eq(&report::text(&Report::new(&program, &placement)));
        }
    }
}

#[test]
fn member_tables_that_are_too_large_do_not_fit() {
    let program = catalogue().get("ecmp").unwrap().build(&sets(&["groups=65535", "routes=1000000"])).unwrap();
    for chip in [ChipSpec::tofino2(), ChipSpec::tofino()] {
        let no_fit = place(&program, &chip).unwrap_err();
        assert!(!no_fit.to_string().is_empty());
    }
}

/// Rows of the handbook's table: label, program, parameters.
const ROWS: [(&str, &str, &[&str]); 13] = [
    ("`plain`", "ecmp", &["scheme=plain"]),
    ("`ttl`, of the extern", "ecmp", &["scheme=ttl", "functions=crc_16"]),
    ("`per-stage`", "ecmp", &["scheme=per-stage", "seed=1"]),
    ("`per-port`", "ecmp", &["scheme=per-port"]),
    ("`recombine`", "ecmp", &["scheme=recombine"]),
    ("`coprime`", "ecmp", &["scheme=coprime"]),
    ("`coprime`, `selection=fair`", "ecmp", &["scheme=coprime", "selection=fair"]),
    ("`plain`, `functions=crc32_hi`", "ecmp", &["scheme=plain", "functions=crc32_hi"]),
    ("`plain`, `functions=crc16_xor8`", "ecmp", &["scheme=plain", "functions=crc16_xor8"]),
    ("`plain`, `functions=crc16_xor1`", "ecmp", &["scheme=plain", "functions=crc16_xor1"]),
    ("`wcmp`, `naive`", "wcmp", &["method=naive"]),
    ("`wcmp`, `split`", "wcmp", &["method=split"]),
    ("`wcmp`, `largest-remainder`", "wcmp", &["method=largest-remainder"]),
];

/// Ids of the report's columns in the table.
const COLUMNS: [&str; 8] =
    ["exact_xbar", "hash_bit", "hash_dist", "sram", "map_ram", "tcam", "vliw", "meter_alu"];

/// Returns the table's line for a program on a chip.
fn line(said: &str, name: &str, params: &[&str], chip: &ChipSpec) -> String {
    let catalogue = catalogue();
    let stage = catalogue.get(name).unwrap();
    let program = stage.build(&sets(params)).unwrap();
    let placement = place(&program, chip).unwrap();
    let json = report::json(&Report::new(&program, &placement));
    let used = |id: &str| {
        let totals = json["resources"]["totals"].as_array().unwrap();
        totals.iter().find(|t| t["id"] == id).unwrap()["used"].to_string()
    };
    let ports = PortMap::default_for(chip).unwrap();
    let setup = stage.default_setup(&program, &ports).unwrap();
    let members = setup.ops.iter().filter(|op| matches!(op, ControlOp::SetMember { .. })).count();
    let columns: Vec<String> = COLUMNS.map(used).into();
    let (stages, ns) = (&json["stages_used"]["total"], &json["latency"]["total_ns"]);
    format!("| {said} | {} | {stages} | {} | {ns} ns | {members} |\n", chip.name, columns.join(" | "))
}

#[test]
fn what_each_scheme_takes() {
    let mut table = format!("| scheme | chip | stages | {} | latency | members |\n", COLUMNS.join(" | "));
    table.push_str(&"|---".repeat(COLUMNS.len() + 5));
    table.push_str("|\n");
    for (said, name, params) in ROWS {
        for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
            table.push_str(&line(said, name, params, &chip));
        }
    }
    expect_file!["golden/schemes.txt"].assert_eq(&table);
}
