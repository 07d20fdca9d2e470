//! Configuration of the device, and the errors of an impossible one.

use super::flow_control::BufferSetup;
use super::pipes::SplitState;
use super::port::PortState;
use sluice_asic::chip::ChipSpec;
use sluice_asic::event::PastEvent;
use sluice_asic::mac::WireOverhead;
use sluice_asic::tm::buffer::{BufferConfig, Problems};
use sluice_asic::tm::{ConfigError, PortQueues, QueueConfig, TmConfig};
use sluice_asic::units::{BitRate, Cells, Duration};
use sluice_control::ControlError;
use sluice_control::classes::ClassError;

/// Timing mode of the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Timed: cycles, queues, schedulers, serialisation.
    #[default]
    Timed,
    /// Functional: the same passes, but the traffic manager forwards packets at once, and nothing takes time.
    Functional,
}

/// Queue settings of every port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueSetup {
    /// Tail-drop limit of a queue in cells. The chip has no public default: 2048 is an assumption.
    pub limit: Cells,
    /// True for strict priority (queue 7 before 6 before 5 and so on), false for DWRR among all queues.
    pub strict: bool,
    /// DWRR weight of every queue, 1 to 1023.
    pub weight: u16,
}

impl Default for QueueSetup {
    fn default() -> Self {
        QueueSetup { limit: Cells(2048), strict: true, weight: 1 }
    }
}

/// Configuration of a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchConfig {
    /// Number of the device in a network; part of the order of simultaneous events.
    pub device: u32,
    /// Timed or functional.
    pub mode: Mode,
    /// Value of the data plane's clock at time zero.
    pub clock_origin: Duration,
    /// Largest number of passes of one batch, 1 to 64. Results do not depend on it.
    pub max_batch: usize,
    /// Queue settings of every port.
    pub queues: QueueSetup,
    /// DWRR weights of queues 0, 1, .. of every port, 1 to 1023; other queues have `queues.weight`.
    pub queue_weights: Vec<u16>,
    /// Ports, as dev_port, with a speed other than that of the port map.
    pub port_speeds: Vec<(u16, BitRate)>,
    /// Bytes of line time that a frame takes on front-panel ports in addition to its own.
    pub wire: WireOverhead,
    /// Recirculations and resubmissions after which a packet is given up in timed mode (`too_many_laps`), because it would go round
    /// for ever. Timers have no limit.
    pub max_recirculations: u32,
    /// Seed of every random number: program draws, meters, jitter of packet generators.
    pub seed: u64,
    /// Shared buffer with classes, PFC and marking; `None`: each queue has only its limit.
    pub buffer: Option<BufferSetup>,
    /// True if lookups are counted by table and entry: [`State::hits`](sluice_exec::pass::State::hits).
    pub count_hits: bool,
}

impl Default for SwitchConfig {
    fn default() -> Self {
        SwitchConfig {
            device: 0,
            mode: Mode::Timed,
            clock_origin: Duration::from_secs(1),
            max_batch: sluice_exec::pass::MAX_BATCH,
            queues: QueueSetup::default(),
            queue_weights: Vec::new(),
            port_speeds: Vec::new(),
            wire: WireOverhead::ETHERNET,
            max_recirculations: 100_000,
            seed: 1,
            buffer: None,
            count_hits: false,
        }
    }
}

impl SwitchConfig {
    /// Returns the configuration of the traffic manager for these ports.
    pub(super) fn tm(&self, chip: &ChipSpec, ports: &[PortState], buffer: Option<&BufferConfig>) -> TmConfig {
        let queue = |q: u16| QueueConfig {
            priority: if self.queues.strict { q.min(7) as u8 } else { 0 },
            weight: self.queue_weights.get(usize::from(q)).copied().unwrap_or(self.queues.weight),
            // With a shared buffer, only the buffer's rules limit a queue.
            limit_cells: buffer.map_or(self.queues.limit, |b| b.size),
        };
        TmConfig {
            cell_size: buffer.map_or(chip.tm.cell, |b| b.cell),
            buffer_cells: buffer.map_or(chip.tm.cells, |b| b.size),
            dwrr_quantum: chip.tm.dwrr_quantum,
            ports: ports.iter().map(|p| PortQueues { queues: (0..p.queues).map(queue).collect() }).collect(),
        }
    }
}

/// Reason why the device refuses a configuration or an operation.
#[derive(Debug, thiserror::Error)]
pub enum SwitchError {
    /// A port that the port map does not have.
    #[error("the switch has no dev_port {0}")]
    NoSuchPort(u16),
    /// A speed that the port's lanes do not support.
    #[error("dev_port {port} cannot run at {speed}; its lanes allow {valid}")]
    Speed {
        /// The port.
        port: u16,
        /// The configured speed.
        speed: BitRate,
        /// The supported speeds.
        valid: String,
    },
    /// Queues that the chip does not support.
    #[error("the traffic manager cannot be set up: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    TrafficManager(Vec<ConfigError>),
    /// A control-plane operation was refused.
    #[error(transparent)]
    Control(Box<ControlError>),
    /// Ports that a register must see together, in different pipes.
    #[error(transparent)]
    Split(Box<SplitState>),
    /// A program that needs time, in functional mode.
    #[error("program `{program}` {needs}, which needs time; run it without --functional")]
    NeedsTime {
        /// The program.
        program: String,
        /// The feature that needs time, as a verb phrase.
        needs: &'static str,
    },
    /// A control-plane operation scheduled in the past.
    #[error(transparent)]
    Past(Box<PastEvent>),
    /// A buffer profile whose maps do not fit the class tables of the program.
    #[error(transparent)]
    Classes(#[from] Box<ClassError>),
    /// A buffer profile that the device does not support.
    #[error(transparent)]
    Buffer(Box<Problems>),
}
