//! `sluice programs`: lists the programs, or describes one.

use crate::console::fail::Failure;
use crate::console::invocation::Out;
use crate::console::numbers::quantity;
use crate::console::table::table;
use crate::open::door;
use crate::open::resolve;
use crate::open::target::Target;
use crate::open::topology::deployed;
use crate::output::files::Folder;
use clap::Args;
use serde_json::{Value, json};
use sluice_asic::units::BitRate;
use sluice_catalogue::{Catalogue, StageProgram};
use sluice_fabric::deploy::Deployment;
use sluice_p4::write::Unwritable;
use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ProgramsArgs {
    /// Program to describe: a name, or a .sluice or .p4 file
    pub(crate) program: Option<String>,
    /// Print the program in P4_16, as a whole program for TNA and T2NA
    #[arg(long, requires = "program")]
    pub(crate) p4: bool,
    /// Print the program in Sluice's text form, which is a .sluice file
    #[arg(long, requires = "program", conflicts_with = "p4")]
    pub(crate) ir: bool,
    /// With --ir, write the programs of the switches of this network, with the parameters of their places; needs -o
    #[arg(long, value_name = "TOPOLOGY", requires_all = ["ir", "output"])]
    pub(crate) topology: Option<String>,
    /// Folder for the .sluice files of a network's switches
    #[arg(short, long, value_name = "DIR", requires = "topology")]
    pub(crate) output: Option<PathBuf>,
    /// Speed of the front-panel ports of the network, which decides their dev_ports, for example 100G
    #[arg(long, value_name = "RATE", requires = "topology", value_parser = quantity::<BitRate>)]
    pub(crate) port_speed: Option<BitRate>,
    #[command(flatten)]
    pub(crate) target: Target,
}

/// Lists programs, or describes one.
pub(crate) fn run(args: &ProgramsArgs, catalogue: &Catalogue, as_json: bool) -> Result<(), Failure> {
    let mut out = Out::new();
    let Some(program) = &args.program else {
        resolve::chip(&args.target.chip)?;
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
    let opened = door::program(catalogue, program, &args.target)?;
    let (stage, name) = (&opened.stage, opened.name());
    if args.p4 {
        let program = resolve::build(stage, &args.target)?;
        let text = sluice_p4::write::write(&program).map_err(|parts| without_p4(name, &parts))?;
        write!(out, "{text}")?;
    } else if let (true, Some(topology), Some(dir)) = (args.ir, &args.topology, &args.output) {
        let deployment = deployed(&opened.catalogue, name, &args.target, topology, args.port_speed)?;
        of_network(name, &deployment, dir)?;
    } else if args.ir {
        let program = resolve::build(stage, &args.target)?;
        write!(out, "{}", sluice_ir::text::print(&program))?;
    } else if as_json {
        let mut program = describe(stage.as_ref());
        program["schema"] = "sluice.program/1".into();
        writeln!(out, "{program}")?;
    } else {
        writeln!(out, "{}: {}\n\nParameters (--set key=value):", stage.name(), stage.summary())?;
        for p in stage.params() {
            writeln!(out, "  {} = {}\n      {}", p.key, p.value, p.help())?;
        }
    }
    Ok(())
}

/// Returns the failure of a program with parts that P4 cannot say.
fn without_p4(name: &str, parts: &[Unwritable]) -> Failure {
    let parts: Vec<String> = parts.iter().map(|part| format!("{part} ({})", part.at)).collect();
    let help = format!("`sluice programs {name} --ir` prints the program in Sluice's text form");
    Failure::with_help(format!("program `{name}` has parts without a form in P4: {}", parts.join("; ")), help)
}

/// Writes the programs of a network's switches: NAME.sluice has that of the first switch and the roles of the others.
fn of_network(name: &str, deployment: &Deployment, dir: &Path) -> Result<(), Failure> {
    let switches = &deployment.network.switches;
    let mut texts: Vec<(String, String)> = Vec::new();
    let mut roles = String::new();
    for switch in switches {
        let text = sluice_ir::text::print(&switch.placed.program);
        let number = texts.iter().position(|(_, known)| *known == text).unwrap_or(texts.len());
        if number == texts.len() {
            let stem = if number == 0 { name } else { &switch.name };
            texts.push((format!("{stem}.sluice"), text));
        }
        if number > 0 {
            // Writing into a String cannot fail.
            _ = writeln!(roles, "role \"{}\" = \"{}\";", switch.name, texts[number].0);
        }
    }
    let mut folder = Folder::open("programs", dir, texts.iter().map(|(file, _)| file.as_str()))?;
    for (number, (file, text)) in texts.iter().enumerate() {
        let roles = if number == 0 && !roles.is_empty() { format!("\n{roles}") } else { String::new() };
        let what = "a program of the network, with the parameters of its place";
        folder.text(file, "text/plain", what, &format!("{text}{roles}"))?;
    }
    folder.finish()
}

fn describe(stage: &dyn StageProgram) -> Value {
    let params: Vec<Value> =
        stage.params().iter().map(|p| json!({ "key": p.key, "default": p.value, "doc": p.help() })).collect();
    json!({ "name": stage.name(), "summary": stage.summary(), "params": params })
}
