//! Telemetry in captured frames: INT v2.1 after TCP and UDP, Telemetry Reports v2.0, HPCC's compact header.
//!
//! [`decode`] examines one frame and returns its telemetry, hop by hop, oldest hop first. It ignores formats that it
//! does not know. A known format with a broken field is an [`IntError`] with the byte offset.

mod bytes;
mod find;
mod header;
mod hpcc;
mod report;

pub use find::{Telemetry, decode};
pub use header::{Hop, IntKind, IntPacket};
pub use hpcc::{HpccHop, HpccLayout};
pub use report::{Report, ReportMetadata};

/// Places at which telemetry is expected.
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
    /// Layout of HPCC's header.
    pub hpcc_layout: HpccLayout,
}

impl Default for Marks {
    /// Defaults of the programs `int` and `hpcc-int`. HPCC's header is off, because its port is RoCEv2's.
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
    /// Field or part.
    pub what: &'static str,
    /// Value found.
    pub found: u64,
    /// Value expected.
    pub expected: String,
}
