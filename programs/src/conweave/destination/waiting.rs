//! Packets that wait in a reorder queue: the status, T_resume, the queue's count, and the watchdog of the timer packet
//! (model: conweave §1.8, steps 4 to 11, and §1.9).
//!
//! State: four registers, indexed by the flow's row. Times are ticks of 1.024 us.

use super::super::headers::{Headers, kind};
use super::super::queues::Queues;
use super::super::timer::Lap;
use super::super::{PAUSE, Params};
use super::epoch::Epoch;
use super::{Dest, age, status, verdict};
use sluice_build::*;

/// Accesses to the state of a flow's queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    /// DATA: finds or claims a queue, and decides whether the packet waits.
    pub(super) data: SubcontrolRef,
    /// Timer packets: all that they read and change of their flow's state.
    pub(super) lap: SubcontrolRef,
}

/// Estimates T_resume: TAIL arrives as long after the last packet of the old path as SrcToR sent it after that packet.
#[stage_program]
pub(super) fn estimate(c: &mut Control<'_>, d: Dest, p: &Params, h: Headers) {
    let (m, bth) = (h.m, h.bth);
    let margin = u64::from(p.resume_margin);
    let default = u64::from(p.resume_default);
    const TURN: u64 = 1 << 16;
    c.block(|c| {
        // Timestamps have 16 bits: the highest bits tell whether they wrapped in between.
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

/// Declares the state of a flow's queue.
#[stage_program]
pub(super) fn waiting(
    ig: &GressBuilder<'_>,
    p: &Params,
    h: Headers,
    (d, t): (Dest, Lap),
    queues: &Queues,
    epoch: &Epoch,
) -> Waiting {
    let Headers { bth, timer, m, .. } = h;
    let (q, now, row) = (queues.q, m.now, m.row);

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

    /// T_resume; 0 = it has come
    let resume_time_rx = ig.register::<32>(p.flows);
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

    let patience = u64::from(p.watchdog);
    /// Time at which the flow's timer packet was seen last
    let timer_time_rx = ig.register::<32>(p.flows);
    /// Returns 1 if the timer packet was not seen for `watchdog` ticks: another one is made
    let check = ig.register_action(timer_time_rx, |r| {
        if now - r.value > patience {
            r.value = now;
            r.out = 1;
        }
    });

    let data = ig.subcontrol(|c| {
        if d.given_up == 1 {
            d.early = 0;
        }
        if h.resubmitted.resubmit_flag == 1 {
            reorder_status_rx.write(row, 0);
        } else if d.age == age::NEW {
            d.status = status_new.execute(row);
        } else if d.age == age::CURRENT {
            d.status = status_data.execute(row);
        }
        if d.status == status::IDLE && d.early == 1 {
            q.claim = 1;
        } else if d.status != status::IDLE {
            q.find = 1;
        }
        queues.claim_or_find.apply();
        if q.claim == 1 {
            if q.found == 1 {
                // The first early packet: its word pauses the queue before the packet reaches the queue.
                resume_time_rx.write(row, d.resume);
                h.words.adv_flow_ctl = q.word | PAUSE;
                h.tm.qid = q.qid;
                queued_count.execute(row);
                timer_time_rx.write(row, now);
                d.verdict = verdict::FIRST;
            } else {
                d.verdict = verdict::AGAIN;
                h.resubmit.resubmit_type = 1;
            }
        } else if q.find == 1 && q.found == 1 {
            d.lost = check.execute(row);
            if d.status == status::WAITING {
                if d.age == age::NEW {
                    // Silence ended the epoch before TAIL came: the waiting packets go first.
                    if d.tail_seen == 0 {
                        h.words.adv_flow_ctl = q.word;
                    }
                } else if bth.phase == 1 && bth.tail == 0 {
                    // TAIL does not wait for itself, even if its phase bit is 1.
                    h.tm.qid = q.qid;
                    queued_count.execute(row);
                } else {
                    d.before = resume_refresh.execute(row);
                    if bth.tail == 1 && d.before == 1 {
                        h.order.set_valid();
                        h.order.word = q.word;
                        h.order.row = row;
                        h.bridge.kind = kind::TAIL;
                    }
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
    let lap = ig.subcontrol(|c| {
        timer_time_rx.write(row, now);
        epoch.lap.apply();
        if timer.last == 1 {
            reorder_status_rx.write(row, 0);
            queues.release.apply();
            queued.write(row, 0);
        } else if timer.draining == 1 {
            d.status = status_drain.execute(row);
            t.drained = queued_compare.execute(row);
        } else {
            d.status = status_data.execute(row);
            if timer.waiting == 0 {
                t.fires = resume_fire.execute(row);
            }
        }
    });
    Waiting { data, lap }
}
