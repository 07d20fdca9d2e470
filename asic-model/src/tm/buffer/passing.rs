//! Packets that find their port idle: the buffer charges and releases them in one step.

use super::accounting::Buffer;
use super::config::{PRIORITY_GROUPS, XoffTest};
use super::state::{Arrival, Plan};
use crate::units::Cells;

impl Buffer {
    /// Counts a packet that would be admitted and released at once, if that changes only counters and watermarks. Returns
    /// false if it could change more: if the packet is refused, pauses a group, takes headroom or shares cells with
    /// copies. Then nothing has changed, and the caller must [`admit`](Self::admit) the packet.
    #[inline]
    pub fn pass(&mut self, a: &Arrival, cells: Cells) -> bool {
        self.passes(a, cells.0).is_some()
    }

    #[inline]
    fn passes(&mut self, a: &Arrival, need: u32) -> Option<()> {
        // A profile that tests all groups of a pool could pause another group.
        if self.choices.rescan || a.copies.is_some() {
            return None;
        }
        let index = usize::from(a.in_port) * PRIORITY_GROUPS + usize::from(a.pg) % PRIORITY_GROUPS;
        let queue_index = self.queue_index(a.out_port, a.queue)?;
        let pg = self.groups.get(index)?.as_ref()?;
        let plan = self.ingress(pg, need).ok()?;
        let egress = self.egress(a, need, queue_index).ok()?;
        // A release takes shared cells first, so it is the inverse of the charge only if these are of one kind.
        let inverse = |plan: &Plan, shared: u32| plan.headroom == 0 && (plan.reserved == 0 || shared == 0);
        if plan.xoff || !inverse(&plan, pg.shared.get()) {
            return None;
        }
        let pool = self.ingress_pools.get_mut(pg.pool as usize);
        let pg = self.groups.get_mut(index)?.as_mut()?;
        let queue = self.queues.get_mut(queue_index)?;
        if !inverse(&egress, queue.shared.get()) {
            return None;
        }
        if let Some(pool) = pool.filter(|_| plan.shared > 0) {
            let free = pool.free().saturating_sub(plan.shared);
            let pauses = pg.config.lossless.is_some()
                && self.choices.xoff_test == XoffTest::PostAdmission
                && pg.shared.get() + plan.shared >= pg.config.threshold.at(free);
            if pauses {
                return None;
            }
            pool.used.touch(plan.shared);
        }
        pg.admitted.count(a.bytes);
        pg.shared.touch(plan.shared);
        queue.shared.touch(egress.shared);
        self.total.used.touch(need);
        if let Some(pool) = self.egress_pools.get_mut(queue.pool as usize) {
            pool.used.touch(egress.shared);
        }
        if let Some([ingress, _]) = self.ports.get_mut(usize::from(pg.port)) {
            ingress.used.touch(need);
        }
        if let Some([_, egress]) = self.ports.get_mut(usize::from(a.out_port)) {
            egress.used.touch(need);
        }
        Some(())
    }
}
