//! `sluice fuzz`, and `sluice replay --check --coverage`: keys, exit codes, files that do not depend on threads.

use assert_cmd::Command;
use serde_json::Value;
use std::path::Path;

const CLASSES: [&str; 7] =
    ["actions", "branches", "parser_states", "salu", "tables_hit", "tables_miss", "transitions"];

fn sluice(args: &[&str], dir: &Path) -> std::process::Output {
    Command::cargo_bin("sluice").unwrap().args(args).current_dir(dir).output().unwrap()
}

#[test]
fn keys_are_those_of_the_contract_and_threads_change_no_file() {
    let dir = tempfile::tempdir().unwrap();
    for jobs in ["1", "2"] {
        let args = ["fuzz", "ecmp", "--cases", "4", "--seed", "5", "--jobs", jobs, "-o", jobs, "--json"];
        let out = sluice(&args, dir.path());
        assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
        let json: Value = serde_json::from_slice(&out.stdout).unwrap();
        assert!(json["executions"].as_u64().unwrap() > 500 && json["per_second"].is_u64(), "{json}");
        assert_eq!(json["failures"], Value::Array(Vec::new()));
        let coverage = json["coverage"].as_object().unwrap();
        assert_eq!(coverage.keys().map(String::as_str).collect::<Vec<_>>(), CLASSES);
        for share in coverage.values() {
            assert!(share["hit"].as_u64().unwrap() <= share["total"].as_u64().unwrap(), "{json}");
        }
    }
    for name in
        ["fuzz.json", "coverage.json", "coverage.txt", "coverage.html", "entries.toml", "manifest.json"]
    {
        let read = |jobs: &str| std::fs::read(dir.path().join(jobs).join(name)).unwrap();
        assert_eq!(read("1"), read("2"), "{name}");
    }
}

#[test]
fn too_little_coverage_is_exit_one_and_bad_words_are_exit_two() {
    let dir = tempfile::tempdir().unwrap();
    let few = sluice(&["fuzz", "l3-ecmp", "--cases", "1", "--min-coverage", "100"], dir.path());
    assert_eq!(few.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&few.stdout).contains("uncovered: "));
    for args in
        [&["fuzz", "nothing"][..], &["fuzz", "ecmp", "--time", "soon"], &["fuzz", "ecmp", "--jobs", "0"]]
    {
        let out = sluice(args, dir.path());
        assert_eq!((out.status.code(), out.stdout.is_empty()), (Some(2), true), "{args:?}");
    }
}

/// Few inputs leave survivors: each says where it is, what changed and why it lived.
#[test]
fn survivors_of_the_mutation_check_are_explained() {
    let dir = tempfile::tempdir().unwrap();
    let args = ["fuzz", "letflow", "--cases", "1", "--mutants", "40", "--seed", "2"];
    let run = |more: &[&str]| sluice(&[&args[..], more].concat(), dir.path());
    let (out, text) = (run(&["--json"]), run(&["--jobs", "1"]));
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    let (json, text): (Value, _) =
        (serde_json::from_slice(&out.stdout).unwrap(), String::from_utf8_lossy(&text.stdout));
    let mutation = &json["mutation"];
    let survivors = mutation["survivors"].as_array().unwrap();
    let noticed = ["by_property", "by_comparison"].map(|key| mutation[key].as_u64().unwrap());
    assert_eq!(noticed.iter().sum::<u64>() + survivors.len() as u64, mutation["mutants"].as_u64().unwrap());
    assert!(!survivors.is_empty() && noticed[1] > 0, "{mutation}");
    for survivor in survivors {
        let word = |key: &str| survivor[key].as_str().unwrap();
        assert_ne!(survivor["old"], survivor["new"], "{survivor}");
        assert!(["no input", "alike", "otherwise"].iter().any(|w| word("reason").contains(w)), "{survivor}");
        let file = word("source").split(':').next().unwrap();
        assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file).is_file(), "{survivor}");
        for key in ["site", "source", "reason"] {
            assert!(text.contains(word(key)), "{key}: {survivor}");
        }
    }
}

#[test]
fn a_replay_checks_properties_and_reports_coverage() {
    let dir = tempfile::tempdir().unwrap();
    let out = sluice(&["replay", "l3-ecmp", "--check", "--coverage", "--json", "-o", "out"], dir.path());
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    let json: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(json["violations"], Value::Array(Vec::new()));
    assert!(json["coverage"]["parser_states"]["hit"].as_u64().unwrap() > 2, "{json}");
    let page = std::fs::read_to_string(dir.path().join("out/coverage.html")).unwrap();
    assert!(page.contains("Coverage of l3-ecmp"));
    let refused = sluice(&["replay", "l3-ecmp", "--coverage", "--engine", "reference"], dir.path());
    assert_eq!(refused.status.code(), Some(2));
}

/// A group as large as the one before it: its entries share a factor, which a property of `ecmp` notices.
#[test]
fn a_failure_is_written_and_its_command_shows_it_again() {
    let dir = tempfile::tempdir().unwrap();
    let made = sluice(&["fuzz", "ecmp", "--set", "scheme=plain", "--cases", "1", "-o", "plain"], dir.path());
    assert_eq!(made.status.code(), Some(0), "{}", String::from_utf8_lossy(&made.stdout));
    // The property says nothing of runs in which entries change, as they do in some of the first inputs.
    let args = ["fuzz", "ecmp", "--entries", "plain/entries.toml", "--cases", "4", "-o", "found", "--json"];
    let out = sluice(&args, dir.path());
    assert_eq!(out.status.code(), Some(1), "{}", String::from_utf8_lossy(&out.stderr));
    let json: Value = serde_json::from_slice(&out.stdout).unwrap();
    let failure = &json["failures"][0];
    assert_eq!(failure["property"], "coprime_shares");
    assert!(failure["packets"].as_array().unwrap().len() <= 1, "{failure}");
    let command = failure["replay"].as_str().unwrap();
    let said = std::fs::read_to_string(dir.path().join("found/failure-1.txt")).unwrap();
    assert!(said.contains(command) && said.contains("8 members after a group of 8"), "{said}");
    let words: Vec<&str> = command.split_whitespace().skip(1).chain(["--json"]).collect();
    let again = sluice(&words, &dir.path().join("found"));
    assert_eq!(again.status.code(), Some(1), "{}", String::from_utf8_lossy(&again.stderr));
    let summary: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert!(summary["violations"].to_string().contains("coprime_shares"), "{summary}");
}

#[test]
fn a_buffer_may_be_drawn_and_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let args = ["fuzz", "l3-ecmp", "--buffer", "random", "--seed", "4", "--cases", "4", "-o", "out"];
    let out = sluice(&args, dir.path());
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stdout));
    let args = ["replay", "l3-ecmp", "--buffer", "out/buffer.toml", "--obey-pfc", "--check"];
    let again = sluice(&args, dir.path());
    assert_eq!(again.status.code(), Some(0), "{}", String::from_utf8_lossy(&again.stderr));
}
