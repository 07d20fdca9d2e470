//! What DATA does to a flow's state, step by step (model: conweave §1.8, §1.9).

use super::super::headers::{Headers, kind};
use super::super::queues::Queues;
use super::super::{BIRTH_SESSION, HEADERS_SESSION, PAUSE, Params};
use super::{Dest, DstToR, age, status, unsorted, verdict};
use sluice_build::*;

/// Counts what may reach the host out of order, with the reason.
#[stage_program]
pub(super) fn account(c: &mut Control<'_>, d: Dest, queues: &Queues, counter: CounterRef) {
    let q = queues.q;
    c.block(|c| {
        if d.age == age::PREVIOUS {
            counter.count(unsorted::PREVIOUS);
        } else if d.verdict == verdict::AGAIN {
            counter.count(unsorted::NO_QUEUE);
        } else if d.age == age::NEW && d.status == status::WAITING {
            counter.count(unsorted::NEW_EPOCH);
        } else if d.early == 1 && (q.found == 0 || d.status == status::DRAINING || d.status == status::OLD) {
            counter.count(unsorted::DRAINING);
        }
    });
}

/// The epoch test and all that is kept per flow.
#[stage_program]
pub(super) fn remember(c: &mut Control<'_>, t: &DstToR, h: Headers) {
    let (d, m, bth) = (t.d, h.m, h.bth);
    c.block(|c| {
        d.age = t.epoch_test.execute(m.row);
        if d.age == age::NEW {
            t.phase_new.execute(m.row);
            // TAIL is the last of the old path, whatever phase it claims.
            if bth.phase == 1 && bth.tail == 0 {
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
pub(super) fn estimate(c: &mut Control<'_>, t: &DstToR, p: &Params, h: Headers) {
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
pub(super) fn wanted(c: &mut Control<'_>, t: &DstToR, h: Headers, queues: &Queues) {
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
        } else if d.status != status::IDLE {
            q.find = 1;
        }
    });
}

/// What happens to the packet, its queue and T_resume.
#[stage_program]
pub(super) fn sort(c: &mut Control<'_>, t: &DstToR, h: Headers, queues: &Queues) {
    let (d, m, bth, q) = (t.d, h.m, h.bth, queues.q);
    c.block(|c| {
        if q.claim == 1 {
            if q.found == 1 {
                // The first packet that came too early: its word is at the queue before the packet is.
                t.resume_arm.execute(m.row);
                h.words.adv_flow_ctl = q.word | PAUSE;
                h.tm.qid = q.qid;
                t.queued_count.execute(m.row);
                t.timer_seen(c, h);
                d.verdict = verdict::FIRST;
            } else {
                d.verdict = verdict::AGAIN;
                h.resubmit.resubmit_type = 1;
            }
        } else if q.find == 1 && q.found == 1 {
            t.timer_lost(c, h);
            if d.status == status::WAITING {
                if d.age == age::NEW {
                    // Silence ended the epoch before TAIL came: what waits goes first.
                    if d.tail_seen == 0 {
                        h.words.adv_flow_ctl = q.word;
                    }
                } else if bth.phase == 1 && bth.tail == 0 {
                    // TAIL does not wait for itself, whatever phase it claims.
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
}

/// The one copy that a packet can have: CLEAR, RTT_REPLY, the timer packet, one in place of a lost one, NOTIFY, in this
/// order. REROUTED packets get no RTT_REPLY: one that pauses a queue must make its timer packet.
#[stage_program]
pub(super) fn mirror(c: &mut Control<'_>, t: &DstToR, h: Headers, queues: &Queues) {
    let (d, m, bth, q) = (t.d, h.m, h.bth, queues.q);
    let (session, birth) = (HEADERS_SESSION, BIRTH_SESSION);
    c.block(|c| {
        if d.verdict != verdict::AGAIN && d.age != age::PREVIOUS {
            if d.verdict == verdict::CLEAR {
                h.mirror.mirror_type = 1;
                m.session = session;
                h.copy.kind = kind::CLEAR;
            } else if bth.ask_reply == 1 && bth.tail == 0 && bth.phase == 0 {
                h.mirror.mirror_type = 1;
                m.session = session;
                h.copy.kind = kind::REPLY;
            } else if d.verdict == verdict::FIRST {
                h.mirror.mirror_type = 2;
                m.session = birth;
                h.birth.kind = kind::BIRTH;
                h.birth.word = q.word;
                h.birth.row = m.row;
            } else if d.lost == 1 {
                h.mirror.mirror_type = 2;
                m.session = birth;
                // Packets that wait since an epoch before belong to no CLEAR of this one.
                if d.status == status::OLD || d.age == age::NEW {
                    h.birth.kind = kind::REBIRTH_OLD;
                } else {
                    h.birth.kind = kind::REBIRTH;
                }
                h.birth.word = q.word;
                h.birth.row = m.row;
                t.timer_revived(c);
            } else if h.ipv4.ecn == 3 {
                h.mirror.mirror_type = 1;
                m.session = session;
                h.copy.kind = kind::NOTIFY;
            }
        }
    });
}
