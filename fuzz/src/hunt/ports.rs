//! Ports on which packets of a program leave.

use super::PORT_BITS;
use sluice_asic::gress::Gress;
use sluice_asic::port::{Port, PortKind, PortMap};
use sluice_control::{ControlState, Then};
use sluice_ir::{Expr, Intrinsic, ParamData, PrimitiveKind, Program};
use std::collections::BTreeSet;

/// Most entries and members of a table or profile that are examined.
const MOST: usize = 256;

/// Returns the front-panel ports to which entries and members send packets; of a long list, only the first few.
pub(super) fn outs(program: &Program, control: &ControlState, front: &[u16]) -> Vec<u16> {
    let entries = control.tables.values().flat_map(|t| t.entries().take(MOST));
    let direct = entries.filter_map(|(_, e)| if let Then::Call(call) = &e.then { Some(call) } else { None });
    let members = control.profiles.values().flat_map(|p| p.members.values().take(MOST));
    let defaults = control.tables.values().map(|t| &t.default);
    let ports = direct.chain(members).chain(defaults).flat_map(|call| {
        let params = &program.actions[call.action].params;
        let port = |(_, p): &(&u128, &ParamData)| p.width == PORT_BITS;
        call.args.iter().zip(params).filter(port).filter_map(|(v, _)| u16::try_from(*v).ok())
    });
    let known: BTreeSet<u16> = ports.filter(|p| front.contains(p)).collect();
    known.into_iter().take(24).collect()
}

/// Returns the recirculation ports to which actions send packets.
pub(super) fn loops(program: &Program, ports: &PortMap) -> Vec<u16> {
    let to = program.intrinsic(Gress::Ingress, Intrinsic::UcastEgressPort);
    let set = program.actions.values().flat_map(|a| &a.body).filter_map(|p| match &p.kind {
        PrimitiveKind::Set(field, Expr::Const(value, _)) if Some(*field) == to => u16::try_from(*value).ok(),
        _ => None,
    });
    let known: BTreeSet<u16> = set.collect();
    let recirculates = |port: &&Port| port.kind == PortKind::Recirculation;
    let loops = ports.iter().filter(recirculates).map(|p| p.dev_port.number());
    loops.filter(|port| known.contains(port)).collect()
}
