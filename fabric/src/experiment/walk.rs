//! The compiled network: one table load per key byte, one modulo per switch. What may not live here: planning,
//! statistics.

use super::plan::{Picker, Plan};
use crate::flows::{Flow, KEY_BYTES};
use crate::topology::Network;
use sluice_asic::hash::{KeyHash, PackedHash};
use sluice_asic::select::{FastMod, GroupShape, Selector, SelectorMode};
use sluice_programs::planning::scheme::{FlowFunction, splitmix64};

/// How a group picks, with its divisor worked out.
#[derive(Clone, Debug)]
enum Pick {
    /// So many low bits modulo the members.
    Remainder(FastMod, u16),
    /// The Tofino's selector over several words.
    Selector(Selector, Box<GroupShape>),
    /// Ranges.
    Threshold(u32),
    /// Drawn anew by every switch.
    Ideal(u32, u64),
}

#[derive(Clone, Debug)]
struct CompiledGroup {
    /// Which word of hashes, and which lane of it.
    word: u8,
    shift: u8,
    offset: u8,
    mode_after: u8,
    /// Whether the TTL's part is added.
    ttl: bool,
    constant: u16,
    /// First of its entries.
    table: u32,
    pick: Pick,
}

/// An entry of a member table: what it counts as, and the switch at the link's end.
#[derive(Clone, Copy, Debug)]
struct Entry {
    counter: u32,
    next: u32,
}

/// A network with its plan, ready for flows.
#[derive(Clone, Debug)]
pub struct Compiled {
    hashes: Vec<PackedHash<KEY_BYTES>>,
    groups: Vec<CompiledGroup>,
    entries: Vec<Entry>,
    routes: Vec<u32>,
    edges: Vec<u32>,
    switches: usize,
    /// First counter of each group, and one past the last.
    first: Vec<u32>,
}

/// Flows and bytes by (group, link).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Flows.
    pub flows: Vec<u64>,
    /// Bytes.
    pub bytes: Vec<u64>,
    /// Flows walked.
    pub walked: u64,
    /// Which pairs of edges flows went between: from times the number of edges, plus to.
    pub pairs: Vec<bool>,
}

impl Counters {
    /// Adds another run's counts.
    pub fn add(&mut self, other: &Counters) {
        for (mine, others) in [(&mut self.flows, &other.flows), (&mut self.bytes, &other.bytes)] {
            mine.iter_mut().zip(others).for_each(|(a, b)| *a += b);
        }
        self.pairs.iter_mut().zip(&other.pairs).for_each(|(a, b)| *a |= b);
        self.walked += other.walked;
    }
}

/// Flows that [`Compiled::walk_all`] moves beside each other.
pub const LOCKSTEP: usize = 8;

/// A flow on its way.
#[derive(Clone, Copy, Debug)]
struct Walk {
    words: [u64; 4],
    at: u32,
    target: u32,
    mode: u8,
    ttl: u8,
}

/// Most switches on a path; longer ones are loops.
const LONGEST: u32 = 64;

impl Compiled {
    /// Compiles a network for a plan and a selector.
    #[must_use]
    pub fn new(network: &Network, plan: &Plan, picker: Picker) -> Compiled {
        let mut functions: Vec<(FlowFunction, bool)> = Vec::new();
        let mut groups = Vec::with_capacity(network.groups.len());
        let (mut entries, mut first) = (Vec::new(), vec![0]);
        for (group, planned) in network.groups.iter().zip(&plan.groups) {
            let setting = planned.setting;
            let wanted = (setting.function, setting.ttl);
            let lane = functions.iter().position(|f| *f == wanted).unwrap_or_else(|| {
                functions.push(wanted);
                functions.len() - 1
            });
            let base = first.last().copied().unwrap_or(0);
            let to = |port: &u32| {
                let link = group.links.get(*port as usize).map_or(0, |(link, _)| *link);
                Entry { counter: base + port, next: network.links[link as usize].to }
            };
            groups.push(CompiledGroup {
                word: (lane / 4) as u8,
                shift: (lane % 4 * 16) as u8,
                offset: setting.offset,
                mode_after: group.mode_after,
                ttl: setting.ttl,
                constant: setting.function.seed_constant(setting.seed),
                table: entries.len() as u32,
                pick: pick(picker, planned.table.len() as u32, group.switch),
            });
            entries.extend(planned.table.iter().map(to));
            first.push(base + group.links.len() as u32);
        }
        let hashes = functions.chunks(4).map(|four| {
            let lanes: Vec<_> =
                four.iter().map(|(f, ttl)| move |key: &[u8; KEY_BYTES]| f.hash(key, *ttl)).collect();
            let lanes: Vec<KeyHash<'_, KEY_BYTES>> = lanes.iter().map(|l| l as _).collect();
            PackedHash::new(&lanes)
        });
        Compiled {
            hashes: hashes.collect(),
            groups,
            entries,
            routes: network.route_table().to_vec(),
            edges: network.edges.clone(),
            switches: network.switches.len(),
            first,
        }
    }

    /// Counters of the right size, all zero.
    #[must_use]
    pub fn counters(&self) -> Counters {
        let cells = self.first.last().copied().unwrap_or(0) as usize;
        let pairs = vec![false; self.edges.len() * self.edges.len()];
        Counters { flows: vec![0; cells], bytes: vec![0; cells], walked: 0, pairs }
    }

    /// Sends a flow from its source to its destination and counts it on every link.
    #[inline]
    pub fn walk(&self, flow: &Flow, counters: &mut Counters) {
        self.each_hop(flow, |entry: u32, _| self.count(entry, flow, counters));
        self.count_pair(flow, counters);
    }

    /// The groups that a flow passes, in order of its path, each with the position of the link that it takes.
    #[must_use]
    pub fn path(&self, flow: &Flow) -> Vec<(u32, u32)> {
        let mut path = Vec::new();
        self.each_hop(flow, |entry, group| {
            path.push((group, self.entries[entry as usize].counter - self.first[group as usize]));
        });
        path
    }

    /// What a group's links carry, out of some counters: flows and bytes by position.
    #[must_use]
    pub fn loads<'c>(&self, group: u32, counters: &'c Counters) -> (&'c [u64], &'c [u64]) {
        let at = |n: u32| self.first.get(n as usize).map_or(0, |f| *f as usize);
        let range = at(group)..at(group + 1);
        (counters.flows.get(range.clone()).unwrap_or(&[]), counters.bytes.get(range).unwrap_or(&[]))
    }

    /// Sends many flows, [`LOCKSTEP`] of them hop by hop beside each other: the loads of one do not wait for those
    /// of another. Counts the same as [`Compiled::walk`] for each.
    pub fn walk_all(&self, flows: &[Flow], counters: &mut Counters) {
        for flows in flows.chunks(LOCKSTEP) {
            let mut walks = [None; LOCKSTEP];
            for (walk, flow) in walks.iter_mut().zip(flows) {
                *walk = self.begin(flow);
                self.count_pair(flow, counters);
            }
            for _ in 0..LONGEST {
                let mut moved = false;
                for (walk, flow) in walks.iter_mut().zip(flows) {
                    let Some(state) = walk else { continue };
                    match self.step(state, flow) {
                        None => *walk = None,
                        Some((entry, _)) => {
                            moved = true;
                            self.count(entry, flow, counters);
                        }
                    }
                }
                if !moved {
                    break;
                }
            }
        }
    }

    #[inline]
    fn count(&self, entry: u32, flow: &Flow, counters: &mut Counters) {
        let counter = self.entries[entry as usize].counter as usize;
        counters.flows[counter] += 1;
        counters.bytes[counter] += flow.bytes;
    }

    #[inline]
    fn count_pair(&self, flow: &Flow, counters: &mut Counters) {
        let pair = flow.from as usize * self.edges.len() + flow.to as usize;
        if let Some(seen) = counters.pairs.get_mut(pair) {
            *seen = true;
        }
        counters.walked += 1;
    }

    #[inline(always)]
    fn each_hop(&self, flow: &Flow, mut hop: impl FnMut(u32, u32)) {
        let Some(mut walk) = self.begin(flow) else { return };
        for _ in 0..LONGEST {
            let Some((entry, group)) = self.step(&mut walk, flow) else { return };
            hop(entry, group);
        }
    }

    /// A flow at its source, hashed; `None` when its edges do not exist.
    #[inline(always)]
    fn begin(&self, flow: &Flow) -> Option<Walk> {
        let mut words = [0u64; 4];
        for (word, hash) in words.iter_mut().zip(&self.hashes) {
            *word = hash.eval(&flow.key);
        }
        let (at, target) = (*self.edges.get(flow.from as usize)?, *self.edges.get(flow.to as usize)?);
        Some(Walk { words, at, target, mode: 0, ttl: flow.key[KEY_BYTES - 1] })
    }

    /// One switch further: the entry and the group taken; `None` at the destination.
    #[inline(always)]
    fn step(&self, walk: &mut Walk, flow: &Flow) -> Option<(u32, u32)> {
        if walk.at == walk.target {
            return None;
        }
        let switch = usize::from(walk.mode) * self.switches + walk.at as usize;
        let number = self.routes[switch * self.edges.len() + flow.to as usize];
        let group = self.groups.get(number as usize)?;
        let word = usize::from(group.word & 3);
        let mut lanes = walk.words[word];
        if group.ttl {
            // The TTL has changed since the source: its old part out, its new one in.
            let hash = &self.hashes[word];
            lanes ^= hash.byte(KEY_BYTES - 1, flow.key[KEY_BYTES - 1]) ^ hash.byte(KEY_BYTES - 1, walk.ttl);
        }
        let hash = ((lanes >> group.shift) as u16 ^ group.constant).rotate_right(group.offset.into());
        let entry = group.table + group.pick.index(hash, flow);
        walk.at = self.entries[entry as usize].next;
        walk.mode = group.mode_after;
        walk.ttl = walk.ttl.wrapping_sub(1);
        Some((entry, number))
    }
}

fn pick(picker: Picker, members: u32, switch: u32) -> Pick {
    let selector = |mode| match GroupShape::balanced(members) {
        Ok(shape) if shape.words().len() > 1 => Pick::Selector(Selector::new(mode), Box::new(shape)),
        _ => Pick::Remainder(FastMod::new(members), 0x3fff),
    };
    match picker {
        Picker::Modulo16 => Pick::Remainder(FastMod::new(members), 0xffff),
        Picker::Fair => selector(SelectorMode::Fair),
        Picker::Resilient => selector(SelectorMode::Resilient),
        Picker::Threshold => Pick::Threshold(members),
        Picker::Ideal => Pick::Ideal(members, splitmix64(switch.into())),
    }
}

impl Pick {
    /// The entry that a hash picks, counted from the group's first.
    #[inline]
    fn index(&self, hash: u16, flow: &Flow) -> u32 {
        match self {
            Pick::Remainder(divisor, mask) => divisor.rem((hash & mask).into()),
            Pick::Threshold(members) => (u32::from(hash) * members) >> 16,
            Pick::Selector(selector, shape) => {
                // As the programs do it: a 16-bit hash, repeated for the selector's further bits.
                let hash = u128::from(hash);
                let wide = hash | hash << 16 | hash << 32 | hash << 48 | hash << 64;
                let words = shape.words().len() as u32;
                let slot = selector.pick(wide, shape).unwrap_or(0);
                // Members are dealt to the words one by one.
                slot % sluice_asic::select::WORD_SLOTS * words + slot / sluice_asic::select::WORD_SLOTS
            }
            Pick::Ideal(members, own) => {
                let [a, b, c, d, e, f, g, h, i, j, k, l, m, _] = flow.key;
                let high = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
                let low = u64::from_be_bytes([i, j, k, l, m, 0, 0, 0]);
                let bits = splitmix64(splitmix64(high ^ own) ^ low);
                (((bits >> 32) * u64::from(*members)) >> 32) as u32
            }
        }
    }
}
