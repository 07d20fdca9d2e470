//! `sluice programs`: lists the programs, or describes one.

use crate::args::ProgramsArgs;
use crate::fail::Failure;
use crate::resolve;
use crate::table::table;
use serde_json::{Value, json};
use sluice_catalogue::{Catalogue, StageProgram};
use std::io::Write;

/// Lists programs, or describes one.
pub(crate) fn run(args: &ProgramsArgs, catalogue: &Catalogue, as_json: bool) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let Some(name) = &args.program else {
        let all = catalogue.programs();
        if as_json {
            let list: Vec<Value> = all.iter().map(|p| describe(p.as_ref())).collect();
            writeln!(out, "{}", json!({ "schema": "sluice.programs/1", "programs": list }))?;
            return Ok(());
        }
        let rows = all.iter().map(|p| vec![p.name().to_owned(), p.summary().to_owned()]).collect();
        writeln!(
            out,
            "{}\n\n`sluice programs NAME` shows parameters; --p4 and --ir its other forms.",
            table(&["PROGRAM", "WHAT IT DOES"], rows)
        )?;
        return Ok(());
    };
    let stage = resolve::stage(catalogue, name)?;
    if args.p4 {
        let text = stage.p4().ok_or_else(|| {
            let help = format!("`sluice programs {name} --ir` prints its text form");
            Failure::with_help(format!("program `{name}` has no P4 sketch"), help)
        })?;
        write!(out, "{text}")?;
    } else if args.ir {
        let program = resolve::build(stage, &args.target)?;
        write!(out, "{}", sluice_ir::text::print(&program))?;
    } else if as_json {
        writeln!(out, "{}", describe(stage.as_ref()))?;
    } else {
        writeln!(out, "{}: {}\n\nParameters (--set key=value):", stage.name(), stage.summary())?;
        for p in stage.params() {
            writeln!(out, "  {} = {}\n      {}", p.key, p.value, p.help())?;
        }
    }
    Ok(())
}

fn describe(stage: &dyn StageProgram) -> Value {
    let params: Vec<Value> =
        stage.params().iter().map(|p| json!({ "key": p.key, "default": p.value, "doc": p.help() })).collect();
    json!({ "name": stage.name(), "summary": stage.summary(), "params": params })
}
