//! Checks properties during a run: passes entering packets and changes of entries to the monitor.

use crate::view::SwitchView;
use sluice_asic::units::Time;
use sluice_control::ControlOp;
use sluice_switch::property::Monitor;
use std::collections::VecDeque;

/// A monitor that is notified of a change of entries before the first packet after the change.
pub(crate) struct PropertyCheck {
    pub(crate) monitor: Monitor,
    /// Times at which entries change, in order.
    changes: VecDeque<Time>,
}

impl PropertyCheck {
    /// Returns the check of a switch; `None` if its properties are not checked.
    pub(crate) fn of(view: &SwitchView<'_>) -> Option<PropertyCheck> {
        let make = view.checks.properties.as_ref()?;
        let changes: Vec<Time> = view.entry_changes.to_vec();
        let mut monitor = Monitor::new(view.program(), make());
        if view.is_disturbed {
            monitor.disturbed();
        }
        Some(PropertyCheck::new(monitor, changes))
    }

    /// Returns a check with this monitor; entries change at these times, which are in order.
    pub(crate) fn new(monitor: Monitor, changes: Vec<Time>) -> PropertyCheck {
        PropertyCheck { monitor, changes: changes.into() }
    }

    /// Notes an operation that takes effect at this time.
    pub(crate) fn changes_at(&mut self, time: Time, op: &ControlOp) {
        if matches!(op, ControlOp::Device(_)) {
            // Changes of queues and ports do not change the verdict on packets.
            self.monitor.disturbed();
        } else {
            let at = self.changes.partition_point(|known| *known <= time);
            self.changes.insert(at, time);
        }
    }

    /// Passes an entering packet to the monitor.
    pub(crate) fn entered(&mut self, tag: u64, port: u16, time: Time, bytes: &[u8]) {
        let mut changed = false;
        while self.changes.front().is_some_and(|at| *at <= time) {
            self.changes.pop_front();
            changed = true;
        }
        if changed {
            self.monitor.changed();
        }
        self.monitor.entered(tag, port, time, bytes);
    }
}
