//! Counters of a network, and their conservation law.

use super::LinkDrop;
use super::node::Node;
use std::net::Ipv4Addr;

/// Sums over all switches and links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NetworkTotals {
    /// Frames that entered from outside: injected, or sent by hosts.
    pub entered: u64,
    /// Packets created inside switches.
    pub created: u64,
    /// Frames that left the network: sent to hosts, or on other ports where it ends.
    pub delivered: u64,
    /// Bytes of `delivered`, without FCS, before padding.
    pub delivered_bytes: u64,
    /// Packets dropped in switches.
    pub dropped: u64,
    /// Frames lost after a switch sent them, by [`LinkDrop`].
    pub link_drops: [u64; LinkDrop::TABLE.len()],
    /// Packets that programs consumed on purpose.
    pub absorbed: u64,
    /// Packets inside switches.
    pub held: u64,
    /// Frames on links.
    pub on_links: u64,
    /// Frames sent on links: each is a hop from switch to switch.
    pub hops: u64,
    /// Frames from outside that have not entered yet; they are in no other counter.
    pub waiting: u64,
}

impl NetworkTotals {
    /// Returns the number of frames lost after a switch sent them.
    #[must_use]
    pub fn lost_on_links(&self) -> u64 {
        self.link_drops.iter().sum()
    }

    /// Returns true if `entered + created = delivered + dropped + lost on links + absorbed + held + on links`.
    #[must_use]
    pub fn is_conserved(&self) -> bool {
        let ended = self.delivered + self.dropped + self.lost_on_links() + self.absorbed;
        self.entered + self.created == ended + self.held + self.on_links
    }
}

/// Frames that a switch sent on the port of a host, with the addresses of other hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misaddressed {
    /// Address of the host at the port.
    pub host: Ipv4Addr,
    /// Destination of the first of the frames.
    pub first: Ipv4Addr,
    /// Number of the frames.
    pub frames: u64,
}

pub(super) fn sum(nodes: &[Node]) -> NetworkTotals {
    let mut sum = NetworkTotals::default();
    for node in nodes {
        let t = node.switch.totals();
        let by_links: u64 = node.inlets.iter().filter(|i| i.from.is_some()).map(|i| i.taken).sum();
        sum.entered += t.received - by_links;
        sum.created += t.created;
        sum.delivered += node.delivered;
        sum.delivered_bytes += node.delivered_bytes;
        sum.link_drops[LinkDrop::NoCable as usize] += node.uncabled.values().sum::<u64>();
        let misaddressed = node.addresses.misaddressed.values();
        sum.link_drops[LinkDrop::WrongHost as usize] += misaddressed.map(|port| port.frames).sum::<u64>();
        sum.dropped += t.dropped;
        sum.absorbed += t.absorbed;
        sum.held += node.switch.held().total();
        let (on_links, waiting) = node.waiting();
        sum.on_links += on_links;
        sum.waiting += waiting;
        for out in &node.outlets {
            sum.hops += out.wire.totals.frames;
            for (all, one) in sum.link_drops.iter_mut().zip(out.wire.totals.dropped) {
                *all += one;
            }
        }
    }
    sum
}
