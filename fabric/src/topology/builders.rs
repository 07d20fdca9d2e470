//! Builders of networks by name, such as `leaf-spine:leaves=8,spines=8`.

use super::blueprint::{Blueprint, CablePlan};
use super::{Clos, DRing, Network, TopologyError, Wan};
use sluice_asic::names::{did_you_mean, nearest};
use sluice_asic::units::{BitRate, Duration};
use std::collections::BTreeMap;
use thiserror::Error;

/// A numeric parameter of a builder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Key.
    pub key: &'static str,
    /// Default value.
    pub default: u32,
    /// Least and greatest value.
    pub range: (u32, u32),
}

/// Description of a builder.
#[derive(Clone, Copy, Debug)]
pub struct BuilderInfo {
    /// Name.
    pub name: &'static str,
    /// One-line description of the network.
    pub doc: &'static str,
    /// Parameters in addition to `rate`, `uplink` and `delay`.
    pub sizes: &'static [Size],
    build: fn(&Sizes) -> Result<Blueprint, TopologyError>,
}

/// Reason why a text does not name a network.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BuilderError {
    /// No such builder.
    #[error(
        "there is no topology `{found}`{} (builders are {known}; a TOML or ns-3 file is a topology as well)",
        did_you_mean(.found, *.nearest)
    )]
    Name {
        /// The name.
        found: String,
        /// The most similar name, if there is one.
        nearest: Option<&'static str>,
        /// All names.
        known: String,
    },
    /// No such key.
    #[error(
        "{builder}: there is no key `{found}`{} (keys are {})",
        did_you_mean(found, known.iter().copied()),
        known.join(", ")
    )]
    Key {
        /// The builder.
        builder: &'static str,
        /// The key.
        found: String,
        /// All keys.
        known: Vec<&'static str>,
    },
    /// The value of a key is invalid.
    #[error("{builder}: {key} is `{found}`; expected {expected}")]
    Value {
        /// The builder.
        builder: &'static str,
        /// The key.
        key: String,
        /// The text.
        found: String,
        /// The allowed values.
        expected: String,
    },
    /// The values contradict each other, or exceed a limit of the network.
    #[error("{builder}: {source}")]
    Topology {
        /// The builder.
        builder: &'static str,
        /// The reason.
        source: TopologyError,
    },
}

/// Values of all keys, defaults included.
struct Sizes {
    of: BTreeMap<&'static str, u32>,
    /// Rate of all links; `None`: the ports' speed.
    rate: Option<BitRate>,
    /// Rate of cables between switches; `None`: `rate`.
    uplink: Option<BitRate>,
    /// Delay of cables between switches.
    delay: Duration,
}

impl Sizes {
    fn get(&self, key: &str) -> u32 {
        self.of.get(key).copied().unwrap_or(0)
    }

    fn cable(&self, plan: &mut Blueprint, a: u32, b: u32) {
        plan.cables.push(CablePlan { rate: self.uplink.or(self.rate), ..CablePlan::new(a, b, self.delay) });
    }
}

const fn size(key: &'static str, default: u32, range: (u32, u32)) -> Size {
    Size { key, default, range }
}

const HOSTS: (u32, u32) = (0, 64);

/// Returns all builders.
#[must_use]
pub const fn builders() -> &'static [BuilderInfo] {
    BUILDERS
}

const BUILDERS: &[BuilderInfo] = &[
    BuilderInfo {
        name: "chain",
        doc: "switches in a row",
        sizes: &[size("switches", 3, (1, 256)), size("hosts", 1, HOSTS)],
        build: chain,
    },
    BuilderInfo {
        name: "dumbbell",
        doc: "two switches, joined by `parallel` cables",
        sizes: &[size("hosts", 4, HOSTS), size("parallel", 1, (1, 64))],
        build: dumbbell,
    },
    BuilderInfo {
        name: "two-tor",
        doc: "two leaves over `spines` spines: as many paths from one to the other",
        sizes: &[size("spines", 4, (1, 64)), size("hosts", 4, HOSTS)],
        build: |s| leaf_spine_of("two ToRs", s, 2, s.get("spines"), 1),
    },
    BuilderInfo {
        name: "leaf-spine",
        doc: "every leaf joined with every spine by `parallel` cables",
        sizes: &[
            size("leaves", 4, (2, 256)),
            size("spines", 4, (1, 256)),
            size("hosts", 4, HOSTS),
            size("parallel", 1, (1, 64)),
        ],
        build: |s| leaf_spine_of("leaf-spine", s, s.get("leaves"), s.get("spines"), s.get("parallel")),
    },
    BuilderInfo {
        name: "fat-tree",
        doc: "k pods of k/2 edge and k/2 aggregation switches, (k/2)² cores; `hosts` per edge switch",
        sizes: &[size("k", 4, (2, 64)), size("hosts", 2, HOSTS)],
        build: fat_tree,
    },
    BuilderInfo {
        name: "clos5",
        doc: "the five-stage Clos of `sluice polarization`, by shortest paths",
        sizes: &[
            size("blocks", 2, (2, 64)),
            size("width", 2, (1, 16)),
            size("parallel", 1, (1, 16)),
            size("hosts", 1, HOSTS),
        ],
        build: |s| {
            let of = Clos { blocks: s.get("blocks"), width: s.get("width"), parallel: s.get("parallel") };
            Ok(of_flow_level(&of.build()?, s))
        },
    },
    BuilderInfo {
        name: "dring",
        doc: "the double ring of blocks of `sluice polarization`, by shortest paths",
        sizes: &[
            size("blocks", 5, (5, 64)),
            size("width", 2, (1, 16)),
            size("parallel", 1, (1, 16)),
            size("hosts", 1, HOSTS),
        ],
        build: |s| {
            let of = DRing { blocks: s.get("blocks"), width: s.get("width"), parallel: s.get("parallel") };
            Ok(of_flow_level(&of.build()?, s))
        },
    },
    BuilderInfo {
        name: "wan",
        doc: "a partial mesh of twelve sites of two two-stage supernodes",
        sizes: &[size("width", 2, (1, 16)), size("parallel", 1, (1, 16)), size("hosts", 1, HOSTS)],
        build: |s| {
            let of = Wan { width: s.get("width"), parallel: s.get("parallel") };
            Ok(of_flow_level(&of.build()?, s))
        },
    },
];

/// Builds the network of a text: `NAME` or `NAME:key=value,key=value`. `rate` is the rate of all links, `uplink` that of
/// cables between switches if it differs.
///
/// # Errors
/// If there is no such builder or key, or a value is invalid.
pub fn built(text: &str) -> Result<Blueprint, BuilderError> {
    let (name, given) = text.split_once(':').unwrap_or((text, ""));
    let names = || builders().iter().map(|b| b.name);
    let known = || names().collect::<Vec<_>>().join(", ");
    let builder = builders().iter().find(|b| b.name == name).ok_or_else(|| BuilderError::Name {
        found: name.to_owned(),
        nearest: nearest(name, names()),
        known: known(),
    })?;
    let mut sizes = Sizes {
        of: builder.sizes.iter().map(|s| (s.key, s.default)).collect(),
        rate: None,
        uplink: None,
        delay: Duration::from_micros(1),
    };
    for pair in given.split(',').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        set(builder, &mut sizes, key.trim(), value.trim())?;
    }
    let plan = (builder.build)(&sizes);
    let mut plan = plan.map_err(|source| BuilderError::Topology { builder: builder.name, source })?;
    let hosts = plan.hosts.iter_mut().flat_map(|host| &mut host.at);
    hosts.for_each(|at| at.rate = sizes.rate);
    Ok(plan)
}

fn set(builder: &BuilderInfo, sizes: &mut Sizes, key: &str, value: &str) -> Result<(), BuilderError> {
    let bad = |expected: String| {
        let (key, found) = (key.to_owned(), value.to_owned());
        BuilderError::Value { builder: builder.name, key, found, expected }
    };
    match (key, builder.sizes.iter().find(|s| s.key == key)) {
        ("rate" | "uplink", _) => {
            let rate: BitRate = value.parse().map_err(|_| bad("a rate such as 100G".to_owned()))?;
            if rate == BitRate::from_bps(0) {
                return Err(bad("a rate above 0".to_owned()));
            }
            *(if key == "rate" { &mut sizes.rate } else { &mut sizes.uplink }) = Some(rate);
        }
        ("delay", _) => sizes.delay = value.parse().map_err(|_| bad("a time such as 1us".to_owned()))?,
        (_, Some(size)) => {
            let (least, most) = size.range;
            let number = value.parse().ok().filter(|n| (least..=most).contains(n));
            sizes.of.insert(size.key, number.ok_or_else(|| bad(format!("{least} to {most}")))?);
        }
        _ => {
            let known = builder.sizes.iter().map(|s| s.key).chain(["rate", "uplink", "delay"]).collect();
            return Err(BuilderError::Key { builder: builder.name, found: key.to_owned(), known });
        }
    }
    Ok(())
}

fn named(name: impl Into<String>) -> Blueprint {
    Blueprint { name: name.into(), ..Blueprint::default() }
}

fn chain(s: &Sizes) -> Result<Blueprint, TopologyError> {
    let switches = s.get("switches");
    let mut plan = named(format!("chain of {switches} switches"));
    for n in 0..switches {
        plan.add(format!("s{n}"), 1, n, s.get("hosts"));
    }
    (1..switches).for_each(|n| s.cable(&mut plan, n - 1, n));
    Ok(plan)
}

fn dumbbell(s: &Sizes) -> Result<Blueprint, TopologyError> {
    let mut plan = named(format!("dumbbell of {} hosts a side", s.get("hosts")));
    let [a, b] =
        [("left", 0), ("right", 1)].map(|(name, block)| plan.add(name.to_owned(), 1, block, s.get("hosts")));
    (0..s.get("parallel")).for_each(|_| s.cable(&mut plan, a, b));
    Ok(plan)
}

fn leaf_spine_of(
    name: &str,
    s: &Sizes,
    leaves: u32,
    spines: u32,
    parallel: u32,
) -> Result<Blueprint, TopologyError> {
    let mut plan = named(format!("{name}, {leaves} leaves, {spines} spines"));
    for leaf in 0..leaves {
        plan.add(format!("leaf{leaf}"), 1, leaf, s.get("hosts"));
    }
    for spine in 0..spines {
        plan.add(format!("spine{spine}"), 2, leaves, 0);
    }
    for leaf in 0..leaves {
        for spine in 0..spines {
            (0..parallel).for_each(|_| s.cable(&mut plan, leaf, leaves + spine));
        }
    }
    Ok(plan)
}

fn fat_tree(s: &Sizes) -> Result<Blueprint, TopologyError> {
    let k = s.get("k");
    if k % 2 == 1 {
        return Err(TopologyError::Range { what: "k", found: k, expected: "an even number" });
    }
    let half = k / 2;
    let mut plan = named(format!("fat tree, k = {k}"));
    for pod in 0..k {
        for n in 0..half {
            plan.add(format!("edge-{pod}-{n}"), 1, pod, s.get("hosts"));
        }
    }
    let aggregation = plan.switches.len() as u32;
    for pod in 0..k {
        (0..half).for_each(|n| _ = plan.add(format!("agg-{pod}-{n}"), 2, pod, 0));
    }
    let core = plan.switches.len() as u32;
    (0..half * half).for_each(|n| _ = plan.add(format!("core-{n}"), 3, k, 0));
    for pod in 0..k {
        for n in 0..half {
            (0..half).for_each(|m| s.cable(&mut plan, pod * half + n, aggregation + pod * half + m));
        }
        for n in 0..half {
            (0..half).for_each(|m| s.cable(&mut plan, aggregation + pod * half + n, core + n * half + m));
        }
    }
    Ok(plan)
}

/// Turns a network of directed links into a blueprint. Two switches get as many cables as they have links in the
/// direction with more links.
fn of_flow_level(network: &Network, s: &Sizes) -> Blueprint {
    let mut plan = named(network.name.clone());
    for switch in &network.switches {
        plan.add(switch.name.clone(), switch.stage, switch.block, 0);
    }
    network.edges.iter().for_each(|edge| plan.add_hosts(*edge, s.get("hosts")));
    let mut counts: BTreeMap<(u32, u32), [u32; 2]> = BTreeMap::new();
    for link in &network.links {
        let ends = (link.from.min(link.to), link.from.max(link.to));
        counts.entry(ends).or_default()[usize::from(link.from > link.to)] += 1;
    }
    for ((a, b), [there, back]) in counts {
        (0..there.max(back)).for_each(|_| s.cable(&mut plan, a, b));
    }
    plan
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(text: &str) -> (usize, usize, usize) {
        let plan = built(text).unwrap();
        (plan.switches.len(), plan.cables.len(), plan.hosts.len())
    }

    #[test]
    fn builders_make_networks_of_their_sizes() {
        assert_eq!(counts("chain"), (3, 2, 3));
        assert_eq!(counts("chain:switches=1,hosts=0"), (1, 0, 0));
        assert_eq!(counts("dumbbell:parallel=2"), (2, 2, 8));
        assert_eq!(counts("two-tor:spines=3,hosts=2"), (5, 6, 4));
        assert_eq!(counts("leaf-spine:leaves=8,spines=8"), (16, 64, 32));
        // k³/4 hosts, 5k²/4 switches, k³/2 cables.
        assert_eq!(counts("fat-tree"), (20, 32, 16));
        assert_eq!(counts("fat-tree:k=8,hosts=4"), (80, 256, 128));
        // Two blocks of three stages of two chips, two spine blocks of two stages.
        assert_eq!(counts("clos5"), (12 + 8, 2 * 8 + 8 + 8, 4));
        assert_eq!(counts("dring").0, 30);
        assert_eq!(counts("wan").0, 12 * (1 + 2 * (1 + 4)));
        for builder in builders() {
            let plan = built(builder.name).unwrap();
            let wiring = plan.wire(|_| 128).unwrap();
            assert_eq!(wiring.cables.len(), plan.cables.len());
        }
    }

    #[test]
    fn hosts_and_cables_between_switches_have_their_own_rates() {
        let rates = |text: &str| {
            let plan = built(text).unwrap();
            (plan.hosts[0].at[0].rate, plan.cables[0].rate)
        };
        let gbps = |gbps| Some(BitRate::from_gbps(gbps));
        assert_eq!(rates("fat-tree"), (None, None));
        assert_eq!(rates("fat-tree:rate=100G"), (gbps(100), gbps(100)));
        assert_eq!(rates("leaf-spine:rate=100G,uplink=400G"), (gbps(100), gbps(400)));
        assert_eq!(rates("clos5:uplink=400G"), (None, gbps(400)));
        assert!(built("chain:uplink=0G").unwrap_err().to_string().ends_with("expected a rate above 0"));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let error = |text: &str| built(text).unwrap_err().to_string();
        assert_eq!(
            error("leafspine"),
            "there is no topology `leafspine`; did you mean `leaf-spine`? (builders are chain, dumbbell, two-tor, \
             leaf-spine, fat-tree, clos5, dring, wan; a TOML or ns-3 file is a topology as well)"
        );
        assert_eq!(
            error("chain:leaves=3"),
            "chain: there is no key `leaves` (keys are switches, hosts, rate, uplink, delay)"
        );
        assert_eq!(error("chain:switches=0"), "chain: switches is `0`; expected 1 to 256");
        assert_eq!(error("chain:delay=3"), "chain: delay is `3`; expected a time such as 1us");
        assert_eq!(error("fat-tree:k=5"), "fat-tree: k is 5; expected an even number");
    }
}
