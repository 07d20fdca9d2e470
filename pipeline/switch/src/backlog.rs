//! Contents of queues at one time, for samples.

use super::Switch;
use sluice_asic::tm::{QueueId, TmPort};
use sluice_asic::units::Bytes;

impl Switch<'_> {
    /// Returns the queues that hold packets, by port and queue: dev_port, queue, cells.
    pub fn backlog(&self) -> impl Iterator<Item = (u16, u8, u32)> {
        self.tm.queue_stats().filter_map(|(TmPort(port), QueueId(queue), _)| {
            let cells = self.tm.depth(TmPort(port), QueueId(queue))?.get();
            let dev_port = self.ports.get(usize::from(port))?.dev_port;
            (cells > 0).then_some((dev_port, queue, cells))
        })
    }

    /// Returns the number of buffer cells that packets hold.
    #[must_use]
    pub fn used_cells(&self) -> u32 {
        self.tm.buffer().map_or_else(|| self.tm.used_cells().get(), |b| b.total().current().get())
    }

    /// Returns the bytes of a buffer cell.
    #[must_use]
    pub fn cell(&self) -> Bytes {
        self.flow.as_ref().map_or(self.chip.tm.cell, |flow| flow.config().cell)
    }
}
