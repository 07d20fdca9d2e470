//! Expected breakpoints of a buffer profile: the packets at which a group sends XOFF, drops, and sends XON, counted
//! from 1.
//!
//! The formulas assume one blocked group or queue in an empty buffer (model: buffer §1.4, §1.5). They do not use the
//! cell accounting, but they do use the resolved profile and `Threshold::at`: an error in those would not be found
//! here.

use sluice_asic::tm::buffer::{BufferConfig, Lossless, PRIORITY_GROUPS, PgConfig, QueueBuffer, XoffTest};

/// Expected breakpoints of the groups and queues at port 0.
pub(crate) struct ExpectedBreakpoints<'a> {
    config: &'a BufferConfig,
}

/// More packets than any profile admits.
const MOST: u64 = 1 << 32;

/// Returns the least number from 1 for which a monotonic condition holds; `None` if it holds for none.
fn first(holds: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut low, mut high) = (1, MOST);
    if !holds(high) {
        return None;
    }
    while low < high {
        let middle = low + (high - low) / 2;
        match holds(middle) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    Some(low)
}

/// Returns the shared cells in use after `n` packets of `cells` cells, of which `reserved` cells are reserved.
fn shared(n: u64, cells: u64, reserved: u64) -> u64 {
    (n * cells).saturating_sub(reserved)
}

fn narrow(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

impl<'a> ExpectedBreakpoints<'a> {
    pub(crate) fn new(config: &'a BufferConfig) -> Self {
        Self { config }
    }

    fn group(&self, class: usize) -> Option<&PgConfig> {
        let pg = usize::from(*self.config.maps.tc_to_pg.get(class)?) % PRIORITY_GROUPS;
        self.config.ports.first()?.groups.get(pg)?.as_ref()
    }

    fn queue(&self, class: usize) -> Option<&QueueBuffer> {
        let queue = usize::from(*self.config.maps.tc_to_queue.get(class)?);
        self.config.ports.first()?.queues.get(queue)
    }

    fn lossless(&self) -> Option<(&PgConfig, Lossless)> {
        let group = self.group(3)?;
        Some((group, group.lossless?))
    }

    /// Returns the cells of the pool that lossless groups share.
    pub(crate) fn pool(&self) -> Option<u64> {
        let (group, _) = self.lossless()?;
        Some(self.config.ingress_pools.get(usize::from(group.pool))?.size.get().into())
    }

    /// Returns the headroom that one group can use: its cap, or the pool's size if that is smaller.
    pub(crate) fn headroom(&self) -> Option<u64> {
        let (_, lossless) = self.lossless()?;
        let pool = lossless.headroom_pool.and_then(|p| self.config.headroom_pools.get(usize::from(p)));
        Some(lossless.cap.get().min(pool.map_or(u32::MAX, |p| p.size.get())).into())
    }

    /// Returns the cells of the headroom pool; without a pool, of the group's headroom.
    pub(crate) fn headroom_pool(&self) -> Option<u64> {
        let (_, lossless) = self.lossless()?;
        let pool = lossless.headroom_pool.and_then(|p| self.config.headroom_pools.get(usize::from(p)));
        Some(pool.map_or(lossless.cap, |p| p.size).get().into())
    }

    /// Returns the reserved cells of a lossless group.
    pub(crate) fn reserved(&self) -> Option<u64> {
        self.lossless().map(|(group, _)| group.reserved.get().into())
    }

    /// Returns the distance below its threshold at which a group resumes, cells.
    pub(crate) fn xon_offset(&self) -> Option<u64> {
        self.lossless().map(|(_, l)| l.xon_offset.get().into())
    }

    /// Returns the cells in use at which a group resumes, however low its threshold is.
    pub(crate) fn xon(&self) -> Option<u64> {
        self.lossless().map(|(_, l)| l.xon.get().into())
    }

    /// Returns the reserved cells of a lossy queue.
    pub(crate) fn queue_reserved(&self) -> Option<u64> {
        self.queue(0).map(|queue| queue.reserved.get().into())
    }

    /// Returns the cells of a packet.
    pub(crate) fn cells(&self, bytes: u64) -> u64 {
        (bytes + self.config.descriptor.get()).div_ceil(self.config.cell.get().max(1)).max(1)
    }

    /// Returns the packet that pauses a group while other groups of the pool hold `other` shared cells.
    pub(crate) fn xoff_at(&self, cells: u64, other: u64) -> Option<u64> {
        let (group, _) = self.lossless()?;
        let (pool, reserved) = (self.pool()?.saturating_sub(other), u64::from(group.reserved.get()));
        let limit = |used: u64| u64::from(group.threshold.at(narrow(pool.saturating_sub(used))));
        match self.config.choices.xoff_test {
            XoffTest::PostAdmission => first(|n| {
                let used = shared(n, cells, reserved);
                used > 0 && used >= limit(used)
            }),
            XoffTest::PreAdmission => first(|n| {
                let (before, used) = (shared(n - 1, cells, reserved), shared(n, cells, reserved));
                used > before && used > limit(before)
            }),
        }
    }

    /// Returns the number of packets that fit the headroom.
    fn in_headroom(&self, cells: u64) -> Option<u64> {
        self.headroom()?.checked_div(cells)
    }

    /// Returns the last packet that is charged to shared cells.
    fn last_shared(&self, cells: u64, other: u64) -> Option<u64> {
        let xoff = self.xoff_at(cells, other)?;
        match self.config.choices.xoff_test {
            XoffTest::PostAdmission => Some(xoff),
            // The packet that causes XOFF is in headroom itself.
            XoffTest::PreAdmission => Some(xoff - 1),
        }
    }

    /// Returns the first packet that is dropped.
    pub(crate) fn drop_at(&self, cells: u64, other: u64) -> Option<u64> {
        Some(self.last_shared(cells, other)? + self.in_headroom(cells)? + 1)
    }

    /// Returns the packet, within its group, that pauses the last of `n` groups that get packets in turn.
    pub(crate) fn xoff_each(&self, cells: u64, n: u64) -> Option<u64> {
        let reserved = self.reserved()?;
        first(|packet| {
            let others = shared(packet, cells, reserved).saturating_mul(n.saturating_sub(1));
            self.xoff_at(cells, others).is_some_and(|xoff| xoff <= packet)
        })
    }

    /// Returns the departures after which a group resumes that was filled until a drop.
    pub(crate) fn xon_after(&self, cells: u64) -> Option<u64> {
        self.departures(cells, self.in_headroom(cells)?)
    }

    /// Returns the departures after which a group resumes that has just been paused.
    pub(crate) fn dismiss(&self, cells: u64) -> Option<u64> {
        match self.config.choices.xoff_test {
            XoffTest::PostAdmission => self.departures(cells, 0),
            XoffTest::PreAdmission => self.departures(cells, 1),
        }
    }

    /// Returns the departures after which a paused group with `above` packets in headroom resumes.
    fn departures(&self, cells: u64, above: u64) -> Option<u64> {
        let (group, lossless) = self.lossless()?;
        let (pool, reserved) = (self.pool()?, u64::from(group.reserved.get()));
        let last = self.last_shared(cells, 0)?;
        let (peak, held) = (shared(last, cells, reserved), above * cells);
        first(|n| {
            let gone = n * cells;
            if gone < held {
                return false;
            }
            let used = peak.saturating_sub(gone - held);
            let limit = group.threshold.at(narrow(pool.saturating_sub(used)));
            let level = limit.saturating_sub(lossless.xon_offset.get()).max(lossless.xon.get());
            used <= u64::from(level)
        })
    }

    /// Returns the first packet of a lossy class that is dropped.
    pub(crate) fn lossy_drop_at(&self, cells: u64) -> Option<u64> {
        let (group, queue) = (self.group(0)?, self.queue(0)?);
        let ingress = self.config.ingress_pools.get(usize::from(group.pool))?.size.get();
        let egress = self.config.egress_pools.get(usize::from(queue.pool))?.size.get();
        let full = |n: u64, reserved: u64, pool: u32, limit: &dyn Fn(u32) -> u32, needs_pool: bool| {
            let (before, used) = (shared(n - 1, cells, reserved), shared(n, cells, reserved));
            let free = pool.saturating_sub(narrow(before));
            used > before && (used > u64::from(limit(free)) || needs_pool && used > u64::from(pool))
        };
        first(|n| {
            let choices = &self.config.choices;
            full(n, queue.reserved.get().into(), egress, &|free| queue.threshold.at(free), true)
                || full(
                    n,
                    group.reserved.get().into(),
                    ingress,
                    &|free| group.threshold.at(free),
                    choices.lossy_needs_ingress_pool,
                )
                || n * cells > u64::from(self.config.size.get())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_asic::tm::buffer::{BufferFile, PortInfo};
    use sluice_asic::units::BitRate;

    fn config(text: &str, ports: usize, gbps: u64) -> BufferConfig {
        let port = |i: usize| PortInfo {
            name: i.to_string(),
            speed: BitRate::from_gbps(gbps),
            queues: 8,
            internal: false,
        };
        let ports: Vec<PortInfo> = (0..ports).map(port).collect();
        BufferFile::parse("test", text).unwrap().resolve(&ports).unwrap()
    }

    /// Model: buffer §8.1 rows 2 to 7.
    #[test]
    fn the_sheets_own_profile() {
        let config = config(crate::shipped::profile("a").unwrap(), 4, 100);
        let n = ExpectedBreakpoints::new(&config);
        for (cells, xoff, drop) in [(1, 1010, 1211), (6, 169, 203), (2, 505, 606)] {
            assert_eq!((n.xoff_at(cells, 0), n.drop_at(cells, 0)), (Some(xoff), Some(drop)), "{cells}");
        }
        assert_eq!((n.xon_after(1), n.lossy_drop_at(1)), (Some(218), Some(1609)));
        assert_eq!((n.xoff_at(1, 1608), n.drop_at(1, 1608)), (Some(831), Some(1032)));
        assert_eq!([n.cells(1), n.cells(256), n.cells(257)], [1, 1, 2]);
        assert_eq!((n.pool(), n.reserved(), n.headroom()), (Some(9000), Some(10), Some(200)));
    }

    /// Model: buffer §1.5: Tomahawk at 40G over 300 m.
    #[test]
    fn a_real_switch() {
        let text = BufferFile::text_of("th").unwrap().replace("pfc_enable", "cable = \"300m\"\npfc_enable");
        let config = config(&text, 32, 40);
        let n = ExpectedBreakpoints::new(&config);
        assert_eq!((n.xoff_at(1, 0), n.drop_at(1, 0)), (Some(6542), Some(7063)));
        assert_eq!((n.headroom_pool(), n.lossy_drop_at(1)), (Some(5041), Some(9885)));
    }
}
