//! The action of class tables.

use super::gress::GressBuilder;
use super::handles::ActionRef;
use super::tna;

/// Declares the action `set_class` of class tables. Its parameters are the egress queue (`queue`, 7 bits) and the traffic
/// class (`traffic_class`, 3 bits), which it writes to `qid` and `ingress_cos`. A table with this action gets its
/// entries from the maps of the buffer profile, unless it has entries of its own.
#[track_caller]
pub fn class_action(ig: &GressBuilder<'_>) -> ActionRef {
    let (tm, cos) = (ig.intrinsic::<tna::ForTm>(), ig.intrinsic::<tna::Cos>());
    ig.named("set_class", "");
    ig.action(|a| {
        let (queue, traffic_class) = (a.arg::<7>("queue"), a.arg::<3>("traffic_class"));
        a.set(tm.qid, queue);
        a.set(cos.ingress_cos, traffic_class);
    })
}
