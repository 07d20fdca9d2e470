//! The compiled network: one table load per key byte, one modulo per switch.
//!
//! Memory decides how fast flows walk, so everything that repeats is there once: groups with the same member table
//! share it, a route names its group, a link the row of routes at its far end.

use super::plan::{Picker, Plan};
use crate::flows::{Flow, KEY_BYTES};
use crate::topology::{NO_GROUP, Network};
use sluice_asic::hash::{KeyHash, PackedHash, splitmix64};
use sluice_asic::select::{FastMod, GroupShape, Selector, SelectorMode, WORD_SLOTS};
use sluice_hashing::scheme::FlowFunction;
use std::collections::BTreeMap;

/// A pick that is more than a remainder of the hash at the source.
#[derive(Clone, Debug)]
struct Other {
    /// The key has the TTL in it, and that has changed since.
    ttl: bool,
    pick: Pick,
}

#[derive(Clone, Debug)]
enum Pick {
    Remainder,
    /// The Tofino's selector over several words.
    Selector(Selector, Box<GroupShape>),
    /// Ranges.
    Threshold,
    /// Drawn anew by every group.
    Ideal,
}

/// No other pick: the remainder it is.
const PLAIN: u16 = u16::MAX;

#[derive(Clone, Copy, Debug)]
struct CompiledGroup {
    divisor: FastMod,
    /// First of its member table, which it may share.
    table: u32,
    /// First of its links.
    links: u32,
    constant: u16,
    /// Bits of the hash that are divided.
    mask: u16,
    /// Which function: four to a word of hashes.
    function: u8,
    offset: u8,
    /// Number of its other pick, or [`PLAIN`].
    other: u16,
}

/// Groups are looked at once a hop: two of them share a line of cache.
const _: () = assert!(size_of::<CompiledGroup>() == 32);

/// A network with its plan, ready for flows.
#[derive(Clone, Debug)]
pub struct Compiled {
    hashes: Vec<PackedHash<KEY_BYTES>>,
    groups: Vec<CompiledGroup>,
    /// Picks that are no plain remainders.
    others: Vec<Other>,
    /// Member tables: entry to position among the group's links.
    tables: Vec<u16>,
    /// By link of a group: the row of routes at its far end, in the mode after the group.
    rows: Vec<u32>,
    /// Group by row and destination.
    routes: Vec<u32>,
    /// By edge: the row at which its flows start.
    starts: Vec<u32>,
    /// First link of each group, and one past the last.
    first: Vec<u32>,
}

/// What a link carried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Flows.
    pub flows: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Flows and bytes by (group, link).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Group by group, link by link.
    pub loads: Vec<Load>,
    /// Flows walked.
    pub walked: u64,
    /// Which pairs of edges flows went between: from times the number of edges, plus to.
    pub pairs: Vec<bool>,
}

impl Counters {
    /// Adds another run's counts; the order of additions does not matter.
    pub fn add(&mut self, other: &Counters) {
        for (mine, others) in self.loads.iter_mut().zip(&other.loads) {
            mine.flows += others.flows;
            mine.bytes += others.bytes;
        }
        self.pairs.iter_mut().zip(&other.pairs).for_each(|(a, b)| *a |= b);
        self.walked += other.walked;
    }
}

/// Flows that [`Compiled::walk_all`] moves beside each other.
pub const LOCKSTEP: usize = 16;

/// Words of hashes: four functions each.
const WORDS: usize = 4;

/// A flow on its way.
#[derive(Clone, Copy, Debug, Default)]
struct Walk {
    words: [u64; WORDS],
    bytes: u64,
    /// Row of routes where it is.
    row: u32,
    to: u32,
    /// Which of the flows it is.
    flow: u32,
}

/// Most switches on a path; longer ones are loops.
const LONGEST: u8 = 64;

impl Compiled {
    /// Compiles a network for a plan and a selector. A plan may have up to sixteen functions.
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
        // A flow that is where it wanted has no group to leave by.
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

    /// Counters of the right size, all zero.
    #[must_use]
    pub fn counters(&self) -> Counters {
        let pairs = vec![false; self.starts.len() * self.starts.len()];
        Counters { loads: vec![Load::default(); self.rows.len()], walked: 0, pairs }
    }

    /// Sends a flow from its source to its destination and counts it on every link.
    pub fn walk(&self, flow: &Flow, counters: &mut Counters) {
        self.walk_all(std::slice::from_ref(flow), counters);
    }

    /// The groups that a flow passes, in order of its path, each with the position of the link that it takes.
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

    /// What a group's links carry, out of some counters, by position.
    #[must_use]
    pub fn loads<'c>(&self, group: u32, counters: &'c Counters) -> &'c [Load] {
        let at = |n: u32| self.first.get(n as usize).map_or(0, |f| *f as usize);
        counters.loads.get(at(group)..at(group + 1)).unwrap_or(&[])
    }

    /// Sends many flows, [`LOCKSTEP`] of them hop by hop beside each other: the loads of one do not wait for those
    /// of another.
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

    /// One switch further for the first `under_way` walks, all of them `hop` switches behind their source; those that
    /// go on are moved to the front and counted.
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

    /// A flow at its source, hashed; `None` when its edges do not exist.
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

    /// The group and the link that a flow leaves by; `None` at the destination.
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

    /// The entry that a group picks by other means than the plain remainder.
    #[cold]
    #[inline(never)]
    fn other(&self, group: &CompiledGroup, walk: &Walk, flow: &Flow, hop: u8) -> u32 {
        let Some(other) = self.others.get(usize::from(group.other)) else { return 0 };
        let word = group.word();
        let mut lanes = walk.words[word];
        if other.ttl {
            // The TTL's old part out, its new one in.
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
                // As the programs do it: a 16-bit hash, repeated for the selector's further bits.
                let hash = u128::from(hash);
                let wide = hash | hash << 16 | hash << 32 | hash << 48 | hash << 64;
                let words = shape.words().len() as u32;
                let slot = selector.pick(wide, shape).unwrap_or(0);
                // Members are dealt to the words one by one.
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
    /// The word with the group's function.
    #[inline(always)]
    const fn word(&self) -> usize {
        (self.function / 4) as usize % WORDS
    }

    /// The group's hash, out of that word.
    #[inline(always)]
    const fn hash(&self, lanes: u64) -> u16 {
        ((lanes >> (self.function % 4 * 16)) as u16 ^ self.constant).rotate_right(self.offset as u32)
    }
}

/// Bits that a group divides, and how it picks.
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
