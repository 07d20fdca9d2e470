//! Shapers of the device: a queue and a port at a rate below their line's.

use crate::aim::{config, packet, port, switch, train, world};
use crate::world::{Frame, Recorder, Seen, run};
use sluice_asic::tm::ShaperConfig;
use sluice_asic::units::{BitRate, Bytes};
use sluice_pipeline::engine::Engine;
use sluice_pipeline::switch::Switch;

/// When each packet of a queue of port 9 left its queue, in ps.
fn departures(seen: &Recorder, queue: u8) -> Vec<u64> {
    let of = |s: &Seen| match s {
        Seen::Dequeued(e) if e.qid == queue => Some(e.time.as_ps()),
        _ => None,
    };
    let mut times: Vec<u64> = seen.seen.iter().filter_map(of).collect();
    times.sort_unstable();
    times
}

fn served(setup: impl Fn(&mut Switch<Engine>)) -> Recorder {
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
