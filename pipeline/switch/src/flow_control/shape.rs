//! Shapers and guarantees of queues and ports.

use crate::{Switch, SwitchError};
use sluice_asic::port::DevPort;
use sluice_asic::tm::{Guarantee, QueueId, ShaperConfig, TmPort};

impl Switch<'_> {
    /// Sets the maximum rate of a port, from its next packet on; `None` removes the limit.
    ///
    /// # Errors
    /// Refuses a port that the switch does not have.
    pub fn shape_port(&mut self, port: DevPort, most: Option<ShaperConfig>) -> Result<(), SwitchError> {
        let index = self.known(port)?;
        self.tm.set_port_shaper(TmPort(index), most);
        Ok(())
    }

    /// Sets the maximum rate of a queue; `None` removes the limit. Ignores a queue that the port does not
    /// have.
    ///
    /// # Errors
    /// Refuses a port that the switch does not have.
    pub fn shape_queue(
        &mut self,
        port: DevPort,
        queue: u8,
        most: Option<ShaperConfig>,
    ) -> Result<(), SwitchError> {
        let index = self.known(port)?;
        self.tm.set_queue_shaper(TmPort(index), QueueId(queue), most);
        Ok(())
    }

    /// Sets the guaranteed rate of a queue; `None` removes it. Ignores a queue that the port does not have.
    ///
    /// # Errors
    /// Refuses a port that the switch does not have.
    pub fn guarantee_queue(
        &mut self,
        port: DevPort,
        queue: u8,
        least: Option<Guarantee>,
    ) -> Result<(), SwitchError> {
        let index = self.known(port)?;
        self.tm.set_guarantee(TmPort(index), QueueId(queue), least);
        Ok(())
    }

    /// Returns the index of a port.
    pub(super) fn known(&self, port: DevPort) -> Result<u16, SwitchError> {
        self.port_index(port.number()).ok_or(SwitchError::NoSuchPort(port.number()))
    }
}
