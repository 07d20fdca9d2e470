//! Changes that an operator makes to a shared buffer and its watchdogs during a run.

use crate::observe::Sink;
use crate::{Switch, SwitchError};
use sluice_asic::port::DevPort;
use sluice_asic::tm::buffer::{Buffer, PortBuffer, Reader, Threshold};
use sluice_asic::units::{Bytes, Cells, Time};

impl Switch<'_> {
    /// Returns the shared buffer, if there is one; ports are numbered as in [`Switch::flow`].
    #[must_use]
    pub fn buffer(&self) -> Option<&Buffer> {
        self.tm.buffer()
    }

    /// Sets a priority group's threshold. It applies when the group next takes or returns cells. Without a
    /// shared buffer, does nothing.
    ///
    /// # Errors
    /// Refuses a port that the switch does not have.
    pub fn set_pg_threshold(
        &mut self,
        port: DevPort,
        pg: u8,
        threshold: Threshold,
    ) -> Result<(), SwitchError> {
        let index = self.known(port)?;
        if let Some(buffer) = self.tm.buffer_mut() {
            buffer.set_threshold(index, pg, threshold);
        }
        Ok(())
    }

    /// Sets the size of every partition of the ingress pool of this number, even below the cells in use.
    pub fn resize_ingress_pool(&mut self, pool: u8, size: Cells) {
        let pools = self.flow.as_ref().map_or(0, |flow| flow.config.ingress_pools.len());
        if let Some(buffer) = self.tm.buffer_mut() {
            buffer.set_ingress_pool_size(pool, pools, size);
        }
    }

    /// Resets a reader's watermarks to the present levels.
    pub fn clear_watermarks(&mut self, reader: Reader) {
        self.tm.touched().into_iter().for_each(|touched| touched.all = true);
        if let Some(buffer) = self.tm.buffer_mut() {
            buffer.clear_watermarks(reader);
        }
    }

    /// Switches SONiC's BIG_RED_SWITCH. On: every lossless queue drops waiting and arriving packets, and the
    /// watchdog stops looking for storms. Off: both are reverted (model: buffer §2.3).
    pub fn big_red_switch(&mut self, on: bool, sink: &mut dyn Sink) {
        let Some(flow) = &mut self.flow else { return };
        if std::mem::replace(&mut flow.big_red_switch, on) == on {
            return;
        }
        self.watched = sink.watches();
        let lossless = |(port, of): (u16, &PortBuffer)| -> Vec<(u16, u8)> {
            let queues = (0u8..).zip(&of.queues);
            queues.filter(|(_, q)| q.lossless && q.priority.is_some()).map(|(id, _)| (port, id)).collect()
        };
        let queues: Vec<(u16, u8)> = (0u16..).zip(&flow.config.ports).flat_map(lossless).collect();
        let now = self.now;
        for (port, queue) in queues {
            if self.ports[usize::from(port)].front {
                self.set_aside(now, port, queue, on, on, sink);
            }
        }
    }

    /// Restarts the watchdogs' poller. Storms that last are not detected a second time.
    pub fn restart_watchdogs(&mut self) {
        let queues = self.flow.iter_mut().flat_map(|flow| &mut flow.ports).flat_map(|port| &mut port.queues);
        queues.filter_map(|queue| queue.watchdog.as_mut()).for_each(|dog| dog.warm_restart());
    }

    /// Receives a frame of `len` bytes (without FCS) that the MAC cannot use, because its FCS is wrong or it
    /// fails authentication. The frame takes time on the wire and counts as an error of the port; it has no
    /// other effect.
    ///
    /// # Errors
    /// Refuses a port that the switch does not have.
    pub fn rx_damaged(&mut self, port: DevPort, time: Time, len: Bytes) -> Result<(), SwitchError> {
        let index = usize::from(self.known(port)?);
        let p = &mut self.ports[index];
        let first_bit = time.max(p.rx_free);
        p.rx_free = p.rx.receive(first_bit, len).next_first_bit;
        self.totals.ports[index].rx_errors += 1;
        Ok(())
    }

    /// Cancels the due poll of a port.
    pub(super) fn stop_polling(&mut self, port: u16) {
        if let Some(own) = self.flow.as_mut().and_then(|flow| flow.ports.get_mut(usize::from(port))) {
            own.polling = false;
        }
    }
}
