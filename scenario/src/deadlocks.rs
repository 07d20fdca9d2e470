//! PFC deadlocks of a network in words.

use sluice_asic::port::DevPort;
use sluice_fabric::network::{Network, Waiting};

/// Returns the cycles of queues that wait for each other, as texts such as `leaf0:8 queue 3 -> spine1:0 queue 3`.
pub(crate) fn deadlocks(network: &Network) -> Vec<String> {
    let place = |at: &Waiting| {
        let setup = network.setup(at.switch);
        let name = setup.map_or("?", |setup| setup.name.as_str());
        let port = setup.and_then(|setup| setup.ports.dev(DevPort::new(at.dev_port)?));
        let front = port.and_then(|port| port.front());
        let port = front.map_or_else(|| format!("dev_port {}", at.dev_port), |front| front.to_string());
        format!("{name}:{port} queue {}", at.queue)
    };
    let cycle = |cycle: Vec<Waiting>| cycle.iter().map(place).collect::<Vec<_>>().join(" -> ");
    network.deadlocks().into_iter().map(cycle).collect()
}
