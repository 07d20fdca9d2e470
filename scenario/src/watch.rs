//! Who looks on while scenarios run: a timeline of each device.

use sluice_asic::units::Duration;
use sluice_switch::TimelineRow;

/// Takes the timeline of one device.
pub trait Watch {
    /// A place differs from when it was told of last.
    fn row(&mut self, row: &TimelineRow<'_>);

    /// The scenario is over.
    ///
    /// # Errors
    /// What went wrong with what it was told.
    fn end(self: Box<Self>) -> Result<(), String>;
}

/// Which device is about to run: its scenario's id, its profile, its case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device<'a> {
    /// Id of the scenario.
    pub id: &'a str,
    /// The buffer profile.
    pub profile: &'a str,
    /// The case; empty if there are none.
    pub case: &'a str,
}

/// Makes a [`Watch`] for a device.
pub type Watches = Box<dyn FnMut(Device<'_>) -> Result<Box<dyn Watch>, String>>;

/// Whoever wants to see every device.
pub(super) struct Onlooker {
    pub(super) every: Option<Duration>,
    pub(super) make: Watches,
}
