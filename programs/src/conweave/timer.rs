//! The resume timer: a packet that goes round and round by the recirculation port (model: conweave §1.10).
//!
//! It waits for T_resume, then for TAIL to leave if TAIL came, then for the queue to drain; on its last lap it cleans
//! up and answers SrcToR. It looks at the flow's state and carries only what egress must know.

use super::destination::{DstToR, age, status};
use super::headers::{Headers, kind};
use super::queues::Queues;
use super::{PAUSE, Params};
use sluice_build::*;

/// What ingress finds about a timer packet
#[derive(Header, Debug)]
pub(super) struct Lap {
    /// Ticks since it began to wait for what it waits for now
    pub(super) elapsed: Bits<16>,
    /// Not 0 when that is too long
    pub(super) over: Bits<16>,
    /// 1 when T_resume has come
    pub(super) fires: Bits<1>,
    /// 1 when as many packets left the queue as were sent to it
    pub(super) drained: Bits<1>,
}

/// What the timer's block needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimerLaps {
    t: Lap,
    done: LabelRef,
    forced: CounterRef,
    resumed_unseen: CounterRef,
}

/// Declares what timer packets need beside DstToR's state.
#[stage_program]
pub(super) fn timer(ig: &GressBuilder<'_>) -> TimerLaps {
    let t = ig.metadata::<Lap>();
    let done = ig.consume_label("Timer packet whose queue is empty");
    /// Timer packets that stopped waiting: 0 for TAIL to leave, 1 for the queue to drain
    let forced = ig.counter(2, CounterKind::Packets);
    /// Queues that T_resume let go on before TAIL came: it was lost, or is later than expected and what waited overtakes
    /// what is still on the old path
    let resumed_unseen = ig.counter(1, CounterKind::Packets);
    TimerLaps { t, done, forced, resumed_unseen }
}

impl TimerLaps {
    /// One lap.
    pub(super) fn lap(&self, c: &mut Control<'_>, p: &Params, h: Headers, dst: &DstToR, queues: &Queues) {
        look(c, self, p, h, dst, queues);
        go_on(c, self, p, h, dst);
    }
}

#[stage_program]
fn look(c: &mut Control<'_>, l: &TimerLaps, p: &Params, h: Headers, dst: &DstToR, queues: &Queues) {
    let (t, d, m, timer) = (l.t, dst.d, h.m, h.timer);
    let too_long = 0xffff & !((1u64 << p.patience) - 1);
    c.block(|c| {
        t.elapsed = m.now_16 - h.cwh.ts_tx;
        t.over = t.elapsed & too_long;
        dst.timer_seen(c, h);
        d.age = dst.epoch_peek.execute(m.row);
        if timer.draining == 1 && d.age == age::CURRENT && h.bth.phase == 1 {
            dst.phase_force.execute(m.row);
        }
        d.tail_seen = dst.tail_read.execute(m.row);
        if timer.last == 1 {
            dst.status_clear.execute(m.row);
            queues.release(c);
            dst.queued_reset.execute(m.row);
        } else if timer.draining == 1 {
            d.status = dst.status_drain.execute(m.row);
            t.drained = dst.queued_compare.execute(m.row);
        } else {
            d.status = dst.status_data.execute(m.row);
            if timer.waiting == 0 {
                t.fires = dst.resume_fire.execute(m.row);
            }
        }
    });
}

#[stage_program]
fn go_on(c: &mut Control<'_>, l: &TimerLaps, p: &Params, h: Headers, dst: &DstToR) {
    let (t, d, m, timer) = (l.t, dst.d, h.m, h.timer);
    let session = super::TIMER_SESSION;
    let recirculation = p.recirculation();
    c.block(|c| {
        h.tm.ucast_egress_port = recirculation;
        h.tm.qid = super::CONTROL_QUEUE;
        h.bridge.kind = kind::PLAIN;
        if timer.last == 1 {
            // The queue waits for its next owner, paused; but what is still inside when patience ends nobody would let out
            // then, so that such a queue goes on until its next owner pauses it.
            if t.over == 0 {
                h.words.adv_flow_ctl = timer.word | PAUSE;
            }
            if d.age == age::CURRENT && h.bth.phase == 1 {
                h.mirror.mirror_type = 1;
                m.session = session;
                h.copy.kind = kind::CLEAR;
            }
            drop(l.done);
        } else if timer.draining == 1 {
            if t.drained == 1 {
                timer.last = 1;
            } else if t.over != 0 {
                timer.last = 1;
                l.forced.count(1);
            }
        } else if timer.waiting == 1 {
            if t.over != 0 {
                timer.waiting = 0;
                timer.draining = 1;
                h.words.adv_flow_ctl = timer.word;
                h.cwh.ts_tx = m.now_16;
                l.forced.count(0);
            }
        } else if d.status != status::WAITING {
            // A new epoch came and let the queue go on.
            timer.draining = 1;
            h.cwh.ts_tx = m.now_16;
        } else if t.fires == 1 {
            h.cwh.ts_tx = m.now_16;
            if d.tail_seen == 1 {
                timer.waiting = 1;
            } else {
                timer.draining = 1;
                h.words.adv_flow_ctl = timer.word;
                l.resumed_unseen.count(0);
            }
        }
    });
}
