//! Contests: several programs carry the same messages of closed-loop RDMA hosts through the same network, and the times
//! that the messages take are compared.
//!
//! [`Contest`] is a contest file, [`run_contest`] runs it with each of its seeds, [`Series`] is the result of one program, and
//! [`checks`] compares the results with the file's expectations. A number's mean over the seeds has a 95 % interval
//! ([`Estimate`]).

mod expect;
mod file;
mod flows;
mod hosts;
mod interval;
mod performance;
mod pool;
mod run;
mod seeds;
mod series;
mod workload;

pub use expect::{Judged, Verdict, Verdicts, checks};
pub use file::{AloneName, Contest, ContestError, Contestant, WorkloadSetting};
pub use flows::{Flow, FlowList, FlowListError};
pub use hosts::{
    CadenceName, CarrierName, ClassSetting, CongestionName, Generation, HostsSetting, HpccSetting,
    LayoutName, RateDctcpSetting, TelemetrySetting, TimelySetting, TransportSetting, VendorSetting,
    WindowSetting,
};
pub use interval::Estimate;
pub use performance::{Performance, Sent, Sizes, Slowdowns, Unfinished};
pub use run::{ContestProgress, ContestSetup, RunError, Tick, run_contest};
pub use seeds::SeedsSetting;
pub use series::{Figure, Results, Series};
pub use workload::{Offered, Station, messages, offered, sizes};
