//! Resolves arguments: chip, ports, program, placement, entries, topology.

use crate::console::fail::Failure;
use crate::console::text_file::read_text;
use crate::open::target::Target;
use sluice_asic::chip::ChipSpec;
use sluice_asic::names::nearest;
use sluice_asic::port::PortMap;
use sluice_asic::port_names::PortNames;
use sluice_asic::units::{BitRate, Duration};
use sluice_catalogue::route_list::{RouteList, RouteListError};
use sluice_catalogue::setup::Replaced;
use sluice_catalogue::{Catalogue, Setup, StageProgram};
use sluice_control::{self as control, ControlOp, ControlState, Script};
use sluice_exec::control_state;
use sluice_fabric::topology::{Blueprint, built};
use sluice_ir::Program;
use sluice_place::{NoFit, Options, Placement, place_with};
use std::path::Path;
use std::sync::Arc;

/// Returns the chip with this name, or the chip of a TOML file.
pub(crate) fn chip(name: &str) -> Result<ChipSpec, Failure> {
    if let Some(chip) = ChipSpec::from_name(name) {
        return Ok(chip);
    }
    let path = Path::new(name);
    if path.extension().is_none_or(|e| e != "toml") {
        let names = ChipSpec::NAMES.join(", ");
        let near = nearest(name, ChipSpec::NAMES).map_or(String::new(), |n| format!("did you mean `{n}`? "));
        return Err(Failure::with_help(
            format!("there is no chip `{name}`"),
            format!(
                "{near}chips are {names}, or a TOML file with `base = \"tofino2\"` and the numbers to change"
            ),
        ));
    }
    let text = read_text(path)?;
    ChipSpec::from_toml(&text, name).map_err(Failure::input)
}

/// Returns the program with this name.
pub(crate) fn stage<'c>(catalogue: &'c Catalogue, name: &str) -> Result<&'c Arc<dyn StageProgram>, Failure> {
    catalogue
        .get(name)
        .map_err(|e| Failure::with_help(e, "`sluice programs` lists them with their parameters"))
}

/// Builds a program.
pub(crate) fn build(stage: &Arc<dyn StageProgram>, target: &Target) -> Result<Program, Failure> {
    let help = format!("`sluice programs {}` lists the parameters with ranges and defaults", stage.name());
    let sets = &target.sets;
    if let Some((key, _)) =
        sets.iter().enumerate().find_map(|(at, set)| sets[..at].iter().find(|(key, _)| *key == set.0))
    {
        return Err(Failure::with_help(
            format!("--set {key}: the parameter is set twice"),
            "leave one of them out",
        ));
    }
    stage.build(&target.sets).map_err(|e| Failure::with_help(e, help))
}

/// Places a program. A program that does not fit is not an error of the input, so it has a separate error type.
pub(crate) fn fit(program: &Program, chip: &ChipSpec, options: &Options) -> Result<Placement, Box<NoFit>> {
    place_with(program, chip, options).map_err(Box::new)
}

/// Returns the ports of a chip at a speed; without one, at the fastest speed in the port map, a file with names of ports, or
/// else at the chip's default.
pub(crate) fn ports(chip: &ChipSpec, speed: Option<BitRate>, map: Option<&Path>) -> Result<PortMap, Failure> {
    let names = map.map(port_names).transpose()?;
    let of_map = names.as_ref().and_then(|names| names.fastest()).filter(|_| speed.is_none());
    let ports = match speed.or(of_map) {
        None => PortMap::default_for(chip).map_err(Failure::input)?,
        Some(rate) => PortMap::new(chip, rate).map_err(|e| match (map, of_map) {
            (Some(path), Some(_)) => Failure::with_help(
                format!("{}: {e}", path.display()),
                "--port-speed RATE gives all ports a speed that the chip has",
            ),
            _ => Failure::input(e),
        })?,
    };
    Ok(match names {
        None => ports,
        Some(names) => ports.with_names(names),
    })
}

/// Returns the ports whose speed in the port map differs from the speed at which all ports begin: dev_port and speed.
pub(crate) fn mapped_speeds(ports: &PortMap) -> Vec<(u16, BitRate)> {
    let named = ports.names().into_iter().flat_map(|names| names.iter());
    let speed = named.filter_map(|(front, named)| Some((ports.front(front)?, named.speed?)));
    let other = speed.filter(|(port, speed)| port.speed != *speed);
    other.map(|(port, speed)| (port.dev_port.number(), speed)).collect()
}

/// Returns the names of ports in a file.
pub(crate) fn port_names(path: &Path) -> Result<Arc<PortNames>, Failure> {
    let text = read_text(path)?;
    PortNames::parse(&path.display().to_string(), &text).map(Arc::new).map_err(Failure::input)
}

/// Adds the entries of a file: TOML if its name ends in `.toml`, otherwise lines. Refuses ports that the switch does not
/// have and `usual`, the state without the file, does not name. Returns warnings about the file.
pub(crate) fn load(
    program: &Program,
    ports: &PortMap,
    path: &Path,
    usual: &ControlState,
    state: &mut ControlState,
) -> Result<Vec<String>, Failure> {
    let script = read(program, ports, path, usual, state)?;
    Ok(script.unlikely_ports(program, ports, usual))
}

/// Like [`load`]; returns the script, which was applied.
fn read(
    program: &Program,
    ports: &PortMap,
    path: &Path,
    usual: &ControlState,
    state: &mut ControlState,
) -> Result<Script, Failure> {
    let text = read_text(path)?;
    let origin = path.display().to_string();
    let toml = path.extension().is_some_and(|e| e == "toml");
    let load = if toml { control::toml::load_on } else { control::lines::load_on };
    let script = load(program, ports, &text, &origin, state).map_err(|e| Failure::entries(&e))?;
    let missing = script.missing_ports(program, ports, usual);
    if missing.is_empty() { Ok(script) } else { Err(Failure::entries(&missing)) }
}

/// Returns the changes of a file with the times at which they take effect, checked against the entries of that time.
pub(crate) fn changes(
    program: &Program,
    ports: &PortMap,
    control: &ControlState,
    path: &Path,
) -> Result<Vec<(Duration, ControlOp)>, Failure> {
    let text = read_text(path)?;
    let origin = path.display().to_string();
    let script = control::lines::parse_changes_on(program, ports, &text, &origin);
    let script = script.map_err(|e| Failure::entries(&e))?;
    script.check(program, control).map_err(|e| Failure::entries(&e))?;
    Ok(script.ops.into_iter().map(|sourced| (sourced.at, sourced.op)).collect())
}

/// Entries of a switch before a run.
pub(crate) struct Entries {
    pub(crate) control: ControlState,
    /// Settings that come with default entries; empty with a file.
    pub(crate) setup: Setup,
    /// Warnings about the file.
    pub(crate) warnings: Vec<String>,
}

/// Returns a state without entries. With a placement, exact tables take as many entries as their ways do; without one, as
/// many as their size.
fn empty((program, placement): (&Program, Option<&Placement>)) -> ControlState {
    placement.map_or_else(|| ControlState::new(program), |placement| control_state(program, placement))
}

/// Returns the state with the default entries but those that the device's buffer profile has replaced, or with those of a file.
pub(crate) fn entries(
    stage: &Arc<dyn StageProgram>,
    (program, placement): (&Program, Option<&Placement>),
    ports: &PortMap,
    file: Option<&Path>,
    replaced: Replaced,
) -> Result<Entries, Failure> {
    let defaults = default_entries(stage, (program, placement), ports, replaced);
    let Some(path) = file else {
        let (control, setup) = defaults?;
        return Ok(Entries { control, setup, warnings: Vec::new() });
    };
    let mut control = empty((program, placement));
    // Parameters that have no room for the default entries have none that are usual.
    let usual = defaults.map_or_else(|_| control.clone(), |(usual, _)| usual);
    let warnings = load(program, ports, path, &usual, &mut control)?;
    Ok(Entries { control, setup: Setup::default(), warnings })
}

/// Returns the state in which a program has the routes of a file, as at a place in a network; parameters as of [`entries`].
pub(crate) fn routed(
    stage: &Arc<dyn StageProgram>,
    (program, placement): (&Program, Option<&Placement>),
    ports: &PortMap,
    path: &Path,
    replaced: Replaced,
) -> Result<Entries, Failure> {
    let text = read_text(path)?;
    let mistakes = |errors: Vec<RouteListError>| {
        let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        let help = "--port-map FILE gives front-panel ports the names that the routes have";
        Failure::with_help(texts.join("\n"), help)
    };
    let list = RouteList::parse(&path.display().to_string(), &text).map_err(mistakes)?;
    let find = |name: &str| ports.find(name).map_err(|e| e.to_string());
    let (position, warnings) = list.position(ports, find).map_err(mistakes)?;
    let setup = stage.setup_at(program, ports, &position).ok_or_else(|| {
        let help = "a .sluice file says with `routes` which table they fill; `--entries` takes any table";
        Failure::with_help(format!("`{}` has no table for routes", stage.name()), help)
    })?;
    let (control, setup) = applied((program, placement), setup.map_err(Failure::input)?, replaced)?;
    Ok(Entries { control, setup, warnings })
}

/// Returns the state with the default entries of a program, and the settings that come with them; parameters as of
/// [`entries`].
pub(crate) fn default_entries(
    stage: &Arc<dyn StageProgram>,
    (program, placement): (&Program, Option<&Placement>),
    ports: &PortMap,
    replaced: Replaced,
) -> Result<(ControlState, Setup), Failure> {
    let setup = stage.default_setup(program, ports).map_err(Failure::input)?;
    applied((program, placement), setup, replaced)
}

/// Returns the state after a setup; parameters as of [`entries`].
fn applied(
    (program, placement): (&Program, Option<&Placement>),
    mut setup: Setup,
    replaced: Replaced,
) -> Result<(ControlState, Setup), Failure> {
    let mut state = empty((program, placement));
    setup.remove(program, replaced);
    for op in &setup.ops {
        let advice = "the entries need a larger table: raise the parameter that sets its size";
        state.apply(program, op.clone()).map_err(|e| Failure::with_help(e, advice))?;
    }
    Ok((state, setup))
}

/// Returns true if a topology names a file.
pub(crate) fn is_topology_file(path: &Path) -> bool {
    path.is_file() || path.extension().is_some_and(|e| e == "toml" || e == "txt")
}

/// Returns the topology of a builder, or of a TOML or ns-3 file.
pub(crate) fn blueprint(topology: &str) -> Result<Blueprint, Failure> {
    let path = Path::new(topology);
    if !is_topology_file(path) {
        return built(topology).map_err(Failure::input);
    }
    let text = read_text(path)?;
    blueprint_of(&text, topology)
}

/// Returns the network of a file's text; `topology` is its name, for errors.
pub(crate) fn blueprint_of(text: &str, topology: &str) -> Result<Blueprint, Failure> {
    if Blueprint::is_ns3(text) {
        Blueprint::from_ns3(text, topology).map_err(Failure::input)
    } else {
        Blueprint::from_toml(text, topology).map_err(Failure::input)
    }
}
