//! DstToR: puts the packets of a flow that moved back in order (model: conweave §1.6 to §1.9).
//!
//! A REROUTED packet that comes before TAIL claims a queue, which its own flow-control word pauses, and makes a timer
//! packet. What follows it by the new path waits behind it; what still comes by the old path passes by. TAIL lets the
//! queue go on when it leaves, or the timer packet does at T_resume. A timer packet that has not been seen for long was
//! lost: the flow's next packet makes another one.

mod state;
mod steps;

pub(super) use state::destination;

use super::Params;
use super::headers::Headers;
use super::queues::Queues;
use sluice_build::*;

/// The three answers of the epoch test: a one in the bit that the two comparisons spell.
pub(super) mod age {
    /// Neither this epoch nor the one before: the packet opens it.
    pub(in super::super) const NEW: u64 = 1;
    /// The present epoch.
    pub(in super::super) const CURRENT: u64 = 2;
    /// The epoch before.
    pub(in super::super) const PREVIOUS: u64 = 4;
}

/// Values of the reorder status.
pub(super) mod status {
    /// Nothing waits.
    pub(in super::super) const IDLE: u64 = 0;
    /// Packets wait in a paused queue.
    pub(in super::super) const WAITING: u64 = 1;
    /// The queue drains.
    pub(in super::super) const DRAINING: u64 = 2;
    /// A queue of an epoch before drains.
    pub(in super::super) const OLD: u64 = 3;
}

/// What a packet does beside being forwarded.
mod verdict {
    /// It got a queue for its flow: a timer packet is made of it.
    pub(super) const FIRST: u64 = 1;
    /// It got none: it comes again.
    pub(super) const AGAIN: u64 = 2;
    /// It is TAIL, and nothing waits for it: CLEAR at once.
    pub(super) const CLEAR: u64 = 3;
}

/// What DstToR finds about a packet
#[derive(Header, Debug)]
pub(super) struct Dest {
    /// The epoch after the packet's
    pub(super) next_epoch: Bits<8>,
    /// See [`age`]
    pub(super) age: Bits<3>,
    /// 1 when the packet overtook its epoch's TAIL
    pub(super) early: Bits<8>,
    /// 1 when the epoch is delivered as it comes
    pub(super) given_up: Bits<1>,
    /// 1 when a packet of the old path was seen in this epoch
    pub(super) cached: Bits<1>,
    /// 1 when TAIL was seen: of this epoch, or of the one that a new epoch ended
    pub(super) tail_seen: Bits<1>,
    /// When the last old-path packet was sent
    pub(super) old_tx: Bits<32>,
    /// When it came
    pub(super) old_rx: Bits<32>,
    /// When TAIL was sent
    pub(super) tail_tx: Bits<32>,
    /// TX time from the last old-path packet to TAIL, and the margin
    pub(super) gap: Bits<32>,
    /// T_resume
    pub(super) resume: Bits<32>,
    /// Reorder status before this packet, see [`status`]
    pub(super) status: Bits<2>,
    /// 1 when T_resume has not come yet
    pub(super) before: Bits<1>,
    /// See [`verdict`]
    pub(super) verdict: Bits<2>,
    /// 1 when the flow's timer packet was lost
    pub(super) lost: Bits<1>,
}

/// The watchdog of timer packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watchdog {
    pub(super) register: sluice_ir::Register,
    seen: RegisterActionRef,
    check: RegisterActionRef,
    revived: CounterRef,
}

/// Registers of DstToR.
#[derive(Clone, Copy, Debug)]
pub(super) struct DstToR {
    pub(super) d: Dest,
    pub(super) registers: [sluice_ir::Register; 10],
    pub(super) epoch_test: RegisterActionRef,
    pub(super) epoch_peek: RegisterActionRef,
    old_tx_write: RegisterActionRef,
    old_tx_read: RegisterActionRef,
    old_rx_write: RegisterActionRef,
    old_rx_read: RegisterActionRef,
    phase_new: RegisterActionRef,
    phase_read: RegisterActionRef,
    pub(super) phase_force: RegisterActionRef,
    cached_set: RegisterActionRef,
    cached_clear: RegisterActionRef,
    cached_read: RegisterActionRef,
    tail_new: RegisterActionRef,
    tail_set: RegisterActionRef,
    pub(super) tail_read: RegisterActionRef,
    tail_tx_write: RegisterActionRef,
    tail_tx_read: RegisterActionRef,
    give_up_clear: RegisterActionRef,
    give_up_set: RegisterActionRef,
    give_up_read: RegisterActionRef,
    status_new: RegisterActionRef,
    pub(super) status_data: RegisterActionRef,
    pub(super) status_drain: RegisterActionRef,
    pub(super) status_clear: RegisterActionRef,
    resume_arm: RegisterActionRef,
    resume_refresh: RegisterActionRef,
    pub(super) resume_fire: RegisterActionRef,
    queued_count: RegisterActionRef,
    pub(super) queued_compare: RegisterActionRef,
    pub(super) queued_reset: RegisterActionRef,
    unsorted: CounterRef,
    pub(super) watchdog: Watchdog,
    epoch_after: TableRef,
}

/// Why packets of an epoch reach the host as they come: cells of the counter `unsorted`.
pub(super) mod unsorted {
    /// No candidate queue was free.
    pub(in super::super) const NO_QUEUE: u64 = 0;
    /// The queue of an earlier epoch still drains.
    pub(in super::super) const DRAINING: u64 = 1;
    /// The packet's epoch is over.
    pub(in super::super) const PREVIOUS: u64 = 2;
    /// A new epoch opened while packets of the last one waited.
    pub(in super::super) const NEW_EPOCH: u64 = 3;
}

impl DstToR {
    /// The epoch after the packet's, for the epoch test.
    pub(super) fn next_epoch(&self, c: &mut Control<'_>) {
        c.run(self.epoch_after.apply());
    }

    /// DATA for a host of this ToR, of a known flow.
    pub(super) fn data(&self, c: &mut Control<'_>, p: &Params, h: Headers, queues: &Queues) {
        steps::remember(c, self, h);
        steps::estimate(c, self, p, h);
        steps::wanted(c, self, h, queues);
        queues.claim_or_find(c);
        steps::sort(c, self, h, queues);
        steps::mirror(c, self, h, queues);
        steps::account(c, self.d, queues, self.unsorted);
    }

    /// The flow's timer packet is there, or is being made.
    pub(super) fn timer_seen(&self, c: &mut Control<'_>, h: Headers) {
        c.run(self.watchdog.seen.execute(h.m.row));
    }

    /// Whether the timer packet of a flow that has a queue was lost.
    fn timer_lost(&self, c: &mut Control<'_>, h: Headers) {
        c.set(self.d.lost, self.watchdog.check.execute(h.m.row));
    }

    /// Counts a timer packet that is made in place of a lost one.
    fn timer_revived(&self, c: &mut Control<'_>) {
        c.run(self.watchdog.revived.count(0));
    }
}
