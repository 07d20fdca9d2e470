//! Python callables as properties of a switch and as its control plane.
//!
//! A callable gets the GIL for each call. The exception of a callable is kept, and the call that ran the switch raises it.

use crate::digest::Layouts;
use crate::ports::{front, shown};
use crate::time::nanoseconds;
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sluice_asic::port::PortMap;
use sluice_asic::units::{Duration, Time};
use sluice_catalogue::control_plane::{ControlPlane, Operation, Operations};
use sluice_ir::Program;
use sluice_switch::property::{Departed, Ended, Finding, Origin, Property};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The first exception of a switch's callables that has not been raised.
#[derive(Clone, Default)]
pub(crate) struct Raised {
    first: Arc<Mutex<Option<PyErr>>>,
    /// Is set at the first exception.
    stop: Arc<AtomicBool>,
}

impl Raised {
    /// Returns a place for exceptions; the first one sets the flag.
    pub(crate) fn stopping(stop: &Arc<AtomicBool>) -> Raised {
        Raised { stop: Arc::clone(stop), ..Raised::default() }
    }

    fn keep(&self, raised: PyErr) {
        self.first.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(raised);
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Returns true if there is an exception.
    pub(crate) fn is_set(&self) -> bool {
        self.first.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Returns the exception and forgets it.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A packet that a switch sent or lost, as a property gets it.
#[pyclass(frozen, get_all, module = "sluice")]
pub(crate) struct Packet {
    /// Number of the received packet, from 0, that it is or is a copy of.
    number: u64,
    /// Nanoseconds of its first bit on the line, or of its end.
    time_ns: f64,
    /// Front-panel port on which it was sent; None if it was lost, or sent on another port, or in a network.
    port: Option<u16>,
    /// Name of the port on which it was sent: the user's, the number of the front panel, or `dev:64`; None if it was lost.
    port_name: Option<String>,
    /// dev_port on which it was sent; None if it was lost.
    dev_port: Option<u16>,
    /// Queue in which it waited; None if it was lost.
    queue: Option<u8>,
    /// Bytes without FCS.
    bytes: Py<PyBytes>,
    /// Bytes of the packet on arrival; None if the device made it.
    received: Option<Py<PyBytes>>,
    /// Name of the reason for which it ended inside; None if it was sent.
    reason: Option<String>,
    /// True if the program absorbed it on purpose.
    absorbed: bool,
    /// Name of the switch in a network; None for a single switch.
    switch: Option<String>,
}

#[pymethods]
impl Packet {
    fn __getattr__(&self, name: &str) -> PyResult<()> {
        Err(PyAttributeError::new_err(match name {
            "time_ps" => "a packet has no `time_ps`; `time_ns` is its time in nanoseconds".to_owned(),
            _ => format!("a packet has no `{name}`"),
        }))
    }
}

/// A property that calls Python with each packet that is sent or lost.
pub(crate) struct CallableProperty {
    name: String,
    callable: Arc<Py<PyAny>>,
    raised: Raised,
    at: Place,
}

/// The switch of a property.
pub(crate) enum Place {
    /// The only switch, with its ports.
    Alone(PortMap),
    /// A switch of a network, by its name.
    Network(String),
}

impl Place {
    fn name(&self) -> Option<String> {
        match self {
            Place::Alone(_) => None,
            Place::Network(name) => Some(name.clone()),
        }
    }

    /// Returns a port as front-panel port, and its name.
    fn port(&self, dev_port: u16) -> (Option<u16>, Option<String>) {
        match self {
            Place::Alone(ports) => (front(ports, dev_port), Some(shown(ports, dev_port))),
            Place::Network(_) => (None, Some(format!("dev:{dev_port}"))),
        }
    }
}

impl CallableProperty {
    /// Returns the property of a switch.
    pub(crate) fn new(
        name: String,
        callable: Arc<Py<PyAny>>,
        at: Place,
        raised: &Raised,
    ) -> CallableProperty {
        CallableProperty { name, callable, raised: raised.clone(), at }
    }

    fn judge(&self, packet: impl FnOnce(Python<'_>) -> Packet) -> Finding {
        if self.raised.is_set() {
            return Ok(());
        }
        let answer = Python::attach(|py| -> PyResult<Option<String>> {
            self.callable.call1(py, (Py::new(py, packet(py))?,))?.extract(py)
        });
        match answer {
            Ok(None) => Ok(()),
            Ok(Some(text)) => Err(text),
            Err(raised) => {
                self.raised.keep(raised);
                Ok(())
            }
        }
    }
}

fn arrival(py: Python<'_>, from: Option<Origin<'_>>) -> Option<Py<PyBytes>> {
    from.map(|from| PyBytes::new(py, from.bytes).unbind())
}

impl Property for CallableProperty {
    fn name(&self) -> &str {
        &self.name
    }

    fn left(&mut self, packet: &Departed<'_>) -> Finding {
        let (port, port_name) = self.at.port(packet.left.egress_port);
        self.judge(|py| Packet {
            number: packet.left.tag,
            time_ns: nanoseconds(packet.left.first_bit),
            port,
            port_name,
            dev_port: Some(packet.left.egress_port),
            queue: Some(packet.left.qid),
            bytes: PyBytes::new(py, packet.bytes).unbind(),
            received: arrival(py, packet.from),
            reason: None,
            absorbed: false,
            switch: self.at.name(),
        })
    }

    fn ended(&mut self, packet: &Ended<'_>) -> Finding {
        self.judge(|py| Packet {
            number: packet.lost.tag,
            time_ns: nanoseconds(packet.lost.time),
            port: None,
            port_name: None,
            dev_port: None,
            queue: None,
            bytes: PyBytes::new(py, packet.bytes).unbind(),
            received: arrival(py, packet.from),
            reason: Some(packet.reason.to_owned()),
            absorbed: packet.lost.absorbed,
            switch: self.at.name(),
        })
    }
}

/// A control plane that calls Python with each digest; Python answers with commands.
pub(crate) struct CallableAgent {
    pub(crate) callable: Py<PyAny>,
    pub(crate) latency: Duration,
    /// The switches, by index.
    pub(crate) switches: Vec<Heard>,
    pub(crate) raised: Raised,
    pub(crate) operations: Operations,
}

/// A switch whose digests an agent gets.
pub(crate) struct Heard {
    /// Its name in a network, which the callable gets first; `None` for a single switch.
    pub(crate) name: Option<String>,
    pub(crate) program: Program,
    pub(crate) ports: PortMap,
    pub(crate) layouts: Layouts,
}

impl Heard {
    /// Returns a switch with its digests' layouts.
    pub(crate) fn new(name: Option<String>, program: Program, ports: PortMap) -> Heard {
        let layouts = Layouts::of(&program);
        Heard { name, program, ports, layouts }
    }
}

impl CallableAgent {
    /// Returns the commands with which the callable answers a digest.
    fn answer(&self, time: Time, switch: &Heard, data: &[u8]) -> PyResult<Vec<String>> {
        Python::attach(|py| {
            let digest = switch.layouts.digest(py, data)?;
            let time = nanoseconds(time);
            let answer = match &switch.name {
                Some(name) => self.callable.call1(py, (name, time, digest))?,
                None => self.callable.call1(py, (time, digest))?,
            };
            if answer.is_none(py) { Ok(Vec::new()) } else { answer.extract(py) }
        })
    }
}

impl ControlPlane for CallableAgent {
    fn latency(&self) -> Duration {
        self.latency
    }

    fn digest(&mut self, time: Time, switch: usize, data: &[u8]) {
        let at = time + self.latency;
        let Some(heard) = self.switches.get(switch).filter(|_| !self.raised.is_set()) else { return };
        let lines = match self.answer(time, heard, data) {
            Ok(lines) => lines,
            Err(raised) => return self.raised.keep(raised),
        };
        match crate::switch::operations(&heard.program, &heard.ports, &lines) {
            Ok(ops) => self.operations.add(at, switch, ops),
            Err(text) => self.raised.keep(Python::attach(|py| crate::error::wrong(py, text))),
        }
    }

    fn poll(&mut self) -> Option<Operation> {
        self.operations.poll()
    }
}
