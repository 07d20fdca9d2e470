//! A permutation: each host sends to one other host, and each receives from one.

use super::fault::Fault;
use super::hosts::{HostTable, Selection};
use super::incast::shuffle;
use super::plan::{Builder, When};
use super::sizes::Sizes;
use sluice_asic::units::Duration;
use sluice_pcaps::generate::Draw;

/// Messages between the pairs of a permutation without fixed points, which the seed draws.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permutation {
    /// Sizes of messages.
    pub sizes: Sizes,
    /// The hosts.
    pub hosts: Selection,
    /// Messages of each host, one after the other.
    pub iterations: u32,
    /// Time from the last acknowledgement of a message to the next message.
    pub gap: Duration,
}

impl Permutation {
    /// Returns the hosts.
    pub(super) fn ranks(&self, hosts: &HostTable) -> Result<Vec<u32>, Fault> {
        let ranks = hosts.select(&self.hosts).map_err(|what| Fault::new("hosts", what))?;
        if ranks.len() < 2 {
            return Err(Fault::new("hosts", "found 1 host; a permutation needs at least 2"));
        }
        Ok(ranks)
    }

    pub(super) fn plan(&self, into: &mut Builder<'_>) -> Result<(), Fault> {
        let ranks = self.ranks(into.hosts)?;
        let mut draw = into.draw(0);
        let to = derangement(&ranks, &mut draw);
        for (from, to) in ranks.into_iter().zip(to) {
            let mut when = When::at(into.begin);
            for _ in 0..self.iterations {
                let bytes = self.sizes.draw(&mut draw);
                let sent = into.send(from, to, bytes, when)?;
                when = into.after(&[sent], self.gap);
            }
        }
        Ok(())
    }
}

/// Draws a permutation without fixed points of at least two hosts, all equally likely: permutations are drawn until one
/// has none, which about one of e has.
fn derangement(hosts: &[u32], draw: &mut Draw) -> Vec<u32> {
    let mut to = hosts.to_vec();
    loop {
        shuffle(&mut to, hosts.len(), draw);
        if hosts.iter().zip(&to).all(|(from, to)| from != to) {
            return to;
        }
    }
}
