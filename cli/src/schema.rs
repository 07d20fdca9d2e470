//! `sluice schema`: the JSON Schemas of all `--json` outputs.

use crate::console::fail::Failure;
use crate::console::invocation::Out;
use crate::console::table::table;
use clap::Args;
use serde::Deserialize;
use serde_json::json;
use sluice_asic::names::did_you_mean;
use std::io::Write;

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// Name of the schema, as in the key `schema` of an output: `summary` or `sluice.summary/1`; without it, all are listed
    name: Option<String>,
}

macro_rules! schemas {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../docs/schemas/", $name, ".json")))),*]
    };
}

/// Names and texts of the schemas.
const SCHEMAS: [(&str, &str); 28] = schemas![
    "check",
    "compare",
    "comparison",
    "contest",
    "contests",
    "doctor",
    "dry-run",
    "entries",
    "entries-schema",
    "experiments",
    "explain",
    "flowlets",
    "fuzz",
    "gen",
    "headroom",
    "int",
    "ns3",
    "polarization",
    "ports",
    "program",
    "programs",
    "report",
    "reproduce",
    "run",
    "scenarios",
    "summary",
    "sweep",
    "test",
];

#[derive(Default, Deserialize)]
struct Titled {
    title: String,
}

/// Lists the schemas, or prints one.
pub(crate) fn run(args: &SchemaArgs, as_json: bool) -> Result<(), Failure> {
    let mut out = Out::new();
    let Some(name) = &args.name else {
        if as_json {
            let names = SCHEMAS.map(|(name, _)| name);
            writeln!(out, "{}", json!({ "schema": "sluice.schemas/1", "schemas": names }))?;
            return Ok(());
        }
        let title = |text: &str| serde_json::from_str::<Titled>(text).unwrap_or_default().title;
        let rows = SCHEMAS.iter().map(|(name, text)| vec![(*name).to_owned(), title(text)]).collect();
        writeln!(out, "{}\n\n`sluice schema NAME` prints one.", table(&["SCHEMA", "OUTPUT"], rows))?;
        return Ok(());
    };
    let short = name.strip_prefix("sluice.").unwrap_or(name);
    let short = short.split('/').next().unwrap_or(short);
    let Some((_, text)) = SCHEMAS.iter().find(|(known, _)| *known == short) else {
        let near = did_you_mean(short, SCHEMAS.map(|(name, _)| name));
        return Err(Failure::with_help(
            format!("there is no schema `{name}`{near}"),
            "`sluice schema` lists the schemas",
        ));
    };
    Ok(write!(out, "{text}")?)
}
