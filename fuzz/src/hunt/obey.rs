//! Packets of an input behind senders that obey PFC. What may not live here: the senders themselves, properties.

use super::input::{Input, Shot};
use super::subject::Subject;
use sluice_asic::port::DevPort;
use sluice_asic::tm::buffer::QosMaps;
use sluice_asic::tm::pfc::PfcConfig;
use sluice_asic::units::{BitRate, Duration, Length, Time};
use sluice_fabric::senders::{Ears, Heard, Senders, Sent, Waiting};
use sluice_pipeline::pass::Executor;
use sluice_pipeline::switch::{RxFrame, Sink, Switch, SwitchError};

/// Length of the cables: that which `sluice replay --obey-pfc` takes, and profiles have room for.
pub(crate) const CABLE: Length = Length::from_metres(5);

/// The senders of an input's ports.
pub(super) struct Queue {
    senders: Senders,
    ports: Vec<DevPort>,
    heard: Vec<Heard>,
    sent: Vec<Sent>,
}

impl Queue {
    /// Senders for the ports of an input, which take priorities as this switch does; `None` if they do not obey.
    pub(super) fn new<E: Executor>(
        subject: &Subject<'_>,
        input: &Input,
        switch: &Switch<E>,
    ) -> Option<Queue> {
        if !input.obeys {
            return None;
        }
        let mut numbers: Vec<u16> = input.shots.iter().map(|s| s.port).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let ports: Vec<DevPort> = numbers.into_iter().filter_map(DevPort::new).collect();
        let slower = &subject.config.port_speeds;
        let rate = |port: &DevPort| {
            let own = subject.ports.iter().find(|p| p.dev_port == *port).map(|p| p.speed);
            let set = slower.iter().rev().find(|(number, _)| *number == port.number()).map(|(_, s)| *s);
            (*port, set.or(own).unwrap_or(BitRate::from_gbps(100)))
        };
        let view = switch.flow(Time::ORIGIN);
        let (pfc, maps) =
            view.map_or((PfcConfig::default(), QosMaps::azure()), |v| (v.config.pfc, v.config.maps));
        let senders = Senders::new(ports.iter().map(rate), CABLE, &pfc, maps);
        Some(Queue { senders, ports, heard: Vec::new(), sent: Vec::new() })
    }

    /// A packet is due, and time passes until then.
    pub(super) fn send<E: Executor>(
        &mut self,
        switch: &mut Switch<E>,
        sink: &mut impl Sink,
        (tag, due, shot): (u64, Time, &Shot),
    ) -> Result<(), SwitchError> {
        if let Some(at) = self.ports.iter().position(|p| p.number() == shot.port) {
            let (bytes, orig_len) = (shot.bytes.clone(), shot.bytes.len() as u32);
            self.senders.queue(at, Waiting { due, tag, bytes, orig_len });
        }
        self.until(switch, sink, due)
    }

    /// Lets the switch run, and senders send what may go, up to `until`: one event after the other while packets wait,
    /// since what the switch sends may hold them back or let them go.
    fn until<E: Executor>(
        &mut self,
        switch: &mut Switch<E>,
        sink: &mut impl Sink,
        until: Time,
    ) -> Result<(), SwitchError> {
        let mut now = switch.time();
        loop {
            let next = self.senders.next_time(now).filter(|t| *t <= until);
            let target = next.unwrap_or(until).max(now);
            let event = switch.next_time().filter(|t| *t < target && self.senders.waiting() > 0);
            now = event.unwrap_or(target);
            switch.advance(now, &mut Ears { inner: sink, heard: &mut self.heard })?;
            self.senders.heard(&mut self.heard);
            self.senders.advance(now, &mut self.sent);
            for Sent { sender, at, frame } in self.sent.drain(..) {
                let rx = RxFrame { bytes: &frame.bytes, orig_len: frame.orig_len, tag: frame.tag };
                switch.rx(self.ports[sender], at, rx)?;
            }
            if next.is_none() && event.is_none() {
                return Ok(());
            }
        }
    }

    /// Sends what is still held back, up to `end`.
    pub(super) fn rest<E: Executor>(
        &mut self,
        switch: &mut Switch<E>,
        sink: &mut impl Sink,
        end: Time,
    ) -> Result<(), SwitchError> {
        while self.senders.waiting() > 0 {
            let now = switch.time();
            let Some(next) = self.senders.next_time(now).filter(|t| *t <= end) else { break };
            // A moment later than a pause that ends now: nothing stands still.
            self.until(switch, sink, next.max(now + Duration::from_ps(1)))?;
        }
        Ok(())
    }
}
