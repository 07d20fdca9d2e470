//! Configuration of the traffic manager as plain data, and its validation.

use thiserror::Error;

use crate::units::{Bytes, Cells};

/// Highest scheduling priority; 0 is the lowest (model: tm §4).
pub(super) const MAX_PRIORITY: u8 = 7;
/// Largest DWRR weight: weights have 10 bits (model: tm §4).
pub(super) const MAX_WEIGHT: u16 = 1023;
/// Largest number of queues of one port on any chip: 32 on Tofino, 128 on Tofino 2 (model: tm §1).
const MAX_QUEUES: usize = 128;
/// Number of ports that a [`TmPort`](super::TmPort) can name.
const MAX_PORTS: usize = 1 << 16;

/// Settings of one queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueConfig {
    /// Strict priority, 0 to 7. Queues of a higher number are served first.
    pub priority: u8,
    /// DWRR weight within the priority, 0 to 1023. Weight 0 takes the queue out of DWRR.
    ///
    /// Assumption (the driver's documentation only says "disables the DWRR"): a queue of weight 0 sends one packet of
    /// any length each time that the round visits it.
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

/// Configuration of the traffic manager.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TmConfig {
    /// Bytes per buffer cell (80 on Tofino, 176 on Tofino 2; model: tm §1).
    pub cell_size: Bytes,
    /// Cells of the packet buffer.
    pub buffer_cells: Cells,
    /// Bytes that a visit of the DWRR round adds to a queue's deficit, per unit of weight. Public sources do not give
    /// it (model: tm §12 item 4), so the chip specification lists it as an assumption.
    pub dwrr_quantum: Bytes,
    /// Ports, indexed by [`TmPort`](super::TmPort).
    pub ports: Vec<PortQueues>,
}

/// Problem of a configuration.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// A size is zero.
    #[error("{field} of the traffic manager is 0; it must be at least 1")]
    Zero {
        /// `cell_size`, `buffer_cells` or `dwrr_quantum`.
        field: &'static str,
    },
    /// There are more ports than port numbers.
    #[error("{found} ports are configured; a traffic manager serves up to {MAX_PORTS}")]
    TooManyPorts {
        /// Ports configured.
        found: usize,
    },
    /// A port has no queues, or more than a port can have.
    #[error("port {port} has {found} queues; a port has 1 to {MAX_QUEUES}")]
    QueueCount {
        /// Index of the port.
        port: usize,
        /// Queues configured.
        found: usize,
    },
    /// A priority is above the highest one.
    #[error(
        "port {port} queue {queue}: priority {found}; priorities are 0 to {MAX_PRIORITY}, the highest number first"
    )]
    Priority {
        /// Index of the port.
        port: usize,
        /// Index of the queue.
        queue: usize,
        /// Priority of the configuration.
        found: u8,
    },
    /// A weight has more than ten bits.
    #[error("port {port} queue {queue}: DWRR weight {found}; weights are 0 to {MAX_WEIGHT}")]
    Weight {
        /// Index of the port.
        port: usize,
        /// Index of the queue.
        queue: usize,
        /// Weight of the configuration.
        found: u16,
    },
    /// A queue's limit is zero or more than the buffer.
    #[error("port {port} queue {queue}: tail-drop limit {found}; it must be 1 to the buffer's {buffer}")]
    Limit {
        /// Index of the port.
        port: usize,
        /// Index of the queue.
        queue: usize,
        /// Limit of the configuration.
        found: Cells,
        /// Cells of the buffer.
        buffer: Cells,
    },
    /// The buffer has less than one cell per queue.
    #[error(
        "{queues} queues on {ports} ports need at least one cell each, {queues} cells in all; the buffer has {buffer}: configure fewer queues or a larger buffer"
    )]
    BufferTooSmall {
        /// Queues of all ports.
        queues: u64,
        /// Number of ports.
        ports: usize,
        /// Cells of the buffer.
        buffer: Cells,
    },
}

impl TmConfig {
    /// Returns a configuration of `ports` ports with `queues_per_port` equal queues each.
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

    /// Returns the sum of all queues' limits in cells. If it is above [`buffer_cells`](Self::buffer_cells), the buffer
    /// can be full before the queues are.
    pub fn limit_sum(&self) -> u64 {
        let queues = self.ports.iter().flat_map(|port| &port.queues);
        queues.map(|queue| u64::from(queue.limit_cells.0)).sum()
    }

    /// Checks the whole configuration.
    ///
    /// # Errors
    /// Returns every problem, in the order of ports and queues.
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
