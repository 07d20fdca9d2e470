//! The table of limits: every limit is in it with its default and with the most that a file of the repository asks for, which is at most
//! a tenth of the default.

use crate::support::*;
use sluice_asic::limits::{self, Limit};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The page with the table, and the table's head.
const PAGE: &str = "../docs/limits.md";
const HEAD: &str = "| limit | default | largest file | counts |\n|---|---:|---:|---|\n";

/// Returns the largest number of each limit that the page states.
fn stated() -> BTreeMap<String, u64> {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE)).unwrap();
    let (_, table) = page.split_once(HEAD).unwrap();
    let rows = table.lines().take_while(|line| line.starts_with('|'));
    let cells =
        |row: &str| row.split('|').map(|cell| cell.trim().replace(['`', ' '], "")).collect::<Vec<_>>();
    rows.map(|row| (cells(row)[1].clone(), cells(row)[3].parse().unwrap())).collect()
}

#[test]
fn the_table_has_all_limits_with_ten_times_the_largest_file() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    let page = std::fs::read_to_string(&path).unwrap();
    let stated = stated();
    let row = |limit: &&Limit| {
        let largest = stated.get(limit.name).copied().unwrap_or(0);
        assert!(
            largest > 0 && largest * 10 <= limit.default,
            "{}: {largest} of {}",
            limit.name,
            limit.default
        );
        format!("| `{}` | {} | {largest} | {} |\n", limit.name, limit.default, limit.counts)
    };
    let table = HEAD.to_owned() + &limits::ALL.iter().map(row).collect::<String>();
    let (before, rest) = page.split_once(HEAD).unwrap();
    let after = &rest[rest.lines().take_while(|l| l.starts_with('|')).map(|l| l.len() + 1).sum::<usize>()..];
    let made = format!("{before}{table}{after}");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), made, "UPDATE_EXPECT=1 writes the table");
}

/// Returns the option that sets each limit to the largest number that the page states.
fn tight() -> Vec<String> {
    stated().iter().flat_map(|(name, most)| ["--max".to_owned(), format!("{name}={most}")]).collect()
}

#[track_caller]
fn keeps(args: &[&str], limits: &[String]) {
    let limits: Vec<&str> = limits.iter().map(String::as_str).collect();
    let done = sluice(&[args, &limits].concat());
    let said = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    assert!(!said.contains("raises the limit"), "{args:?}: {said}");
}

#[test]
fn shipped_programs_keep_the_stated_numbers() {
    let tight = tight();
    let dir = folder("limits");
    let list = json(&["programs", "--json"]);
    for program in list["programs"].as_array().unwrap() {
        let name = program["name"].as_str().unwrap();
        for chip in ["tofino", "tofino2"] {
            keeps(&["report", name, "--chip", chip], &tight);
        }
        for (form, ending) in [("--p4", "p4"), ("--ir", "sluice")] {
            let path = dir.path().join(format!("{name}.{ending}"));
            std::fs::write(&path, ok(&["programs", name, form])).unwrap();
            keeps(&["check", text(&path)], &tight);
        }
    }
}

/// Returns the files below a folder whose names end so.
fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let mut open = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => open.push(path),
                false if path.to_str().unwrap().ends_with(ending) => found.push(path),
                false => {}
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "{ending}");
    found
}

#[test]
fn files_of_the_repository_keep_the_stated_numbers() {
    let tight = tight();
    // The other scenarios take minutes in a debug build.
    for name in ["hosts", "golden", "thresholds", "lossy"] {
        keeps(&["run", &format!("{}/../scenario/buffer/{name}.toml", env!("CARGO_MANIFEST_DIR"))], &tight);
    }
    let sonic = concat!(env!("CARGO_MANIFEST_DIR"), "/../asic-model/sonic/");
    keeps(&["explain", "buffer", &format!("{sonic}config_db.json+{sonic}pg_profile_lookup.ini")], &tight);
    for path in files("../papers/contests", ".toml") {
        keeps(&["run", "--list", text(&path)], &tight);
    }
    for path in files("../fabric/contests", ".toml") {
        keeps(&["run", "--list", text(&path)], &tight);
    }
}
