//! The resume timer: a packet that recirculates as long as a flow's queue is in use (model: conweave §1.10).
//!
//! The timer packet waits for T_resume, then for TAIL to leave if TAIL came, then for the queue to drain. On its last
//! recirculation it releases the queue and sends CLEAR to SrcToR. It reads the flow's state in DstToR's registers and
//! carries only what egress needs.

use super::destination::{DstToR, age, status};
use super::headers::{Headers, kind};
use super::{PAUSE, Params};
use sluice_build::*;

/// Results of ingress lookups for a timer packet
#[derive(Header, Debug)]
pub(super) struct Lap {
    /// Ticks since the present wait began
    pub(super) elapsed: Bits<16>,
    /// Not 0 if the present wait is longer than `patience`
    pub(super) over: Bits<16>,
    /// 1 if T_resume has come
    pub(super) fires: Bits<1>,
    /// 1 if as many packets left the queue as were sent to it
    pub(super) drained: Bits<1>,
}

/// Declares one lap of a timer packet; DstToR's part of it is the flow's state.
#[stage_program]
#[allow(clippy::let_and_return, reason = "a `let` gives a declaration its name")]
pub(super) fn timer(ig: &GressBuilder<'_>, p: &Params, h: Headers, dst: &DstToR) -> SubcontrolRef {
    let (t, d, m, timer) = (dst.t, dst.d, h.m, h.timer);
    let too_long = 0xffff & !((1u64 << p.patience) - 1);
    let session = super::TIMER_SESSION;
    let recirculation = p.recirculation();
    let done = ig.consume_label("Timer packet whose queue is empty");
    /// Timer packets that stopped waiting: 0 for TAIL to leave, 1 for the queue to drain
    let forced = ig.counter(2, CounterKind::Packets);
    /// Queues that T_resume resumed before TAIL came: TAIL was lost, or is later than expected and the packets in the
    /// queue overtake packets on the old path
    let resumed_unseen = ig.counter(1, CounterKind::Packets);
    /// One lap
    let lap = ig.subcontrol(|c| {
        t.elapsed = m.now_16 - h.cwh.ts_tx;
        t.over = t.elapsed & too_long;
        dst.lap.apply();
        h.tm.ucast_egress_port = recirculation;
        h.tm.qid = super::CONTROL_QUEUE;
        h.bridge.kind = kind::PLAIN;
        if timer.last == 1 {
            // The queue stays paused for its next owner. If patience ended before the queue was empty, the queue stays
            // resumed, because no timer packet is left that would release the packets in it.
            if t.over == 0 {
                h.words.adv_flow_ctl = timer.word | PAUSE;
            }
            if d.age == age::CURRENT && h.bth.phase == 1 {
                h.mirror.mirror_type = 1;
                m.session = session;
                h.copy.kind = kind::CLEAR;
            }
            drop(done);
        } else if timer.draining == 1 {
            if t.drained == 1 {
                timer.last = 1;
            } else if t.over != 0 {
                timer.last = 1;
                forced.count(1);
            }
        } else if timer.waiting == 1 {
            if t.over != 0 {
                timer.waiting = 0;
                timer.draining = 1;
                h.words.adv_flow_ctl = timer.word;
                h.cwh.ts_tx = m.now_16;
                forced.count(0);
            }
        } else if d.status != status::WAITING {
            // A new epoch resumed the queue.
            timer.draining = 1;
            h.cwh.ts_tx = m.now_16;
        } else if t.fires == 1 {
            h.cwh.ts_tx = m.now_16;
            if d.tail_seen == 1 {
                timer.waiting = 1;
            } else {
                timer.draining = 1;
                h.words.adv_flow_ctl = timer.word;
                resumed_unseen.count(0);
            }
        }
    });
    lap
}
