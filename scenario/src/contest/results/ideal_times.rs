//! Ideal times of messages: what they take in a network without other messages.

use super::performance::Sent;
use sluice_asic::units::Duration;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// Ideal times: for each pair of host classes, the time from a full packet of one class's host to the acknowledgement from
/// the other class's host, with nothing else in the network. Hosts of a class have the same switch, rate and delay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdealTimes {
    /// The times, by the classes of sender and receiver.
    pub times: BTreeMap<(u32, u32), Duration>,
    /// The class of each host.
    pub class_of: BTreeMap<Ipv4Addr, u32>,
}

impl IdealTimes {
    /// Returns the ideal time of a full packet between two hosts; `None` if one of them is unknown.
    pub(crate) fn first_packet(&self, from: Ipv4Addr, to: Ipv4Addr) -> Option<Duration> {
        self.times.get(&(*self.class_of.get(&from)?, *self.class_of.get(&to)?)).copied()
    }

    /// Returns the least time of all programs for each pair of classes.
    pub(crate) fn fastest(all: &[IdealTimes]) -> IdealTimes {
        let mut fastest = all.first().cloned().unwrap_or_default();
        for (way, least) in &mut fastest.times {
            *least = all.iter().filter_map(|one| one.times.get(way)).copied().min().unwrap_or(*least);
        }
        fastest
    }

    /// Returns the ideal time of a message with these ideal times, if the message takes `own` with those of `self`.
    pub(crate) fn related(&self, to: &IdealTimes, sent: &Sent) -> Option<Duration> {
        let message = &sent.completion.message;
        let way = (*self.class_of.get(&sent.from)?, *self.class_of.get(&message.to)?);
        let (own, other) = (*self.times.get(&way)?, *to.times.get(&way)?);
        Some(Duration::from_ps(sent.own.as_ps().saturating_sub(own.as_ps())) + other)
    }

    /// Returns the mean over pairs of different classes; over all pairs if the network has one class of hosts.
    pub(crate) fn mean(&self) -> Duration {
        let between: Vec<u64> =
            self.times.iter().filter(|((a, b), _)| a != b).map(|(_, time)| time.as_ps()).collect();
        let all = if between.is_empty() { self.times.values().map(|t| t.as_ps()).collect() } else { between };
        Duration::from_ps(all.iter().sum::<u64>() / (all.len() as u64).max(1))
    }
}
