//! Arguments for inputs that people have already: routes, names of ports, lists of flows.

use clap::Args;
use std::path::PathBuf;

/// Inputs in the forms of other tools.
#[derive(Debug, Args)]
pub(crate) struct OwnArgs {
    /// Routes in place of the default entries, for programs that take routes in networks: the output of FRR's `show ip
    /// route` or `show ip route json`, of `ip route`, or lines `prefix,port`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["entries", "topology"])]
    pub(crate) routes: Option<PathBuf>,
    /// Names of the front-panel ports, for inputs, entries and outputs, and of one switch their speeds: SONiC's
    /// port_config.ini, the table PORT of a config_db.json, or lines `name,front`
    #[arg(long, value_name = "FILE")]
    pub(crate) port_map: Option<PathBuf>,
    /// List of flows that the hosts of the network send, each from the host of its source address: a CSV file as
    /// `sluice gen flows` takes it
    #[arg(long, value_name = "FILE", requires = "topology")]
    pub(crate) flows: Option<PathBuf>,
}
