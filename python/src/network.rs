//! Replays through networks with properties and an agent in Python.

use crate::callbacks::{CallableAgent, CallableProperty, Heard, Place, Raised};
use crate::command::catalogue;
use crate::error::{of, wrong};
use crate::interruptible::interruptible;
use crate::time::duration;
use pyo3::prelude::*;
use sluice::embed::{Additions, PlaneOf, PropertiesOf, replay_network as replay};
use sluice_asic::units::Duration;
use sluice_catalogue::control_plane::ControlPlane;
use sluice_switch::property::Property;
use std::ffi::OsString;
use std::sync::Arc;

/// Name and callable of a property.
type Named = (String, Py<PyAny>);

fn properties(named: Vec<Named>, raised: &Raised) -> PropertiesOf {
    let named: Vec<(String, Arc<Py<PyAny>>)> =
        named.into_iter().map(|(name, callable)| (name, Arc::new(callable))).collect();
    let raised = raised.clone();
    Arc::new(move |switch: &str| {
        let own = |(name, callable): &(String, Arc<Py<PyAny>>)| {
            let (name, callable, at) =
                (name.clone(), Arc::clone(callable), Place::Network(switch.to_owned()));
            Box::new(CallableProperty::new(name, callable, at, &raised)) as Box<dyn Property>
        };
        named.iter().map(own).collect()
    })
}

fn control_plane(callable: Py<PyAny>, latency: Duration, raised: &Raised) -> PlaneOf {
    let raised = raised.clone();
    Box::new(move |switches| {
        let heard = switches.iter().map(|switch| {
            Heard::new(Some(switch.name.clone()), switch.placed.program.clone(), switch.ports.clone())
        });
        let (switches, operations) = (heard.collect(), Default::default());
        Box::new(CallableAgent { callable, latency, switches, raised, operations }) as Box<dyn ControlPlane>
    })
}

/// Runs `sluice replay --topology` with these arguments, properties and agent; returns its exit code, the bytes of stdout and the
/// text of stderr.
#[pyfunction]
pub(crate) fn replay_network(
    py: Python<'_>,
    arguments: Vec<OsString>,
    named: Vec<Named>,
    agent: Option<(Py<PyAny>, Bound<'_, PyAny>)>,
) -> PyResult<(u8, Vec<u8>, String)> {
    let agent =
        agent.map(|(callable, latency)| Ok::<_, PyErr>((callable, duration(py, &latency)?))).transpose()?;
    if agent.as_ref().is_some_and(|(_, latency)| latency.is_zero()) {
        return Err(wrong(py, "the latency of the agent is 0; it must be above 0"));
    }
    let (called, raised) = interruptible(py, move |stop| {
        let raised = Raised::stopping(stop);
        let additions = Additions {
            properties: (!named.is_empty()).then(|| properties(named, &raised)),
            control_plane: agent.map(|(callable, latency)| control_plane(callable, latency, &raised)),
        };
        (replay(catalogue(), &arguments, additions, stop), raised)
    })?;
    if let Some(raised) = raised.take() {
        return Err(raised);
    }
    let called = called.map_err(|e| of(py, &e))?;
    Ok((called.code, called.out, called.err))
}
