//! Packets outside ConWeave: those that end here, and those on ports that are not the ToR's. Found by hunts.

use crate::conweave::destination::{Dest, old, request, rerouted, tail};
use crate::conweave::wire::{Flow, data, with_ttl};
use crate::conweave::world::{TICK, UPLINK, at_tick};

#[test]
fn a_packet_that_ends_here_waits_nowhere() {
    let mut d = Dest::new(1);
    d.send(0, 0, 0, request(1, 100));
    let early = rerouted(1, 121, 120).put(&data(d.flows[0], 10));
    d.tor.rx(UPLINK + 1, 10 * TICK, &with_ttl(early, 1));
    d.run(11 * TICK);
    assert_eq!(d.tor.ended("ttl_expired"), 1);
    assert_eq!(
        (d.tor.register("reorder_status_rx", 1), d.tor.switch.totals().made.mirror),
        (0, 1),
        "the reply"
    );
    d.send(12 * TICK, 0, 1, old(1, 110));
    d.run(40 * TICK);
    assert_eq!((d.psns(0), d.tor.counter("forced", 1)), (vec![0, 1], 0));
    d.tor.assert_clean();
}

#[test]
fn a_packet_that_ends_at_its_source_opens_no_epoch() {
    let flow = Flow::new(1, 1, 0);
    let mut tor = crate::conweave::destination::build().tor(1, &[flow], at_tick(1000));
    tor.rx(0, 0, &with_ttl(data(flow, 0), 1));
    tor.until(10 * TICK);
    assert_eq!(
        (tor.ended("ttl_expired"), tor.register("active_time", 1), tor.register("epoch", 1)),
        (1, 0, 4)
    );
    tor.rx(0, 20 * TICK, &data(flow, 1));
    let sent = tor.until(40 * TICK);
    let left = tor.by_paths(&sent);
    assert_eq!(left.len(), 1);
    assert!(left[0].1.cw.ask && left[0].1.cw.epoch == 1, "{left:?}");
}

#[test]
fn packets_of_another_pipe_s_ports_are_delivered_and_no_more() {
    // Port 8 is the first one of pipe 1: the state of flows is that of pipe 0.
    let mut d = Dest::new(1);
    let frame = |psn| rerouted(1, 121, 120).put(&data(d.flows[0], psn));
    for psn in 0..3 {
        d.tor.rx(8, u64::from(psn) * TICK, &frame(psn));
    }
    d.run(40 * TICK);
    assert_eq!(d.psns(0), [0, 1, 2]);
    assert_eq!(d.tor.switch.totals().made.mirror, 0);
    d.tor.assert_clean();
    assert_eq!(d.tor.owners(1), 0, "nobody owns a queue in pipe 1");
}

#[test]
fn tail_does_not_wait_for_itself_whatever_phase_it_claims() {
    let mut d = Dest::new(1);
    d.send(0, 0, 0, request(1, 100));
    d.send(10 * TICK, 0, 10, rerouted(1, 121, 120));
    let mut forged = tail(1, 120);
    forged.phase = 1;
    d.send(11 * TICK, 0, 1, forged);
    // Another epoch begins: TAIL of the previous epoch has been seen, so nothing else resumes the queue.
    d.send(12 * TICK, 0, 11, old(3, 122));
    d.run(2_000 * TICK);
    assert_eq!(d.psns(0).len(), 4, "{:?}", d.psns(0));
    d.tor.assert_clean();
}
