//! `--control-plane`: the control plane that comes with a program, for the switches that run it.

use crate::console::fail::Failure;
use crate::replay::args::ReplayArgs;
use sluice_catalogue::Catalogue;
use sluice_catalogue::control_plane::{ControlPlane, ControlPlaneError, ControlPlaneRequest};
use sluice_catalogue::position::Position;
use sluice_fabric::network::SwitchSetup;
use sluice_ir::Program;

/// Returns the control plane of one switch; `None` without `--control-plane`.
pub(super) fn of_switch(
    args: &ReplayArgs,
    catalogue: &Catalogue,
    switch: &SwitchSetup,
) -> Result<Option<Box<dyn ControlPlane>>, Failure> {
    let Some(settings) = &args.control_plane else { return Ok(None) };
    let program = &switch.placed.program;
    let started = start(catalogue, &ControlPlaneRequest { program, settings, hosts: None });
    let none = || format!("`{}` has no control plane", program.name);
    started.unwrap_or_else(|| Err(Failure::with_help(none(), others(catalogue)))).map(Some)
}

/// Returns the control plane of the first program of a network that has one; `None` without `--control-plane`.
pub(super) fn of_network(
    args: &ReplayArgs,
    catalogue: &Catalogue,
    switches: &[SwitchSetup],
    positions: &[Position],
) -> Result<Option<Box<dyn ControlPlane>>, Failure> {
    let Some(settings) = &args.control_plane else { return Ok(None) };
    let hosts = positions.first().into_iter().flat_map(|p| &p.hosts);
    let hosts = Some(hosts.map(|(n, a)| (*a, *n as usize)).collect());
    let request = ControlPlaneRequest { program: &Program::default(), settings, hosts };
    let started = switches
        .iter()
        .map(|s| ControlPlaneRequest { program: &s.placed.program, ..request.clone() })
        .find_map(|request| start(catalogue, &request));
    let none = "no switch runs a program with a control plane";
    started.unwrap_or_else(|| Err(Failure::with_help(none, others(catalogue)))).map(Some)
}

/// Starts the control plane of a program; `None` if the program has none.
fn start(
    catalogue: &Catalogue,
    request: &ControlPlaneRequest<'_>,
) -> Option<Result<Box<dyn ControlPlane>, Failure>> {
    let failure = |ControlPlaneError { text, help }| match help {
        Some(help) => Failure::with_help(text, help),
        None => Failure::input(format!("--control-plane: {text}")),
    };
    let started = catalogue.get(&request.program.name).ok()?.control_plane(request)?.map_err(failure);
    Some(started.and_then(|plane| match plane.latency().is_zero() {
        true => Err(Failure::input("--control-plane: the latency must be above 0")),
        false => Ok(plane),
    }))
}

/// Returns the help that lists the programs with a control plane.
fn others(catalogue: &Catalogue) -> String {
    let program = Program::default();
    let request = ControlPlaneRequest { program: &program, settings: "", hosts: None };
    let able = catalogue.programs().iter().filter(|p| p.control_plane(&request).is_some());
    let names: Vec<&str> = able.map(|p| p.name()).collect();
    format!("programs with a control plane: {}", names.join(", "))
}
