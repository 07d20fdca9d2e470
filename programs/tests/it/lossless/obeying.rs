//! Pauses of the other end, obeyed by the program, and by the MAC on the same frames.

use crate::lossless::bench::{Bench, in_order, packet, pfc, train};
use crate::switch::world::Frame;
use sluice_asic::chip::ChipSpec;
use sluice_control::{ControlOp, DeviceOp};

/// 400G: a quantum is 1.28 ns, a frame of 1,000 bytes takes 20.48 ns.
const QUANTUM: u64 = 1_280;
const LINE: u64 = 20_480;

fn bench() -> Bench {
    Bench::new("pfc", &[], &ChipSpec::tofino2())
}

/// The program under the chip's buffer with the MACs doing PFC.
fn by_mac() -> Bench {
    let bench = bench().under_buffer(&[]);
    let ports: Vec<u16> = bench.world.ports.front_ports().iter().map(|p| p.dev_port.number()).collect();
    let off = |b: Bench, port| b.with(ControlOp::Device(DeviceOp::SetPfc { port, program: false }));
    ports.into_iter().fold(bench, off)
}

fn by_program() -> Bench {
    bench().under_buffer(&[])
}

/// Effect of a pause at 20 us on packets of queue 3 that are sent on port 16 at line rate.
#[derive(Debug)]
struct Gap {
    /// From the pause's last bit to the last packet that was dequeued before it took effect, ps.
    reaction: u64,
    /// From the last packet before the pause to the first one after it, ps.
    length: u64,
    /// Bytes dequeued after the pause's last bit and before it took effect.
    leaked: u64,
}

fn gap(bench: &Bench, pauses: &[(u64, u8, u16)]) -> Option<Gap> {
    let mut frames = train(0, 0, LINE, 6_000, &packet([172, 16, 0, 1], 3, 0, 0, 1_000));
    let at = 20_000_000;
    frames.extend(pauses.iter().map(|&(after, bits, quanta)| Frame::new(16, at + after, pfc(bits, quanta))));
    let (mut switch, mut seen) = bench.run(&in_order(frames), 0);
    bench.drain(&mut switch, &mut seen);
    assert_eq!(bench.losses(&seen).keys().filter(|k| !k.starts_with("pfc_")).count(), 0);
    let times = bench.dequeued(&seen, 16, 3);
    assert_eq!(times.len(), 6_000);
    let last_bit = at + 64 * 20;
    let widest = times.windows(2).max_by_key(|w| w[1] - w[0]).unwrap();
    let leaked = times.iter().filter(|t| (last_bit..=widest[0]).contains(*t)).count() as u64 * 1_000;
    (widest[1] - widest[0] > 10 * LINE).then(|| Gap {
        reaction: widest[0].saturating_sub(last_bit),
        length: widest[1] - widest[0],
        leaked,
    })
}

/// A pause of 20,000 quanta, 25.6 us, by program and by MAC. The MAC waits for the standard's bound and keeps time to a
/// picosecond; the program is as fast as its pipe, and ends a pause up to one recirculation late (model: buffer §8.3
/// rows 28, 30).
#[test]
fn a_pause_holds_its_queue_by_program_and_by_mac() {
    let (program, mac) =
        (gap(&by_program(), &[(0, 8, 20_000)]).unwrap(), gap(&by_mac(), &[(0, 8, 20_000)]).unwrap());
    let time = 20_000 * QUANTUM;
    assert!(mac.reaction.abs_diff(905 * QUANTUM) < 2 * LINE, "{mac:?}");
    assert!(program.reaction < 905 * QUANTUM / 2, "{program:?}");
    assert!(mac.length.abs_diff(time) < 2 * LINE, "{mac:?}");
    // A thousandth of the time for the factor, and one recirculation of the timer.
    let lap = 1_500_000;
    assert!((time..time + time / 900 + lap).contains(&(program.length + LINE)), "{program:?}");
    assert!(program.leaked < mac.leaked, "{program:?} {mac:?}");
}

/// model: buffer §8.3 rows 27, 29, 31, 32, 33.
#[test]
fn pauses_are_replaced_and_ended_and_what_is_none_is_ignored() {
    let bench = bench();
    let lap = 1_500_000;
    let length = |pauses: &[(u64, u8, u16)]| gap(&bench, pauses).map_or(0, |g| g.length);
    // Replaced by a shorter one 5,000 quanta later: over 10,000 after the first, not 20,000.
    let replaced = length(&[(0, 8, 15_000), (5_000 * QUANTUM, 8, 5_000)]);
    assert!((10_000 * QUANTUM - LINE..10_020 * QUANTUM + lap).contains(&replaced), "{replaced}");
    // Lengthened by a refresh.
    let longer = length(&[(0, 8, 10_000), (5_000 * QUANTUM, 8, 10_000)]);
    assert!((15_000 * QUANTUM - LINE..15_020 * QUANTUM + lap).contains(&longer), "{longer}");
    // Ended by a frame: at once, not at the next recirculation.
    let ended = length(&[(0, 8, 50_000), (10_000 * QUANTUM, 8, 0)]);
    assert!(ended.abs_diff(10_000 * QUANTUM) < 4 * LINE, "{ended}");
    // Another priority, a lossy priority, no priority.
    assert_eq!([0x10, 0x02, 0x00].map(|bits| length(&[(0, bits, 20_000)])), [0, 0, 0]);
    // A frame for all priorities holds this one too.
    assert!(length(&[(0, 0xff, 20_000)]) > 20_000 * QUANTUM);
}

/// Rows 23 and 32: both priorities of one frame; 802.3x PAUSE is consumed and pauses nothing.
#[test]
fn one_frame_may_pause_both_priorities() {
    let bench = bench();
    let mut frames = vec![Frame::new(16, 0, pfc(0x18, 30_000))];
    for dscp in [3, 4, 0] {
        frames.extend(train(0, 5_000_000, LINE, 3, &packet([172, 16, 0, 1], dscp, 0, 0, 1_000)));
    }
    let (mut switch, mut seen) = bench.run(&in_order(frames), 0);
    bench.drain(&mut switch, &mut seen);
    let end = 30_000 * QUANTUM;
    for (queue, held) in [(3, true), (4, true), (1, false)] {
        let times = bench.dequeued(&seen, 16, queue);
        assert_eq!(times.len(), 3);
        assert_eq!(times[0] > end, held, "{queue}: {times:?}");
    }
    assert_eq!((bench.count(&switch, "pauses"), bench.count(&switch, "expiries")), (2, 2));
    assert_eq!(bench.losses(&seen)["pfc_taken"], 3);

    let mut pause = pfc(0x08, 30_000);
    pause[14] = 0;
    let frames =
        [Frame::new(16, 0, pause), Frame::new(0, 5_000_000, packet([172, 16, 0, 1], 3, 0, 0, 1_000))];
    let (mut switch, mut seen) = bench.run(&frames, 0);
    bench.drain(&mut switch, &mut seen);
    assert!(bench.dequeued(&seen, 16, 3)[0] < 10_000_000);
    assert_eq!(bench.losses(&seen)["pfc_ignored"], 1);
}

/// A queue of a line of 25G: quanta are sixteen times as long.
#[test]
fn quanta_are_those_of_the_line() {
    let bench = bench();
    let frames = in_order(vec![
        Frame::new(20, 0, pfc(0x08, 5_000)),
        Frame::new(0, 5_000_000, packet([10, 9, 9, 9], 3, 0, 0, 1_000)),
    ]);
    let (mut switch, mut seen) = bench.run(&frames, 0);
    bench.drain(&mut switch, &mut seen);
    let (time, at) = (5_000 * 20_480, bench.dequeued(&seen, 20, 3)[0]);
    assert!((time..time + time / 900 + 3_000_000).contains(&at), "{at}");
}

/// Pauses back to back for longer than a 32-bit timestamp can represent, in batches of any size.
#[test]
fn batches_do_not_matter() {
    let mut frames: Vec<Frame> = (0..40u64)
        .map(|n| Frame::new(16, n * 4_000_000, pfc(0x18, if n % 5 == 4 { 0 } else { 3_000 })))
        .collect();
    for dscp in [3, 4] {
        frames.extend(train(u16::from(dscp), 0, 150_000, 1_000, &packet([172, 16, 0, 1], dscp, 0, 0, 700)));
    }
    let frames = in_order(frames);
    let runs = [1, 7, 64].map(|max_batch| {
        let mut bench = bench();
        bench.config.max_batch = max_batch;
        let (mut switch, mut seen) = bench.run(&frames, 0);
        bench.drain(&mut switch, &mut seen);
        (bench.sent(&seen, 16), bench.count(&switch, "pauses"), switch.totals().clone())
    });
    assert!(runs[0].1 > 30);
    assert!(runs[0] == runs[1] && runs[1] == runs[2]);
}
