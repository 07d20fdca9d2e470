//! State of a port.

use super::config::{SwitchConfig, SwitchError};
use sluice_asic::chip::ChipSpec;
use sluice_asic::mac::{MacRx, MacTx, WireOverhead};
use sluice_asic::port::{DevPort, PortKind, PortMap, ingress_hold};
use sluice_asic::units::{Duration, Time};
use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};

/// A port of the running switch.
pub(super) struct PortState {
    pub(super) dev_port: u16,
    pub(super) name: String,
    pub(super) pipe: u8,
    /// Number within the pipe.
    pub(super) local: u8,
    pub(super) queues: u16,
    /// False if the control plane took the port down: arriving frames, and frames to be sent, are lost.
    pub(super) up: bool,
    /// True for a recirculation port: sent packets arrive on it again.
    pub(super) recirculation: bool,
    pub(super) rx: MacRx,
    pub(super) tx: MacTx,
    /// Earliest time of the next received frame's first bit.
    pub(super) rx_free: Time,
    /// Number of frames received.
    pub(super) rx_seq: u64,
    /// End of the line time booked by the packets dequeued so far: the line would be free then if packets
    /// reached it without the egress pipe's latency.
    pub(super) booked: Time,
    /// Number of scheduled events of this port.
    pub(super) schedules: u64,
    /// Time of the next scheduled dequeue.
    pub(super) scheduled: Option<Time>,
    /// Passes that left the egress deparser and are not settled yet.
    pub(super) settled: VecDeque<Settled>,
    /// Time at which the line is free, as far as the scheduler knows.
    pub(super) line_free: Time,
    /// True for a front-panel port.
    pub(super) front: bool,
    /// True if the program handles PFC instead of the MAC.
    pub(super) program_pfc: bool,
    /// True if the scheduled event is only the opening of a shaper: all waiting packets wait for it.
    pub(super) asleep: bool,
}

/// The ports of a switch, by index.
pub(super) struct Ports {
    states: Vec<PortState>,
    /// Assignment of a port group's queues to ports.
    pub(super) map: PortMap,
    /// Index into `states` for every dev_port.
    by_dev_port: Vec<Option<u16>>,
}

impl Ports {
    /// Returns the ports with these states, which are those of the port map.
    pub(super) fn new(states: Vec<PortState>, map: PortMap) -> Ports {
        let mut by_dev_port = vec![None; usize::from(DevPort::COUNT)];
        for (index, port) in (0..).zip(&states) {
            by_dev_port[usize::from(port.dev_port)] = Some(index);
        }
        Ports { states, map, by_dev_port }
    }

    /// Returns the index of a dev_port; `None` if the switch does not have it.
    pub(super) fn index_of(&self, dev_port: u16) -> Option<u16> {
        self.by_dev_port.get(usize::from(dev_port)).copied().flatten()
    }
}

impl Deref for Ports {
    type Target = [PortState];

    fn deref(&self) -> &[PortState] {
        &self.states
    }
}

impl DerefMut for Ports {
    fn deref_mut(&mut self) -> &mut [PortState] {
        &mut self.states
    }
}

/// Settlement of the line time that a dequeued packet booked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settled {
    /// Time at which the packet left the deparser; its length is unknown before.
    pub(super) exit: Time,
    /// Line time booked for it.
    pub(super) booked: Duration,
    /// Line time that it took; zero if egress dropped it.
    pub(super) took: Duration,
    /// Time at which the line is free after it.
    pub(super) free_at: Time,
}

/// Returns the ports of a port map, with the configured speeds.
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
        let hold = if speed == p.speed { p.ingress_hold } else { ingress_hold(chip, speed) };
        let name = match p.kind {
            PortKind::Front(front) => ports.shown(front),
            PortKind::Cpu => "cpu".to_owned(),
            PortKind::Recirculation => format!("recirc:{dev_port}"),
        };
        let (way, overhead) = match p.kind {
            PortKind::Recirculation => (chip.latency.recirculation, WireOverhead::ETHERNET),
            PortKind::Front(_) => (chip.latency.mac_rx, config.wire),
            PortKind::Cpu => (chip.latency.mac_rx, WireOverhead::ETHERNET),
        };
        list.push(PortState {
            dev_port,
            name,
            pipe: p.pipe().0,
            local: p.dev_port.local(),
            queues: p.queues,
            up: true,
            recirculation: p.kind == PortKind::Recirculation,
            rx: MacRx::new(speed, hold, way).overhead(overhead),
            tx: MacTx::new(speed).overhead(overhead),
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
