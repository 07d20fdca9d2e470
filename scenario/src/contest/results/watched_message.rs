//! One message over time: rate, window and round trip at its sender, the queues on its path, and spans of its frames.

use sluice_asic::units::{Duration, Time};
use sluice_fabric::host::message::{FlowState, Message};
use sluice_fabric::network::{LinkId, SwitchSetup};
use sluice_fabric::spans::{HostProcess, Spans};
use std::net::Ipv4Addr;
use std::str::FromStr;

/// The message to watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchFlow {
    /// The message with this number, which is the column `pair` of tables.
    Pair(u32),
    /// The first message from one host to another.
    Between(Ipv4Addr, Ipv4Addr),
}

impl FromStr for WatchFlow {
    type Err = String;

    fn from_str(text: &str) -> Result<WatchFlow, String> {
        let between = || {
            let (from, to) = text.split_once('-')?;
            Some(WatchFlow::Between(from.trim().parse().ok()?, to.trim().parse().ok()?))
        };
        let pair = text.parse().ok().filter(|pair| *pair > 0).map(WatchFlow::Pair);
        pair.or_else(between).ok_or_else(|| {
            "expected the number of a message (the column `pair` of flows.csv), or FROM-TO, such as 10.0.0.1-10.0.1.1".into()
        })
    }
}

/// A message over time.
#[derive(Clone, Debug)]
pub struct Watched {
    /// Label of the program.
    pub label: String,
    /// Seed of the run.
    pub seed: u64,
    /// Address of the sender.
    pub from: Ipv4Addr,
    /// The message.
    pub message: Message,
    /// Time of the last acknowledgement; `None` if the run ended before.
    pub end: Option<Time>,
    /// Queues that its packets entered: switch, port and queue, such as `leaf0:8 queue 3`.
    pub queues: Vec<String>,
    /// Samples from its start to its end.
    pub samples: Vec<FlowSample>,
    /// Spans of its frames, if they are asked for.
    pub traced: Option<TracedMessage>,
}

/// A message at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowSample {
    /// Time since the start of the run.
    pub time: Duration,
    /// State at the sender; `None` before the first packet and after the last acknowledgement.
    pub state: Option<FlowState>,
    /// For each queue that is known by now, in the order of [`Watched::queues`]: bytes in the queue, and the most bytes that a
    /// packet of the message has found there since the last sample, if one came.
    pub queues: Vec<(u64, Option<u64>)>,
}

/// Spans of the frames of one message.
#[derive(Clone, Debug)]
pub struct TracedMessage {
    /// The switches of the network with their spans.
    pub switches: Vec<(SwitchSetup, Spans)>,
    /// The links with their names.
    pub links: Vec<(LinkId, String)>,
    /// Sender and receiver.
    pub hosts: Vec<HostProcess>,
    /// Frames that both hosts sent for the message.
    pub frames: u64,
    /// Those that the spans are of.
    pub traced: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_named_by_number_or_hosts() {
        let host = Ipv4Addr::new(10, 0, 0, 1);
        assert_eq!("12".parse(), Ok(WatchFlow::Pair(12)));
        assert_eq!("10.0.0.1-10.0.1.1".parse(), Ok(WatchFlow::Between(host, Ipv4Addr::new(10, 0, 1, 1))));
        for wrong in ["0", "", "10.0.0.1", "a-b", "-5"] {
            assert!(wrong.parse::<WatchFlow>().is_err(), "{wrong}");
        }
    }
}
