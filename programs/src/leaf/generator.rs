//! Packets that the packet generator makes for a program of a leaf: one for each element of an array, again and again.
//!
//! The generator's header of six bytes stands where Ethernet's destination address would, its last two bytes being
//! the packet's number in its batch; the bytes behind it are a source address and an experimental EtherType. So the
//! leaf's parser takes generated packets for Ethernet and needs to know no port.

use super::Leaf;
use sluice_asic::pktgen::{AppConfig, Trigger};
use sluice_asic::port::{Pipe, PortMap};
use sluice_asic::units::{Bytes, Duration};
use sluice_build::*;
use sluice_catalogue::setup::{Ops, SetupError};
use sluice_control::{ControlOp, DeviceOp};
use sluice_ir::KeyValue;

/// EtherType of generated packets: an experimental one (IEEE 802, local).
pub(crate) const MADE: u64 = 0x88b5;
/// Application of the generator.
const APP: u8 = 0;
/// Bytes of a generated packet behind the generator's header, zeros up to 60 included.
const LENGTH: u32 = 54;
/// What a packet of 60 bytes takes on the line: FCS, preamble and gap included.
const ON_THE_LINE: Bytes = Bytes(60 + 4 + 20);

/// The table that knows the generators' ports: frames from outside with their EtherType come by others.
#[stage_program]
pub(crate) fn generator(ig: &GressBuilder<'_>, leaf: Leaf) -> TableRef {
    let m = leaf.m;
    let made = ig.action(|a| m.made = 1);
    let generator = ig.named("generator", "Ports of the packet generators");
    generator.table([exact(leaf.h.port.ingress_port)]).actions([made]).size(16).build()
}

/// Sets up the generator of every pipe with front-panel ports: one packet per element and period, evenly spread.
///
/// # Errors
/// When the generator cannot visit all elements within the period.
pub(crate) fn visit(
    ops: &mut Ops<'_>,
    ports: &PortMap,
    elements: u32,
    period: Duration,
) -> Result<(), SetupError> {
    let mut pipes: Vec<u8> = ports.front_ports().iter().map(|p| p.dev_port.pipe().0).collect();
    pipes.sort_unstable();
    pipes.dedup();
    visit_in(ops, ports, &pipes, elements, period)
}

/// The same for the generators of these pipes alone.
pub(crate) fn visit_in(
    ops: &mut Ops<'_>,
    ports: &PortMap,
    pipes: &[u8],
    elements: u32,
    period: Duration,
) -> Result<(), SetupError> {
    let packet = [&[2, 0, 0, 0, 0, 1][..], &(MADE as u16).to_be_bytes(), &[0; 46]].concat();
    for &pipe in pipes {
        let port = ports.generator(Pipe(pipe)).next().ok_or(SetupError::NoGeneratorPort { pipe })?;
        let line = port.speed.time_for(ON_THE_LINE);
        let share = Duration::from_ps(period.as_ps() / u64::from(elements.max(1)));
        if share < line {
            let most = period.as_ps() / line.as_ps().max(1);
            return Err(SetupError::GeneratorTooSlow { elements, period, line, rate: port.speed, most });
        }
        // Gaps are counted from the end of a packet on one chip and from its start on the other: less than the share in
        // both cases, so that a batch ends before the next one begins.
        let gap = Duration::from_nanos(share.as_nanos().saturating_sub(line.as_nanos() + 1));
        let local = u32::from(port.dev_port.local());
        let trigger = Trigger::Periodic { period };
        let config =
            AppConfig { packets: elements, packet_gap: gap, ..AppConfig::new(trigger, LENGTH, local) };
        ops.entry("generator", [KeyValue::Exact(port.dev_port.number().into())], "made", [])?;
        ops.push(ControlOp::Device(DeviceOp::WritePktgenBuffer { pipe, offset: 0, bytes: packet.clone() }));
        ops.push(ControlOp::Device(DeviceOp::SetPktgenApp { pipe, app: APP, config: Box::new(config) }));
        ops.push(ControlOp::Device(DeviceOp::EnablePktgenApp { pipe, app: APP, enabled: true }));
    }
    Ok(())
}
