//! Messages at times of a Poisson process, to a load (model: int §5.3; conweave §4.2).

use super::fault::Fault;
use super::hosts::{HostTable, Selection};
use super::plan::{Builder, When};
use super::sizes::Sizes;
use sluice_asic::units::{BitRate, Duration};
use sluice_pcaps::generate::{Draw, EXPONENTIAL_BITS};

/// Messages that each sender begins by a Poisson process of its own, each to a receiver that is drawn evenly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Poisson {
    /// Sizes of messages.
    pub sizes: Sizes,
    /// Payload that each sender offers, percent of its link rate, 1 to 100.
    pub load: u32,
    /// The senders.
    pub from: Selection,
    /// The receivers.
    pub to: Selection,
    /// Sends messages only to hosts of other switches.
    pub between_switches: bool,
}

impl Poisson {
    /// Returns the senders, each with its possible receivers.
    fn ways(&self, hosts: &HostTable) -> Result<Vec<(u32, Vec<u32>)>, Fault> {
        let from = hosts.select(&self.from).map_err(|what| Fault::new("from", what))?;
        let to = hosts.select(&self.to).map_err(|what| Fault::new("to", what))?;
        let way = |from: u32| {
            let switch = hosts.station(from).switch;
            let other =
                |to: &u32| *to != from && !(self.between_switches && hosts.station(*to).switch == switch);
            let others: Vec<u32> = to.iter().copied().filter(other).collect();
            if others.is_empty() {
                let need = if self.between_switches {
                    "with between_switches, `to` must have hosts of other switches than the sender's"
                } else {
                    "`to` must have hosts other than the sender"
                };
                return Err(Fault::new(
                    "to",
                    format!("host {} has no receiver: {need}", hosts.describe(from)),
                ));
            }
            Ok((from, others))
        };
        from.into_iter().map(way).collect()
    }

    pub(super) fn plan(&self, into: &mut Builder<'_>) -> Result<(), Fault> {
        for (from, others) in self.ways(into.hosts)? {
            let rate = into.hosts.station(from).rate;
            let mut draw = into.draw(from);
            let mut at = 0;
            loop {
                at += gap(&mut draw, self.sizes.mean(), rate, self.load);
                let start = into.begin + Duration::from_ps(u64::try_from(at).unwrap_or(u64::MAX));
                if start >= into.end {
                    break;
                }
                let to = others[draw.below(others.len() as u64) as usize];
                let bytes = self.sizes.draw(&mut draw);
                into.send(from, to, bytes, When::at(start))?;
            }
        }
        Ok(())
    }

    /// Adds the mean rates that hosts send and receive.
    pub(super) fn load(&self, hosts: &HostTable, rates: &mut super::capacity::Rates) -> Result<(), Fault> {
        for (from, others) in self.ways(hosts)? {
            let sent = u128::from(hosts.station(from).rate.as_bps()) * u128::from(self.load) / 100;
            rates.send(from, sent);
            let each = sent / others.len() as u128;
            others.iter().for_each(|to| rates.receive(*to, each));
        }
        Ok(())
    }
}

/// Draws the time to the next message, ps: exponential, with mean size / (link rate * load) as its mean.
pub(super) fn gap(draw: &mut Draw, mean: u64, rate: BitRate, load: u32) -> u128 {
    const PS: u128 = 1_000_000_000_000;
    // The mean gap is rounded to picoseconds first, because the product of all factors can exceed 128 bits.
    let mean = u128::from(mean) * 8 * 100 * PS / (u128::from(rate.as_bps().max(1)) * u128::from(load.max(1)));
    exponential(draw, mean)
}

/// Draws an exponentially distributed time, ps.
pub(super) fn exponential(draw: &mut Draw, mean: u128) -> u128 {
    (u128::from(draw.exponential()) * mean.max(1)) >> EXPONENTIAL_BITS
}
