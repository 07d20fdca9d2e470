//! What ingress knows of queues, and the ghost control that tells it.

use super::Params;
use super::choose::Shortest;
use crate::leaf::Leaf;
use sluice_build::*;

/// Ports that a dev_port of nine bits can name.
const PORTS: u32 = 512;
/// Bits of a remembered member that are its number within the group; those above are its generation.
pub(super) const NUMBER: u64 = 0xffff;

/// What an update says
#[derive(Header, Debug)]
pub(super) struct Update {
    /// dev_port of the queue that changed
    port: Bits<16>,
}

/// What an update means to the memories of a bank
#[derive(Header, Debug)]
pub(super) struct Touched {
    /// Group that has the queue's uplink
    group: Bits<16>,
}

/// A memory per group: lo is the depth of the queue, hi generation and number of the member.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bank {
    pub(super) memory: PairRef<32>,
}

/// Everything that both controls see.
#[derive(Clone, Debug)]
pub(super) struct Depths {
    /// The same depths once for each sample: an array is accessed once per packet.
    pub(super) copies: Vec<RegisterRef<32>>,
    pub(super) banks: Vec<Bank>,
}

/// Declares the arrays.
#[stage_program]
pub(super) fn declare(ig: &GressBuilder<'_>, p: &Params) -> Depths {
    let mut copies = Vec::new();
    for _ in 0..p.samples {
        /// Cells in queue 0 of each dev_port
        let depth = ig.register::<32>(PORTS);
        copies.push(depth);
    }
    let mut banks = Vec::new();
    for _ in 0..if p.remember { p.banks } else { 0 } {
        /// By group: cells in the queue of the remembered uplink; its generation and number
        let memory = ig.register_pair::<32>(p.tables.groups);
        banks.push(Bank { memory });
    }
    Depths { copies, banks }
}

/// The ghost control: a changed depth goes to every copy, and to the groups that remember the uplink. A stateful ALU
/// sees two values from outside, whoever asks: the memories' are the fields in which ingress has depth and candidate.
#[stage_program]
pub(super) fn ghost(ghost: &GressBuilder<'_>, leaf: Leaf, depths: &Depths, best: Shortest) {
    let m = leaf.m;
    let update = ghost.intrinsic::<tna::Ghost>();
    let g = ghost.metadata::<Update>();
    let watch = ghost.action(|a, port: Arg<16>| g.port = port);
    /// Queue 0 of the uplinks
    let queue = ghost.table([exact(update.pipe_id), exact(update.qid)]).actions([watch]).size(PORTS).build();
    let mut writes = Vec::new();
    for depth in &depths.copies {
        let depth = *depth;
        let write = ghost.register_action(depth, |r| r.value = update.qlength.cast::<32>());
        writes.push(write);
    }
    ghost.control(|c| {
        if queue.apply().hit() {
            for write in &writes {
                write.execute(g.port);
            }
        }
    });
    if depths.banks.is_empty() {
        return;
    }
    // A container of fewer bits gets into one of 32 through the hash unit only.
    let depth_widened =
        ghost.hash::<32>(HashAlgorithm::Identity).inputs(list![constant::<14>(0), update.qlength]).build();
    let widen = ghost.action(|a| best.depth = depth_widened.get());
    ghost.control(|c| widen.call());
    for bank in &depths.banks {
        let memory = bank.memory;
        let t = ghost.metadata::<Touched>();
        let concern = ghost.action(|a, group: Arg<16>, member: Arg<32>| {
            t.group = group;
            m.candidate = member;
        });
        /// Queue 0 of an uplink to the group of this bank that has it
        let memory_queue =
            ghost.table([exact(update.pipe_id), exact(update.qid)]).actions([concern]).size(PORTS).build();
        /// The depth of the uplink, if it is the remembered one
        let refresh = ghost.register_action(memory, |r| {
            if (r.hi & NUMBER) == m.candidate {
                r.lo = best.depth;
            }
        });
        ghost.control(|c| {
            if memory_queue.apply().hit() {
                refresh.execute(t.group);
            }
        });
    }
}
