//! SrcToR: scenarios A and B of model: conweave §7, one ToR alone.

use crate::conweave::wire::{BTH, Cw, Flow, Seen, data, operation, read};
use crate::conweave::world::{Build, TICK, Tor, UPLINK, at_tick};
use sluice_programs::conweave::Params;
use std::sync::OnceLock;

fn build() -> &'static Build {
    static BUILD: OnceLock<Build> = OnceLock::new();
    BUILD.get_or_init(|| Build::new(Params::default()))
}

fn flow() -> Flow {
    Flow::new(1, 1, 0)
}

/// A flow to another destination.
fn elsewhere() -> Flow {
    Flow { dst: std::net::Ipv4Addr::new(10, 0, 9, 1), ..flow() }
}

/// A SrcToR with two flows, whose clock begins at tick 1000.
struct Source {
    tor: Tor,
    now: u64,
    psn: u32,
    /// Reserved bits of the BTH in front of the sequence number, in the host's frames.
    reserved: u8,
}

impl Source {
    fn new() -> Source {
        Source::of(build())
    }

    fn of(build: &Build) -> Source {
        Source { tor: build.tor(1, &[flow(), elsewhere()], at_tick(1000)), now: 0, psn: 0, reserved: 0 }
    }

    /// Sends one DATA this many ticks after the last event; returns the sent frame and its path.
    fn data_after(&mut self, ticks: u64) -> (u16, Seen) {
        self.data_of(flow(), ticks)
    }

    fn data_of(&mut self, flow: Flow, ticks: u64) -> (u16, Seen) {
        self.now += ticks * TICK;
        self.psn += 1;
        let mut frame = data(flow, self.psn);
        frame[BTH + 8] |= self.reserved;
        self.tor.rx(0, self.now, &frame);
        self.now += 950;
        let sent = self.tor.until(self.now);
        let mut seen = self.tor.by_paths(&sent);
        assert_eq!(seen.len(), 1, "{seen:?}");
        seen.pop().unwrap()
    }

    /// Sends a control packet about the flow to the ToR on a path.
    fn control(&mut self, cw: Cw, flags: u8) {
        self.control_at(self.now, cw, flags);
        self.now += 2000;
        assert!(self.tor.until(self.now).is_empty());
    }

    fn control_at(&mut self, ns: u64, cw: Cw, flags: u8) {
        let back = Flow { src: flow().dst, dst: flow().src, ..flow() };
        let mut frame = cw.put(&operation(back, 7, 0, 0));
        frame[43] = flags;
        self.tor.rx(UPLINK, ns, &frame);
    }

    fn reply(&mut self, epoch: u8) {
        self.control(Cw { opcode: 2, epoch, ..Cw::default() }, 0);
    }

    fn clear(&mut self, epoch: u8) {
        self.control(Cw { opcode: 2, epoch, phase: 1, ..Cw::default() }, 0);
    }

    fn notify(&mut self, path: u8) {
        self.control(Cw { opcode: 3, path, ..Cw::default() }, 0);
    }
}

#[test]
fn scenario_1_and_2_the_first_packet_asks_and_the_second_does_not() {
    let mut s = Source::new();
    let (path, first) = s.data_after(1);
    let cw = first.cw;
    assert_eq!((cw.opcode, cw.epoch, cw.phase, cw.ask, cw.tail, cw.ts_tail), (1, 1, 0, true, false, 0));
    assert_eq!(u16::from(cw.path), path);
    let deadline = s.tor.register("reply_timer", 1);
    assert_eq!(deadline, u64::from(cw.ts_tx) + 8);
    let (second_path, second) = s.data_after(0);
    assert_eq!((second.cw.epoch, second.cw.ask, second_path), (1, false, path));
    assert_eq!(s.tor.register("reply_timer", 1), deadline);
}

#[test]
fn scenario_3_a_timely_reply_opens_the_next_epoch_on_the_same_path() {
    let mut s = Source::new();
    let (path, first) = s.data_after(1);
    s.now += 3 * TICK;
    s.reply(1);
    assert_eq!(s.tor.ended("reply_done"), 1);
    let (next_path, next) = s.data_after(0);
    assert_eq!((next.cw.epoch, next.cw.ask, next.cw.phase, next_path), (2, true, 0, path));
    assert!(s.tor.register("reply_timer", 1) > u64::from(first.cw.ts_tx) + 8);
}

/// Sends a reply that reaches ingress in the tick of the deadline; returns whether it was accepted.
fn reply_at_the_deadline(strict: bool) -> bool {
    let build = Build::new(Params { strict_deadline: strict, ..Params::default() });
    let mut s = Source::of(&build);
    let (_, first) = s.data_after(1);
    // The tick in which a packet enters ingress is a little later than that of its arrival; both ways are equal
    // but for lengths, so 8 ticks later is the deadline.
    let sent = TICK;
    let long = data(flow(), 1).len() as u64;
    let short = operation(flow(), 7, 0, 0).len() as u64 + 4;
    let same = sent + 8 * TICK + (long - short) / 50;
    s.control_at(same, Cw { opcode: 2, epoch: 1, ..Cw::default() }, 0);
    s.tor.until(same + 3000);
    assert_eq!(u64::from(first.cw.ts_tx), 1001);
    s.tor.ended("reply_done") == 1
}

#[test]
fn scenario_4_at_the_deadline_is_in_time_unless_strict() {
    assert!(reply_at_the_deadline(false));
    assert!(!reply_at_the_deadline(true));
}

/// Makes the reply of the present epoch late; returns TAIL and the first REROUTED.
fn reroute(s: &mut Source) -> ((u16, Seen), (u16, Seen)) {
    let tail = s.data_after(9);
    (tail, s.data_after(0))
}

#[test]
fn scenario_5_without_a_reply_tail_then_rerouted() {
    let mut s = Source::new();
    let (old, _) = s.data_after(1);
    let ((tail_path, tail), (new_path, next)) = reroute(&mut s);
    assert_eq!((tail.cw.tail, tail.cw.ask, tail.cw.phase, tail.cw.epoch, tail_path), (true, true, 0, 1, old));
    assert_eq!(tail.cw.ts_tail, tail.cw.ts_tx);
    assert_eq!((next.cw.tail, next.cw.ask, next.cw.phase, next.cw.epoch), (false, false, 1, 1));
    assert_eq!(next.cw.ts_tail, tail.cw.ts_tx);
    assert_eq!(u16::from(next.cw.path), new_path);
    assert_eq!(s.tor.register("reply_timer", 1), 0);
}

#[test]
fn reserved_bits_that_a_host_sets_change_nothing() {
    let life = |reserved| {
        let mut s = Source::new();
        s.reserved = reserved;
        let first = s.data_after(1);
        let second = s.data_after(0);
        let (tail, next) = reroute(&mut s);
        s.clear(1);
        [first, second, tail, next, s.data_after(0)].map(|(path, seen)| (path, seen.cw))
    };
    let plain = life(0);
    for reserved in [0x1f, 0x10, 0x02, 0x01] {
        assert_eq!(life(reserved), plain, "{reserved:#04x}");
    }
}

#[test]
fn scenario_6_and_7_a_late_reply_is_ignored_and_one_tail_is_sent_per_epoch() {
    let mut s = Source::new();
    s.data_after(1);
    let (_, (path, _)) = reroute(&mut s);
    s.reply(1);
    assert_eq!((s.tor.ended("reply_late"), s.tor.ended("reply_done")), (1, 0));
    for _ in 0..20 {
        let (now, seen) = s.data_after(3);
        assert_eq!((seen.cw.tail, seen.cw.phase, seen.cw.epoch, now), (false, 1, 1, path));
    }
}

#[test]
fn scenario_8_clear_opens_the_next_epoch_on_the_new_path() {
    let mut s = Source::new();
    s.data_after(1);
    let (_, (path, _)) = reroute(&mut s);
    s.clear(1);
    let (next_path, next) = s.data_after(0);
    assert_eq!((next.cw.epoch, next.cw.phase, next.cw.ask, next_path), (2, 0, true, path));
    assert_eq!(next.cw.ts_tail, 0);
}

#[test]
fn scenario_9_answers_of_another_epoch_or_phase_change_nothing() {
    let mut s = Source::new();
    s.data_after(1);
    s.reply(2);
    s.clear(1);
    assert_eq!(s.tor.ended("reply_late"), 2);
    assert_eq!(s.data_after(0).1.cw.epoch, 1);
    assert_eq!(s.tor.register("ended", 1), 0);
}

#[test]
fn scenario_10_without_a_path_the_flow_waits_unless_told_otherwise() {
    for always in [false, true] {
        let build = Build::new(Params { tail_without_path: always, path_busy: 1000, ..Params::default() });
        let mut s = Source::of(&build);
        for path in 1..=4 {
            s.notify(path);
        }
        let (old, _) = s.data_after(1);
        let (path, late) = s.data_after(9);
        assert_eq!((late.cw.tail, path), (always, old));
        let (path, next) = s.data_after(0);
        assert_eq!((u8::from(always), old), (next.cw.phase, path));
    }
}

#[test]
fn scenario_11_no_second_move_before_clear() {
    let mut s = Source::new();
    s.data_after(1);
    let (_, (path, _)) = reroute(&mut s);
    for _ in 0..10 {
        s.notify(path as u8);
        let (now, seen) = s.data_after(9);
        assert_eq!((seen.cw.tail, seen.cw.phase, now), (false, 1, path));
    }
}

#[test]
fn scenario_12_and_13_silence_ends_what_a_lost_clear_left_open() {
    let mut s = Source::new();
    s.data_after(1);
    let (_, (path, _)) = reroute(&mut s);
    // Steady traffic never ends it.
    for _ in 0..5 {
        let (now, seen) = s.data_after(298);
        assert_eq!((seen.cw.epoch, seen.cw.phase, now), (1, 1, path));
    }
    let (_, seen) = s.data_after(302);
    let cw = seen.cw;
    assert_eq!((cw.epoch, cw.phase, cw.ask, cw.tail, cw.ts_tail), (2, 0, true, false, 0));
}

/// The scenario's counter of such flows is in neither the paper nor the public P4 program, nor here: registers show them.
#[test]
fn scenario_13_a_lost_clear_pins_a_flow_with_steady_traffic_and_registers_show_it() {
    let mut s = Source::new();
    s.data_after(1);
    let ((old, tail), (path, _)) = reroute(&mut s);
    assert!(tail.cw.tail && old != path);
    let tail_time = u64::from(tail.cw.ts_tx);
    // 60 ms of packets with gaps of almost theta_inactive; the path is congested, and nothing moves the flow.
    for n in 1..=200u64 {
        s.notify(path as u8);
        let (now, seen) = s.data_after(296);
        let cw = seen.cw;
        assert_eq!((cw.epoch, cw.phase, cw.ask, cw.tail, now), (1, 1, false, false, path), "{n}");
        assert_eq!(u64::from(cw.ts_tail), tail_time & 0xffff, "{n}");
        // TAIL is long ago and the flow sends: its CLEAR was lost.
        assert_eq!((s.tor.register("phase", 1), s.tor.register("tail_time", 1)), (1, tail_time), "{n}");
        assert!(s.tor.register("active_time", 1) >= tail_time + 296 * n, "{n}");
    }
    // A CLEAR after all ends it: registers of a flow that is not pinned.
    s.clear(1);
    let (now, seen) = s.data_after(0);
    assert_eq!((seen.cw.epoch, seen.cw.phase, seen.cw.ask, now), (2, 0, true, path));
    assert_eq!((s.tor.register("phase", 1), s.tor.register("tail_time", 1)), (0, 0));
}

#[test]
fn scenario_14_epochs_wrap() {
    let mut s = Source::new();
    let mut epochs = vec![s.data_after(1).1.cw.epoch];
    for _ in 0..4 {
        s.reply(*epochs.last().unwrap());
        epochs.push(s.data_after(0).1.cw.epoch);
    }
    assert_eq!(epochs, [1, 2, 3, 0, 1]);
}

#[test]
fn scenario_15_and_16_the_two_passes_of_a_reply() {
    // A DATA packet right after a reply whose deadline expires in the next tick: the first pass moved it.
    let mut between = 0;
    for early in (0..400).step_by(20) {
        let mut s = Source::new();
        s.data_after(1);
        let late = 10 * TICK - early;
        s.control_at(late, Cw { opcode: 2, epoch: 1, ..Cw::default() }, 0);
        s.tor.rx(0, late + 40, &data(flow(), 9));
        let sent = s.tor.until(late + 3000);
        let seen = s.tor.by_paths(&sent).remove(0).1;
        if s.tor.ended("reply_done") == 1 {
            assert!(!seen.cw.tail, "{seen:?}");
            between += u32::from(seen.cw.ts_tx == 1010 && seen.cw.epoch == 1);
        }
    }
    assert!(between > 0, "no DATA came behind the deadline and before the second pass");
    // A reply ends the epoch that it names: if the flow is one epoch further, it opens nothing.
    let mut s = Source::new();
    s.data_after(1);
    let stale = sluice_asic::salu::State { lo: 4, ..Default::default() };
    let register = build().program.register_named("ended").unwrap();
    let (index, value) = (Some(1), Some(stale));
    s.tor.op(s.now + 10, sluice_control::ControlOp::WriteRegister { register, index, value });
    let (_, seen) = s.data_after(1);
    assert_eq!((seen.cw.epoch, seen.cw.phase), (1, 0));
}

#[test]
fn scenario_17_what_is_no_rdma_data_is_left_alone() {
    let mut s = Source::new();
    for opcode in [0x11, 0x81] {
        let frame = operation(flow(), opcode, 5, 16);
        s.tor.rx(0, s.now, &frame);
        s.now += 2000;
        let sent = s.tor.until(s.now);
        assert_eq!(sent.len(), 1);
        assert_eq!(read(&sent[0].bytes).unwrap().cw, Cw::default());
        assert_eq!(sent[0].bytes[26..], frame[26..]);
    }
    // To a host of the same rack.
    let inside = Flow { dst: std::net::Ipv4Addr::new(10, 0, 1, 3), ..flow() };
    s.tor.rx(0, s.now, &data(inside, 1));
    let sent = s.tor.until(s.now + 2000);
    assert_eq!((s.tor.front(sent[0].dev_port), read(&sent[0].bytes).unwrap().cw), (2, Cw::default()));
}

#[test]
fn scenario_18_unknown_flows_take_ecmp_and_are_told() {
    let mut s = Source::new();
    let other = Flow::new(1, 2, 99);
    s.tor.rx(0, 0, &data(other, 1));
    let sent = s.tor.until(2000);
    assert_eq!(read(&sent[0].bytes).unwrap().cw, Cw::default());
    let mut digest = [other.src.octets(), other.dst.octets()].concat();
    digest.extend(other.src_port.to_be_bytes());
    digest.push(0);
    assert_eq!(s.tor.sink.digests, [digest]);
}

/// Returns whether a path is ever chosen by 60 flows' first packets, which move to a good sample.
fn chosen(s: &mut Source) -> Vec<u16> {
    chosen_by(s, flow())
}

fn chosen_by(s: &mut Source, flow: Flow) -> Vec<u16> {
    let mut paths = Vec::new();
    for _ in 0..60 {
        // Silence, so that each packet may move at once.
        paths.push(s.data_of(flow, 301).0);
    }
    paths.sort_unstable();
    paths.dedup();
    paths
}

#[test]
fn scenario_19_20_24_paths_are_busy_for_their_time() {
    let long = Build::new(Params { path_busy: 1_000_000, ..Params::default() });
    let mut s = Source::of(&long);
    assert_eq!(chosen(&mut s), [1, 2, 3, 4]);
    s.notify(2);
    assert_eq!(chosen(&mut s), [1, 3, 4]);
    // An RTT_REPLY whose request met congestion also names its path, and ends the epoch.
    let (_, seen) = s.data_after(301);
    s.control(Cw { opcode: 2, epoch: seen.cw.epoch, path: 4, ..Cw::default() }, 3);
    assert_eq!(chosen(&mut s), [1, 3]);
    let short = Build::new(Params { path_busy: 1000, inactive: 10, ..Params::default() });
    let mut s = Source::of(&short);
    s.notify(1);
    let until = s.tor.register("path_busy", 1);
    assert_eq!(until, 0);
    let busy = |s: &mut Source| (0..25).map(|_| s.data_after(11).0).any(|p| p == 1);
    assert!(!busy(&mut s), "path 1 is busy for 1000 ticks");
    s.notify(1);
    s.now += 500 * TICK;
    s.notify(1);
    s.now += 600 * TICK;
    assert!(!busy(&mut s), "the second NOTIFY counts from itself");
    s.now += 1000 * TICK;
    assert!(busy(&mut s));
}

#[test]
fn scenario_21_22_23_ways_groups_and_forgetting() {
    let six = Params {
        path_busy: 1_000_000,
        hosts: "0-1".parse().unwrap(),
        uplinks: "2-7".parse().unwrap(),
        ..Params::default()
    };
    let six = Build::new(six);
    // Paths 1 and 5 share a way: the later NOTIFY overwrites the earlier one.
    let mut s = Source::of(&six);
    s.notify(1);
    assert_eq!(chosen(&mut s), [2, 3, 4, 5, 6]);
    s.notify(5);
    assert_eq!(chosen(&mut s), [1, 2, 3, 4, 6]);
    // To another destination the same path is not busy.
    assert_eq!(chosen_by(&mut s, elsewhere()), [1, 2, 3, 4, 5, 6]);
    // Four paths of four ways are all remembered.
    let mut s = Source::of(&six);
    for path in 1..=4 {
        s.notify(path);
    }
    // The flow's first path is a sample, busy or not; from then on it moves to good ones.
    chosen(&mut s);
    assert_eq!(chosen(&mut s), [5, 6]);
    // An expired status is cleared by the next read: no cell of the group names a path any more.
    let mut s = Source::new();
    for path in 1..=4 {
        s.notify(path);
    }
    let cells = |s: &Source| -> Vec<u64> {
        let name = |n: usize| if n == 0 { "path_busy".to_owned() } else { format!("path_busy_{n}") };
        (0..8).map(|n| s.tor.register(&name(n), 1)).filter(|path| *path != 0).collect()
    };
    assert_eq!(cells(&s).len(), 8);
    s.data_after(20);
    assert!(cells(&s).is_empty(), "{:?}", cells(&s));
}
