//! Times by independent sums: latency of a lone packet, a line that is never idle and never early.

use crate::switch::steer;
use crate::switch::world::{Frame, run};
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::units::{Cells, Time};
use sluice_switch::{Left, QueueSetup, SwitchConfig};

/// Time of a byte, in ps.
const AT_400G: u64 = 20;
const AT_100G: u64 = 80;

/// Returns `cycle` in ps of a 1.5 GHz clock, rounded down.
fn ps_of(cycle: u64) -> u64 {
    cycle * 2000 / 3
}

/// Returns the first cycle that is not before `ps`.
fn cycle_at(ps: u64) -> u64 {
    (ps * 3).div_ceil(2000)
}

/// Returns the line time of a frame: padded, with FCS, preamble and inter-frame gap.
fn line_bytes(len: u64) -> u64 {
    len.max(60) + 4 + 8 + 12
}

/// Returns the time of the first sent bit of a lone packet of `len` bytes, received at `ps`, through `steer` between
/// ports of 400G (model: cycles §3, §6, §8: MAC, parser, MAU, deparser, traffic manager, and back).
fn lone(ps: u64, len: u64) -> u64 {
    let world = steer::world();
    let chip = ChipSpec::tofino2();
    let l = &chip.latency;
    let hold =
        world.ports.iter().find(|p| p.dev_port.number() == world.dev_port(0)).unwrap().ingress_hold.as_ps();
    let pass = |gress: Gress, entry: u64| {
        let placed = world.placement.gress(gress);
        // The packet takes only the first state of the gress.
        let first = world.program.states.iter().find(|(_, s)| s.gress == gress).unwrap().0;
        let parser = u64::from(l.parser_fixed) + u64::from(placed.parser.cycles[first]);
        entry + parser + u64::from(placed.mau_cycles) + u64::from(placed.deparser_cycles)
    };
    let whole_frame = (len.max(60) + 4) * AT_400G;
    let at_parser = ps + whole_frame.min(hold) + l.mac_rx.as_ps();
    let left_ingress = ps_of(pass(Gress::Ingress, cycle_at(at_parser)));
    let dequeued = left_ingress + ps_of(u64::from(l.tm_enqueue));
    let entered_egress = cycle_at(dequeued + ps_of(u64::from(l.tm_dequeue)));
    let left_egress = ps_of(pass(Gress::Egress, entered_egress));
    left_egress + l.mac_tx.as_ps() + 8 * AT_400G
}

fn sent(config: SwitchConfig, frames: &[Frame]) -> Vec<Left> {
    let world = steer::world();
    let mut switch = world.switch(world.engine(), config);
    run(world, &mut switch, frames, usize::MAX).sent().map(|(l, _)| *l).collect()
}

#[test]
fn a_lone_packet_takes_the_sum_of_its_parts() {
    let port = steer::world().dev_port(5);
    for (ps, len) in [(0, 64), (1, 64), (333, 60), (1_000_000, 1500), (77_777_777, 9000), (5, 20)] {
        let frames = [Frame::new(0, ps, steer::frame(port, 0, 0x0800, len))];
        let left = sent(SwitchConfig::default(), &frames);
        assert_eq!(left[0].first_bit.as_ps(), lone(ps, len as u64), "{len} bytes at {ps} ps");
        assert_eq!(
            left[0].last_bit.as_ps() - left[0].first_bit.as_ps(),
            ((len as u64).max(60) + 4) * AT_400G
        );
    }
}

#[test]
fn back_to_back_packets_leave_back_to_back() {
    let port = steer::world().dev_port(5);
    let frames: Vec<Frame> = (0..50)
        .map(|n| Frame::new(0, n * line_bytes(200) * AT_400G, steer::frame(port, 0, 0x0800, 200)))
        .collect();
    let left = sent(SwitchConfig::default(), &frames);
    assert_eq!(left[0].first_bit.as_ps(), lone(0, 200));
    for pair in left.windows(2) {
        // In at line rate, out at line rate: at most a cycle of rounding between one and the next.
        let apart = pair[1].first_bit.as_ps() - pair[0].first_bit.as_ps();
        let wanted = line_bytes(200) * AT_400G;
        assert!(apart >= wanted && apart <= wanted + ps_of(1) + 1, "{apart} ps");
    }
}

/// A burst into a slow port: the queue's drops, by a ledger of cells that uses neither the switch's events
/// nor its batches, and a line without a gap.
#[test]
fn a_burst_into_a_slow_port_fills_its_queue_and_its_line() {
    let world = steer::world();
    let port = world.dev_port(5);
    let (count, len, limit) = (2000_u64, 300_u64, 100_u64);
    let queues = QueueSetup { limit: Cells(limit as u32), ..QueueSetup::default() };
    let port_speeds = vec![(port, "100G".parse().unwrap())];
    let config = SwitchConfig { queues, port_speeds, ..SwitchConfig::default() };
    let frames: Vec<Frame> = (0..count)
        .map(|n| Frame::new(0, n * line_bytes(len) * AT_400G, steer::frame(port, 0, 0x0800, len as usize)))
        .collect();
    let mut switch = world.switch(world.engine(), config);
    let seen = run(world, &mut switch, &frames, 64);
    let left: Vec<Left> = seen.sent().map(|(l, _)| *l).collect();
    for pair in left.windows(2) {
        let apart = pair[1].first_bit.as_ps() - pair[0].first_bit.as_ps();
        assert_eq!(apart, line_bytes(len) * AT_100G, "the line is busy as long as the queue holds packets");
    }
    // A packet takes two cells of 176 bytes. The queue gets one packet each 6480 ps and loses one each 25920.
    let cells = len.div_ceil(176);
    let (arrive, leave) = (line_bytes(len) * AT_400G, line_bytes(len) * AT_100G);
    let (mut depth, mut next_out, mut dropped) = (0u64, 0u64, 0u64);
    for n in 0..count {
        let now = n * arrive;
        while depth > 0 && next_out <= now {
            depth -= cells;
            next_out += leave;
        }
        if depth == 0 && next_out <= now {
            // Without waiting: dequeued on arrival.
            next_out = now + leave;
        } else if depth + cells <= limit {
            depth += cells;
        } else {
            dropped += 1;
        }
    }
    let found = seen.lost().count() as u64;
    assert!(found.abs_diff(dropped) <= 2, "{found} dropped, the ledger says {dropped}");
    assert_eq!(found + left.len() as u64, count);
}

/// Egress drops and shortens packets after the scheduler has taken them: the line must not be idle for that reason
/// while the queue holds others, nor be early.
#[test]
fn the_line_stays_busy_whatever_egress_does() {
    let world = steer::world();
    let port = world.dev_port(5);
    let queues = QueueSetup { limit: Cells(4000), ..QueueSetup::default() };
    let port_speeds = vec![(port, "100G".parse().unwrap())];
    let config = SwitchConfig { queues, port_speeds, ..SwitchConfig::default() };
    for (ether_type, every) in
        [(steer::DROPPED, 2), (steer::DROPPED, 5), (steer::SHORTENED, 1), (steer::SHORTENED, 3)]
    {
        let kind = |n: u64| if n.is_multiple_of(every) && n > 0 { ether_type } else { 0x0800 };
        let frames: Vec<Frame> = (0..400)
            .map(|n| Frame::new(0, n * line_bytes(500) * AT_400G, steer::frame(port, 0, kind(n), 500)))
            .collect();
        let left = sent(config.clone(), &frames);
        let mut idle = 0;
        for pair in left.windows(2) {
            let free = pair[0].last_bit.as_ps() + 12 * AT_100G;
            let begins = pair[1].first_bit.as_ps() - 8 * AT_100G;
            assert!(begins >= free, "the line is never early");
            idle += begins - free;
        }
        // Line time booked for packets that egress drops becomes free only when they leave the pipe: a gap
        // of one trip through egress, once, and not one gap per packet.
        let trip = left[0].first_bit.as_ps() - left[0].received.as_ps();
        let allowed = if ether_type == steer::DROPPED { trip } else { 0 };
        assert!(idle <= allowed, "{ether_type:#x} each {every}: {idle} ps idle");
    }
}

#[test]
fn the_clock_origin_moves_stamps_and_not_times() {
    let world = steer::world();
    let port = world.dev_port(5);
    let frames = [Frame::new(0, 10, steer::frame(port, 0, 0x0800, 100))];
    let later = SwitchConfig { clock_origin: "7s".parse().unwrap(), ..SwitchConfig::default() };
    assert_eq!(sent(SwitchConfig::default(), &frames), sent(later, &frames));
    assert!(sent(SwitchConfig::default(), &frames)[0].first_bit > Time::from_ps(10));
}
