//! What DstToR keeps for every flow, and what may be done to it (model: conweave §1.6).

use super::super::Params;
use super::super::headers::Headers;
use super::{Dest, DstToR, Watchdog};
use sluice_build::*;

/// Declares the state of DstToR.
#[stage_program]
pub(in super::super) fn destination(ig: &GressBuilder<'_>, p: &Params, h: Headers) -> DstToR {
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

    /// Packets that may reach their host out of order: 0 no free queue, 1 an older queue still drains, 2 of the
    /// epoch before, 3 new epochs while packets waited
    let unsorted = ig.counter(4, CounterKind::Packets);
    let patience = u64::from(p.watchdog);
    /// When the flow's timer packet was seen last
    let timer_time_rx = ig.register::<32>(p.flows);
    let seen = ig.register_action(timer_time_rx, |r| r.value = now);
    /// Not seen for long; another one is being made
    let check = ig.register_action(timer_time_rx, |r| {
        if now - r.value > patience {
            r.value = now;
            r.out = 1;
        }
    });
    /// Timer packets made in place of lost ones
    let revived = ig.counter(1, CounterKind::Packets);
    let watchdog = Watchdog { register: timer_time_rx.handle(), seen, check, revived };
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
        watchdog,
        epoch_after,
    }
}
