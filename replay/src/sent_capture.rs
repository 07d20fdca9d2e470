//! The capture of what left: one interface per port that sent something, in order of time. What may not live here: which
//! thread writes it, and captures of anything else.

use super::Plan;
use super::order::{Order, Waiting};
use super::output::{Capture, PortCounts, held, stamp};
use crate::fail::Failure;
use crate::files::Pending;
use sluice_asic::units::Time;
use sluice_pcaps::capture::CaptureTime;
use sluice_pcaps::capture::write::{Direction, InterfaceSpec, InterfaceStatistics, Packet, WriteError};
use sluice_pipeline::switch::Mode;

/// The capture of what left. It knows no plan: another thread may have it.
pub(super) struct Sent {
    capture: Capture,
    origin: CaptureTime,
    /// Packets come in the order in which they are written.
    in_order: bool,
    /// What each dev_port is called, and its bit rate.
    ports: Vec<(u16, String, u64)>,
    /// Interface of each dev_port that sent something, and how many packets.
    interfaces: Vec<Option<(u32, u64)>>,
    waiting: Order,
    last: Time,
}

impl Sent {
    pub(super) fn new(plan: &Plan<'_>, capture: Capture, origin: CaptureTime) -> Sent {
        let ports = plan.ports.iter().map(|p| p.dev_port.number());
        let ports = ports.map(|p| (p, plan.port_name(p), plan.speed_of(p).as_bps())).collect();
        // Without time packets leave in the order in which they are told.
        Sent::of(ports, plan.config.mode == Mode::Functional, capture, origin)
    }

    /// On ports with these names and rates.
    pub(super) fn of(
        ports: Vec<(u16, String, u64)>,
        in_order: bool,
        capture: Capture,
        origin: CaptureTime,
    ) -> Sent {
        let (interfaces, waiting, last) = (Vec::new(), Order::default(), Time::ORIGIN);
        Sent { capture, origin, in_order, ports, interfaces, waiting, last }
    }

    /// Takes a packet of a dev_port, whose bytes are the pieces; it is written when no earlier one can come.
    #[inline]
    pub(super) fn add(&mut self, port: u16, packet: Waiting, pieces: [&[u8]; 3]) -> Result<(), WriteError> {
        match pieces {
            [head, tail, []] if self.in_order => self.write(port, &packet, head, tail),
            pieces => {
                self.waiting.push(port, packet, pieces);
                if self.in_order { self.flush(Time::MAX) } else { Ok(()) }
            }
        }
    }

    /// Writes every packet that left until then: nothing earlier can come any more.
    pub(super) fn flush(&mut self, until: Time) -> Result<(), WriteError> {
        let mut waiting = std::mem::take(&mut self.waiting);
        let mut result = Ok(());
        while result.is_ok()
            && let Some(written) = waiting.pop(until, |port, w, head, tail| self.write(port, &w, head, tail))
        {
            result = written;
        }
        self.waiting = waiting;
        result
    }

    #[inline]
    fn write(&mut self, port: u16, w: &Waiting, head: &[u8], tail: &[u8]) -> Result<(), WriteError> {
        let known = self.interfaces.get_mut(usize::from(port)).and_then(Option::as_mut);
        let interface = match known {
            Some((number, packets)) => {
                *packets += 1;
                *number
            }
            None => self.declare(port)?,
        };
        self.last = self.last.max(w.time);
        let (head, tail) = held(head, tail);
        let comments: &[&str] = &[w.comment.as_deref().unwrap_or_default()];
        self.capture.writer.write(&Packet {
            interface,
            time: stamp(self.origin, w.time),
            head,
            tail,
            orig_len: w.orig_len,
            direction: Some(Direction::Outbound),
            comments: &comments[..usize::from(w.comment.is_some())],
        })
    }

    /// The interface of a port that sends for the first time.
    #[cold]
    fn declare(&mut self, port: u16) -> Result<u32, WriteError> {
        let known = self.ports.iter().find(|(p, ..)| *p == port);
        let (name, speed) =
            known.map_or((format!("dev:{port}"), 0), |(_, name, speed)| (name.clone(), *speed));
        let description = format!("dev_port {port}");
        let spec = InterfaceSpec { name: &name, description: &description, speed };
        let number = self.capture.writer.add_interface(&spec)?;
        let index = usize::from(port);
        if self.interfaces.len() <= index {
            self.interfaces.resize(index + 1, None);
        }
        self.interfaces[index] = Some((number, 1));
        Ok(number)
    }

    /// Completes the capture with the interfaces' statistics.
    pub(super) fn finish(self, counts: &[PortCounts]) -> Result<Pending, Failure> {
        let time = stamp(self.origin, self.last);
        let used = self.interfaces.iter().zip(0u16..);
        let mut statistics: Vec<InterfaceStatistics<'_>> = used
            .filter_map(|(interface, port)| {
                let (interface, sent) = (*interface)?;
                let counted = counts.iter().find(|c| c.dev_port == port);
                Some(InterfaceStatistics {
                    interface,
                    time,
                    received: counted.map(|c| c.received),
                    dropped: counted.map(|c| c.dropped),
                    delivered: Some(sent),
                    comments: &[],
                })
            })
            .collect();
        statistics.sort_by_key(|s| s.interface);
        self.capture.writer.finish(&statistics).map_err(Failure::input)?;
        Ok(self.capture.file)
    }
}
