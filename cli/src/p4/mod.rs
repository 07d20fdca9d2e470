//! P4 programs: options of the preprocessor, and `sluice check FILE.p4`.

mod files;

use crate::fail::{Failure, print_error};
use clap::Args;
use files::Files;
use serde_json::{Value, json};
use sluice_asic::chip::ChipSpec;
use sluice_asic::intrinsic::Architecture;
use sluice_p4::check::check;
use sluice_p4::diagnostic::{Diagnostic, Severity, render};
use sluice_p4::elaborate::{Pipe, elaborate};
use sluice_p4::prelude::WithPrelude;
use sluice_p4::{Define, Options, Parsed, Target, parse};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Options of the P4 preprocessor, spelled as p4c spells them.
#[derive(Debug, Clone, Args)]
pub(crate) struct P4Args {
    /// P4: folder to search for included files, repeatable. A folder with `tna.p4` takes the place of the built-in one
    #[arg(short = 'I', value_name = "DIR", help_heading = "P4")]
    folders: Vec<PathBuf>,
    /// P4: define a macro, repeatable; without a value it is 1
    #[arg(short = 'D', value_name = "NAME[=VALUE]", help_heading = "P4")]
    defines: Vec<String>,
    /// P4: undefine a macro after all definitions, repeatable
    #[arg(short = 'U', value_name = "NAME", help_heading = "P4")]
    undefines: Vec<String>,
    /// P4: file to read before the program, repeatable (p4c's `-include`)
    #[arg(long = "include", value_name = "FILE", help_heading = "P4")]
    includes: Vec<String>,
}

/// Returns true if a file is a P4 program.
pub(crate) fn is_p4(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "p4")
}

impl P4Args {
    fn options(&self, target: Target) -> Options {
        let define = self.defines.iter().cloned().map(Define::Define);
        let undefine = self.undefines.iter().cloned().map(Define::Undefine);
        Options { target, defines: define.chain(undefine).collect(), includes: self.includes.clone() }
    }
}

/// Checks a P4 program, and prints its mistakes and warnings, or what its pipe has.
pub(crate) fn run(path: &Path, args: &P4Args, chip: &ChipSpec, as_json: bool) -> Result<(), Failure> {
    let origin = path.display().to_string();
    let architecture = Architecture::of(chip);
    let target = match architecture {
        Architecture::Tna => Target::Tofino,
        Architecture::T2na => Target::Tofino2,
    };
    let loader = WithPrelude::new(Files { folders: &args.folders }, architecture);
    let mut parsed = parse(&loader, &origin, &args.options(target));
    let pipe = checked(&mut parsed);
    let failed = parsed.diagnostics.errors() > 0;
    let mut out = std::io::stdout().lock();
    if as_json {
        let findings: Vec<Value> =
            parsed.diagnostics.list().iter().map(|one| json_of(&parsed, one)).collect();
        let value =
            json!({ "schema": "sluice.check/1", "file": origin, "ok": !failed, "findings": findings });
        writeln!(out, "{value}")?;
    }
    let warnings = messages(&parsed, Severity::Warning);
    match pipe {
        Some(pipe) if !failed => {
            if !as_json {
                if !warnings.is_empty() {
                    writeln!(out, "{warnings}\n")?;
                }
                writeln!(out, "{origin}: pipe `{}`: {}; no mistakes", pipe.name, counts(&pipe))?;
            }
            Ok(())
        }
        _ => {
            if !warnings.is_empty() {
                print_error(format!("{warnings}\n"));
            }
            Err(Failure::snippets(&messages(&parsed, Severity::Error)))
        }
    }
}

/// Returns all messages of a severity, with their source lines.
fn messages(parsed: &Parsed, severity: Severity) -> String {
    let some = parsed.diagnostics.list().iter().filter(|diagnostic| diagnostic.severity == severity);
    some.map(|diagnostic| render(&parsed.sources, diagnostic)).collect::<Vec<_>>().join("\n")
}

/// Takes all steps that errors allow.
fn checked(parsed: &mut Parsed) -> Option<Pipe> {
    if parsed.ast.top.is_empty() {
        return None;
    }
    let mut tables = check(&parsed.ast, &mut parsed.diagnostics);
    if parsed.diagnostics.errors() > 0 {
        return None;
    }
    elaborate(&parsed.ast, &mut tables, &mut parsed.diagnostics)
}

fn json_of(parsed: &Parsed, diagnostic: &Diagnostic) -> Value {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let place = diagnostic.labels.first().and_then(|(span, _)| parsed.sources.place(*span));
    let (file, line, column) =
        place.map_or(("", 0, 0), |place| parsed.sources.line(place.region.file, place.region.bytes.start));
    json!({
        "severity": severity, "class": diagnostic.class.word(), "file": file, "line": line, "column": column,
        "message": diagnostic.message, "help": diagnostic.help,
    })
}

/// Returns what a pipe has, in words.
fn counts(pipe: &Pipe) -> String {
    let count = |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
    [
        count(pipe.blocks.len(), "parser and control", "parsers and controls"),
        count(pipe.tables.len(), "table", "tables"),
        count(pipe.actions.len(), "action", "actions"),
        count(pipe.objects.len(), "extern object", "extern objects"),
    ]
    .join(", ")
}
