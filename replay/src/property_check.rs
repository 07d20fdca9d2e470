//! What `--check` asks properties of a replay: packets that come in, and entries that change between them. What may not live
//! here: the properties; what leaves.

use super::Plan;
use sluice_asic::units::Time;
use sluice_pipeline::control::ControlOp;
use sluice_pipeline::property::Monitor;
use std::iter::Peekable;

/// A monitor that hears of entries before the packets behind them.
pub(crate) struct Checked {
    pub(crate) monitor: Monitor,
    /// When entries change. Queues and ports change when packets leave, not where they go.
    changes: Peekable<std::vec::IntoIter<Time>>,
}

impl Checked {
    /// That of a plan, if it is asked for.
    pub(super) fn of(plan: &Plan<'_>) -> Option<Checked> {
        let make = plan.properties.as_ref()?;
        let entries = plan.changes.iter().filter(|(_, op)| !matches!(op, ControlOp::Device(_)));
        let mut times: Vec<Time> = entries.map(|(at, _)| Time::ORIGIN + *at).collect();
        times.sort_unstable();
        Some(Checked { monitor: Monitor::new(&plan.program, make()), changes: times.into_iter().peekable() })
    }

    /// A packet comes in.
    pub(crate) fn entered(&mut self, tag: u64, port: u16, time: Time, bytes: &[u8]) {
        let mut changed = false;
        while self.changes.next_if(|at| *at <= time).is_some() {
            changed = true;
        }
        if changed {
            self.monitor.changed();
        }
        self.monitor.entered(tag, port, time, bytes);
    }
}
