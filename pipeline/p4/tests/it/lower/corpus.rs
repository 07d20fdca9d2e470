//! How many public programs lower, with the reasons of the others: a measurement over the folder that `SLUICE_P4_CORPUS` names.
//! `SLUICE_P4_GROUP` limits it to one group. A class of messages has the number of programs in which it occurs, and of those in
//! which no other class does.

use crate::corpus::{Files, program};
use sluice_asic::intrinsic::Architecture;
use sluice_ir::verify::Severity as Level;
use sluice_p4::diagnostic::{Severity, render};
use sluice_p4::lower::findings;
use sluice_p4::prelude::WithPrelude;
use sluice_p4::{Options, Step, parse};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The result for a program and a chip.
enum Outcome {
    /// An earlier step found an error.
    Earlier,
    /// It does not lower: the messages of all errors, and the messages with their sources.
    Refused(Vec<String>, String),
    /// The verifier found errors.
    Wrong(Vec<String>, String),
    Lowered,
}

fn outcome(program: &crate::corpus::Program, chip: Architecture) -> Outcome {
    let folders = program.files.folders.iter().filter(|folder| !folder.ends_with("p4include"));
    let loader = WithPrelude::new(Files { folders: folders.cloned().collect() }, chip);
    let options = Options { chip, defines: program.defines.clone(), includes: Vec::new() };
    let mut parsed = parse(&loader, &program.root.to_string_lossy(), &options);
    let lowered = match parsed.lower(chip) {
        Ok(lowered) => lowered,
        Err(Step::Lower) => {
            let errors = parsed.diagnostics.list().iter().filter(|one| one.severity == Severity::Error);
            let (messages, texts): (Vec<String>, Vec<String>) =
                errors.map(|one| (one.message.clone(), render(&parsed.sources, one))).unzip();
            return Outcome::Refused(messages, texts.join("\n"));
        }
        Err(Step::Parse | Step::Check | Step::Elaborate) => return Outcome::Earlier,
    };
    let wrong = findings(&lowered.program).into_iter().filter(|one| one.severity == Level::Error);
    let (messages, texts): (Vec<String>, Vec<String>) =
        wrong.map(|one| (one.text.clone(), format!("{}: {}\n  {}", one.at, one.text, one.help))).unzip();
    if messages.is_empty() { Outcome::Lowered } else { Outcome::Wrong(messages, texts.join("\n")) }
}

/// Returns a message without the names and numbers in it.
fn class(message: &str) -> String {
    let mut class = String::new();
    for (index, part) in message.split('`').enumerate() {
        let plain: String = part.chars().filter(|c| !c.is_ascii_digit()).collect();
        class.push_str(if index % 2 == 0 { &plain } else { "_" });
    }
    class
}

#[test]
fn public_programs_lower() {
    let Some(folder) = std::env::var_os("SLUICE_P4_CORPUS").map(PathBuf::from) else {
        println!("skipped: SLUICE_P4_CORPUS names no folder of P4 programs");
        return;
    };
    let list = std::fs::read_to_string(folder.join("LIST.txt")).expect("the corpus has a LIST.txt");
    let only = std::env::var("SLUICE_P4_GROUP").ok();
    let mut groups: BTreeMap<String, [usize; 4]> = BTreeMap::new();
    let mut classes: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    let mut count_all = |step: &str, messages: Vec<String>| {
        let found: BTreeSet<String> = messages.iter().map(|one| format!("{step}: {}", class(one))).collect();
        let only = usize::from(found.len() == 1);
        for one in found {
            let counts = classes.entry(one).or_default();
            (counts[0], counts[1]) = (counts[0] + 1, counts[1] + only);
        }
    };
    for line in list.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        let program = program(&folder, line);
        if only.as_ref().is_some_and(|only| *only != program.group) {
            continue;
        }
        for &chip in &program.chips {
            let count = groups.entry(program.group.clone()).or_default();
            count[0] += 1;
            let name = program.root.display();
            match outcome(&program, chip) {
                Outcome::Earlier => continue,
                Outcome::Refused(messages, text) => {
                    count_all("refused", messages);
                    println!("== refused {name} {chip:?}\n{text}\n");
                }
                Outcome::Wrong(messages, text) => {
                    count[2] += 1;
                    count_all("verifier", messages);
                    println!("== verifier {name} {chip:?}\n{text}\n");
                }
                Outcome::Lowered => {
                    count[2] += 1;
                    count[3] += 1;
                }
            }
            count[1] += 1;
        }
    }
    println!("{:<24} {:>8} {:>9} {:>8} {:>9}", "group", "programs", "instances", "lowered", "verified");
    for (group, [all, instances, lowered, verified]) in &groups {
        println!("{group:<24} {all:>8} {instances:>9} {lowered:>8} {verified:>9}");
    }
    let mut classes: Vec<(String, [usize; 2])> = classes.into_iter().collect();
    classes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    println!("{:>5} {:>5} class of messages", "all", "alone");
    for (class, [all, alone]) in classes {
        println!("{all:>5} {alone:>5} {class}");
    }
}
