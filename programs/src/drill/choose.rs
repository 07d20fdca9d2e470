//! The samples, and the memory.

use super::Params;
use super::depths::Depths;
use crate::flowlet::OLDER;
use crate::leaf::{Leaf, Sizes};
use sluice_build::*;

/// One more sample
#[derive(Header, Debug)]
pub(super) struct Sample {
    /// Picks it among the group's members that are up
    draw: Bits<16>,
    /// Its number
    member: Bits<16>,
    /// Generation and number
    candidate: Bits<32>,
    /// Its dev_port
    port: Bits<9>,
    /// Cells in its queue
    depth: Bits<32>,
    /// By how much that is less than what the samples before have
    less: Bits<32>,
}

/// The shortest queue so far
#[derive(Header, Debug)]
pub(super) struct Shortest {
    /// Cells in it; in the ghost control the depth that changed
    pub(super) depth: Bits<32>,
    /// The bank that has the group's memory, from 1
    bank: Bits<8>,
}

/// The samples behind the candidate, which is the first: drawn as that one is, from profiles of their own.
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
        /// The uplinks of all groups once more
        let sample_uplinks = ig.profile(sizes.members);
        let sample_uplinks =
            sample_uplinks.selector(SelectorMode::Fair, sample_draw, sizes.groups, 120).build();
        /// Group to one more sample
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

/// The sample of the shortest queue becomes the candidate; of equal ones the first drawn.
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

/// The memory: the candidate takes its place if its queue is shorter, or if the memory is of an older generation.
#[stage_program]
pub(super) fn remember(ig: &GressBuilder<'_>, leaf: Leaf, depths: &Depths, best: Shortest, groups: u32) {
    let m = leaf.m;
    let set_bank = ig.action(|a, number: Arg<8>| best.bank = number);
    /// The bank of a group's memory, from 1
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
