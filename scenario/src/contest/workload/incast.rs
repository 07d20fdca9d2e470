//! Incast: many hosts send to one at almost the same time (model: int §5.3).

use super::capacity::Rates;
use super::fault::Fault;
use super::hosts::{HostTable, Selection};
use super::plan::{Builder, When};
use super::poisson::exponential;
use super::sizes::Sizes;
use sluice_asic::units::Duration;
use sluice_pcaps::generate::Draw;

/// Incasts, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incast {
    /// Size of each sender's message.
    pub sizes: Sizes,
    /// The senders.
    pub from: Selection,
    /// The receivers.
    pub to: Selection,
    /// Receivers of each incast.
    pub receiver: Receiver,
    /// Senders of each incast, drawn anew each time; `None`: all.
    pub fan_in: Option<u32>,
    /// Time between two incasts; `None`: there is one.
    pub period: Option<Duration>,
    /// True if the times between incasts are exponentially distributed, with `period` as their mean.
    pub poisson: bool,
    /// Each sender begins up to this time late, drawn evenly.
    pub jitter: Duration,
}

/// Receivers of an incast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receiver {
    /// Each receiver, with senders of its own.
    All,
    /// One receiver, in turn.
    Rotating,
    /// One receiver, drawn evenly.
    Random,
}

impl Receiver {
    /// Names of all values.
    pub(super) const ALL: [(&'static str, Receiver); 3] =
        [("all", Receiver::All), ("rotating", Receiver::Rotating), ("random", Receiver::Random)];
}

impl Incast {
    /// Returns the receivers, each with its possible senders.
    fn ways(&self, hosts: &HostTable) -> Result<Vec<(u32, Vec<u32>)>, Fault> {
        let from = hosts.select(&self.from).map_err(|what| Fault::new("from", what))?;
        let to = hosts.select(&self.to).map_err(|what| Fault::new("to", what))?;
        let way = |to: u32| {
            let others: Vec<u32> = from.iter().copied().filter(|from| *from != to).collect();
            let wanted = self.fan_in.unwrap_or(1) as usize;
            if others.len() < wanted {
                let what = format!(
                    "found {wanted}, but host {} has {} senders besides itself; lower it, or select more in `from`",
                    hosts.describe(to),
                    others.len()
                );
                return Err(Fault::new(if self.fan_in.is_some() { "fan_in" } else { "from" }, what));
            }
            Ok((to, others))
        };
        to.into_iter().map(way).collect()
    }

    pub(super) fn plan(&self, into: &mut Builder<'_>) -> Result<(), Fault> {
        let mut ways = self.ways(into.hosts)?;
        let mut draw = into.draw(0);
        let (mut at, mut turn) = (into.begin, 0);
        while at < into.end {
            let chosen = match self.receiver {
                Receiver::All => 0..ways.len(),
                Receiver::Rotating => turn % ways.len()..turn % ways.len() + 1,
                Receiver::Random => {
                    let one = draw.below(ways.len() as u64) as usize;
                    one..one + 1
                }
            };
            for (to, others) in &mut ways[chosen] {
                let count = self.fan_in.map_or(others.len(), |count| count as usize);
                shuffle(others, count, &mut draw);
                for from in &others[..count] {
                    let late = Duration::from_ps(draw.below(self.jitter.as_ps().saturating_add(1)));
                    let bytes = self.sizes.draw(&mut draw);
                    into.send(*from, *to, bytes, When::at(at + late))?;
                }
            }
            let Some(period) = self.period else { break };
            turn += 1;
            at += match self.poisson {
                false => period,
                true => {
                    let gap = exponential(&mut draw, period.as_ps().into());
                    Duration::from_ps(u64::try_from(gap).unwrap_or(u64::MAX))
                }
            };
        }
        Ok(())
    }

    /// Adds the mean rates that hosts send and receive; a single incast has none.
    pub(super) fn load(&self, hosts: &HostTable, rates: &mut Rates) -> Result<(), Fault> {
        let ways = self.ways(hosts)?;
        let Some(period) = self.period else { return Ok(()) };
        let turns = if self.receiver == Receiver::All { 1 } else { ways.len() as u128 };
        for (to, others) in &ways {
            let count = self.fan_in.map_or(others.len(), |count| count as usize) as u128;
            let received = rates.over(u128::from(self.sizes.mean()) * count, period) / turns;
            rates.receive(*to, received);
            others.iter().for_each(|from| rates.send(*from, received / others.len() as u128));
        }
        Ok(())
    }
}

/// Moves `count` hosts, drawn evenly, to the front of a list.
pub(super) fn shuffle(list: &mut [u32], count: usize, draw: &mut Draw) {
    let len = list.len();
    for at in 0..count.min(len.saturating_sub(1)) {
        list.swap(at, at + draw.below((len - at) as u64) as usize);
    }
}
