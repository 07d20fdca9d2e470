//! Headroom pools: which groups share them, and how much they need.

use super::super::config::{PRIORITY_GROUPS, PoolConfig};
use super::super::file::{Direction, PoolEntry};
use super::super::problem::Check;
use super::Resolver;
use crate::units::{Bytes, Cells};

impl Resolver<'_> {
    /// Returns the cells of one partition of an ingress pool as the file gives them.
    pub(in super::super) fn shared_size(&self, pool: u8) -> Cells {
        let of = self.file.pool.iter().filter(|p| p.direction == Direction::Ingress);
        of.clone().nth(pool.into()).map_or(Cells::ZERO, |p| self.part(p.size))
    }

    pub(super) fn has_skid(&self) -> bool {
        self.file.pool.iter().any(|p| p.direction == Direction::Skid)
    }

    pub(in super::super) fn shares_headroom(&self, pool: &PoolEntry) -> bool {
        let ratio = pool.over_subscribe_ratio.is_some_and(|r| r > 0);
        self.has_skid() || pool.xoff.is_some_and(|x| x > Bytes::ZERO) || ratio
    }

    /// Returns the index of the headroom pool of an ingress pool that has one.
    pub(in super::super) fn headroom_pool_index(&self, pool: u8) -> u8 {
        if self.has_skid() {
            return 0;
        }
        let of = self.file.pool.iter().filter(|p| p.direction == Direction::Ingress);
        of.take(pool.into()).filter(|p| self.shares_headroom(p)).count() as u8
    }

    /// Returns the headroom pools: the skid pool, or one for each ingress pool that shares headroom.
    pub(super) fn headroom_pools(&mut self) -> Vec<PoolConfig> {
        let file = self.file;
        let skid = file.pool.iter().filter(|p| p.direction == Direction::Skid);
        if skid.clone().count() > 1 {
            self.wrong(Check::Silicon, "pool", "there are several skid pools; a chip has one");
        }
        let skids: Vec<_> =
            skid.take(1).map(|p| PoolConfig { name: p.name.clone(), size: self.part(p.size) }).collect();
        if !skids.is_empty() {
            return skids;
        }
        let ingress = file.pool.iter().filter(|p| p.direction == Direction::Ingress);
        let sharing: Vec<_> = ingress.filter(|p| self.shares_headroom(p)).collect();
        let mut pools = Vec::new();
        for pool in sharing {
            let size = match pool.xoff.filter(|x| *x > Bytes::ZERO) {
                Some(size) => size,
                None => self.demand(pool),
            };
            pools.push(PoolConfig { name: format!("{} headroom", pool.name), size: self.part(size) });
        }
        pools
    }

    /// Returns the headroom demand of a pool's lossless groups by its ratio: `xon + xoff - size` each
    /// (model: buffer §1.6).
    pub(super) fn demand(&mut self, pool: &PoolEntry) -> Bytes {
        let file = self.file;
        let mut sum = Bytes::ZERO;
        for entry in &file.pg {
            for port in self.select_ports("pg", &entry.ports, |_| false) {
                let n = self.select("pgs", &entry.pgs, PRIORITY_GROUPS as u32, |_| false).len() as u64;
                let profile = self.profile("pg", &entry.profile, port).and_then(|p| file.profile.get(p));
                if let Some(p) = profile.filter(|p| p.pool == pool.name)
                    && let Some(xoff) = p.xoff
                {
                    sum += Bytes((p.xon + xoff - p.size).0 * n);
                }
            }
        }
        Bytes(sum.0.div_ceil(u64::from(pool.over_subscribe_ratio.unwrap_or(1).max(1))))
    }
}
