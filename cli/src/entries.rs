//! `sluice entries`: default entries of a program, a template, or the check of a file.

use crate::check::verdict;
use crate::console::fail::Failure;
use crate::console::invocation::Out;
use crate::console::numbers::quantity;
use crate::open::door::{self, OpenProgram};
use crate::open::resolve::{self, Entries};
use crate::open::target::Target;
use crate::open::topology::deployed;
use crate::output::files::Folder;
use clap::Args;
use serde_json::{Value, json};
use sluice_asic::chip::ChipSpec;
use sluice_asic::port::FrontPort;
use sluice_asic::units::BitRate;
use sluice_catalogue::setup::Replaced;
use sluice_catalogue::{Catalogue, Setup};
use sluice_control::{ControlState, Schema, entries, template};
use sluice_fabric::network::SwitchSetup;
use sluice_ir::Program;
use sluice_place::place;
use sluice_program_file::OpenError;
use sluice_program_file::p4::{is_p4, p4info};
use std::io::Write;
use std::path::Path;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct EntriesArgs {
    /// Program whose entries are shown or checked: a name, or a .sluice or .p4 file
    pub(crate) program: String,
    #[command(flatten)]
    pub(crate) target: Target,
    /// Print a file without entries that explains every table, key, action and parameter
    #[arg(long, conflicts_with = "check")]
    pub(crate) template: bool,
    /// Print what a P4Runtime controller must know of a P4 program: `P4Info` in text form, with the names and ids that p4c gives
    #[arg(long, conflicts_with_all = ["check", "template"])]
    pub(crate) p4info: bool,
    /// Write the entries of the switches of this network, which follow from their places; needs -o. `sluice replay
    /// --topology` and contests take the folder
    #[arg(long, value_name = "TOPOLOGY", requires = "output", conflicts_with_all = ["check", "template", "p4info"])]
    pub(crate) topology: Option<String>,
    /// Folder for SWITCH.toml of each switch of a network
    #[arg(short, long, value_name = "DIR", requires = "topology")]
    pub(crate) output: Option<PathBuf>,
    /// Check a file of entries against the program and the ports of the switch
    #[arg(long, value_name = "FILE")]
    pub(crate) check: Option<PathBuf>,
    /// Print the entries for the routes of a file; see `sluice replay --routes`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["check", "template", "p4info", "topology"])]
    pub(crate) routes: Option<PathBuf>,
    /// Names of the front-panel ports: SONiC's port_config.ini or config_db.json, or lines `name,front`
    #[arg(long, value_name = "FILE", conflicts_with = "topology")]
    pub(crate) port_map: Option<PathBuf>,
    /// Speed of the front-panel ports, which decides their dev_ports, for example 100G
    #[arg(long, value_name = "RATE", value_parser = quantity::<BitRate>)]
    pub(crate) port_speed: Option<BitRate>,
}

/// Prints default entries or a template, or checks a file.
pub(crate) fn run(args: &EntriesArgs, catalogue: &Catalogue, as_json: bool) -> Result<(), Failure> {
    let chip = resolve::chip(&args.target.chip)?;
    if args.p4info && catalogue.get(&args.program).is_err() && is_p4(Path::new(&args.program)) {
        // The message comes from the P4 program itself, so that a program without a home here has it too.
        return print_p4info(args, &chip);
    }
    let opened = door::program(catalogue, &args.program, &args.target)?;
    if let (Some(topology), Some(dir)) = (&args.topology, &args.output) {
        return of_network(args, &opened, topology, dir);
    }
    if args.p4info {
        return Err(Failure::with_help(
            format!("--p4info: `{}` is no P4 program", opened.name()),
            "give a file that ends in .p4; `--template --json` describes the tables of every program",
        ));
    }
    let stage = &opened.stage;
    let program = resolve::build(stage, &args.target)?;
    let ports = resolve::ports(&chip, args.port_speed, args.port_map.as_deref())?;
    let mut out = Out::new();
    if args.template {
        let (usual, _) = resolve::default_entries(stage, (&program, None), &ports, Replaced::Nothing)
            .unwrap_or_else(|_| (ControlState::new(&program), Setup::default()));
        let text = template::print_on(&program, &ports, &usual);
        if as_json {
            writeln!(out, "{}", schema(&program))?
        } else {
            write!(out, "{text}")?
        }
        return Ok(());
    }
    // A check is against the ways of the placed tables; entries can be printed of a program that does not fit.
    let placement = args.check.as_ref().and_then(|_| place(&program, &chip).ok());
    let placed = (&program, placement.as_ref());
    let Entries { control: state, warnings, setup } = match &args.routes {
        Some(path) => resolve::routed(stage, placed, &ports, path, Replaced::Nothing)?,
        None => resolve::entries(stage, placed, &ports, args.check.as_deref(), Replaced::Nothing)?,
    };
    let text = || speeds(&setup) + &entries::print_on(&program, &ports, &state);
    if as_json {
        writeln!(out, "{}", counts(&program, &state, &text(), &warnings))?;
    } else if let Some(file) = &args.check {
        let total: usize = state.tables.values().map(|t| t.entries().count()).sum();
        let file = file.display();
        writeln!(out, "{file}: {total} entries, {}", verdict(warnings.len() as u64))?;
        for warning in warnings {
            writeln!(out, "warning: {warning}")?;
        }
    } else {
        for warning in warnings {
            writeln!(out, "# {warning}")?;
        }
        write!(out, "{}", text())?;
    }
    Ok(())
}

/// Prints what a P4Runtime controller must know of a P4 program.
fn print_p4info(args: &EntriesArgs, chip: &ChipSpec) -> Result<(), Failure> {
    let p4 = &args.target.p4;
    p4.check(chip)?;
    let text = p4info(&p4.disk(), &args.program, &p4.options(chip));
    Ok(write!(Out::new(), "{}", text.map_err(OpenError::from)?)?)
}

/// Returns a comment with the ports that run slower than the others in a run with default entries.
fn speeds(setup: &Setup) -> String {
    let flag = |(port, speed): &(FrontPort, BitRate)| {
        format!("# a run with these default entries has --port {port}={speed}\n")
    };
    setup.port_speeds.iter().map(flag).collect()
}

/// Writes the entries of all switches of a network.
fn of_network(args: &EntriesArgs, opened: &OpenProgram, topology: &str, dir: &Path) -> Result<(), Failure> {
    let speed = args.port_speed;
    let deployment = deployed(&opened.catalogue, opened.name(), &args.target, topology, speed)?;
    let switches = &deployment.network.switches;
    let file = |switch: &SwitchSetup| format!("{}.toml", switch.name);
    let mut folder = Folder::open("entries", dir, switches.iter().map(file))?;
    for switch in switches {
        let text = entries::print_on(&switch.placed.program, &switch.ports, &switch.control);
        let what = format!("entries of switch {}, which runs {}", switch.name, switch.placed.program.name);
        folder.text(&file(switch), "application/toml", &what, &text)?;
    }
    folder.finish()
}

fn schema(program: &Program) -> Value {
    let schema = Schema::of(program);
    let tables: Vec<Value> = schema
        .tables
        .iter()
        .map(|t| {
            let keys: Vec<Value> = t.keys.iter().map(|k| json!({ "name": k.name, "width": k.width, "match": format!("{:?}", k.kind).to_lowercase() })).collect();
            let actions: Vec<Value> = t
                .actions
                .iter()
                .map(|a| json!({ "name": a.name, "params": a.params.iter().map(|p| json!({ "name": p.name, "width": p.width })).collect::<Vec<_>>() }))
                .collect();
            json!({ "name": t.name, "size": t.size, "keys": keys, "actions": actions, "profile": t.profile, "constant": t.constant })
        })
        .collect();
    let port_metadata: Vec<Value> =
        schema.port_metadata.iter().map(|f| json!({ "name": f.name, "width": f.width })).collect();
    json!({
        "schema": "sluice.entries-schema/1", "program": program.name, "tables": tables, "port_metadata": port_metadata,
        "registers": schema.registers, "meters": schema.meters,
    })
}

fn counts(program: &Program, state: &ControlState, toml: &str, warnings: &[String]) -> Value {
    let tables: Vec<Value> = program
        .tables
        .iter()
        .map(|(t, data)| json!({ "table": data.name, "size": data.size, "entries": state.tables[t].entries().count() }))
        .collect();
    json!({
        "schema": "sluice.entries/1", "program": program.name, "tables": tables, "toml": toml, "warnings": warnings,
    })
}
