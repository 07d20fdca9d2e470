//! Arguments of `sluice int`.

use crate::console::numbers::number;
use clap::{Args, Subcommand, ValueEnum};
use sluice_pcaps::int::{HpccLayout, Marks};
use std::path::PathBuf;

/// Decode in-band telemetry (INT) in a capture
#[derive(Debug, Args)]
pub(crate) struct IntArgs {
    #[command(subcommand)]
    pub(crate) action: Action,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Print every hop of every INT packet, Telemetry Report and HPCC header
    Decode(DecodeArgs),
}

#[derive(Debug, Args)]
pub(crate) struct DecodeArgs {
    /// Capture: pcap or pcapng, plain, .gz or .zst
    pub(crate) file: PathBuf,
    /// DSCP of packets with INT; 64: INT is not marked by a DSCP
    #[arg(long, default_value_t = 0x17, value_parser = number::<u8>(0..=64))]
    pub(crate) dscp: u8,
    /// UDP destination port of packets with INT
    #[arg(long, default_value_t = 54_321, value_name = "PORT", value_parser = number::<u16>(..))]
    pub(crate) int_port: u16,
    /// UDP destination port of Telemetry Reports
    #[arg(long, default_value_t = 32_766, value_name = "PORT", value_parser = number::<u16>(..))]
    pub(crate) report_port: u16,
    /// UDP destination port of packets with HPCC's header, such as 4791
    #[arg(long, value_name = "PORT", value_parser = number::<u16>(..))]
    pub(crate) hpcc_port: Option<u16>,
    /// Layout of HPCC's header: the parameter `layout` of `hpcc-int`
    #[arg(long, value_enum, default_value_t, value_name = "LAYOUT")]
    pub(crate) hpcc_layout: Layout,
    /// Skip broken telemetry instead of failing
    #[arg(long)]
    pub(crate) skip_broken: bool,
    /// Most hops to print
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = number::<usize>(..))]
    pub(crate) limit: usize,
    /// Folder for int.json, hops.csv, hops.parquet, latency.svg, queue.svg and manifest.json
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
}

/// Layouts of HPCC's header.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum Layout {
    /// A record for each hop, as in the paper
    #[default]
    Paper,
    /// Five slots, as in the authors' simulator
    Ns3,
}

impl DecodeArgs {
    pub(crate) fn marks(&self) -> Marks {
        Marks {
            dscp: (self.dscp < 64).then_some(self.dscp),
            int_port: Some(self.int_port),
            report_port: Some(self.report_port),
            hpcc_port: self.hpcc_port,
            hpcc_layout: match self.hpcc_layout {
                Layout::Paper => HpccLayout::Paper,
                Layout::Ns3 => HpccLayout::Ns3,
            },
        }
    }
}
