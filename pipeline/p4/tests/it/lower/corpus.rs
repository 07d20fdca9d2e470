//! How many public programs lower, with the first reason of each of the others: a measurement over the folder that
//! `SLUICE_P4_CORPUS` names. `SLUICE_P4_GROUP` limits it to one group.

use crate::corpus::{Files, program};
use sluice_asic::intrinsic::Architecture;
use sluice_ir::verify::{Severity as Level, verify};
use sluice_p4::check::check;
use sluice_p4::diagnostic::{Severity, render};
use sluice_p4::elaborate::elaborate;
use sluice_p4::lower::{Source, lower};
use sluice_p4::prelude::WithPrelude;
use sluice_p4::{Options, Target, parse};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The result for a program and a chip.
enum Outcome {
    /// An earlier step found an error.
    Earlier,
    /// It does not lower: the messages of all errors, and the first one with its source.
    Refused(Vec<String>, String),
    /// The verifier found an error.
    Wrong(String, String),
    Lowered,
}

fn outcome(program: &crate::corpus::Program, target: Target) -> Outcome {
    let chip = match target {
        Target::Tofino => Architecture::Tna,
        Target::Tofino2 => Architecture::T2na,
    };
    let folders = program.files.folders.iter().filter(|folder| !folder.ends_with("p4include"));
    let loader = WithPrelude::new(Files { folders: folders.cloned().collect() }, chip);
    let options = Options { target, defines: program.defines.clone(), includes: Vec::new() };
    let parsed = parse(&loader, &program.root.to_string_lossy(), &options);
    let mut diagnostics = parsed.diagnostics;
    let mut checked = check(&parsed.ast, &mut diagnostics);
    if diagnostics.errors() > 0 {
        return Outcome::Earlier;
    }
    let Some(pipe) = elaborate(&parsed.ast, &mut checked, &mut diagnostics) else { return Outcome::Earlier };
    let source = Source { ast: &parsed.ast, pipe: &pipe, texts: &parsed.sources, chip };
    let lowered = lower(source, &mut checked, &mut diagnostics);
    let Some(lowered) = lowered else {
        let mut errors = diagnostics.list().iter().filter(|one| one.severity == Severity::Error);
        let Some(first) = errors.next() else {
            return Outcome::Refused(vec!["no error was kept".to_owned()], String::new());
        };
        let rendered = render(&parsed.sources, first);
        let messages = [first].into_iter().chain(errors).map(|one| one.message.clone());
        return Outcome::Refused(messages.collect(), rendered);
    };
    let wrong = verify(&lowered.program).into_iter().find(|one| one.severity == Level::Error);
    match wrong {
        Some(wrong) => {
            Outcome::Wrong(wrong.text.clone(), format!("{}: {}\n  {}", wrong.at, wrong.text, wrong.help))
        }
        None => Outcome::Lowered,
    }
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
    // Pairs of program and chip whose first error is of a class, and pairs with an error of the class.
    let mut classes: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    for line in list.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        let program = program(&folder, line);
        if only.as_ref().is_some_and(|only| *only != program.group) {
            continue;
        }
        for &target in &program.chips {
            let count = groups.entry(program.group.clone()).or_default();
            count[0] += 1;
            let (name, chip) = (program.root.display(), target);
            match outcome(&program, target) {
                Outcome::Earlier => continue,
                Outcome::Refused(messages, text) => {
                    let mut found: Vec<String> = messages.iter().map(|one| class(one)).collect();
                    classes.entry(format!("refused: {}", found[0])).or_default()[0] += 1;
                    found.sort_unstable();
                    found.dedup();
                    for class in &found {
                        classes.entry(format!("refused: {class}")).or_default()[1] += 1;
                    }
                    println!("== refused {name} {chip:?}\n{text}\n{}\n", found.join("\n"));
                }
                Outcome::Wrong(message, text) => {
                    count[2] += 1;
                    let count = classes.entry(format!("verifier: {}", class(&message))).or_default();
                    *count = [count[0] + 1, count[1] + 1];
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
    println!("first  all");
    for (class, [first, all]) in classes {
        println!("{first:>5} {all:>4} {class}");
    }
}
