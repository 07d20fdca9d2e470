//! `sluice check`: reads and verifies a file of a program.

use crate::console::fail::{Failure, print_error};
use crate::console::numbers::counted;
use crate::console::terminal;
use crate::open::p4;
use crate::open::resolve;
use crate::open::target::{Placing, Target};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use serde_json::{Value, json};
use sluice_asic::chip::ChipSpec;
use sluice_catalogue::StageProgram;
use sluice_ir::Program;
use sluice_ir::verify::{Severity, for_chip};
use sluice_place::report::Report;
use sluice_program_file::p4::{P4Reading, PASSES, by_kind, core_after};
use sluice_program_file::{FileError, Mistake, OpenError, ProgramFile};
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
    /// Print the author's declarations of a P4 program as a pass of the core leaves them; `source` is before the first
    #[arg(long, value_name = "PASS", value_parser = dumps(), conflicts_with = "place")]
    dump: Option<String>,
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    placing: Placing,
}

/// The name of the tree before the first pass.
const SOURCE: &str = "source";

/// Returns what `--dump` takes, with the job of each pass.
fn dumps() -> PossibleValuesParser {
    let source = PossibleValue::new(SOURCE).help("the program as it was read");
    let passes = PASSES.iter().map(|pass| PossibleValue::new(pass.name).help(pass.job));
    PossibleValuesParser::new(std::iter::once(source).chain(passes))
}

/// A file as far as its mistakes allow.
struct Checked {
    /// The program, or its mistakes as the failure of the command.
    program: Result<Program, Failure>,
    /// Texts of warnings, for a program without mistakes.
    warnings: String,
    /// Number of the warnings.
    count: usize,
    /// Mistakes and warnings as JSON.
    findings: Vec<Value>,
    /// Notes on parts that the lowering approximates or ignores, as JSON; `None` for programs that are not P4.
    notes: Option<Value>,
}

/// Checks a file and prints its mistakes and warnings.
pub(crate) fn run(args: &CheckArgs, as_json: bool) -> Result<(), Failure> {
    let chip = resolve::chip(&args.target.chip)?;
    let origin = args.file.display().to_string();
    if let Some(pass) = &args.dump {
        return dump(args, &chip, if pass == SOURCE { "" } else { pass });
    }
    let checked = if p4::is_p4(&args.file) { of_p4(args, &chip)? } else { of_sluice(args, &origin, &chip)? };
    let mut out = terminal::results(as_json);
    let mut value = json!({
        "schema": "sluice.check/1", "file": origin, "ok": checked.program.is_ok(), "findings": checked.findings,
    });
    if let Some(notes) = checked.notes {
        value["notes"] = notes;
    }
    let program = match checked.program {
        Ok(program) => program,
        Err(failure) => {
            if as_json {
                writeln!(out, "{value}")?;
            }
            return Err(failure);
        }
    };
    let placed = args.place.then(|| resolve::fit(&program, &chip, &args.placing.options()));
    let reason = placed.as_ref().and_then(|placed| placed.as_ref().err()).map(|no_fit| no_fit.reason());
    if as_json {
        value["program"] = json!(program.name);
        value["ok"] = json!(reason.is_none());
        value["fits"] = json!(placed.as_ref().map(Result::is_ok));
        value["reason"] = json!(reason);
        writeln!(out, "{value}")?;
    } else {
        if checked.count > 0 {
            writeln!(out, "{}\n", checked.warnings)?;
        }
        let verdict = verdict(checked.count as u64);
        writeln!(out, "{origin}: program `{}`: {}; {verdict}", program.name, counts(&program))?;
        match &placed {
            Some(Ok(placement)) => {
                let stages = Report::new(&program, placement).stages_used();
                writeln!(out, "fits {}: {stages} of {} stages", chip.name, chip.mau.stages)?;
            }
            Some(Err(no_fit)) => print_error(crate::console::snippet::no_fit(no_fit)),
            None => {}
        }
    }
    if reason.is_some() { Err(Failure::Property) } else { Ok(()) }
}

/// Prints a P4 program as a pass leaves it.
fn dump(args: &CheckArgs, chip: &ChipSpec, pass: &str) -> Result<(), Failure> {
    if !p4::is_p4(&args.file) {
        let text = format!("--dump: `{}` is no P4 program", args.file.display());
        return Err(Failure::with_help(text, "the passes of the core are those of P4"));
    }
    let p4 = &args.target.p4;
    p4.check(chip)?;
    let text = core_after(&p4.disk(), &args.file.display().to_string(), &p4.options(chip), pass);
    let text = text.map_err(|error| Failure::snippets(&error.text))?;
    write!(terminal::results(false), "{text}")?;
    Ok(())
}

fn of_p4(args: &CheckArgs, chip: &ChipSpec) -> Result<Checked, Failure> {
    if let Some((key, _)) = args.target.sets.first() {
        return Err(Failure::with_help(
            format!("--set {key}: a P4 program has no parameters"),
            "-D NAME=VALUE defines a macro",
        ));
    }
    let p4 = &args.target.p4;
    p4.check(chip)?;
    let (disk, options) = (p4.disk(), p4.options(chip));
    let reading = P4Reading::read(&disk, &args.file.display().to_string(), &options);
    let all = reading.warnings();
    let (count, warnings) = (all.len(), by_kind(&all));
    let program = reading.legal(&disk, &options).cloned().map_err(|mut error| {
        // The errors come first.
        if let OpenError::Mistakes { error, .. } = &mut error
            && count > 0
        {
            error.text = format!("{}\n\n{warnings}", error.text.trim_end());
        }
        Failure::from(error)
    });
    Ok(Checked {
        program,
        warnings,
        count,
        findings: reading.findings().iter().map(json_of_p4).collect(),
        notes: Some(json!(reading.notes())),
    })
}

fn of_sluice(args: &CheckArgs, origin: &str, chip: &ChipSpec) -> Result<Checked, Failure> {
    let mistakes = |error: &FileError| Checked {
        program: Err(Failure::snippets(&error.text)),
        warnings: String::new(),
        count: 0,
        findings: json_of(error),
        notes: None,
    };
    let text = p4::text(&args.file)?;
    let file = match ProgramFile::parse(origin, &text) {
        Ok(file) => file,
        Err(error) => return Ok(mistakes(&error)),
    };
    let stage: Arc<dyn StageProgram> = Arc::new(file.clone());
    let program = resolve::build(&stage, &args.target)?;
    let found = file.findings(&for_chip(&program, chip));
    if found.mistakes.iter().any(|mistake| mistake.severity == Severity::Error) {
        return Ok(mistakes(&found));
    }
    let all = [file.warnings(), found];
    let findings: Vec<Value> = all.iter().flat_map(json_of).collect();
    let texts: Vec<&str> = all.iter().map(|one| one.text.as_str()).filter(|text| !text.is_empty()).collect();
    let (warnings, count) = (texts.join("\n\n"), findings.len());
    Ok(Checked { program: Ok(program), warnings, count, findings, notes: None })
}

fn json_of_p4(mistake: &Mistake) -> Value {
    let mut value = json_of_mistake(mistake);
    value["class"] = mistake.class.into();
    value["file"] = mistake.file.as_str().into();
    value
}

fn json_of(error: &FileError) -> Vec<Value> {
    error.mistakes.iter().map(json_of_mistake).collect()
}

fn json_of_mistake(mistake: &Mistake) -> Value {
    let severity = if mistake.severity == Severity::Error { "error" } else { "warning" };
    json!({
        "severity": severity, "line": mistake.line, "column": mistake.col, "message": mistake.text, "help": mistake.help,
    })
}

/// Returns what was found in a file without errors.
pub(crate) fn verdict(warnings: u64) -> String {
    match warnings {
        0 => "no mistakes".to_owned(),
        some => format!("no errors, {}", counted(some, "warning")),
    }
}

/// Returns what a program has, in words.
fn counts(program: &Program) -> String {
    let count = |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
    [
        count(program.headers.len(), "header", "headers"),
        count(program.tables.len(), "table", "tables"),
        count(program.actions.len(), "action", "actions"),
        count(program.registers.len(), "register", "registers"),
    ]
    .join(", ")
}
