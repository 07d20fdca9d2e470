//! Counters of the device.

use super::port::PortState;
use super::reason::{DeviceDrop, Reason};
use sluice_asic::tm::buffer::Rule;
use sluice_ir::Program;
use sluice_ir::entity::Entity;

/// Counters of one port.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortTotals {
    /// dev_port.
    pub dev_port: u16,
    /// Front-panel number, `cpu` or `recirc:N`.
    pub name: String,
    /// Frames received.
    pub rx_packets: u64,
    /// Bytes received, without FCS.
    pub rx_bytes: u64,
    /// Frames sent.
    pub tx_packets: u64,
    /// Bytes sent, without FCS, before padding.
    pub tx_bytes: u64,
    /// Frames that the MAC could not use: wrong FCS, failed authentication. No other counter includes them.
    pub rx_errors: u64,
}

/// Counters of the switch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Frames received from external wires.
    pub received: u64,
    /// Packets made inside: the sum of [`Totals::made`].
    pub created: u64,
    /// Packets made inside, by origin.
    pub made: Created,
    /// Passes over a recirculation port. They make no packets.
    pub recirculated: u64,
    /// Resubmits. They make no packets.
    pub resubmitted: u64,
    /// Updates that the ghost threads of all pipes saw.
    pub ghost_updates: u64,
    /// Frames sent on external ports.
    pub sent: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Packets absorbed by the program on purpose.
    pub absorbed: u64,
    /// Counters per port.
    pub ports: Vec<PortTotals>,
    /// Ends by reason: first the device's reasons, then the program's labels.
    device: Vec<u64>,
    labels: Vec<u64>,
    /// Ends by rule of the shared buffer.
    buffer: Vec<u64>,
    /// MAC control frames that MACs consumed; they count as absorbed.
    pub mac_control: u64,
}

/// Packets made inside, by origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Created {
    /// Copies for mirror sessions.
    pub mirror: u64,
    /// Copies of multicast packets after the first; if the packet is also sent to a unicast port, all copies.
    pub multicast: u64,
    /// Digests; each one counts as absorbed, by the control plane.
    pub digest: u64,
    /// Packets of packet generators.
    pub pktgen: u64,
    /// PFC frames that MACs sent.
    pub pfc: u64,
}

/// Packets inside, by place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Between the wire and the traffic manager.
    pub ingress: u64,
    /// In queues.
    pub queues: u64,
    /// Between the traffic manager and the wire.
    pub egress: u64,
    /// Packets in ingress that have not been run; included in `ingress`.
    pub waiting: u64,
}

impl Held {
    /// Returns the sum of all places.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.ingress + self.queues + self.egress
    }
}

impl Totals {
    pub(super) fn new(program: &Program, ports: &[PortState]) -> Totals {
        let port = |p: &PortState| PortTotals {
            dev_port: p.dev_port,
            name: p.name.clone(),
            ..PortTotals::default()
        };
        Totals {
            ports: ports.iter().map(port).collect(),
            device: vec![0; DeviceDrop::TABLE.len()],
            labels: vec![0; program.labels.len()],
            buffer: vec![0; Rule::TABLE.len()],
            ..Totals::default()
        }
    }

    pub(super) fn received(&mut self, port: usize, bytes: u32) {
        self.received += 1;
        self.ports[port].rx_packets += 1;
        self.ports[port].rx_bytes += u64::from(bytes);
    }

    pub(super) fn sent(&mut self, port: usize, bytes: u32) {
        self.sent += 1;
        self.ports[port].tx_packets += 1;
        self.ports[port].tx_bytes += u64::from(bytes);
    }

    pub(super) fn recirculated(&mut self, port: usize, bytes: u32) {
        self.recirculated += 1;
        let p = &mut self.ports[port];
        p.tx_packets += 1;
        p.tx_bytes += u64::from(bytes);
        p.rx_packets += 1;
        p.rx_bytes += u64::from(bytes);
    }

    pub(super) fn generated(&mut self, port: usize, bytes: u32) {
        self.count_made(|m| &mut m.pktgen);
        self.ports[port].rx_packets += 1;
        self.ports[port].rx_bytes += u64::from(bytes);
    }

    pub(super) fn absorbed_digest(&mut self) {
        self.absorbed += 1;
    }

    pub(super) fn absorbed_mac_control(&mut self) {
        self.absorbed += 1;
        self.mac_control += 1;
    }

    pub(super) fn count_made(&mut self, by: impl FnOnce(&mut Created) -> &mut u64) {
        *by(&mut self.made) += 1;
        self.created += 1;
    }

    pub(super) fn lost(&mut self, reason: Reason, absorbed: bool) {
        *(if absorbed { &mut self.absorbed } else { &mut self.dropped }) += 1;
        match reason {
            Reason::Label(l) => self.labels[l.index()] += 1,
            Reason::Device(d) => self.device[d as usize] += 1,
            Reason::Buffer(rule) => self.buffer[rule as usize] += 1,
        }
    }

    /// Returns true if all that was counted until `later` are generated packets that ended inside.
    pub(super) fn is_of_generators(&self, later: &Totals) -> bool {
        let of = |t: &Totals| {
            let Created { mirror, multicast, digest, pfc, .. } = t.made;
            let made = [mirror, multicast, digest, pfc];
            (made, [t.received, t.sent, t.recirculated, t.ghost_updates, t.mac_control])
        };
        of(self) == of(later)
    }

    /// Counts once more what was counted since `earlier`, this many times.
    pub(super) fn repeat(&mut self, earlier: &Totals, times: u64) {
        let again = |now: &mut u64, then: u64| *now += (*now - then) * times;
        let Totals { received, created, made, recirculated, resubmitted, ghost_updates, .. } = self;
        again(received, earlier.received);
        again(created, earlier.created);
        again(&mut made.mirror, earlier.made.mirror);
        again(&mut made.multicast, earlier.made.multicast);
        again(&mut made.digest, earlier.made.digest);
        again(&mut made.pktgen, earlier.made.pktgen);
        again(&mut made.pfc, earlier.made.pfc);
        again(recirculated, earlier.recirculated);
        again(resubmitted, earlier.resubmitted);
        again(ghost_updates, earlier.ghost_updates);
        let Totals { sent, dropped, absorbed, ports, device, labels, buffer, mac_control, .. } = self;
        again(sent, earlier.sent);
        again(dropped, earlier.dropped);
        again(absorbed, earlier.absorbed);
        again(mac_control, earlier.mac_control);
        for (now, then) in ports.iter_mut().zip(&earlier.ports) {
            again(&mut now.rx_packets, then.rx_packets);
            again(&mut now.rx_bytes, then.rx_bytes);
            again(&mut now.tx_packets, then.tx_packets);
            again(&mut now.tx_bytes, then.tx_bytes);
            again(&mut now.rx_errors, then.rx_errors);
        }
        for (now, then) in [(device, &earlier.device), (labels, &earlier.labels), (buffer, &earlier.buffer)] {
            now.iter_mut().zip(then).for_each(|(now, then)| again(now, *then));
        }
    }

    /// Returns every reason with its count, zeros included: the device's reasons, the program's labels, the
    /// shared buffer's rules.
    pub fn reasons(&self) -> impl Iterator<Item = (Reason, u64)> + '_ {
        let device = DeviceDrop::TABLE.iter().zip(&self.device).map(|((d, ..), n)| (Reason::Device(*d), *n));
        let labels = self.labels.iter().enumerate().map(|(i, n)| (Reason::Label(Entity::new(i)), *n));
        let buffer = Rule::TABLE.iter().zip(&self.buffer).map(|((rule, ..), n)| (Reason::Buffer(*rule), *n));
        device.chain(labels).chain(buffer)
    }
}
