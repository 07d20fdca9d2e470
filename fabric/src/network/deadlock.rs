//! PFC deadlocks: cycles of queues, each paused by a switch whose own queues are paused.
//!
//! A queue that the peer's PFC frames pause waits for those queues of the peer that hold packets from it and are paused
//! too.

use super::{Network, SwitchId};
use std::collections::{BTreeMap, BTreeSet};

/// A queue of a switch that waits for another queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Waiting {
    /// The switch.
    pub switch: SwitchId,
    /// dev_port of the queue.
    pub dev_port: u16,
    /// Number of the queue at its port.
    pub queue: u8,
}

impl Network {
    /// Returns the cycles of queues that wait for each other at this time, each once, starting with its least queue.
    /// While the network runs, a cycle may still dissolve; a cycle that exists when no event is left is permanent.
    #[must_use]
    pub fn deadlocks(&self) -> Vec<Vec<Waiting>> {
        let mut stalled = BTreeMap::new();
        for switch in self.ids() {
            for queue in self.switch(switch).map_or_else(Vec::new, |s| s.stalled()) {
                if queue.by_peer {
                    let waiting = Waiting { switch, dev_port: queue.dev_port, queue: queue.queue };
                    stalled.insert(waiting, queue.from);
                }
            }
        }
        let mut waits = BTreeMap::new();
        for waiting in stalled.keys() {
            let peer = self.peer(waiting.switch, waiting.dev_port);
            let of = |(other, from): (&Waiting, &BTreeSet<u16>)| {
                peer.is_some_and(|(switch, port)| other.switch == switch && from.contains(&port))
                    .then_some(*other)
            };
            waits.insert(*waiting, stalled.iter().filter_map(of).collect::<Vec<_>>());
        }
        circles(&waits)
    }

    /// Returns the other end of the link at a port: switch and dev_port.
    fn peer(&self, switch: SwitchId, dev_port: u16) -> Option<(SwitchId, u16)> {
        let dev = |end: &super::End| self.setup(end.switch)?.front(end.port.0).map(|port| port.number());
        self.links().filter_map(|id| self.link(id)).find_map(|link| {
            let [a, b] = &link.ends;
            let here = |end: &super::End| end.switch == switch && dev(end) == Some(dev_port);
            let other = if here(a) { b } else { Some(a).filter(|_| here(b))? };
            Some((other.switch, dev(other)?))
        })
    }
}

/// Returns cycles of a graph: at least one of each strongly connected set of nodes.
fn circles(edges: &BTreeMap<Waiting, Vec<Waiting>>) -> Vec<Vec<Waiting>> {
    let mut found = BTreeSet::new();
    let mut done = BTreeSet::new();
    for start in edges.keys() {
        // The path from the start, with the index of the next edge to follow at each node.
        let mut way: Vec<(Waiting, usize)> = vec![(*start, 0)];
        while let Some((node, next)) = way.last_mut() {
            let Some(to) = edges.get(node).and_then(|list| list.get(*next)).copied() else {
                done.insert(*node);
                way.pop();
                continue;
            };
            *next += 1;
            if let Some(at) = way.iter().position(|(node, _)| *node == to) {
                let mut circle: Vec<Waiting> = way[at..].iter().map(|(node, _)| *node).collect();
                let least = (0..circle.len()).min_by_key(|i| circle[*i]).unwrap_or(0);
                circle.rotate_left(least);
                found.insert(circle);
            } else if !done.contains(&to) {
                way.push((to, 0));
            }
        }
    }
    found.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(switch: u32) -> Waiting {
        Waiting { switch: SwitchId(switch), dev_port: 1, queue: 3 }
    }

    fn found(edges: &[(u32, u32)]) -> Vec<Vec<u32>> {
        let mut waits: BTreeMap<Waiting, Vec<Waiting>> = BTreeMap::new();
        for (from, to) in edges {
            waits.entry(at(*from)).or_default().push(at(*to));
            waits.entry(at(*to)).or_default();
        }
        circles(&waits).iter().map(|circle| circle.iter().map(|w| w.switch.0).collect()).collect()
    }

    #[test]
    fn circles_are_found_once_and_ways_that_end_are_none() {
        assert_eq!(found(&[(0, 1), (1, 2), (0, 2)]), Vec::<Vec<u32>>::new());
        assert_eq!(found(&[(2, 0), (0, 1), (1, 2), (2, 3)]), [vec![0, 1, 2]]);
        assert_eq!(found(&[(0, 1), (1, 0), (4, 5), (5, 4), (1, 4)]), [vec![0, 1], vec![4, 5]]);
        assert_eq!(found(&[(7, 7)]), [vec![7]]);
    }
}
