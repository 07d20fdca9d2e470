//! Programs and entries of a network's switches before a placement.
//!
//! A placement takes longer than all of this, and the results of a run follow from the programs and the entries. So a
//! caller that has finished runs can tell by these whether the runs still hold.

use super::{Defaults, DeployError, Places, places};
use crate::topology::{Blueprint, SwitchPlan};
use sluice_asic::port::PortMap;
use sluice_catalogue::position::Position;
use sluice_catalogue::{Catalogue, Setup, SetupError, StageProgram};
use sluice_ir::Program;
use std::sync::Arc;

/// Programs and derived entries of the switches of a network.
#[derive(Debug)]
pub struct NetworkPrograms {
    /// Each program with its parameters once, in the order of the switches.
    pub programs: Vec<Program>,
    /// For each switch, the index of its program, and the entries that follow from the switch's position.
    pub switches: Vec<(usize, Result<Setup, SetupError>)>,
}

/// Program of a switch, and its parameters.
pub(super) struct Choice<'a> {
    pub(super) stage: &'a Arc<dyn StageProgram>,
    pub(super) params: Vec<(String, String)>,
}

/// Returns the programs of a blueprint's switches with their entries, without placing them.
///
/// # Errors
/// If a switch or cable cannot be built, or a program rejects its parameters; the first error is reported.
pub fn programs<E>(
    plan: &Blueprint,
    catalogue: &Catalogue,
    defaults: &Defaults,
) -> Result<NetworkPrograms, DeployError<E>> {
    let Places { maps, positions, .. } = places(plan, defaults)?;
    let mut known: Vec<(&str, Vec<(String, String)>)> = Vec::new();
    let mut network = NetworkPrograms { programs: Vec::new(), switches: Vec::with_capacity(maps.len()) };
    for ((switch, position), ports) in plan.switches.iter().zip(&positions).zip(&maps) {
        let Choice { stage, params } = choose(plan, switch, catalogue, defaults, position)?;
        let key = (stage.name(), params);
        let number = known.iter().position(|other| *other == key).unwrap_or(known.len());
        if number == known.len() {
            let refused =
                |source| DeployError::Program { switch: switch.name.clone(), source: Box::new(source) };
            network.programs.push(stage.build(&key.1).map_err(refused)?);
            known.push(key);
        }
        let setup = setup(stage.as_ref(), &network.programs[number], ports, position);
        network.switches.push((number, setup));
    }
    Ok(network)
}

/// Returns the program and the parameters that the blueprint, the defaults and the position give to a switch.
pub(super) fn choose<'a, E>(
    plan: &Blueprint,
    switch: &SwitchPlan,
    catalogue: &'a Catalogue,
    defaults: &Defaults,
    position: &Position,
) -> Result<Choice<'a>, DeployError<E>> {
    let unknown = |source| DeployError::Unknown { switch: switch.name.clone(), source };
    let network = plan.program.as_ref().unwrap_or(&defaults.program);
    let asked = switch.program.as_ref().unwrap_or(network);
    let mut stage = catalogue.get(asked).map_err(unknown)?;
    let role = stage.role_at(position);
    // A program that the file names for this switch overrides the role of its position.
    if switch.program.is_none() {
        stage = catalogue.get(&role.program).map_err(unknown)?;
    }
    let name = stage.name();
    let mut params = if name == role.program { role.params } else { Vec::new() };
    // The parameters of the network belong to its program; a switch that runs another program does not take them.
    if name == defaults.program {
        params.extend(defaults.params.iter().cloned());
    }
    params.extend(plan.params.iter().filter(|_| name == network).cloned());
    params.extend(switch.params.iter().cloned());
    Ok(Choice { stage, params })
}

/// Returns the entries that follow from a switch's position; the program's default entries if the program knows none.
pub(super) fn setup(
    stage: &dyn StageProgram,
    program: &Program,
    ports: &PortMap,
    position: &Position,
) -> Result<Setup, SetupError> {
    stage.setup_at(program, ports, position).unwrap_or_else(|| stage.default_setup(program, ports))
}
