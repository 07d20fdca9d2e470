//! The traffic manager's configuration as plain data, and what makes one impossible.
//!
//! Sizes, queues with priority, weight and limit, checks over the whole.

use thiserror::Error;

use crate::units::{Bytes, Cells};

/// Scheduling priorities are 0 (lowest) to this (model: tm §4).
pub(super) const MAX_PRIORITY: u8 = 7;
/// DWRR weights have 10 bits (model: tm §4).
pub(super) const MAX_WEIGHT: u16 = 1023;
/// Queues one port can own on the largest chip (model: tm §1: T1 32, T2 128).
const MAX_QUEUES: usize = 128;
/// Ports that a [`TmPort`](super::TmPort) can name.
const MAX_PORTS: usize = 1 << 16;

/// One queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueConfig {
    /// Strict priority, 0..=7; a higher number goes first.
    pub priority: u8,
    /// DWRR weight within the priority, 0..=1023. Weight 0 takes the queue out of DWRR.
    ///
    /// Assumption (the driver says no more than "disables the DWRR"): a queue of weight 0 sends one packet,
    /// of whatever length, whenever the round comes to it.
    pub weight: u16,
    /// Tail-drop limit in cells: the queue never holds more.
    pub limit_cells: Cells,
}

/// The queues of one port, indexed by queue id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PortQueues {
    /// 1 to 128 queues.
    pub queues: Vec<QueueConfig>,
}

/// The whole configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TmConfig {
    /// Bytes per buffer cell (80 on Tofino 1, 176 on Tofino 2; model: tm §1).
    pub cell_size: Bytes,
    /// Cells of the packet buffer.
    pub buffer_cells: Cells,
    /// Bytes that a visit of the DWRR round adds to a queue's credit, per unit of weight. Not found for the
    /// chips (model: tm §12 item 4), so an assumption of the chip specification.
    pub dwrr_quantum: Bytes,
    /// The ports, indexed by [`TmPort`](super::TmPort).
    pub ports: Vec<PortQueues>,
}

/// What is wrong with a configuration.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// A size of zero.
    #[error("{field} of the traffic manager is 0; it must be at least 1")]
    Zero {
        /// `cell_size`, `buffer_cells` or `dwrr_quantum`.
        field: &'static str,
    },
    /// More ports than can be named.
    #[error("{found} ports are configured; a traffic manager serves up to {MAX_PORTS}")]
    TooManyPorts {
        /// Ports configured.
        found: usize,
    },
    /// A port without queues, or with more than a port can own.
    #[error("port {port} has {found} queues; a port has 1 to {MAX_QUEUES}")]
    QueueCount {
        /// Index of the port.
        port: usize,
        /// Queues configured.
        found: usize,
    },
    /// A priority that does not exist.
    #[error(
        "port {port} queue {queue}: priority {found}; priorities are 0 to {MAX_PRIORITY}, the highest number first"
    )]
    Priority {
        /// Index of the port.
        port: usize,
        /// Index of the queue.
        queue: usize,
        /// The priority asked for.
        found: u8,
    },
    /// A weight of more than ten bits.
    #[error("port {port} queue {queue}: DWRR weight {found}; weights are 0 to {MAX_WEIGHT}")]
    Weight {
        /// Index of the port.
        port: usize,
        /// Index of the queue.
        queue: usize,
        /// The weight asked for.
        found: u16,
    },
    /// A queue that could hold nothing, or more than there is.
    #[error("port {port} queue {queue}: tail-drop limit {found}; it must be 1 to the buffer's {buffer}")]
    Limit {
        /// Index of the port.
        port: usize,
        /// Index of the queue.
        queue: usize,
        /// The limit asked for.
        found: Cells,
        /// The buffer.
        buffer: Cells,
    },
    /// Not even one cell per queue.
    #[error(
        "{queues} queues on {ports} ports need at least one cell each, {queues} cells in all; the buffer has {buffer}: configure fewer queues or a larger buffer"
    )]
    BufferTooSmall {
        /// Queues of all ports.
        queues: u64,
        /// Ports.
        ports: usize,
        /// The buffer.
        buffer: Cells,
    },
}

impl TmConfig {
    /// `ports` ports with `queues_per_port` like queues each.
    pub fn uniform(
        cell_size: Bytes,
        buffer_cells: Cells,
        dwrr_quantum: Bytes,
        ports: usize,
        queues_per_port: usize,
        queue: QueueConfig,
    ) -> Self {
        let port = PortQueues { queues: vec![queue; queues_per_port] };
        Self { cell_size, buffer_cells, dwrr_quantum, ports: vec![port; ports] }
    }

    /// Sum of all queues' limits in cells; above [`buffer_cells`](Self::buffer_cells) the buffer can fill
    /// before the queues do.
    pub fn limit_sum(&self) -> u64 {
        let queues = self.ports.iter().flat_map(|port| &port.queues);
        queues.map(|queue| u64::from(queue.limit_cells.0)).sum()
    }

    /// Checks the whole.
    ///
    /// # Errors
    /// Everything that is wrong, in the order of ports and queues.
    pub fn validate(&self) -> Result<(), Vec<ConfigError>> {
        let mut errors = Vec::new();
        let sizes = [
            ("cell_size", self.cell_size.0),
            ("buffer_cells", self.buffer_cells.0.into()),
            ("dwrr_quantum", self.dwrr_quantum.0),
        ];
        errors.extend(
            sizes.iter().filter(|(_, size)| *size == 0).map(|&(field, _)| ConfigError::Zero { field }),
        );
        if self.ports.len() > MAX_PORTS {
            errors.push(ConfigError::TooManyPorts { found: self.ports.len() });
        }
        for (port, config) in self.ports.iter().enumerate() {
            if !(1..=MAX_QUEUES).contains(&config.queues.len()) {
                errors.push(ConfigError::QueueCount { port, found: config.queues.len() });
            }
            for (queue, config) in config.queues.iter().enumerate() {
                self.check_queue(port, queue, config, &mut errors);
            }
        }
        let queues: u64 = self.ports.iter().map(|port| port.queues.len() as u64).sum();
        if queues > u64::from(self.buffer_cells.0) {
            let (ports, buffer) = (self.ports.len(), self.buffer_cells);
            errors.push(ConfigError::BufferTooSmall { queues, ports, buffer });
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    fn check_queue(&self, port: usize, queue: usize, config: &QueueConfig, errors: &mut Vec<ConfigError>) {
        let QueueConfig { priority, weight, limit_cells } = *config;
        if priority > MAX_PRIORITY {
            errors.push(ConfigError::Priority { port, queue, found: priority });
        }
        if weight > MAX_WEIGHT {
            errors.push(ConfigError::Weight { port, queue, found: weight });
        }
        if limit_cells == Cells::ZERO || limit_cells > self.buffer_cells {
            errors.push(ConfigError::Limit { port, queue, found: limit_cells, buffer: self.buffer_cells });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUEUE: QueueConfig = QueueConfig { priority: 0, weight: 1023, limit_cells: Cells(100) };

    #[test]
    fn a_uniform_configuration_is_legal_and_may_oversubscribe() {
        let config = TmConfig::uniform(Bytes(176), Cells(1000), Bytes(80), 4, 8, QUEUE);
        assert_eq!(config.validate(), Ok(()));
        assert_eq!(config.limit_sum(), 3200);
    }

    #[test]
    fn all_errors_are_reported_at_once() {
        let mut config = TmConfig::uniform(
            Bytes(0),
            Cells(3),
            Bytes(0),
            2,
            2,
            QueueConfig { limit_cells: Cells(3), ..QUEUE },
        );
        config.ports[0].queues[1] = QueueConfig { priority: 8, weight: 1024, limit_cells: Cells(4) };
        config.ports[1].queues[0].limit_cells = Cells(0);
        config.ports.push(PortQueues::default());
        let errors = config.validate().unwrap_err();
        assert_eq!(
            errors,
            [
                ConfigError::Zero { field: "cell_size" },
                ConfigError::Zero { field: "dwrr_quantum" },
                ConfigError::Priority { port: 0, queue: 1, found: 8 },
                ConfigError::Weight { port: 0, queue: 1, found: 1024 },
                ConfigError::Limit { port: 0, queue: 1, found: Cells(4), buffer: Cells(3) },
                ConfigError::Limit { port: 1, queue: 0, found: Cells(0), buffer: Cells(3) },
                ConfigError::QueueCount { port: 2, found: 0 },
                ConfigError::BufferTooSmall { queues: 4, ports: 3, buffer: Cells(3) },
            ]
        );
        let sums = errors.last().unwrap().to_string();
        assert!(sums.contains("4 queues on 3 ports") && sums.contains("3 cells"), "{sums}");
    }
}
