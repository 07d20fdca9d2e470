//! The sampled uplinks, and the uplink that a group remembers.

use super::Params;
use super::depths::Depths;
use crate::flowlet::OLDER;
use crate::leaf::{Leaf, Sizes};
use sluice_build::*;

/// A further sampled uplink
#[derive(Header, Debug)]
pub(super) struct Sample {
    /// Random number that picks the sample among the group's members that are up
    draw: Bits<16>,
    /// Number of the sampled member within the group
    member: Bits<16>,
    /// Sampled member: its group's generation in bits 31 to 16, its number in bits 15 to 0
    candidate: Bits<32>,
    /// dev_port of the sampled uplink
    port: Bits<9>,
    /// Cells in queue 0 of the sampled uplink
    depth: Bits<32>,
    /// Cells by which that is below the shortest queue of the earlier samples; 0 = not shorter
    less: Bits<32>,
}

/// Shortest queue of the samples so far
#[derive(Header, Debug)]
pub(super) struct Shortest {
    /// Cells in the shortest queue; in the ghost control, the new depth of the queue that changed
    pub(super) depth: Bits<32>,
    /// Bank that holds the group's memory, from 1; 0 = none
    bank: Bits<8>,
}

/// Adds the samples after the first, which is the candidate. Each is drawn like the first, from a separate profile.
#[stage_program]
pub(super) fn others(ig: &GressBuilder<'_>, leaf: Leaf, sizes: Sizes, p: &Params) -> Vec<Sample> {
    let m = leaf.m;
    let mut samples = Vec::new();
    for _ in 1..p.samples {
        let s = ig.metadata::<Sample>();
        let sample_coin = ig.random::<16>();
        let sample_draw = ig.hash::<16>(HashAlgorithm::Identity).inputs(list![s.draw]).build();
        let sample_member = ig.action(|a, member: Arg<16>, port: Arg<9>| {
            s.member = member;
            s.candidate = m.generation | member.cast::<32>();
            s.port = port;
        });
        /// Uplinks of all groups, repeated for one further sample
        let sample_uplinks = ig.profile(sizes.members);
        let sample_uplinks =
            sample_uplinks.selector(SelectorMode::Fair, sample_draw, sizes.groups, 120).build();
        /// Uplink group to a further sampled uplink
        let sample = ig
            .table([exact(m.group)])
            .actions([sample_member])
            .size(sizes.groups)
            .profile(sample_uplinks)
            .build();
        ig.control(|c| {
            if m.group != 0 {
                s.draw = sample_coin.get();
                sample.apply();
            }
        });
        samples.push(s);
    }
    samples
}

/// Makes the sample with the shortest queue the candidate; of several equal queues, the first drawn.
#[stage_program]
pub(super) fn shortest(ig: &GressBuilder<'_>, leaf: Leaf, depths: &Depths, others: &[Sample]) -> Shortest {
    let (m, tm) = (leaf.m, ig.intrinsic::<tna::ForTm>());
    let best = ig.metadata::<Shortest>();
    let mut reads = Vec::new();
    for depth in &depths.copies {
        let depth = *depth;
        let read = ig.register_action(depth, |r| r.out = r.value);
        reads.push(read);
    }
    ig.control(|c| {
        if m.group != 0 {
            best.depth = reads[0].execute(tm.ucast_egress_port);
            for (s, read) in others.iter().zip(&reads[1..]) {
                s.depth = read.execute(s.port);
            }
        }
    });
    for s in others {
        let s = *s;
        let take_shorter = ig.action(|a| {
            m.member = s.member;
            m.candidate = s.candidate;
            tm.ucast_egress_port = s.port;
            best.depth = s.depth;
        });
        ig.control(|c| {
            if m.group != 0 {
                s.less = best.depth.sat_sub(s.depth);
                if s.less != 0 {
                    take_shorter.call();
                }
            }
        });
    }
    best
}

/// Adds the memory: it keeps the remembered uplink unless the candidate's queue is shorter or its generation is newer.
#[stage_program]
pub(super) fn remember(ig: &GressBuilder<'_>, leaf: Leaf, depths: &Depths, best: Shortest, groups: u32) {
    let m = leaf.m;
    let set_bank = ig.action(|a, number: Arg<8>| best.bank = number);
    /// Uplink group to the bank that holds its memory, from 1
    let bank = ig.table([exact(m.group)]).actions([set_bank]).size(groups).build();
    let mut compares = Vec::new();
    for held in &depths.banks {
        let memory = held.memory;
        let compare = ig.register_action(memory, |r| {
            if best.depth < r.lo || r.hi - m.candidate < OLDER {
                r.lo = best.depth;
                r.hi = m.candidate;
            }
            r.out = r.hi;
        });
        compares.push(compare);
    }
    ig.control(|c| {
        if m.group != 0 {
            bank.apply();
        }
    });
    for (number, compare) in (1u64..).zip(compares) {
        ig.control(|c| {
            if best.bank == number {
                m.member = compare.execute(m.group);
            }
        });
    }
}
