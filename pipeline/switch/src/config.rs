//! Configuration of the device and what makes one impossible.

use super::flow_control::BufferSetup;
use super::pipes::SplitState;
use super::port::PortState;
use sluice_asic::chip::ChipSpec;
use sluice_asic::event::PastEvent;
use sluice_asic::tm::buffer::{BufferConfig, Problems};
use sluice_asic::tm::{ConfigError, PortQueues, QueueConfig, TmConfig};
use sluice_asic::units::{BitRate, Cells, Duration};
use sluice_control::ControlError;

/// Whether the device has time and queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Cycles, queues, schedulers, serialisation.
    #[default]
    Timed,
    /// The same passes with a traffic manager that hands packets straight on; nothing takes time.
    Functional,
}

/// How every port's queues are set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueSetup {
    /// Tail-drop limit of a queue in cells. The chip has no public default: 2048 is an assumption.
    pub limit: Cells,
    /// True: queue 7 before 6 before 5 and so on. False: all share by DWRR.
    pub strict: bool,
    /// DWRR weight of every queue, 1..=1023.
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
    /// Number of the device among others; part of the order of simultaneous events.
    pub device: u32,
    /// Timed or functional.
    pub mode: Mode,
    /// Value of the data plane's clock at time zero.
    pub clock_origin: Duration,
    /// Most passes of one batch, 1..=64. Results do not depend on it.
    pub max_batch: usize,
    /// The queues of every port.
    pub queues: QueueSetup,
    /// DWRR weights of queues 0, 1, .. of every port, 1..=1023; queues beyond the list have `queues.weight`.
    pub queue_weights: Vec<u16>,
    /// Ports (dev_port) that run slower than their neighbours.
    pub port_speeds: Vec<(u16, BitRate)>,
    /// Seed of everything that is drawn at random: numbers of programs and meters, jitter of packet generators.
    pub seed: u64,
    /// A shared buffer with its classes, PFC and marking; without one queues have limits of their own alone.
    pub buffer: Option<BufferSetup>,
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
            seed: 1,
            buffer: None,
        }
    }
}

impl SwitchConfig {
    /// The traffic manager of these ports.
    pub(super) fn tm(&self, chip: &ChipSpec, ports: &[PortState], buffer: Option<&BufferConfig>) -> TmConfig {
        let queue = |q: u16| QueueConfig {
            priority: if self.queues.strict { q.min(7) as u8 } else { 0 },
            weight: self.queue_weights.get(usize::from(q)).copied().unwrap_or(self.queues.weight),
            // Under a shared buffer its rules are what limits a queue.
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

/// Why the device refuses something.
#[derive(Debug, thiserror::Error)]
pub enum SwitchError {
    /// A port that the port map does not have.
    #[error("the switch has no dev_port {0}")]
    NoSuchPort(u16),
    /// A port speed that the port's lanes cannot run at.
    #[error("dev_port {port} cannot run at {speed}; its lanes allow {valid}")]
    Speed {
        /// The port.
        port: u16,
        /// The speed asked for.
        speed: BitRate,
        /// The speeds that work.
        valid: String,
    },
    /// The queues do not fit the chip.
    #[error("the traffic manager cannot be set up: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    TrafficManager(Vec<ConfigError>),
    /// A control-plane operation was refused.
    #[error(transparent)]
    Control(Box<ControlError>),
    /// State that the port map splits.
    #[error(transparent)]
    Split(Box<SplitState>),
    /// A program that needs time, without it.
    #[error("program `{program}` {needs}, which needs time: run it without --functional")]
    NeedsTime {
        /// The program.
        program: String,
        /// What it has.
        needs: &'static str,
    },
    /// A control-plane operation would take effect in the past.
    #[error(transparent)]
    Past(Box<PastEvent>),
    /// The buffer profile does not fit.
    #[error(transparent)]
    Buffer(Box<Problems>),
}
