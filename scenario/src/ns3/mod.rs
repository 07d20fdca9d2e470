//! Experiments of the ns-3 simulators of HPCC and ConWeave: their `config.txt` with the files that it names, run on a
//! network of emulated switches, and results in the simulators' formats (model: int §3, §4).
//!
//! [`Config`] is the text of `config.txt`, [`FlowFile`] its list of flows, [`Experiment`] both as a network with hosts, and
//! [`Outcome`] has the texts of the output files. What the simulators do otherwise than a network of emulated switches is
//! in [`Experiment::notes`]; every key that has no meaning here is there too.
//!
//! | file | contents |
//! |---|---|
//! | `config` | the text of `config.txt`, and the table of all keys |
//! | `flows` | lists of flows |
//! | `paths` | the simulators' closed form: base RTT, bandwidth and BDP of pairs of hosts |
//! | `buffer` | buffer profiles: PFC thresholds, headroom, marking |
//! | `translate` | network, hosts and program of a config |
//! | `speeds` | warnings about parameters of another speed |
//! | `senders` | congestion control of a config |
//! | `run` | the run |
//! | `watch` | PFC frames and lengths of queues during a run |
//! | `results` | texts of the output files |

mod buffer;
mod config;
mod flows;
mod paths;
mod results;
mod run;
mod senders;
mod speeds;
mod translate;
mod watch;

pub use config::{Config, KEYS, Key, Meaning, Simulator};
pub use flows::{FlowFile, ListedFlow};
pub use results::Outcome;
pub use run::{Ns3RunError, Progress};
pub use translate::{Experiment, Text};

use sluice_fabric::topology::{Ns3Error, TopologyError};
use thiserror::Error;

/// Reason why a file of an experiment is rejected.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{origin}:{line}: {what}")]
pub struct Ns3FileError {
    /// Name of the file.
    pub origin: String,
    /// Line, from 1.
    pub line: usize,
    /// Value found, value expected, and how to mend it.
    pub what: String,
}

/// Reason why an experiment is rejected.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ExperimentError {
    /// A value of a file is wrong.
    #[error(transparent)]
    File(#[from] Ns3FileError),
    /// The topology file is wrong.
    #[error(transparent)]
    Topology(#[from] Ns3Error),
    /// The network of the topology file is wrong.
    #[error(transparent)]
    Network(#[from] TopologyError),
    /// Values of the files contradict each other.
    #[error("{0}")]
    Setting(String),
}

/// Returns the words of a text with their lines, from 1.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = (1..).zip(text.lines());
    lines.flat_map(|(line, text)| text.split_whitespace().map(move |word| (line, word)))
}
