//! Ports and MACs of the full chip.

use crate::units::BitRate;
use serde::{Deserialize, Serialize};

/// A speed that a front-panel MAC can be run or split at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortSpeed {
    /// The port's bit rate.
    pub speed: BitRate,
    /// MAC lanes that one port of this speed takes.
    pub lanes: u32,
    /// MAU cycles for which the ingress buffer holds the head of a frame before parsing starts.
    pub ingress_hold_cycles: u32,
}

/// Ports and MACs (model: tm §10; chip §9).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortSpec {
    /// Pipes of the chip.
    pub pipes: u32,
    /// Local ports per pipe, special ports included.
    pub ports_per_pipe: u32,
    /// Front-panel MACs per pipe.
    pub macs_per_pipe: u32,
    /// Lanes per front-panel MAC; each lane is one local port.
    pub lanes_per_mac: u32,
    /// Bit rate of a lane.
    pub lane_rate: BitRate,
    /// First local port that belongs to the front panel; MACs follow in order.
    pub first_front_local: u32,
    /// Default speed of the front-panel ports.
    pub default_speed: BitRate,
    /// dev_port of the CPU's Ethernet port.
    pub cpu_dev_port: u32,
    /// Recirculation dev_ports.
    pub recirculation_dev_ports: Vec<u32>,
    /// Local ports on which a pipe's packet generator can inject.
    pub pktgen_local_ports: Vec<u32>,
    /// Bit rate shared by all recirculation ports of a pipe (assumption).
    pub recirculation_rate: BitRate,
    /// Speeds of front-panel ports, fastest first.
    pub speeds: Vec<PortSpeed>,
}
