//! Topologies as JSON: switches, hosts and cables.

use crate::error::wrong;
use pyo3::prelude::*;
use serde_json::{Value, json};
use sluice_fabric::topology::{Blueprint, CablePlan, HostPlan, SwitchPlan, built};

/// Returns the blueprint of a builder's text, or of a file's text with the file's name.
fn blueprint(text: &str, file: Option<&str>) -> Result<Blueprint, String> {
    match file {
        None => built(text).map_err(|e| e.to_string()),
        Some(origin) if Blueprint::is_ns3(text) => {
            Blueprint::from_ns3(text, origin).map_err(|e| e.to_string())
        }
        Some(origin) => Blueprint::from_toml(text, origin).map_err(|e| e.to_string()),
    }
}

fn switch(plan: &SwitchPlan) -> Value {
    json!({
        "name": plan.name,
        "stage": plan.stage,
        "block": plan.block,
        "program": plan.program,
        "subnet": plan.subnet.map(|subnet| format!("{}/{}", subnet.address, subnet.len)),
    })
}

fn host(plan: &Blueprint, host: &HostPlan) -> Value {
    let at = host.at.iter().map(|at| {
        json!({
            "switch": plan.switches.get(at.switch as usize).map(|switch| &switch.name),
            "port": at.port,
            "rate_bps": at.rate.map(|rate| rate.as_bps()),
            "delay_ns": at.delay.map(|delay| delay.as_ps() as f64 / 1000.0),
        })
    });
    json!({ "name": host.name, "address": host.address.to_string(), "at": at.collect::<Vec<_>>() })
}

fn cable(plan: &Blueprint, cable: &CablePlan) -> Value {
    let name = |end: usize| plan.switches.get(cable.ends[end] as usize).map(|switch| &switch.name);
    json!({
        "name": plan.cable_name(cable),
        "ends": [name(0), name(1)],
        "ports": cable.ports,
        "weight": cable.weight,
        "rate_bps": cable.rate.map(|rate| rate.as_bps()),
        "delay_ns": cable.delay.as_ps() as f64 / 1000.0,
    })
}

/// Returns a topology as JSON text: `name`, `switches`, `hosts`, `cables`. `text` is that of a builder; or that of a file, whose
/// name is `file`.
#[pyfunction]
#[pyo3(signature = (text, file = None))]
pub(crate) fn topology(py: Python<'_>, text: &str, file: Option<&str>) -> PyResult<String> {
    let plan = blueprint(text, file).map_err(|e| wrong(py, e))?;
    let value = json!({
        "name": plan.name,
        "switches": plan.switches.iter().map(switch).collect::<Vec<_>>(),
        "hosts": plan.hosts.iter().map(|h| host(&plan, h)).collect::<Vec<_>>(),
        "cables": plan.cables.iter().map(|c| cable(&plan, c)).collect::<Vec<_>>(),
    });
    Ok(value.to_string())
}
