//! Collects the packets that the device under test sends, drops and dequeues.

use sluice_asic::tm::pfc::PfcTimes;
use sluice_asic::units::Time;
use sluice_pcaps::wire::pause;
use sluice_switch::{Left, Lost, QueueEvent, Reason, Sink};
use std::collections::BTreeMap;

/// Offsets of the EtherType, and of the second byte of an IPv4 header.
const TYPE_AT: usize = 12;
const TOS_AT: usize = 15;
/// Length of an Ethernet header.
const BEHIND_ETHERNET: usize = 14;

/// A packet that was sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentPacket {
    pub(crate) port: u16,
    pub(crate) from: u16,
    pub(crate) queue: u8,
    pub(crate) tag: u64,
    pub(crate) ce: bool,
    pub(crate) bytes: u32,
    pub(crate) first_bit: Time,
}

/// Events since the last `clear`.
#[derive(Debug, Default)]
pub(crate) struct DeviceEvents {
    pub(crate) out: Vec<SentPacket>,
    /// Port, queue and time of departures from queues.
    pub(crate) dequeued: Vec<(u16, u8, Time)>,
    /// Dropped and consumed packets, by reason.
    pub(crate) lost: BTreeMap<Reason, u64>,
    /// Tag of the packet that was lost last.
    pub(crate) last_lost: Option<u64>,
    /// MAC control frames by port.
    pub(crate) control: Vec<(u16, Vec<u8>)>,
    /// PFC frames that have not yet been passed to senders: port, last bit, times.
    pub(crate) fresh: Vec<(u16, Time, PfcTimes)>,
    /// Packets that left queues, by dev_port; not reset by `clear`.
    pub(crate) departures: BTreeMap<u16, u64>,
    /// Last data frame sent on each port.
    pub(crate) last_data: BTreeMap<u16, Vec<u8>>,
}

impl DeviceEvents {
    /// Restarts the counts.
    pub(crate) fn clear(&mut self) {
        self.out.clear();
        self.dequeued.clear();
        self.lost.clear();
        self.control.clear();
        self.last_data.clear();
    }
}

fn is_ce(head: &[u8]) -> bool {
    head.get(TYPE_AT..TYPE_AT + 2) == Some(&[0x08, 0x00]) && head.get(TOS_AT).is_some_and(|tos| tos & 3 == 3)
}

impl Sink for DeviceEvents {
    fn sent(&mut self, packet: &Left, head: &[u8], tail: &[u8]) {
        let last = self.last_data.entry(packet.egress_port).or_default();
        last.clear();
        last.extend_from_slice(head);
        last.extend_from_slice(tail);
        self.out.push(SentPacket {
            port: packet.egress_port,
            from: packet.ingress_port,
            queue: packet.qid,
            tag: packet.tag,
            ce: is_ce(head),
            bytes: packet.bytes,
            first_bit: packet.first_bit,
        });
    }

    fn lost(&mut self, packet: &Lost, _: &[u8], _: &[u8]) {
        *self.lost.entry(packet.reason).or_default() += 1;
        self.last_lost = Some(packet.tag);
    }

    fn mac_sent(&mut self, packet: &Left, frame: &[u8]) {
        self.control.push((packet.egress_port, frame.to_vec()));
        let view = frame.get(BEHIND_ETHERNET..).and_then(|control| pause::View::new(control).ok());
        if let Some(pause::Packet::Pfc { enabled, quanta }) = view.map(|view| view.packet()) {
            self.fresh.push((packet.egress_port, packet.last_bit, PfcTimes { enabled, quanta }));
        }
    }

    fn dequeued(&mut self, event: &QueueEvent) {
        self.dequeued.push((event.port, event.qid, event.time));
        *self.departures.entry(event.port).or_default() += 1;
    }
}
