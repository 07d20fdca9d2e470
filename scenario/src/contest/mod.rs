//! Contests: several programs carry the same messages of closed-loop RDMA hosts through the same network, and the times
//! that the messages take are compared.
//!
//! [`Contest`] is a contest file, [`run_contest`] runs it with each of its seeds, [`Series`] is the result of one program, and
//! [`checks`] compares the results with the file's expectations. A number's mean over the seeds has a 95 % interval
//! ([`Estimate`]).
//!
//! | module | content |
//! |---|---|
//! | `sweep` | the contests of a file with `[sweep]`, and what a run depends on |
//! | `kept` | a finished run as text, so that it need not be run again |
//! | `metrics`, `ended`, `samples` | numbers by message size, at the end of a run, and over its time |
//! | `schedule`, `roles` | cables and entries that change, programs by role |
//! | `watched`, `trial` | one message over time; the amount of work before a run |

mod alone;
mod ended;
mod estats;
mod expect;
mod file;
mod flows;
mod fluid;
mod hosts;
mod interval;
mod kept;
mod metrics;
mod performance;
mod pool;
mod ran;
mod records;
mod required;
mod roles;
mod run;
mod samples;
mod schedule;
mod seeds;
mod series;
mod sweep;
mod told;
mod traced;
mod trial;
mod watched;
pub mod workload;

pub use alone::Alone;
pub use expect::{Judged, Verdict, Verdicts, checks, judged};
pub use file::{AloneName, Contest, ContestError, Contestant};
pub use flows::{Flow, FlowList, FlowListError};
pub use hosts::{
    BusSetting, CadenceName, CarrierName, ClassSetting, CongestionName, Generation, HostsSetting,
    HpccSetting, IdleName, LayoutName, LoopbackSetting, PacingSetting, RateDctcpSetting, ReuseName,
    TcpCongestionName, TcpSetting, TelemetrySetting, TimelySetting, TransportSetting, UdpSetting,
    VendorSetting, WindowSetting,
};
pub use interval::Estimate;
pub use kept::{KeptError, KeptRun, MESSAGE_COLUMNS, RunKey, RunRecord, RunStore, message_row, read_message};
pub use metrics::{MetricsSetting, SizeBin};
pub use performance::{Performance, Sent, Sizes, Slowdowns, Unfinished};
pub use pool::run_all;
pub use roles::{RoleProgram, RoleSetting};
pub use run::{ContestProgress, ContestSetup, RunError, Tick, WrittenFlows, run_contest, write_flows};
pub use samples::{LinkSamples, Samples, SwitchSamples};
pub use schedule::{ChangeName, ScheduleSetting};
pub use seeds::SeedsSetting;
pub use series::{Figure, FigureTable, Results, Series};
pub use sweep::Point;
pub use traced::TracedMessage;
pub use trial::{Amount, Trial};
pub use watched::{FlowSample, WatchFlow, Watched, watch_flow};
pub use workload::{Plan, Planned, WorkloadSetting, Workloads};
