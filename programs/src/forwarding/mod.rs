//! Forwarding for programs that study something else than forwarding: longest prefix to port, DSCP to queue.
//!
//! This module has the tables that all such programs share.
//!
//! | file | contents |
//! |---|---|
//! | `plain` | frames are forwarded unchanged; only IPv4 has routes (`pfc`, `ecn-mark`) |
//! | `routed` | IPv4 and IPv6 are routed, with ECMP, and their TTL is decremented (`int`, `hpcc-int`) |
//! | `routes` | entries of `routed`: the default ones, and those at a position in a network |
//! | `model` | both ways to forward in plain Rust, for properties |

pub(crate) mod model;
pub(crate) mod plain;
pub(crate) mod routed;
pub(crate) mod routes;

use sluice_build::*;
use sluice_catalogue::setup::{Ops, SetupError};
use sluice_ir::KeyValue;

/// Declares the table for frames that no routing table looks up: one port, which the control plane sets.
#[stage_program]
fn elsewhere(ig: &GressBuilder<'_>) -> TableRef {
    let tm = ig.intrinsic::<tna::ForTm>();
    let elsewhere_to = ig.action(|a, port: Arg<9>| tm.ucast_egress_port = port);
    let elsewhere = ig.named("elsewhere", "Port of frames that no routing table looks up, such as ARP");
    elsewhere.table([]).actions([elsewhere_to]).default_with(elsewhere_to, [0x1ff]).build()
}

/// Declares the class tables for IPv4 and for IPv6: DSCP to queue and traffic class. A DSCP without an entry gets the queue
/// `other` and the traffic class of the same number.
#[stage_program]
pub(crate) fn classes(
    ig: &GressBuilder<'_>,
    ipv4_dscp: Bits<6>,
    ipv6_dscp: Bits<6>,
    other: u64,
) -> [TableRef; 2] {
    let set_class = class_action(ig);
    let default = [other, other];
    /// IPv4 DSCP to egress queue and traffic class
    let ipv4_class =
        ig.table([exact(ipv4_dscp)]).actions([set_class]).default_with(set_class, default).size(64).build();
    /// IPv6 DSCP to egress queue and traffic class
    let ipv6_class =
        ig.table([exact(ipv6_dscp)]).actions([set_class]).default_with(set_class, default).size(64).build();
    [ipv4_class, ipv6_class]
}

/// Declares the class table of a program that forwards IPv4 alone. A DSCP without an entry gets queue 0.
#[stage_program]
#[allow(clippy::let_and_return, reason = "a `let` gives a declaration its name")]
pub(crate) fn class(ig: &GressBuilder<'_>, dscp: Bits<6>) -> TableRef {
    let set_class = class_action(ig);
    /// DSCP to egress queue and traffic class
    let class = ig.table([exact(dscp)]).actions([set_class]).default_with(set_class, [0, 0]).size(64).build();
    class
}

/// Sets the dev_port of frames that no routing table looks up.
fn send_elsewhere(ops: &mut Ops<'_>, port: u16) -> Result<(), SetupError> {
    ops.default("elsewhere", "elsewhere_to", [port.into()])
}

/// Maps each of these DSCPs to the queue and the traffic class of this number, for IPv4 and IPv6.
fn assign_queues(ops: &mut Ops<'_>, queues: impl IntoIterator<Item = (u8, u8)>) -> Result<(), SetupError> {
    for (dscp, queue) in queues {
        for table in ["ipv4_class", "ipv6_class"] {
            ops.entry(table, [KeyValue::Exact(dscp.into())], "set_class", [queue.into(), queue.into()])?;
        }
    }
    Ok(())
}
