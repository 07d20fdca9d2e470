//! Gaps by ages: packets make an entry young, packets of the generator make it older, and the second one in a row
//! ends the flowlet (facts: letflow §2.2). What may not live here: stamps.

use super::Spec;
use super::stamp::members;
use crate::leaf::{Leaf, slot};
use crate::setup::{Ops, SetupError};
use sluice_asic::pktgen::{AppConfig, Trigger};
use sluice_asic::port::{Pipe, PortMap};
use sluice_asic::units::{Bytes, Duration};
use sluice_pipeline::build::*;
use sluice_pipeline::control::{ControlOp, DeviceOp};
use sluice_pipeline::ir::KeyValue;

/// EtherType of packets that the generator makes: an experimental one (IEEE 802, local).
const SWEEP: u64 = 0x88b5;
/// Application of the generator.
const APP: u8 = 0;
/// Bytes of a generated packet behind the generator's header of six: source address and EtherType of an Ethernet
/// header whose destination address the generator's header is, and zeros up to 60.
const LENGTH: u32 = 54;
/// What a packet of 60 bytes takes on the line: FCS, preamble and gap included.
const ON_THE_LINE: Bytes = Bytes(60 + 4 + 20);

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
    let (m, ethernet, port) = (leaf.m, leaf.h.ethernet, leaf.h.port);
    let t = ig.metadata::<Age>();
    let swept = ig.consume_label("The packet generator aged an entry of the flowlet table");
    let made = ig.action(|a| m.made = 1);
    /// Ports of the packet generators
    let generator = ig.table([exact(port.ingress_port)]).actions([made]).size(16).build();
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
        } else if ethernet.ether_type == SWEEP {
            // Frames from outside with this EtherType come by other ports and change nothing.
            if generator.apply().hit() {
                // The last two bytes of the generator's header: the number of the packet in its batch.
                sweep.execute(ethernet.dst.slice::<15, 0, 16>());
                drop(swept);
            }
        }
    });
}

/// Sets up the generator of every pipe with front-panel ports: one packet per entry and timeout, evenly spread.
///
/// # Errors
/// When the generator cannot reach all entries within the timeout.
pub(crate) fn sweeper(ops: &mut Ops<'_>, ports: &PortMap, spec: Spec) -> Result<(), SetupError> {
    let mut pipes: Vec<u8> = ports.front_ports().iter().map(|p| p.dev_port.pipe().0).collect();
    pipes.sort_unstable();
    pipes.dedup();
    let packet = [&[2, 0, 0, 0, 0, 1][..], &(SWEEP as u16).to_be_bytes(), &[0; 46]].concat();
    for pipe in pipes {
        let port = ports.generator(Pipe(pipe)).next().ok_or(SetupError::NoGeneratorPort { pipe })?;
        let line = port.speed.time_for(ON_THE_LINE);
        let share = Duration::from_ps(spec.timeout.as_ps() / u64::from(spec.entries));
        if share < line {
            let most = spec.timeout.as_ps() / line.as_ps().max(1);
            return Err(SetupError::SweepTooSlow {
                entries: spec.entries,
                timeout: spec.timeout,
                line,
                rate: port.speed,
                most,
            });
        }
        // Gaps are counted from the end of a packet on one chip and from its start on the other: less than the share in
        // both cases, so that a batch ends before the next one begins.
        let gap = Duration::from_nanos(share.as_nanos().saturating_sub(line.as_nanos() + 1));
        let local = u32::from(port.dev_port.local());
        let trigger = Trigger::Periodic { period: spec.timeout };
        let config =
            AppConfig { packets: spec.entries, packet_gap: gap, ..AppConfig::new(trigger, LENGTH, local) };
        ops.entry("generator", [KeyValue::Exact(port.dev_port.number().into())], "made", [])?;
        ops.push(ControlOp::Device(DeviceOp::WritePktgenBuffer { pipe, offset: 0, bytes: packet.clone() }));
        ops.push(ControlOp::Device(DeviceOp::SetPktgenApp { pipe, app: APP, config: Box::new(config) }));
        ops.push(ControlOp::Device(DeviceOp::EnablePktgenApp { pipe, app: APP, enabled: true }));
    }
    Ok(())
}
