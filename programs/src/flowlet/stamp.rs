//! Gaps by timestamps: in one array of pairs, or in two arrays in successive stages.

use super::{OLDER, Spec, Tick};
use crate::leaf::{Leaf, slot};
use sluice_build::*;

/// Time of the packet, and state of its flowlet
#[derive(Header, Debug)]
pub(super) struct Clock {
    /// Time at which the packet entered ingress, in units of the parameter `tick`
    now: Bits<32>,
    /// 1 if the gap since the last packet ended the flowlet, so that the packet begins a new one
    fresh: Bits<1>,
}

/// Declares the clock and reads it.
#[stage_program]
fn clock(ig: &GressBuilder<'_>, leaf: Leaf, tick: Tick) -> Clock {
    let (m, stamp) = (leaf.m, ig.intrinsic::<tna::FromParser>().global_tstamp);
    let t = ig.metadata::<Clock>();
    /// Takes 32 bits of the ingress timestamp, in units of the parameter `tick`
    let read_clock = ig.action(|a| {
        if tick == Tick::Ns1 {
            t.now = stamp.slice::<31, 0, 32>();
        } else if tick == Tick::Ns256 {
            t.now = stamp.slice::<39, 8, 32>();
        } else {
            t.now = stamp.slice::<41, 10, 32>();
        }
    });
    ig.control(|c| {
        if m.group != 0 {
            read_clock.call();
        }
    });
    t
}

/// Declares one array, each of whose words holds the time of the flowlet's last packet and its member.
#[stage_program]
pub(super) fn pair(ig: &GressBuilder<'_>, leaf: Leaf, spec: Spec) {
    let (m, t) = (leaf.m, clock(ig, leaf, spec.tick));
    let gap = spec.longest_gap();
    /// lo: time of the flowlet's last packet, in units of `tick`; hi: generation and number of its uplink
    let flowlet = ig.register_pair::<32>(spec.entries);
    /// Keeps the uplink within the timeout; after a longer gap, or a change of the group, takes the candidate
    let touch = ig.register_action(flowlet, |r| {
        if t.now - r.lo > gap || r.hi - m.candidate < OLDER {
            r.hi = m.candidate;
        }
        r.lo = t.now;
        r.out = r.hi;
    });
    ig.control(|c| {
        if m.group != 0 {
            m.member = touch.execute(slot(m.flow, spec.entries));
        }
    });
}

/// Declares two arrays: the first detects the gap, the second holds the flowlet's member.
#[stage_program]
pub(super) fn split(ig: &GressBuilder<'_>, leaf: Leaf, spec: Spec) {
    let (m, t) = (leaf.m, clock(ig, leaf, spec.tick));
    let gap = spec.longest_gap();
    /// Time of the flowlet's last packet, in units of the parameter `tick`
    let last_seen = ig.register::<32>(spec.entries);
    /// Returns 1 if the gap since the last packet exceeds the timeout; stores the packet's time
    let touch = ig.register_action(last_seen, |r| {
        if t.now - r.value > gap {
            r.out = 1;
        }
        r.value = t.now;
    });
    let members = members(ig, leaf, spec.entries);
    /// Packets that continued a flowlet (index 0), and packets that began one after a gap (index 1)
    let flowlets = ig.counter(2, CounterKind::Packets);
    ig.control(|c| {
        if m.group != 0 {
            t.fresh = touch.execute(slot(m.flow, spec.entries));
            flowlets.count(t.fresh);
            if t.fresh {
                m.member = members.take.execute(slot(m.flow, spec.entries));
            } else {
                m.member = members.keep.execute(slot(m.flow, spec.entries));
            }
        }
    });
}

/// Actions on the remembered member of a flowlet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Members {
    /// Returns the member, after replacing it by the candidate if it is of an older generation.
    pub(super) keep: RegisterActionRef,
    /// Replaces the member by the candidate and returns it.
    pub(super) take: RegisterActionRef,
}

/// Declares the array of members.
#[stage_program]
pub(super) fn members(ig: &GressBuilder<'_>, leaf: Leaf, entries: u32) -> Members {
    let m = leaf.m;
    /// Uplink of the flowlet: its group's generation in bits 31 to 16, its number in bits 15 to 0
    let flowlet_member = ig.register::<32>(entries);
    /// Continues a flowlet: keeps its uplink unless it is of an older generation
    let keep = ig.register_action(flowlet_member, |r| {
        if r.value - m.candidate < OLDER {
            r.value = m.candidate;
        }
        r.out = r.value;
    });
    /// Begins a flowlet: takes the candidate
    let take = ig.register_action(flowlet_member, |r| {
        r.value = m.candidate;
        r.out = r.value;
    });
    Members { keep, take }
}
