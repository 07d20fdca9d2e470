//! Gaps by stamps: in one array of pairs, or in two arrays one behind the other.

use super::{OLDER, Spec, Tick};
use crate::leaf::{Leaf, slot};
use sluice_build::*;

/// What an array of stamps compares
#[derive(Header, Debug)]
pub(super) struct Clock {
    /// When the packet entered ingress, in ticks
    now: Bits<32>,
    /// 1 when the gap ended a flowlet
    fresh: Bits<1>,
}

/// Declares the clock and reads it.
#[stage_program]
fn clock(ig: &GressBuilder<'_>, leaf: Leaf, tick: Tick) -> Clock {
    let (m, stamp) = (leaf.m, ig.intrinsic::<tna::FromParser>().global_tstamp);
    let t = ig.metadata::<Clock>();
    /// The time in ticks
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

/// One array: a word holds the time of the flowlet's last packet and the member in use.
#[stage_program]
pub(super) fn pair(ig: &GressBuilder<'_>, leaf: Leaf, spec: Spec) {
    let (m, t) = (leaf.m, clock(ig, leaf, spec.tick));
    let gap = spec.longest_gap();
    /// Time of the flowlet's last packet; generation and number of its member
    let flowlet = ig.register_pair::<32>(spec.entries);
    /// Keeps the member while packets follow each other; after a gap, or a change of the group, takes the candidate
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

/// Two arrays: the first knows whether a flowlet is over, the second which member it uses.
#[stage_program]
pub(super) fn split(ig: &GressBuilder<'_>, leaf: Leaf, spec: Spec) {
    let (m, t) = (leaf.m, clock(ig, leaf, spec.tick));
    let gap = spec.longest_gap();
    /// Time of the flowlet's last packet
    let last_seen = ig.register::<32>(spec.entries);
    /// Tells whether the gap was too long
    let touch = ig.register_action(last_seen, |r| {
        if t.now - r.value > gap {
            r.out = 1;
        }
        r.value = t.now;
    });
    let members = members(ig, leaf, spec.entries);
    /// Packets that went on with a flowlet (0), and that began one because of a gap (1)
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

/// What a packet does to the member of its flowlet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Members {
    /// Uses it, unless it is of an older generation.
    pub(super) keep: RegisterActionRef,
    /// Uses the candidate from now on.
    pub(super) take: RegisterActionRef,
}

/// Declares the array of members.
#[stage_program]
pub(super) fn members(ig: &GressBuilder<'_>, leaf: Leaf, entries: u32) -> Members {
    let m = leaf.m;
    /// Generation and number of the flowlet's member
    let flowlet_member = ig.register::<32>(entries);
    /// The flowlet goes on
    let keep = ig.register_action(flowlet_member, |r| {
        if r.value - m.candidate < OLDER {
            r.value = m.candidate;
        }
        r.out = r.value;
    });
    /// A new flowlet begins
    let take = ig.register_action(flowlet_member, |r| {
        r.value = m.candidate;
        r.out = r.value;
    });
    Members { keep, take }
}
