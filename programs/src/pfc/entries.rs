//! Default entries of `pfc`, on any port map.
//!
//! | destination | port |
//! |---|---|
//! | 10.9.9.9/32 | the host on port 20, which runs at 25G: bursts to it pause their sender |
//! | 10.0.0.0/8 | port 0: a sample's sender sends to itself, and pauses itself |
//! | anything else | port 16 |
//!
//! Queues 3 and 4 of front-panel ports are lossless; packets with DSCP 3 and 4 take them. Mirror sessions from 1 on
//! send frames to front-panel ports; sessions from 200 on make the timers, one session per pipe.

use super::Params;
use super::headers::TAG_BYTES;
use super::ingress::LAP_PORT;
use super::obey::{SPEEDS, TIMER_SESSIONS};
use crate::forwarding::plain;
use sluice_asic::port::{DevPort, Pipe, Port, PortMap};
use sluice_asic::tm::{AfcMode, AfcWord, MirrorSession};
use sluice_asic::units::BitRate;
use sluice_catalogue::setup::{Ops, Setup, SetupError, front_port};
use sluice_control::{ControlOp, DeviceOp};
use sluice_ir::{KeyValue, Program};
use std::net::Ipv4Addr;

const HOST: u16 = 20;
const OTHER: u16 = 16;
const HOST_GBPS: u64 = 25;
const ROUTES: [(Ipv4Addr, u16, u16); 2] =
    [(Ipv4Addr::new(10, 9, 9, 9), 32, HOST), (Ipv4Addr::new(10, 0, 0, 0), 8, 0)];
/// Priorities without loss, each with the queue of its number.
const LOSSLESS: [u8; 2] = [3, 4];
/// Queue of PFC frames, with priority over all other queues.
const FRAME_QUEUE: u8 = 7;
/// MAC address of a port: this plus the dev_port, as for frames that the MAC itself sends.
const MACS: u128 = 0x02_00_00_00_00_00;

pub(super) fn default_setup(program: &Program, ports: &PortMap, p: &Params) -> Result<Setup, SetupError> {
    let mut ops = Ops::new(program);
    let mut routes = Vec::new();
    for (network, len, front) in ROUTES {
        routes.push((network, len, front_port(ports, front)?.1));
    }
    let (host, _) = front_port(ports, HOST)?;
    plain::entries(&mut ops, &routes, front_port(ports, OTHER)?.1)?;
    let slow = BitRate::from_gbps(HOST_GBPS);
    for (port, session) in ports.front_ports().iter().zip(1..TIMER_SESSIONS as u16) {
        asking(&mut ops, p, ports, port, session)?;
        if p.obey {
            let speed = if port.front() == Some(host) { slow } else { port.speed };
            obeying(&mut ops, port, speed)?;
        }
    }
    for pipe in (0..4).filter(|_| p.obey) {
        let Some(lap) = DevPort::from_parts(Pipe(pipe), LAP_PORT as u8) else { continue };
        if ports.dev(lap).is_some() {
            tags(&mut ops, TIMER_SESSIONS as u16 + u16::from(pipe), lap, 0);
        }
    }
    Ok(Setup { ops: ops.into_vec(), port_speeds: vec![(host, slow)] })
}

/// Adds a mirror session whose copies consist of the tag only.
fn tags(ops: &mut Ops<'_>, id: u16, port: DevPort, qid: u8) {
    let session = MirrorSession { qid, max_length: TAG_BYTES, ..MirrorSession::to_port(port) };
    ops.push(ControlOp::SetMirrorSession { id, session: Some(session) });
}

/// Adds the entries with which a port requests pauses of its sender.
fn asking(
    ops: &mut Ops<'_>,
    p: &Params,
    ports: &PortMap,
    port: &Port,
    session: u16,
) -> Result<(), SetupError> {
    let dev_port = u128::from(port.dev_port.number());
    let cells = |bytes: u32| u128::from(u64::from(bytes) / ports.cell().get().max(1));
    tags(ops, session, port.dev_port, FRAME_QUEUE);
    ops.entry("upstream", [KeyValue::Exact(dev_port)], "to_session", [session.into()])?;
    ops.entry("own_mac", [KeyValue::Exact(dev_port)], "set_source", [MACS | dev_port])?;
    for class in LOSSLESS {
        let key = [KeyValue::Exact(dev_port), KeyValue::Exact(class.into())];
        let bit = 1 << class;
        ops.entry(
            "limits",
            key,
            "set_limits",
            [class.into(), bit, slot(port, class), cells(p.xoff), cells(p.xon)],
        )?;
    }
    Ok(())
}

/// Adds the entries with which a port obeys the pauses of the other end.
fn obeying(ops: &mut Ops<'_>, port: &Port, speed: BitRate) -> Result<(), SetupError> {
    let dev_port = port.dev_port.number();
    ops.push(ControlOp::Device(DeviceOp::SetPfc { port: dev_port, program: true }));
    let known = SPEEDS.iter().find(|(gbps, _)| BitRate::from_gbps(u64::from(*gbps)) == speed);
    let Some((gbps, _)) = known else { return Ok(()) };
    for class in LOSSLESS {
        let word = AfcWord {
            qfc: true,
            pipe: port.pipe().0,
            mac: port.mac.0,
            queue: (port.queue_base + u16::from(class)) as u8,
            credit: 0,
        };
        let key = [KeyValue::Exact(dev_port.into()), KeyValue::Exact(class.into())];
        let session = u128::from(TIMER_SESSIONS) + u128::from(port.pipe().0);
        let args = [slot(port, class), word.encode().into(), session];
        ops.entry("queue", key, &format!("at_{gbps}g"), args)?;
        let mode = Some(AfcMode::Xoff);
        ops.push(ControlOp::Device(DeviceOp::SetFlowControl { port: dev_port, queue: class, mode }));
    }
    Ok(())
}

/// Returns the register index of a queue: local port and priority.
fn slot(port: &Port, class: u8) -> u128 {
    u128::from(port.dev_port.local()) << 3 | u128::from(class)
}
