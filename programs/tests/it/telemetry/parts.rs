//! Resources of each part on each chip: the table of the handbook.

use crate::placed::place;
use crate::telemetry::node::chips;
use expect_test::expect_file;
use sluice_place::report::Report;
use sluice_programs::catalogue;
use sluice_report as report;
use std::fmt::Write;

/// Program, parameters, and whether it fits Tofino 2 and Tofino.
const ROWS: [(&str, &str, [bool; 2]); 19] = [
    ("hpcc-int", "", [true, true]),
    ("hpcc-int", "layout=ns3", [true, true]),
    ("int", "", [true, false]),
    ("int", "role=source", [true, false]),
    ("int", "role=transit", [true, false]),
    ("int", "role=sink", [true, false]),
    ("int", "role=sink sink_report=ingress sink_words=14", [true, true]),
    ("int", "mode=mx carrier=new-udp", [true, false]),
    ("int", "mode=mx carrier=new-udp role=source", [true, false]),
    ("int", "mode=mx carrier=new-udp role=transit", [true, false]),
    ("int", "mode=mx carrier=new-udp role=sink", [true, false]),
    ("int", "mode=mx carrier=new-udp role=transit sink_report=ingress", [true, true]),
    ("int", "mode=mx carrier=new-udp role=sink sink_report=ingress sink_words=14", [true, true]),
    ("int", "mode=xd", [true, false]),
    ("int", "mode=xd sink_report=ingress", [true, true]),
    ("int", "mode=xd role=transit", [true, false]),
    ("int", "carrier=udp-port", [true, false]),
    ("int", "carrier=new-udp", [true, false]),
    ("int", "carrier=new-udp role=transit", [true, false]),
];

#[test]
fn resources_by_part_and_chip() {
    let mut table = String::from("stages SRAM TCAM VLIW meter ALUs gateways tables egress cycles\n");
    for (name, words, fits) in ROWS {
        let set = |word: &str| word.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned()));
        let sets: Vec<(String, String)> = words.split_whitespace().filter_map(set).collect();
        let program = catalogue().get(name).unwrap().build(&sets).unwrap();
        // Where a chip lacks a field, looking for stages as well says nothing new.
        for (chip, _) in chips().iter().zip(fits).filter(|(_, fits)| *fits) {
            let placement =
                place(&program, chip).unwrap_or_else(|e| panic!("{name} {words}, {}: {e}", chip.name));
            let report = report::json(&Report::new(&program, &placement));
            let totals = report["resources"]["totals"].as_array().unwrap();
            let used =
                |id: &str| totals.iter().find(|t| t["id"] == id).map_or(0, |t| t["used"].as_u64().unwrap());
            let columns = ["sram", "tcam", "vliw", "meter_alu", "gateway", "logical_table"].map(used);
            let (stages, cycles) =
                (&report["stages_used"]["total"], &report["latency"]["egress"]["mau_cycles"]);
            writeln!(
                table,
                "{} on {}: {stages} {columns:?} {cycles}",
                format!("{name} {words}").trim(),
                chip.name
            )
            .unwrap();
        }
    }
    expect_file!["golden/resources_by_part_and_chip.txt"].assert_eq(&table);
}
