//! Packet generators: triggers, and the packets that they send into a port of their pipe.
//!
//! A generated packet enters on a generator port of its pipe. It takes that port's parser FIFO, a slot of
//! ingress, and time on the line that all recirculation ports of the pipe share. It counts as made inside,
//! and a run does not wait for it.
//!
//! Assumptions: a packet is in the port's ingress buffer as soon as it is on the line; a recirculated packet
//! that triggers an application is also processed as usual (model: tm §10 says neither).

use super::ingress::Arrival;
use super::{Event, PacketInfo, Switch};
use sluice_asic::chip::ChipSpec;
use sluice_asic::event::{EventClass, EventKey};
use sluice_asic::pktgen::{AppConfig, AppCounters, GeneratedPacket, PacketGenerator};
use sluice_asic::units::{Bytes, Time};
use sluice_control::DeviceError;
use sluice_exec::pass::PktgenRequest;
use std::sync::Arc;

/// Tag of packets that generators make.
pub const GENERATED: u64 = u64::MAX;

/// The generator of a pipe.
pub(super) struct Generator {
    pub(super) unit: PacketGenerator,
    /// Bytes of its packets; bytes that were never written are zero.
    buffer: Vec<u8>,
    /// Time of its next event.
    pub(super) scheduled: Option<Time>,
    /// Number of events scheduled.
    schedules: u64,
    /// Bytes of the packet being made.
    scratch: Vec<u8>,
    /// Requests of deparsers on their way, by the number in their event.
    requests: Vec<PktgenRequest>,
    free: Vec<u32>,
}

impl Generator {
    pub(super) fn new(chip: &ChipSpec, seed: u64, switch: u32, pipe: u32) -> Generator {
        Generator {
            unit: PacketGenerator::new(chip, seed, switch, pipe),
            buffer: Vec::new(),
            scheduled: None,
            schedules: 0,
            scratch: Vec::new(),
            requests: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Marks its line as busy until this time.
    pub(super) fn busy_until(&mut self, time: Time) {
        self.unit.busy_until(time);
    }

    /// Compares the first bytes of a packet that arrives on a recirculation port.
    pub(super) fn recirculated(&mut self, bytes: &[u8], now: Time) {
        self.unit.recirculated(bytes, now);
    }

    pub(super) fn set_port(&mut self, local: u8, up: bool, now: Time) {
        if up { self.unit.port_up(local.into()) } else { self.unit.port_down(local.into(), now) }
    }

    pub(super) fn pfc_changed(&mut self, now: Time) {
        self.unit.pfc_changed(now);
    }

    /// Stores a request until its time and returns its number.
    fn keep(&mut self, request: PktgenRequest) -> u32 {
        match self.free.pop() {
            Some(slot) => {
                self.requests[slot as usize] = request;
                slot
            }
            None => {
                self.requests.push(request);
                self.requests.len() as u32 - 1
            }
        }
    }

    /// Assembles the packet's bytes.
    fn fill(&mut self, made: &GeneratedPacket) {
        self.scratch.clear();
        self.scratch.extend_from_slice(made.header.bytes());
        let (start, length) = (made.offset as usize, made.length as usize);
        let written = self.buffer.get(start..).unwrap_or_default();
        self.scratch.extend_from_slice(&written[..length.min(written.len())]);
        self.scratch.resize(made.header.bytes().len() + length, 0);
    }
}

impl Switch<'_> {
    /// Schedules the next event of the generator.
    pub(super) fn schedule_generator(&mut self, pipe: usize) {
        let generator = &mut self.pipes[pipe].generator;
        let Some(next) = generator.unit.next_time().map(|t| t.max(self.now)) else { return };
        if generator.scheduled.is_some_and(|t| t <= next) {
            return;
        }
        generator.scheduled = Some(next);
        let (device, class) = (self.config.device, EventClass::Timer);
        // After the requests of the same time.
        let port = self.chip.ports.pipes + pipe as u32;
        let key = EventKey { time: next, device, class, port, seq: generator.schedules };
        generator.schedules += 1;
        // The push cannot fail: the event is not in the past, and timers come after all other classes.
        let pushed = self.events.push(key, Event::Generate { pipe: pipe as u8 });
        debug_assert!(pushed.is_ok(), "{pushed:?}");
    }

    /// Makes the packets that start at this time.
    pub(super) fn generate(&mut self, now: Time, pipe: usize) {
        if self.pipes[pipe].generator.scheduled == Some(now) {
            self.pipes[pipe].generator.scheduled = None;
        }
        self.watch_rounds(now, pipe);
        while let Some(made) = self.pipes[pipe].generator.unit.poll(now) {
            self.generated(pipe, &made);
        }
        self.schedule_generator(pipe);
    }

    fn generated(&mut self, pipe: usize, made: &GeneratedPacket) {
        // Configurations with other ports are refused.
        let Some(port) = self.port_index((pipe as u16) << 7 | made.port as u16) else { return };
        let at = &mut self.pipes[pipe];
        at.generator.fill(made);
        let length = Bytes(at.generator.scratch.len() as u64);
        let sent = at.recirculation.start(made.start, length);
        at.generator.busy_until(sent.free_at);
        let packet = self.packets.insert(&at.generator.scratch, 0);
        let p = &mut self.ports[usize::from(port)];
        let seq = p.rx_seq;
        p.rx_seq += 1;
        let parser = p.rx.parser_of(sent.first_bit, length);
        let info = PacketInfo {
            tag: GENERATED,
            port,
            origin: port,
            source: port.into(),
            seq,
            received: sent.first_bit,
            mac: sent.first_bit,
            made: true,
            generated: true,
            ..PacketInfo::default()
        };
        self.note(packet, info);
        self.totals.generated(usize::from(port), length.get() as u32);
        self.arrive(Arrival { parser, port, seq, packet });
    }

    /// Schedules a request that leaves a deparser at `exit`.
    pub(super) fn request_packets(&mut self, pipe: usize, request: PktgenRequest, exit: Time) {
        let generator = &mut self.pipes[pipe].generator;
        let slot = generator.keep(request);
        let (device, class) = (self.config.device, EventClass::Timer);
        let key = EventKey { time: exit, device, class, port: pipe as u32, seq: generator.schedules };
        generator.schedules += 1;
        let pushed = self.events.push(key, Event::PktgenRequest { pipe: pipe as u8, slot });
        debug_assert!(pushed.is_ok(), "{pushed:?}");
    }

    /// Handles a request that reaches the generator.
    pub(super) fn requested_packets(&mut self, now: Time, pipe: usize, slot: u32) {
        let generator = &mut self.pipes[pipe].generator;
        let request = generator.requests[slot as usize];
        generator.free.push(slot);
        generator.unit.requested(&request.key, request.address.into(), request.length.into(), now);
        self.schedule_generator(pipe);
    }

    pub(super) fn write_generator_buffer(
        &mut self,
        pipe: u8,
        offset: u32,
        bytes: &[u8],
    ) -> Result<(), DeviceError> {
        let limit = self.chip.tm.pktgen_buffer.get();
        let end = u64::from(offset) + bytes.len() as u64;
        if end > limit {
            return Err(DeviceError::Buffer { pipe, offset, length: bytes.len() as u64, end, limit });
        }
        let buffer = &mut self.generator_of(pipe)?.buffer;
        buffer.resize(buffer.len().max(end as usize), 0);
        buffer[offset as usize..end as usize].copy_from_slice(bytes);
        Ok(())
    }

    pub(super) fn set_generator_app(
        &mut self,
        pipe: u8,
        app: u8,
        config: &AppConfig,
    ) -> Result<(), DeviceError> {
        self.generator_of(pipe)?;
        let ports: Vec<u32> =
            self.chip.ports.pktgen_local_ports.iter().copied().filter(|p| self.has_port(pipe, *p)).collect();
        let turn = |port: u32| (port + 1) & 127;
        let last = config.source_port_wrap.unwrap_or(config.source_port);
        let mut port = config.source_port & 127;
        loop {
            if !ports.contains(&port) {
                let list: Vec<String> = ports.iter().map(ToString::to_string).collect();
                return Err(DeviceError::SourcePort { pipe, app, port, valid: list.join(", ") });
            }
            if port == last {
                break;
            }
            port = turn(port);
        }
        let chip = Arc::clone(&self.chip);
        let unit = &mut self.generator_of(pipe)?.unit;
        unit.configure(app.into(), *config, &chip).map_err(|errors| DeviceError::Pktgen { pipe, app, errors })
    }

    pub(super) fn enable_generator_app(
        &mut self,
        pipe: u8,
        app: u8,
        enabled: bool,
    ) -> Result<(), DeviceError> {
        let now = self.now;
        let unit = &mut self.generator_of(pipe)?.unit;
        let done = if enabled { unit.enable(app.into(), now) } else { unit.disable(app.into()) };
        done.map_err(|error| DeviceError::Pktgen { pipe, app, errors: vec![error] })?;
        self.schedule_generator(pipe.into());
        Ok(())
    }

    /// Returns the counters of an application of a pipe's packet generator.
    #[must_use]
    pub fn pktgen_counters(&self, pipe: u8, app: u8) -> Option<AppCounters> {
        self.pipes.get(usize::from(pipe))?.generator.unit.counters(app.into())
    }

    fn has_port(&self, pipe: u8, local: u32) -> bool {
        u16::try_from(local).is_ok_and(|local| self.port_index(u16::from(pipe) << 7 | local).is_some())
    }

    fn generator_of(&mut self, pipe: u8) -> Result<&mut Generator, DeviceError> {
        let last = (self.pipes.len() as u32).saturating_sub(1);
        let found = self.pipes.get_mut(usize::from(pipe)).map(|p| &mut p.generator);
        found.ok_or(DeviceError::Pipe { what: "packet generator", found: pipe, last })
    }
}
