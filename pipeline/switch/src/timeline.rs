//! Occupancy of the traffic manager over time: pools, priority groups with headroom, queues, and pauses.
//!
//! A [`Timeline`] drives a switch and reports the places whose level differs from the last report, on every
//! change or at multiples of an interval. A place that was never reported is empty; a reported level holds
//! until the next report. Time and memory therefore depend on the number of places, not on packets or
//! duration.

use super::{Sink, Switch, SwitchError};
use sluice_asic::tm::buffer::{Buffer, PgState, PoolKind, PoolView, QueueState, Reader};
use sluice_asic::tm::{QueueId, TmPort, Touched};
use sluice_asic::units::{Cells, Duration, Time};
use std::collections::BTreeMap;

/// Kind of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Subject {
    /// The whole packet buffer.
    Buffer,
    /// Shared cells of priority groups; the index is the partition.
    IngressPool,
    /// Shared cells of queues; the index is the partition.
    EgressPool,
    /// Headroom of all lossless groups; the index is the partition.
    HeadroomPool,
    /// A priority group of a port; the index is its number.
    Group,
    /// A queue of a port; the index is its number.
    Queue,
}

impl Subject {
    /// Returns the name used in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Buffer => "buffer",
            Self::IngressPool => "ingress_pool",
            Self::EgressPool => "egress_pool",
            Self::HeadroomPool => "headroom_pool",
            Self::Group => "pg",
            Self::Queue => "queue",
        }
    }
}

/// Occupancy of a place, in cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Level {
    /// All cells: of a group reserved, shared and headroom cells; of a queue reserved and shared cells.
    pub cells: u32,
    /// Reserved cells in use; groups and queues only.
    pub reserved: u32,
    /// Shared cells in use; without a shared buffer, all cells of a queue.
    pub shared: u32,
    /// Headroom cells in use; groups only.
    pub headroom: u32,
    /// Largest number of shared cells since the operator cleared the watermark; of pools and the buffer, of
    /// all cells.
    pub watermark: u32,
    /// Largest number of headroom cells since then; groups only.
    pub headroom_watermark: u32,
    /// Group: true if it requests its senders to pause. Queue: true if the program, an operator or a peer pauses it.
    pub paused: bool,
}

/// A place whose level differs from the last report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelineRow<'a> {
    /// Time of the change; with an interval, time of the sample.
    pub time: Time,
    /// Kind of the place.
    pub subject: Subject,
    /// Name of the pool or the port; empty for the whole buffer.
    pub name: &'a str,
    /// Number of the partition, group or queue.
    pub index: u16,
    /// Occupancy.
    pub level: Level,
    /// Cells at which, as pools are used at this time, a lossless group pauses its senders, any other group or queue takes no
    /// more packets, and a pool or the buffer is full; `None` if only the place's pool limits it.
    pub limit: Option<u32>,
}

/// Identifies a place: pools by their position, groups and queues by port and number.
type LevelKey = (Subject, u16, u16);

/// Samples the occupancy of a switch; see the module.
#[derive(Debug)]
pub struct Timeline {
    /// Sampling interval; `None`: every change.
    every: Option<Duration>,
    told: BTreeMap<LevelKey, Level>,
    touched: Touched,
}

impl Timeline {
    /// Begins to sample a switch, at multiples of an interval or on every change.
    pub fn new(switch: &mut Switch<'_>, every: Option<Duration>) -> Self {
        switch.tm.watch();
        let every = every.filter(|every| !every.is_zero());
        Self { every, told: BTreeMap::new(), touched: Touched::default() }
    }

    /// Runs the switch up to and including `until`, like [`Switch::advance`], and reports rows in order of
    /// time.
    ///
    /// # Errors
    /// Returns the errors of [`Switch::advance`].
    pub fn advance(
        &mut self,
        switch: &mut Switch<'_>,
        until: Time,
        sink: &mut dyn Sink,
        tell: &mut impl FnMut(&TimelineRow<'_>),
    ) -> Result<(), SwitchError> {
        while let Some(at) = self.next_look(switch).filter(|at| *at <= until) {
            switch.advance(at, sink)?;
            self.look(switch, tell);
        }
        switch.advance(until, sink)
    }

    /// Returns the time at which a level may next differ.
    pub fn next_look(&self, switch: &mut Switch<'_>) -> Option<Time> {
        let changed = switch.tm.touched().is_some_and(|touched| !touched.is_empty());
        let from = if changed { switch.time() } else { switch.next_time()? };
        let every = self.every.map_or(1, Duration::as_ps);
        from.as_ps().div_ceil(every).checked_mul(every).map(Time::from_ps)
    }

    /// Reports the places whose level differs now.
    pub fn look(&mut self, switch: &mut Switch<'_>, tell: &mut impl FnMut(&TimelineRow<'_>)) {
        match switch.tm.touched() {
            Some(touched) if !touched.is_empty() => std::mem::swap(touched, &mut self.touched),
            _ => return,
        }
        if self.touched.all {
            note_all(switch, &mut self.touched);
        }
        self.touched.sort();
        let time = switch.time();
        let Self { told, touched, .. } = self;
        let mut row = |subject, place: u16, name: &str, index: u16, level: Level, limit: Option<Cells>| {
            let last = told.entry((subject, place, index)).or_default();
            if *last != level {
                *last = level;
                let limit = limit.map(Cells::get);
                tell(&TimelineRow { time, subject, name, index, level, limit });
            }
        };
        let buffer = switch.tm.buffer();
        row(Subject::Buffer, 0, "", 0, memory(switch), Some(size(switch)));
        if let (Some(buffer), Some(flow)) = (buffer, &switch.flow) {
            for (place, pool) in (0..).zip(buffer.pools(flow.config())) {
                row(kind(&pool), place, pool.name, pool.partition, level_of_pool(&pool), Some(pool.size));
            }
        }
        let name = |port: u16| switch.ports.get(usize::from(port)).map_or("", |p| p.name.as_str());
        for (TmPort(port), pg) in &touched.groups {
            if let Some(state) = buffer.and_then(|b| b.group(*port, *pg)) {
                let limit = buffer.and_then(|b| b.group_limit(*port, *pg));
                row(Subject::Group, *port, name(*port), u16::from(*pg), level_of_group(state), limit);
            }
        }
        for (port, queue) in &touched.queues {
            let state = buffer.and_then(|b| b.queue(port.0, queue.0));
            let level = level_of_queue(switch, *port, *queue, state);
            let limit = match buffer {
                Some(buffer) => buffer.queue_limit(port.0, queue.0),
                None => switch.tm.limit_of(*port, *queue),
            };
            row(Subject::Queue, port.0, name(port.0), u16::from(queue.0), level, limit);
        }
        touched.clear();
    }
}

/// Marks every place as touched.
fn note_all(switch: &Switch<'_>, touched: &mut Touched) {
    let buffer = switch.tm.buffer();
    touched.groups.extend(buffer.into_iter().flat_map(|b| b.all_groups()).map(|(p, pg, _)| (TmPort(p), pg)));
    touched.queues.extend(switch.tm.queue_stats().map(|(port, queue, _)| (port, queue)));
}

fn size(switch: &Switch<'_>) -> Cells {
    switch.tm.buffer().map_or_else(|| switch.tm.size(), Buffer::size)
}

fn memory(switch: &Switch<'_>) -> Level {
    match switch.tm.buffer() {
        Some(buffer) => {
            let total = buffer.total();
            let watermark = total.watermark(Reader::User).get();
            Level { cells: total.current().get(), watermark, ..Level::default() }
        }
        None => {
            let (cells, watermark) = (switch.tm.used_cells().get(), switch.tm.max_used_cells().get());
            Level { cells, watermark, ..Level::default() }
        }
    }
}

const fn kind(pool: &PoolView<'_>) -> Subject {
    match pool.kind {
        PoolKind::Ingress => Subject::IngressPool,
        PoolKind::Egress => Subject::EgressPool,
        PoolKind::Headroom => Subject::HeadroomPool,
    }
}

fn level_of_pool(pool: &PoolView<'_>) -> Level {
    let watermark = pool.used.watermark(Reader::User).get();
    Level { cells: pool.used.current().get(), watermark, ..Level::default() }
}

fn level_of_group(pg: &PgState) -> Level {
    let (reserved, shared) = (pg.reserved().get(), pg.shared().current().get());
    let headroom = pg.headroom().current().get();
    Level {
        cells: reserved + shared + headroom,
        reserved,
        shared,
        headroom,
        watermark: pg.shared().watermark(Reader::User).get(),
        headroom_watermark: pg.headroom().watermark(Reader::User).get(),
        paused: pg.is_xoff(),
    }
}

fn level_of_queue(switch: &Switch<'_>, port: TmPort, queue: QueueId, state: Option<&QueueState>) -> Level {
    let depth = switch.tm.depth(port, queue).map_or(0, |depth| depth.get());
    let most = || switch.tm.stats_of(port, queue).map_or(0, |stats| stats.max_cells.get());
    let (shared, watermark) = match state {
        Some(state) => {
            let shared = state.shared();
            (shared.current().get(), shared.watermark(Reader::User).get())
        }
        None => (depth, most()),
    };
    let reserved = state.map_or(0, |state| state.reserved().get());
    let paused = switch.tm.is_paused(port, queue);
    Level { cells: depth, reserved, shared, watermark, paused, ..Level::default() }
}
