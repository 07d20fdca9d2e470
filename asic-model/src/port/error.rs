//! Problems of ports and port maps.

use super::{DevPort, FrontPort};
use crate::units::BitRate;

/// Problem of a port or a port map.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PortError {
    /// The text names no port.
    #[error(
        "`{text}` is not a port; expected a front-panel port such as `3` or `1/0`, or a dev_port such as `dev:137` (0 to 511)"
    )]
    Name {
        /// The text found.
        text: String,
    },
    /// The text is neither a name of the user's port map nor a port.
    #[error("`{text}` is neither a name of the port map nor a port such as `3`, `1/0` or `dev:137`{near}")]
    Unnamed {
        /// The text found.
        text: String,
        /// The nearest name, as a question; may be empty.
        near: String,
    },
    /// The chip does not have the cage, or no port begins at the lane.
    #[error("`{text}` is not a cage and lane such as `1/0`: {valid}")]
    Cage {
        /// The text found.
        text: String,
        /// The cages of the chip, or the lanes at which ports of the cage begin.
        valid: String,
    },
    /// The chip does not have the front-panel port at this port speed.
    #[error("front-panel port {port}: {chip} at {speed} per port has ports 0 to {last}")]
    NoFrontPort {
        /// Front-panel port.
        port: FrontPort,
        /// The chip's name.
        chip: String,
        /// The speed of its front-panel ports.
        speed: BitRate,
        /// The last port.
        last: u16,
    },
    /// The dev_port belongs to nothing that the map knows.
    #[error("{port}: no port of {chip} at {speed} per port; its dev_ports are {valid}")]
    NoDevPort {
        /// dev_port.
        port: DevPort,
        /// The chip's name.
        chip: String,
        /// The speed of its front-panel ports.
        speed: BitRate,
        /// The valid dev_ports, as ranges.
        valid: String,
    },
    /// The chip's MACs cannot be run at this speed.
    #[error("port speed {speed}: {chip} has ports of {valid}")]
    Speed {
        /// Requested speed.
        speed: BitRate,
        /// The chip's name.
        chip: String,
        /// The speeds that exist.
        valid: String,
    },
}
