//! What the control plane sets in the device beside tables: packet generator, ports, queues.
//!
//! The state, the operations and what can be checked without chip and ports.

use sluice_asic::pktgen::{AppConfig, PktgenError};
use sluice_asic::tm::{AfcMode, Guarantee, ShaperConfig};
use sluice_asic::units::{BitRate, Bytes};
use std::collections::{BTreeMap, BTreeSet};

/// An application of a packet generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PktgenApp {
    /// What it does.
    pub config: AppConfig,
    /// Whether it is on.
    pub enabled: bool,
}

/// Everything set in the device. Pipes, applications and queues are named by number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceState {
    /// Applications by pipe and number.
    pub apps: BTreeMap<(u8, u8), PktgenApp>,
    /// The generator's buffer of each pipe, as far as it was written; the rest is zero.
    pub buffers: BTreeMap<u8, Vec<u8>>,
    /// dev_ports that are down.
    pub down: BTreeSet<u16>,
    /// Queues that an operator paused, by dev_port and number.
    pub paused: BTreeSet<(u16, u8)>,
    /// Port and queue to which each pipe deflects packets that would be dropped at its ports.
    pub deflections: BTreeMap<u8, (u16, u8)>,
    /// Queues that obey flow-control words of packets, and how (Tofino 2).
    pub flow_control: BTreeMap<(u16, u8), AfcMode>,
    /// dev_ports whose PFC is the program's.
    pub program_pfc: BTreeSet<u16>,
    /// The most that ports send.
    pub port_shapers: BTreeMap<u16, ShaperConfig>,
    /// The most that queues send.
    pub queue_shapers: BTreeMap<(u16, u8), ShaperConfig>,
    /// The least that queues get.
    pub guarantees: BTreeMap<(u16, u8), Guarantee>,
    /// Strict priority and DWRR weight of queues.
    pub schedules: BTreeMap<(u16, u8), (u8, u16)>,
}

/// A change of the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceOp {
    /// Writes bytes into a generator's buffer.
    WritePktgenBuffer {
        /// The pipe.
        pipe: u8,
        /// Where the first byte goes.
        offset: u32,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// Sets up a generator's application and leaves it off.
    SetPktgenApp {
        /// The pipe.
        pipe: u8,
        /// The application.
        app: u8,
        /// What it does; boxed, since it is much larger than the other operations.
        config: Box<AppConfig>,
    },
    /// Switches an application on, its timer starting now, or off.
    EnablePktgenApp {
        /// The pipe.
        pipe: u8,
        /// The application.
        app: u8,
        /// On or off.
        enabled: bool,
    },
    /// Takes a port down or brings it up. What comes in by or leaves by a port that is down is lost.
    SetPort {
        /// dev_port.
        port: u16,
        /// Up or down.
        up: bool,
    },
    /// Pauses a queue or lets it go on. What was taken from it goes on its way.
    PauseQueue {
        /// dev_port.
        port: u16,
        /// The queue.
        queue: u8,
        /// Paused or not.
        paused: bool,
    },
    /// Whether a queue obeys the flow-control words of packets, and how. Switched off, it forgets them.
    SetFlowControl {
        /// dev_port.
        port: u16,
        /// The queue.
        queue: u8,
        /// How; `None` for not at all, which every queue starts with.
        mode: Option<AfcMode>,
    },
    /// Who does a port's PFC. The program: MAC control frames come in as packets and pause nothing by themselves, and
    /// the MAC asks for no pauses. Else the MAC, where there is a shared buffer.
    SetPfc {
        /// dev_port.
        port: u16,
        /// The program, or the MAC.
        program: bool,
    },
    /// Sets the most that a port sends, from its next packet on.
    ShapePort {
        /// dev_port.
        port: u16,
        /// Rate and burst; `None` for the line's rate.
        most: Option<ShaperConfig>,
    },
    /// Sets the most that a queue sends, from its next packet on.
    ShapeQueue {
        /// dev_port.
        port: u16,
        /// The queue.
        queue: u8,
        /// Rate and burst; `None` for no limit.
        most: Option<ShaperConfig>,
    },
    /// Sets the least that a queue gets.
    GuaranteeQueue {
        /// dev_port.
        port: u16,
        /// The queue.
        queue: u8,
        /// Rate, burst and priority; `None` for nothing.
        least: Option<Guarantee>,
    },
    /// Sets when a queue's turn is.
    ScheduleQueue {
        /// dev_port.
        port: u16,
        /// The queue.
        queue: u8,
        /// Strict priority, 0..=7; the highest goes first.
        priority: u8,
        /// DWRR weight among queues of the same priority, 0..=1023.
        weight: u16,
    },
    /// Where packets go that would be dropped at ports of a pipe and set `deflect_on_drop`.
    SetDeflection {
        /// The pipe.
        pipe: u8,
        /// dev_port and queue; `None` drops them.
        to: Option<(u16, u8)>,
    },
}

/// A setting of the device that is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// A generator's application that chip or generator refuse.
    #[error("pipe {pipe}, application {app}: {}", .errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Pktgen {
        /// The pipe.
        pipe: u8,
        /// The application.
        app: u8,
        /// Everything that is wrong.
        errors: Vec<PktgenError>,
    },
    /// A port by which the generator's packets cannot come in.
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
        /// Those that there are.
        valid: String,
    },
    /// A pipe that the chip does not have.
    #[error("{what} of pipe {found}; the chip has pipes 0 to {last}")]
    Pipe {
        /// What names it.
        what: &'static str,
        /// The pipe.
        found: u8,
        /// The last one.
        last: u32,
    },
    /// Bytes beyond a generator's buffer.
    #[error(
        "packet generator of pipe {pipe}: {length} bytes at {offset} end at {end}; the buffer has {limit}: shorten or move them"
    )]
    Buffer {
        /// The pipe.
        pipe: u8,
        /// Where they start.
        offset: u32,
        /// How many.
        length: u64,
        /// Where they end.
        end: u64,
        /// Bytes of the buffer.
        limit: u64,
    },
    /// A port that the switch does not have.
    #[error("{what} names dev_port {port}, which the switch does not have; compare it with the port map")]
    NoSuchPort {
        /// What names it.
        what: &'static str,
        /// The port.
        port: u16,
    },
    /// A queue that the port does not have.
    #[error("{what} names queue {queue} of dev_port {port}, which has {limit}, from 0")]
    NoSuchQueue {
        /// What names it.
        what: &'static str,
        /// The port.
        port: u16,
        /// The queue.
        queue: u8,
        /// Queues of the port.
        limit: u16,
    },
    /// A chip without flow-control words.
    #[error("flow control of a queue by packets: {chip} has no advanced flow control; use Tofino 2")]
    NoFlowControl {
        /// The chip.
        chip: String,
    },
    /// A priority or weight that schedulers do not have.
    #[error(
        "queue {queue} of dev_port {port}: priority {priority}, weight {weight}; priorities are 0 to 7, weights 0 to 1023"
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
    /// Timers without time.
    #[error(
        "the packet generator needs time: it cannot be switched on in functional mode; run without --functional"
    )]
    Functional,
}

/// Largest buffer that the state holds before a chip says how large its own is.
const BUFFER_MAX: u64 = 1 << 20;

/// Highest strict priority and largest DWRR weight (model: tm §4).
const MAX_PRIORITY: u8 = 7;
const MAX_WEIGHT: u16 = 1023;

/// Sets what a key has, or takes it away.
fn put<K: Ord, V>(map: &mut BTreeMap<K, V>, key: K, value: Option<V>) {
    match value {
        Some(value) => _ = map.insert(key, value),
        None => _ = map.remove(&key),
    }
}

/// A shaper as files have it: `RATE:BURST`.
pub(super) fn show_shaper(shaper: &ShaperConfig) -> String {
    format!("{}:{}", shaper.rate, shaper.burst)
}

/// What [`show_shaper`] wrote, or a user.
pub(super) fn read_shaper(text: &str) -> Result<ShaperConfig, String> {
    let usage = "expected RATE:BURST, such as 10Gbps:9216B";
    let (rate, burst) = text.split_once(':').ok_or_else(|| format!("`{text}`; {usage}"))?;
    let rate: BitRate = rate.trim().parse().map_err(|e| format!("{e}; {usage}"))?;
    let burst: Bytes = burst.trim().parse().map_err(|e| format!("{e}; {usage}"))?;
    if rate.as_bps() == 0 || burst.get() == 0 {
        return Err(format!("`{text}` lets nothing pass; {usage}"));
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

    /// The operations that make this state of one in which nothing is set, in an order in which they can be
    /// applied.
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
