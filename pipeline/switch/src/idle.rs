//! Ageing: periodic sweeps over the entries of tables with an idle timeout.
//!
//! A sweep runs at every multiple of the table's interval. Like a control-plane operation it is never inside
//! a batch: packets that enter a gress before the sweep have hit their entries, packets at that time or later
//! have not. An entry exists in every pipe, and is idle if it is idle in all pipes. No run waits for a sweep:
//! sweeps are not in
//! [`Switch::next_time`], and run up to the time to which the device is advanced.

use super::Switch;
use super::observe::Sink;
use sluice_asic::units::Time;
use sluice_control::EntryId;
use sluice_exec::pass::Executor;
use sluice_ir::{IdleMode, IdleTimeout, Program, Table};

/// An entry without a hit during its time to live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleEntry {
    /// The table.
    pub table: Table,
    /// The entry.
    pub entry: EntryId,
    /// Time of the sweep that found it.
    pub time: Time,
}

/// The next sweep of each table that ages.
pub(super) struct Sweeps {
    list: Vec<(Table, IdleTimeout, Time)>,
    /// Time of the earliest sweep.
    pub(super) next: Time,
    /// Scratch memory: least age over pipes, by slot.
    least: Vec<u8>,
}

impl Sweeps {
    pub(super) fn new(program: &Program) -> Sweeps {
        let of = |idle: IdleTimeout| Time::ORIGIN + idle.interval;
        let tables = program.tables.iter().filter_map(|(t, d)| d.idle.map(|idle| (t, idle, of(idle))));
        let list: Vec<_> = tables.filter(|(_, idle, _)| idle.interval.as_ps() > 0).collect();
        let mut sweeps = Sweeps { list, next: Time::MAX, least: Vec::new() };
        sweeps.find_next();
        sweeps
    }

    fn find_next(&mut self) {
        self.next = self.list.iter().map(|(.., at)| *at).min().unwrap_or(Time::MAX);
    }
}

impl<E: Executor> Switch<E> {
    /// Returns the number of sweeps since the entry was hit or added, limited by its bits; `None` if the
    /// entry does not exist or its table does not age.
    #[must_use]
    pub fn idle(&self, table: Table, entry: EntryId) -> Option<u8> {
        self.control.tables.get(table)?.slots.get(entry as usize)?.as_ref()?;
        self.pipes.iter().map(|p| p.state.ages.get(table)?.get(entry as usize).copied()).min()?
    }

    /// Runs the sweeps that are due.
    pub(super) fn sweep(&mut self, sink: &mut impl Sink) {
        let time = self.sweeps.next;
        self.run_before(time, sink);
        for i in 0..self.sweeps.list.len() {
            let (table, idle, at) = self.sweeps.list[i];
            if at == time {
                self.sweep_table(table, idle, time, sink);
                self.sweeps.list[i].2 = at + idle.interval;
            }
        }
        self.sweeps.find_next();
    }

    fn sweep_table(&mut self, table: Table, idle: IdleTimeout, time: Time, sink: &mut impl Sink) {
        let slots = &self.control.tables[table].slots;
        let (most, least) = (idle.most(), &mut self.sweeps.least);
        least.clear();
        least.resize(slots.len(), most);
        // Sweeps whole slices including free slots, because few entries have been hit and a new entry is
        // young.
        for pipe in &mut self.pipes {
            for (age, least) in pipe.state.ages[table].iter_mut().zip(least.iter_mut()) {
                *least = (*age).min(*least);
                *age = age.saturating_add(1).min(most);
            }
        }
        if idle.mode == IdleMode::Poll {
            return;
        }
        for (entry, (slot, least)) in
            slots.iter().zip(least).enumerate().filter(|(_, (_, least))| **least < most)
        {
            let Some(e) = slot else { continue };
            let ttl = idle.sweeps(e.ttl.unwrap_or(idle.ttl));
            if u64::from(*least) + 1 == ttl {
                sink.idle(&IdleEntry { table, entry: entry as EntryId, time });
            }
        }
    }
}
