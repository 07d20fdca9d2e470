//! Control planes that come with programs: they receive digests and idle entries, and answer with operations.
//!
//! A program offers its control plane by [`StageProgram::control_plane`](crate::StageProgram::control_plane). A control
//! plane has no loop, clock or thread. A run of switches passes digests and idle entries to the control plane, and
//! applies its operations at their times.
//!
//! A control plane of one's own needs three methods: [`latency`](ControlPlane::latency),
//! [`digest`](ControlPlane::digest) and [`poll`](ControlPlane::poll). [`Operations`] is its list of operations that
//! wait for their times, [`Ops`](crate::setup::Ops) makes operations from names, and
//! [`ControlPlaneRequest::read_settings`] reads what users write after `--control-plane=`.
//!
//! ```
//! use sluice_asic::units::{Duration, Time};
//! use sluice_catalogue::control_plane::{ControlPlane, Operation, Operations};
//! use sluice_catalogue::setup::Ops;
//! use sluice_ir::{KeyValue, Program};
//!
//! /// Blocks each IPv4 source that a switch reports.
//! struct Blocker {
//!     program: Program,
//!     operations: Operations,
//! }
//!
//! impl ControlPlane for Blocker {
//!     fn latency(&self) -> Duration {
//!         Duration::from_micros(100)
//!     }
//!
//!     fn digest(&mut self, time: Time, switch: usize, data: &[u8]) {
//!         let Some(source) = data.first_chunk().map(|bytes| u32::from_be_bytes(*bytes)) else { return };
//!         let mut ops = Ops::new(&self.program);
//!         // A program without these names is not the one that sent the digest.
//!         if ops.entry("blocked", [KeyValue::Exact(source.into())], "block", []).is_ok() {
//!             self.operations.add(time + self.latency(), switch, ops.into_vec());
//!         }
//!     }
//!
//!     fn poll(&mut self) -> Option<Operation> {
//!         self.operations.poll()
//!     }
//! }
//! # let mut blocker = Blocker { program: Program::default(), operations: Operations::default() };
//! # blocker.digest(Time::ORIGIN, 0, &[10, 0, 0, 1]);
//! # assert_eq!(blocker.poll(), None);
//! ```

use serde_json::Value;
use sluice_asic::units::{Duration, Time};
use sluice_build::params::Params;
use sluice_control::{ControlOp, EntryId};
use sluice_ir::{KeyValue, Program};
use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;
use thiserror::Error;

/// An operation of a control plane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Time at which the operation takes effect. An operation that is too late takes effect at once.
    pub time: Time,
    /// Number of the switch.
    pub switch: usize,
    /// The operation.
    pub op: ControlOp,
}

/// A control plane that receives digests and idle entries, and answers with operations.
///
/// A run stops at least once per [`ControlPlane::latency`] to pass events to the control plane. Switches have the
/// numbers of their network; a single switch has number 0.
pub trait ControlPlane: Send {
    /// Returns the least time from a digest or an idle entry to an operation that follows from it; above 0.
    fn latency(&self) -> Duration;

    /// Receives a digest that a switch sent at `time`. Digests arrive in order of time.
    fn digest(&mut self, time: Time, switch: usize, data: &[u8]);

    /// Receives an entry that has reached its time to live. The key is empty if the entry is no longer in its table.
    fn idle(&mut self, time: Time, switch: usize, entry: EntryId, key: &[KeyValue]) {
        let _ = (time, switch, entry, key);
    }

    /// Returns the next operation, in order of time; `None` if there is none for now.
    fn poll(&mut self) -> Option<Operation>;

    /// Returns the test for frames that [`ControlPlane::report`] counts. Switches of a network run on several threads, so
    /// the test is a plain function. By default no frame passes.
    fn counts(&self) -> fn(&[u8]) -> bool {
        |_| false
    }

    /// Returns the report in summaries; `frames` is the number of frames from outside that passed the test. By default
    /// there is no report.
    fn report(&self, frames: u64) -> Value {
        let _ = frames;
        Value::Null
    }

    /// Returns the report as a line for readers; `None` without a report. By default the numbers of the report with their
    /// keys.
    fn line(&self, frames: u64) -> Option<String> {
        numbers(&self.report(frames))
    }
}

/// Returns the numbers of a report with their keys; `None` if it has none.
#[must_use]
pub fn numbers(report: &Value) -> Option<String> {
    let word = |(key, value): (&String, &Value)| {
        Some(format!("{} {value}", key.replace('_', " "))).filter(|_| value.is_number())
    };
    let words: Vec<String> = report.as_object()?.iter().filter_map(word).collect();
    (!words.is_empty()).then(|| format!("control plane: {}", words.join(", ")))
}

/// Operations of a control plane that wait for their times.
#[derive(Clone, Debug, Default)]
pub struct Operations {
    queue: VecDeque<Operation>,
    total: u64,
}

impl Operations {
    /// Adds operations on one switch that take effect at `time`, in this order. They follow all operations that were added
    /// before and have the same time.
    pub fn add(&mut self, time: Time, switch: usize, ops: impl IntoIterator<Item = ControlOp>) {
        for op in ops {
            let at = self.queue.partition_point(|known| known.time <= time);
            self.queue.insert(at, Operation { time, switch, op });
            self.total += 1;
        }
    }

    /// Returns the next operation, in order of time, and removes it; `None` if there is none. This is what
    /// [`ControlPlane::poll`] returns.
    pub fn poll(&mut self) -> Option<Operation> {
        self.queue.pop_front()
    }

    /// Returns the number of operations that were added so far.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.total
    }
}

/// Switches and settings with which a control plane starts.
#[derive(Clone, Debug)]
pub struct ControlPlaneRequest<'r> {
    /// The program of the switches, as built.
    pub program: &'r Program,
    /// Settings: `KEY=VALUE` joined by commas. Empty: the defaults.
    pub settings: &'r str,
    /// The switch of each host of a network; `None` for a single switch whose peers are not in the run.
    pub hosts: Option<BTreeMap<Ipv4Addr, usize>>,
}

impl ControlPlaneRequest<'_> {
    /// Returns the settings as a struct with `#[derive(Params)]`: its default values, except for the keys that the request
    /// sets.
    ///
    /// # Errors
    /// If a word is not `KEY=VALUE`, or if a key or a value is refused.
    pub fn read_settings<P: Params + Default>(&self) -> Result<P, ControlPlaneError> {
        let mut settings = P::default();
        for word in self.settings.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            let Some((key, value)) = word.split_once('=') else {
                let keys: Vec<String> = settings.list().into_iter().map(|info| info.key).collect();
                let keys = keys.join(", ");
                return Err(ControlPlaneError::new(format!("`{word}` is not KEY=VALUE; keys are {keys}")));
            };
            settings.set(key.trim(), value.trim()).map_err(|e| ControlPlaneError::new(e.to_string()))?;
        }
        Ok(settings)
    }
}

/// Reason for which a control plane cannot start.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{text}")]
pub struct ControlPlaneError {
    /// Value found, and allowed values.
    pub text: String,
    /// Advice on how to fix it, if the text does not have it.
    pub help: Option<String>,
}

impl ControlPlaneError {
    /// Returns an error whose text says how to fix it.
    pub fn new(text: impl Into<String>) -> ControlPlaneError {
        ControlPlaneError { text: text.into(), help: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_control::DeviceOp;

    #[derive(Debug, Params)]
    struct Settings {
        /// Time from a digest to its operation
        latency: Duration,
        /// Port of the flows
        #[param(range = 0..=511)]
        port: u16,
    }

    impl Default for Settings {
        fn default() -> Self {
            Settings { latency: Duration::from_micros(100), port: 9 }
        }
    }

    fn read(settings: &str) -> Result<(u64, u16), String> {
        let program = Program::default();
        let request = ControlPlaneRequest { program: &program, settings, hosts: None };
        let read = request.read_settings::<Settings>();
        read.map(|s| (s.latency.as_ps(), s.port)).map_err(|e| e.to_string())
    }

    #[test]
    fn settings_are_keys_and_values() {
        assert_eq!(read(""), Ok((100_000_000, 9)));
        assert_eq!(read("port=17, latency=5us,"), Ok((5_000_000, 17)));
        assert_eq!(read("port"), Err("`port` is not KEY=VALUE; keys are latency, port".to_owned()));
        assert_eq!(read("port=512"), Err("parameter `port` is `512`; expected 0 to 511".to_owned()));
        let unknown = "unknown parameter `ports`; did you mean `port`? (parameters: latency, port)";
        assert_eq!(read("ports=1"), Err(unknown.to_owned()));
    }

    #[test]
    fn operations_come_in_order_of_time() {
        let op = |port| ControlOp::Device(DeviceOp::SetPort { port, up: true });
        let mut operations = Operations::default();
        operations.add(Time::from_nanos(20), 0, [op(1), op(2)]);
        operations.add(Time::from_nanos(10), 1, [op(3)]);
        operations.add(Time::from_nanos(20), 2, [op(4)]);
        assert_eq!(operations.total(), 4);
        let found: Vec<(u64, usize, ControlOp)> =
            std::iter::from_fn(|| operations.poll()).map(|o| (o.time.as_nanos(), o.switch, o.op)).collect();
        assert_eq!(found, [(10, 1, op(3)), (20, 0, op(1)), (20, 0, op(2)), (20, 2, op(4))]);
        assert_eq!(operations.total(), 4);
    }
}
