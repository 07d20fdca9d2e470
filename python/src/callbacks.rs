//! Python callables as properties of a switch and as its control plane.
//!
//! A callable gets the GIL for each call. The exception of a callable is kept, and the call that ran the switch raises it.

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
    /// Picoseconds of its first bit on the line, or of its end.
    time_ps: u64,
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

/// A property that calls Python with each packet that is sent or lost.
pub(crate) struct CallableProperty {
    name: String,
    callable: Arc<Py<PyAny>>,
    raised: Raised,
    switch: Option<String>,
}

impl CallableProperty {
    /// Returns the property of a switch, which has a name in a network.
    pub(crate) fn new(
        name: String,
        callable: Arc<Py<PyAny>>,
        switch: Option<String>,
        raised: &Raised,
    ) -> CallableProperty {
        CallableProperty { name, callable, raised: raised.clone(), switch }
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
        self.judge(|py| Packet {
            number: packet.left.tag,
            time_ps: packet.left.first_bit.as_ps(),
            dev_port: Some(packet.left.egress_port),
            queue: Some(packet.left.qid),
            bytes: PyBytes::new(py, packet.bytes).unbind(),
            received: arrival(py, packet.from),
            reason: None,
            absorbed: false,
            switch: self.switch.clone(),
        })
    }

    fn ended(&mut self, packet: &Ended<'_>) -> Finding {
        self.judge(|py| Packet {
            number: packet.lost.tag,
            time_ps: packet.lost.time.as_ps(),
            dev_port: None,
            queue: None,
            bytes: PyBytes::new(py, packet.bytes).unbind(),
            received: arrival(py, packet.from),
            reason: Some(packet.reason.to_owned()),
            absorbed: packet.lost.absorbed,
            switch: self.switch.clone(),
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
}

impl CallableAgent {
    /// Returns the commands with which the callable answers a digest.
    fn answer(&self, time: Time, switch: &Heard, data: &[u8]) -> PyResult<Vec<String>> {
        Python::attach(|py| {
            let data = PyBytes::new(py, data);
            let answer = match &switch.name {
                Some(name) => self.callable.call1(py, (name, time.as_ps(), data))?,
                None => self.callable.call1(py, (time.as_ps(), data))?,
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
