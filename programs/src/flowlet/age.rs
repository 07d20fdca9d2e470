//! Gaps by ages: packets make an entry young, packets of the generator make it older, and the second one in a row ends
//! the flowlet (model: flowlets §2.2).

use super::Spec;
use super::stamp::members;
use crate::leaf::generator::{MADE, generator};
use crate::leaf::{Leaf, slot};
use sluice_build::*;

/// What ages tell
#[derive(Header, Debug)]
struct Age {
    /// Age before this packet: 0 over, 1 old, 2 young
    left: Bits<8>,
    /// 1 when the flowlet was over
    fresh: Bits<1>,
}

/// Ages, swept by the generator.
#[stage_program]
pub(super) fn age(ig: &GressBuilder<'_>, leaf: Leaf, spec: Spec) {
    let (m, ethernet) = (leaf.m, leaf.h.ethernet);
    let t = ig.metadata::<Age>();
    let swept = ig.consume_label("The packet generator aged an entry of the flowlet table");
    let generator = generator(ig, leaf);
    /// 2 after a packet, 1 after a sweep, 0 after another: the flowlet is over
    let life = ig.register::<8>(spec.entries);
    let renew = ig.register_action(life, |r| {
        r.out = r.value;
        r.value = 2;
    });
    let sweep = ig.register_action(life, |r| {
        if r.value != 0 {
            r.value -= 1;
        }
    });
    let members = members(ig, leaf, spec.entries);
    /// Packets that went on with a flowlet (0), and that began one because of a gap (1)
    let flowlets = ig.counter(2, CounterKind::Packets);
    ig.control(|c| {
        if m.group != 0 {
            t.left = renew.execute(slot(m.flow, spec.entries));
            if t.left == 0 {
                t.fresh = 1;
                m.member = members.take.execute(slot(m.flow, spec.entries));
            } else {
                m.member = members.keep.execute(slot(m.flow, spec.entries));
            }
            flowlets.count(t.fresh);
        } else if ethernet.ether_type == MADE {
            // Frames from outside with this EtherType come by other ports and change nothing.
            if generator.apply().hit() {
                // The last two bytes of the generator's header: the number of the packet in its batch.
                sweep.execute(ethernet.dst.slice::<15, 0, 16>());
                drop(swept);
            }
        }
    });
}
