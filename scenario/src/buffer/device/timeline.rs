//! Timelines of devices while scenarios run.

use sluice_asic::units::Duration;
use sluice_switch::TimelineRow;

/// Receives the timeline of one device.
pub trait Watch {
    /// A fill level has changed since the last call.
    fn row(&mut self, row: &TimelineRow<'_>);

    /// Ends the timeline.
    ///
    /// # Errors
    /// If the timeline cannot be stored.
    fn end(self: Box<Self>) -> Result<(), String>;
}

/// The device that is about to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device<'a> {
    /// Id of the scenario.
    pub id: &'a str,
    /// Name of the buffer profile.
    pub profile: &'a str,
    /// The case; empty if there are none.
    pub case: &'a str,
}

/// Creates a [`Watch`] for a device.
pub type Watches = Box<dyn FnMut(Device<'_>) -> Result<Box<dyn Watch>, String>>;

/// A request for timelines of all devices.
pub(crate) struct Onlooker {
    pub(crate) every: Option<Duration>,
    pub(crate) make: Watches,
}
