//! Packets of the packet generator for programs that share the leaf: one packet per element of an array and per period.
//!
//! The generator's header of six bytes takes the place of the Ethernet destination address. Its last two bytes are the
//! packet's number in its batch. A source address and an experimental EtherType follow. So the leaf's parser parses
//! generated packets as Ethernet, without a test of the ingress port.

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
/// Bytes of a generated packet after the generator's header, including zeros that pad the packet to 60 bytes.
const LENGTH: u32 = 54;
/// Bytes that a packet of 60 bytes takes on the line, including FCS, preamble and inter-frame gap.
const ON_THE_LINE: Bytes = Bytes(60 + 4 + 20);

/// Declares the table of the generators' ports, which tells generated packets from external frames with the EtherType.
#[stage_program]
pub(crate) fn generator(ig: &GressBuilder<'_>, leaf: Leaf) -> TableRef {
    let m = leaf.m;
    let made = ig.action(|a| m.made = 1);
    let generator = ig.named("generator", "Ingress ports of the packet generators");
    generator.table([exact(leaf.h.port.ingress_port)]).actions([made]).size(16).build()
}

/// Sets up the generator of every pipe with front-panel ports: one packet per element and period, evenly spread.
///
/// # Errors
/// If the generator cannot visit all elements within the period.
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

/// Sets up the generators of these pipes only: one packet per element and period, evenly spread.
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
