//! The functional mode: the same passes without time. An ingress pass is followed by the egress pass at once.
//!
//! A program whose packets all go straight through runs in batches. Any other runs packet by packet: all
//! passes of a packet and of what is made of it come before the next packet.

use super::copies::Place;
use super::ingress::{Arrival, PendingPass};
use super::laps::FUNCTIONAL_PASSES;
use super::observe::Sink;
use super::reason::{DeviceDrop, Reason};
use super::{Event, Switch, SwitchError};
use crate::pass::{Executor, MAX_BATCH, Pass, PassIn};
use sluice_asic::gress::Gress;
use sluice_asic::units::{Cycles, Duration, Time};

impl<E: Executor> Switch<E> {
    /// Runs everything that has arrived, ingress and egress, without time.
    pub(super) fn advance_functional(
        &mut self,
        until: Time,
        sink: &mut impl Sink,
    ) -> Result<(), SwitchError> {
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
                self.sweep(sink);
                continue;
            }
            match op.and_then(|_| self.events.pop()) {
                Some((_, Event::Control(op))) => self.apply(*op)?,
                // Nothing else has a time of its own here.
                Some(_) => {}
                None => return Ok(()),
            }
        }
    }

    /// All passes of the next packet and of what is made of it, breadth first.
    fn functional_packet(&mut self, sink: &mut impl Sink) {
        let Some(a) = self.arrivals.pop_front() else { return };
        if !self.ports[usize::from(a.port)].up {
            self.lose(a.packet, a.parser, Reason::Device(DeviceDrop::PortDown), sink);
            return;
        }
        self.work.push_back((a.packet, None));
        let mut passes = 0;
        while let Some((packet, port)) = self.work.pop_front() {
            let info = self.info_of(packet);
            passes += 1;
            if passes > FUNCTIONAL_PASSES {
                self.lose(packet, info.received, Reason::Device(DeviceDrop::TooManyLaps), sink);
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
            self.batch.clear();
            self.batch.push(Pass::new(packet, PassIn { port: dev_port, global_tstamp: stamp, ..input }));
            self.execute(pipe, gress);
            let pass = self.batch[0];
            if sink.watches() {
                sink.pass(&self.functional_event(pipe, gress, &pass));
            }
            self.made_by(0, 0, Place { pipe, gress, time }, sink);
            match port {
                None => self.ingress_done(&pass, time, sink),
                Some(port) => self.egress_done(&pass, port, Duration::ZERO, time, sink),
            }
        }
    }

    /// One batch of packets that came in by one pipe.
    fn functional_batch(&mut self, until: Time, inclusive: bool, sink: &mut impl Sink) {
        let limit = self.config.max_batch.clamp(1, MAX_BATCH);
        let pipe_of = |s: &Self, a: &Arrival| usize::from(s.ports[usize::from(a.port)].pipe);
        let Some(pipe) = self.arrivals.front().map(|a| pipe_of(self, a)) else { return };
        self.batch.clear();
        while let Some(a) = self.arrivals.front().copied() {
            let due = a.parser < until || inclusive && a.parser == until;
            if !due || pipe_of(self, &a) != pipe || self.batch.len() == limit {
                break;
            }
            self.arrivals.pop_front();
            if !self.ports[usize::from(a.port)].up {
                self.lose(a.packet, a.parser, Reason::Device(DeviceDrop::PortDown), sink);
                continue;
            }
            let stamp = self.stamp(a.parser);
            let port = self.ports[usize::from(a.port)].dev_port;
            let input = PassIn { port, mac_tstamp: stamp, global_tstamp: stamp, ..PassIn::default() };
            self.batch.push(Pass::new(a.packet, input));
        }
        self.execute(pipe, Gress::Ingress);
        let mut next = std::mem::take(&mut self.onward);
        next.clear();
        let watched = sink.watches();
        let batch = std::mem::take(&mut self.batch);
        for pass in &batch {
            if watched {
                sink.pass(&self.functional_event(pipe, Gress::Ingress, pass));
            }
            let received = self.info[pass.packet.index()].received;
            if let Some(port) = self.forwarded(pass, received, sink) {
                let p = &self.ports[usize::from(port)];
                let stamp = self.stamp(received);
                let input = PassIn {
                    port: p.dev_port,
                    global_tstamp: stamp,
                    enq_tstamp: stamp as u32,
                    qid: pass.output.qid,
                    ..PassIn::default()
                };
                self.info[pass.packet.index()].qid = pass.output.qid;
                next.push((usize::from(p.pipe), port, Pass::new(pass.packet, input)));
            }
        }
        self.batch = batch;
        self.functional_egress(&mut next, sink);
        self.onward = next;
    }

    /// Egress passes in packet order, grouped into runs of one pipe: the order of what leaves is kept.
    fn functional_egress(&mut self, next: &mut [(usize, u16, Pass)], sink: &mut impl Sink) {
        let used = next.iter().fold(0u64, |used, (pipe, ..)| used | 1 << (pipe % 64));
        for pipe in (0..self.pipes.len()).filter(|pipe| used >> (pipe % 64) & 1 == 1) {
            self.batch.clear();
            self.batch.extend(next.iter().filter(|(p, ..)| *p == pipe).map(|(.., pass)| *pass));
            self.execute(pipe, Gress::Egress);
            // Results go back to where the packets stand in order.
            let mine = next.iter_mut().filter(|(p, ..)| *p == pipe);
            mine.zip(&self.batch).for_each(|((.., pass), done)| pass.output = done.output);
        }
        let watched = sink.watches();
        for (pipe, port, pass) in next.iter() {
            if watched {
                sink.pass(&self.functional_event(*pipe, Gress::Egress, pass));
            }
            let received = self.info[pass.packet.index()].received;
            self.egress_done(pass, *port, Duration::ZERO, received, sink);
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
            pass: *pass,
        };
        self.pass_event(pipe, gress, &pending, pass, at)
    }
}
