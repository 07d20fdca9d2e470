//! The epoch test, and what DstToR keeps of the present epoch (model: conweave §1.6 to §1.8, steps 1 to 3).
//!
//! State: eight registers, indexed by the flow's row. Times are ticks of 1.024 us.

use super::super::Params;
use super::super::headers::Headers;
use super::{Dest, age};
use sluice_build::*;

/// Accesses to the state of an epoch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Epoch {
    /// DATA: sets `age`, `early`, `given_up`, `cached`, `tail_seen` and the times of [`Dest`].
    pub(super) data: SubcontrolRef,
    /// Timer packets: sets `age` and `tail_seen`.
    pub(super) lap: SubcontrolRef,
}

/// Declares the state of an epoch.
#[stage_program]
pub(super) fn epoch(ig: &GressBuilder<'_>, p: &Params, h: Headers, d: Dest) -> Epoch {
    let Headers { bth, cwh, timer, m, .. } = h;
    let (now, row) = (m.now, m.row);

    /// Epoch modulo 4; 4 before the first packet
    let epoch_rx = ig.register::<8>(size(p.flows).init(4));
    /// Compares the packet's epoch with the present one and the one before; any other epoch is new and is stored
    let epoch_test = ig.register_action(epoch_rx, |r| {
        r.out = predicate([eq(r.value, bth.epoch.cast::<8>()), eq(r.value, d.next_epoch)]);
        if r.value != bth.epoch.cast::<8>() && r.value != d.next_epoch {
            r.value = bth.epoch.cast::<8>();
        }
    });
    let epoch_peek = ig.register_action(epoch_rx, |r| {
        r.out = predicate([eq(r.value, bth.epoch.cast::<8>()), eq(r.value, d.next_epoch)]);
    });

    /// TX time of the last packet of the old path
    let phase0_tx_rx = ig.register::<32>(p.flows);
    /// RX time of the last packet of the old path
    let phase0_rx_rx = ig.register::<32>(p.flows);

    /// 1 after TAIL came or the timer packet stopped waiting for it: REROUTED packets of the epoch are in order
    let phase_rx = ig.register::<8>(p.flows);
    let phase_read = ig.register_action(phase_rx, |r| {
        if r.value == 0 {
            r.out = 1;
        }
    });

    /// 1 after a packet of the old path was seen in this epoch
    let phase_cached_rx = ig.register::<8>(p.flows);

    /// 1 after TAIL was seen in this epoch
    let tail_cached_rx = ig.register::<8>(p.flows);
    let tail_new = ig.register_action(tail_cached_rx, |r| {
        r.out = r.value;
        r.value = bth.tail.cast::<8>();
    });

    /// TX time of the epoch's TAIL
    let tail_time_rx = ig.register::<32>(p.flows);
    /// 1 if no queue was free for the epoch
    let give_up = ig.register::<8>(p.flows);

    let sent = cwh.ts_tx.cast::<32>();
    let data = ig.subcontrol(|c| {
        d.age = epoch_test.execute(row);
        if d.age == age::NEW {
            phase_rx.write(row, bth.tail.cast::<8>());
            // TAIL is the last packet of the old path, even if its phase bit is 1.
            if bth.phase == 1 && bth.tail == 0 {
                d.early = 1;
            }
            d.tail_seen = tail_new.execute(row);
            give_up.write(row, 0);
        } else if d.age == age::CURRENT {
            if bth.tail == 1 {
                phase_rx.write(row, 1);
                d.tail_seen = tail_cached_rx.write(row, 1);
            } else if bth.phase == 1 {
                d.early = phase_read.execute(row);
            }
            if h.resubmitted.resubmit_flag == 1 {
                d.given_up = give_up.write(row, 1);
            } else {
                d.given_up = give_up.read(row);
            }
        }
        if d.age != age::PREVIOUS {
            rows! {
                //                    the last packet of the old path: sent, received,
                //                    and whether the epoch had one
                                     (d.old_tx,                              d.old_rx,
                                      _,                                     d.cached);
                bth.phase == 0    => (phase0_tx_rx.write(row, sent),         phase0_rx_rx.write(row, now),
                                      _,                                     phase_cached_rx.write(row, 1));
                d.age == age::NEW => (phase0_tx_rx.read(row),                phase0_rx_rx.read(row),
                                      phase_cached_rx.write(row, 0),         _);
                _                 => (phase0_tx_rx.read(row),                phase0_rx_rx.read(row),
                                      _,                                     phase_cached_rx.read(row));
            }
            if bth.tail == 1 || bth.phase == 1 {
                d.tail_tx = tail_time_rx.write(row, cwh.ts_tail.cast::<32>());
            } else {
                d.tail_tx = tail_time_rx.read(row);
            }
        }
    });
    let lap = ig.subcontrol(|c| {
        d.age = epoch_peek.execute(row);
        if timer.draining == 1 && d.age == age::CURRENT && bth.phase == 1 {
            phase_rx.write(row, 1);
        }
        d.tail_seen = tail_cached_rx.read(row);
    });
    Epoch { data, lap }
}
