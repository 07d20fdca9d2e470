//! Cells that the sizes of a file's pools include in addition to shared cells (decision D3).
//!
//! Chips differ: Tomahawk's pools are shared cells alone, Trident 3's include headroom and the cells of groups, and Tomahawk 3's
//! also those of queues. A configuration has shared cells only.

use super::super::config::{PgConfig, PoolConfig, PortBuffer};
use super::super::file::{Direction, PoolClass, QueueReserve};
use super::super::problem::Check;
use super::Resolver;
use crate::units::Cells;

impl Resolver<'_> {
    /// Takes the cells of groups off the ingress pools that include them.
    pub(super) fn take_included_off(
        &mut self,
        ports: &[PortBuffer],
        headroom: &[PoolConfig],
        pools: &mut [PoolConfig],
    ) {
        let file = self.file;
        let parts = u32::from(self.partitions());
        let entries = file.pool.iter().filter(|p| p.direction == Direction::Ingress);
        for ((index, pool), entry) in (0u8..).zip(pools).zip(entries) {
            if file.pool_includes_headroom && !self.has_skid() && self.shares_headroom(entry) {
                let shared = headroom.get(usize::from(self.headroom_pool_index(index)));
                self.take_off(pool, "headroom", shared.map_or(Cells::ZERO, |h| h.size));
            }
            if file.pool_includes_reserved {
                let own = |pg: &PgConfig| {
                    let private = pg.lossless.filter(|l| l.headroom_pool.is_none());
                    pg.reserved + private.map_or(Cells::ZERO, |l| l.cap)
                };
                let groups = ports.iter().flat_map(|p| p.groups.iter().flatten());
                let reserved: Cells = groups.filter(|pg| pg.pool == index).map(own).sum();
                self.take_off(pool, "that are reserved", Cells(reserved.get().div_ceil(parts)));
            }
        }
    }

    /// Takes the reserved cells of front-panel queues off the pools that include them. Those of internal ports are the chip's own.
    pub(super) fn take_queues_off(
        &mut self,
        ports: &[PortBuffer],
        ingress: &mut [PoolConfig],
        egress: &mut [PoolConfig],
    ) {
        let front = ports.iter().zip(self.ports).filter(|(_, info)| !info.internal);
        let queues: Vec<_> = front.flat_map(|(port, _)| &port.queues).map(|q| (q.pool, q.reserved)).collect();
        match self.file.pool_includes_queues {
            QueueReserve::None => {}
            QueueReserve::Egress => {
                let parts = u32::from(self.partitions());
                for (index, pool) in (0u8..).zip(egress) {
                    let own: Cells =
                        queues.iter().filter(|(of, _)| *of == index).map(|(_, cells)| *cells).sum();
                    self.take_off(pool, "reserved for queues", Cells(own.get().div_ceil(parts)));
                }
            }
            QueueReserve::Ingress => {
                let all: Cells = queues.iter().map(|(_, cells)| *cells).sum();
                let Some(largest) = ingress.iter_mut().max_by_key(|pool| pool.size) else { return };
                self.take_off(largest, "reserved for queues", all);
                let file = self.file;
                let of = file.pool.iter().filter(|p| p.direction == Direction::Egress);
                for (pool, _) in egress.iter_mut().zip(of).filter(|(_, p)| p.class != PoolClass::Lossless) {
                    pool.size = pool.size.min(largest.size);
                }
            }
        }
    }

    /// Takes cells off one partition of a pool.
    fn take_off(&mut self, pool: &mut PoolConfig, what: &str, cells: Cells) {
        if cells > pool.size {
            let text = format!("{} of a partition include {cells} {what}, which is more", pool.size);
            self.wrong(Check::OverCommit, format!("pool `{}`", pool.name), text);
        }
        pool.size = pool.size - cells;
    }
}
