//! Configuration of a packet generator application, and its validation.

use crate::chip::ChipSpec;
use crate::units::Duration;
use thiserror::Error;

/// The buffer is addressed in lines of this many bytes (driver).
const LINE: u32 = 16;
/// Batch and packet numbers have 16 bits (model: tm §10).
const COUNT_MAX: u32 = 1 << 16;
/// Timers and gaps are 32-bit numbers of nanoseconds (driver).
const TIME_MAX: Duration = Duration::from_nanos(u32::MAX as u64);

/// Ternary match on the first bytes of a packet, the first byte first. Bits set in the mask are compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Match {
    /// The bytes.
    pub value: [u8; 16],
    /// The bits that must be equal.
    pub mask: [u8; 16],
}

impl Match {
    /// Returns true if the bytes match; missing bytes count as zero.
    pub(super) fn matches(&self, bytes: &[u8; 16]) -> bool {
        let all = self.value.iter().zip(&self.mask).zip(bytes);
        all.into_iter().all(|((value, mask), byte)| (value ^ byte) & mask == 0)
    }
}

/// Trigger of an application (model: tm §10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Trigger {
    /// Once, a delay after the application was enabled.
    OneShot {
        /// Delay.
        after: Duration,
    },
    /// Again and again, the first time a period after it was enabled.
    Periodic {
        /// Period.
        period: Duration,
    },
    /// One of these local ports of the pipe went down; bit n is port n.
    PortDown {
        /// The ports.
        ports: u128,
    },
    /// A packet on a recirculation port of the pipe begins with matching bytes: 4 on Tofino, 16 on Tofino 2.
    Recirculation(Match),
    /// A deparser requested packets with bytes that match. Tofino 2 only.
    Request(Match),
    /// A priority was paused or resumed. Tofino 2 only, one application per pipe.
    Pfc {
        /// Bytes that follow the packet's generator header. The messages that the chip appends to them are not
        /// public and not made.
        header: [u8; 16],
    },
}

/// An application's configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AppConfig {
    /// Trigger.
    pub trigger: Trigger,
    /// First byte of its packets in the generator's buffer, a multiple of 16. A deparser's request brings its own.
    pub offset: u32,
    /// Bytes of its packets, header not included. A deparser's request brings its own.
    pub length: u32,
    /// Batches per trigger, 1 to 65,536.
    pub batches: u32,
    /// Packets per batch, 1 to 65,536.
    pub packets: u32,
    /// Time between batches: from start to start on Tofino, from end to start on Tofino 2 (driver).
    pub batch_gap: Duration,
    /// Mean of the random time added to each batch gap; uniform from 0 to twice the mean.
    pub batch_jitter: Duration,
    /// Time between the packets of a batch, from start to start on Tofino, from end to start on Tofino 2 (driver).
    pub packet_gap: Duration,
    /// Mean of the random time added to each packet gap; uniform from 0 to twice the mean.
    pub packet_jitter: Duration,
    /// Local port on which the packets appear to arrive.
    pub source_port: u32,
    /// If set, each packet of a batch arrives on the next port; after this port, the first one follows.
    pub source_port_wrap: Option<u32>,
    /// True if the matched bytes follow the header. Tofino 2 only; on Tofino, three of them are always in the header.
    pub copy_key: bool,
}

impl AppConfig {
    /// One packet of `length` bytes from the start of the buffer, from local port `source_port`.
    pub const fn new(trigger: Trigger, length: u32, source_port: u32) -> Self {
        Self {
            trigger,
            offset: 0,
            length,
            batches: 1,
            packets: 1,
            batch_gap: Duration::ZERO,
            batch_jitter: Duration::ZERO,
            packet_gap: Duration::ZERO,
            packet_jitter: Duration::ZERO,
            source_port,
            source_port_wrap: None,
            copy_key: false,
        }
    }

    /// Checks the configuration against a chip.
    ///
    /// # Errors
    /// Returns every rule that the configuration breaks.
    pub fn validate(&self, chip: &ChipSpec) -> Result<(), Vec<PktgenError>> {
        let mut errors = Vec::new();
        let mut require = |holds: bool, error: PktgenError| {
            if !holds {
                errors.push(error);
            }
        };
        let feature = |what| PktgenError::Missing { what };
        match self.trigger {
            Trigger::OneShot { after: time } | Trigger::Periodic { period: time } => {
                let (what, range) = ("timer", "1ns to 4.294967295s");
                let fits = time >= Duration::from_nanos(1) && time <= TIME_MAX;
                require(fits, PktgenError::Time { what, found: time, range });
            }
            Trigger::Request(_) => require(chip.features.deparser_pktgen, feature("deparser requests")),
            Trigger::Pfc { .. } => require(chip.features.deparser_pktgen, feature("PFC triggers")),
            Trigger::Recirculation(key) => {
                let limit = chip.tm.pktgen_match_bytes;
                let compared = key.mask.iter().rposition(|mask| *mask != 0).map_or(0, |last| last as u32 + 1);
                require(compared <= limit, PktgenError::Key { found: compared, limit });
            }
            Trigger::PortDown { .. } => {}
        }
        let gaps = [
            ("batch gap", self.batch_gap),
            ("batch jitter", self.batch_jitter),
            ("packet gap", self.packet_gap),
            ("packet jitter", self.packet_jitter),
        ];
        for (what, found) in gaps {
            let range = "0 to 4.294967295s";
            require(found <= TIME_MAX, PktgenError::Time { what, found, range });
        }
        for (what, found) in [("batches", self.batches), ("packets per batch", self.packets)] {
            require((1..=COUNT_MAX).contains(&found), PktgenError::Count { what, found, limit: COUNT_MAX });
        }
        require(self.offset.is_multiple_of(LINE), PktgenError::Alignment { found: self.offset, line: LINE });
        let end = u64::from(self.offset) + u64::from(self.length);
        let limit = chip.tm.pktgen_buffer.get();
        require(end <= limit, PktgenError::Buffer { end, limit });
        for port in [Some(self.source_port), self.source_port_wrap].into_iter().flatten() {
            let limit = chip.ports.ports_per_pipe;
            require(port < limit, PktgenError::Port { found: port, limit });
        }
        require(!self.copy_key || chip.features.deparser_pktgen, feature("a key after the header"));
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }
}

/// Problem of a packet generator's set-up.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PktgenError {
    /// An application that does not exist.
    #[error("packet generator application {found}; a pipe has {limit}, from 0")]
    App {
        /// The application.
        found: u32,
        /// Applications of a pipe.
        limit: u32,
    },
    /// An application enabled before it was configured.
    #[error("packet generator application {0} has no configuration: configure it before enabling it")]
    Unconfigured(u32),
    /// A second application for PFC.
    #[error(
        "packet generator application {found} has a PFC trigger like application {other}; a pipe has one: disable one of them"
    )]
    SecondPfc {
        /// The application.
        found: u32,
        /// Application that has the trigger.
        other: u32,
    },
    /// The chip lacks the feature.
    #[error(
        "{what}: this chip's packet generator has none; use a timer, port-down or recirculation trigger, or Tofino 2"
    )]
    Missing {
        /// The feature.
        what: &'static str,
    },
    /// More bytes compared than the chip sees.
    #[error(
        "trigger compares {found} bytes; this chip compares the first {limit}: clear the mask after them"
    )]
    Key {
        /// Bytes compared.
        found: u32,
        /// Most bytes that can be compared.
        limit: u32,
    },
    /// A time that registers do not hold.
    #[error("{what} {found}; it is {range}")]
    Time {
        /// Name of the time.
        what: &'static str,
        /// The time.
        found: Duration,
        /// Allowed range.
        range: &'static str,
    },
    /// A number that registers do not hold.
    #[error("{what}: {found}; 1 to {limit} can be sent")]
    Count {
        /// Name of the setting.
        what: &'static str,
        /// The number.
        found: u32,
        /// The largest.
        limit: u32,
    },
    /// A packet that starts inside a line of the buffer.
    #[error("packet at byte {found} of the buffer; it must start at a multiple of {line}")]
    Alignment {
        /// The offset.
        found: u32,
        /// Bytes per line.
        line: u32,
    },
    /// A packet beyond the buffer.
    #[error("packet ends at byte {end}; the buffer has {limit}: shorten or move it")]
    Buffer {
        /// The end.
        end: u64,
        /// The buffer's size.
        limit: u64,
    },
    /// A port that the pipe does not have.
    #[error("source port {found}; a pipe has local ports 0 to {}", .limit - 1)]
    Port {
        /// The port.
        found: u32,
        /// Ports of a pipe.
        limit: u32,
    },
}
