//! Gaps by age: a packet of the flow renews an entry, a packet of the generator ages it, and the second
//! generated packet in a row ends the flowlet (model: flowlets §2.2).

use super::Spec;
use super::stamp::members;
use crate::leaf::generator::{MADE, generator};
use crate::leaf::{Leaf, slot};
use sluice_build::*;

/// Age of the packet's flowlet
#[derive(Header, Debug)]
struct Age {
    /// Sweeps left to the flowlet before this packet: 2, 1, or 0 = the flowlet was over
    left: Bits<8>,
    /// 1 if the flowlet was over, so that the packet begins a new one
    fresh: Bits<1>,
}

/// Declares flowlets by age, with sweeps by the packet generator.
#[stage_program]
pub(super) fn age(ig: &GressBuilder<'_>, leaf: Leaf, spec: Spec) {
    let (m, ethernet) = (leaf.m, leaf.h.ethernet);
    let t = ig.metadata::<Age>();
    let swept = ig.consume_label("A generated packet that aged an entry of the flowlet table");
    let generator = generator(ig, leaf);
    /// Sweeps left to the flowlet: 2 after a packet, one less after each sweep by the generator; 0 = over
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
    /// Packets that continued a flowlet (index 0), and packets that began one after a gap (index 1)
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
            // External frames with this EtherType arrive on other ports and change nothing.
            if generator.apply().hit() {
                // The last two bytes of the generator's header: the number of the packet in its batch.
                sweep.execute(ethernet.dst.slice::<15, 0, 16>());
                drop(swept);
            }
        }
    });
}
