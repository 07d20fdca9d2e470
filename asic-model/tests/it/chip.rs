//! The shipped chips and custom ones: totals (model: chip §1.2), round trips, refusals.

use sluice_asic::chip::{ChipFileError, ChipSpec};
use sluice_asic::units::{Bytes, Duration};

fn chips() -> [ChipSpec; 2] {
    [ChipSpec::tofino(), ChipSpec::tofino2()]
}

#[test]
fn shipped_chips_are_possible_and_named() {
    for (chip, name) in chips().into_iter().zip(ChipSpec::NAMES) {
        assert_eq!(chip.validate(), Ok(()));
        assert_eq!(chip.name, name);
        assert_eq!(ChipSpec::from_name(name), Some(chip));
    }
    assert_eq!(ChipSpec::from_name("cloudbreak"), None);
}

#[test]
fn chip_totals_of_the_chip_page() {
    // model: chip §1.2, totals; tm §1.
    let totals = |chip: &ChipSpec| {
        let mau = &chip.mau;
        let alus = u32::try_from(mau.meter_alu_rows.len()).unwrap();
        [mau.srams(), mau.tcams(), mau.tcams() * mau.tcam_depth, alus, mau.logical_tables]
            .map(|n| n * mau.stages)
    };
    let [tofino, tofino2] = chips();
    assert_eq!(totals(&tofino), [960, 288, 147_456, 48, 192]);
    assert_eq!(totals(&tofino2), [1600, 480, 245_760, 80, 320]);
    assert_eq!((tofino.tm.buffer(), tofino2.tm.buffer()), (Bytes(22_937_600), Bytes(69_206_016)));
    assert_eq!((tofino.tm.queues_per_pipe(), tofino2.tm.queues_per_pipe()), (576, 1152));
    assert_eq!((tofino.tm.ports_per_pipe(), tofino2.tm.ports_per_pipe()), (72, 72));
}

#[test]
fn a_chip_prints_and_reads_back() {
    for chip in chips() {
        let text = chip.to_toml().unwrap();
        assert_eq!(ChipSpec::from_toml(&text, "printed"), Ok(chip));
    }
}

#[test]
fn assumptions_show_the_fields_that_they_name() {
    for chip in chips() {
        let tree = toml::Value::try_from(&chip).unwrap();
        for assumption in &chip.assumptions {
            if assumption.id.starts_with("model.") {
                assert!(!assumption.value.is_empty(), "{}", assumption.id);
                continue;
            }
            let field = assumption.id.split('.').try_fold(&tree, |value, key| value.get(key));
            let field = field.unwrap_or_else(|| panic!("{}: no field `{}`", chip.name, assumption.id));
            let shown = field.as_str().map_or_else(|| field.to_string(), str::to_owned);
            assert_eq!(assumption.value, shown, "{}", assumption.id);
        }
    }
}

#[test]
fn the_longest_recirculation_lap_is_the_sum_of_its_parts() {
    // Registers in every stage of both gresses, and no stage that another lets run concurrently: no program has that. A lap
    // of ConWeave's timer packet is measured in the tests of the programs.
    let chip = ChipSpec::tofino2();
    let latency = &chip.latency;
    let mau = 2 * chip.mau.stages * (latency.base + latency.stateful);
    let fixed = 2 * (latency.parser_fixed + 6 + latency.deparser) + latency.tm_enqueue + latency.tm_dequeue;
    let lap = chip.mau.clock.span(sluice_asic::units::Cycles(u64::from(mau + fixed))) + latency.recirculation;
    // 40 stages of 27 cycles, 142 cycles of parsers and deparsers, 140 of the TM, at 1.5 GHz, and 50 ns.
    assert_eq!(lap, Duration::from_nanos(958), "{lap}");
}

#[test]
fn a_custom_chip_changes_only_what_it_says() {
    let text =
        "base = \"tofino2\"\n[mau]\nstages = 12\n[latency]\nmac_rx = \"80ns\"\n[tm]\nbaf_rule = \"share\"\n";
    let chip = ChipSpec::from_toml(text, "small.toml").unwrap();
    let mut expected = ChipSpec::tofino2();
    expected.name = "tofino2-custom".to_owned();
    expected.mau.stages = 12;
    expected.latency.mac_rx = Duration::from_nanos(80);
    expected.tm.baf_rule = sluice_asic::chip::BafRule::Share;
    for assumption in &mut expected.assumptions {
        let value = match assumption.id.as_str() {
            "latency.mac_rx" => "80ns",
            "tm.baf_rule" => "share",
            _ => continue,
        };
        assumption.value = value.to_owned();
        assumption.why = "set by small.toml".to_owned();
    }
    assert_eq!(chip, expected);
    assert_eq!(ChipSpec::from_toml(&chip.to_toml().unwrap(), "again"), Ok(chip));
}

fn refusal(text: &str) -> String {
    ChipSpec::from_toml(text, "chip.toml").unwrap_err().to_string()
}

#[test]
fn unknown_keys_are_all_named_with_their_nearest() {
    let text = "base = \"tofino\"\nnmae = \"x\"\n[mau]\nstagse = 3\n\n[frobnication]\nlevel = 1\n";
    let message = refusal(text);
    let mut lines: Vec<&str> = message.lines().collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "chip.toml:2: unknown key `nmae`; did you mean `name`?",
            "chip.toml:4: unknown key `mau.stagse`; did you mean `mau.stages`?",
            "chip.toml:6: unknown key `frobnication`",
        ]
    );
}

#[test]
fn bad_files_are_refused_with_their_line() {
    assert!(refusal("base = \"tofino2\"\n= 3\n").starts_with("chip.toml:2: not valid TOML"));
    assert_eq!(
        refusal("\nbase = \"tofino3\""),
        "chip.toml:2: `base` is `tofino3`; expected one of tofino, tofino2; did you mean `tofino2`?"
    );
    let wrong_type = refusal("base = \"tofino2\"\n[mau]\nsram_rows = 8\nstages = \"many\"\n");
    assert!(wrong_type.starts_with("chip.toml:4: `mau.stages`: "), "{wrong_type}");
    let wrong_unit = refusal("base = \"tofino2\"\n[latency]\nmac_rx = \"5 parsecs\"\n");
    assert!(
        wrong_unit.starts_with("chip.toml:3: `latency.mac_rx`: `5 parsecs` is not a duration"),
        "{wrong_unit}"
    );
    let section = refusal("base = \"tofino2\"\nmau = 3\n");
    assert!(section.starts_with("chip.toml:2: `mau`: "), "{section}");
    let incomplete = refusal("name = \"bare\"\n");
    assert!(incomplete.contains("missing field") && incomplete.contains("base ="), "{incomplete}");
}

#[test]
fn impossible_values_are_collected_with_their_sums() {
    let text = "base = \"tofino2\"\n[mau]\nstages = 0\naction_bus_slots_8 = 8\n[tm]\nqueues_per_port = 17\n\
                cell = \"0B\"\n[ports]\nmacs_per_pipe = 9\n";
    let Err(ChipFileError::Impossible { problems, .. }) = ChipSpec::from_toml(text, "chip.toml") else {
        panic!("the chip was taken");
    };
    let text = problems.to_string();
    for expected in [
        "`mau.stages`: is 0",
        "8 x 1 + 24 x 2 + 16 x 4 = 120 bytes",
        "8 ports x 17 queues = 136, but a group has 128",
        "`tm.cell`: is 0B",
        "local ports 8 + 9 MACs x 8 lanes = 80, but a pipe has 72",
    ] {
        assert!(text.contains(expected), "{expected} not in:\n{text}");
    }
}

#[test]
fn extreme_values_never_panic() {
    for section in ["mau", "phv", "parser", "deparser", "salu", "latency", "tm", "ports", "hash"] {
        let tree = toml::Value::try_from(ChipSpec::tofino2()).unwrap();
        for (key, value) in tree[section].as_table().unwrap() {
            if value.is_integer() {
                for extreme in ["0", "1", "4294967295"] {
                    let text = format!("base = \"tofino2\"\n[{section}]\n{key} = {extreme}\n");
                    if let Err(error) = ChipSpec::from_toml(&text, "x") {
                        assert!(!error.to_string().is_empty());
                    }
                }
            }
        }
    }
}
