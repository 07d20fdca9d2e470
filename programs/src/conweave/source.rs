//! SrcToR, the ToR of a flow's sender: asks for an RTT_REPLY once per epoch, and moves the flow if the reply is late
//! (model: conweave §1.2 to §1.5).
//!
//! An epoch starts with the first DATA after silence, or after a timely RTT_REPLY or a CLEAR ended the previous epoch.
//! If the reply is late and a path is free, the next DATA is TAIL, the last on the old path; later DATA is REROUTED
//! until CLEAR. State: seven registers, indexed by the flow's row. Times are ticks of 1.024 us. The paper's decision
//! table is the `rows!` in `data`. Module `busy` samples two paths; module `destination` is the receiver's ToR.

use super::Params;
use super::busy::Busy;
use super::headers::{Headers, opcode};
use sluice_build::*;

/// Results of SrcToR's lookups for a DATA packet or a REPLY
#[derive(Header, Debug)]
pub(super) struct Source {
    /// theta_reply of the flow, ticks
    pub(super) reply: Bits<32>,
    /// Ticks: the time until which a reply to this packet is timely; in a REPLY, a time after its second pass
    deadline: Bits<32>,
    /// 1 if the flow was silent for theta_inactive
    expired: Bits<8>,
    /// In DATA, 4 + the epoch that a timely RTT_REPLY or a CLEAR ended, 0 if none; in REPLY and NOTIFY, 4 + the
    /// packet's epoch
    ended: Bits<8>,
    /// 1 if the reply is late, and there is a path to move to
    timeout: Bits<1>,
    /// 1 if the packet moves the flow: at once after silence, with the next packet at a timeout
    moves: Bits<8>,
    /// 1 if a REPLY is in time
    timely: Bits<1>,
    /// 1 if the REPLY's epoch is the flow's
    same_epoch: Bits<1>,
    /// 1 if the REPLY's phase is the flow's
    same_phase: Bits<1>,
}

impl Source {
    /// True if the flow was silent for theta_inactive.
    fn is_expired(self) -> Cond {
        self.expired.eq(1)
    }

    /// True if a reply ended the last epoch: `ended` is 4 + epoch, so bit 2 is set unless `ended` is 0.
    fn is_stable(self) -> Cond {
        self.ended.slice::<2, 2, 1>().eq(1)
    }

    /// True if the reply is late, and there is a path to move to.
    fn is_timeout(self) -> Cond {
        self.timeout.eq(1)
    }
}

/// SrcToR as the rest of ingress sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct SrcToR {
    pub(super) s: Source,
    /// DATA from a host of this ToR, of a flow in the flow table.
    pub(super) data: SubcontrolRef,
    /// RTT_REPLY, CLEAR and NOTIFY from a path.
    pub(super) reply: SubcontrolRef,
}

/// Declares SrcToR.
#[stage_program]
pub(super) fn source(ig: &GressBuilder<'_>, p: &Params, h: Headers, busy: &Busy) -> SrcToR {
    let s = ig.metadata::<Source>();
    let Headers { bth, cwh, m, tm, .. } = h;
    let (now, row, paths) = (m.now, m.row, busy.paths);
    let inactive = u64::from(p.inactive);

    /// Time of the flow's last DATA, ticks; 0 = none yet
    let active_time = ig.register::<32>(p.flows);
    let active_check = ig.register_action(active_time, |r| {
        if r.value == 0 || now - r.value > inactive {
            r.out = 1;
        }
        r.value = now;
    });

    /// 4 + the epoch that a timely RTT_REPLY or a CLEAR ended, until the next DATA; 0 = none
    let ended = ig.register::<8>(p.flows);
    let ended_take = ig.register_action(ended, |r| {
        r.out = r.value;
        r.value = 0;
    });

    /// Time until which an RTT_REPLY is timely, ticks; 0 = not armed
    let reply_timer = ig.register::<32>(p.flows);
    let timer_check = ig.register_action(reply_timer, |r| {
        if r.value != 0 && serial(gt(now, r.value)) {
            r.value = 0;
            r.out = 1;
        }
    });
    /// Moves the deadline of a timely reply, so that no timeout comes before the reply's second pass
    let timer_timely = ig.register_action(reply_timer, |r| {
        if r.value != 0 && is_ahead(r.value, now, p.strict_deadline) {
            r.value = s.deadline;
            r.out = 1;
        }
    });

    /// 4 + the epoch modulo 4
    let epoch = ig.register::<8>(size(p.flows).init(4));
    /// Starts a new epoch after silence, or if the epoch that ended is the present one: a reply whose second pass comes
    /// after silence has started a new epoch ends nothing
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

    /// 1 after TAIL of the epoch was sent
    let phase = ig.register::<8>(p.flows);
    let phase_compare = ig.register_action(phase, |r| {
        if r.value == bth.phase.cast::<8>() {
            r.out = 1;
        }
    });

    /// Time at which TAIL was sent, ticks; 0 = not in this epoch
    let tail_time = ig.register::<32>(p.flows);

    /// PathID in use; 0 = none yet
    let path = ig.register::<8>(p.flows);
    /// Returns the flow's path, after a move the new one
    let path_now = ig.register_action(path, |r| {
        if s.moves == 1 || r.value == 0 {
            r.value = paths.good;
        }
        r.out = r.value;
    });
    /// Returns the old path for TAIL, and stores the new one for later packets
    let path_next = ig.register_action(path, |r| {
        r.out = r.value;
        if s.moves == 1 {
            r.value = paths.good;
        }
    });
    let to_path = ig.action(|a, port: Arg<9>| tm.ucast_egress_port = port);
    /// PathID to port
    let path_port = ig.table([exact(bth.path)]).actions([to_path]).size(256).build();

    /// DATA: the decision of model: conweave §1.3
    let data = ig.subcontrol(|c| {
        s.deadline = now + s.reply;
        paths.time = now;
        s.expired = active_check.execute(row);
        s.ended = ended_take.execute(row);
        // 0 stands for "no reply is waited for".
        if s.deadline == 0 {
            s.deadline = 1;
        }
        busy.check.apply();
        cwh.set_valid();
        bth.epoch = epoch_step.execute(row);
        // The timer is accessed once: DATA arms it, or tests it. So no packet meets the condition of the row `timeout`
        // together with that of another row.
        if s.is_expired() || s.is_stable() {
            reply_timer.write(row, s.deadline);
        } else if p.tail_without_path || paths.found == 1 {
            s.timeout = timer_check.execute(row);
        }
        // After silence no packet of the flow is in flight: the flow moves at once. At a timeout it moves after TAIL.
        if s.is_expired() || s.is_timeout() {
            s.moves = paths.found;
        }
        // Every row sets all bits of BTH that ConWeave uses: a host may have written them.
        rows! {
            //                 the flow: phase,     time of TAIL;            the packet: time of TAIL,
            //                 phase,               ask_reply,      tail,    path
                              (_,                   _,                       cwh.ts_tail,
                               bth.phase,           bth.ask_reply, bth.tail, bth.path);
            s.is_expired() => (phase.write(row, 0), tail_time.write(row, 0), 0,
                               0,                   1,             0,        path_now.execute(row));
            s.is_stable()  => (phase.write(row, 0), tail_time.write(row, 0), 0,
                               0,                   1,             0,        path_now.execute(row));
            s.is_timeout() => (phase.write(row, 1), _,                       tail_time.write(row, now),
                               0,                   1,             1,        path_next.execute(row));
            _              => (_,                   _,                       tail_time.read(row),
                               phase.read(row),     0,             0,        path_now.execute(row));
        }
        bth.cw_opcode = opcode::DATA;
        cwh.ts_tx = m.now_16;
        path_port.apply();
    });

    let reply_done = ig.consume_label("RTT_REPLY or CLEAR that ended an epoch");
    let reply_late = ig.consume_label("RTT_REPLY or CLEAR that is late, or of another epoch or phase");
    let notify_done = ig.consume_label("NOTIFY that marked a path as busy");
    let no_flow = ig.consume_label("RTT_REPLY, CLEAR or NOTIFY of a flow that is not in the flow table");
    let (theta, bridge) = (u64::from(p.path_busy), u64::from(p.reply_bridge));
    /// RTT_REPLY, CLEAR and NOTIFY
    let reply = ig.subcontrol(|c| {
        s.ended = m.epoch_tag;
        paths.first = bth.path;
        paths.second = bth.path;
        paths.way = bth.path.slice::<1, 0, 2>();
        paths.time = now + theta;
        s.deadline = now + bridge;
        if m.known == 0 {
            drop(no_flow);
        } else if bth.cw_opcode == opcode::NOTIFY {
            busy.mark.apply();
            drop(notify_done);
        } else if h.resubmitted.resubmit_flag == 1 {
            ended.write(row, s.ended);
            reply_timer.write(row, 0);
            drop(reply_done);
        } else {
            // An RTT_REPLY whose request met congestion says so.
            if bth.phase == 0 && bth.flags == 3 {
                busy.mark.apply();
            }
            if bth.phase == 0 {
                s.timely = timer_timely.execute(row);
            } else {
                s.timely = 1;
            }
            s.same_epoch = epoch_compare.execute(row);
            s.same_phase = phase_compare.execute(row);
            // Register `ended` is in a stage before the timer: writing it takes a second pass.
            if s.timely == 1 && s.same_epoch == 1 && s.same_phase == 1 {
                h.resubmit.resubmit_type = 1;
            } else {
                drop(reply_late);
            }
        }
    });
    SrcToR { s, data, reply }
}

/// True if the deadline is after `now`, or, unless `strict`, equal to it.
fn is_ahead(deadline: ElementHalf<32>, now: Bits<32>, strict: bool) -> Cond {
    serial(if strict { gt(deadline, now) } else { ge(deadline, now) })
}
