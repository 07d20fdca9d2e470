//! Time: scenarios E of model: conweave §7.

use crate::conweave::destination::{Dest, build, old, request, rerouted, tail};
use crate::conweave::wire::{Cw, Flow};
use crate::conweave::world::TICK;

/// Returns T_resume of an epoch whose last old-path packet was sent at `tx` and whose TAIL at `tail`, in ticks after
/// the arrival of the old-path packet, without the margin of 16.
fn gap(tx: u16, tail: u16) -> i64 {
    let mut d = Dest::new(1);
    d.send(0, 0, 0, request(1, tx));
    d.send(10 * TICK, 0, 10, rerouted(1, tail.wrapping_add(1), tail));
    d.run(12 * TICK);
    d.tor.register("resume_time_rx", 1) as i64 - 1000 - 16
}

#[test]
fn scenario_49_a_wrap_between_old_packet_and_tail_is_seen() {
    assert_eq!(gap(65_530, 10), 16);
    assert_eq!(gap(65_535, 0), 1);
}

#[test]
fn scenario_50_stamps_of_one_turn_are_subtracted() {
    assert_eq!(gap(40_000, 40_020), 20);
    assert_eq!(gap(100, 40_000), 39_900);
    // TAIL before the old-path packet: there is no packet left to wait for.
    let mut d = Dest::new(1);
    d.send(0, 0, 0, request(1, 500));
    d.send(10 * TICK, 0, 10, rerouted(1, 101, 100));
    d.run(12 * TICK);
    assert_eq!(d.psns(0), [0, 10], "the difference stops at 0: it was over when it began");
}

#[test]
fn scenario_51_comparisons_hold_around_the_turns_of_the_clock() {
    // Half a turn (where 31 bits end), and the turn of 32 bits.
    for turn in [1u64 << 31, 1 << 32] {
        let mut d = Dest::with(build(), vec![Flow::new(1, 1, 0)], turn - 30);
        d.send(0, 0, 0, request(1, 100));
        d.send(20 * TICK, 0, 10, rerouted(1, 121, 120));
        d.send(25 * TICK, 0, 1, old(1, 110));
        d.run(40 * TICK);
        assert_eq!(d.psns(0), [0, 1], "turn {turn}: it waits");
        d.send(45 * TICK, 0, 2, tail(1, 120));
        d.run(100 * TICK);
        assert_eq!(d.psns(0), [0, 1, 2, 10], "turn {turn}");
        d.tor.assert_clean();
        // The same by the timer alone.
        let mut d = Dest::with(build(), vec![Flow::new(1, 1, 0)], turn - 30);
        d.send(0, 0, 0, request(1, 100));
        d.send(10 * TICK, 0, 10, rerouted(1, 121, 120));
        d.run(35 * TICK);
        assert_eq!(d.psns(0), [0], "turn {turn}: T_resume is in tick 36");
        d.run(100 * TICK);
        assert_eq!(d.psns(0), [0, 10], "turn {turn}");
        d.tor.assert_clean();
    }
}

#[test]
fn scenario_52_distances_of_half_a_turn_and_more_are_ambiguous() {
    // 40 ms look like 40,000 ticks, 70 ms like 4,464: the header has 16 bits.
    assert_eq!(gap(0, 40_000), 40_000);
    assert_eq!(gap(0, 70_000u32 as u16), 4_464);
}

#[test]
fn scenario_53_t_resume_is_never_none_by_chance() {
    // now + gap + margin would be 0 in the tick of the clock's turn.
    let mut d = Dest::with(build(), vec![Flow::new(1, 1, 0)], (1 << 32) - 36);
    d.send(0, 0, 0, request(1, 100));
    d.send(10 * TICK, 0, 10, rerouted(1, 121, 120));
    d.run(12 * TICK);
    assert_eq!(d.tor.register("resume_time_rx", 1), 1);
    d.run(30 * TICK);
    assert_eq!(d.psns(0), [0], "it waits");
    d.run(100 * TICK);
    d.tor.assert_clean();
}

#[test]
fn scenario_45_a_queue_is_owned_by_a_row_which_no_two_flows_share() {
    // 200 flows with as many keys: no two can have one owner, whatever their hashes are.
    let flows: Vec<Flow> = (0..200).map(|n| Flow::new(1, 1 + (n % 4) as u8, n)).collect();
    let mut d = Dest::with(build(), flows, 1000);
    for n in 0..200 {
        d.send(10 * TICK + n as u64 * 60, n, 10, rerouted(1, 121, 120));
        d.send(30 * TICK + n as u64 * 60, n, 9, Cw { ..tail(1, 120) });
    }
    d.run(600 * TICK);
    let sorted = (0..200).filter(|n| d.psns_anywhere(*n) == [9, 10]).count();
    assert_eq!(sorted as u64, 200 - d.tor.counter("unsorted", 0));
    d.tor.assert_clean();
}
