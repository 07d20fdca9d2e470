//! Contests: several programs carry the same messages of closed-loop RDMA hosts through the same network, and the times
//! that the messages take are compared.
//!
//! [`Contest`] is a contest file, [`run_contest`] runs it with each of its seeds, [`Series`] is the result of one program, and
//! [`checks`] compares the results with the file's expectations. A number's mean over the seeds has a 95 % interval
//! ([`Estimate`]).
//!
//! | folder | content; each uses only those above it |
//! |---|---|
//! | `workload` | the messages of hosts, from the tables of a contest file |
//! | `file` | the form of a contest file, and the contests of a file with `[sweep]` |
//! | `results` | runs, series over seeds, and the text of a finished run |
//! | `network` | the network of a program with its hosts, before it runs |
//! | `run` | runs with each seed, the amount of work before, and one message over time |
//! | `judge` | verdicts on expectations |

mod file;
mod judge;
mod network;
mod results;
mod run;
pub mod workload;

pub use crate::language::seeds::SeedsSetting;
pub use file::contest::{AloneName, Contest, ContestError, Contestant};
#[cfg(test)]
pub(crate) use file::hosts::TRANSPORT_KEYS;
pub use file::hosts::{
    BusSetting, CadenceName, CarrierName, ClassSetting, CongestionName, Generation, HostsSetting,
    HpccSetting, IdleName, LayoutName, LoopbackSetting, PacingSetting, RateDctcpSetting, ReuseName,
    TcpCongestionName, TcpSetting, TelemetrySetting, TimelySetting, TransportKeys, TransportSetting,
    UdpSetting, VendorSetting, WindowSetting,
};
pub use file::metrics::{MetricsSetting, SizeBin};
pub use file::roles::{RoleProgram, RoleSetting};
pub use file::schedule::{ChangeName, ScheduleSetting};
pub use file::sweep::Point;
pub use judge::{Judged, Verdict, Verdicts, checks, judged};
pub use network::prepared::{ContestSetup, RunError, network_programs};
pub use network::written_flows::{WrittenFlows, write_flows};
pub use results::ideal_times::IdealTimes;
pub use results::interval::Estimate;
pub use results::performance::{Performance, Sent, Sizes, Slowdowns, Unfinished};
pub use results::run_store::{
    KeptError, KeptRun, MESSAGE_COLUMNS, RunKey, RunRecord, RunStore, message_row, read_message,
};
pub use results::samples::{LinkSamples, Samples, SwitchSamples};
pub use results::series::{Figure, FigureTable, Results, Series};
pub use results::watched_message::{FlowSample, TracedMessage, WatchFlow, Watched};
pub use run::contest::run_contest;
pub use run::message_watch::watch_flow;
pub use run::pool::run_all;
pub use run::progress::{ContestProgress, Tick};
pub use run::trial::{Amount, Trial};
pub use workload::flow_list::{FlowList, FlowListError, FlowRow};
pub use workload::{Plan, Planned, WorkloadSetting, Workloads};
