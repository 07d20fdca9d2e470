//! Functional mode: the same passes without time. An egress pass follows its ingress pass at once.
//!
//! If all packets of a program go once through ingress and egress, they run in batches. Otherwise they run
//! one by one: all passes of a packet and its copies come before the next packet.

use super::copies::MadeAt;
use super::ingress::PendingPass;
use super::observe::Sink;
use super::reason::{DeviceDrop, Reason};
use super::recirculation::FUNCTIONAL_PASSES;
use super::{Event, Switch, SwitchError};
use sluice_asic::gress::Gress;
use sluice_asic::units::{Cycles, Duration, Time};
use sluice_exec::packet::Packet;
use sluice_exec::pass::{MAX_BATCH, Pass, PassIn};
use std::collections::VecDeque;

/// Ingress batches that are processed together, so that egress passes, which are spread over pipes, also fill
/// batches.
const BATCHES: usize = 4;

/// Packets of functional mode.
#[derive(Debug, Default)]
pub(super) struct Functional {
    /// Remaining passes of a packet and its copies; egress passes have a port.
    pub(super) work: VecDeque<(Packet, Option<u16>)>,
    /// Packets that are processed together.
    window: Window,
}

/// Packets that go through both gresses together.
#[derive(Debug, Default)]
struct Window {
    /// Next step of each packet, in the order of arrival.
    packets: Vec<Onward>,
    /// Passes of each gress, by pipe, in packet order.
    passes: [Vec<Vec<Pass>>; 2],
    /// Per pipe: number of passes handled.
    cursors: Vec<usize>,
}

/// State of a packet of a window.
#[derive(Clone, Copy, Debug)]
enum Onward {
    /// Its next pass is in this pipe. `port` is its arrival port before ingress, its output port after
    /// ingress.
    Goes { pipe: u8, port: u16 },
    /// It ended.
    Lost(Packet, Reason),
}

impl Onward {
    const fn pipe(&self) -> Option<u8> {
        match self {
            Onward::Goes { pipe, .. } => Some(*pipe),
            Onward::Lost(..) => None,
        }
    }
}

impl Window {
    /// Empties the window and sets the number of pipes.
    fn begin(&mut self, pipes: usize) {
        self.packets.clear();
        self.cursors.resize(pipes, 0);
        for passes in &mut self.passes {
            passes.resize_with(pipes, Vec::new);
            passes.iter_mut().for_each(Vec::clear);
        }
    }

    fn add(&mut self, gress: Gress, pipe: u8, pass: Pass) {
        self.passes[gress.index()][usize::from(pipe)].push(pass);
    }
}

impl Switch<'_> {
    /// Runs all packets that have arrived through ingress and egress, without time.
    pub(super) fn advance_functional(&mut self, until: Time, sink: &mut dyn Sink) -> Result<(), SwitchError> {
        loop {
            let straight = self.is_straight();
            let op = self.events.next_time().filter(|t| *t <= until);
            let sweep = Some(self.sweeps.next).filter(|t| *t <= until && *t < Time::MAX && until < Time::MAX);
            let sweep = sweep.filter(|t| op.is_none_or(|op| *t <= op));
            let op = if sweep.is_some() { sweep } else { op };
            let before = op.unwrap_or(until);
            while self
                .arrivals
                .front()
                .is_some_and(|a| a.parser < before || op.is_none() && a.parser <= until)
            {
                if straight {
                    self.functional_batch(before, op.is_none(), sink);
                } else {
                    self.functional_packet(sink);
                }
            }
            self.now = self.now.max(before);
            if sweep.is_some() {
                self.sweep(until, sink);
                continue;
            }
            match op.and_then(|_| self.events.pop()) {
                Some((_, Event::Control(op))) => self.apply(*op)?,
                // Other events need no handling in functional mode.
                Some(_) => {}
                None => return Ok(()),
            }
        }
    }

    /// Runs all passes of the next packet and its copies, breadth first.
    fn functional_packet(&mut self, sink: &mut dyn Sink) {
        let Some(a) = self.arrivals.pop_front() else { return };
        if !self.ports[usize::from(a.port)].up {
            self.lose(a.packet, a.parser, Reason::Device(DeviceDrop::PortDown), sink);
            return;
        }
        self.functional.work.push_back((a.packet, None));
        let mut passes = 0;
        while let Some((packet, port)) = self.functional.work.pop_front() {
            let info = self.info_of(packet);
            passes += 1;
            if passes > FUNCTIONAL_PASSES {
                self.lose(packet, info.received, Reason::Device(DeviceDrop::TooManyRecirculations), sink);
                continue;
            }
            let (time, stamp) = (info.received, self.stamp(a.parser));
            if let Some(port) = port.filter(|_| info.bypass) {
                let pass = Pass::new(packet, PassIn::default());
                self.egress_done(&pass, port, Duration::ZERO, time, sink);
                continue;
            }
            let (gress, p) = match port {
                None => (Gress::Ingress, &self.ports[usize::from(info.port)]),
                Some(port) => (Gress::Egress, &self.ports[usize::from(port)]),
            };
            let (pipe, dev_port) = (usize::from(p.pipe), p.dev_port);
            let input = match gress {
                Gress::Ingress => {
                    PassIn { mac_tstamp: stamp, resubmitted: info.resubmitted, ..PassIn::default() }
                }
                Gress::Egress => PassIn {
                    enq_tstamp: stamp as u32,
                    qid: info.qid,
                    rid: info.rid,
                    rid_first: info.rid_first,
                    cos: info.cos,
                    ..PassIn::default()
                },
            };
            self.scratch.batch.clear();
            self.scratch
                .batch
                .push(Pass::new(packet, PassIn { port: dev_port, global_tstamp: stamp, ..input }));
            self.execute(pipe, gress);
            let pass = self.scratch.batch[0];
            if self.watched {
                sink.pass(&self.functional_event(pipe, gress, &pass));
            }
            self.made_by(0, (0, &pass), MadeAt { pipe, gress, time }, sink);
            match port {
                None => self.ingress_done(&pass, time, sink),
                Some(port) => self.egress_done(&pass, port, Duration::ZERO, time, sink),
            }
        }
    }

    /// Runs the next packets, in separate batches per pipe, and reports their fates in the order of arrival.
    /// If passes are watched, only one batch of one pipe is run, because passes are reported batch by batch.
    fn functional_batch(&mut self, until: Time, inclusive: bool, sink: &mut dyn Sink) {
        let limit = self.config.max_batch.clamp(1, MAX_BATCH);
        let most = if self.watched { limit } else { limit * BATCHES };
        let mut window = std::mem::take(&mut self.functional.window);
        window.begin(self.pipes.len());
        while let Some(a) = self.arrivals.front().copied() {
            let port = &self.ports[usize::from(a.port)];
            let (pipe, up, port) = (port.pipe, port.up, port.dev_port);
            let due = a.parser < until || inclusive && a.parser == until;
            let apart =
                self.watched && window.packets.first().is_some_and(|first| first.pipe() != Some(pipe));
            if !due || apart || window.packets.len() == most {
                break;
            }
            self.arrivals.pop_front();
            if !up {
                window.packets.push(Onward::Lost(a.packet, Reason::Device(DeviceDrop::PortDown)));
                continue;
            }
            let stamp = self.stamp(a.parser);
            let input = PassIn { port, mac_tstamp: stamp, global_tstamp: stamp, ..PassIn::default() };
            window.add(Gress::Ingress, pipe, Pass::new(a.packet, input));
            window.packets.push(Onward::Goes { pipe, port: a.port });
        }
        self.functional_gress(Gress::Ingress, &mut window, limit, sink);
        self.functional_gress(Gress::Egress, &mut window, limit, sink);
        self.functional.window = window;
    }

    /// Runs the passes of a gress, then handles every packet, in packet order.
    fn functional_gress(&mut self, gress: Gress, window: &mut Window, limit: usize, sink: &mut dyn Sink) {
        for (pipe, passes) in window.passes[gress.index()].iter_mut().enumerate() {
            passes.chunks_mut(limit).for_each(|batch| self.execute_on(pipe, gress, batch));
        }
        window.cursors.fill(0);
        for n in 0..window.packets.len() {
            let (pipe, port) = match window.packets[n] {
                Onward::Goes { pipe, port } => (pipe, port),
                Onward::Lost(packet, reason) if gress == Gress::Egress => {
                    let received = self.info[packet.index()].received;
                    self.lose(packet, received, reason, sink);
                    continue;
                }
                Onward::Lost(..) => continue,
            };
            let cursor = &mut window.cursors[usize::from(pipe)];
            let pass = &window.passes[gress.index()][usize::from(pipe)][*cursor];
            *cursor += 1;
            if self.watched {
                sink.pass(&self.functional_event(usize::from(pipe), gress, pass));
            }
            let received = self.info[pass.packet.index()].received;
            if gress == Gress::Egress {
                self.egress_done(pass, port, Duration::ZERO, received, sink);
                continue;
            }
            let pass = *pass;
            window.packets[n] = match self.way_on(&pass) {
                Ok(port) => {
                    let p = &self.ports[usize::from(port)];
                    let (pipe, dev_port) = (p.pipe, p.dev_port);
                    let stamp = self.stamp(received);
                    let qid = pass.output.qid;
                    let input = PassIn {
                        port: dev_port,
                        global_tstamp: stamp,
                        enq_tstamp: stamp as u32,
                        qid,
                        ..PassIn::default()
                    };
                    self.info[pass.packet.index()].qid = qid;
                    window.add(Gress::Egress, pipe, Pass::new(pass.packet, input));
                    Onward::Goes { pipe, port }
                }
                Err(reason) => Onward::Lost(pass.packet, reason),
            };
        }
    }

    fn functional_event(&self, pipe: usize, gress: Gress, pass: &Pass) -> super::PassEvent {
        let at = self.info_of(pass.packet).received;
        let pending = PendingPass {
            entered: at,
            cycle: Cycles(0),
            waited: Cycles(0),
            port: 0,
            booked: Duration::ZERO,
            bypass: false,
        };
        self.pass_event(pipe, gress, &pending, pass, at)
    }
}
