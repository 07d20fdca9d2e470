//! The compiled network: walking a flow costs one table load per key byte, and one modulo operation per switch.
//!
//! Memory accesses limit the speed, so nothing is stored twice: groups with equal member tables share one, a route
//! names its group, and a link names the row of routes at its far end.

use super::plan::{Picker, Plan};
use crate::flows::{Flow, KEY_BYTES};
use crate::topology::{NO_GROUP, Network};
use sluice_asic::hash::{KeyHash, PackedHash, splitmix64};
use sluice_asic::select::{FastMod, GroupShape, Selector, SelectorMode, WORD_SLOTS};
use sluice_hashing::scheme::FlowFunction;
use std::collections::BTreeMap;

/// A selection that is not a plain remainder of the hash at the source.
#[derive(Clone, Debug)]
struct Other {
    /// True if the hash covers the TTL, which changes at every hop.
    ttl: bool,
    pick: Pick,
}

#[derive(Clone, Debug)]
enum Pick {
    Remainder,
    /// Tofino's selector over several words.
    Selector(Selector, Box<GroupShape>),
    /// Equal ranges of the hash.
    Threshold,
    /// An independent random number for every group.
    Ideal,
}

/// Marks groups that select by the plain remainder.
const PLAIN: u16 = u16::MAX;

#[derive(Clone, Copy, Debug)]
struct CompiledGroup {
    divisor: FastMod,
    /// Index of the first entry of its member table, which groups may share.
    table: u32,
    /// Index of its first link.
    links: u32,
    constant: u16,
    /// Mask of the hash bits that are used.
    mask: u16,
    /// Index of its hash function; four functions share a word of hashes.
    function: u8,
    offset: u8,
    /// Index of its other selection, or [`PLAIN`].
    other: u16,
}

/// A hop reads one group, and two groups share a cache line.
const _: () = assert!(size_of::<CompiledGroup>() == 32);

/// A network with its plan, compiled for walking flows.
#[derive(Clone, Debug)]
pub struct Compiled {
    hashes: Vec<PackedHash<KEY_BYTES>>,
    groups: Vec<CompiledGroup>,
    /// Selections that are not plain remainders.
    others: Vec<Other>,
    /// Member tables: map an entry to the index of one of the group's links.
    tables: Vec<u16>,
    /// For each link of a group, the row of routes at its far end, in the mode after the group.
    rows: Vec<u32>,
    /// Groups by row and destination.
    routes: Vec<u32>,
    /// For each edge, the row at which its flows start.
    starts: Vec<u32>,
    /// Index of each group's first link, and the total number of links.
    first: Vec<u32>,
}

/// Load of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Number of flows.
    pub flows: u64,
    /// Bytes of these flows.
    pub bytes: u64,
}

/// Counters of a walk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Loads of all links, group by group, link by link.
    pub loads: Vec<Load>,
    /// Number of flows.
    pub walked: u64,
    /// True for pairs of edges with flows; the index is source * number of edges + destination.
    pub pairs: Vec<bool>,
}

impl Counters {
    /// Adds the counters of another walk; the order of additions does not matter.
    pub fn add(&mut self, other: &Counters) {
        for (mine, others) in self.loads.iter_mut().zip(&other.loads) {
            mine.flows += others.flows;
            mine.bytes += others.bytes;
        }
        self.pairs.iter_mut().zip(&other.pairs).for_each(|(a, b)| *a |= b);
        self.walked += other.walked;
    }
}

/// Number of flows that [`Compiled::walk_all`] advances together.
pub const LOCKSTEP: usize = 16;

/// Words of hashes per flow; each has the hashes of four functions.
const WORDS: usize = 4;

/// A flow on its way.
#[derive(Clone, Copy, Debug, Default)]
struct Walk {
    words: [u64; WORDS],
    bytes: u64,
    /// Row of routes at its present switch.
    row: u32,
    to: u32,
    /// Index of the flow in the list.
    flow: u32,
}

/// Most switches on a path; a longer path is a loop.
const LONGEST: u8 = 64;

impl Compiled {
    /// Compiles a network for a plan and a selection method. A plan may have up to sixteen functions.
    #[must_use]
    pub fn new(network: &Network, plan: &Plan, picker: Picker) -> Compiled {
        let row = |mode: u8, switch: u32| network.row(mode, switch) as u32;
        let mut out = Compiled {
            hashes: Vec::new(),
            groups: Vec::with_capacity(network.groups.len()),
            others: Vec::new(),
            tables: Vec::new(),
            rows: Vec::new(),
            routes: network.route_table().to_vec(),
            starts: network.edges.iter().map(|e| row(0, *e)).collect(),
            first: vec![0],
        };
        // A flow at its destination has no next group.
        for (index, edge) in network.edges.iter().enumerate() {
            for mode in 0..network.modes() {
                if let Some(route) = out.routes.get_mut(network.row(mode, *edge) + index) {
                    *route = NO_GROUP;
                }
            }
        }
        let mut functions: Vec<(FlowFunction, bool)> = Vec::new();
        let mut shared: BTreeMap<&[u32], u32> = BTreeMap::new();
        let mut known: BTreeMap<(u32, bool), u16> = BTreeMap::new();
        for (group, planned) in network.groups.iter().zip(&plan.groups) {
            let setting = planned.setting;
            let wanted = (setting.function, setting.ttl);
            let lane = functions.iter().position(|f| *f == wanted).unwrap_or_else(|| {
                functions.push(wanted);
                functions.len() - 1
            });
            let links = out.rows.len() as u32;
            let far = |(link, _): &(u32, u32)| {
                row(group.mode_after, network.links.get(*link as usize).map_or(0, |l| l.to))
            };
            out.rows.extend(group.links.iter().map(far));
            let table = *shared.entry(&planned.table).or_insert_with(|| {
                let start = out.tables.len() as u32;
                out.tables.extend(planned.table.iter().map(|port| *port as u16));
                start
            });
            let members = planned.table.len() as u32;
            let (mask, pick) = pick(picker, members);
            let other = *known.entry((members, setting.ttl)).or_insert_with(|| match pick {
                Pick::Remainder if !setting.ttl => PLAIN,
                pick => {
                    out.others.push(Other { ttl: setting.ttl, pick });
                    out.others.len() as u16 - 1
                }
            });
            out.groups.push(CompiledGroup {
                divisor: FastMod::new(members),
                table,
                links,
                constant: setting.function.seed_constant(setting.seed),
                mask,
                function: (lane % (4 * WORDS)) as u8,
                offset: setting.offset,
                other,
            });
            out.first.push(out.rows.len() as u32);
        }
        let hashes = functions.chunks(4).take(WORDS).map(|four| {
            let lanes: Vec<_> =
                four.iter().map(|(f, ttl)| move |key: &[u8; KEY_BYTES]| f.hash(key, *ttl)).collect();
            let lanes: Vec<KeyHash<'_, KEY_BYTES>> = lanes.iter().map(|l| l as _).collect();
            PackedHash::new(&lanes)
        });
        out.hashes = hashes.collect();
        out
    }

    /// Returns counters for this network, all zero.
    #[must_use]
    pub fn counters(&self) -> Counters {
        let pairs = vec![false; self.starts.len() * self.starts.len()];
        Counters { loads: vec![Load::default(); self.rows.len()], walked: 0, pairs }
    }

    /// Sends a flow from its source to its destination and counts it on every link.
    pub fn walk(&self, flow: &Flow, counters: &mut Counters) {
        self.walk_all(std::slice::from_ref(flow), counters);
    }

    /// Returns the groups that a flow passes, in order, each with the index of the chosen link within the group.
    #[must_use]
    pub fn path(&self, flow: &Flow) -> Vec<(u32, u32)> {
        let mut path = Vec::new();
        let Some(mut walk) = self.begin(flow, 0) else { return path };
        for hop in 0..LONGEST {
            let Some((group, link)) = self.pick(&walk, std::slice::from_ref(flow), hop) else { break };
            walk.row = self.rows[link as usize];
            path.push((group, link - self.first[group as usize]));
        }
        path
    }

    /// Returns the loads of a group's links from `counters`, in their order.
    #[must_use]
    pub fn loads<'c>(&self, group: u32, counters: &'c Counters) -> &'c [Load] {
        let at = |n: u32| self.first.get(n as usize).map_or(0, |f| *f as usize);
        counters.loads.get(at(group)..at(group + 1)).unwrap_or(&[])
    }

    /// Sends many flows. [`LOCKSTEP`] of them advance hop by hop together, so that memory accesses of different flows
    /// overlap.
    pub fn walk_all(&self, flows: &[Flow], counters: &mut Counters) {
        let mut walks = [Walk::default(); LOCKSTEP];
        for flows in flows.chunks(LOCKSTEP) {
            let mut under_way = 0;
            for (n, flow) in flows.iter().enumerate() {
                counters.walked += 1;
                let pair = flow.from as usize * self.starts.len() + flow.to as usize;
                if let Some(seen) = counters.pairs.get_mut(pair) {
                    *seen = true;
                }
                if let Some(walk) = self.begin(flow, n as u32) {
                    walks[under_way] = walk;
                    under_way += 1;
                }
            }
            for hop in 0..LONGEST {
                under_way = self.step(&mut walks, under_way, flows, hop, counters);
                if under_way == 0 {
                    break;
                }
            }
        }
    }

    /// Advances the first `under_way` walks by one switch; all of them have made `hop` hops. Moves the unfinished ones
    /// to the front and returns their number.
    #[inline]
    fn step(
        &self,
        walks: &mut [Walk; LOCKSTEP],
        under_way: usize,
        flows: &[Flow],
        hop: u8,
        counters: &mut Counters,
    ) -> usize {
        let mut left = 0;
        let mut n = 0;
        while n < under_way.min(LOCKSTEP) {
            let walk = &mut walks[n];
            if let Some((_, link)) = self.pick(walk, flows, hop) {
                let load = &mut counters.loads[link as usize];
                load.flows += 1;
                load.bytes += walk.bytes;
                walk.row = self.rows[link as usize];
                if left != n {
                    walks[left] = walks[n];
                }
                left += 1;
            }
            n += 1;
        }
        left
    }

    /// Starts a flow at its source and computes its hashes; `None` if one of its edges does not exist.
    #[inline]
    fn begin(&self, flow: &Flow, number: u32) -> Option<Walk> {
        if flow.to as usize >= self.starts.len() {
            return None;
        }
        let row = *self.starts.get(flow.from as usize)?;
        let mut words = [0u64; WORDS];
        for (word, hash) in words.iter_mut().zip(&self.hashes) {
            *word = hash.eval(&flow.key);
        }
        Some(Walk { words, bytes: flow.bytes, row, to: flow.to, flow: number })
    }

    /// Returns the group and the link that a flow takes; `None` at its destination.
    #[inline(always)]
    fn pick(&self, walk: &Walk, flows: &[Flow], hop: u8) -> Option<(u32, u32)> {
        let number = self.routes[walk.row as usize + walk.to as usize];
        let group = self.groups.get(number as usize)?;
        let entry = if group.other == PLAIN {
            let hash = group.hash(walk.words[group.word()]);
            group.divisor.rem((hash & group.mask).into())
        } else {
            self.other(group, walk, &flows[walk.flow as usize], hop)
        };
        let link = group.links + u32::from(self.tables[(group.table + entry) as usize]);
        Some((number, link))
    }

    /// Returns the entry that a group selects by a method other than the plain remainder.
    #[cold]
    #[inline(never)]
    fn other(&self, group: &CompiledGroup, walk: &Walk, flow: &Flow, hop: u8) -> u32 {
        let Some(other) = self.others.get(usize::from(group.other)) else { return 0 };
        let word = group.word();
        let mut lanes = walk.words[word];
        if other.ttl {
            // The hash is linear: removes the part of the source's TTL and adds the part of the present one.
            let part = |ttl| self.hashes.get(word).map_or(0, |h| h.byte(KEY_BYTES - 1, ttl));
            let ttl = flow.key[KEY_BYTES - 1];
            lanes ^= part(ttl) ^ part(ttl.wrapping_sub(hop));
        }
        let hash = group.hash(lanes);
        let members = u64::from(group.divisor.divisor());
        match &other.pick {
            Pick::Remainder => group.divisor.rem((hash & group.mask).into()),
            Pick::Threshold => ((u64::from(hash) * members) >> 16) as u32,
            Pick::Selector(selector, shape) => {
                // Like the programs: a 16-bit hash, repeated for the selector's higher bits.
                let hash = u128::from(hash);
                let wide = hash | hash << 16 | hash << 32 | hash << 48 | hash << 64;
                let words = shape.words().len() as u32;
                let slot = selector.pick(wide, shape).unwrap_or(0);
                // Members are distributed over the words in turn.
                slot % WORD_SLOTS * words + slot / WORD_SLOTS
            }
            Pick::Ideal => {
                let [a, b, c, d, e, f, g, h, i, j, k, l, m, _] = flow.key;
                let high = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
                let low = u64::from_be_bytes([i, j, k, l, m, 0, 0, 0]);
                let own = splitmix64(group.links.into());
                let bits = splitmix64(splitmix64(high ^ own) ^ low);
                (((bits >> 32) * members) >> 32) as u32
            }
        }
    }
}

impl CompiledGroup {
    /// Returns the index of the word with the group's function.
    #[inline(always)]
    const fn word(&self) -> usize {
        (self.function / 4) as usize % WORDS
    }

    /// Extracts the group's hash from this word.
    #[inline(always)]
    const fn hash(&self, lanes: u64) -> u16 {
        ((lanes >> (self.function % 4 * 16)) as u16 ^ self.constant).rotate_right(self.offset as u32)
    }
}

/// Returns the mask of hash bits that a group uses, and its selection.
fn pick(picker: Picker, members: u32) -> (u16, Pick) {
    let selector = |mode| match GroupShape::balanced(members) {
        Ok(shape) if shape.words().len() > 1 => {
            (0xffff, Pick::Selector(Selector::new(mode), Box::new(shape)))
        }
        _ => (0x3fff, Pick::Remainder),
    };
    match picker {
        Picker::Modulo16 => (0xffff, Pick::Remainder),
        Picker::Fair => selector(SelectorMode::Fair),
        Picker::Resilient => selector(SelectorMode::Resilient),
        Picker::Threshold => (0xffff, Pick::Threshold),
        Picker::Ideal => (0xffff, Pick::Ideal),
    }
}
