//! What the device keeps per port.

use super::config::{SwitchConfig, SwitchError};
use sluice_asic::chip::ChipSpec;
use sluice_asic::mac::{MacRx, MacTx};
use sluice_asic::port::{PortKind, PortMap};
use sluice_asic::units::{Duration, Time};
use std::collections::VecDeque;

/// A port of the running switch.
pub(super) struct PortState {
    pub(super) dev_port: u16,
    pub(super) name: String,
    pub(super) pipe: u8,
    /// Number within the pipe.
    pub(super) local: u8,
    pub(super) queues: u16,
    /// What comes in or leaves by a port that is down is lost.
    pub(super) up: bool,
    /// What leaves by it comes in by it.
    pub(super) recirculation: bool,
    pub(super) rx: MacRx,
    pub(super) tx: MacTx,
    /// Earliest first bit of the next frame in.
    pub(super) rx_free: Time,
    /// Frames taken so far.
    pub(super) rx_seq: u64,
    /// Line time booked by the packets dequeued so far: when the line would be free if packets reached it
    /// without the egress pipe's latency.
    pub(super) booked: Time,
    /// Dequeues and their like scheduled so far.
    pub(super) schedules: u64,
    /// When the next dequeue is scheduled.
    pub(super) scheduled: Option<Time>,
    /// Passes that left the egress deparser: when; line time booked for the packet; line time it took, none
    /// if it was dropped; when the line is free after it.
    pub(super) settled: VecDeque<Settled>,
    /// When the line is free as far as the scheduler knows.
    pub(super) line_free: Time,
    /// It is on the front panel.
    pub(super) front: bool,
    /// The program does its PFC, not the MAC.
    pub(super) program_pfc: bool,
    /// What is scheduled is no more than the time at which a shaper opens: all that waits waits for that.
    pub(super) asleep: bool,
}

/// What became of a packet that the scheduler sent into the egress pipe.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settled {
    /// When it left the deparser: nobody knows before.
    pub(super) exit: Time,
    /// Line time booked for it.
    pub(super) booked: Duration,
    /// Line time that it took; none if egress dropped it.
    pub(super) took: Duration,
    /// When the line is free after it.
    pub(super) free_at: Time,
}

/// The ports of a port map, with the speeds of the configuration.
pub(super) fn states(
    chip: &ChipSpec,
    ports: &PortMap,
    config: &SwitchConfig,
) -> Result<Vec<PortState>, SwitchError> {
    for (port, _) in &config.port_speeds {
        if !ports.iter().any(|p| p.dev_port.number() == *port) {
            return Err(SwitchError::NoSuchPort(*port));
        }
    }
    let mut list = Vec::new();
    for p in ports.iter() {
        let dev_port = p.dev_port.number();
        let speed =
            config.port_speeds.iter().rev().find(|(port, _)| *port == dev_port).map_or(p.speed, |(_, s)| *s);
        let fits = |s: &&sluice_asic::chip::PortSpeed| s.lanes <= u32::from(p.lanes);
        let known = chip.ports.speeds.iter().filter(fits).any(|s| s.speed == speed);
        if speed != p.speed && !known {
            let valid: Vec<String> =
                chip.ports.speeds.iter().filter(fits).map(|s| s.speed.to_string()).collect();
            return Err(SwitchError::Speed { port: dev_port, speed, valid: valid.join(", ") });
        }
        let name = match p.kind {
            PortKind::Front(front) => front.0.to_string(),
            PortKind::Cpu => "cpu".to_owned(),
            PortKind::Recirculation => format!("recirc:{dev_port}"),
        };
        let way = match p.kind {
            PortKind::Recirculation => chip.latency.recirculation,
            PortKind::Front(_) | PortKind::Cpu => chip.latency.mac_rx,
        };
        list.push(PortState {
            dev_port,
            name,
            pipe: p.pipe().0,
            local: p.dev_port.local(),
            queues: p.queues,
            up: true,
            recirculation: p.kind == PortKind::Recirculation,
            rx: MacRx::new(speed, p.ingress_hold, way),
            tx: MacTx::new(speed),
            rx_free: Time::ORIGIN,
            rx_seq: 0,
            booked: Time::ORIGIN,
            schedules: 0,
            scheduled: None,
            settled: VecDeque::new(),
            line_free: Time::ORIGIN,
            asleep: false,
            front: matches!(p.kind, PortKind::Front(_)),
            program_pfc: false,
        });
    }
    Ok(list)
}
