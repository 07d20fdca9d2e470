//! Intrinsic metadata that the device fills and obeys: queue timestamps with their wraps, the bypass of egress,
//! deflection, the choice among multicast members.

use crate::movement::device::{World, frame};
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::port::DevPort;
use sluice_asic::tm::{HashIndex, MirrorOverrides, MirrorSession};
use sluice_asic::units::{Bytes, Cells, Cycles, Duration, Time};
use sluice_control::{ControlOp, DeviceOp, MulticastNode};
use sluice_switch::QueueSetup;

/// Egress writes the packet's queue metadata into the packet.
const STAMPS: &str = r#"program stamps;
header h : ingress { bit<8> kind; }
header out : egress { bit<8> kind; bit<32> enqueued; bit<32> waited; bit<24> entered; bit<24> depth; }
intrinsic : ingress { bit<9> ig_tm.ucast_egress_port; }
intrinsic : egress { bit<32> eg.enq_tstamp; bit<32> eg.deq_timedelta; bit<48> prsr.global_tstamp; bit<19> eg.deq_qdepth; }
action to : ingress () { ig_tm.ucast_egress_port = 9w16; }
action tell : egress () {
    out.enqueued = eg.enq_tstamp;
    out.waited = eg.deq_timedelta;
    out.entered = prsr.global_tstamp[23:0];
    out.depth = cast(eg.deq_qdepth, 24);
}
parser ingress { start = s; state s { extract(h); transition accept; } }
parser egress { start = s; state s { extract(out); transition accept; } }
control ingress { call to; }
control egress { call tell; }
deparser ingress { emit(h); }
deparser egress { emit(out); }
"#;

fn queue(port: u16, queue: u8, paused: bool) -> ControlOp {
    ControlOp::Device(DeviceOp::PauseQueue { port, queue, paused })
}

fn word(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |n, b| n << 8 | u64::from(*b))
}

#[test]
fn a_queue_paused_for_300_us_wraps_tofinos_stamps_and_not_tofino_2s() {
    for chip in [ChipSpec::tofino2(), ChipSpec::tofino()] {
        let mut w = World::new(&chip, STAMPS).with(queue(16, 0, true));
        w.config.clock_origin = Duration::from_micros(200);
        w.later.push((Time::from_nanos(300_000), queue(16, 0, false)));
        let story = w.run(&[frame(8, 0, &[0; 64]), frame(8, 20, &[1; 64])]);
        assert_eq!(story.sent.len(), 2, "{}", chip.name);
        for (left, bytes) in &story.sent {
            let waited = left.queued.as_nanos();
            assert!((299_000..300_000).contains(&waited), "{waited}");
            let shown = word(&bytes[5..9]);
            // Both timestamps are cut before they are subtracted: the result is the wait, cut, plus or minus a
            // nanosecond.
            let kept = if chip.name == "tofino" { waited - 262_144 } else { waited };
            assert!(shown.abs_diff(kept) <= 1, "{}: {shown} for {waited}", chip.name);
            // 200 us of the clock's origin and what the packet took to the queue.
            let enqueued = word(&bytes[1..5]);
            assert!((200_000..201_000).contains(&enqueued), "{enqueued}");
            assert_eq!(word(&bytes[12..15]), u64::from(left.tag == 0), "cells left behind");
        }
        // The scheduler chooses at the time of the resume.
        let passes = story.passes(Gress::Egress);
        let way = chip.mau.clock.span(Cycles(chip.latency.tm_dequeue.into()));
        let edge = chip.mau.clock.first_edge_at_or_after(Time::from_nanos(300_000) + way);
        assert_eq!(passes[0].cycle, edge, "{}", chip.name);
    }
}

#[test]
fn stamps_wrap_where_the_clock_does() {
    for (chip, bits) in [(ChipSpec::tofino2(), 32), (ChipSpec::tofino(), 18)] {
        let mut w = World::new(&chip, STAMPS);
        // Just before the wrap of the short timestamps: the packet is enqueued after it.
        w.config.clock_origin = Duration::from_nanos((1 << bits) - 1);
        let story = w.run(&[frame(8, 0, &[0; 64])]);
        let (_, bytes) = &story.sent[0];
        let (enqueued, waited) = (word(&bytes[1..5]), word(&bytes[5..9]));
        assert!(enqueued < 1000 && waited == 0, "{}: {enqueued} {waited}", chip.name);
        let mut w = World::new(&chip, STAMPS);
        w.config.clock_origin = Duration::from_nanos((1 << 24) - 1);
        let story = w.run(&[frame(8, 0, &[0; 64])]);
        assert!(word(&story.sent[0].1[9..12]) < 2000, "the long stamp's low bits go on from zero");
    }
}

/// Bits of the first byte: bit 0 bypasses egress, bit 1 deflects. Egress puts a header in front.
const WAYS: &str = r#"program ways;
header h : ingress { bit<6> rest; bit<1> deflect; bit<1> bypass; bit<8> port; bit<16> hash; }
header mark : egress { bit<8> flag; bit<8> place; bit<24> depth; }
intrinsic : ingress {
    bit<9> ig_tm.ucast_egress_port; bit<1> ig_tm.bypass_egress; bit<1> ig_tm.deflect_on_drop;
    bit<16> ig_tm.mcast_grp_a; bit<13> ig_tm.level1_mcast_hash; bit<13> ig_tm.level2_mcast_hash;
}
intrinsic : egress { bit<1> eg.deflection_flag; bit<2> eg.enq_congest_stat; bit<19> eg.enq_qdepth; }
action to : ingress () {
    ig_tm.ucast_egress_port = cast(h.port, 9);
    ig_tm.bypass_egress = h.bypass;
    ig_tm.deflect_on_drop = h.deflect;
}
action group : ingress () {
    ig_tm.mcast_grp_a = 16w7;
    ig_tm.level1_mcast_hash = h.hash[12:0];
    ig_tm.level2_mcast_hash = cast(h.hash[15:8], 13);
    ig_tm.bypass_egress = h.bypass;
}
action put : egress () {
    set_valid(mark);
    mark.flag = cast(eg.deflection_flag, 8);
    mark.place = cast(eg.enq_congest_stat, 8);
    mark.depth = cast(eg.enq_qdepth, 24);
}
parser ingress { start = s; state s { extract(h); transition accept; } }
control ingress { if (h.port == 8w0) { call group; } else { call to; } }
control egress { call put; }
deparser ingress { emit(h); }
deparser egress { emit(mark); }
"#;

fn ask(kind: u8, port: u8, hash: u16, len: usize) -> Vec<u8> {
    let mut bytes = vec![kind, port, (hash >> 8) as u8, hash as u8];
    bytes.resize(len, 0x33);
    bytes
}

#[test]
fn past_egress_a_packet_keeps_its_bytes_its_slot_and_its_time() {
    for chip in [ChipSpec::tofino2(), ChipSpec::tofino()] {
        let w = World::new(&chip, WAYS);
        let frames = [frame(8, 0, &ask(1, 16, 0, 100)), frame(8, 300, &ask(0, 16, 0, 100))];
        let story = w.run(&frames);
        let marked = [&[0, 0, 0, 0, 0][..], &ask(0, 16, 0, 100)].concat();
        assert_eq!(story.out(), [(16, &*ask(1, 16, 0, 100)), (16, &*marked)], "{}", chip.name);
        assert_eq!(story.passes(Gress::Egress).len(), 1, "nobody runs a pass for the first");
        // Both were as long in egress, but for the parser's cycles and edges of the clock.
        let time = |i: usize| story.sent[i].0.first_bit.since_origin().as_nanos() as i64;
        assert!((time(1) - time(0) - 300).abs() <= 4, "{} {}", time(0), time(1));
        assert_eq!(w.run_functional(&frames).out(), story.out());
    }
}

#[test]
fn what_would_be_dropped_is_deflected_if_it_asks_for_that() {
    for chip in [ChipSpec::tofino2(), ChipSpec::tofino()] {
        let place = DeviceOp::SetDeflection { pipe: 0, to: Some((24, 1)) };
        let mut w = World::new(&chip, WAYS).with(queue(16, 0, true)).with(ControlOp::Device(place));
        let cells = Bytes(1000).get().div_ceil(chip.tm.cell.get()) as u32;
        w.config.queues = QueueSetup { limit: Cells(cells), ..QueueSetup::default() };
        w.later.push((Time::from_nanos(5_000), queue(16, 0, false)));
        let frames = [0, 2, 0]
            .map(|kind| ask(kind, 16, 0, 1000))
            .into_iter()
            .enumerate()
            .map(|(i, b)| frame(8, 200 * i as u64, &b));
        let story = w.run(&frames.collect::<Vec<_>>());
        // The first is queued, the second deflected, the third dropped.
        let ends: Vec<(u16, u64, [u8; 5])> =
            story.sent.iter().map(|(l, b)| (l.egress_port, l.tag, b[..5].try_into().unwrap())).collect();
        assert_eq!(ends, [(24, 1, [1, 2, 0, 0, 16]), (16, 0, [0; 5])], "{}", chip.name);
        assert_eq!(story.lost.len(), 1);
        assert_eq!((story.lost[0].0.tag, story.lost[0].0.reason.name(&w.program)), (2, "queue_tail_drop"));
    }
}

#[test]
fn hashes_choose_among_multicast_members() {
    for chip in [ChipSpec::tofino2(), ChipSpec::tofino()] {
        let node = |ports: &[u16], one_of, ecmp| MulticastNode {
            ports: ports.to_vec(),
            one_of,
            ecmp,
            ..Default::default()
        };
        let nodes = vec![
            node(&[16, 24], true, None),
            node(&[32], false, Some(1)),
            node(&[40, 48], false, Some(1)),
            node(&[56], false, Some(1)),
        ];
        let w = World::new(&chip, WAYS).with(ControlOp::SetMulticastGroup { id: 7, nodes });
        let ports = |hash: u16| {
            let story = w.run(&[frame(8, 0, &ask(1, 0, hash, 64))]);
            let mut ports: Vec<u16> = story.sent.iter().map(|(l, _)| l.egress_port).collect();
            ports.sort_unstable();
            ports
        };
        // Bits 12 to 0 choose the node, bits 15 to 8 the port.
        assert_eq!(ports(0x0000), [16, 32], "{}", chip.name);
        assert_eq!(ports(0x0100), [24, 40, 48]);
        assert_eq!(ports(0x0002), [16, 56]);
        assert_eq!(ports(0x0101), [24, 56]);
    }
}

/// Every packet is copied for session 1, with a hash and deflection that the packet selects.
const COPIES: &str = r#"program copies;
header h : ingress { bit<8> hash; bit<8> deflect; }
metadata : ingress { bit<10> m.session; }
intrinsic : ingress {
    bit<9> ig_tm.ucast_egress_port; bit<4> dprsr.mirror_type; bit<13> dprsr.mirror_hash;
    bit<1> dprsr.mirror_deflect_on_drop;
}
action to : ingress () {
    ig_tm.ucast_egress_port = 9w16;
    dprsr.mirror_type = 4w1;
    m.session = 10w1;
    dprsr.mirror_hash = cast(h.hash, 13);
    dprsr.mirror_deflect_on_drop = h.deflect[0:0];
}
parser ingress { start = s; state s { extract(h); transition accept; } }
control ingress { call to; }
deparser ingress { mirror(1, m.session); emit(h); }
"#;

#[test]
fn copies_choose_members_by_the_packets_hash_and_are_deflected_as_it_says() {
    let chip = ChipSpec::tofino2();
    let node = MulticastNode { ports: vec![24, 32, 40], one_of: true, ..Default::default() };
    let mut session = MirrorSession::to_port(DevPort::new(24).unwrap());
    session.port = None;
    session.groups = [Some(7), None];
    session.overrides =
        MirrorOverrides { hash: Some(HashIndex::Second), deflect_on_drop: true, ..Default::default() };
    let mut w = World::new(&chip, COPIES)
        .with(ControlOp::SetMulticastGroup { id: 7, nodes: vec![node] })
        .with(ControlOp::SetMirrorSession { id: 1, session: Some(session) })
        .with(ControlOp::Device(DeviceOp::SetDeflection { pipe: 0, to: Some((48, 3)) }))
        .with(queue(40, 0, true));
    w.config.queues = QueueSetup { limit: Cells(1), ..QueueSetup::default() };
    w.later.push((Time::from_nanos(9_000), queue(40, 0, false)));
    let packet = |hash: u8, deflect: u8| [&[hash, deflect][..], &[0; 70]].concat();
    let list = [(0, 0), (1, 0), (2, 0), (2, 1), (2, 0), (4, 1)];
    let frames: Vec<_> =
        list.iter().enumerate().map(|(i, (h, d))| frame(8, 300 * i as u64, &packet(*h, *d))).collect();
    let story = w.run(&frames);
    let mut copies: Vec<(u64, u16, u8)> = story
        .sent
        .iter()
        .filter(|(l, _)| l.egress_port != 16)
        .map(|(l, _)| (l.tag, l.egress_port, l.qid))
        .collect();
    copies.sort_unstable();
    // Port 40 holds the third's copy; the fourth's is deflected, the fifth's dropped.
    assert_eq!(copies, [(0, 24, 0), (1, 32, 0), (2, 40, 0), (3, 48, 3), (5, 32, 0)]);
    assert_eq!(story.lost.iter().map(|(l, _)| l.tag).collect::<Vec<_>>(), [4]);
}
