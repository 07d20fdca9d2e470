//! `--control-plane`: the control plane that comes with a program, for the switches that run it.

use crate::console::fail::Failure;
use crate::replay::args::ReplayArgs;
use serde_json::Value;
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

/// Returns the line of the `control_plane` key for readers; `None` if there was no control plane, or none that reports.
pub(super) fn text(report: &Value) -> Option<String> {
    hot_flows(report).or_else(|| {
        let word = |(key, value): (&String, &Value)| {
            Some(format!("{} {value}", key.replace('_', " "))).filter(|_| value.is_number())
        };
        let words: Vec<String> = report.as_object()?.iter().filter_map(word).collect();
        (!words.is_empty()).then(|| format!("control plane: {}", words.join(", ")))
    })
}

/// Returns the line of a control plane that gives rows to hot flows.
fn hot_flows(hot: &Value) -> Option<String> {
    let percent = hot["hit_percent"].as_f64()?;
    let n = |key: &str| hot[key].as_u64().unwrap_or(0);
    Some(format!(
        "hot flows: {} of {} rows in use, {percent:.1} % of {} DATA under control, {} flows found no row, {} operations",
        n("installed"),
        n("rows"),
        n("data"),
        n("refused"),
        n("operations")
    ))
}
