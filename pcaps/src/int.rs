//! Telemetry in captured frames: INT v2.1 behind TCP and UDP, Telemetry Reports v2.0, HPCC's compact header.
//!
//! [`decode`] looks at one frame and says what telemetry it carries, hop by hop, oldest hop first. What it does not
//! know it leaves alone; what it knows and finds broken is an [`IntError`] with the byte offset.

mod bytes;
mod find;
mod header;
mod hpcc;
mod report;

pub use find::{Telemetry, decode};
pub use header::{Hop, IntKind, IntPacket};
pub use hpcc::{HpccHop, HpccLayout};
pub use report::{Report, ReportMetadata};

/// Where telemetry is to be looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marks {
    /// DSCP of packets with INT; `None` for none.
    pub dscp: Option<u8>,
    /// UDP destination port of packets with INT.
    pub int_port: Option<u16>,
    /// UDP destination port of reports.
    pub report_port: Option<u16>,
    /// UDP destination port of packets with HPCC's header.
    pub hpcc_port: Option<u16>,
    /// How that is laid out.
    pub hpcc_layout: HpccLayout,
}

impl Default for Marks {
    /// What the programs `int` and `hpcc-int` have by default; HPCC's header is off, because its port is RoCEv2's.
    fn default() -> Self {
        Marks {
            dscp: Some(0x17),
            int_port: Some(54_321),
            report_port: Some(32_766),
            hpcc_port: None,
            hpcc_layout: HpccLayout::Paper,
        }
    }
}

/// Telemetry that is broken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset}: {what}: found {found}, expected {expected}")]
pub struct IntError {
    /// Byte of the frame.
    pub offset: usize,
    /// Which field or part.
    pub what: &'static str,
    /// What is there.
    pub found: u64,
    /// What would be right.
    pub expected: String,
}
