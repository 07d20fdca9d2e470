//! DstToR: scenarios C and D of model: conweave §7, one ToR alone that receives the packets of a SrcToR.

use crate::conweave::wire::{Cw, Flow, Seen, data, with_ecn};
use crate::conweave::world::{Build, Sent, TICK, Tor, UPLINK, at_tick};
use sluice_asic::tm::ShaperConfig;
use sluice_asic::units::{BitRate, Bytes};
use sluice_control::{ControlOp, DeviceOp};
use sluice_programs::conweave::Params;
use std::sync::OnceLock;

pub(crate) fn build() -> &'static Build {
    static BUILD: OnceLock<Build> = OnceLock::new();
    BUILD.get_or_init(|| Build::new(Params::default()))
}

/// A DstToR whose clock begins at tick 1000, and the frames that its hosts received.
pub(crate) struct Dest {
    pub(crate) tor: Tor,
    pub(crate) flows: Vec<Flow>,
    pub(crate) out: Vec<Sent>,
}

/// First tick of the clock.
pub(crate) const ORIGIN: u64 = 1000;

impl Dest {
    pub(crate) fn new(flows: usize) -> Dest {
        Dest::with(build(), (0..flows as u16).map(|n| Flow::new(1, 1, n)).collect(), ORIGIN)
    }

    pub(crate) fn with(build: &Build, flows: Vec<Flow>, origin: u64) -> Dest {
        Dest { tor: build.tor(2, &flows, at_tick(origin)), flows, out: Vec::new() }
    }

    /// Sends a packet of flow `n` at a time in ns; old-path packets arrive on path 1, others on path 2.
    pub(crate) fn send(&mut self, ns: u64, n: usize, psn: u32, cw: Cw) {
        let front = UPLINK + u16::from(cw.phase);
        self.tor.rx(front, ns, &cw.put(&data(self.flows[n], psn)));
    }

    pub(crate) fn run(&mut self, ns: u64) {
        let sent = self.tor.until(ns);
        self.out.extend(sent);
    }

    /// Returns the frames that the host of the flows received.
    pub(crate) fn host(&self) -> Vec<(u64, Seen)> {
        self.tor.by(&self.out, 0)
    }

    pub(crate) fn psns(&self, n: usize) -> Vec<u32> {
        self.host().into_iter().filter(|(_, s)| s.flow == self.flows[n]).map(|(_, s)| s.psn).collect()
    }

    /// Returns the frames of a flow that any host received.
    pub(crate) fn psns_anywhere(&self, n: usize) -> Vec<u32> {
        let seen = (0..4).flat_map(|host| self.tor.by(&self.out, host));
        seen.filter(|(_, s)| s.flow == self.flows[n]).map(|(_, s)| s.psn).collect()
    }

    /// Returns the sent control packets: time, opcode, phase, epoch.
    pub(crate) fn control(&self) -> Vec<(u64, u8, u8, u8)> {
        let mut list = Vec::new();
        for path in 0..4 {
            let left = self.tor.by(&self.out, UPLINK + path);
            list.extend(left.into_iter().map(|(t, s)| (t, s.cw.opcode, s.cw.phase, s.cw.epoch)));
        }
        list.sort_unstable();
        list
    }

    pub(crate) fn kinds(&self) -> Vec<(u8, u8, u8)> {
        self.control().into_iter().map(|(_, o, p, e)| (o, p, e)).collect()
    }
}

/// Returns DATA of an epoch on the old path, sent at this tick.
pub(crate) fn old(epoch: u8, tx: u16) -> Cw {
    Cw { path: 1, opcode: 1, epoch, ts_tx: tx, ..Cw::default() }
}

/// Returns the epoch's RTT_REQUEST.
pub(crate) fn request(epoch: u8, tx: u16) -> Cw {
    Cw { ask: true, ..old(epoch, tx) }
}

pub(crate) fn tail(epoch: u8, tx: u16) -> Cw {
    Cw { ask: true, tail: true, ts_tail: tx, ..old(epoch, tx) }
}

pub(crate) fn rerouted(epoch: u8, tx: u16, tail: u16) -> Cw {
    Cw { path: 2, phase: 1, ts_tail: tail, ..old(epoch, tx) }
}

pub(crate) const REPLY: u8 = 2;
const NOTIFY: u8 = 3;

#[test]
fn scenario_25_in_order_epochs_cost_nothing() {
    let mut d = Dest::new(1);
    for n in 0..6u32 {
        let cw = if n == 0 { request(1, 100) } else { old(1, 100 + n as u16) };
        d.send(u64::from(n) * TICK, 0, n, cw);
    }
    d.run(40_000);
    assert_eq!(d.psns(0), [0, 1, 2, 3, 4, 5]);
    assert_eq!(d.kinds(), [(REPLY, 0, 1)]);
    assert_eq!(d.tor.switch.totals().made.mirror, 1);
    d.tor.assert_clean();
}

#[test]
fn scenario_26_tail_first_is_cleared_at_once() {
    let mut d = Dest::new(1);
    d.send(0, 0, 0, request(1, 100));
    d.send(10 * TICK, 0, 1, tail(1, 110));
    for n in 2..5 {
        d.send((8 + u64::from(n)) * TICK, 0, n, rerouted(1, 110 + n as u16, 110));
    }
    d.run(60_000);
    assert_eq!(d.psns(0), [0, 1, 2, 3, 4]);
    assert_eq!(d.kinds(), [(REPLY, 0, 1), (REPLY, 1, 1)]);
    assert_eq!(d.tor.register("phase_rx", 1), 1);
    assert!(d.out.iter().all(|s| s.qid < 2), "nothing waited");
    d.tor.assert_clean();
}

/// One epoch whose new path is 20 us faster than its old one: three packets each way around TAIL.
pub(crate) fn overtaking(d: &mut Dest, with_tail: bool) {
    d.send(0, 0, 0, request(1, 100));
    // The new path's packets, sent after TAIL, arrive before those that are still on the old path.
    for n in 0..3 {
        d.send((20 + n) * TICK, 0, 10 + n as u32, rerouted(1, 121 + n as u16, 120));
    }
    for n in 0..3 {
        d.send((24 + n) * TICK, 0, 1 + n as u32, old(1, 110 + n as u16));
    }
    if with_tail {
        d.send(28 * TICK, 0, 4, tail(1, 120));
    }
    d.send(29 * TICK, 0, 13, rerouted(1, 130, 120));
}

#[test]
fn scenario_27_rerouted_packets_wait_for_tail() {
    let mut d = Dest::new(1);
    overtaking(&mut d, true);
    d.run(200 * TICK);
    assert_eq!(d.psns(0), [0, 1, 2, 3, 4, 10, 11, 12, 13]);
    assert_eq!(d.kinds(), [(REPLY, 0, 1), (REPLY, 1, 1)]);
    let waited: Vec<u8> = d.out.iter().map(|s| s.qid).filter(|q| *q >= 2).collect();
    assert!((3..=4).contains(&waited.len()), "{waited:?}");
    assert!(d.tor.switch.totals().recirculated > 5, "the timer goes round");
    d.tor.assert_clean();
    // The epoch's later packets are in order.
    d.send(210 * TICK, 0, 14, rerouted(1, 300, 120));
    d.run(300 * TICK);
    assert_eq!(d.psns(0).last(), Some(&14));
    d.tor.assert_clean();
}

#[test]
fn scenario_28_without_tail_the_timer_resumes() {
    let mut d = Dest::new(1);
    overtaking(&mut d, false);
    d.run(400 * TICK);
    assert_eq!(d.psns(0), [0, 1, 2, 3, 10, 11, 12, 13]);
    // Last old-path packet: arrived in tick 26, sent at 112; TAIL at 120; margin 16.
    let resumed = d.host().iter().find(|(_, s)| s.psn == 10).unwrap().0 / TICK;
    assert!((50..=53).contains(&resumed), "{resumed}");
    assert_eq!(d.kinds(), [(REPLY, 0, 1), (REPLY, 1, 1)]);
    d.tor.assert_clean();
}

#[test]
fn scenario_29_without_any_old_packet_the_default_counts() {
    let mut d = Dest::new(1);
    d.send(10 * TICK, 0, 5, rerouted(1, 121, 120));
    d.run(500 * TICK);
    let resumed = d.host()[0].0 / TICK;
    assert!((210..=213).contains(&resumed), "{resumed}");
    assert_eq!(d.kinds(), [(REPLY, 1, 1)]);
    d.tor.assert_clean();
}

#[test]
fn scenario_30_old_packets_move_the_timer_and_rerouted_ones_do_not() {
    let mut d = Dest::new(1);
    d.send(0, 0, 0, request(1, 100));
    d.send(10 * TICK, 0, 10, rerouted(1, 121, 120));
    let first = d_resume(&mut d, 12);
    assert_eq!(first, ORIGIN + 20 + 16, "the request came in tick 0 and TAIL left 20 ticks behind it");
    d.send(13 * TICK, 0, 11, rerouted(1, 122, 120));
    assert_eq!(d_resume(&mut d, 15), first);
    d.send(16 * TICK, 0, 1, old(1, 105));
    assert_eq!(d_resume(&mut d, 18), ORIGIN + 16 + 15 + 16);
}

/// Returns T_resume of the flow at a tick.
fn d_resume(d: &mut Dest, tick: u64) -> u64 {
    d.run(tick * TICK);
    d.tor.register("resume_time_rx", 1)
}

#[test]
fn scenario_31_tail_behind_the_timer_resumes_nothing_again() {
    let mut d = Dest::new(1);
    overtaking(&mut d, false);
    // The timer resumes in tick 51: TAIL arrives while the queue drains, or after.
    d.send(53 * TICK, 0, 4, tail(1, 120));
    d.run(400 * TICK);
    let psns = d.psns(0);
    assert_eq!(psns.len(), 9);
    let clears = d.kinds().iter().filter(|k| **k == (REPLY, 1, 1)).count();
    assert!((1..=2).contains(&clears), "a second CLEAR changes nothing at SrcToR");
    d.tor.assert_clean();
}

#[test]
fn scenario_32_tail_and_timer_in_one_tick() {
    // TAIL arrives at times around the end of T_resume, in tick 50. It leaves in tick 60, because its queue is paused.
    let port = build().ports.front(sluice_asic::port::FrontPort(0)).unwrap().dev_port.number();
    let paused = |paused| ControlOp::Device(DeviceOp::PauseQueue { port, queue: 0, paused });
    let mut in_time = Vec::new();
    for offset in (0..4096).step_by(128) {
        let mut d = Dest::new(1);
        overtaking(&mut d, false);
        d.tor.op(48 * TICK, paused(true));
        d.send(49 * TICK + offset, 0, 4, tail(1, 120));
        d.tor.op(60 * TICK, paused(false));
        d.run(400 * TICK);
        let at = |psn| d.host().iter().find(|(_, s)| s.psn == psn).unwrap().0;
        assert!(at(4) >= 60 * TICK, "offset {offset}");
        let waited = at(10) >= 60 * TICK;
        if waited {
            // The timer packet waits for TAIL's departure, although T_resume is over.
            assert!(at(10) > at(4), "offset {offset}: {:?}", d.host());
            assert_eq!(d.psns(0), [0, 1, 2, 3, 4, 10, 11, 12, 13], "offset {offset}");
        } else {
            // The timer was earlier than TAIL: it resumes at the end of T_resume, and TAIL alone is out of order.
            assert!((50 * TICK..54 * TICK).contains(&at(10)), "offset {offset}: {:?}", d.host());
            assert_eq!(d.psns(0), [0, 1, 2, 3, 10, 11, 12, 13, 4], "offset {offset}");
        }
        in_time.push(waited);
        d.tor.assert_clean();
    }
    // One moment divides the times of arrival: TAIL is in time before it, and too late after it.
    assert!(in_time[0] && !in_time[in_time.len() - 1], "{in_time:?}");
    assert!(in_time.windows(2).all(|w| w[0] || !w[1]), "{in_time:?}");
}

#[test]
fn scenario_33_tail_in_a_long_queue_is_waited_for() {
    let mut d = Dest::new(1);
    let port = build().ports.front(sluice_asic::port::FrontPort(0)).unwrap().dev_port.number();
    let paused = |paused| ControlOp::Device(DeviceOp::PauseQueue { port, queue: 0, paused });
    d.send(0, 0, 0, request(1, 100));
    d.tor.op(19 * TICK, paused(true));
    d.send(20 * TICK, 0, 10, rerouted(1, 121, 120));
    d.send(24 * TICK, 0, 1, tail(1, 120));
    d.tor.op(500 * TICK, paused(false));
    d.run(490 * TICK);
    assert_eq!(d.psns(0), [0], "T_resume is long over, but TAIL is seen");
    d.run(600 * TICK);
    assert_eq!(d.psns(0), [0, 1, 10]);
    d.tor.assert_clean();
}

#[test]
fn scenario_34_and_35_the_queue_drains_first_and_then_clear_is_sent() {
    let mut d = Dest::new(1);
    d.send(0, 0, 0, request(1, 100));
    for n in 0..60 {
        d.send(20 * TICK + n * 100, 0, 10 + n as u32, rerouted(1, 121, 120));
    }
    d.send(27 * TICK, 0, 1, tail(1, 120));
    // Rerouted packets while the queue drains.
    for n in 0..200 {
        d.send(27 * TICK + 100 + n * 50, 0, 70 + n as u32, rerouted(1, 130, 120));
    }
    d.run(300 * TICK);
    let psns = d.psns(0);
    assert!(psns.is_sorted() && psns.len() == 262, "{psns:?}");
    let last_queued = d.out.iter().filter(|s| s.qid >= 2).map(|s| s.ns).max().unwrap();
    let clear = d.control().last().unwrap().0;
    assert!(clear > last_queued, "{clear} {last_queued}");
    let direct = d.out.iter().filter(|s| s.qid == 0 && s.ns > 27 * TICK).count();
    assert!(direct > 50, "later packets take the default queue: {direct}");
    d.tor.assert_clean();
}

#[test]
fn scenario_36_packets_of_the_epoch_before_pass_and_two_back_are_misread() {
    let mut d = Dest::new(1);
    d.send(0, 0, 0, request(1, 100));
    d.send(5 * TICK, 0, 1, request(2, 105));
    d.send(6 * TICK, 0, 2, Cw { ask: true, ..rerouted(1, 104, 103) });
    d.run(20 * TICK);
    assert_eq!(d.kinds(), [(REPLY, 0, 1), (REPLY, 0, 2)]);
    assert_eq!((d.tor.register("epoch_rx", 1), d.tor.counter("unsorted", 2)), (2, 1));
    // Two epochs back looks like two epochs ahead: the window of two bits has no more.
    d.send(21 * TICK, 0, 3, request(3, 120));
    d.send(22 * TICK, 0, 4, old(1, 101));
    d.run(40 * TICK);
    assert_eq!(d.tor.register("epoch_rx", 1), 1);
    assert_eq!(d.psns(0), [0, 1, 2, 3, 4]);
}

#[test]
fn scenario_37_a_new_epoch_while_packets_wait_lets_them_go() {
    let mut d = Dest::new(1);
    overtaking(&mut d, false);
    d.send(31 * TICK, 0, 20, request(2, 140));
    d.run(300 * TICK);
    assert_eq!(d.psns(0), [0, 1, 2, 3, 10, 11, 12, 13, 20], "what waits goes first");
    assert_eq!(d.tor.counter("unsorted", 3), 1);
    assert!(!d.kinds().contains(&(REPLY, 1, 1)), "the old epoch has nobody who waits for CLEAR");
    d.tor.assert_clean();
    // The next epoch's reordering finds a clean flow.
    d.send(301 * TICK, 0, 30, rerouted(2, 420, 419));
    d.send(302 * TICK, 0, 21, tail(2, 419));
    d.run(500 * TICK);
    assert_eq!(d.psns(0)[9..], [21, 30]);
    d.tor.assert_clean();
}

#[test]
fn scenario_38_and_39_one_copy_a_packet_by_rank() {
    let ce = |d: &mut Dest, ns: u64, psn, cw: Cw| {
        let frame = with_ecn(cw.put(&data(d.flows[0], psn)), 3);
        d.tor.rx(UPLINK + u16::from(cw.phase), ns, &frame);
    };
    let mut d = Dest::new(1);
    ce(&mut d, 0, 0, request(1, 100));
    d.run(3 * TICK);
    assert_eq!(d.kinds(), [(REPLY, 0, 1)]);
    let replies: Vec<Seen> = (0..4).flat_map(|p| d.tor.by(&d.out, UPLINK + p)).map(|(_, s)| s).collect();
    assert_eq!((replies[0].flags, replies[0].ecn, replies[0].cw.path), (3, 0, 1));
    ce(&mut d, 4 * TICK, 1, old(1, 104));
    d.run(8 * TICK);
    assert_eq!(d.kinds(), [(REPLY, 0, 1), (NOTIFY, 0, 1)]);
    // The first early packet makes the timer packet but no NOTIFY; TAIL makes a NOTIFY while packets wait.
    ce(&mut d, 10 * TICK, 10, rerouted(1, 121, 120));
    d.run(13 * TICK);
    assert_eq!(d.kinds().len(), 2);
    ce(&mut d, 14 * TICK, 2, tail(1, 120));
    d.run(100 * TICK);
    assert_eq!(d.kinds()[2..], [(NOTIFY, 0, 1), (REPLY, 1, 1)]);
    d.tor.assert_clean();
    // If no packet waits, TAIL makes a CLEAR and no NOTIFY.
    let mut d = Dest::new(1);
    d.send(0, 0, 0, request(1, 100));
    ce(&mut d, 10 * TICK, 1, tail(1, 110));
    d.run(30 * TICK);
    assert_eq!(d.kinds(), [(REPLY, 0, 1), (REPLY, 1, 1)]);
}

/// Packets that no SrcToR sends: REROUTED that requests a reply, and TAIL of the new path.
#[test]
fn a_queue_that_is_paused_has_a_timer_whatever_the_packet_asks_for() {
    for cw in [Cw { ask: true, ..rerouted(1, 121, 120) }, Cw { phase: 1, ..tail(1, 121) }] {
        let mut d = Dest::new(1);
        d.send(0, 0, 0, cw);
        d.run(1_000 * TICK);
        assert_eq!(d.psns(0), [0], "{cw:?}");
        d.tor.assert_clean();
    }
}

/// The queue of a host's port that is blocked for longer than patience, and the queue's next owner. Found by hunts.
#[test]
fn what_is_inside_when_patience_ends_leaves_when_it_can() {
    let build = Build::new(Params { patience: 8, ..Params::default() });
    let mut d = Dest::with(&build, vec![Flow::new(1, 1, 0)], ORIGIN);
    let port = build.ports.front(sluice_asic::port::FrontPort(0)).unwrap().dev_port.number();
    let queues = |ns: u64, d: &mut Dest, paused| {
        for queue in 2..34 {
            d.tor.op(ns, ControlOp::Device(DeviceOp::PauseQueue { port, queue, paused }));
        }
    };
    // 90 us per packet: two have left the queue when it is blocked, and two stay.
    let most = Some(ShaperConfig { rate: BitRate::from_bps(100_000_000), burst: Bytes(100) });
    d.tor.op(0, ControlOp::Device(DeviceOp::ShapePort { port, most }));
    d.send(0, 0, 0, request(1, 100));
    for psn in 10..14 {
        d.send((10 + u64::from(psn)) * TICK, 0, psn, rerouted(1, 121, 120));
    }
    queues(235 * TICK, &mut d, true);
    d.run(1_400 * TICK);
    assert_eq!((d.psns(0), d.tor.counter("forced", 1)), (vec![0, 10, 11], 1));
    queues(1_500 * TICK, &mut d, false);
    d.tor.op(1_500 * TICK, ControlOp::Device(DeviceOp::ShapePort { port, most: None }));
    d.run(1_600 * TICK);
    assert_eq!(d.psns(0), [0, 10, 11, 12, 13]);
    // Packets sent late count for the queue's next owner, whose timer packet waits for patience; its packets do not.
    d.send(1_600 * TICK, 0, 20, request(2, 1_000));
    for psn in 30..34 {
        d.send((1_580 + u64::from(psn)) * TICK, 0, psn, rerouted(2, 1_021, 1_020));
    }
    d.send(1_625 * TICK, 0, 21, tail(2, 1_020));
    d.run(1_640 * TICK);
    assert_eq!(d.psns(0)[5..], [20, 21, 30, 31, 32, 33]);
    d.run(2_000 * TICK);
    assert_eq!(d.tor.counter("forced", 1), 2);
    d.tor.assert_clean();
}

#[test]
fn scenario_40_tail_twice_changes_nothing() {
    // The second TAIL arrives while the queue waits for the first, while it drains, or long after.
    for (again, clears) in [(28, 1), (29, 1), (60, 2)] {
        let mut d = Dest::new(1);
        overtaking(&mut d, true);
        d.send(again * TICK + 20, 0, 4, tail(1, 120));
        d.run(200 * TICK);
        let once: Vec<u32> = d.psns(0).into_iter().filter(|p| *p != 4).collect();
        assert_eq!(once, [0, 1, 2, 3, 10, 11, 12, 13], "TAIL again in tick {again}");
        assert_eq!(d.psns(0).len(), 10, "TAIL again in tick {again}");
        // TAIL that finds no packet waiting is answered by a CLEAR, which SrcToR ignores in its next epoch.
        let sent = d.kinds().iter().filter(|k| **k == (REPLY, 1, 1)).count();
        assert_eq!(sent, clears, "TAIL again in tick {again}");
        let resumed = d.tor.sink.words.iter().filter(|w| w.credit == 0).count();
        assert_eq!(resumed, 1, "TAIL again in tick {again}: {:?}", d.tor.sink.words);
        d.tor.assert_clean();
    }
}

#[test]
fn scenario_47_packets_on_their_way_when_the_pause_acts_are_in_order() {
    // Old-path packets back to back with the first early one: every packet in egress is older.
    for gap in [0u64, 30, 60, 90, 200] {
        let mut d = Dest::new(1);
        for n in 0..40 {
            let cw = if n == 0 { request(1, 100) } else { old(1, 100) };
            d.send(n * 30, 0, n as u32, cw);
        }
        d.send(1200 + gap, 0, 100, rerouted(1, 121, 120));
        d.send(1300 + gap, 0, 60, tail(1, 120));
        d.run(100 * TICK);
        let psns = d.psns(0);
        assert!(psns.is_sorted() && psns.len() == 42, "{psns:?}");
        d.tor.assert_clean();
    }
}
