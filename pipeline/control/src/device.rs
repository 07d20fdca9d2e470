//! Control-plane settings of the device: packet generator, ports, queues.
//!
//! This module has the state, the operations, and the checks that need neither chip nor ports.

use sluice_asic::pktgen::{AppConfig, PktgenError};
use sluice_asic::tm::{AfcMode, Guarantee, ShaperConfig};
use sluice_asic::units::{BitRate, Bytes};
use std::collections::{BTreeMap, BTreeSet};

/// An application of a packet generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PktgenApp {
    /// Configuration: trigger, packets and times.
    pub config: AppConfig,
    /// True if it is enabled.
    pub enabled: bool,
}

/// All settings of the device. Pipes, applications and queues are identified by number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceState {
    /// Applications by pipe and number.
    pub apps: BTreeMap<(u8, u8), PktgenApp>,
    /// The generator's buffer of each pipe up to the last written byte; the rest is zero.
    pub buffers: BTreeMap<u8, Vec<u8>>,
    /// dev_ports that are down.
    pub down: BTreeSet<u16>,
    /// Queues that an operator paused, by dev_port and number.
    pub paused: BTreeSet<(u16, u8)>,
    /// Port and queue to which each pipe deflects packets that would be dropped at its ports.
    pub deflections: BTreeMap<u8, (u16, u8)>,
    /// Queues that obey flow-control words of packets, with the mode (Tofino 2).
    pub flow_control: BTreeMap<(u16, u8), AfcMode>,
    /// dev_ports whose PFC the program handles instead of the MAC.
    pub program_pfc: BTreeSet<u16>,
    /// Maximum rates of ports.
    pub port_shapers: BTreeMap<u16, ShaperConfig>,
    /// Maximum rates of queues.
    pub queue_shapers: BTreeMap<(u16, u8), ShaperConfig>,
    /// Minimum rates of queues.
    pub guarantees: BTreeMap<(u16, u8), Guarantee>,
    /// Strict priority (0 to 7, the highest first) and DWRR weight (0 to 1023) of queues.
    pub schedules: BTreeMap<(u16, u8), (u8, u16)>,
}

/// A change of the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceOp {
    /// Writes bytes into a generator's buffer.
    WritePktgenBuffer {
        /// The pipe.
        pipe: u8,
        /// Offset of the first byte.
        offset: u32,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// Configures a generator's application and disables it.
    SetPktgenApp {
        /// The pipe.
        pipe: u8,
        /// The application.
        app: u8,
        /// The configuration; boxed, because it is much larger than the other operations.
        config: Box<AppConfig>,
    },
    /// Enables an application, whose timer then starts, or disables it.
    EnablePktgenApp {
        /// The pipe.
        pipe: u8,
        /// The application.
        app: u8,
        /// True to enable.
        enabled: bool,
    },
    /// Takes a port down or brings it up. Frames that arrive on a port that is down, or are sent on it, are
    /// lost.
    SetPort {
        /// dev_port.
        port: u16,
        /// True for up.
        up: bool,
    },
    /// Pauses or resumes a queue. A packet already dequeued is sent.
    PauseQueue {
        /// dev_port.
        port: u16,
        /// The queue.
        queue: u8,
        /// True to pause.
        paused: bool,
    },
    /// Sets if and how a queue obeys flow-control words of packets. When switched off, the queue forgets the
    /// words received.
    SetFlowControl {
        /// dev_port.
        port: u16,
        /// The queue.
        queue: u8,
        /// Mode; `None`, the initial setting, ignores the words.
        mode: Option<AfcMode>,
    },
    /// Sets who handles a port's PFC. If the program does, MAC control frames are parsed as packets and pause
    /// nothing by themselves, and the MAC sends no pause frames. Otherwise the MAC does, if there is a shared
    /// buffer.
    SetPfc {
        /// dev_port.
        port: u16,
        /// True for the program, false for the MAC.
        program: bool,
    },
    /// Sets the maximum rate of a port, from its next packet on.
    ShapePort {
        /// dev_port.
        port: u16,
        /// Rate and burst; `None` for the line rate.
        most: Option<ShaperConfig>,
    },
    /// Sets the maximum rate of a queue, from its next packet on.
    ShapeQueue {
        /// dev_port.
        port: u16,
        /// The queue.
        queue: u8,
        /// Rate and burst; `None` for no limit.
        most: Option<ShaperConfig>,
    },
    /// Sets the minimum rate of a queue.
    GuaranteeQueue {
        /// dev_port.
        port: u16,
        /// The queue.
        queue: u8,
        /// Rate, burst and priority; `None` for no guarantee.
        least: Option<Guarantee>,
    },
    /// Sets a queue's scheduling: strict priority and DWRR weight.
    ScheduleQueue {
        /// dev_port.
        port: u16,
        /// The queue.
        queue: u8,
        /// Strict priority, 0 to 7; the highest is served first.
        priority: u8,
        /// DWRR weight among queues of the same priority, 0 to 1023.
        weight: u16,
    },
    /// Sets the deflection target of a pipe: packets with `deflect_on_drop` that would be dropped at its
    /// ports go there.
    SetDeflection {
        /// The pipe.
        pipe: u8,
        /// dev_port and queue; `None` drops the packets.
        to: Option<(u16, u8)>,
    },
}

/// Reason why a device setting is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// An application that the chip or the generator refuses.
    #[error("pipe {pipe}, application {app}: {}", .errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Pktgen {
        /// The pipe.
        pipe: u8,
        /// The application.
        app: u8,
        /// All mistakes.
        errors: Vec<PktgenError>,
    },
    /// A source port on which the generator's packets cannot enter the pipe.
    #[error(
        "pipe {pipe}, application {app}: source port {port} is not one of the generator's; this pipe has {valid}"
    )]
    SourcePort {
        /// The pipe.
        pipe: u8,
        /// The application.
        app: u8,
        /// The local port.
        port: u32,
        /// Ports that are allowed.
        valid: String,
    },
    /// A pipe that the chip does not have.
    #[error("{what} of pipe {found}, which does not exist; the chip has pipes 0 to {last}")]
    Pipe {
        /// Setting that names the pipe.
        what: &'static str,
        /// The pipe.
        found: u8,
        /// Number of the last pipe.
        last: u32,
    },
    /// Bytes beyond a generator's buffer.
    #[error(
        "packet generator of pipe {pipe}: {length} bytes at offset {offset} end at {end}, but the buffer has {limit} bytes; shorten or move them"
    )]
    Buffer {
        /// The pipe.
        pipe: u8,
        /// Offset of the first byte.
        offset: u32,
        /// Number of bytes.
        length: u64,
        /// Offset of the end.
        end: u64,
        /// Size of the buffer in bytes.
        limit: u64,
    },
    /// A port that the switch does not have.
    #[error("{what} names dev_port {port}, which the switch does not have; compare it with the port map")]
    NoSuchPort {
        /// Setting that names the port.
        what: &'static str,
        /// The port.
        port: u16,
    },
    /// A queue that the port does not have.
    #[error("{what} names queue {queue} of dev_port {port}, which has {limit} queues, from 0")]
    NoSuchQueue {
        /// Setting that names the queue.
        what: &'static str,
        /// The port.
        port: u16,
        /// The queue.
        queue: u8,
        /// Number of queues of the port.
        limit: u16,
    },
    /// Flow-control words on a chip that has none.
    #[error("flow control of a queue by packets: {chip} has no advanced flow control; use Tofino 2")]
    NoFlowControl {
        /// The chip.
        chip: String,
    },
    /// A strict priority or weight out of range.
    #[error(
        "queue {queue} of dev_port {port}: priority {priority}, weight {weight}; expected a priority of 0 to 7 and a weight of 0 to 1023"
    )]
    Schedule {
        /// The port.
        port: u16,
        /// The queue.
        queue: u8,
        /// The priority.
        priority: u8,
        /// The weight.
        weight: u16,
    },
    /// A timer in functional mode, which has no time.
    #[error(
        "the packet generator needs time: it cannot be switched on in functional mode; run without --functional"
    )]
    Functional,
}

/// Size limit of a buffer before the chip, which gives the true size, is known; bytes.
const BUFFER_MAX: u64 = 1 << 20;

/// Highest strict priority and largest DWRR weight (model: tm §4).
const MAX_PRIORITY: u8 = 7;
const MAX_WEIGHT: u16 = 1023;

/// Sets the value of a key, or removes the key.
fn put<K: Ord, V>(map: &mut BTreeMap<K, V>, key: K, value: Option<V>) {
    match value {
        Some(value) => _ = map.insert(key, value),
        None => _ = map.remove(&key),
    }
}

/// Formats a shaper as in files: `RATE:BURST`.
pub(super) fn show_shaper(shaper: &ShaperConfig) -> String {
    format!("{}:{}", shaper.rate, shaper.burst)
}

/// Parses a shaper in the form `RATE:BURST`.
pub(super) fn read_shaper(text: &str) -> Result<ShaperConfig, String> {
    let usage = "expected RATE:BURST, such as 10Gbps:9216B";
    let (rate, burst) = text.split_once(':').ok_or_else(|| format!("`{text}`; {usage}"))?;
    let rate: BitRate = rate.trim().parse().map_err(|e| format!("{e}; {usage}"))?;
    let burst: Bytes = burst.trim().parse().map_err(|e| format!("{e}; {usage}"))?;
    if rate.as_bps() == 0 || burst.get() == 0 {
        return Err(format!("`{text}` has a rate or burst of 0; {usage}"));
    }
    Ok(ShaperConfig { rate, burst })
}

impl DeviceState {
    pub(super) fn apply(&mut self, op: DeviceOp) -> Result<(), DeviceError> {
        match op {
            DeviceOp::WritePktgenBuffer { pipe, offset, bytes } => {
                let (length, end) = (bytes.len() as u64, u64::from(offset) + bytes.len() as u64);
                if end > BUFFER_MAX {
                    return Err(DeviceError::Buffer { pipe, offset, length, end, limit: BUFFER_MAX });
                }
                let buffer = self.buffers.entry(pipe).or_default();
                buffer.resize(buffer.len().max(end as usize), 0);
                buffer[offset as usize..end as usize].copy_from_slice(&bytes);
            }
            DeviceOp::SetPktgenApp { pipe, app, config } => {
                self.apps.insert((pipe, app), PktgenApp { config: *config, enabled: false });
            }
            DeviceOp::EnablePktgenApp { pipe, app, enabled } => match self.apps.get_mut(&(pipe, app)) {
                Some(state) => state.enabled = enabled,
                None => {
                    let errors = vec![PktgenError::Unconfigured(app.into())];
                    return Err(DeviceError::Pktgen { pipe, app, errors });
                }
            },
            DeviceOp::SetPort { port, up: true } => _ = self.down.remove(&port),
            DeviceOp::SetPort { port, up: false } => _ = self.down.insert(port),
            DeviceOp::PauseQueue { port, queue, paused: true } => _ = self.paused.insert((port, queue)),
            DeviceOp::PauseQueue { port, queue, paused: false } => _ = self.paused.remove(&(port, queue)),
            DeviceOp::ShapePort { port, most } => put(&mut self.port_shapers, port, most),
            DeviceOp::ShapeQueue { port, queue, most } => put(&mut self.queue_shapers, (port, queue), most),
            DeviceOp::GuaranteeQueue { port, queue, least } => {
                put(&mut self.guarantees, (port, queue), least)
            }
            DeviceOp::ScheduleQueue { port, queue, priority, weight } => {
                if priority > MAX_PRIORITY || weight > MAX_WEIGHT {
                    return Err(DeviceError::Schedule { port, queue, priority, weight });
                }
                self.schedules.insert((port, queue), (priority, weight));
            }
            DeviceOp::SetPfc { port, program: true } => _ = self.program_pfc.insert(port),
            DeviceOp::SetPfc { port, program: false } => _ = self.program_pfc.remove(&port),
            DeviceOp::SetDeflection { pipe, to: Some(to) } => _ = self.deflections.insert(pipe, to),
            DeviceOp::SetDeflection { pipe, to: None } => _ = self.deflections.remove(&pipe),
            DeviceOp::SetFlowControl { port, queue, mode: Some(mode) } => {
                self.flow_control.insert((port, queue), mode);
            }
            DeviceOp::SetFlowControl { port, queue, mode: None } => {
                self.flow_control.remove(&(port, queue));
            }
        }
        Ok(())
    }

    /// Returns operations that make this state from an empty one, in an order in which they can be applied.
    pub fn ops(&self) -> impl Iterator<Item = DeviceOp> + '_ {
        let buffers = self.buffers.iter();
        let buffers = buffers.map(|(&pipe, bytes)| DeviceOp::WritePktgenBuffer {
            pipe,
            offset: 0,
            bytes: bytes.clone(),
        });
        let apps = self.apps.iter().map(|(&(pipe, app), state)| DeviceOp::SetPktgenApp {
            pipe,
            app,
            config: Box::new(state.config),
        });
        let on = self.apps.iter().filter(|(_, state)| state.enabled);
        let on = on.map(|(&(pipe, app), _)| DeviceOp::EnablePktgenApp { pipe, app, enabled: true });
        let down = self.down.iter().map(|&port| DeviceOp::SetPort { port, up: false });
        let modes = self.flow_control.iter();
        let modes =
            modes.map(|(&(port, queue), &mode)| DeviceOp::SetFlowControl { port, queue, mode: Some(mode) });
        let paused =
            self.paused.iter().map(|&(port, queue)| DeviceOp::PauseQueue { port, queue, paused: true });
        let deflections = self.deflections.iter();
        let deflections = deflections.map(|(&pipe, &to)| DeviceOp::SetDeflection { pipe, to: Some(to) });
        let pfc = self.program_pfc.iter().map(|&port| DeviceOp::SetPfc { port, program: true });
        let shaped = self.port_shapers.iter();
        let shaped = shaped.map(|(&port, &most)| DeviceOp::ShapePort { port, most: Some(most) });
        let limited = self.queue_shapers.iter();
        let limited =
            limited.map(|(&(port, queue), &most)| DeviceOp::ShapeQueue { port, queue, most: Some(most) });
        let least = self.guarantees.iter();
        let least = least.map(|(&(port, queue), &least)| DeviceOp::GuaranteeQueue {
            port,
            queue,
            least: Some(least),
        });
        let turns = self.schedules.iter().map(|(&(port, queue), &(priority, weight))| {
            DeviceOp::ScheduleQueue { port, queue, priority, weight }
        });
        let queues = modes.chain(paused).chain(deflections).chain(pfc);
        let queues = queues.chain(shaped).chain(limited).chain(least).chain(turns);
        buffers.chain(apps).chain(on).chain(down).chain(queues)
    }
}
