//! Arguments of `sluice polarization`.

use crate::console::numbers::{named, number, threads};
use clap::Args;
use sluice_fabric::flows::Workload;
use sluice_fabric::polarization::Picker;
use sluice_hashing::replicas::Order;
use sluice_hashing::scheme::Scheme;
use sluice_hashing::values::FunctionList;
use sluice_hashing::wcmp::Method;
use std::num::NonZero;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct PolarizationArgs {
    /// Network: clos, dring or wan; a file of switches and cables (TOML, or the format of the ns-3 simulators); or a
    /// builder such as fat-tree:k=8 or leaf-spine:leaves=8,spines=8
    #[arg(long, default_value = "clos", value_name = "TOPOLOGY")]
    pub(crate) topology: String,
    /// Number of server blocks of clos (2 to 64) and dring (5 to 64); a dring of 5 has paths with at most one transit
    /// block
    #[arg(long, value_name = "N", value_parser = number::<u32>(..))]
    pub(crate) blocks: Option<u32>,
    /// Chips per stage and block, which is also the number of ports of a group
    #[arg(long, value_name = "N", value_parser = number::<u32>(..))]
    pub(crate) width: Option<u32>,
    /// Parallel links between two chips that are connected
    #[arg(long, value_name = "N", value_parser = number::<u32>(..))]
    pub(crate) parallel: Option<u32>,
    /// Failed link, repeatable: s2-0-3:s3-0-5 removes the links from the first switch to the second
    #[arg(long, value_name = "FROM:TO", value_parser = link)]
    pub(crate) fail: Vec<(String, String)>,
    /// Schemes to compare: plain, ttl, per-stage, per-port, recombine, coprime
    #[arg(long, value_delimiter = ',', default_value = "plain,per-stage,per-port,recombine,coprime", value_parser = scheme)]
    pub(crate) schemes: Vec<Scheme>,
    /// Random draws of the scheme per-stage: each stage (and block, without spine) draws a function, with replacement,
    /// and a 32-bit seed
    #[arg(long, default_value_t = 1, value_parser = number::<u32>(1..=1000))]
    pub(crate) draws: u32,
    /// Number of flows to generate
    #[arg(long, default_value_t = 400_000, value_name = "N", value_parser = number::<u64>(1..))]
    pub(crate) flows: u64,
    /// Distribution of the flows: uniform, datacenter, zipf or low-entropy
    #[arg(long, default_value = "uniform", value_parser = workload)]
    pub(crate) workload: Workload,
    /// Let all flows come from this block
    #[arg(long, value_name = "BLOCK", value_parser = number::<u32>(..))]
    pub(crate) from_block: Option<u32>,
    /// Use the flows of this capture instead of generated ones
    #[arg(long, value_name = "FILE", conflicts_with_all = ["flows", "workload", "from_block"])]
    pub(crate) capture: Option<PathBuf>,
    /// Send the capture's packets through this stage program at every hop, and count those that take another link than
    /// their flow; the program has the parameters of ecmp
    #[arg(long, value_name = "PROGRAM", requires = "capture")]
    pub(crate) packets: Option<String>,
    /// Hash functions of the switches: RTAG7 (crc32_lo, ccitt, bisync, crc32_hi, xor16, crc16_xor1 to crc16_xor8) or
    /// the P4 extern's (crc_16, crc_32, ..)
    #[arg(long, default_value = "crc32_lo,ccitt,bisync,crc32_hi,xor16,crc16_xor8")]
    pub(crate) functions: FunctionList,
    /// Rule by which a switch picks a member: modulo16 (RTAG7), fair or resilient (Tofino), threshold (ranges)
    #[arg(long = "selector", default_value = "modulo16", value_parser = picker)]
    pub(crate) picker: Picker,
    /// Number of members of replicated groups [default: the planner's choice]
    #[arg(long, value_name = "N", value_parser = number::<u32>(..))]
    pub(crate) members: Option<u32>,
    /// Most members of a group [default: 512, or 120 on Tofino]
    #[arg(long = "group-limit", value_parser = number::<u32>(..))]
    pub(crate) width_limit: Option<u32>,
    /// Largest coefficient of variation that replication may cause, in thousandths
    #[arg(long, default_value_t = 50, value_parser = number::<u32>(1..=1000))]
    pub(crate) target: u32,
    /// Order of replicas: interleaved or blocked
    #[arg(long, default_value = "interleaved", value_parser = order)]
    pub(crate) order: Order,
    /// Method that turns weights into members: naive, split or largest-remainder
    #[arg(long, default_value = "split", value_parser = method)]
    pub(crate) method: Method,
    /// Seed of flows, random draws and hashes
    #[arg(long, default_value_t = 1, value_parser = number::<u32>(..))]
    pub(crate) seed: u32,
    /// Number of threads; results do not depend on it [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<NonZero<usize>>,
    /// Folder for polarization.json, polarization.txt, plots and manifest.json
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
}

fn scheme(text: &str) -> Result<Scheme, String> {
    named(&Scheme::ALL, text)
}

fn order(text: &str) -> Result<Order, String> {
    named(&Order::ALL, text)
}

fn method(text: &str) -> Result<Method, String> {
    named(&Method::ALL, text)
}

fn workload(text: &str) -> Result<Workload, String> {
    named(&Workload::ALL, text)
}

fn picker(text: &str) -> Result<Picker, String> {
    named(&Picker::ALL, text)
}

fn link(text: &str) -> Result<(String, String), String> {
    let (from, to) = text.split_once(':').ok_or("expected FROM:TO, such as s2-0-3:s3-0-5")?;
    Ok((from.to_owned(), to.to_owned()))
}
