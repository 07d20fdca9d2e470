//! Batches of passes: which runs next, running it, when its packets leave. What may not live here: what becomes of
//! them then.

use super::copies::Place;
use super::ingress::PendingPass;
use super::{PassEvent, Sink, Switch};
use crate::pass::{Executor, MAX_BATCH, Pass};
use sluice_asic::gress::Gress;
use sluice_asic::units::{Cycles, Time};

impl<E: Executor> Switch<E> {
    /// The batch that must run first: the time by which, and where.
    pub(super) fn next_batch(&self) -> Option<(Time, usize, Gress)> {
        let mut best = (Time::MAX, 0, Gress::Ingress);
        for (i, pipe) in self.pipes.iter().enumerate() {
            for gress in Gress::ALL {
                let due = pipe.due[gress.index()];
                if due < best.0 {
                    best = (due, i, gress);
                }
            }
        }
        (best.0 < Time::MAX).then_some(best)
    }

    /// Runs the passes of one gress that entered within one window and before `before`.
    pub(super) fn run_batch(&mut self, pipe: usize, gress: Gress, before: Time, sink: &mut impl Sink) {
        let g = gress.index();
        let window = self.timing[g].window;
        let limit = self.config.max_batch.clamp(1, MAX_BATCH);
        if gress == Gress::Ingress && self.run_ghosts(pipe, before, sink) {
            return self.pipes[pipe].refresh(gress, window);
        }
        // No batch reaches over an update for the ghost thread.
        let update = self.pipes[pipe].ghost.front().filter(|_| gress == Gress::Ingress);
        let before = update.map_or(before, |(time, _)| before.min(time));
        let queue = &self.pipes[pipe].pending[g];
        let Some(first) = queue.front() else { return };
        let end = (first.entered + window).min(before);
        let due = queue.iter().take_while(|p| p.entered < end).take(limit);
        self.batch.clear();
        self.made.clear();
        let mut entered = 0;
        self.batch.extend(due.inspect(|_| entered += 1).filter(|p| !p.bypass).map(|p| p.pass));
        if !self.batch.is_empty() {
            self.execute(pipe, gress);
        }
        let (mut made, mut next) = (0, 0);
        for _ in 0..entered {
            let Some(pending) = self.pipes[pipe].pending[g].pop_front() else { return };
            if pending.bypass {
                let exit = self.exit(gress, &pending, &pending.pass);
                self.egress_done(&pending.pass, pending.port, pending.booked, exit, sink);
                continue;
            }
            let (i, pass) = (next, self.batch[next]);
            next += 1;
            let exit = self.exit(gress, &pending, &pass);
            sink.pass(&self.pass_event(pipe, gress, &pending, &pass, exit));
            if made < self.made.len() {
                made = self.made_by(made, i, Place { pipe, gress, time: exit }, sink);
            }
            match gress {
                Gress::Ingress => self.ingress_done(&pass, exit, sink),
                Gress::Egress => self.egress_done(&pass, pending.port, pending.booked, exit, sink),
            }
        }
        self.pipes[pipe].refresh(gress, window);
    }

    /// Runs `self.batch` on the pipe's own state.
    pub(super) fn execute(&mut self, pipe: usize, gress: Gress) {
        let executor = self.own[pipe].as_mut().unwrap_or(&mut self.executor);
        std::mem::swap(executor.state_mut(), &mut self.pipes[pipe].state);
        executor.run(gress, &mut self.batch, &mut self.packets);
        std::mem::swap(executor.state_mut(), &mut self.pipes[pipe].state);
        std::mem::swap(executor.made(), &mut self.made);
    }

    /// When a pass leaves its deparser.
    pub(super) fn exit(&self, gress: Gress, pending: &PendingPass, pass: &Pass) -> Time {
        let t = &self.timing[gress.index()];
        let cycles = t.parser_fixed + u64::from(pass.output.parser_cycles) + t.mau + t.deparser;
        self.clock.time_of(Cycles(pending.cycle.0 + cycles))
    }

    pub(super) fn pass_event(
        &self,
        pipe: usize,
        gress: Gress,
        pending: &PendingPass,
        pass: &Pass,
        exit: Time,
    ) -> PassEvent {
        let t = &self.timing[gress.index()];
        PassEvent {
            tag: self.info_of(pass.packet).tag,
            gress,
            pipe: pipe as u8,
            entered: pending.entered,
            cycle: pending.cycle,
            waited: pending.waited,
            parser_cycles: t.parser_fixed + u64::from(pass.output.parser_cycles),
            mau_cycles: t.mau,
            deparser_cycles: t.deparser,
            left: exit,
            output: pass.output,
        }
    }
}
