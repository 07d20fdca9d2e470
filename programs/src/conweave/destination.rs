//! DstToR: puts the packets of a flow that moved back in order (facts: conweave §1.6 to §1.9).
//!
//! A REROUTED packet that comes before TAIL claims a queue, which its own flow-control word pauses, and makes a timer
//! packet. What follows it by the new path waits behind it; what still comes by the old path passes by. TAIL lets
//! the queue go on when it leaves, or the timer packet does at T_resume. What may not live here: which queue, and
//! what the timer packet does.

use super::headers::{Headers, kind};
use super::queues::Queues;
use super::{PAUSE, Params};
use sluice_pipeline::build::*;

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
    /// A queue of an epoch before drains; 2 is for one of this epoch.
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
}

/// Registers of DstToR.
#[derive(Clone, Copy, Debug)]
pub(super) struct DstToR {
    pub(super) d: Dest,
    pub(super) registers: [sluice_pipeline::ir::Register; 10],
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
    unsorted: Option<CounterRef>,
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

/// Declares the state of DstToR.
#[stage_program]
pub(super) fn destination(ig: &GressBuilder<'_>, p: &Params, h: Headers) -> DstToR {
    let d = ig.metadata::<Dest>();
    let Headers { bth, cwh, timer, m, .. } = h;
    let now = m.now;

    let set_next = ig.action(|a, epoch: Arg<8>, tag: Arg<8>| {
        d.next_epoch = epoch;
        m.epoch_tag = tag;
    });
    /// What is computed from a packet's epoch: two bits have no adder of their own
    let epoch_after = ig
        .table([exact(bth.epoch)])
        .actions([set_next])
        .entries(entries![(0) => set_next(1, 4), (1) => set_next(2, 5), (2) => set_next(3, 6), (3) => set_next(0, 7)])
        .build();

    /// Epoch modulo 4; 4 before the first packet
    let epoch_rx = ig.register::<8>(size(p.flows).init(4));
    /// A window of two bits: the present epoch, the one before, any other is new
    let epoch_test = ig.register_action(epoch_rx, |r| {
        r.out = predicate([eq(r.value, bth.epoch.cast::<8>()), eq(r.value, d.next_epoch)]);
        if r.value != bth.epoch.cast::<8>() && r.value != d.next_epoch {
            r.value = bth.epoch.cast::<8>();
        }
    });
    let epoch_peek = ig.register_action(epoch_rx, |r| {
        r.out = predicate([eq(r.value, bth.epoch.cast::<8>()), eq(r.value, d.next_epoch)]);
    });

    /// TX time of the last old-path packet
    let phase0_tx_rx = ig.register::<32>(p.flows);
    let old_tx_write = ig.register_action(phase0_tx_rx, |r| {
        r.value = cwh.ts_tx.cast::<32>();
        r.out = r.value;
    });
    let old_tx_read = ig.register_action(phase0_tx_rx, |r| r.out = r.value);

    /// RX time of the last old-path packet
    let phase0_rx_rx = ig.register::<32>(p.flows);
    let old_rx_write = ig.register_action(phase0_rx_rx, |r| {
        r.value = now;
        r.out = r.value;
    });
    let old_rx_read = ig.register_action(phase0_rx_rx, |r| r.out = r.value);

    /// 1 once REROUTED packets of the epoch are in order: TAIL came, or nobody waits for it any more
    let phase_rx = ig.register::<8>(p.flows);
    let phase_new = ig.register_action(phase_rx, |r| r.value = bth.tail.cast::<8>());
    let phase_read = ig.register_action(phase_rx, |r| {
        if r.value == 0 {
            r.out = 1;
        }
    });
    let phase_force = ig.register_action(phase_rx, |r| r.value = 1);

    /// 1 once a packet of the old path was seen in this epoch
    let phase_cached_rx = ig.register::<8>(p.flows);
    let cached_set = ig.register_action(phase_cached_rx, |r| {
        r.value = 1;
        r.out = r.value;
    });
    let cached_clear = ig.register_action(phase_cached_rx, |r| r.value = 0);
    let cached_read = ig.register_action(phase_cached_rx, |r| r.out = r.value);

    /// 1 once TAIL was seen in this epoch
    let tail_cached_rx = ig.register::<8>(p.flows);
    let tail_new = ig.register_action(tail_cached_rx, |r| {
        r.out = r.value;
        r.value = bth.tail.cast::<8>();
    });
    let tail_set = ig.register_action(tail_cached_rx, |r| {
        r.value = 1;
        r.out = r.value;
    });
    let tail_read = ig.register_action(tail_cached_rx, |r| r.out = r.value);

    /// TX time of the epoch's TAIL
    let tail_time_rx = ig.register::<32>(p.flows);
    let tail_tx_write = ig.register_action(tail_time_rx, |r| {
        r.value = cwh.ts_tail.cast::<32>();
        r.out = r.value;
    });
    let tail_tx_read = ig.register_action(tail_time_rx, |r| r.out = r.value);

    /// 1 when no queue was free for the epoch
    let give_up = ig.register::<8>(p.flows);
    let give_up_clear = ig.register_action(give_up, |r| r.value = 0);
    let give_up_set = ig.register_action(give_up, |r| {
        r.value = 1;
        r.out = r.value;
    });
    let give_up_read = ig.register_action(give_up, |r| r.out = r.value);

    /// Reorder status: 0 idle, 1 waiting, 2 draining, 3 draining what an earlier epoch left
    let reorder_status_rx = ig.register::<8>(p.flows);
    let status_new = ig.register_action(reorder_status_rx, |r| {
        r.out = r.value;
        if r.value != 0 {
            r.value = 3;
        } else if d.early == 1 {
            r.value = 1;
        }
    });
    let status_data = ig.register_action(reorder_status_rx, |r| {
        r.out = r.value;
        if r.value == 0 && d.early == 1 {
            r.value = 1;
        }
    });
    let status_drain = ig.register_action(reorder_status_rx, |r| {
        r.out = r.value;
        if r.value == 1 {
            r.value = 2;
        }
    });
    let status_clear = ig.register_action(reorder_status_rx, |r| r.value = 0);

    /// T_resume, 0 once it has come
    let resume_time_rx = ig.register::<32>(p.flows);
    let resume_arm = ig.register_action(resume_time_rx, |r| r.value = d.resume);
    let resume_refresh = ig.register_action(resume_time_rx, |r| {
        if r.value != 0 {
            r.value = d.resume;
            r.out = 1;
        }
    });
    let resume_fire = ig.register_action(resume_time_rx, |r| {
        if r.value == 0 || serial(gt(now, r.value)) {
            r.value = 0;
            r.out = 1;
        }
    });

    /// Packets sent to the reorder queue
    let queued = ig.register::<32>(p.flows);
    let queued_count = ig.register_action(queued, |r| r.value = r.value + 1);
    let queued_compare = ig.register_action(queued, |r| {
        if r.value == timer.dequeued {
            r.out = 1;
        }
    });
    let queued_reset = ig.register_action(queued, |r| r.value = 0);

    let unsorted = if p.full() {
        /// Packets that may reach their host out of order: 0 no free queue, 1 an older queue still drains, 2 of the
        /// epoch before, 3 new epochs while packets waited
        let unsorted = ig.counter(4, CounterKind::Packets);
        Some(unsorted)
    } else {
        None
    };
    let registers = [
        epoch_rx.handle(),
        phase0_tx_rx.handle(),
        phase0_rx_rx.handle(),
        phase_rx.handle(),
        phase_cached_rx.handle(),
        tail_cached_rx.handle(),
        tail_time_rx.handle(),
        reorder_status_rx.handle(),
        resume_time_rx.handle(),
        queued.handle(),
    ];
    DstToR {
        d,
        registers,
        epoch_test,
        epoch_peek,
        old_tx_write,
        old_tx_read,
        old_rx_write,
        old_rx_read,
        phase_new,
        phase_read,
        phase_force,
        cached_set,
        cached_clear,
        cached_read,
        tail_new,
        tail_set,
        tail_read,
        tail_tx_write,
        tail_tx_read,
        give_up_clear,
        give_up_set,
        give_up_read,
        status_new,
        status_data,
        status_drain,
        status_clear,
        resume_arm,
        resume_refresh,
        resume_fire,
        queued_count,
        queued_compare,
        queued_reset,
        unsorted,
        epoch_after,
    }
}

impl DstToR {
    /// The epoch after the packet's, for the epoch test.
    pub(super) fn next_epoch(&self, c: &mut Control<'_>) {
        c.run(self.epoch_after.apply());
    }

    /// DATA for a host of this ToR, of a known flow.
    pub(super) fn data(&self, c: &mut Control<'_>, p: &Params, h: Headers, queues: &Queues) {
        remember(c, self, h);
        estimate(c, self, p, h);
        wanted(c, self, h, queues);
        queues.claim_or_find(c);
        sort(c, self, h, queues);
        if let Some(counter) = self.unsorted {
            account(c, self.d, queues, counter);
        }
    }
}

/// Counts what may reach the host out of order, with the reason.
#[stage_program]
fn account(c: &mut Control<'_>, d: Dest, queues: &Queues, counter: CounterRef) {
    let q = queues.q;
    c.block(|c| {
        if d.age == age::PREVIOUS {
            counter.count(unsorted::PREVIOUS);
        } else if d.verdict == verdict::AGAIN {
            counter.count(unsorted::NO_QUEUE);
        } else if d.age == age::NEW && q.find == 1 {
            counter.count(unsorted::NEW_EPOCH);
        } else if d.early == 1 && q.found == 0 {
            counter.count(unsorted::DRAINING);
        }
    });
}

/// The epoch test and all that is kept per flow.
#[stage_program]
fn remember(c: &mut Control<'_>, t: &DstToR, h: Headers) {
    let (d, m, bth) = (t.d, h.m, h.bth);
    c.block(|c| {
        d.age = t.epoch_test.execute(m.row);
        if d.age == age::NEW {
            t.phase_new.execute(m.row);
            if bth.phase == 1 {
                d.early = 1;
            }
            d.tail_seen = t.tail_new.execute(m.row);
            t.give_up_clear.execute(m.row);
        } else if d.age == age::CURRENT {
            if bth.tail == 1 {
                t.phase_force.execute(m.row);
                d.tail_seen = t.tail_set.execute(m.row);
            } else if bth.phase == 1 {
                d.early = t.phase_read.execute(m.row);
            }
            if h.resubmitted.resubmit_flag == 1 {
                d.given_up = t.give_up_set.execute(m.row);
            } else {
                d.given_up = t.give_up_read.execute(m.row);
            }
        }
        if d.age != age::PREVIOUS {
            if bth.phase == 0 {
                d.old_tx = t.old_tx_write.execute(m.row);
                d.old_rx = t.old_rx_write.execute(m.row);
                d.cached = t.cached_set.execute(m.row);
            } else {
                d.old_tx = t.old_tx_read.execute(m.row);
                d.old_rx = t.old_rx_read.execute(m.row);
                if d.age == age::NEW {
                    t.cached_clear.execute(m.row);
                } else {
                    d.cached = t.cached_read.execute(m.row);
                }
            }
            if bth.tail == 1 || bth.phase == 1 {
                d.tail_tx = t.tail_tx_write.execute(m.row);
            } else {
                d.tail_tx = t.tail_tx_read.execute(m.row);
            }
        }
    });
}

/// T_resume: TAIL is as far behind the last old-path packet as SrcToR sent it behind.
#[stage_program]
fn estimate(c: &mut Control<'_>, t: &DstToR, p: &Params, h: Headers) {
    let (d, m, bth) = (t.d, h.m, h.bth);
    let margin = u64::from(p.resume_margin);
    let default = u64::from(p.resume_default);
    const TURN: u64 = 1 << 16;
    c.block(|c| {
        // 16-bit stamps: one turn is seen by their highest bits.
        if d.old_tx.slice::<15, 15, 1>() == 1 && d.tail_tx.slice::<15, 15, 1>() == 0 {
            d.gap = d.tail_tx + (TURN + margin);
        } else {
            d.gap = d.tail_tx + margin;
        }
        d.gap = d.gap.sat_sub(d.old_tx);
        if d.cached == 1 {
            d.resume = d.old_rx + d.gap;
        } else {
            d.resume = m.now + default;
        }
        if bth.tail == 1 {
            d.resume = 0;
        } else if d.resume == 0 {
            d.resume = 1;
        }
    });
}

/// The status, and whether a queue is needed.
#[stage_program]
fn wanted(c: &mut Control<'_>, t: &DstToR, h: Headers, queues: &Queues) {
    let (d, m, q) = (t.d, h.m, queues.q);
    c.block(|c| {
        if d.given_up == 1 {
            d.early = 0;
        }
        if h.resubmitted.resubmit_flag == 1 {
            t.status_clear.execute(m.row);
        } else if d.age == age::NEW {
            d.status = t.status_new.execute(m.row);
        } else if d.age == age::CURRENT {
            d.status = t.status_data.execute(m.row);
        }
        if d.status == status::IDLE && d.early == 1 {
            q.claim = 1;
        } else if d.status == status::WAITING {
            q.find = 1;
        }
    });
}

/// What happens to the packet, its queue and T_resume.
#[stage_program]
fn sort(c: &mut Control<'_>, t: &DstToR, h: Headers, queues: &Queues) {
    let (d, m, bth, q) = (t.d, h.m, h.bth, queues.q);
    c.block(|c| {
        if q.claim == 1 {
            if q.found == 1 {
                // The first packet that came too early: its word is at the queue before the packet is.
                t.resume_arm.execute(m.row);
                h.words.adv_flow_ctl = q.word | PAUSE;
                h.tm.qid = q.qid;
                t.queued_count.execute(m.row);
                d.verdict = verdict::FIRST;
            } else {
                d.verdict = verdict::AGAIN;
                h.resubmit.resubmit_type = 1;
            }
        } else if q.find == 1 && q.found == 1 {
            if d.age == age::NEW {
                // Silence ended the epoch before TAIL came: what waits goes first.
                if d.tail_seen == 0 {
                    h.words.adv_flow_ctl = q.word;
                }
            } else if bth.phase == 1 {
                h.tm.qid = q.qid;
                t.queued_count.execute(m.row);
            } else {
                d.before = t.resume_refresh.execute(m.row);
                if bth.tail == 1 && d.before == 1 {
                    h.order.set_valid();
                    h.order.word = q.word;
                    h.order.row = m.row;
                    h.bridge.kind = kind::TAIL;
                }
            }
        }
        if bth.tail == 1 {
            if d.age == age::PREVIOUS {
                d.verdict = 0;
            } else if d.status == status::IDLE || d.status == status::OLD {
                d.verdict = verdict::CLEAR;
            } else if d.status == status::WAITING && q.found == 0 {
                d.verdict = verdict::CLEAR;
            }
        }
    });
    mirror(c, t, h, queues);
}

/// The one copy that a packet can have: CLEAR, RTT_REPLY, the timer packet, NOTIFY, in this order.
#[stage_program]
fn mirror(c: &mut Control<'_>, t: &DstToR, h: Headers, queues: &Queues) {
    let (d, m, bth, q) = (t.d, h.m, h.bth, queues.q);
    let (session, birth) = (super::HEADERS_SESSION, super::BIRTH_SESSION);
    c.block(|c| {
        if d.verdict != verdict::AGAIN && d.age != age::PREVIOUS {
            if d.verdict == verdict::CLEAR {
                h.mirror.mirror_type = 1;
                m.session = session;
                h.copy.kind = kind::CLEAR;
            } else if bth.ask_reply == 1 && bth.tail == 0 {
                h.mirror.mirror_type = 1;
                m.session = session;
                h.copy.kind = kind::REPLY;
            } else if d.verdict == verdict::FIRST {
                h.mirror.mirror_type = 2;
                m.session = birth;
                h.birth.kind = kind::BIRTH;
                h.birth.word = q.word;
                h.birth.row = m.row;
            } else if h.ipv4.ecn == 3 {
                h.mirror.mirror_type = 1;
                m.session = session;
                h.copy.kind = kind::NOTIFY;
            }
        }
    });
}
