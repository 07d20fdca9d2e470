//! Checks properties during a run: passes entering packets and changes of entries to the monitor.

use crate::view::SwitchView;
use sluice_asic::units::Time;
use sluice_switch::property::Monitor;
use std::iter::Peekable;

/// A monitor that is notified of a change of entries before the first packet after the change.
pub(crate) struct PropertyCheck {
    pub(crate) monitor: Monitor,
    /// Times at which entries change.
    changes: Peekable<std::vec::IntoIter<Time>>,
}

impl PropertyCheck {
    /// Returns the check of a switch; `None` if its properties are not checked.
    pub(crate) fn of(view: &SwitchView<'_>) -> Option<PropertyCheck> {
        let make = view.checks.properties.as_ref()?;
        let changes: Vec<Time> = view.entry_changes.to_vec();
        let monitor = Monitor::new(view.program(), make());
        Some(PropertyCheck { monitor, changes: changes.into_iter().peekable() })
    }

    /// Passes an entering packet to the monitor.
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
