//! Answers of DstToR to DATA, and its counters (model: conweave §1.8, §2.5).

use super::super::headers::{Headers, kind};
use super::super::queues::Queues;
use super::super::{BIRTH_SESSION, HEADERS_SESSION};
use super::{Dest, age, status, unsorted, verdict};
use sluice_build::*;

/// Counts packets that may reach the host out of order, by reason.
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

/// Chooses the one copy that a packet can have, in this order: CLEAR, RTT_REPLY, the timer packet, a timer packet in
/// place of a lost one, NOTIFY. REROUTED packets get no RTT_REPLY, because one that pauses a queue must make its timer
/// packet.
#[stage_program]
pub(super) fn mirror(c: &mut Control<'_>, d: Dest, h: Headers, queues: &Queues, revived: CounterRef) {
    let (m, bth, q) = (h.m, h.bth, queues.q);
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
                // Packets that wait since an earlier epoch belong to no CLEAR of this one.
                if d.status == status::OLD || d.age == age::NEW {
                    h.birth.kind = kind::REBIRTH_OLD;
                } else {
                    h.birth.kind = kind::REBIRTH;
                }
                h.birth.word = q.word;
                h.birth.row = m.row;
                revived.count(0);
            } else if h.ipv4.ecn == 3 {
                h.mirror.mirror_type = 1;
                m.session = session;
                h.copy.kind = kind::NOTIFY;
            }
        }
    });
}
