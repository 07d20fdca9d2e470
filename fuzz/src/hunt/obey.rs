//! Sends the packets of an input through senders that obey PFC.

use super::input::{Input, Shot};
use super::subject::Subject;
use sluice_asic::port::DevPort;
use sluice_asic::tm::buffer::QosMaps;
use sluice_asic::tm::pfc::PfcConfig;
use sluice_asic::units::{BitRate, Length, Time};
use sluice_fabric::senders::{Ears, Heard, Receiver, Senders, Sent, Waiting};
use sluice_switch::{RxFrame, Sink, Switch, SwitchError};

/// Length of the cables; `sluice replay --obey-pfc` uses the same, and buffer profiles have headroom for it.
pub(crate) const CABLE: Length = Length::from_metres(5);

/// Senders of an input's ports.
pub(super) struct Queue {
    senders: Senders,
    ports: Vec<DevPort>,
}

impl Queue {
    /// Returns senders for the ports of an input, with the device's mapping of priorities; `None` if the input's senders do
    /// not obey PFC.
    pub(super) fn new(subject: &Subject<'_>, input: &Input, switch: &Switch<'_>) -> Option<Queue> {
        if !input.obeys {
            return None;
        }
        let mut numbers: Vec<u16> = input.shots.iter().map(|s| s.port).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let ports: Vec<DevPort> = numbers.into_iter().filter_map(DevPort::new).collect();
        let view = switch.flow(Time::ORIGIN);
        let (pfc, maps) =
            view.map_or((PfcConfig::default(), QosMaps::azure()), |v| (v.config.pfc, v.config.maps));
        let slower = &subject.config.port_speeds;
        let rate = |port: &DevPort| {
            let own = subject.ports.iter().find(|p| p.dev_port == *port).map(|p| p.speed);
            let set = slower.iter().rev().find(|(number, _)| *number == port.number()).map(|(_, s)| *s);
            ((0, *port), set.or(own).unwrap_or(BitRate::from_gbps(100)), pfc, maps)
        };
        let senders = Senders::new(ports.iter().map(rate), CABLE);
        Some(Queue { senders, ports })
    }

    /// Queues a packet at its sender and advances the switch to the packet's time.
    pub(super) fn send(
        &mut self,
        switch: &mut Switch<'_>,
        sink: &mut dyn Sink,
        (tag, due, shot): (u64, Time, &Shot),
    ) -> Result<(), SwitchError> {
        if let Some(at) = self.ports.iter().position(|p| p.number() == shot.port) {
            let (bytes, orig_len) = (shot.bytes.clone(), shot.bytes.len() as u32);
            self.senders.queue(at, Waiting { due, tag, bytes, orig_len });
        }
        self.senders.send_until(due, &mut Ports { switch, sink, ports: &self.ports })
    }

    /// Sends packets that still wait, up to `end`.
    pub(super) fn rest(
        &mut self,
        switch: &mut Switch<'_>,
        sink: &mut dyn Sink,
        end: Time,
    ) -> Result<(), SwitchError> {
        self.senders.send_rest(end, &mut Ports { switch, sink, ports: &self.ports })
    }
}

/// Switch at the far end of the senders' cables.
struct Ports<'a, 'e> {
    switch: &'a mut Switch<'e>,
    sink: &'a mut dyn Sink,
    ports: &'a [DevPort],
}

impl Receiver for Ports<'_, '_> {
    type Error = SwitchError;

    fn time(&self) -> Time {
        self.switch.time()
    }

    fn next_time(&self) -> Option<Time> {
        self.switch.next_time()
    }

    fn run_until(&mut self, until: Time, heard: &mut Vec<Heard>) -> Result<(), SwitchError> {
        self.switch.advance(until, &mut Ears { inner: self.sink, heard })
    }

    fn take(&mut self, Sent { sender, at, frame }: &Sent) -> Result<(), SwitchError> {
        let rx = RxFrame { bytes: &frame.bytes, orig_len: frame.orig_len, tag: frame.tag };
        self.switch.rx(self.ports[*sender], *at, rx).map(|_| ())
    }
}
