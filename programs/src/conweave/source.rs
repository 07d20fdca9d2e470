//! SrcToR: epochs, the reply timer, the phase and the path of a flow (model: conweave §1.2 to §1.5).
//!
//! An epoch begins with the first DATA after silence or after the last epoch ended well; its first packet asks for an
//! RTT_REPLY. A reply in time ends it. Without one the next DATA is TAIL, the last packet on the old path, and what
//! follows is REROUTED until CLEAR comes.

use super::Params;
use super::busy::{Busy, Paths};
use super::headers::{Headers, opcode};
use sluice_build::*;

/// What SrcToR finds about a DATA packet or a REPLY
#[derive(Header, Debug)]
pub(super) struct Source {
    /// theta_reply of the flow
    pub(super) reply: Bits<32>,
    /// Until when a reply to this packet is timely; of a REPLY until its second pass is over
    pub(super) deadline: Bits<32>,
    /// 1 when the flow was silent for theta_inactive
    pub(super) expired: Bits<8>,
    /// 4 plus the epoch that ended well, or 0; of a REPLY its epoch
    pub(super) ended: Bits<8>,
    /// 1 when the reply is late and there is a path to move to
    pub(super) timeout: Bits<1>,
    /// 1 when the flow moves in this very packet
    pub(super) moves: Bits<8>,
    /// 1 when a REPLY is in time
    pub(super) timely: Bits<1>,
    /// 1 when that is the flow's epoch
    pub(super) same_epoch: Bits<1>,
    /// 1 when the REPLY's phase is the flow's
    pub(super) same_phase: Bits<1>,
}

/// Registers and tables of SrcToR.
#[derive(Clone, Copy, Debug)]
pub(super) struct SrcToR {
    pub(super) s: Source,
    pub(super) registers: [sluice_ir::Register; 6],
    active_check: RegisterActionRef,
    ended_take: RegisterActionRef,
    ended_set: RegisterActionRef,
    timer_arm: RegisterActionRef,
    timer_check: RegisterActionRef,
    timer_timely: RegisterActionRef,
    timer_disarm: RegisterActionRef,
    epoch_step: RegisterActionRef,
    epoch_compare: RegisterActionRef,
    phase_get: RegisterActionRef,
    phase_set: RegisterActionRef,
    phase_clear: RegisterActionRef,
    phase_compare: RegisterActionRef,
    tail_get: RegisterActionRef,
    tail_now: RegisterActionRef,
    tail_zero: RegisterActionRef,
    path_now: RegisterActionRef,
    path_next: RegisterActionRef,
    path_port: TableRef,
    reply_done: LabelRef,
    reply_late: LabelRef,
    notify_done: LabelRef,
    no_flow: LabelRef,
}

/// Declares state and tables of SrcToR.
#[stage_program]
#[allow(clippy::let_and_return, reason = "a `let` gives a declaration its name")]
pub(super) fn source(ig: &GressBuilder<'_>, p: &Params, h: Headers, busy: &Busy) -> SrcToR {
    let s = ig.metadata::<Source>();
    let Headers { bth, m, tm, .. } = h;
    let now = m.now;
    let inactive = u64::from(p.inactive);

    /// When the flow's last DATA came; 0 before the first, which is silence whatever the clock says
    let active_time = ig.register::<32>(p.flows);
    let active_check = ig.register_action(active_time, |r| {
        if r.value == 0 || now - r.value > inactive {
            r.out = 1;
        }
        r.value = now;
    });

    /// 4 plus the epoch that a timely RTT_REPLY or a CLEAR ended, until the next DATA
    let ended = ig.register::<8>(p.flows);
    let ended_take = ig.register_action(ended, |r| {
        r.out = r.value;
        r.value = 0;
    });
    let ended_set = ig.register_action(ended, |r| r.value = s.ended);

    /// Until when an RTT_REPLY is timely; 0 when none is waited for
    let reply_timer = ig.register::<32>(p.flows);
    let timer_arm = ig.register_action(reply_timer, |r| r.value = s.deadline);
    let timer_check = ig.register_action(reply_timer, |r| {
        if r.value != 0 && serial(gt(now, r.value)) {
            r.value = 0;
            r.out = 1;
        }
    });
    let timer_timely = if p.strict_deadline {
        /// No timeout may come between the two passes of the reply
        let timer_timely = ig.register_action(reply_timer, |r| {
            if r.value != 0 && serial(gt(r.value, now)) {
                r.value = s.deadline;
                r.out = 1;
            }
        });
        timer_timely
    } else {
        /// No timeout may come between the two passes of the reply
        let timer_timely = ig.register_action(reply_timer, |r| {
            if r.value != 0 && serial(ge(r.value, now)) {
                r.value = s.deadline;
                r.out = 1;
            }
        });
        timer_timely
    };
    let timer_disarm = ig.register_action(reply_timer, |r| r.value = 0);

    /// 4 plus the epoch modulo 4
    let epoch = ig.register::<8>(size(p.flows).init(4));
    /// A new epoch after silence, or when it is the present one that ended: a reply that was overtaken by silence
    /// on its second pass ends nothing
    let epoch_step = ig.register_action(epoch, |r| {
        if s.expired == 1 || r.value == s.ended {
            if r.value == 7 {
                r.value = 4;
            } else {
                r.value = r.value + 1;
            }
        }
        r.out = r.value;
    });
    let epoch_compare = ig.register_action(epoch, |r| {
        if r.value == s.ended {
            r.out = 1;
        }
    });

    /// 1 once TAIL of the epoch has been sent
    let phase = ig.register::<8>(p.flows);
    let phase_get = ig.register_action(phase, |r| r.out = r.value);
    let phase_set = ig.register_action(phase, |r| r.value = 1);
    let phase_clear = ig.register_action(phase, |r| r.value = 0);
    let phase_compare = ig.register_action(phase, |r| {
        if r.value == bth.phase.cast::<8>() {
            r.out = 1;
        }
    });

    /// When TAIL left, 0 if it has not in this epoch
    let tail_time = ig.register::<32>(p.flows);
    let tail_get = ig.register_action(tail_time, |r| r.out = r.value);
    let tail_now = ig.register_action(tail_time, |r| {
        r.value = now;
        r.out = r.value;
    });
    let tail_zero = ig.register_action(tail_time, |r| r.value = 0);

    /// PathID in use; 0 before the first packet
    let path = ig.register::<8>(p.flows);
    /// The path of this packet, which may be a new one
    let path_now = ig.register_action(path, |r| {
        if s.moves == 1 || r.value == 0 {
            r.value = busy.paths.good;
        }
        r.out = r.value;
    });
    /// The old path for this packet, the new one from the next on
    let path_next = ig.register_action(path, |r| {
        r.out = r.value;
        if s.moves == 1 {
            r.value = busy.paths.good;
        }
    });
    let to_path = ig.action(|a, port: Arg<9>| tm.ucast_egress_port = port);
    /// PathID to port
    let path_port = ig.table([exact(bth.path)]).actions([to_path]).size(256).build();

    let reply_done = ig.consume_label("RTT_REPLY or CLEAR that ended an epoch");
    let reply_late = ig.consume_label("RTT_REPLY or CLEAR that is late, or of another epoch or phase");
    let notify_done = ig.consume_label("NOTIFY that marked a path as busy");
    let no_flow = ig.consume_label("RTT_REPLY, CLEAR or NOTIFY of a flow that is not in the flow table");
    SrcToR {
        s,
        registers: [
            ir_of(active_time),
            ir_of(ended),
            ir_of(reply_timer),
            ir_of(epoch),
            ir_of(phase),
            ir_of(path),
        ],
        active_check,
        ended_take,
        ended_set,
        timer_arm,
        timer_check,
        timer_timely,
        timer_disarm,
        epoch_step,
        epoch_compare,
        phase_get,
        phase_set,
        phase_clear,
        phase_compare,
        tail_get,
        tail_now,
        tail_zero,
        path_now,
        path_next,
        path_port,
        reply_done,
        reply_late,
        notify_done,
        no_flow,
    }
}

fn ir_of(register: impl RegisterHandle) -> sluice_ir::Register {
    register.handle()
}

impl SrcToR {
    /// DATA from a host, of a known flow: the decision table of model: conweave §1.3.
    pub(super) fn data(&self, c: &mut Control<'_>, p: &Params, h: Headers, busy: &Busy) {
        start(c, self, h, busy.paths);
        busy.check(c, h);
        decide(c, self, p, h, busy);
    }

    /// RTT_REPLY, CLEAR and NOTIFY that came by a path.
    pub(super) fn control(&self, c: &mut Control<'_>, p: &Params, h: Headers, busy: &Busy) {
        answer(c, self, p, h, busy);
    }
}

#[stage_program]
fn start(c: &mut Control<'_>, t: &SrcToR, h: Headers, paths: Paths) {
    let (s, m) = (t.s, h.m);
    c.block(|c| {
        s.deadline = m.now + s.reply;
        paths.time = m.now;
        s.expired = t.active_check.execute(m.row);
        s.ended = t.ended_take.execute(m.row);
        // 0 stands for "no reply is waited for".
        if s.deadline == 0 {
            s.deadline = 1;
        }
    });
}

#[stage_program]
fn decide(c: &mut Control<'_>, t: &SrcToR, p: &Params, h: Headers, busy: &Busy) {
    let (s, m, paths) = (t.s, h.m, busy.paths);
    let (bth, cwh) = (h.bth, h.cwh);
    c.block(|c| {
        cwh.set_valid();
        bth.epoch = t.epoch_step.execute(m.row);
        if s.expired == 1 || s.ended.slice::<2, 2, 1>() == 1 {
            t.timer_arm.execute(m.row);
        } else if p.tail_without_path || paths.found == 1 {
            s.timeout = t.timer_check.execute(m.row);
        }
        // After silence nothing of the flow is on its way: it may move at once. At a timeout it moves behind TAIL.
        if s.expired == 1 || s.timeout == 1 {
            s.moves = paths.found;
        }
        if s.expired == 1 || s.ended.slice::<2, 2, 1>() == 1 {
            t.phase_clear.execute(m.row);
            t.tail_zero.execute(m.row);
            cwh.ts_tail = 0;
            // The bits are ConWeave's here, whatever the host put there.
            bth.phase = 0;
            bth.ask_reply = 1;
            bth.tail = 0;
            bth.path = t.path_now.execute(m.row);
        } else if s.timeout == 1 {
            t.phase_set.execute(m.row);
            cwh.ts_tail = t.tail_now.execute(m.row);
            bth.phase = 0;
            bth.ask_reply = 1;
            bth.tail = 1;
            bth.path = t.path_next.execute(m.row);
        } else {
            bth.phase = t.phase_get.execute(m.row);
            bth.ask_reply = 0;
            bth.tail = 0;
            cwh.ts_tail = t.tail_get.execute(m.row);
            bth.path = t.path_now.execute(m.row);
        }
        bth.cw_opcode = opcode::DATA;
        cwh.ts_tx = m.now_16;
        t.path_port.apply();
    });
}

#[stage_program]
fn answer(c: &mut Control<'_>, t: &SrcToR, p: &Params, h: Headers, busy: &Busy) {
    let (s, m, paths, bth) = (t.s, h.m, busy.paths, h.bth);
    let (theta, bridge) = (u64::from(p.path_busy), u64::from(p.reply_bridge));
    c.block(|c| {
        s.ended = m.epoch_tag;
        paths.first = bth.path;
        paths.second = bth.path;
        paths.way = bth.path.slice::<1, 0, 2>();
        paths.time = m.now + theta;
        s.deadline = m.now + bridge;
        if m.known == 0 {
            drop(t.no_flow);
        } else if bth.cw_opcode == opcode::NOTIFY {
            busy.mark(c, h);
            drop(t.notify_done);
        } else if h.resubmitted.resubmit_flag == 1 {
            t.ended_set.execute(m.row);
            t.timer_disarm.execute(m.row);
            drop(t.reply_done);
        } else {
            // An RTT_REPLY whose request met congestion says so.
            if bth.phase == 0 && bth.flags == 3 {
                busy.mark(c, h);
            }
            if bth.phase == 0 {
                s.timely = t.timer_timely.execute(m.row);
            } else {
                s.timely = 1;
            }
            s.same_epoch = t.epoch_compare.execute(m.row);
            s.same_phase = t.phase_compare.execute(m.row);
            // The mark of an ended epoch stands before the timer: setting it takes a second pass.
            if s.timely == 1 && s.same_epoch == 1 && s.same_phase == 1 {
                h.resubmit.resubmit_type = 1;
            } else {
                drop(t.reply_late);
            }
        }
    });
}
