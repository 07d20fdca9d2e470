//! The watchdog at a port whose peer does not end its pauses.

use crate::flow::aim::{config, packet, pfc, switch, world};
use crate::switch::world::{Frame, Recorder, run};
use sluice_asic::units::Duration;
use sluice_switch::Switch;

const MS: u64 = 1_000_000_000;

fn watchdog(action: &str) -> String {
    format!(
        "pfc_enable = \"3-4\"\nwatchdog = {{ detection_time = 200, restoration_time = 200, poll_interval = 200, action = \"{action}\" }}"
    )
}

/// A storm on priority 3 of port 9 from 250 ms on: a frame each 40 us, so that the pause never ends. Queues 3 and 1 get
/// a packet every 5 ms.
fn storm(action: &str, until_ms: u64, run_ms: u64) -> (Switch<'static>, Recorder) {
    let dog = watchdog(action);
    let mut frames: Vec<Frame> = Vec::new();
    let mut at = 250 * MS;
    while at < until_ms * MS {
        frames.push(Frame::new(9, at, pfc(0x08, 0xffff)));
        at += 40_000_000;
    }
    for n in 0..run_ms / 5 {
        frames.push(Frame::new(0, n * 5 * MS + 1_000_000, packet(9, 3, 0, 1000)));
        frames.push(Frame::new(1, n * 5 * MS + 1_000_000, packet(9, 0, 0, 1000)));
    }
    frames.sort_by_key(|f| f.ps);
    let mut device = switch(config(&[("pfc_enable = \"3-4\"", &dog)]));
    let seen = run(world(), &mut device, &frames, 1);
    (device, seen)
}

fn queue(device: &Switch<'_>) -> sluice_switch::QueueFlowView {
    let view = device.flow(device.time()).unwrap();
    view.ports.iter().find(|p| p.name == "9").unwrap().queues[3]
}

/// A storm is detected at the second poll after its start, at 600 ms, and its queue drops until 200 ms after its end
/// (model: buffer §8.4 rows 38, 40, 43).
#[test]
fn drop_empties_the_queue_until_the_storm_is_over() {
    let (device, seen) = storm("drop", 1150, 2000);
    let q = queue(&device);
    assert_eq!((q.detected, q.restored, q.stormed), (1, 1, false));
    let lost: Vec<u64> = seen.lost().map(|l| l.time.as_ps()).collect();
    assert!(seen.lost().all(|l| l.reason.name(&world().program) == "pfc_watchdog"));
    // Polls: 400 arms (paused since 250, after the poll before), 600 detects; the last frame is at 1150, so no pause
    // arrives from the poll at 1200 to the one at 1400.
    assert_eq!(lost.first().copied(), Some(600 * MS));
    let (begin, end) = (250 / 5, 1400 / 5);
    assert_eq!((lost.len() as u64, q.watchdog_dropped), (end - begin, end - begin));
    assert!(lost.iter().all(|t| (600 * MS..1401 * MS).contains(t)));
    // The other queue has lost no packet.
    let data = seen.sent().filter(|(left, _)| left.tag != u64::MAX).count() as u64;
    assert_eq!(data, 2 * 400 - lost.len() as u64);
    assert!(device.is_conserved());
}

/// Row 41: pauses are ignored, and no packet is lost.
#[test]
fn forward_drains_the_queue() {
    let (device, seen) = storm("forward", 1150, 2000);
    assert_eq!((seen.lost().count(), queue(&device).detected), (0, 1));
    let waited = seen.sent().map(|(left, _)| left.queued).max().unwrap();
    assert!(waited > Duration::from_millis(340) && waited < Duration::from_millis(351), "{waited}");
}

/// Rows 39 and 42: alerts change nothing, and a storm shorter than the detection time is none.
#[test]
fn alerts_and_short_storms() {
    let (device, seen) = storm("alert", 1150, 1500);
    let q = queue(&device);
    assert_eq!((seen.lost().count(), q.detected, q.restored), (0, 1, 1));
    assert!(seen.sent().map(|(left, _)| left.queued).max().unwrap() > Duration::from_millis(890));
    let (device, seen) = storm("drop", 390, 600);
    assert_eq!((seen.lost().count(), queue(&device).detected), (0, 0));
}
