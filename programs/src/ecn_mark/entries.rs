//! Default entries of `ecn-mark`, on any port map.
//!
//! | destination | port |
//! |---|---|
//! | 10.9.9.9/32 | the host on port 20, which runs at 25G: bursts to it are marked |
//! | anything else | port 16 |
//!
//! There is a row of thresholds for each speed that ports can have. Every queue of a front-panel port
//! except the control queue uses the row of its port's speed.

use super::Params;
use crate::forwarding::plain;
use sluice_asic::port::PortMap;
use sluice_asic::units::{BitRate, Bytes};
use sluice_catalogue::setup::{Ops, Setup, SetupError, front_port};
use sluice_ir::{KeyValue, Program};
use std::net::Ipv4Addr;

const HOST: u16 = 20;
const OTHER: u16 = 16;
const HOST_ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 9, 9, 9);
const HOST_GBPS: u64 = 25;
/// Speed at which the thresholds equal the parameters, in Gb/s.
const REFERENCE_GBPS: u64 = 25;
/// Speeds in Gb/s; a speed's position is its row.
const SPEEDS: [u64; 8] = [10, 25, 40, 50, 100, 200, 400, 800];
/// Number of queues per port that traffic can take.
const QUEUES: u8 = 8;

pub(super) fn default_setup(program: &Program, ports: &PortMap, p: &Params) -> Result<Setup, SetupError> {
    let mut ops = Ops::new(program);
    let ((host, host_port), (_, other)) = (front_port(ports, HOST)?, front_port(ports, OTHER)?);
    plain::entries(&mut ops, &[(HOST_ADDRESS, 32, host_port)], other)?;
    for (row, gbps) in (0..).zip(SPEEDS) {
        let cells = |bytes: u32| {
            let scaled = u64::from(bytes) * if p.scaled { gbps } else { REFERENCE_GBPS } / REFERENCE_GBPS;
            Bytes(scaled).get() / ports.cell().get().max(1)
        };
        ops.register("kmin", row, cells(p.kmin))?;
        ops.register("kmax", row, cells(p.kmax))?;
        ops.register("pmax", row, chance(p.pmax))?;
    }
    let slow = BitRate::from_gbps(HOST_GBPS);
    for port in ports.front_ports() {
        let speed = if port.front() == Some(host) { slow } else { port.speed };
        let Some(row) = SPEEDS.iter().position(|gbps| BitRate::from_gbps(*gbps) == speed) else { continue };
        for queue in (0..QUEUES).filter(|queue| u32::from(*queue) != p.control_queue) {
            let key = [KeyValue::Exact(port.dev_port.number().into()), KeyValue::Exact(queue.into())];
            ops.entry("profile", key, "set_row", [row as u128])?;
        }
    }
    Ok(Setup { ops: ops.into_vec(), port_speeds: vec![(host, slow)] })
}

/// Converts a probability in hundredths of a percent to parts of 2^32; certainty becomes the largest number.
fn chance(hundredths: u32) -> u64 {
    ((u64::from(hundredths) << 32) / 10_000).min(u32::MAX.into())
}
