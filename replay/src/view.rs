//! Names and speeds of a switch's ports, for the outputs of a run.

use crate::options::{Checks, Options};
use sluice_asic::units::{BitRate, Duration, Time};
use sluice_control::ControlOp;
use sluice_fabric::network::SwitchSetup;
use sluice_ir::Program;
use sluice_place::Placement;
use sluice_switch::{Mode, SwitchConfig};
use std::sync::Arc;

/// One switch of a run.
#[derive(Clone)]
pub(crate) struct SwitchView<'a> {
    pub(crate) setup: &'a SwitchSetup,
    pub(crate) options: &'a Options,
    pub(crate) checks: &'a Checks,
    /// dev_ports that do not run at the speed of the port map. The first entry of a port counts.
    speeds: Arc<[(u16, BitRate)]>,
    /// Times at which entries change. Operations on the device are left out, because they change only when packets are
    /// sent, not where.
    pub(crate) entry_changes: Arc<[Time]>,
    /// True if queues, ports or shapers change.
    pub(crate) is_disturbed: bool,
}

impl<'a> SwitchView<'a> {
    pub(crate) fn new<'c>(
        setup: &'a SwitchSetup,
        options: &'a Options,
        checks: &'a Checks,
        speeds: &[(u16, BitRate)],
        changes: impl Iterator<Item = (Duration, &'c ControlOp)>,
    ) -> SwitchView<'a> {
        let (device, entries): (Vec<_>, Vec<_>) =
            changes.partition(|(_, op)| matches!(op, ControlOp::Device(_)));
        let mut times: Vec<Time> = entries.into_iter().map(|(at, _)| Time::ORIGIN + at).collect();
        times.sort_unstable();
        let (speeds, entry_changes) = (speeds.into(), times.into());
        SwitchView { setup, options, checks, speeds, entry_changes, is_disturbed: !device.is_empty() }
    }

    pub(crate) fn program(&self) -> &'a Program {
        &self.setup.placed.program
    }

    pub(crate) fn placement(&self) -> &'a Placement {
        &self.setup.placed.placement
    }

    pub(crate) fn config(&self) -> &'a SwitchConfig {
        &self.setup.config
    }

    pub(crate) fn is_timed(&self) -> bool {
        self.setup.config.mode == Mode::Timed
    }

    /// Returns the speed that a dev_port runs at; 0 if there is no such port.
    pub(crate) fn speed_of(&self, dev_port: u16) -> BitRate {
        let slower = self.speeds.iter().find(|(dev, _)| *dev == dev_port).map(|(_, speed)| *speed);
        let port = self.setup.ports.iter().find(|p| p.dev_port.number() == dev_port);
        slower.or(port.map(|p| p.speed)).unwrap_or(BitRate::from_bps(0))
    }

    /// Returns the name of a dev_port in summaries: the user's name or the front-panel number, `cpu`, `recirc:N`, or `dev:N`.
    pub(crate) fn port_name(&self, dev_port: u16) -> String {
        self.setup.port_name(dev_port)
    }
}
