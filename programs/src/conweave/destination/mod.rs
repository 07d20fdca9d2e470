//! DstToR, the ToR of a flow's receiver: puts the packets of a flow that moved back in order (model: conweave §1.6 to
//! §1.9).
//!
//! A REROUTED packet that arrives before TAIL claims a queue, pauses it with its own flow-control word, and is mirrored
//! to make a timer packet. Later packets of the new path wait in the same queue; packets of the old path do not wait.
//! TAIL resumes the queue when it leaves, or the timer packet resumes it at T_resume. If the timer packet was not seen
//! for `watchdog` ticks, it was lost, and the flow's next packet makes another one. Module `epoch` has the state of an
//! epoch, `waiting` that of the queue; `answers` sends and counts.

mod answers;
mod epoch;
mod waiting;

use super::Params;
use super::headers::Headers;
use super::queues::Queues;
use super::timer::Lap;
use sluice_build::*;

/// Results of the epoch test: the one-hot code of its two comparisons.
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
    /// The queue was resumed and drains.
    pub(in super::super) const DRAINING: u64 = 2;
    /// The queue of an earlier epoch drains.
    pub(in super::super) const OLD: u64 = 3;
}

/// Action of a packet in addition to being forwarded; 0 = none.
mod verdict {
    /// The packet claimed a queue for its flow: a copy becomes the timer packet.
    pub(super) const FIRST: u64 = 1;
    /// No candidate queue was free: the packet is resubmitted.
    pub(super) const AGAIN: u64 = 2;
    /// The packet is TAIL, and no packet waits for it: a copy becomes CLEAR.
    pub(super) const CLEAR: u64 = 3;
}

/// Results of DstToR's lookups for a packet
#[derive(Header, Debug)]
pub(super) struct Dest {
    /// The epoch after the packet's
    pub(super) next_epoch: Bits<8>,
    /// See [`age`]
    pub(super) age: Bits<3>,
    /// 1 if the packet overtook its epoch's TAIL
    pub(super) early: Bits<8>,
    /// 1 if packets of the epoch are delivered as they come, because no queue was free
    pub(super) given_up: Bits<1>,
    /// 1 if a packet of the old path was seen in this epoch
    pub(super) cached: Bits<1>,
    /// 1 if TAIL of this epoch was seen; in a packet that opens an epoch, TAIL of the epoch before
    pub(super) tail_seen: Bits<1>,
    /// TX time of the last packet of the old path, ticks
    pub(super) old_tx: Bits<32>,
    /// RX time of the last packet of the old path, ticks
    pub(super) old_rx: Bits<32>,
    /// TX time of TAIL, ticks
    pub(super) tail_tx: Bits<32>,
    /// TX time of TAIL minus that of the last packet of the old path, plus `resume_margin`, ticks
    pub(super) gap: Bits<32>,
    /// T_resume: estimated arrival of TAIL, ticks; 0 = TAIL is here
    pub(super) resume: Bits<32>,
    /// Reorder status before this packet, see [`status`]
    pub(super) status: Bits<2>,
    /// 1 if T_resume has not come yet
    pub(super) before: Bits<1>,
    /// See [`verdict`]
    pub(super) verdict: Bits<2>,
    /// 1 if the flow's timer packet was lost
    pub(super) lost: Bits<1>,
}

/// DstToR as the rest of ingress sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct DstToR {
    pub(super) d: Dest,
    pub(super) t: Lap,
    /// The epoch after the packet's, for the epoch test.
    pub(super) epoch_after: TableRef,
    /// DATA for a host of this ToR, of a flow in the flow table.
    pub(super) data: SubcontrolRef,
    /// Access of a timer packet to its flow's state.
    pub(super) lap: SubcontrolRef,
}

/// Declares DstToR.
#[stage_program]
pub(super) fn destination(ig: &GressBuilder<'_>, p: &Params, h: Headers, queues: &Queues) -> DstToR {
    let d = ig.metadata::<Dest>();
    let t = ig.metadata::<Lap>();
    let set_next = ig.action(|a, epoch: Arg<8>, tag: Arg<8>| {
        d.next_epoch = epoch;
        h.m.epoch_tag = tag;
    });
    /// The packet's epoch to the next epoch and to the tag 4 + epoch, because a two-bit field has no adder
    let epoch_after = ig
        .table([exact(h.bth.epoch)])
        .actions([set_next])
        .entries(entries![(0) => set_next(1, 4), (1) => set_next(2, 5), (2) => set_next(3, 6), (3) => set_next(0, 7)])
        .build();
    let epoch = epoch::epoch(ig, p, h, d);
    let waiting = waiting::waiting(ig, p, h, (d, t), queues, &epoch);
    /// Packets that may reach their host out of order: 0 no free queue, 1 an older queue still drains, 2 of the
    /// epoch before, 3 new epochs while packets waited
    let unsorted = ig.counter(4, CounterKind::Packets);
    /// Timer packets made in place of lost ones
    let revived = ig.counter(1, CounterKind::Packets);
    let data = ig.subcontrol(|c| {
        epoch.data.apply();
        waiting::estimate(c, d, p, h);
        waiting.data.apply();
        answers::mirror(c, d, h, queues, revived);
        answers::account(c, d, queues, unsorted);
    });
    DstToR { d, t, epoch_after, data, lap: waiting.lap }
}

/// Why packets of an epoch reach the host as they come: cells of the counter `unsorted`.
mod unsorted {
    /// No candidate queue was free.
    pub(super) const NO_QUEUE: u64 = 0;
    /// The queue of an earlier epoch still drains.
    pub(super) const DRAINING: u64 = 1;
    /// The packet's epoch is over.
    pub(super) const PREVIOUS: u64 = 2;
    /// A new epoch opened while packets of the last one waited.
    pub(super) const NEW_EPOCH: u64 = 3;
}
