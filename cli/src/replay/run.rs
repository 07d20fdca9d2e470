//! The loop: reads packets, gives them to the switch in order of time, lets it run, drains it.

use super::Plan;
use super::inputs::{InputResult, Inputs, bad};
use super::pace::Clock;
use super::sink::Collector;
use crate::fail::Failure;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use sluice_asic::units::{Duration, Time};
use sluice_pipeline::pass::{Executor, State};
use sluice_pipeline::switch::{Held, RxFrame, Switch, Totals};
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// A replay under way.
pub(crate) struct Session<'a, E> {
    plan: &'a Plan<'a>,
    inputs: Inputs,
    results: Vec<InputResult>,
    switch: Switch<E>,
    collector: Collector<'a>,
    stop: Arc<AtomicBool>,
    sent: u64,
    last: Time,
    delayed: Delays,
    started: Instant,
    progress: Option<ProgressBar>,
}

/// How far packets had to wait for the wire of their port.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Delays {
    pub(crate) packets: u64,
    pub(crate) most: Duration,
}

/// A finished replay.
pub(crate) struct Done<'a> {
    pub(crate) inputs: Inputs,
    pub(crate) results: Vec<InputResult>,
    pub(crate) collector: Collector<'a>,
    pub(crate) totals: Totals,
    pub(crate) held: Held,
    pub(crate) state: State,
    pub(crate) queues: Vec<Value>,
    pub(crate) buffer: Value,
    pub(crate) delayed: Delays,
    pub(crate) conserved: bool,
    pub(crate) wall: Value,
}

impl<'a, E: Executor> Session<'a, E> {
    pub(crate) fn new(
        plan: &'a Plan<'a>,
        inputs: Inputs,
        switch: Switch<E>,
        collector: Collector<'a>,
    ) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        // A second handler cannot be set in one process; then Ctrl-C ends the run the hard way.
        let _ = ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed));
        let results = vec![InputResult::default(); inputs.sources.len()];
        Session {
            plan,
            inputs,
            results,
            switch,
            collector,
            stop,
            sent: 0,
            last: Time::ORIGIN,
            delayed: Delays::default(),
            started: Instant::now(),
            progress: None,
        }
    }

    /// Runs to the end; true if interrupted.
    pub(crate) fn run(&mut self) -> Result<bool, Failure> {
        let mut clock = Clock::new(self.plan.pace);
        for _ in 0..self.plan.args.loops {
            if self.feed(&mut clock)? {
                break;
            }
            clock.next_loop();
        }
        self.drain()?;
        if let Some(bar) = &self.progress {
            bar.finish_and_clear();
        }
        Ok(self.stop.load(Ordering::Relaxed))
    }

    /// Sends the inputs once; true when the limit is reached or the user interrupts.
    fn feed(&mut self, clock: &mut Clock) -> Result<bool, Failure> {
        let origin = self.inputs.origin();
        let mut merge = self.inputs.merge()?;
        let limit = self.plan.args.limit.unwrap_or(u64::MAX);
        while self.sent < limit && !self.stop.load(Ordering::Relaxed) {
            let Some((input, frame)) = merge.next_frame().map_err(|e| bad(&e))? else { break };
            // A stamp before the first one of its capture counts as the first.
            let offset = frame.time.ps_since(origin).unwrap_or(0);
            let time = clock.time(offset, frame.orig_len).max(self.last);
            self.last = time;
            let rx = RxFrame { bytes: frame.data, orig_len: frame.orig_len, tag: self.sent };
            let delay = self.switch.rx(self.inputs.sources[input].port, time, rx).map_err(Failure::input)?;
            if !delay.is_zero() {
                self.delayed.packets += 1;
                self.delayed.most = self.delayed.most.max(delay);
            }
            self.results[input].packets += 1;
            self.sent += 1;
            if self.sent.is_multiple_of(64) {
                self.advance(time)?;
                self.tick(time);
            }
        }
        for (result, reader) in self.results.iter_mut().zip(merge.inputs()) {
            result.oddities = reader
                .oddities()
                .iter()
                .map(|(o, t)| {
                    format!("{}: {o}: {} records, first is record {}", reader.name(), t.count, t.first_record)
                })
                .collect();
            let cut = reader.truncated().map(|t| {
                format!(
                    "{}: ends inside record {} at byte {}: {} of at least {} bytes are there",
                    reader.name(),
                    t.record,
                    t.offset,
                    t.found,
                    t.needed
                )
            });
            if let (true, Some(text)) = (self.plan.args.strict, &cut) {
                return Err(Failure::with_help(text, "without --strict the records before it are replayed"));
            }
            result.truncated = result.truncated.take().or(cut);
        }
        Ok(self.sent >= limit || self.stop.load(Ordering::Relaxed))
    }

    fn advance(&mut self, until: Time) -> Result<(), Failure> {
        self.switch.advance(until, &mut self.collector).map_err(Failure::input)?;
        self.collector.outputs.flush(until)
    }

    /// Lets the switch empty itself but for timers, for as long as the drain allows.
    fn drain(&mut self) -> Result<(), Failure> {
        let end = self.last + self.plan.drain;
        while self.switch.is_busy()
            && let Some(next) = self.switch.next_time().filter(|t| *t <= end)
        {
            // Delayed frames may lie behind the drain's end only if the line was oversubscribed; they go on.
            self.advance(next)?;
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
        }
        self.collector.outputs.flush(Time::MAX)
    }

    /// Progress on a terminal, once the run takes longer than a second.
    fn tick(&mut self, now: Time) {
        if self.progress.is_none() {
            if self.started.elapsed().as_millis() < 1000 || !std::io::stderr().is_terminal() {
                return;
            }
            let bar = match self.plan.args.limit {
                Some(limit) => ProgressBar::new(limit),
                None => ProgressBar::new_spinner(),
            };
            if let Ok(style) =
                ProgressStyle::with_template("{elapsed_precise} {pos} packets {per_sec} {msg} ETA {eta}")
            {
                bar.set_style(style);
            }
            self.progress = Some(bar);
        }
        if let Some(bar) = &self.progress {
            bar.set_position(self.sent);
            let ratio = now.as_ps() as f64 / 1e12 / self.started.elapsed().as_secs_f64().max(1e-9);
            bar.set_message(format!("simulated {} ({ratio:.2e} of real time)", now.since_origin()));
        }
    }

    /// Takes the results out.
    pub(crate) fn finish(self) -> Done<'a> {
        let seconds = self.started.elapsed().as_secs_f64();
        let queues = self
            .switch
            .queues()
            .filter(|(_, _, s)| s.enqueued.packets + s.dropped().packets > 0)
            .map(|(port, queue, s)| {
                json!({
                    "dev_port": port, "queue": queue,
                    "enqueued": s.enqueued.packets, "enqueued_bytes": s.enqueued.bytes.get(),
                    "dropped": s.dropped().packets, "dropped_bytes": s.dropped().bytes.get(),
                    "max_cells": s.max_cells.0,
                })
            })
            .collect();
        let cells = self.plan.placement.chip.tm.cells.0;
        Done {
            queues,
            buffer: json!({ "pool": "buffer", "cells": cells, "max_cells": self.switch.max_used_cells() }),
            totals: self.switch.totals().clone(),
            held: self.switch.held(),
            state: self.switch.state(),
            conserved: self.switch.is_conserved(),
            wall: json!({ "seconds": seconds, "packets_per_second": self.sent as f64 / seconds.max(1e-9) }),
            inputs: self.inputs,
            results: self.results,
            collector: self.collector,
            delayed: self.delayed,
        }
    }
}
