//! Ghost thread of each pipe: the queues that have changed, and the times at which updates enter (Tofino 2;
//! model: tm §6).
//!
//! Every change of a queue's depth, at any port, is reported to all pipes. An update takes a slot of ingress,
//! at most one per `ghost_interval_cycles`. It carries the depth of the queue at its entry, so that a queue
//! that changes again while its update waits is reported once. These rules are assumptions (model: tm §12
//! item 2): public sources give neither the rate nor the omissions.
//!
//! An update is a separate PHV in the order of ingress: a batch of packets never spans one.

use super::observe::{GhostEvent, Sink};
use super::{Event, Switch};
use sluice_asic::event::{EventClass, EventKey};
use sluice_asic::gress::Gress;
use sluice_asic::port::DevPort;
use sluice_asic::tm::{AfcWord, QueueId, TmPort};
use sluice_asic::units::{Cells, Cycles, Time};
use sluice_exec::pass::GhostUpdate;
use std::collections::VecDeque;

/// Largest depth in an update: 18 bits.
const MAX_DEPTH: u32 = (1 << 18) - 1;
/// Largest number of queues of a port.
const QUEUES: usize = 128;

/// Updates for the ghost thread of a pipe.
#[derive(Debug, Default)]
pub(super) struct Ghost {
    /// Queues with a changed depth, each listed once, as index of the port and queue number.
    changed: VecDeque<(u16, u8)>,
    /// Per port: a bit for each queue in `changed`.
    waits: Vec<u128>,
    /// First cycle in which the next update may enter.
    next: u64,
    scheduled: bool,
    events: u64,
    ping_pong: bool,
    /// Updates that entered and have not been run, with their cycles.
    entered: VecDeque<(Time, Cycles, GhostUpdate)>,
}

impl Ghost {
    pub(super) fn new(ports: usize) -> Ghost {
        Ghost { waits: vec![0; ports], ..Ghost::default() }
    }

    /// Returns the entry time of the first update that has not been run.
    pub(super) fn front(&self) -> Option<(Time, Cycles)> {
        self.entered.front().map(|(time, cycle, _)| (*time, *cycle))
    }

    fn changed(&mut self, port: u16, queue: u8) {
        let (waits, bit) = (&mut self.waits[usize::from(port)], 1 << (usize::from(queue) % QUEUES));
        if *waits & bit == 0 {
            *waits |= bit;
            self.changed.push_back((port, queue));
        }
    }

    fn take(&mut self) -> Option<(u16, u8)> {
        let (port, queue) = self.changed.pop_front()?;
        self.waits[usize::from(port)] &= !(1 << (usize::from(queue) % QUEUES));
        Some((port, queue))
    }
}

impl Switch<'_> {
    /// Handles a packet that entered or left a queue.
    pub(super) fn depth_changed(&mut self, now: Time, port: u16, queue: u8) {
        if !self.has_ghost {
            return;
        }
        for pipe in 0..self.pipes.len() {
            self.pipes[pipe].ghost.changed(port, queue);
            self.schedule_ghost(now, pipe);
        }
    }

    fn schedule_ghost(&mut self, now: Time, pipe: usize) {
        let ghost = &mut self.pipes[pipe].ghost;
        if ghost.scheduled || ghost.changed.is_empty() {
            return;
        }
        ghost.scheduled = true;
        // The change is known one cycle later.
        let cycle = (self.clock.first_edge_at_or_after(now).get() + 1).max(ghost.next);
        let (device, class) = (self.config.device, EventClass::Ghost);
        let time = self.clock.time_of(Cycles(cycle));
        let key = EventKey { time, device, class, port: pipe as u32, seq: ghost.events };
        ghost.events += 1;
        let pushed = self.events.push(key, Event::Ghost { pipe: pipe as u8 });
        debug_assert!(pushed.is_ok(), "{pushed:?}");
    }

    /// Handles an update that enters the pipe.
    pub(super) fn ghost_enters(&mut self, now: Time, pipe: usize) {
        self.pipes[pipe].ghost.scheduled = false;
        let Some((port, queue)) = self.pipes[pipe].ghost.take() else { return };
        let depth = self.tm.depth(TmPort(port), QueueId(queue)).unwrap_or(Cells::ZERO);
        let dev_port = DevPort::new(self.ports[usize::from(port)].dev_port);
        let name = dev_port.and_then(|p| AfcWord::for_queue(&self.chip, p, queue, 0).ok());
        let at = &mut self.pipes[pipe];
        let entry = at.entry[0].reserve(now);
        at.ghost.next = entry.cycle.get() + u64::from(self.chip.tm.ghost_interval_cycles.max(1));
        // The ghost thread has no number for queues outside the default mapping.
        if let Some(name) = name {
            at.ghost.ping_pong = !at.ghost.ping_pong;
            let update = GhostUpdate {
                ping_pong: at.ghost.ping_pong,
                qlength: depth.0.min(MAX_DEPTH),
                qid: u16::from(name.mac) << 7 | u16::from(name.queue),
                pipe: name.pipe,
            };
            at.ghost.entered.push_back((self.clock.time_of(entry.cycle), entry.cycle, update));
            self.refresh(pipe, Gress::Ingress);
        }
        self.schedule_ghost(now, pipe);
    }

    /// Runs the updates that entered before `end` and before the first waiting packet. Returns true if there
    /// were any.
    pub(super) fn run_ghosts(&mut self, pipe: usize, end: Time, sink: &mut dyn Sink) -> bool {
        let packet = self.pipes[pipe].pending[0].front().map_or(Cycles(u64::MAX), |p| p.cycle);
        let mut any = false;
        while let Some((time, cycle)) = self.pipes[pipe].ghost.front()
            && time < end
            && cycle < packet
        {
            let Some((entered, cycle, update)) = self.pipes[pipe].ghost.entered.pop_front() else { break };
            let executor = self.own[pipe].as_mut().unwrap_or(&mut self.executor);
            executor.swap_state(&mut self.pipes[pipe].state);
            executor.ghost(&update);
            executor.swap_state(&mut self.pipes[pipe].state);
            sink.ghost(&GhostEvent { pipe: pipe as u8, entered, cycle, update });
            self.totals.ghost_updates += 1;
            any = true;
        }
        any
    }
}
