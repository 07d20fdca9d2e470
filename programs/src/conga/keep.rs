//! The uplink of each flowlet: a flowlet that continues keeps it, a new one keeps it if it is among the least congested.
//!
//! The test and the write are one access of one register, because no register can be read in one stage and written in
//! a later one. With at most four uplinks two comparators test any set ([`super::ties`]). With up to eight uplinks four
//! comparators do, which Tofino 2 has: the register holds four copies of the number, and each comparator masks its own.

use super::Params;
use super::choose::Best;
use super::feedback::Known;
use crate::flowlet::OLDER;
use crate::leaf::{Leaf, slot};
use sluice_build::*;

/// Bits that each comparator reads of an uplink in four copies: the generation, and one copy of the number.
const COPY: [u64; 4] = [0xffff_000f, 0xffff_00f0, 0xffff_0f00, 0xffff_f000];
/// -16 in two's complement. If an uplink minus the candidate, both in the bits of the first copy, is below this, the
/// uplink is of an older generation. The constant is small enough for the instruction itself: the four masks take all
/// rows of the register file.
const COPY_OLDER: u64 = 0xffff_fff0;

/// Actions on a flow's uplink.
#[derive(Clone, Copy, Debug)]
struct Choices {
    /// Continues a flowlet.
    hold: RegisterActionRef,
    /// Begins a flowlet, if `second` has the least congested uplinks.
    one_of: RegisterActionRef,
    /// Begins a flowlet, if `second` has the uplinks that are not least congested.
    none_but: RegisterActionRef,
}

/// Chooses the member.
#[stage_program]
pub(super) fn keep(ig: &GressBuilder<'_>, leaf: Leaf, best: Best, known: &Known, p: &Params) {
    let (m, t, gap) = (leaf.m, known.t, p.spec().longest_gap());
    /// Time of the flowlet's last packet, in units of the parameter `tick`
    let last_seen = ig.register::<32>(p.gaps.flowlets);
    /// Returns 1 if the gap since the last packet exceeds the timeout; stores the packet's time
    let touch = ig.register_action(last_seen, |r| {
        if t.now - r.value > gap {
            r.out = 1;
        }
        r.value = t.now;
    });
    let Choices { hold, one_of, none_but } =
        if p.many() { of_eight(ig, best, p) } else { of_four(ig, best, p) };
    /// Packets that continued a flowlet (index 0), and packets that began one after a gap (index 1)
    let flowlets = ig.counter(2, CounterKind::Packets);
    ig.control(|c| {
        if m.group != 0 {
            best.fresh = touch.execute(slot(m.flow, p.gaps.flowlets));
            flowlets.count(best.fresh);
            if best.fresh {
                if best.many {
                    m.member = none_but.execute(slot(m.flow, p.gaps.flowlets));
                } else {
                    m.member = one_of.execute(slot(m.flow, p.gaps.flowlets));
                }
            } else {
                m.member = hold.execute(slot(m.flow, p.gaps.flowlets));
            }
        }
    });
}

/// Declares the register of at most four uplinks, for two comparators.
#[stage_program]
fn of_four(ig: &GressBuilder<'_>, best: Best, p: &Params) -> Choices {
    /// Uplink of the flowlet: its group's generation in bits 31 to 16, its number in bits 15 to 0
    let flowlet_member = ig.register::<32>(p.gaps.flowlets);
    /// Continues a flowlet: keeps its uplink unless it is of an older generation
    let hold = ig.register_action(flowlet_member, |r| {
        if r.value - best.first < OLDER {
            r.value = best.first;
        }
        r.out = r.value;
    });
    /// Begins a flowlet if one or two uplinks are least congested: keeps the old uplink if it is one of them
    let one_of_two = ig.register_action(flowlet_member, |r| {
        if r.value != best.first && r.value != best.second {
            r.value = best.first;
        }
        r.out = r.value;
    });
    /// Begins a flowlet if three or four uplinks are least congested: keeps the old uplink if it is one of them
    let none_but = ig.register_action(flowlet_member, |r| {
        if r.value == best.second || r.value - best.first < OLDER {
            r.value = best.first;
        }
        r.out = r.value;
    });
    Choices { hold, one_of: one_of_two, none_but }
}

/// Declares the register of up to eight uplinks, for four comparators with masks.
#[stage_program]
fn of_eight(ig: &GressBuilder<'_>, best: Best, p: &Params) -> Choices {
    let [first, second, third, fourth] = COPY;
    /// Uplink of the flowlet: its group's generation in bits 31 to 16, four copies of its number in bits 15 to 0
    let flowlet_member = ig.register::<32>(p.gaps.flowlets);
    /// Continues a flowlet: keeps its uplink unless it is of an older generation
    let hold = ig.register_action(flowlet_member, |r| {
        if (r.value & first) - masked(best.first, first) < COPY_OLDER {
            r.value = best.first;
        }
        r.out = r.value;
    });
    /// Begins a flowlet if one to four uplinks are least congested: keeps the old uplink if it is one of them
    let one_of_four = ig.register_action(flowlet_member, |r| {
        if (r.value & first) != masked(best.second, first)
            && (r.value & second) != masked(best.second, second)
            && (r.value & third) != masked(best.second, third)
            && (r.value & fourth) != masked(best.second, fourth)
        {
            r.value = best.first;
        }
        r.out = r.value;
    });
    /// Begins a flowlet if five to eight uplinks are least congested: keeps the old uplink if it is one of them
    let none_but = ig.register_action(flowlet_member, |r| {
        if (r.value & first) - masked(best.first, first) < COPY_OLDER
            || (r.value & first) == masked(best.second, first)
            || (r.value & second) == masked(best.second, second)
            || (r.value & third) == masked(best.second, third)
        {
            r.value = best.first;
        }
        r.out = r.value;
    });
    Choices { hold, one_of: one_of_four, none_but }
}
