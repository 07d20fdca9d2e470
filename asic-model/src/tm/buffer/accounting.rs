//! Cell accounting of a shared buffer: charges, refusals and pauses.
//!
//! Every admitted packet is charged at once to its priority group, ingress port and ingress pool (or headroom pool),
//! and to its queue, egress port and egress pool. The order of checks is (model: buffer §1.4):
//!
//! - *admit*: the whole memory; then the group (a paused lossless group takes headroom, any other group takes its
//!   reserved cells and then shared cells); then the queue (its reserved cells, then shared cells). The buffer charges
//!   cells only after all of these have agreed.
//! - *release*: headroom before shared before reserved cells (decision D14), so that no packet needs to record the kind
//!   of its cells.
//!
//! A lossless packet is never refused at egress; a lossy packet is refused at ingress only if a profile says so. Pauses
//! and resumes are returned by [`Buffer::edges`] in order.

use super::config::{BufferConfig, Choices, PRIORITY_GROUPS, PortBuffer, XoffTest};
use super::gauge::{Gauge, Reader};
use super::rule::{Refusal, Rule};
use super::state::{
    Arrival, Charge, Copies, CopyGroup, NO_GROUP, PfcEdge, PgState, Plan, Pool, QueueState, Side, eighths,
    pg_states, queue_states,
};
use super::threshold::Threshold;
use crate::meter::Colour;
use crate::units::{Bytes, Cells, Divisor};

/// Shared buffer: counters, limits, pauses.
#[derive(Debug, Clone)]
pub struct Buffer {
    pub(super) cell: Divisor,
    descriptor: u64,
    pub(super) choices: Choices,
    pub(super) total: Pool,
    pub(super) ingress_pools: Box<[Pool]>,
    pub(super) egress_pools: Box<[Pool]>,
    pub(super) headroom_pools: Box<[Pool]>,
    /// `port * PRIORITY_GROUPS + pg`.
    pub(super) groups: Box<[Option<PgState>]>,
    pub(super) queues: Box<[QueueState]>,
    /// First queue of each port, and one past the last queue.
    pub(super) first_queue: Box<[u32]>,
    /// Ingress and egress side of each port.
    pub(super) ports: Box<[[Side; 2]]>,
    copies: Vec<Copies>,
    free_copies: Vec<u32>,
    edges: Vec<PfcEdge>,
}

impl Buffer {
    /// Creates an empty buffer. The configuration must come from [`super::BufferFile::resolve`]; with a wrong index in
    /// another configuration, the buffer refuses packets or counts them to the first pool.
    pub fn new(config: &BufferConfig) -> Self {
        let partitions = usize::from(config.partitions.max(1));
        let pools = |list: &[super::PoolConfig]| -> Box<[Pool]> {
            (0..partitions).flat_map(|_| list.iter().map(|p| Pool::new(p.size))).collect()
        };
        let mut first_queue = vec![0];
        let mut queues = Vec::new();
        let mut groups = Vec::new();
        for (index, port) in (0u16..).zip(&config.ports) {
            groups.extend(pg_states(config, index, port));
            queues.extend(queue_states(config, index, port));
            first_queue.push(queues.len() as u32);
        }
        let limit = |limit: Option<Cells>| limit.map_or(u32::MAX, |l| l.0);
        let sides = |port: &PortBuffer| {
            [port.ingress_limit, port.egress_limit].map(|l| Side { used: Gauge::default(), limit: limit(l) })
        };
        Self {
            cell: Divisor::new(config.cell.0),
            descriptor: config.descriptor.0,
            choices: config.choices,
            total: Pool::new(config.size),
            ingress_pools: pools(&config.ingress_pools),
            egress_pools: pools(&config.egress_pools),
            headroom_pools: pools(&config.headroom_pools),
            groups: groups.into(),
            queues: queues.into(),
            first_queue: first_queue.into(),
            ports: config.ports.iter().map(sides).collect(),
            copies: Vec::new(),
            free_copies: Vec::new(),
            edges: Vec::new(),
        }
    }

    /// Returns the cells that a packet of `bytes` takes: at least one.
    #[inline]
    pub fn cells_of(&self, bytes: Bytes) -> Cells {
        let cells = self.cell.ceil(bytes.0.saturating_add(self.descriptor));
        Cells(u32::try_from(cells).unwrap_or(u32::MAX).max(1))
    }

    /// Charges a packet, or refuses it. A refused packet is counted to its group or queue and changes nothing else,
    /// with one exception: under [`XoffTest::PreAdmission`] it pauses a group that holds packets and whose threshold it
    /// exceeds.
    ///
    /// # Errors
    /// Returns the rule that refused the packet.
    pub fn admit(&mut self, a: &Arrival) -> Result<Charge, Refusal> {
        let need = self.cells_of(a.bytes).0;
        let pg = usize::from(a.in_port) * PRIORITY_GROUPS + usize::from(a.pg) % PRIORITY_GROUPS;
        let result = match self.queue_index(a.out_port, a.queue) {
            Some(queue) => self.try_admit(a, need, pg, queue),
            None => Err(Refusal { rule: Rule::NoSuchQueue, used: 0, need, limit: 0 }),
        };
        match result {
            Ok(charge) => Ok(charge),
            Err(refusal) => {
                self.refused(a, refusal.rule, pg);
                Err(refusal)
            }
        }
    }

    fn try_admit(&mut self, a: &Arrival, need: u32, pg: usize, queue: usize) -> Result<Charge, Refusal> {
        let charged = a.copies.is_some_and(|c| self.copies.get(c.0 as usize).is_some_and(|c| c.cells > 0));
        let state = self.groups.get(pg).and_then(Option::as_ref);
        let state = state.ok_or(Refusal { rule: Rule::PgMissing, used: 0, need, limit: 0 })?;
        let ingress = if charged { Plan::default() } else { self.ingress(state, need)? };
        let egress = self.fits_headroom(state, &ingress).and_then(|()| self.egress(a, need, queue));
        // A refused packet must not pause an empty group, because no release would ever resume the group.
        if ingress.xoff && (egress.is_ok() || state.total() > 0) {
            self.pause(pg);
        }
        let egress = egress?;
        if !charged {
            self.charge_ingress(pg, &ingress, a.bytes);
        }
        self.charge_egress(a.out_port, queue, &egress);
        let copies = match a.copies {
            Some(CopyGroup(group)) => {
                if let Some(copies) = self.copies.get_mut(group as usize).filter(|_| !charged) {
                    (copies.cells, copies.pg) = (need, pg as u32);
                }
                group
            }
            None => NO_GROUP,
        };
        if !charged {
            self.after_charge(pg);
        }
        Ok(Charge { pg: pg as u32, queue: queue as u32, cells: need, copies })
    }

    /// Returns the cells by kind that the group would charge.
    #[inline]
    pub(super) fn ingress(&self, pg: &PgState, need: u32) -> Result<Plan, Refusal> {
        let refuse = |rule, used, need, limit| Err(Refusal { rule, used, need, limit });
        if need > self.total.free() {
            return refuse(Rule::BufferFull, self.total.used.get(), need, self.total.limit);
        }
        let side = self.ports.get(usize::from(pg.port)).map(|p| &p[0]);
        if let Some(side) = side.filter(|s| need > s.limit.saturating_sub(s.used.get())) {
            return refuse(Rule::IngressPort, side.used.get(), need, side.limit);
        }
        if pg.xoff {
            return Ok(Plan { headroom: need, ..Plan::default() });
        }
        let reserved = need.min(pg.config.reserved.0.saturating_sub(pg.reserved));
        let shared = need - reserved;
        let plan = Plan { reserved, shared, ..Plan::default() };
        if shared == 0 {
            return Ok(plan);
        }
        let Some(pool) = self.ingress_pools.get(pg.pool as usize) else { return Ok(plan) };
        let limit = || pg.config.threshold.at(pool.free());
        let beyond = |limit: u32| shared > limit.saturating_sub(pg.shared.get());
        match pg.config.lossless {
            Some(_) if self.choices.xoff_test == XoffTest::PreAdmission && beyond(limit()) => {
                Ok(Plan { headroom: need, xoff: true, ..Plan::default() })
            }
            Some(_) => Ok(plan),
            None if pg.config.threshold != Threshold::Unlimited && beyond(limit()) => {
                refuse(Rule::PgShared, pg.shared.get(), shared, limit())
            }
            None if self.choices.lossy_needs_ingress_pool && shared > pool.free() => {
                refuse(Rule::IngressPool, pool.used.get(), shared, pool.limit)
            }
            None => Ok(plan),
        }
    }

    /// Checks that the cells of a paused group fit its own headroom and the headroom pool.
    #[inline]
    fn fits_headroom(&self, pg: &PgState, plan: &Plan) -> Result<(), Refusal> {
        let need = plan.headroom;
        if need == 0 {
            return Ok(());
        }
        let (used, cap) = (pg.headroom.get(), pg.config.lossless.map_or(0, |l| l.cap.0));
        if need > cap.saturating_sub(used) {
            return Err(Refusal { rule: Rule::PgHeadroom, used, need, limit: cap });
        }
        let pool = pg.headroom_pool.and_then(|p| self.headroom_pools.get(p as usize));
        match pool.filter(|pool| need > pool.free()) {
            Some(pool) => {
                Err(Refusal { rule: Rule::HeadroomPool, used: pool.used.get(), need, limit: pool.limit })
            }
            None => Ok(()),
        }
    }

    /// Returns the cells by kind that the queue would charge.
    #[inline]
    pub(super) fn egress(&self, a: &Arrival, need: u32, queue: usize) -> Result<Plan, Refusal> {
        let Some(queue) = self.queues.get(queue) else { return Ok(Plan::default()) };
        let reserved = need.min(queue.config.reserved.0.saturating_sub(queue.reserved));
        let shared = need - reserved;
        let plan = Plan { reserved, shared, ..Plan::default() };
        if queue.config.lossless {
            return Ok(plan);
        }
        let side = self.ports.get(usize::from(a.out_port)).map(|p| &p[1]);
        if let Some(side) = side.filter(|s| need > s.limit.saturating_sub(s.used.get())) {
            return Err(Refusal { rule: Rule::EgressPort, used: side.used.get(), need, limit: side.limit });
        }
        let Some(pool) = self.egress_pools.get(queue.pool as usize).filter(|_| shared > 0) else {
            return Ok(plan);
        };
        let used = queue.shared.get();
        let green = queue.config.threshold.at(pool.free());
        let (rule, limit) = match a.colour {
            Colour::Green => (Rule::QueueShared, green),
            Colour::Yellow => (Rule::QueueColour, eighths(green, queue.config.colour_eighths[0])),
            Colour::Red => (Rule::QueueColour, eighths(green, queue.config.colour_eighths[1])),
        };
        if shared > green.saturating_sub(used) {
            return Err(Refusal { rule: Rule::QueueShared, used, need: shared, limit: green });
        }
        if shared > limit.saturating_sub(used) {
            return Err(Refusal { rule, used, need: shared, limit });
        }
        if shared > pool.free() {
            let (used, limit) = (pool.used.get(), pool.limit);
            return Err(Refusal { rule: Rule::EgressPool, used, need: shared, limit });
        }
        Ok(plan)
    }

    #[inline]
    fn charge_ingress(&mut self, pg: usize, plan: &Plan, bytes: Bytes) {
        let Some(pg) = self.groups.get_mut(pg).and_then(Option::as_mut) else { return };
        let cells = plan.reserved + plan.shared + plan.headroom;
        pg.admitted.count(bytes);
        self.total.used.add(cells);
        if let Some(port) = self.ports.get_mut(usize::from(pg.port)) {
            port[0].used.add(cells);
        }
        pg.reserved += plan.reserved;
        if plan.shared > 0 {
            pg.shared.add(plan.shared);
            if let Some(pool) = self.ingress_pools.get_mut(pg.pool as usize) {
                pool.used.add(plan.shared);
            }
        }
        if plan.headroom > 0 {
            pg.headroom.add(plan.headroom);
            if let Some(pool) = pg.headroom_pool.and_then(|p| self.headroom_pools.get_mut(p as usize)) {
                pool.used.add(plan.headroom);
            }
        }
    }

    #[inline]
    fn charge_egress(&mut self, port: u16, queue: usize, plan: &Plan) {
        if let Some(port) = self.ports.get_mut(usize::from(port)) {
            port[1].used.add(plan.reserved + plan.shared);
        }
        let Some(queue) = self.queues.get_mut(queue) else { return };
        queue.reserved += plan.reserved;
        queue.shared.add(plan.shared);
        if let Some(pool) = self.egress_pools.get_mut(queue.pool as usize) {
            pool.used.add(plan.shared);
        }
    }

    /// Pauses the groups whose threshold was reached by a charge.
    #[inline]
    fn after_charge(&mut self, pg: usize) {
        if self.choices.rescan {
            let pool = self.groups.get(pg).and_then(Option::as_ref).map(|pg| pg.pool);
            for pg in 0..self.groups.len() {
                if self.groups.get(pg).and_then(Option::as_ref).map(|pg| pg.pool) == pool {
                    self.pause_if_due(pg);
                }
            }
        } else if self.choices.xoff_test == XoffTest::PostAdmission {
            self.pause_if_due(pg);
        }
    }

    #[inline]
    fn pause_if_due(&mut self, index: usize) {
        let Some(pg) = self.groups.get(index).and_then(Option::as_ref) else { return };
        if pg.config.lossless.is_none() || pg.xoff || pg.shared.get() == 0 {
            return;
        }
        let Some(pool) = self.ingress_pools.get(pg.pool as usize) else { return };
        let limit = pg.config.threshold.at(pool.free());
        let due = match self.choices.xoff_test {
            XoffTest::PostAdmission => pg.shared.get() >= limit,
            XoffTest::PreAdmission => pg.shared.get() > limit,
        };
        if due {
            self.pause(index);
        }
    }

    #[cold]
    fn pause(&mut self, index: usize) {
        let Some(pg) = self.groups.get_mut(index).and_then(Option::as_mut) else { return };
        pg.xoff = true;
        pg.pauses += 1;
        let priorities = pg.config.lossless.map_or(0, |l| l.priorities);
        self.edges.push(PfcEdge { port: pg.port, pg: pg.index, priorities, xoff: true });
    }

    /// Releases the cells of a packet.
    pub fn release(&mut self, charge: Charge) {
        self.release_egress(&charge);
        if charge.copies != NO_GROUP {
            self.leave(charge.copies);
            return;
        }
        self.release_ingress(charge.pg as usize, charge.cells);
    }

    #[inline]
    fn release_egress(&mut self, charge: &Charge) {
        let Some(queue) = self.queues.get_mut(charge.queue as usize) else { return };
        let shared = charge.cells.min(queue.shared.get());
        queue.shared.remove(shared);
        queue.reserved -= charge.cells - shared;
        // A pool counts at least the shared cells of each of its queues, so this cannot underflow.
        if let Some(pool) = self.egress_pools.get_mut(queue.pool as usize) {
            pool.used.remove(shared);
        }
        if let Some(port) = self.ports.get_mut(usize::from(queue.port)) {
            port[1].used.remove(charge.cells);
        }
    }

    #[inline]
    fn release_ingress(&mut self, index: usize, cells: u32) {
        let Some(pg) = self.groups.get_mut(index).and_then(Option::as_mut) else { return };
        let headroom = cells.min(pg.headroom.get());
        let shared = (cells - headroom).min(pg.shared.get());
        pg.headroom.remove(headroom);
        pg.shared.remove(shared);
        pg.reserved -= cells - headroom - shared;
        self.total.used.remove(cells);
        if let Some(pool) = pg.headroom_pool.and_then(|p| self.headroom_pools.get_mut(p as usize)) {
            pool.used.remove(headroom);
        }
        if let Some(pool) = self.ingress_pools.get_mut(pg.pool as usize) {
            pool.used.remove(shared);
        }
        if let Some(port) = self.ports.get_mut(usize::from(pg.port)) {
            port[0].used.remove(cells);
        }
        let (pool, xoff) = (pg.pool, pg.xoff);
        if self.choices.rescan {
            for other in 0..self.groups.len() {
                if self.groups.get(other).and_then(Option::as_ref).is_some_and(|g| g.pool == pool) {
                    self.resume_if_due(other);
                }
            }
        } else if xoff {
            self.resume_if_due(index);
        }
    }

    fn resume_if_due(&mut self, index: usize) {
        let Some(pg) = self.groups.get_mut(index).and_then(Option::as_mut) else { return };
        let Some(lossless) = pg.config.lossless.filter(|_| pg.xoff && pg.headroom.get() == 0) else { return };
        let free = self.ingress_pools.get(pg.pool as usize).map_or(0, Pool::free);
        let limit = pg.config.threshold.at(free).saturating_sub(lossless.xon_offset.0).max(lossless.xon.0);
        if pg.shared.get() <= limit {
            pg.xoff = false;
            let priorities = lossless.priorities;
            self.edges.push(PfcEdge { port: pg.port, pg: pg.index, priorities, xoff: false });
        }
    }

    /// Opens a group of `n` copies of one packet that share cells. Each copy must be given to [`admit`](Self::admit)
    /// once, and each admitted copy to [`release`](Self::release). Returns `None` if the profile charges each copy by
    /// itself.
    pub fn open_copies(&mut self, n: u32) -> Option<CopyGroup> {
        if !self.choices.multicast_once || n < 2 {
            return None;
        }
        let new = Copies { left: n, cells: 0, pg: 0 };
        let index = match self.free_copies.pop() {
            Some(index) => {
                if let Some(slot) = self.copies.get_mut(index as usize) {
                    *slot = new;
                }
                index
            }
            None => {
                self.copies.push(new);
                (self.copies.len() - 1) as u32
            }
        };
        Some(CopyGroup(index))
    }

    /// Removes one copy from its group; the last copy frees the cells.
    fn leave(&mut self, group: u32) {
        let Some(copies) = self.copies.get_mut(group as usize) else { return };
        copies.left = copies.left.saturating_sub(1);
        if copies.left == 0 {
            let (cells, pg) = (copies.cells, copies.pg);
            self.free_copies.push(group);
            if cells > 0 {
                self.release_ingress(pg as usize, cells);
            }
        }
    }

    #[cold]
    fn refused(&mut self, a: &Arrival, rule: Rule, pg: usize) {
        match self.queue_index(a.out_port, a.queue).filter(|_| rule.is_egress()) {
            Some(queue) => self.queues.get_mut(queue).into_iter().for_each(|q| q.dropped.count(a.bytes)),
            None => self
                .groups
                .get_mut(pg)
                .and_then(Option::as_mut)
                .into_iter()
                .for_each(|pg| pg.dropped.count(a.bytes)),
        }
        if let Some(CopyGroup(group)) = a.copies {
            self.leave(group);
        }
    }

    #[inline]
    pub(super) fn queue_index(&self, port: u16, queue: u8) -> Option<usize> {
        let first = *self.first_queue.get(usize::from(port))?;
        let end = *self.first_queue.get(usize::from(port) + 1)?;
        let index = first + u32::from(queue);
        (index < end).then_some(index as usize)
    }

    /// Returns true if there were pauses or resumes since the last [`edges`](Self::edges).
    #[inline]
    pub const fn has_edges(&self) -> bool {
        !self.edges.is_empty()
    }

    /// Removes and returns the pauses and resumes since the last call, oldest first.
    pub fn edges(&mut self) -> impl Iterator<Item = PfcEdge> + '_ {
        self.edges.drain(..)
    }

    /// Counts a packet that was refused for a reason other than a limit against its queue. If the packet is one of
    /// several copies that share cells, the group of copies becomes one smaller.
    pub fn refuse(&mut self, port: u16, queue: u8, bytes: Bytes, copies: Option<CopyGroup>) {
        let index = self.queue_index(port, queue);
        if let Some(queue) = index.and_then(|q| self.queues.get_mut(q)) {
            queue.dropped.count(bytes);
        }
        if let Some(CopyGroup(group)) = copies {
            self.leave(group);
        }
    }

    /// Changes a group's threshold. The new threshold is tested when the group next takes or releases a packet.
    pub fn set_threshold(&mut self, port: u16, pg: u8, threshold: Threshold) {
        let index = usize::from(port) * PRIORITY_GROUPS + usize::from(pg) % PRIORITY_GROUPS;
        if let Some(pg) = self.groups.get_mut(index).and_then(Option::as_mut) {
            pg.config.threshold = threshold;
        }
    }

    /// Changes the size of every partition of an ingress pool. If the size is below the cells in use, the pool has no
    /// free cells.
    pub fn set_ingress_pool_size(&mut self, pool: u8, pools: usize, size: Cells) {
        for pool in self.ingress_pools.iter_mut().skip(usize::from(pool)).step_by(pools.max(1)) {
            pool.limit = size.0;
        }
    }

    /// Restarts the reader's watermarks from the cells in use.
    pub fn clear_watermarks(&mut self, reader: Reader) {
        self.total.used.clear(reader);
        let pools = [&mut self.ingress_pools, &mut self.egress_pools, &mut self.headroom_pools];
        pools.into_iter().flatten().for_each(|p| p.used.clear(reader));
        self.ports.iter_mut().flatten().for_each(|s| s.used.clear(reader));
        for pg in self.groups.iter_mut().flatten() {
            pg.shared.clear(reader);
            pg.headroom.clear(reader);
        }
        self.queues.iter_mut().for_each(|q| q.shared.clear(reader));
    }

    /// Returns the cells of the group in use, of all kinds.
    pub fn pg_total(&self, port: u16, pg: u8) -> Cells {
        self.group(port, pg).map_or(Cells::ZERO, |pg| Cells(pg.total()))
    }
}
