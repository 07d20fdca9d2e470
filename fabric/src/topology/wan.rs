//! WAN of sites with two supernodes each.

use super::shortest::Cable;
use super::{Network, TopologyError, in_range};

/// A B4-like WAN: twelve sites in a partial mesh. A site has one gateway to its servers and two supernodes; a supernode
/// is a two-stage Clos of `width` lower and `width` upper chips, fully meshed, with an entry switch between the gateway
/// and the lower chips. An upper chip is linked to the upper chips of equal number in the supernodes of neighbouring
/// sites.
///
/// The site graph is not Google's; it has the size that model: hashing §5 suggests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wan {
    /// Lower and upper chips of a supernode, 1 to 16.
    pub width: u32,
    /// Links from an upper chip to each chip of a neighbouring site, 1 to 16.
    pub parallel: u32,
}

impl Default for Wan {
    fn default() -> Self {
        Wan { width: 4, parallel: 2 }
    }
}

/// Number of sites, and of supernodes per site.
const SITES: u32 = 12;
const SUPERNODES: u32 = 2;
/// Pairs of neighbouring sites.
const SITE_GRAPH: [(u32, u32); 19] = [
    (0, 1),
    (0, 2),
    (1, 2),
    (1, 3),
    (2, 4),
    (3, 4),
    (3, 5),
    (4, 5),
    (4, 6),
    (5, 6),
    (5, 7),
    (6, 8),
    (7, 8),
    (7, 9),
    (8, 10),
    (9, 10),
    (9, 11),
    (10, 11),
    (6, 7),
];

impl Wan {
    /// Builds the network.
    ///
    /// # Errors
    /// If a size is out of range.
    pub fn build(self) -> Result<Network, TopologyError> {
        in_range("width", self.width, 16, "1 to 16")?;
        in_range("parallel", self.parallel, 16, "1 to 16")?;
        let w = self.width;
        let name = format!("WAN, {SITES} sites of {SUPERNODES} supernodes of {w}+{w} chips");
        let mut net = Network::new(name, 1);
        let mut cables = Vec::new();
        let per_node = 1 + 2 * w;
        let cable = |a, b, count| Cable { a, b, count, weight: 1 };
        for site in 0..SITES {
            let gateway = net.switch(format!("gw-{site}"), 1, site);
            net.edges.push(gateway);
            for node in 0..SUPERNODES {
                let entry = net.switch(format!("sn-{site}-{node}"), 2, site);
                cables.push(cable(gateway, entry, 1));
                let lower: Vec<u32> =
                    (0..w).map(|c| net.switch(format!("lower-{site}-{node}-{c}"), 3, site)).collect();
                let upper: Vec<u32> =
                    (0..w).map(|c| net.switch(format!("upper-{site}-{node}-{c}"), 4, site)).collect();
                for l in &lower {
                    cables.push(cable(entry, *l, 1));
                    cables.extend(upper.iter().map(|u| cable(*l, *u, 1)));
                }
            }
        }
        let upper = |site: u32, node: u32, c: u32| {
            site * (1 + SUPERNODES * per_node) + 1 + node * per_node + 1 + w + c
        };
        for (a, b) in SITE_GRAPH {
            for (na, nb) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                cables.extend((0..w).map(|c| cable(upper(a, na, c), upper(b, nb, c), self.parallel)));
            }
        }
        net.route_shortest(&cables)?;
        Ok(net)
    }
}
