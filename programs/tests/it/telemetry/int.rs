//! `int`: source, transit and sink against the devices' events, and the scenarios of model: int §10.2 by their
//! numbers.

use crate::telemetry::node::{Bench, Frame, Node, Story, at, over_link, stamp};
use crate::telemetry::packets::*;
use proptest::prelude::*;
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::salu::State as Element;
use sluice_asic::units::{Cells, Duration, Time};
use sluice_exec::pass::{PassIn, Verdict};
use sluice_ir::KeyValue;
use sluice_pcaps::wire::{ipv4, tcp, udp};
use sluice_programs::int::{Instructions, Params};
use std::collections::BTreeMap;
use std::sync::Mutex;

const DSCP: u8 = 0x17;
/// Ports of every node: ingress from hosts, ingress from nodes, egress.
const HOST: u16 = 0;
const NODE: u16 = 8;
const OUT: u16 = 1;
const COLLECTOR: u16 = 31;

/// Placed once, because placing takes long and most tests use the same programs.
static PLACED: Mutex<BTreeMap<String, Node>> = Mutex::new(BTreeMap::new());

fn node(sets: &[(&str, &str)]) -> Node {
    let key = format!("{sets:?}");
    let mut placed = PLACED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    placed.entry(key).or_insert_with(|| Node::new("int", &ChipSpec::tofino2(), sets)).clone()
}

/// Returns the `id`-th of three nodes; the last one's port leads to a host.
fn hop(id: u32, sets: &[(&str, &str)]) -> Node {
    let text = id.to_string();
    let mut all = vec![("node_id", text.as_str())];
    all.extend(sets);
    let mut node = node(&all);
    if id == 3 && node.program.table_named("port_out").is_some() {
        let port = node.dev(OUT);
        node.entry("port_out", vec![KeyValue::Exact(port.into())], 0, "to_host", &[]);
    }
    node
}

/// Replaces the default instructions of a node by these.
fn instruct(node: Node, instructions: &Instructions, sets: &[(&str, &str)]) -> Node {
    let mut node = node.without(&["profile"]);
    let mut p = Params::default();
    for (key, value) in sets {
        sluice_build::params::Params::set(&mut p, key, value).unwrap();
    }
    let args = instructions.args(&p);
    node.entry("profile", vec![KeyValue::Exact(1)], 0, "begin", &args);
    node
}

fn off(node: Node, last: bool) -> Node {
    let mut node = node.without(&["ipv4_watch", "ipv6_watch"]);
    if last {
        let port = node.dev(OUT);
        node.entry("port_out", vec![KeyValue::Exact(port.into())], 0, "to_host", &[]);
    }
    node
}

/// Runs the frames through a chain; returns every node's events.
fn chain(nodes: &[Node], frames: Vec<Frame>) -> Vec<Story> {
    let mut frames = frames;
    let mut stories = Vec::new();
    for node in nodes {
        let story = node.run(&frames);
        frames = over_link(&story, node.dev(OUT), NODE, Duration::from_nanos(500));
        stories.push(story);
    }
    stories
}

/// Returns the offset of the shim in a packet with INT after TCP or UDP.
fn shim_at(packet: &[u8]) -> usize {
    let (l4, protocol) = if u16_at(packet, 12) == 0x0800 { (34, packet[23]) } else { (54, packet[20]) };
    l4 + if protocol == 6 { 20 } else { 8 }
}

fn int(packet: &[u8]) -> &[u8] {
    let at = shim_at(packet);
    &packet[at..at + 4 + 4 * usize::from(packet[at + 1])]
}

fn sent_by(story: &Story, node: &Node, tag: u64) -> Vec<u8> {
    let found = story.out(node.dev(OUT)).into_iter().find(|(l, _)| l.tag == tag);
    let lost: Vec<_> = story.lost.iter().map(|(l, _)| (l.tag, l.reason)).collect();
    found.unwrap_or_else(|| panic!("packet {tag} did not leave; lost: {lost:?}")).1.clone()
}

/// Returns two UDP and two TCP packets of either IP version, and one without a UDP checksum.
fn mix(payload: usize) -> Vec<Vec<u8>> {
    let bytes: Vec<u8> = (0..payload).map(|i| (i * 7) as u8).collect();
    let ef = ipv4::Header { dscp: 0x2e, ..ip(NEAR) };
    vec![
        udp4(NEAR, 9_000, &bytes),
        tcp4(NEAR, &bytes),
        udp6(&bytes),
        tcp6(&bytes),
        with_udp_checksum(udp4(NEAR, 9_000, &bytes), 0),
        frame(&builder().ipv4(ef).tcp(tcp::Header::new(1, 2)), &bytes),
    ]
}

fn frames(packets: &[Vec<u8>], gap: u64) -> Vec<Frame> {
    packets.iter().enumerate().map(|(i, p)| at(HOST, 1_000 + gap * i as u64, p, i as u64)).collect()
}

/// Returns the block that a node must write for bitmap 0xff01, without its complement.
fn truth(node: &Node, story: &Story, tag: u64, id: u32) -> Vec<u8> {
    let (left, _) = story.sent.iter().find(|(l, _)| l.tag == tag && l.egress_port == node.dev(OUT)).unwrap();
    let (pass, dequeued) = (story.egress(tag), story.dequeue(tag));
    let (came, leaves) = (stamp(left.received), stamp(pass.entered));
    let mut bytes = id.to_be_bytes().to_vec();
    bytes.extend(left.ingress_port.to_be_bytes());
    bytes.extend(left.egress_port.to_be_bytes());
    bytes.extend(((leaves - came) as u32).to_be_bytes());
    bytes.extend((u32::from(dequeued.qid) << 24 | dequeued.depth.get()).to_be_bytes());
    bytes.extend(came.to_be_bytes());
    bytes.extend(leaves.to_be_bytes());
    bytes.extend([0xff; 8]);
    bytes.extend(utilisation(node, story, tag).to_be_bytes());
    bytes
}

/// Returns the bytes that the port dequeued in the last window of 65536 ns in which it sent, before this one.
fn utilisation(node: &Node, story: &Story, tag: u64) -> u32 {
    let mut passes: Vec<(u64, u64, u32)> = story
        .out(node.dev(OUT))
        .iter()
        .map(|(l, _)| (stamp(story.egress(l.tag).entered), l.tag, story.arrived[&l.tag]))
        .collect();
    passes.sort_unstable();
    let (mut window, mut bytes, mut last) = (0, 0, 0);
    for (time, of, length) in passes {
        if time >> 16 != window {
            last = if bytes > 0 { bytes } else { last };
            (window, bytes) = (time >> 16, 0);
        }
        bytes += length;
        if of == tag {
            return last;
        }
    }
    panic!("packet {tag} did not leave")
}

#[test]
fn metadata_is_ground_truth_and_packets_are_identical_behind_the_sink() {
    let nodes = [hop(1, &[]), hop(2, &[]), hop(3, &[])];
    let packets: Vec<Vec<u8>> = (0..5).flat_map(|n| mix(100 + 150 * n)).collect();
    // Frames 30 ns apart queue up at times; the last ones come windows later.
    let mut frames = frames(&packets, 30);
    for frame in &mut frames[20..] {
        frame.time += Duration::from_nanos(150_000);
    }
    let stories = chain(&nodes, frames.clone());
    let off = chain(&[off(hop(1, &[]), false), off(hop(2, &[]), false), off(hop(3, &[]), true)], frames);
    for (tag, packet) in (0..).zip(&packets) {
        for (n, (node, story)) in nodes.iter().zip(&stories).take(2).enumerate() {
            let out = sent_by(story, node, tag);
            assert_well_formed(&out);
            let int = int(&out);
            assert_eq!(out.len(), packet.len() + 16 + 48 * (n + 1));
            assert_eq!(int[..4], [0x10, 15 + 12 * n as u8, 0, (if tag % 6 == 5 { 0x2e } else { 0 }) << 2]);
            assert_eq!(int[4..16], [0x20, 0, 12, 6 - n as u8, 0xff, 0x01, 0, 0, 0, 0, 0, 0]);
            assert_eq!(int[16..60], truth(node, story, tag, n as u32 + 1), "packet {tag} at node {n}");
        }
        let behind = sent_by(&stories[2], &nodes[2], tag);
        assert_eq!(behind, sent_by(&off[2], &nodes[2], tag), "packet {tag}");
        assert_well_formed(&behind);
    }
    assert_eq!(nodes[0].counter(&stories[0], "events")[1], packets.len() as u64);
}

/// Returns the report's parts: group and individual header, metadata, part of the packet.
fn report(frame: &[u8]) -> (&[u8], &[u8], &[u8]) {
    assert_eq!((u16_at(frame, 12), frame[23]), (0x0800, 17));
    assert!(ipv4::View::new(&frame[14..]).unwrap().checksum_ok());
    let payload = udp::View::new(&frame[34..]).unwrap();
    assert_eq!(usize::from(payload.length()), frame.len() - 34);
    let bytes = payload.payload();
    let metadata = 20 + 4 * usize::from(bytes[10]);
    (&bytes[..20], &bytes[20..metadata], &bytes[metadata..])
}

fn reports(story: &Story, node: &Node) -> Vec<(u64, Vec<u8>)> {
    story.out(node.dev(COLLECTOR)).iter().map(|(l, b)| (l.tag, b.clone())).collect()
}

#[test]
fn the_sink_reports_the_packet_as_it_came_with_its_own_metadata() {
    let nodes = [hop(1, &[]), hop(2, &[]), hop(3, &[])];
    let packets = mix(80);
    let stories = chain(&nodes, frames(&packets, 400));
    let reports = reports(&stories[2], &nodes[2]);
    assert_eq!(reports.len(), packets.len());
    for (sequence, (tag, frame)) in reports.iter().enumerate() {
        let (header, metadata, inner) = report(frame);
        assert_eq!(u32_at(header, 0), 0x2000_0000 | sequence as u32);
        assert_eq!(u32_at(header, 4), 3);
        let came = sent_by(&stories[1], &nodes[1], *tag);
        let in_type = if u16_at(&came, 12) == 0x0800 { 0x14 } else { 0x15 };
        assert_eq!((header[8], header[11]), (in_type, 0x20));
        assert_eq!(u16_at(header, 12), 0x7c00);
        assert_eq!(metadata, &truth(&nodes[2], &stories[2], *tag, 3)[4..32]);
        // As the packet entered egress: ingress has routed it.
        assert_eq!(inner[34..], came[48..14 + inner.len()]);
        assert!(inner.len() >= 200, "{}", inner.len());
    }
}

#[test]
fn switches_of_one_part_do_what_a_switch_of_all_parts_does() {
    let sets = |role| [("role", role)];
    let (source, transit, sink) = (hop(1, &sets("source")), hop(2, &sets("transit")), hop(3, &sets("sink")));
    let parts = [source, transit, sink];
    let all = [hop(1, &[]), hop(2, &[]), hop(3, &[])];
    let packets = mix(120);
    let (mine, theirs) = (chain(&parts, frames(&packets, 600)), chain(&all, frames(&packets, 600)));
    for tag in 0..packets.len() as u64 {
        for n in 0..2 {
            let (out, other) = (sent_by(&mine[n], &parts[n], tag), sent_by(&theirs[n], &all[n], tag));
            assert_eq!(out.len(), other.len());
            assert_eq!(int(&out)[16..60], truth(&parts[n], &mine[n], tag, n as u32 + 1));
            assert_well_formed(&out);
        }
        assert_eq!(sent_by(&mine[2], &parts[2], tag), sent_by(&theirs[2], &all[2], tag));
    }
    assert_eq!(reports(&mine[2], &parts[2]).len(), packets.len());
    assert!(reports(&mine[0], &parts[0]).is_empty() && reports(&mine[1], &parts[1]).is_empty());
}

/// The program of a role lacks the tables that only other roles need, such as those of ports and flows.
#[test]
fn parts_leave_out_what_they_do_not_need() {
    let has = |role: &str, mode: &str, table: &str| {
        let node = node(&[
            ("role", role),
            ("mode", mode),
            ("carrier", if mode == "mx" { "new-udp" } else { "dscp" }),
        ]);
        node.program.table_named(table).is_some()
    };
    for (role, tables) in [
        ("source", [true, false, true, true]),
        ("transit", [false, false, false, false]),
        ("sink", [false, true, false, false]),
    ] {
        for (table, there) in ["port_in", "port_out", "ipv4_watch", "profile"].into_iter().zip(tables) {
            assert_eq!(has(role, "md", table), there, "{role}: {table}");
            assert_eq!(has(role, "mx", table), there, "{role} of mx: {table}");
        }
        // Every node sends postcards, by its own watch-list.
        assert!(has(role, "xd", "ipv4_watch") && !has(role, "xd", "profile"));
    }
}

fn udp_without_checksum() -> Vec<u8> {
    with_udp_checksum(udp4(NEAR, 9_000, &[7; 60]), 0)
}

fn two_hops(instructions: Instructions, second: Node, packet: &[u8]) -> [Vec<u8>; 2] {
    let first = instruct(hop(1, &[]), &instructions, &[]);
    let nodes = [first, second];
    let stories = chain(&nodes, vec![at(HOST, 1_000, packet, 0)]);
    [0, 1].map(|n| sent_by(&stories[n], &nodes[n], 0))
}

#[test]
fn s16_the_standards_example_as_the_sink_receives_it() {
    let [_, out] = two_hops(Instructions::new(8, 0x9000), hop(2, &[]), &udp_without_checksum());
    let int = int(&out);
    assert_eq!((int[1], int[6], int[7], u16_at(int, 8)), (7, 2, 6, 0x9000));
    assert_eq!([u32_at(int, 16), u32_at(int, 24)], [2, 1], "newest first");
}

#[test]
fn s17_no_hops_remaining_sets_e_alone() {
    for packet in [udp_without_checksum(), tcp4(NEAR, &[9; 50]), udp6(&[3; 33])] {
        let [first, second] = two_hops(Instructions::new(1, 0x9001), hop(2, &[]), &packet);
        let (a, b) = (int(&first), int(&second));
        assert_eq!((a[4], b[4]), (0x20, 0x24));
        assert_eq!((a[1], a[7]), (b[1], b[7]));
        assert_eq!((b[7], &a[8..]), (0, &b[8..]));
        assert_well_formed(&second);
    }
}

#[test]
fn s18_a_block_beyond_the_mtu_sets_m_alone() {
    for packet in [udp_without_checksum(), tcp4(NEAR, &[9; 50]), udp6(&[3; 33])] {
        let mut second = hop(2, &[]);
        let [first, longer] = two_hops(Instructions::new(8, 0x9001), second.clone(), &packet);
        let port = second.dev(OUT);
        let mtu = longer.len() as u128 - 14;
        for (mtu, fits) in [(mtu - 1, false), (mtu, true)] {
            second = second.without(&["egress_port"]);
            second.entry(
                "egress_port",
                vec![KeyValue::Exact(port.into())],
                0,
                "set_port",
                &[mtu, 0xffff_ffff],
            );
            let [_, out] = two_hops(Instructions::new(8, 0x9001), second.clone(), &packet);
            assert_eq!((int(&out)[4] & 2 == 0, int(&out)[7]), (fits, if fits { 6 } else { 7 }));
            assert_eq!(out.len(), if fits { longer.len() } else { first.len() });
            assert_well_formed(&out);
        }
    }
}

#[test]
fn flags_set_on_the_way_leave_no_trace_behind_the_sink() {
    // One hop may add: the second sets E, and the third finds it set. Packets exceed the MTU of both: M.
    let packets = mix(90);
    let first = |hops| instruct(hop(1, &[]), &Instructions::new(hops, 0x9001), &[]);
    let (mut between, sink) = ([hop(2, &[]), hop(4, &[])], hop(3, &[]));
    let plain = chain(
        &[off(hop(1, &[]), false), off(hop(2, &[]), false), off(hop(4, &[]), false), off(hop(3, &[]), true)],
        frames(&packets, 400),
    );
    for (hops, flags) in [(1, 4), (8, 2)] {
        if hops == 8 {
            for node in &mut between {
                let port = vec![KeyValue::Exact(node.dev(OUT).into())];
                node.entry("egress_port", port, 0, "set_port", &[100, 0xffff_ffff]);
            }
        }
        let [second, third] = between.clone();
        let nodes = [first(hops), second, third, sink.clone()];
        let stories = chain(&nodes, frames(&packets, 400));
        for tag in 0..packets.len() as u64 {
            for n in [1, 2] {
                let out = sent_by(&stories[n], &nodes[n], tag);
                assert_eq!(int(&out)[4], 0x20 | flags);
                assert_well_formed(&out);
            }
            assert_eq!(sent_by(&stories[3], &sink, tag), sent_by(&plain[3], &sink, tag), "packet {tag}");
        }
    }
}

#[test]
fn s19_timestamps_and_level_2_interfaces_take_two_words_each() {
    let packet = udp_without_checksum();
    let [out, _] = two_hops(Instructions::new(8, 0x0e00), hop(2, &[]), &packet);
    assert_eq!((int(&out)[6], out.len()), (6, packet.len() + 16 + 24));
}

#[test]
fn s20_what_no_node_knows_is_ones_in_its_place() {
    // Bit 8, buffer; bit 12 is reserved.
    let [out, _] = two_hops(Instructions::new(8, 0x9089), hop(2, &[]), &tcp4(NEAR, &[1; 40]));
    let int = int(&out);
    assert_eq!((int[6], u32_at(int, 16)), (5, 1));
    assert_eq!([u32_at(int, 24), u32_at(int, 28)], [u32::MAX; 2]);
    assert_eq!(u16_at(int, 32), 0);
    assert_well_formed(&out);
}

#[test]
fn s21_the_complement_is_last_and_the_l4_checksum_as_it_was() {
    for packet in mix(70) {
        let [first, second] = two_hops(Instructions::new(8, 0x9001), hop(2, &[]), &packet);
        let checksum = |p: &[u8]| {
            let l4 = if u16_at(p, 12) == 0x0800 { 34 } else { 54 };
            u16_at(p, if shim_at(p) - l4 == 20 { l4 + 16 } else { l4 + 6 })
        };
        assert_eq!([checksum(&first), checksum(&second)], [checksum(&packet); 2]);
        assert_eq!(u16_at(int(&first), 24), 0);
        assert_well_formed(&first);
        assert_well_formed(&second);
    }
}

#[test]
fn s22_another_domains_words_are_padded_or_the_packet_skipped() {
    let other =
        Instructions { domain: 7, ds_instruction: 0x8000, hop_ml: Some(3), ..Instructions::new(8, 0x9000) };
    let packet = udp_without_checksum();
    let [first, padded] = two_hops(other, hop(2, &[]), &packet);
    assert_eq!((int(&first)[1], u32_at(int(&first), 24)), (6, u32::MAX));
    assert_eq!((int(&padded)[1], int(&padded)[7], u32_at(int(&padded), 24)), (9, 6, u32::MAX));
    let [first, skipped] = two_hops(other, hop(2, &[("unknown_domain", "skip")]), &packet);
    assert_eq!(int(&first), int(&skipped));
    // For the node's own domain, it is the number of bytes that the port has sent before.
    let own = [("domain", "7")];
    let node = instruct(hop(1, &own), &other, &own);
    let packets = [packet.clone(), packet];
    let story = node.run(&frames(&packets, 400));
    let words = [0, 1].map(|tag| u32_at(int(&sent_by(&story, &node, tag)), 24));
    assert_eq!(words, [0, packets[0].len() as u32]);
    // Standard instructions that do not add up to Hop ML: no node can add exactly that.
    let odd = Instructions { hop_ml: Some(3), ..Instructions::new(8, 0x9000) };
    let [first, second] = two_hops(odd, hop(2, &[]), &packets[0]);
    assert_eq!((int(&first)[1], int(&second)[1]), (3, 3));
}

#[test]
fn s23_and_s24_ports_and_protocols_come_back() {
    for (carrier, udp_only) in [("udp-port", true), ("new-udp", false)] {
        let sets = [("carrier", carrier)];
        let nodes = [1, 2, 3].map(|id| hop(id, &sets));
        let packets = mix(60);
        let stories = chain(&nodes, frames(&packets, 500));
        let off_nodes = [off(hop(1, &[]), false), off(hop(2, &[]), false), off(hop(3, &[]), true)];
        let plain = chain(&off_nodes, frames(&packets, 500));
        for (tag, packet) in (0..).zip(&packets) {
            let out = sent_by(&stories[1], &nodes[1], tag);
            let tcp = matches!(tag % 6, 1 | 3 | 5);
            if tcp && udp_only {
                assert_eq!(out.len(), packet.len());
            } else {
                let (l4, shim) = (shim_at(&out) - 8, shim_at(&out));
                assert_eq!(u16_at(&out, l4 + 2), 54_321);
                let (npt, original) = match (udp_only, tcp) {
                    (true, _) => (1, 9_000),
                    (false, true) => (2, 6),
                    (false, false) => (2, 17),
                };
                assert_eq!((out[shim], u16_at(&out, shim + 2)), (0x10 | npt << 2, original));
                assert_eq!(out.len(), packet.len() + 16 + 96 + if udp_only { 0 } else { 8 });
                assert_well_formed(&out);
            }
            assert_eq!(
                sent_by(&stories[2], &nodes[2], tag),
                sent_by(&plain[2], &nodes[2], tag),
                "{carrier} {tag}"
            );
        }
    }
}

#[test]
fn s25_a_probe_is_reported_and_goes_no_further() {
    let [_, mut probe] = two_hops(Instructions::new(8, 0x9001), hop(2, &[]), &udp_without_checksum());
    let at_header = shim_at(&probe) + 4;
    probe[at_header] |= 8;
    let sink = hop(3, &[]);
    let story = sink.run(&[at(NODE, 1_000, &probe, 0)]);
    assert!(story.out(sink.dev(OUT)).is_empty());
    assert_eq!(reports(&story, &sink).len(), 1);
    let absorbed: Vec<bool> = story.lost.iter().map(|(l, _)| l.absorbed).collect();
    assert_eq!(absorbed, [true]);
}

#[test]
fn s26_the_reports_worked_example() {
    let node = node(&[("mode", "xd"), ("report_metadata", "20480")]);
    let packet = tcp4(NEAR, &[]);
    let story = node.run(&[at(HOST, 1_000, &packet, 0)]);
    let reports = reports(&story, &node);
    let (header, metadata, inner) = report(&reports[0].1);
    assert_eq!((header[8], header[9], header[10], u16_at(header, 12)), (0x14, 14, 2, 0x5000));
    assert_eq!((metadata.len(), inner.len()), (8, 40));
    // The packet itself carries no INT.
    assert_eq!(sent_by(&story, &node, 0).len(), packet.len());
}

#[test]
fn s27_the_sequence_number_wraps() {
    let node = node(&[("mode", "xd")]);
    let mut bench = Bench::new(&node);
    let register = node.program.register_named("sequence").unwrap();
    let port = node.dev(COLLECTOR);
    for state in bench.state_mut() {
        *state.registers[register].get_mut(usize::from(port)).unwrap() = Element::single((1 << 22) - 1);
    }
    let mut copy = vec![2, 0x20, 0x40, 0];
    copy.resize(30, 0);
    copy.extend(udp4(NEAR, 1, &[0; 20]));
    let numbers = [0, 1].map(|_| {
        let out = bench.egress(&copy, PassIn { port, ..PassIn::default() });
        u32_at(report(&out).0, 0)
    });
    assert_eq!(numbers, [0x203f_ffff, 0x2000_0000]);
}

#[test]
fn s28_another_version_passes_untouched() {
    for id in [2, 3] {
        let [mut packet, _] = two_hops(Instructions::new(8, 0x9001), hop(2, &[]), &udp_without_checksum());
        let at_header = shim_at(&packet) + 4;
        packet[at_header] = 0x10;
        let node = hop(id, &[]);
        let story = node.run(&[at(NODE, 1_000, &packet, 0)]);
        let out = sent_by(&story, &node, 0);
        assert_eq!(out[shim_at(&out)..], packet[shim_at(&packet)..]);
    }
}

#[test]
fn int_from_hosts_is_dropped_or_loses_its_mark() {
    let header = ipv4::Header { dscp: DSCP, ..ip(NEAR) };
    let packet = frame(&builder().ipv4(header).udp(udp::Header::new(5, 6)), &[0x10; 40]);
    let node = hop(1, &[]);
    let story = node.run(&[at(HOST, 1_000, &packet, 0)]);
    assert!(story.sent.is_empty() && story.lost.len() == 1);
    let node = hop(1, &[("foreign", "clear")]);
    let story = node.run(&[at(HOST, 1_000, &packet, 0)]);
    let out = sent_by(&story, &node, 0);
    assert_eq!((out[15] >> 2, out.len()), (0, packet.len()));
    assert_well_formed(&out);
}

#[test]
fn drops_are_reported_with_their_reason() {
    let node = hop(1, &[]);
    let expired =
        frame(&builder().ipv4(ipv4::Header { ttl: 1, ..ip(NEAR) }).udp(udp::Header::new(5, 6)), &[0; 40]);
    let story = node.run(&[at(HOST, 1_000, &expired, 0)]);
    let reports = reports(&story, &node);
    let (header, metadata, inner) = report(&reports[0].1);
    assert_eq!((header[11], u16_at(header, 12)), (0x80, 0x4801));
    assert_eq!(u16_at(metadata, 0), node.dev(HOST));
    assert_eq!(u64_at(metadata, 4), stamp(Time::from_nanos(1_000)));
    assert_eq!(metadata[12..], [0, 2, 0, 0]);
    assert_eq!(inner, &expired[14..]);
}

#[test]
fn a_full_queue_and_a_deep_one_are_reported() {
    let mut node = hop(1, &[]).without(&["queue_watch"]);
    node.config.queues.limit = Cells(40);
    let port = node.dev(20);
    let key = vec![KeyValue::Exact(port.into()), KeyValue::Exact(0)];
    node.entry("queue_watch", key, 0, "thresholds", &[10, 0xffff_ffff]);
    let node = node.clone();
    let packet = udp4(SLOW, 9_000, &[0; 1_000]);
    let packets: Vec<Vec<u8>> = (0..40).map(|_| packet.clone()).collect();
    let story = node.run(&frames(&packets, 25));
    let flags: Vec<u8> = reports(&story, &node).iter().map(|(_, r)| report(r).0[11]).collect();
    let sent = story.out(port).len();
    assert_eq!(flags.iter().filter(|f| **f == 0x80).count(), 40 - sent, "{flags:?}");
    assert_eq!(flags.iter().filter(|f| **f == 0x40).count(), 1, "{flags:?}");
    assert!(sent < 40);
    for (_, frame) in reports(&story, &node).iter().filter(|(_, r)| report(r).0[11] == 0x80) {
        let (header, metadata, _) = report(frame);
        assert_eq!(header[13], 1);
        assert_eq!(metadata[metadata.len() - 4..], [0, 16, 0, 0]);
    }
}

#[test]
fn mx_carries_instructions_and_every_node_reports() {
    let sets = [("mode", "mx"), ("carrier", "new-udp")];
    let nodes = [1, 2, 3].map(|id| hop(id, &sets));
    let packets = mix(60);
    let stories = chain(&nodes, frames(&packets, 500));
    let off_nodes = [off(hop(1, &[]), false), off(hop(2, &[]), false), off(hop(3, &[]), true)];
    let plain = chain(&off_nodes, frames(&packets, 500));
    for (tag, packet) in (0..).zip(&packets) {
        for n in 0..2 {
            let out = sent_by(&stories[n], &nodes[n], tag);
            let shim = shim_at(&out);
            assert_eq!((out.len(), out[shim], out[shim + 1]), (packet.len() + 24, 0x38, 3));
        }
        assert_eq!(sent_by(&stories[2], &nodes[2], tag), sent_by(&plain[2], &nodes[2], tag));
    }
    for (n, story) in stories.iter().enumerate() {
        let reports = reports(story, &nodes[n]);
        assert_eq!(reports.len(), packets.len());
        for (tag, frame) in &reports {
            let (header, metadata, _) = report(frame);
            assert_eq!((u32_at(header, 4), u16_at(header, 12)), (n as u32 + 1, 0x7c00));
            assert_eq!(metadata, &truth(&nodes[n], story, *tag, n as u32 + 1)[4..32]);
        }
    }
}

/// Returns a packet as ingress bridges it: from a node, to a node or to a host.
fn bridged(sink: bool, packet: &[u8]) -> Vec<u8> {
    let mut bytes = vec![1, if sink { 0x40 } else { 0 }, 0, 8, 0, 0, 0, 0, 0, 0];
    bytes.extend_from_slice(packet);
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Any bytes marked as INT: the engines agree, nothing panics, a transit adds a block or nothing, and a sink
    /// removes all of it or drops the packet.
    #[test]
    fn malformed_int_has_no_effect_but_a_drop(
        mut bytes in prop::collection::vec(any::<u8>(), 0..160), plausible in any::<bool>(), cut in 0..220usize,
        sink in any::<bool>(), padding in 0..60usize,
    ) {
        if plausible && bytes.len() > 16 {
            bytes[0] = 0x10;
            bytes[4] &= 0x0f;
            bytes[4] |= 0x20;
        }
        let header = ipv4::Header { dscp: DSCP, ..ip(NEAR) };
        let mut packet = frame(&builder().ipv4(header).udp(udp::Header::new(5, 6)), &bytes);
        packet.resize(packet.len() + padding, 0);
        let mut came = bridged(sink, &packet);
        came.truncate(cut.max(60));
        let node = hop(2, &[]);
        let mut bench = Bench::new(&node);
        let (out, left) = bench.pass(Gress::Egress, &came, PassIn { port: 8, ..PassIn::default() });
        if out.verdict == Verdict::Forward {
            let before = came.len() - 10;
            let ok = if sink { left.len() <= before } else { left.len() >= before && (left.len() - before).is_multiple_of(4) };
            prop_assert!(ok, "{} bytes became {}", before, left.len());
            // INT may claim padding, but the removed bytes must have been in the datagram.
            if sink && before == packet.len() && left.len() < before {
                prop_assert_eq!(usize::from(u16_at(&left, 38)) + padding, left.len() - 34);
                prop_assert_eq!(left[15] >> 2, bytes[3] >> 2, "the shim's reserved bits mean nothing");
            }
        }
    }
}
