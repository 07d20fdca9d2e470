//! Batches of passes: choice of the next one, its execution, and the times at which its packets leave.

use super::copies::Place;
use super::ingress::PendingPass;
use super::{PassEvent, Sink, Switch};
use sluice_asic::gress::Gress;
use sluice_asic::units::{Cycles, Time};
use sluice_exec::pass::{Executor, MAX_BATCH, Pass};

/// A pending batch and the time by which it must run. **The order of the fields is semantics**: if two
/// batches are due at once, the lower pipe is run first, and ingress before egress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Due {
    pub(super) time: Time,
    pub(super) pipe: u8,
    pub(super) gress: Gress,
}

impl Due {
    /// No batch is pending.
    pub(super) const NEVER: Due = Due { time: Time::MAX, pipe: 0, gress: Gress::Ingress };
}

impl<E: Executor> Switch<E> {
    /// Adds a PHV that enters a gress of a pipe.
    #[inline]
    pub(super) fn enter(&mut self, pipe: usize, gress: Gress, pass: PendingPass) {
        let time = self.pipes[pipe].enter(gress, self.timing[gress.index()].window, pass);
        self.first_batch = self.first_batch.min(Due { time, pipe: pipe as u8, gress });
    }

    /// Updates the due time after the waiting PHVs of a gress changed.
    pub(super) fn refresh(&mut self, pipe: usize, gress: Gress) {
        self.pipes[pipe].refresh(gress, self.timing[gress.index()].window);
        self.first_batch = Due::NEVER;
        for (pipe, at) in (0..).zip(&self.pipes) {
            for gress in Gress::ALL {
                let due = Due { time: at.due[gress.index()], pipe, gress };
                self.first_batch = self.first_batch.min(due);
            }
        }
    }

    /// Runs the passes of one gress that entered within one window and before `before`.
    pub(super) fn run_batch(&mut self, pipe: usize, gress: Gress, before: Time, sink: &mut impl Sink) {
        let g = gress.index();
        let window = self.timing[g].window;
        let limit = self.config.max_batch.clamp(1, MAX_BATCH);
        if gress == Gress::Ingress && self.run_ghosts(pipe, before, sink) {
            return self.refresh(pipe, gress);
        }
        // A batch must not include packets after an update for the ghost thread.
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
        let watched = self.rounds.watches();
        if watched {
            self.note_passes(pipe, gress, entered);
        }
        if !self.batch.is_empty() {
            self.execute(pipe, gress);
        }
        if watched {
            self.note_verdicts();
        }
        // No PHV enters while the batch is taken out.
        let mut ran = std::mem::take(&mut self.pipes[pipe].pending[g]);
        let (mut made, mut next, watched) = (0, 0, sink.watches());
        for pending in ran.range(..entered) {
            if pending.bypass {
                let exit = self.exit(gress, pending, &pending.pass);
                self.egress_done(&pending.pass, pending.port, pending.booked, exit, sink);
                continue;
            }
            let (i, pass) = (next, self.batch[next]);
            next += 1;
            let exit = self.exit(gress, pending, &pass);
            if watched {
                sink.pass(&self.pass_event(pipe, gress, pending, &pass, exit));
            }
            if made < self.made.len() {
                made = self.made_by(made, i, Place { pipe, gress, time: exit }, sink);
            }
            match gress {
                Gress::Ingress => self.ingress_done(&pass, exit, sink),
                Gress::Egress => self.egress_done(&pass, pending.port, pending.booked, exit, sink),
            }
        }
        ran.drain(..entered);
        debug_assert!(self.pipes[pipe].pending[g].is_empty());
        self.pipes[pipe].pending[g] = ran;
        self.refresh(pipe, gress);
    }

    /// Runs `self.batch` on the pipe's state.
    pub(super) fn execute(&mut self, pipe: usize, gress: Gress) {
        let mut batch = std::mem::take(&mut self.batch);
        self.execute_on(pipe, gress, &mut batch);
        self.batch = batch;
    }

    /// Runs a batch on the pipe's state.
    pub(super) fn execute_on(&mut self, pipe: usize, gress: Gress, batch: &mut [Pass]) {
        let executor = self.own[pipe].as_mut().unwrap_or(&mut self.executor);
        std::mem::swap(executor.state_mut(), &mut self.pipes[pipe].state);
        executor.run(gress, batch, &mut self.packets);
        std::mem::swap(executor.state_mut(), &mut self.pipes[pipe].state);
        std::mem::swap(executor.made(), &mut self.made);
    }

    /// Returns the time at which a pass leaves its deparser.
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
