//! Shapers of the device: a queue and a port at a rate below their line rate.

use crate::flow::aim::{config, packet, port, switch, train, world};
use crate::switch::world::{Frame, Recorder, Seen, run};
use sluice_asic::tm::ShaperConfig;
use sluice_asic::units::{BitRate, Bytes};
use sluice_control::{ControlOp, DeviceOp};
use sluice_switch::Switch;

/// Returns the time at which each packet of a queue of port 9 was dequeued, in ps.
fn departures(seen: &Recorder, queue: u8) -> Vec<u64> {
    let of = |s: &Seen| match s {
        Seen::Dequeued(e) if e.qid == queue => Some(e.time.as_ps()),
        _ => None,
    };
    let mut times: Vec<u64> = seen.seen.iter().filter_map(of).collect();
    times.sort_unstable();
    times
}

fn served(setup: impl Fn(&mut Switch<'_>)) -> Recorder {
    let mut frames: Vec<Frame> = train(0, 0, 200, &packet(9, 3, 0, 980));
    frames.extend(train(1, 0, 200, &packet(9, 0, 0, 980)));
    frames.sort_by_key(|f| (f.ps, f.front));
    let mut device = switch(config(&[]));
    setup(&mut device);
    let seen = run(world(), &mut device, &frames, 8);
    assert_eq!(seen.lost().count(), 0);
    seen
}

/// Queue 3 has priority, but at 10 Gb/s a packet of 980 + 20 bytes goes every 800 ns.
#[test]
fn a_shaped_queue_leaves_the_line_to_others() {
    let most = ShaperConfig { rate: BitRate::from_gbps(10), burst: Bytes(1) };
    let seen = served(|device| device.shape_queue(port(9), 3, Some(most)).unwrap());
    let shaped = departures(&seen, 3);
    assert!(shaped.windows(2).all(|w| (799_000..=840_000).contains(&(w[1] - w[0]))), "{shaped:?}");
    let others = departures(&seen, 1);
    assert!(others[199] < shaped[20], "{} {}", others[199], shaped[20]);
}

#[test]
fn a_shaped_port_slows_all_of_its_queues() {
    let most = ShaperConfig { rate: BitRate::from_gbps(40), burst: Bytes(1) };
    let seen = served(|device| device.shape_port(port(9), Some(most)).unwrap());
    let mut all = [departures(&seen, 3), departures(&seen, 1)].concat();
    all.sort_unstable();
    let span = all[399] - all[0];
    assert!((399 * 199_900..401 * 200_000).contains(&span), "{span}");
}

/// Strict priority and weights of the operator: queue 1 before queue 3, or three bytes of queue 1 per byte of queue 3.
#[test]
fn an_operator_says_whose_turn_it_is() {
    let turns = |settings: [(u8, u8, u16); 2]| {
        let seen = served(|device| {
            for (queue, priority, weight) in settings {
                let port = port(9).number();
                device
                    .apply(ControlOp::Device(DeviceOp::ScheduleQueue { port, queue, priority, weight }))
                    .unwrap();
            }
        });
        let (lossless, lossy) = (departures(&seen, 3), departures(&seen, 1));
        // Packets of queue 3 that were sent before the last packet of queue 1, and the reverse.
        (
            lossless.iter().filter(|t| **t < lossy[199]).count(),
            lossy.iter().filter(|t| **t < lossless[199]).count(),
        )
    };
    // Both arrive at line rate, so half of each waits.
    let (before, _) = turns([(1, 7, 1), (3, 0, 1)]);
    assert!(before < 10, "{before}");
    let (_, before) = turns([(1, 0, 1), (3, 7, 1)]);
    assert!(before < 10, "{before}");
    let (before, _) = turns([(1, 2, 90), (3, 2, 30)]);
    assert!((60..=75).contains(&before), "{before}");
}

/// The same settings from an entries file reach the device.
#[test]
fn shapers_and_turns_of_a_file_reach_the_device() {
    let w = world();
    let mut control = w.control.clone();
    let port = port(9).number();
    let text = format!(
        "queue_shaper {port} 3 10Gbps:1B\nqueue_schedule {port} 3 7 1\nqueue_schedule {port} 1 0 1\nport_shaper {port} 40Gbps:1B\n"
    );
    sluice_control::lines::load(&w.program, &text, "test", &mut control).unwrap();
    let mut frames: Vec<Frame> = train(0, 0, 50, &packet(9, 3, 0, 980));
    frames.extend(train(1, 0, 50, &packet(9, 0, 0, 980)));
    frames.sort_by_key(|f| (f.ps, f.front));
    let mut device =
        Switch::new(&w.program, &w.placement, &w.ports, control, Box::new(w.engine()), config(&[])).unwrap();
    let seen = run(w, &mut device, &frames, 8);
    let shaped = departures(&seen, 3);
    assert!(shaped.windows(2).all(|w| w[1] - w[0] >= 799_000), "{shaped:?}");
    let mut all = [shaped, departures(&seen, 1)].concat();
    all.sort_unstable();
    assert!(all.windows(2).all(|w| w[1] - w[0] >= 199_000), "{all:?}");
}
