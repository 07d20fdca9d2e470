//! The capture of sent packets: pcapng with one interface per port that sent something, in order of time.
//!
//! Module `capture_writer` decides which thread writes it.

use crate::captures::{PcapngWriter, PortCounts, at_most_longest};
use crate::time_order::{TimeOrder, Waiting};
use crate::view::SwitchView;
use sluice_asic::units::Time;
use sluice_pcaps::capture::write::{Direction, InterfaceSpec, InterfaceStatistics, Packet, WriteError};
use sluice_pcaps::replay::Stamps;
use std::io::Write;

/// A capture of sent packets. It borrows nothing, so that a writer thread can own it.
pub(crate) struct SentCapture {
    writer: PcapngWriter,
    stamps: Stamps,
    /// True if packets come in the order in which they are written.
    in_order: bool,
    /// Number, name and bit rate of each dev_port.
    ports: Vec<(u16, String, u64)>,
    /// For each dev_port, its interface and the number of packets written; `None` if the port has sent nothing.
    interfaces: Vec<Option<(u32, u64)>>,
    waiting: TimeOrder,
    last: Time,
}

impl SentCapture {
    /// Starts a capture of the packets that a switch sends.
    pub(crate) fn new(
        view: &SwitchView<'_>,
        out: Box<dyn Write + Send>,
        stamps: Stamps,
    ) -> Result<SentCapture, WriteError> {
        let ports = view.setup.ports.iter().map(|p| p.dev_port.number());
        let ports = ports.map(|p| (p, view.port_name(p), view.speed_of(p).as_bps())).collect();
        // In functional mode, the switch reports packets in the order in which they are written.
        SentCapture::with_ports(ports, !view.is_timed(), out, stamps)
    }

    /// Starts a capture for ports with these numbers, names and bit rates.
    pub(crate) fn with_ports(
        ports: Vec<(u16, String, u64)>,
        in_order: bool,
        out: Box<dyn Write + Send>,
        stamps: Stamps,
    ) -> Result<SentCapture, WriteError> {
        let writer = PcapngWriter::new(out, &[])?;
        let (interfaces, waiting, last) = (Vec::new(), TimeOrder::default(), Time::ORIGIN);
        Ok(SentCapture { writer, stamps, in_order, ports, interfaces, waiting, last })
    }

    /// Takes a packet of a dev_port, whose bytes are the concatenated pieces. The packet is written when no earlier
    /// packet can follow.
    #[inline]
    pub(crate) fn add(&mut self, port: u16, packet: Waiting, pieces: [&[u8]; 3]) -> Result<(), WriteError> {
        match pieces {
            [head, tail, []] if self.in_order => self.write(port, &packet, head, tail),
            pieces => {
                self.waiting.push(port, packet, pieces);
                if self.in_order { self.flush(Time::MAX) } else { Ok(()) }
            }
        }
    }

    /// Writes every packet up to `until`. No earlier packet may follow.
    pub(crate) fn flush(&mut self, until: Time) -> Result<(), WriteError> {
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
        let (head, tail) = at_most_longest(head, tail);
        let comments: &[&str] = &[w.comment.as_deref().unwrap_or_default()];
        self.writer.write(&Packet {
            interface,
            time: self.stamps.at(w.time.as_ps()),
            head,
            tail,
            orig_len: w.orig_len,
            direction: Some(Direction::Outbound),
            comments: &comments[..usize::from(w.comment.is_some())],
        })
    }

    /// Declares the interface of a port that sends for the first time.
    #[cold]
    fn declare(&mut self, port: u16) -> Result<u32, WriteError> {
        let known = self.ports.iter().find(|(p, ..)| *p == port);
        let (name, speed) =
            known.map_or((format!("dev:{port}"), 0), |(_, name, speed)| (name.clone(), *speed));
        let description = format!("dev_port {port}");
        let spec = InterfaceSpec { name: &name, description: &description, speed };
        let number = self.writer.add_interface(&spec)?;
        let index = usize::from(port);
        if self.interfaces.len() <= index {
            self.interfaces.resize(index + 1, None);
        }
        self.interfaces[index] = Some((number, 1));
        Ok(number)
    }

    /// Completes the capture with the statistics of its interfaces.
    pub(crate) fn finish(mut self, counts: &[PortCounts]) -> Result<(), WriteError> {
        let time = self.stamps.at(self.last.as_ps());
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
        self.writer.finish(&statistics).map(drop)
    }
}
