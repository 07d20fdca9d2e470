//! Ports as users name them.

use sluice_asic::port::{DevPort, FrontPort, PortMap};

/// Returns the front-panel port of a dev_port; `None` for other ports, such as the CPU's.
pub(crate) fn front(ports: &PortMap, dev_port: u16) -> Option<u16> {
    let port = ports.dev(DevPort::new(dev_port)?)?;
    port.front().map(|FrontPort(number)| number)
}

/// Returns the name of a dev_port: the user's name or the number of the front panel; of other ports `dev:64`.
pub(crate) fn shown(ports: &PortMap, dev_port: u16) -> String {
    front(ports, dev_port).map_or_else(|| format!("dev:{dev_port}"), |port| ports.shown(FrontPort(port)))
}
