//! Shapers and guarantees of the device's queues and ports.

use crate::{Switch, SwitchError};
use sluice_asic::port::DevPort;
use sluice_asic::tm::{Guarantee, QueueId, ShaperConfig, TmPort};
use sluice_exec::pass::Executor;

impl<E: Executor> Switch<E> {
    /// Sets the most that a port may send; takes effect with its next packet.
    ///
    /// # Errors
    /// When the switch has no such port.
    pub fn shape_port(&mut self, port: DevPort, most: Option<ShaperConfig>) -> Result<(), SwitchError> {
        let index = self.known(port)?;
        self.tm.set_port_shaper(TmPort(index), most);
        Ok(())
    }

    /// Sets the most that a queue may send; a queue that the port does not have is left alone.
    ///
    /// # Errors
    /// When the switch has no such port.
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

    /// Sets the least that a queue gets; a queue that the port does not have is left alone.
    ///
    /// # Errors
    /// When the switch has no such port.
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

    /// The index of a port.
    pub(super) fn known(&self, port: DevPort) -> Result<u16, SwitchError> {
        self.port_index(port.number()).ok_or(SwitchError::NoSuchPort(port.number()))
    }
}
