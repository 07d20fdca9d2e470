//! The control plane of `heavy-hitter`: it moves each heavy flow to another queue until the flow is idle.

use serde_json::{Value, json};
use sluice::prelude::*;
use std::collections::BTreeSet;

/// Settings: `--control-plane=queue=3,latency=100us`.
#[derive(Clone, Debug, params::Params)]
struct Settings {
    /// Queue of the flows
    #[param(range = 0..=127)]
    queue: u8,
    /// Time from a digest to the entry, and from an idle entry to its removal
    #[param(expects = "a time such as 100us")]
    latency: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { queue: 3, latency: Duration::from_micros(100) }
    }
}

struct Agent {
    program: Program,
    settings: Settings,
    /// Flows with an entry: switch, IPv4 source and destination.
    moved: BTreeSet<(usize, u32, u32)>,
    operations: Operations,
}

/// Starts the control plane of the switches that run a program.
///
/// # Errors
/// If a setting is refused, or the program is not `heavy-hitter`.
pub fn start(request: &ControlPlaneRequest<'_>) -> Result<Box<dyn ControlPlane>, ControlPlaneError> {
    let (program, settings) = (request.program.clone(), request.read_settings()?);
    Ok(Box::new(Agent { program, settings, moved: BTreeSet::new(), operations: Operations::default() }))
}

impl ControlPlane for Agent {
    fn latency(&self) -> Duration {
        self.settings.latency
    }

    fn digest(&mut self, time: Time, switch: usize, data: &[u8]) {
        let Some((src, rest)) = data.split_first_chunk() else { return };
        let Some(dst) = rest.first_chunk() else { return };
        let (src, dst) = (u32::from_be_bytes(*src), u32::from_be_bytes(*dst));
        // The pipes of a switch count separately, so more than one may report a flow.
        if !self.moved.insert((switch, src, dst)) {
            return;
        }
        let key = [KeyValue::Exact(src.into()), KeyValue::Exact(dst.into())];
        let mut ops = Ops::new(&self.program);
        if ops.entry("heavy_flows", key, "to_queue", [self.settings.queue.into()]).is_ok() {
            self.operations.add(time + self.settings.latency, switch, ops.into_vec());
        }
    }

    fn idle(&mut self, time: Time, switch: usize, entry: EntryId, key: &[KeyValue]) {
        let [KeyValue::Exact(src), KeyValue::Exact(dst)] = key else { return };
        let flow = (switch, *src as u32, *dst as u32);
        if let Some(table) = self.program.table_named("heavy_flows").filter(|_| self.moved.remove(&flow)) {
            let op = ControlOp::DeleteEntry { table, entry };
            self.operations.add(time + self.settings.latency, switch, [op]);
        }
    }

    fn poll(&mut self) -> Option<Operation> {
        self.operations.poll()
    }

    fn report(&self, _: u64) -> Value {
        json!({ "moved": self.moved.len(), "operations": self.operations.total() })
    }
}
