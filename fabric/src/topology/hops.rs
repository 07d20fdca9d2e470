//! Hops between the switches of a network, by a search by breadth.

/// Hops from every switch to the nearest of some switches.
pub(super) struct Hops {
    /// For each switch, the hops; `u32::MAX` if there is no path.
    pub(super) of: Vec<u32>,
    /// The switches with a path, by rising hops.
    pub(super) order: Vec<u32>,
}

impl Hops {
    /// Searches from the switches `to`; `near` returns the neighbours of a switch. All links exist in both directions.
    pub(super) fn to<N: Iterator<Item = u32>>(
        to: impl IntoIterator<Item = u32>,
        switches: usize,
        near: impl Fn(u32) -> N,
    ) -> Hops {
        let mut hops = Hops { of: vec![u32::MAX; switches], order: Vec::new() };
        to.into_iter().for_each(|switch| hops.reach(switch, 0));
        let mut done = 0;
        while let Some(&at) = hops.order.get(done) {
            let next = hops.of[at as usize] + 1;
            near(at).for_each(|switch| hops.reach(switch, next));
            done += 1;
        }
        hops
    }

    fn reach(&mut self, switch: u32, hops: u32) {
        if self.of[switch as usize] == u32::MAX {
            self.of[switch as usize] = hops;
            self.order.push(switch);
        }
    }
}
