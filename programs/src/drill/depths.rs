//! Queue depths that ingress reads, and the ghost control that writes them.

use super::Params;
use super::choose::Shortest;
use crate::leaf::Leaf;
use sluice_build::*;

/// Number of dev_ports of nine bits.
const PORTS: u32 = 512;
/// Bits of a remembered member that are its number within the group; those above are its generation.
pub(super) const NUMBER: u64 = 0xffff;

/// Update of a queue depth
#[derive(Header, Debug)]
pub(super) struct Update {
    /// dev_port of the queue that changed
    port: Bits<16>,
}

/// Update of the memories of one bank
#[derive(Header, Debug)]
pub(super) struct Touched {
    /// Group that has the uplink of the queue
    group: Bits<16>,
}

/// One memory per group: lo = depth of the remembered uplink's queue, hi = generation and number of the uplink.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bank {
    pub(super) memory: PairRef<32>,
}

/// Registers that both ingress and the ghost control access.
#[derive(Clone, Debug)]
pub(super) struct Depths {
    /// One copy of the depths per sample, because a packet accesses an array only once.
    pub(super) copies: Vec<RegisterRef<32>>,
    pub(super) banks: Vec<Bank>,
}

/// Declares the registers.
#[stage_program]
pub(super) fn declare(ig: &GressBuilder<'_>, p: &Params) -> Depths {
    let mut copies = Vec::new();
    for _ in 0..p.samples {
        /// By dev_port: cells in queue 0
        let depth = ig.register::<32>(PORTS);
        copies.push(depth);
    }
    let mut banks = Vec::new();
    for _ in 0..if p.remember { p.banks } else { 0 } {
        /// By group: lo = cells in the remembered uplink's queue; hi = generation and number of that uplink
        let memory = ig.register_pair::<32>(p.tables.groups);
        banks.push(Bank { memory });
    }
    Depths { copies, banks }
}

/// Declares the ghost control: it writes a changed depth to every copy, and to the groups that remember the uplink. The
/// memories' stateful ALU has two inputs in all, so the ghost control uses the fields that ingress uses.
#[stage_program]
pub(super) fn ghost(ghost: &GressBuilder<'_>, leaf: Leaf, depths: &Depths, best: Shortest) {
    let m = leaf.m;
    let update = ghost.intrinsic::<tna::Ghost>();
    let g = ghost.metadata::<Update>();
    let watch = ghost.action(|a, port: Arg<16>| g.port = port);
    /// Pipe and queue, for queue 0 of every uplink, to the uplink's dev_port
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
    // Only the hash unit moves a smaller container into a 32-bit one.
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
        /// Pipe and queue, for queue 0 of an uplink, to the group of this bank that has the uplink, and its number
        let memory_queue =
            ghost.table([exact(update.pipe_id), exact(update.qid)]).actions([concern]).size(PORTS).build();
        /// Stores the depth if the uplink is the one that the group remembers
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
