//! Forwarding of programs whose subject is another one: longest prefix to port, DSCP to queue.
//!
//! What all such programs share.
//!
//! | file | what it says |
//! |---|---|
//! | `plain` | frames pass as they came; IPv4 alone has routes (`pfc`, `ecn-mark`) |
//! | `routed` | IPv4 and IPv6 are routed, over several equal ways too, and lose a hop (`int`, `hpcc-int`) |
//! | `routes` | what `routed` starts with, alone and at a place in a network |

pub(crate) mod plain;
pub(crate) mod routed;
pub(crate) mod routes;

use sluice_build::*;
use sluice_catalogue::setup::{Ops, SetupError};
use sluice_ir::KeyValue;

/// The table of what has no route: one port, which the control plane sets.
#[stage_program]
fn elsewhere(ig: &GressBuilder<'_>) -> TableRef {
    let tm = ig.intrinsic::<tna::ForTm>();
    let elsewhere_to = ig.action(|a, port: Arg<9>| tm.ucast_egress_port = port);
    let elsewhere = ig.named("elsewhere", "The port of what is not routed; the control plane sets it");
    elsewhere.table([]).actions([elsewhere_to]).default_with(elsewhere_to, [0x1ff]).build()
}

/// The tables from DSCP to queue, of IPv4 and of IPv6; a DSCP without an entry has the queue `other`.
#[stage_program]
fn classes(ig: &GressBuilder<'_>, ipv4_dscp: Bits<6>, ipv6_dscp: Bits<6>, other: u64) -> [TableRef; 2] {
    let tm = ig.intrinsic::<tna::ForTm>();
    let set_queue = ig.action(|a, queue: Arg<7>| tm.qid = queue);
    /// DSCP to queue
    let ipv4_class =
        ig.table([exact(ipv4_dscp)]).actions([set_queue]).default_with(set_queue, [other]).size(64).build();
    /// DSCP to queue
    let ipv6_class =
        ig.table([exact(ipv6_dscp)]).actions([set_queue]).default_with(set_queue, [other]).size(64).build();
    [ipv4_class, ipv6_class]
}

/// Sends what has no route to this dev_port.
fn send_elsewhere(ops: &mut Ops<'_>, port: u16) -> Result<(), SetupError> {
    ops.default("elsewhere", "elsewhere_to", [port.into()])
}

/// Gives these DSCPs their queues.
fn assign_queues(ops: &mut Ops<'_>, queues: impl IntoIterator<Item = (u8, u8)>) -> Result<(), SetupError> {
    for (dscp, queue) in queues {
        for table in ["ipv4_class", "ipv6_class"] {
            ops.entry(table, [KeyValue::Exact(dscp.into())], "set_queue", [queue.into()])?;
        }
    }
    Ok(())
}
