//! `sluice check`: reads and verifies a file of a program.

use crate::args::{Placing, Target};
use crate::door;
use crate::fail::{Failure, print_error};
use crate::p4;
use crate::resolve;
use crate::terminal;
use clap::Args;
use serde_json::{Value, json};
use sluice_asic::chip::ChipSpec;
use sluice_catalogue::StageProgram;
use sluice_ir::Program;
use sluice_ir::verify::{Severity, for_chip};
use sluice_place::report::Report;
use sluice_program_file::{FileError, ProgramFile};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The .sluice file, or a P4_16 program for TNA or T2NA (.p4): syntax, names, types and instances
    file: PathBuf,
    /// Place the program, too; exit code 1 if it does not fit
    #[arg(long)]
    place: bool,
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    placing: Placing,
}

/// Checks a file and prints its mistakes and warnings.
pub(crate) fn run(args: &CheckArgs, as_json: bool) -> Result<(), Failure> {
    let chip = resolve::chip(&args.target.chip)?;
    if p4::is_p4(&args.file) {
        return p4(args, &chip, as_json);
    }
    let origin = args.file.display().to_string();
    let text = door::text(&args.file)?;
    let file = match ProgramFile::parse(&origin, &text) {
        Ok(file) => file,
        Err(error) => return mistakes(&origin, &error, as_json),
    };
    let stage: Arc<dyn StageProgram> = Arc::new(file.clone());
    let program = resolve::build(&stage, &args.target)?;
    let found = file.findings(&for_chip(&program, &chip));
    if found.mistakes.iter().any(|mistake| mistake.severity == Severity::Error) {
        return mistakes(&origin, &found, as_json);
    }
    let warnings = [file.warnings(), found];
    let placed = args.place.then(|| resolve::fit(&program, &chip, &args.placing.options()));
    let reason = placed.as_ref().and_then(|placed| placed.as_ref().err());
    let mut out = terminal::results(as_json);
    if as_json {
        let all: Vec<Value> = warnings.iter().flat_map(json_of).collect();
        let fits = placed.as_ref().map(Result::is_ok);
        let reason = reason.map(|no_fit| no_fit.reason());
        let value = json!({
            "schema": "sluice.check/1", "file": origin, "program": program.name, "ok": reason.is_none(), "findings": all,
            "fits": fits, "reason": reason,
        });
        writeln!(out, "{value}")?;
    } else {
        for warning in warnings.iter().filter(|w| !w.mistakes.is_empty()) {
            writeln!(out, "{}\n", warning.text)?;
        }
        writeln!(out, "{origin}: program `{}`: {}; no mistakes", program.name, counts(&program))?;
        match &placed {
            Some(Ok(placement)) => {
                let stages = Report::new(&program, placement).stages_used();
                writeln!(out, "fits {}: {stages} of {} stages", chip.name, chip.mau.stages)?;
            }
            Some(Err(no_fit)) => print_error(crate::snippet::no_fit(no_fit)),
            None => {}
        }
    }
    if reason.is_some() { Err(Failure::Property) } else { Ok(()) }
}

/// Checks a P4 program.
fn p4(args: &CheckArgs, chip: &ChipSpec, as_json: bool) -> Result<(), Failure> {
    if let Some((key, _)) = args.target.sets.first() {
        return Err(Failure::with_help(
            format!("--set {key}: a P4 program has no parameters"),
            "-D NAME=VALUE defines a macro",
        ));
    }
    let program = p4::run(&args.file, &args.target.p4, chip, as_json)?;
    if !args.place {
        return Ok(());
    }
    match resolve::fit(&program, chip, &args.placing.options()) {
        Ok(placement) => {
            let stages = Report::new(&program, &placement).stages_used();
            if !as_json {
                writeln!(
                    terminal::results(as_json),
                    "fits {}: {stages} of {} stages",
                    chip.name,
                    chip.mau.stages
                )?;
            }
            Ok(())
        }
        Err(no_fit) => {
            print_error(crate::snippet::no_fit(&no_fit));
            Err(Failure::Property)
        }
    }
}

/// Reports a file with mistakes: as JSON on stdout, or as the failure of the command.
fn mistakes(origin: &str, error: &FileError, as_json: bool) -> Result<(), Failure> {
    if as_json {
        let findings = json_of(error);
        let value = json!({ "schema": "sluice.check/1", "file": origin, "ok": false, "findings": findings });
        writeln!(terminal::results(as_json), "{value}")?;
    }
    Err(Failure::snippets(&error.text))
}

fn json_of(error: &FileError) -> Vec<Value> {
    let findings = error.mistakes.iter().map(|mistake| {
        let severity = if mistake.severity == Severity::Error { "error" } else { "warning" };
        json!({
            "severity": severity, "line": mistake.line, "column": mistake.col, "message": mistake.text, "help": mistake.help,
        })
    });
    findings.collect()
}

/// Returns what a program has, in words.
pub(crate) fn counts(program: &Program) -> String {
    let count = |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
    [
        count(program.headers.len(), "header", "headers"),
        count(program.tables.len(), "table", "tables"),
        count(program.actions.len(), "action", "actions"),
        count(program.registers.len(), "register", "registers"),
    ]
    .join(", ")
}
