//! The interpreter's device judges the packets that a switch without time sends.
//!
//! Only programs without time, queues, random numbers and state take part: on a switch, every pipe has a state of its own.

use super::around::Around;
use super::{entries, programs};
use sluice_asic::gress::Gress;
use sluice_asic::port::{DevPort, PortKind};
use sluice_asic::units::Duration;
use sluice_exec::engine::Engine;
use sluice_reference::Device;
use sluice_switch::{Left, Lost, Mode, RxFrame, Sink, Switch, SwitchConfig};

/// Sent packets, by number of the packet that came in, and the number of lost packets.
#[derive(Default)]
struct Log {
    sent: Vec<(u64, u16, Vec<u8>)>,
    lost: usize,
}

impl Sink for Log {
    fn watches(&self) -> bool {
        false
    }

    fn sent(&mut self, packet: &Left, head: &[u8], tail: &[u8]) {
        self.sent.push((packet.tag, packet.egress_port, [head, tail].concat()));
    }

    fn lost(&mut self, _: &Lost, _: &[u8], _: &[u8]) {
        self.lost += 1;
    }
}

/// Sends the packets of one input through both devices; returns the number of sent packets.
fn same(name: &str) -> usize {
    let catalogue = sluice_programs::catalogue();
    let shipped = programs::Shipped::of(catalogue.get(name).unwrap().as_ref());
    let packets = shipped.packets(0);
    let mut reference = shipped.tree.reference();
    entries::convert(&shipped.lowered, &shipped.control, &mut reference).unwrap();
    let engine = Engine::new(&shipped.lowered, &shipped.placement, &shipped.control).unwrap();
    let mut around = Around::new(
        &shipped.lowered,
        &shipped.control,
        sluice_exec::pass::Executor::state(&engine),
        Gress::Ingress,
        0,
        0,
    );
    let config = SwitchConfig { mode: Mode::Functional, ..SwitchConfig::default() };
    let (ports, control) = (&shipped.ports, shipped.control.clone());
    let mut switch =
        Switch::new(&shipped.lowered, &shipped.placement, ports, control, Box::new(engine), config).unwrap();
    let recirculation = ports.iter().filter(|port| port.kind == PortKind::Recirculation);
    let device = Device {
        recirculation: recirculation.map(|port| port.dev_port.number()).collect(),
        ..Device::default()
    };
    let mut log = Log::default();
    let (mut expected, mut lost) = (Vec::new(), 0);
    for (number, (port, bytes)) in packets.iter().enumerate() {
        let frame = RxFrame { bytes, orig_len: bytes.len() as u32, tag: number as u64 };
        switch.rx(DevPort::new(*port).unwrap(), switch.time(), frame).unwrap();
        let until = switch.time() + Duration::from_micros(1);
        switch.advance(until, &mut log).unwrap();
        let fate = device.send(&mut reference, *port, bytes, &mut around);
        let fate = fate.unwrap_or_else(|missing| panic!("{name}: {}", shipped.tree.show(&missing)));
        expected.extend(fate.sent.into_iter().map(|sent| (number as u64, sent.port, sent.bytes)));
        lost += fate.lost.len();
    }
    for (found, expected) in log.sent.iter().zip(&expected) {
        assert_eq!(found, expected, "{name}, packet {}", expected.0);
    }
    assert_eq!((log.sent.len(), log.lost), (expected.len(), lost), "{name}");
    expected.len()
}

#[test]
fn switches_without_time_send_what_the_device_sends() {
    for name in ["ecmp", "wcmp", "l3-ecmp"] {
        let sent = same(name);
        println!("{name}: {sent} packets are sent");
        assert!(sent > 0, "{name}");
    }
}
