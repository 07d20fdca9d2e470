//! Ageing: periodic sweeps over the entries of tables with an idle timeout.
//!
//! A sweep runs at every multiple of the table's interval. Like a control-plane operation it is never inside
//! a batch: packets that enter a gress before the sweep have hit their entries, packets at that time or later
//! have not. An entry exists in every pipe, and is idle if it is idle in all pipes. No run waits for a sweep:
//! sweeps are not in [`Switch::next_time`], and run up to the time to which the device is advanced.
//!
//! *Gaps.* Without a hit, ages only grow. The sweeps before the next event of the device are therefore made
//! together, and each idle entry is reported with the time of the sweep that would have found it. So the cost
//! depends on the number of events, not on the time between them.

use super::Switch;
use super::observe::Sink;
use sluice_asic::gress::Gress;
use sluice_asic::units::Time;
use sluice_control::{Entry, EntryId};
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
    /// Scratch memory: idle entries, by the time of the sweep, then the position of the table in `list`.
    found: Vec<(Time, usize, EntryId)>,
}

impl Sweeps {
    pub(super) fn new(program: &Program) -> Sweeps {
        let of = |idle: IdleTimeout| Time::ORIGIN + idle.interval;
        let tables = program.tables.iter().filter_map(|(t, d)| d.idle.map(|idle| (t, idle, of(idle))));
        let list: Vec<_> = tables.filter(|(_, idle, _)| idle.interval.as_ps() > 0).collect();
        let mut sweeps = Sweeps { list, next: Time::MAX, least: Vec::new(), found: Vec::new() };
        sweeps.find_next();
        sweeps
    }

    fn find_next(&mut self) {
        self.next = self.list.iter().map(|(.., at)| *at).min().unwrap_or(Time::MAX);
    }
}

impl Switch<'_> {
    /// Returns the number of sweeps since the entry was hit or added, limited by its bits; `None` if the
    /// entry does not exist or its table does not age.
    #[must_use]
    pub fn idle(&self, table: Table, entry: EntryId) -> Option<u8> {
        self.control.tables.get(table)?.slots.get(entry as usize)?.as_ref()?;
        self.pipes.iter().map(|p| p.state.ages.get(table)?.get(entry as usize).copied()).min()?
    }

    /// Returns the time of the first sweep that finds an idle entry if no packet hits an entry before; `None`
    /// if no sweep does.
    #[must_use]
    pub fn next_idle(&self) -> Option<Time> {
        let of_table = |(table, idle, at): &(Table, IdleTimeout, Time)| {
            let slots = &self.control.tables[*table].slots;
            let later = (0..)
                .zip(slots)
                .filter_map(|(entry, slot)| sweeps_to_live(*idle, slot.as_ref()?, self.idle(*table, entry)?));
            later.min().map(|sweeps| *at + idle.interval * (sweeps - 1))
        };
        self.sweeps.list.iter().filter_map(of_table).min()
    }

    /// Runs the next sweep, and those after it that come before anything else happens, up to `until`.
    pub(super) fn sweep(&mut self, until: Time, sink: &mut dyn Sink) {
        let first = self.sweeps.next;
        self.run_before(first, sink);
        let waiting = self.pipes.iter().any(|p| Gress::ALL.iter().any(|g| p.front(*g).is_some()));
        let quiet = self.next_time().unwrap_or(Time::MAX).min(until);
        // A PHV that waits may hit an entry between two sweeps; without an end, sweeps have none.
        let last = if waiting || quiet == Time::MAX { first } else { quiet.max(first) };
        let mut found = std::mem::take(&mut self.sweeps.found);
        for i in 0..self.sweeps.list.len() {
            let (table, idle, at) = self.sweeps.list[i];
            if at <= last {
                let times = last.saturating_since(at).as_ps() / idle.interval.as_ps() + 1;
                self.sweep_table(i, times, &mut found);
                self.sweeps.list[i] = (table, idle, at + idle.interval * times);
            }
        }
        self.sweeps.find_next();
        found.sort_unstable();
        for (time, i, entry) in found.drain(..) {
            self.now = self.now.max(time);
            sink.idle(&IdleEntry { table: self.sweeps.list[i].0, entry, time });
        }
        self.sweeps.found = found;
    }

    /// Makes the next `times` sweeps of a table, between which no packet hits an entry.
    fn sweep_table(&mut self, i: usize, times: u64, found: &mut Vec<(Time, usize, EntryId)>) {
        let (table, idle, first) = self.sweeps.list[i];
        let slots = &self.control.tables[table].slots;
        let (most, least) = (idle.most(), &mut self.sweeps.least);
        least.clear();
        least.resize(slots.len(), most);
        let by = u8::try_from(times).unwrap_or(u8::MAX);
        // Sweeps whole slices including free slots, because few entries have been hit and a new entry is
        // young.
        for pipe in &mut self.pipes {
            for (age, least) in pipe.state.ages[table].iter_mut().zip(least.iter_mut()) {
                *least = (*age).min(*least);
                *age = age.saturating_add(by).min(most);
            }
        }
        if idle.mode == IdleMode::Poll {
            return;
        }
        for (entry, (slot, least)) in (0..).zip(slots.iter().zip(least)).filter(|(_, (_, l))| **l < most) {
            let Some(sweeps) = slot.as_ref().and_then(|e| sweeps_to_live(idle, e, *least)) else { continue };
            if sweeps <= times {
                found.push((first + idle.interval * (sweeps - 1), i, entry));
            }
        }
    }
}

/// Returns the number of sweeps, at least 1, until an entry of this age is found idle; `None`: never without a
/// hit, because the entry was found already, or because it never expires.
fn sweeps_to_live(idle: IdleTimeout, entry: &Entry, age: u8) -> Option<u64> {
    let ttl = idle.sweeps(entry.ttl.unwrap_or(idle.ttl));
    (idle.mode == IdleMode::Notify && ttl <= idle.most().into())
        .then(|| ttl.checked_sub(age.into()))
        .flatten()
        .filter(|sweeps| *sweeps > 0)
}
