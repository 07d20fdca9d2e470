//! `hpcc-int`: the scenarios of model: int §10.1, by their numbers.

use crate::telemetry::node::{Bench, Frame, Node, Story, at, chips, over_link, stamp};
use crate::telemetry::packets::*;
use proptest::prelude::*;
use sluice_asic::chip::ChipSpec;
use sluice_asic::salu::State as Element;
use sluice_asic::units::{Duration, Time};
use sluice_control::{ControlOp, DeviceOp};
use sluice_exec::pass::PassIn;
use sluice_ir::KeyValue;
use sluice_pcaps::wire::{ipv4, roce, tcp, udp};
use std::net::Ipv4Addr;

/// Offset of the common word.
const COMMON: usize = 42;

/// Returns a RoCEv2 data packet with `len` payload bytes after these INT bytes.
fn data(to: Ipv4Addr, int: &[u8], len: usize) -> Vec<u8> {
    let bth = roce::Bth::new(0x0a, 5, 1).to_bytes();
    udp4(to, roce::PORT, &[int, &bth, &vec![0x5a; len]].concat())
}

fn fresh(len: usize) -> Vec<u8> {
    data(NEAR, &[0, 0], len)
}

fn node(chip: &ChipSpec, sets: &[(&str, &str)]) -> Node {
    Node::new("hpcc-int", chip, sets)
}

/// A record: port speed code, time, bytes in units of 128, queue length.
fn record(code: u64, nanos: u64, bytes: u64, queue: u64) -> u64 {
    code << 60 | (nanos & 0xff_ffff) << 36 | (bytes >> 7 & 0xf_ffff) << 16 | queue.min(0xffff)
}

fn records(packet: &[u8]) -> Vec<u64> {
    let hops = usize::from(packet[COMMON] >> 4);
    (0..hops).map(|hop| u64_at(packet, COMMON + 2 + 8 * hop)).collect()
}

/// Scenario 1's queue, time and port; the packet needs no ingress.
const PORT: u16 = 8;

fn input() -> PassIn {
    PassIn { port: PORT, global_tstamp: 123_456_789, deq_qdepth: 1_250, ..PassIn::default() }
}

fn bench_at(chip: &ChipSpec, sets: &[(&str, &str)], sent: u64) -> (Node, Bench) {
    let mut node = node(chip, sets);
    node.entry("port", vec![KeyValue::Exact(PORT.into())], 0, "set_port", &[2 << 28, 0xabc, 8_992]);
    let mut bench = Bench::new(&node);
    set_sent(&node, &mut bench, sent);
    (node, bench)
}

fn set_sent(node: &Node, bench: &mut Bench, sent: u64) {
    let register = node.program.register_named("tx_bytes").unwrap();
    for state in bench.state_mut() {
        *state.registers[register].get_mut(usize::from(PORT)).unwrap() = Element::single(sent);
    }
}

fn events(node: &Node, bench: &Bench) -> Vec<u64> {
    let at = node.program.counters.iter().find(|(_, c)| c.name == "events").unwrap().0;
    bench.state().counters[at].iter().map(|c| c.packets).collect()
}

#[test]
fn s1_the_golden_record_and_lengths() {
    for chip in chips() {
        let (node, mut bench) = bench_at(&chip, &[], 1_000_000_000);
        let packet = fresh(100);
        let out = bench.egress(&packet, input());
        assert_eq!(u16_at(&out, COMMON), 0x1abc);
        assert_eq!(u64_at(&out, COMMON + 2), 0x25bc_d157_3594_04e2);
        assert_eq!(out.len(), packet.len() + 8);
        assert_eq!(u16_at(&out, 16), u16_at(&packet, 16) + 8);
        assert_eq!(u16_at(&out, 38), u16_at(&packet, 38) + 8);
        assert_eq!(out[COMMON + 10..], packet[COMMON + 2..]);
        assert_well_formed(&out);
        assert_eq!(events(&node, &bench), [0, 1, 0, 0, 0, 0, 0, 0]);
    }
}

#[test]
fn larger_units_divide_bytes_and_queue() {
    // Of 10^9 bytes in units of 512, 1,953,125, the lower 20 bits are 904,549; of 1,250 cells a quarter is 312.
    for chip in chips() {
        let (_, mut bench) = bench_at(&chip, &[("multi", "4")], 1_000_000_000);
        let word = u64_at(&bench.egress(&fresh(100), input()), COMMON + 2);
        assert_eq!(word, 2 << 60 | 0x5b_cd15 << 36 | 904_549 << 16 | 312);
        let (_, mut bench) = ns3_bench(&chip, &[("multi", "4")], 1_000_000_000);
        let out = bench.egress(&ns3_packet(0, 100), input());
        let word = u64::from_le_bytes(*out[SLOTS..].first_chunk().unwrap());
        assert_eq!(word, 2 | 0x5b_cd15 << 3 | 904_549 << 27 | 312 << 47);
        // Eight times as large units: 976,562 units, 156 cells.
        let (_, mut bench) = bench_at(&chip, &[("multi", "8")], 1_000_000_000);
        let word = u64_at(&bench.egress(&fresh(100), input()), COMMON + 2);
        assert_eq!(word & 0xf_ffff_ffff, 976_562 << 16 | 156);
    }
}

#[test]
fn packets_may_count_as_longer_or_shorter_than_they_are() {
    const BEFORE: u64 = 200;
    for chip in chips() {
        for (overhead, beyond) in [("0", 0), ("24", 24), ("-16", -16)] {
            let (_, mut bench) = bench_at(&chip, &[("overhead", overhead)], 0);
            let packet = fresh(100);
            let counted = packet.len() as i64 + beyond;
            let outs: Vec<Vec<u8>> = (0..=BEFORE).map(|_| bench.egress(&packet, input())).collect();
            let bytes = BEFORE * counted as u64;
            assert_eq!(
                u64_at(&outs[BEFORE as usize], COMMON + 2),
                record(2, 123_456_789, bytes, 1_250),
                "{overhead}"
            );
            let (_, mut bench) = ns3_bench(&chip, &[("overhead", overhead)], 0);
            let packet = ns3_packet(0, 100);
            let counted = packet.len() as i64 + beyond;
            let outs: Vec<Vec<u8>> = (0..=BEFORE).map(|_| bench.egress(&packet, input())).collect();
            let word = u64::from_le_bytes(*outs[BEFORE as usize][SLOTS..].first_chunk().unwrap());
            assert_eq!(word >> 27 & 0xf_ffff, (BEFORE * counted as u64) >> 7, "{overhead}");
        }
    }
}

#[test]
fn s3_a_sixth_switch_changes_nothing_and_counts_the_hop_limit() {
    for chip in chips() {
        let (node, mut bench) = bench_at(&chip, &[], 0);
        let full: Vec<u8> = [0x51, 0x23].into_iter().chain(0..40).collect();
        let packet = data(NEAR, &full, 64);
        assert_eq!(bench.egress(&packet, input()), packet);
        assert_eq!(events(&node, &bench), [0, 0, 1, 0, 0, 0, 0, 0]);
    }
}

/// Returns the bytes of the simulator after UDP: sequence number, priority group, five slots, nHop.
fn ns3_packet(hops: u16, len: usize) -> Vec<u8> {
    let slots: Vec<u8> = (0..40).map(|n| n ^ 0x5a).collect();
    let payload = [&[0, 0, 1, 2, 0, 3][..], &slots, &hops.to_le_bytes(), &vec![0x77; len]].concat();
    udp4(NEAR, roce::PORT, &payload)
}

const SLOTS: usize = 48;

fn ns3_bench(chip: &ChipSpec, sets: &[(&str, &str)], sent: u64) -> (Node, Bench) {
    let mut node = node(chip, &[&[("layout", "ns3")], sets].concat());
    node.entry("port", vec![KeyValue::Exact(PORT.into())], 0, "set_port", &[2]);
    let mut bench = Bench::new(&node);
    set_sent(&node, &mut bench, sent);
    (node, bench)
}

#[test]
fn ns3_the_golden_word_in_the_slot_of_each_turn_and_s3_overwritten() {
    for chip in chips() {
        // Each of the slots, the first one again, and the largest number of hops.
        for (hops, slot, cell) in [(0, 0, 1), (1, 1, 1), (4, 4, 1), (5, 0, 6), (6, 1, 6), (254, 4, 6)] {
            let (node, mut bench) = ns3_bench(&chip, &[], 1_000_000_000);
            let packet = ns3_packet(hops, 100);
            let out = bench.egress(&packet, input());
            let mut expected = packet.clone();
            let golden = [0xaa, 0x68, 0xde, 0xa2, 0xac, 0x39, 0x71, 0x02];
            expected[SLOTS + 8 * slot..][..8].copy_from_slice(&golden);
            expected[SLOTS + 40..][..2].copy_from_slice(&(hops + 1).to_le_bytes());
            // Only the UDP checksum changes in addition.
            expected[40..42].copy_from_slice(&out[40..42]);
            assert_eq!(out, expected, "{hops} hops");
            assert_well_formed(&out);
            assert_eq!(events(&node, &bench)[cell], 1, "{hops} hops");
            // A checksum of 0 stays 0.
            let none = with_udp_checksum(packet, 0);
            assert_eq!(u16_at(&bench.egress(&none, input()), 40), 0);
        }
    }
}

#[test]
fn ns3_queue_lengths_have_17_bits_and_impossible_packets_are_left_alone() {
    let chip = ChipSpec::tofino2();
    let (node, mut bench) = ns3_bench(&chip, &[], 0);
    for (depth, written) in [(70_000, 70_000), (0x1_ffff, 0x1_ffff), (200_000, 0x1_ffff)] {
        let out = bench.egress(&ns3_packet(0, 10), PassIn { deq_qdepth: depth, ..input() });
        let word = u64_at(&out, SLOTS).swap_bytes();
        assert_eq!((word >> 47, word & 7), (written, 2));
    }
    for hops in [255, 256, 0x0500, u16::MAX] {
        let packet = ns3_packet(hops, 10);
        assert_eq!(bench.egress(&packet, input()), packet);
    }
    // Cut off within the slots, and not UDP at all.
    let mut cut = ns3_packet(0, 0);
    cut.truncate(SLOTS + 41);
    assert_eq!(bench.egress(&cut, input()), cut);
    assert_eq!(events(&node, &bench), [0, 3, 0, 0, 0, 5, 0, 0]);
    for other in [tcp4(NEAR, &[0; 60]), udp4(NEAR, 53, &[0; 60]), udp6(&[1; 60])] {
        assert_eq!(bench.egress(&other, input()), other);
    }
    assert_eq!(events(&node, &bench), [0, 3, 0, 0, 0, 5, 0, 0]);
}

#[test]
fn s4_the_same_switch_twice_cancels_out_of_path_id() {
    let (_, mut bench) = bench_at(&ChipSpec::tofino2(), &[], 0);
    let once = bench.egress(&fresh(64), input());
    let twice = bench.egress(&once, input());
    assert_eq!((u16_at(&once, COMMON), u16_at(&twice, COMMON)), (0x1abc, 0x2000));
    assert_well_formed(&twice);
}

#[test]
fn s5_the_queue_length_saturates() {
    for chip in chips() {
        let (_, mut bench) = bench_at(&chip, &[], 0);
        let out = bench.egress(&fresh(64), PassIn { deq_qdepth: 70_000, ..input() });
        assert_eq!(u64_at(&out, COMMON + 2) & 0xffff, 0xffff);
    }
}

/// Returns txBytes of two successive packets, with the port's register at `sent` before the first.
fn two_sums(chip: &ChipSpec, sent: u64) -> [u64; 2] {
    let (_, mut bench) = bench_at(chip, &[], sent);
    [0, 1].map(|_| u64_at(&bench.egress(&fresh(200), input()), COMMON + 2) >> 16 & 0xf_ffff)
}

#[test]
fn s6_and_s7_tx_bytes_wrap_without_a_step() {
    let len = fresh(200).len() as u64;
    for chip in chips() {
        let short = (1 << 27) - 1;
        assert_eq!(two_sums(&chip, short), [0xf_ffff, (short + len) >> 7 & 0xf_ffff]);
        let wide = (1u64 << 32) - 1;
        let [before, after] = two_sums(&chip, wide);
        assert_eq!(after.wrapping_sub(before) & 0xf_ffff, ((wide + len) >> 7) - (wide >> 7));
    }
}

#[test]
fn s11_other_packets_are_left_alone_and_counted_in_tx_bytes() {
    let (node, mut bench) = bench_at(&ChipSpec::tofino2(), &[], 0);
    let others = [tcp4(NEAR, b"no int here"), udp4(NEAR, 53, &[0; 40]), udp6(&[1; 40])];
    let mut sent = 0;
    for packet in &others {
        assert_eq!(&bench.egress(packet, input()), packet);
        sent += packet.len() as u64;
    }
    let register = node.program.register_named("tx_bytes").unwrap();
    assert_eq!(bench.state().registers[register][usize::from(PORT)], Element::single(sent));
    assert_eq!(events(&node, &bench), [0; 8]);
}

#[test]
fn s12_an_acknowledgement_with_its_copy_passes_unchanged() {
    let (node, mut bench) = bench_at(&ChipSpec::tofino2(), &[], 0);
    for opcode in [0x11, 0x81] {
        let bth = roce::Bth::new(opcode, 5, 1).to_bytes();
        let int: Vec<u8> = [0x2a, 0xbc].into_iter().chain(0..16).collect();
        let packet = udp4(NEAR, roce::PORT, &[&int[..], &bth, &[0; 8]].concat());
        assert_eq!(bench.egress(&packet, input()), packet);
    }
    assert_eq!(events(&node, &bench), [0, 0, 0, 0, 2, 0, 0, 0]);
}

#[test]
fn s13_a_udp_checksum_of_zero_stays_and_others_stay_right() {
    for chip in chips() {
        let (_, mut bench) = bench_at(&chip, &[], 77_777);
        let none = with_udp_checksum(fresh(65), 0);
        let out = bench.egress(&none, input());
        assert_eq!(u16_at(&out, 40), 0);
        assert_well_formed(&out);
        for len in 0..40 {
            let packet = fresh(len);
            assert_ne!(u16_at(&packet, 40), 0);
            assert_well_formed(&bench.egress(&packet, input()));
        }
    }
}

#[test]
fn s14_a_packet_that_would_exceed_the_mtu_is_not_stamped() {
    let (mut node, _) = bench_at(&ChipSpec::tofino2(), &[], 0);
    let packet = fresh(100);
    let ip_len = u128::from(u16_at(&packet, 16));
    for (mtu, stamped) in [(ip_len + 7, false), (ip_len + 8, true)] {
        node.default("port", "set_port", &[2 << 28, 0xabc, mtu - 8]);
        let mut bench = Bench::new(&node);
        let out = bench.egress(&packet, PassIn { port: 9, ..input() });
        assert_eq!(out.len(), packet.len() + if stamped { 8 } else { 0 });
        assert_eq!(events(&node, &bench)[3], u64::from(!stamped));
        if !stamped {
            assert_eq!(out, packet);
        }
    }
}

/// Every record of a packet agrees with the devices' events.
fn assert_ground_truth(node: &Node, story: &Story, tag: u64, hop: usize, code: u64) {
    let (left, bytes) = story.sent.iter().find(|(l, _)| l.tag == tag).unwrap();
    let pass = story.egress(tag);
    let before: u64 = story
        .sent
        .iter()
        .filter(|(l, _)| l.egress_port == left.egress_port && story.egress(l.tag).entered < pass.entered)
        .map(|(_, bytes)| bytes.len() as u64 - 8)
        .sum();
    let depth = story.dequeue(tag).depth;
    let expected = record(code, stamp(pass.entered), before, depth.get().into());
    assert_eq!(records(bytes)[hop], expected, "packet {tag} at hop {hop}");
    assert_well_formed(bytes);
    assert_eq!(left.egress_port, node.dev(1));
}

#[test]
fn s2_five_switches_in_a_row_and_s9_an_empty_queue() {
    for chip in chips() {
        let packets = 12;
        let mut frames: Vec<Frame> =
            (0..packets).map(|i| at(0, 1_000 + 40 * i, &fresh(200 + 50 * (i as usize % 3)), i)).collect();
        let code = if chip.name == "tofino" { 2 } else { 4 };
        let mut path = 0;
        for hop in 0..5 {
            let id = format!("{}", 0x111 * (hop + 1));
            path ^= 0x111 * (hop as u16 + 1);
            let node = node(&chip, &[("switch_id", &id)]);
            let story = node.run(&frames);
            for tag in 0..packets {
                assert_ground_truth(&node, &story, tag, hop, code);
            }
            // Packets 40 ns apart find an empty queue.
            assert_eq!(records(&story.sent[0].1)[hop] & 0xffff, 0);
            frames = over_link(&story, node.dev(1), 0, Duration::from_nanos(1_000));
        }
        for frame in &frames {
            assert_eq!(u16_at(&frame.bytes, COMMON), 0x5000 | path);
            let original = fresh(200 + 50 * (frame.tag as usize % 3));
            assert_eq!(frame.bytes.len(), original.len() + 40);
            assert_eq!(frame.bytes[COMMON + 42..], original[COMMON + 2..]);
            // In order of the path, time never decreases.
            let times: Vec<u64> = records(&frame.bytes).iter().map(|r| r >> 36 & 0xff_ffff).collect();
            assert!(times.is_sorted(), "{times:?}");
        }
    }
}

#[test]
fn s8_two_packets_back_to_back_differ_by_what_left_between_them() {
    let chip = ChipSpec::tofino();
    let node = node(&chip, &[]);
    let len = 1_090;
    let packet = fresh(len - fresh(0).len());
    // One port of 100G in, one out: 1114 bytes on the wire take 89.12 ns, 1122 with the record 89.76 ns.
    let frames: Vec<Frame> = (0..8)
        .map(|i| Frame { time: Time::from_ps(1_000_000 + i * 89_120), ..at(0, 0, &packet, i) })
        .collect();
    let story = node.run(&frames);
    for pair in story.out(node.dev(1)).windows(2).skip(2) {
        let [a, b] = [records(&pair[0].1)[0], records(&pair[1].1)[0]];
        let bytes = (b >> 16 & 0xf_ffff) - (a >> 16 & 0xf_ffff);
        let gap = (b >> 36 & 0xff_ffff) - (a >> 36 & 0xff_ffff);
        assert!((8..=9).contains(&bytes), "{bytes} units");
        // The scenario counts 1090 bytes without preamble, gap, FCS and record: 87 ns.
        assert!((89..=90).contains(&gap), "{gap} ns");
    }
}

#[test]
fn s10_the_queue_or_all_queues_of_the_port() {
    let chip = ChipSpec::tofino2();
    // 400G into a port of 100G: the queue of class selector 2 is served first, queue 0 fills up behind.
    let packet = |dscp: u8, len| {
        let ip = ipv4::Header { dscp, ..ip(SLOW) };
        let bth = roce::Bth::new(0x0a, 5, 1).to_bytes();
        let payload = [&[0, 0][..], &bth, &vec![0; len]].concat();
        frame(&builder().ipv4(ip).udp(udp::Header::new(7_000, roce::PORT)), &payload)
    };
    let mut frames: Vec<Frame> = (0..20).map(|i| at(0, 1_000 + 25 * i, &packet(0, 1_000), i)).collect();
    frames.extend((20..24).map(|i| at(0, 1_600 + 40 * (i - 20), &packet(16, 1_000), i)));
    let depths = |qlen: &str| {
        let node = node(&chip, &[("qlen", qlen)]);
        let story = node.run(&frames);
        let queue = |story: &Story, tag: u64| story.dequeued.iter().find(|e| e.tag == tag).copied().unwrap();
        let mut last = std::collections::BTreeMap::new();
        let mut in_order: Vec<_> = story.out(node.dev(20));
        in_order.sort_by_key(|(l, _)| story.egress(l.tag).entered);
        let mut differ = 0;
        for (left, bytes) in in_order {
            let event = queue(&story, left.tag);
            last.insert(event.qid, event.depth.get());
            let port: u32 = last.values().sum();
            let expected = if qlen == "queue" { event.depth.get() } else { port };
            assert_eq!(records(bytes)[0] & 0xffff, u64::from(expected), "{qlen}, packet {}", left.tag);
            differ += u64::from(port != event.depth.get());
        }
        assert!(differ > 3);
    };
    depths("queue");
    depths("port");
}

#[test]
fn s15_a_pause_shows_as_a_gap_and_no_negative_difference() {
    let chip = ChipSpec::tofino2();
    let mut node = node(&chip, &[]);
    let pause = |paused| ControlOp::Device(DeviceOp::PauseQueue { port: node.dev(1), queue: 0, paused });
    let ops = [(5_000, pause(true)), (55_000, pause(false))];
    node.later = ops.into_iter().map(|(t, op)| (Time::from_nanos(t), op)).collect();
    let frames: Vec<Frame> = (0..40).map(|i| at(0, 1_000 + 250 * i, &fresh(1_000), i)).collect();
    let story = node.run(&frames);
    let sent = story.out(node.dev(1));
    assert_eq!(sent.len(), 40);
    let of = |bytes: &[u8]| (records(bytes)[0] >> 36 & 0xff_ffff, records(bytes)[0] >> 16 & 0xf_ffff);
    let mut gaps = Vec::new();
    for pair in sent.windows(2) {
        let ((t0, b0), (t1, b1)) = (of(&pair[0].1), of(&pair[1].1));
        assert!(t1 >= t0 && b1 >= b0);
        gaps.push(t1 - t0);
    }
    let longest = gaps.iter().max().unwrap();
    assert!((49_500..50_500).contains(longest), "{longest} ns");
    // The packets that accumulated during the pause are the depth of the first packet after it.
    let piled = records(&sent[17].1)[0] & 0xffff;
    assert!(piled > 100, "{piled} cells");
    for (tag, _) in (0..40).zip(&sent) {
        assert_ground_truth(&node, &story, tag, 0, 4);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Any bytes after UDP: both engines agree, nothing panics, and a packet without a new record is unchanged.
    #[test]
    fn any_bytes_behind_udp_are_stamped_well_or_left_alone(
        int in prop::collection::vec(any::<u8>(), 0..60), cut in 0..80usize,
    ) {
        let (_, mut bench) = bench_at(&ChipSpec::tofino2(), &[], 0);
        let mut packet = udp4(NEAR, roce::PORT, &int);
        let whole = packet.len() <= cut + 42;
        packet.truncate(cut + 42);
        let out = bench.egress(&packet, input());
        if out.len() == packet.len() {
            prop_assert_eq!(out, packet);
        } else {
            prop_assert_eq!(out.len(), packet.len() + 8);
            if whole {
                assert_well_formed(&out);
            }
        }
    }

    /// TCP with any flags and ports is never taken for INT.
    #[test]
    fn tcp_is_never_touched(source in any::<u16>(), payload in prop::collection::vec(any::<u8>(), 0..80)) {
        let (_, mut bench) = bench_at(&ChipSpec::tofino2(), &[], 0);
        let header = tcp::Header::new(source, roce::PORT);
        let packet = frame(&builder().ipv4(ip(NEAR)).tcp(header), &payload);
        prop_assert_eq!(bench.egress(&packet, input()), packet);
    }
}
