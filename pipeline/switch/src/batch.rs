//! Batches of passes: choice of the next one, its execution, and the times at which its packets leave.

use super::copies::MadeAt;
use super::ingress::PendingPass;
use super::{PassEvent, Sink, Switch};
use sluice_asic::gress::Gress;
use sluice_asic::units::{Cycles, Time};
use sluice_exec::pass::{MAX_BATCH, Pass};
use std::collections::VecDeque;

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
    const NEVER: Due = Due { time: Time::MAX, pipe: 0, gress: Gress::Ingress };
}

/// Times by which pending batches must run.
pub(super) struct DueBatches {
    /// Per pipe, for both gresses: time by which the first pending PHV must run, which is before any of its effects.
    times: Vec<Time>,
    /// The batch that must run next.
    pub(super) first: Due,
}

impl DueBatches {
    /// Returns no due batches of this many pipes.
    pub(super) fn new(pipes: usize) -> DueBatches {
        DueBatches { times: vec![Time::MAX; 2 * pipes], first: Due::NEVER }
    }
}

impl Switch<'_> {
    /// Adds a PHV that enters a gress of a pipe; returns the time by which the waiting PHVs must run.
    #[inline]
    pub(super) fn enter(&mut self, pipe: usize, gress: Gress, pending: PendingPass, pass: Pass) -> Time {
        let time = pending.entered + self.timing.gresses[gress.index()].window;
        self.pipes[pipe].enter(gress, pending, pass);
        let due = &mut self.due.times[2 * pipe + gress.index()];
        *due = (*due).min(time);
        let due = Due { time: *due, pipe: pipe as u8, gress };
        if due < self.due.first {
            self.due.first = due;
        }
        due.time
    }

    /// Updates the due time after the waiting PHVs of a gress changed.
    pub(super) fn refresh(&mut self, pipe: usize, gress: Gress) {
        let window = self.timing.gresses[gress.index()].window;
        self.due.times[2 * pipe + gress.index()] =
            self.pipes[pipe].front(gress).map_or(Time::MAX, |t| t + window);
        self.due.first = Due::NEVER;
        for (pipe, dues) in (0..).zip(self.due.times.as_chunks::<2>().0) {
            for (gress, &time) in Gress::ALL.into_iter().zip(dues) {
                if time < self.due.first.time {
                    self.due.first = Due { time, pipe, gress };
                }
            }
        }
    }

    /// Runs the passes of one gress that entered within one window and before `before`.
    pub(super) fn run_batch(&mut self, pipe: usize, gress: Gress, before: Time, sink: &mut dyn Sink) {
        let g = gress.index();
        if gress == Gress::Ingress && self.run_ghosts(pipe, before, sink) {
            return self.refresh(pipe, gress);
        }
        let (entered, bypass) = self.next_batch(pipe, gress, before);
        let watches_rounds = self.rounds.watches();
        if watches_rounds {
            self.note_passes(pipe, gress, entered);
        }
        // No PHV enters while the lists are taken out.
        let mut pending = std::mem::take(&mut self.pipes[pipe].pending[g]);
        let mut passes = std::mem::take(&mut self.pipes[pipe].passes[g]);
        let (due, ran) = (first(&mut pending, entered), first(&mut passes, entered));
        self.scratch.made.clear();
        if !bypass && entered > 0 {
            self.execute_on(pipe, gress, ran);
        }
        if watches_rounds {
            self.note_verdicts(ran.iter());
        }
        let (mut made, watched) = (0, self.watched && !bypass);
        for (i, (pending, pass)) in due.iter().zip(&*ran).enumerate() {
            let exit = self.exit(gress, pending, pass);
            if watched {
                sink.pass(&self.pass_event(pipe, gress, pending, pass, exit));
            }
            if made < self.scratch.made.len() {
                made = self.made_by(made, (i, pass), MadeAt { pipe, gress, time: exit }, sink);
            }
            match gress {
                Gress::Ingress => self.ingress_done(pass, exit, sink),
                Gress::Egress => self.egress_done(pass, pending.port, pending.booked, exit, sink),
            }
        }
        consume(&mut pending, entered);
        consume(&mut passes, entered);
        debug_assert!(self.pipes[pipe].pending[g].is_empty());
        (self.pipes[pipe].pending[g], self.pipes[pipe].passes[g]) = (pending, passes);
        self.refresh(pipe, gress);
    }

    /// Returns the number of PHVs of the next batch, and true if they bypass the stages. PHVs that do and PHVs that do not
    /// are in different batches.
    fn next_batch(&self, pipe: usize, gress: Gress, before: Time) -> (usize, bool) {
        let at = &self.pipes[pipe];
        // A batch must not include packets after an update for the ghost thread.
        let update = at.ghost.front().filter(|_| gress == Gress::Ingress);
        let before = update.map_or(before, |(time, _)| before.min(time));
        let waiting = &at.pending[gress.index()];
        let Some(first) = waiting.front() else { return (0, false) };
        let end = (first.entered + self.timing.gresses[gress.index()].window).min(before);
        let limit = self.config.max_batch.clamp(1, MAX_BATCH);
        let due = waiting.iter().take(limit).take_while(|p| p.entered < end && p.bypass == first.bypass);
        (due.count(), first.bypass)
    }

    /// Runs the batch in the scratch memory on the pipe's state.
    pub(super) fn execute(&mut self, pipe: usize, gress: Gress) {
        let mut batch = std::mem::take(&mut self.scratch.batch);
        self.execute_on(pipe, gress, &mut batch);
        self.scratch.batch = batch;
    }

    /// Runs a batch on the pipe's state.
    pub(super) fn execute_on(&mut self, pipe: usize, gress: Gress, batch: &mut [Pass]) {
        let state = &mut self.pipes[pipe].state;
        self.executors.of(pipe).run_on(state, gress, batch, &mut self.packets, &mut self.scratch.made);
    }

    /// Returns the time at which a pass leaves its deparser.
    pub(super) fn exit(&self, gress: Gress, pending: &PendingPass, pass: &Pass) -> Time {
        let t = &self.timing.gresses[gress.index()];
        let cycles = t.parser_fixed + u64::from(pass.output.parser_cycles) + t.mau + t.deparser;
        self.timing.clock.time_of(Cycles(pending.cycle.0 + cycles))
    }

    pub(super) fn pass_event(
        &self,
        pipe: usize,
        gress: Gress,
        pending: &PendingPass,
        pass: &Pass,
        exit: Time,
    ) -> PassEvent {
        let t = &self.timing.gresses[gress.index()];
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

/// Returns the first `count` elements in one piece.
#[inline]
fn first<T>(list: &mut VecDeque<T>, count: usize) -> &mut [T] {
    if list.as_slices().0.len() < count {
        list.make_contiguous();
    }
    let (front, _) = list.as_mut_slices();
    let count = count.min(front.len());
    &mut front[..count]
}

/// Removes the first `count` elements.
#[inline]
fn consume<T: Copy>(list: &mut VecDeque<T>, count: usize) {
    if count == list.len() {
        // This also moves the start of the list to the start of its memory.
        list.clear();
    } else {
        list.drain(..count);
    }
}
