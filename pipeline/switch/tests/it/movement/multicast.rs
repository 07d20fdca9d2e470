//! Multicast: groups, replication ids, exclusion.

use crate::movement::device::{Story, World, frame};
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::port::DevPort;
use sluice_asic::tm::MirrorSession;
use sluice_control::{ControlOp, MulticastNode};

/// The packet names both groups, exclusion ids, its own rid, and whether it has a unicast port (`uni` is 1).
/// Egress writes the copy's rid over `group_a` and `egress_rid_first` over `uni`.
const GROUPS: &str = r#"program groups;
header h : ingress { bit<16> group_a; bit<16> group_b; bit<16> xid; bit<16> rid; bit<16> yid; bit<8> uni; bit<8> rest; }
header eg_h : egress { bit<16> group_a; bit<16> group_b; bit<16> xid; bit<16> rid; bit<16> yid; bit<8> uni; bit<8> rest; }
metadata : egress { bit<1> m.first; }
intrinsic : ingress {
    bit<9> ig_tm.ucast_egress_port; bit<16> ig_tm.mcast_grp_a; bit<16> ig_tm.mcast_grp_b;
    bit<16> ig_tm.level1_exclusion_id; bit<9> ig_tm.level2_exclusion_id; bit<16> ig_tm.rid;
}
intrinsic : egress { bit<16> eg.egress_rid; bit<1> eg.egress_rid_first; bit<9> eg.egress_port; }
action groups : ingress () {
    ig_tm.mcast_grp_a = h.group_a;
    ig_tm.mcast_grp_b = h.group_b;
    ig_tm.level1_exclusion_id = h.xid;
    ig_tm.rid = h.rid;
}
action seven : ingress () { ig_tm.level2_exclusion_id = 9w7; }
action unicast : ingress () { ig_tm.ucast_egress_port = 9w8; }
action show : egress () { eg_h.group_a = eg.egress_rid; }
action first : egress () { eg_h.uni = 8w0xff; }
action gone : egress () { eg_h.uni = 8w0x11; }
parser ingress { start = parse_h; state parse_h { extract(h); transition accept; } }
parser egress { start = parse_h; state parse_h { extract(eg_h); transition accept; } }
control ingress {
    call groups;
    if (h.yid == 16w7) { call seven; }
    if (h.uni == 8w1) { call unicast; }
}
control egress {
    call show;
    if (eg.egress_rid_first == 1w1) { call first; }
    if (eg.egress_port == 9w136) { call gone; }
}
deparser ingress { emit(h); }
deparser egress { emit(eg_h); }
"#;

fn node(rid: u16, level1_exclusion: Option<u16>, ports: &[u16]) -> MulticastNode {
    MulticastNode { rid, level1_exclusion, ports: ports.to_vec(), ..Default::default() }
}

pub(crate) fn world() -> World {
    let group = |id, nodes: Vec<MulticastNode>| ControlOp::SetMulticastGroup { id, nodes };
    World::new(&ChipSpec::tofino2(), GROUPS)
        .with(group(5, vec![node(1, None, &[16, 24]), node(2, Some(9), &[16])]))
        .with(group(6, vec![node(3, None, &[32])]))
        .with(group(7, vec![node(4, Some(9), &[40])]))
        .with(ControlOp::SetExclusionPorts { id: 7, ports: vec![24, 32] })
}

/// Groups, level-1 exclusion, rid, level-2 exclusion, unicast.
fn packet(a: u16, b: u16, xid: u16, rid: u16, yid: u16, uni: u8) -> Vec<u8> {
    let mut bytes: Vec<u8> = [a, b, xid, rid, yid].iter().flat_map(|v| v.to_be_bytes()).collect();
    bytes.push(uni);
    bytes.resize(80, 0x33);
    bytes
}

/// Returns the copies: dev_port, rid, first.
fn copies(story: &Story) -> Vec<(u16, u16, bool)> {
    let row = |(port, b): (u16, &[u8])| (port, u16::from_be_bytes([b[0], b[1]]), b[10] == 0xff);
    let mut list: Vec<(u16, u16, bool)> = story.out().into_iter().map(row).collect();
    list.sort_unstable();
    list
}

#[test]
fn every_member_gets_a_copy() {
    let story = world().run(&[frame(8, 0, &packet(5, 6, 0, 0, 0, 0))]);
    assert_eq!(copies(&story), [(16, 1, true), (16, 2, true), (24, 1, false), (32, 3, true)]);
    // n members create n - 1; all leave the deparser at once and wait for nothing but their line.
    assert_eq!((story.totals.made.multicast, story.totals.created, story.totals.sent), (3, 3, 4));
    let entered: Vec<_> = story.passes(Gress::Egress).iter().map(|p| p.cycle.get()).collect();
    assert_eq!(entered.len(), 4);
    // Three ports at once take three slots of the pipe; the second copy of dev_port 16 waits for the first.
    assert_eq!((entered[1] - entered[0], entered[2] - entered[0]), (1, 2));
    assert!(entered[3] > entered[2]);
    // The rest of the packet is shared.
    assert!(story.out().iter().all(|(_, b)| b[12..] == packet(5, 6, 0, 0, 0, 0)[12..]));
}

#[test]
fn a_unicast_port_takes_the_packet_and_members_get_copies() {
    let story = world().run(&[frame(8, 0, &packet(6, 0, 0, 0, 0, 1))]);
    assert_eq!(copies(&story), [(8, 0, false), (32, 3, true)]);
    assert_eq!(story.totals.made.multicast, 1);
}

#[test]
fn exclusion_ids_prune() {
    let w = world();
    // Level 1: nodes with id 9 are left out.
    let story = w.run(&[frame(8, 0, &packet(5, 0, 9, 0, 0, 0))]);
    assert_eq!(copies(&story), [(16, 1, true), (24, 1, false)]);
    // Level 2: ports of id 7, in nodes that have the packet's rid.
    let story = w.run(&[frame(8, 0, &packet(5, 6, 0, 1, 7, 0))]);
    assert_eq!(copies(&story), [(16, 1, true), (16, 2, true), (32, 3, true)]);
    let story = w.run(&[frame(8, 0, &packet(5, 6, 0, 3, 7, 0))]);
    assert_eq!(copies(&story), [(16, 1, true), (16, 2, true), (24, 1, false)]);
    // No member is left, or there is no such group.
    let story = w.run(&[frame(8, 0, &packet(7, 0, 9, 0, 0, 0)), frame(8, 900, &packet(99, 0, 0, 0, 0, 0))]);
    let reasons: Vec<&str> = story.lost.iter().map(|(l, _)| l.reason.name(&w.program)).collect();
    assert_eq!(reasons, ["no_multicast_member"; 2]);
    // Neither port nor group.
    let story = w.run(&[frame(8, 0, &packet(0, 0, 0, 0, 0, 0))]);
    assert_eq!(story.lost[0].0.reason.name(&w.program), "no_egress_port");
}

#[test]
fn storms_do_not_depend_on_batches_and_are_the_same_without_time() {
    let w = world()
        .with(ControlOp::SetMulticastGroup { id: 8, nodes: vec![node(8, None, &[136, 144, 264, 16])] });
    let frames: Vec<_> = (0..70u16)
        .map(|i| {
            let b = packet(
                [5, 8, 0][usize::from(i % 3)],
                [6, 7][usize::from(i % 2)],
                i % 5 + 6,
                i % 4,
                7,
                (i % 2) as u8,
            );
            frame([8, 24, 136][usize::from(i % 3)], 5 * u64::from(i), &b)
        })
        .collect();
    let (timed, functional) = (w.run(&frames), w.run_functional(&frames));
    assert!(timed.totals.made.multicast > 100 && timed.held == 0);
    assert_eq!(timed.totals.made, functional.totals.made);
    let all = |story: &Story| {
        let mut list: Vec<(u64, u16, Vec<u8>)> =
            story.sent.iter().map(|(l, b)| (l.tag, l.egress_port, b.clone())).collect();
        list.sort_unstable();
        list
    };
    assert_eq!(all(&timed), all(&functional));
}

#[test]
fn a_mirror_session_can_go_to_a_group() {
    // A program that mirrors each packet to session 1 and sends it on.
    let text = GROUPS
        .replace(
            "intrinsic : ingress {",
            "metadata : ingress { bit<10> m.session; }\nintrinsic : ingress { bit<4> dprsr.mirror_type;",
        )
        .replace("ig_tm.rid = h.rid;", "ig_tm.rid = h.rid; dprsr.mirror_type = 4w1; m.session = 10w1;")
        .replace("deparser ingress {", "deparser ingress { mirror(1, m.session);");
    let mut w = World::new(&ChipSpec::tofino2(), &text);
    w.control = world().control;
    let port = DevPort::new(48).unwrap();
    let session =
        MirrorSession { groups: [Some(5), None], level1_exclusion: 9, ..MirrorSession::to_port(port) };
    let w = w.with(ControlOp::SetMirrorSession { id: 1, session: Some(session) });
    let story = w.run(&[frame(8, 0, &packet(6, 0, 0, 0, 0, 0))]);
    assert_eq!(copies(&story), [(16, 1, true), (24, 1, false), (32, 3, true), (48, 0, false)]);
    assert_eq!((story.totals.made.mirror, story.totals.made.multicast), (1, 2));
}

#[test]
fn copies_to_the_cpu_are_members_too() {
    let text = GROUPS
        .replace(
            "intrinsic : ingress {",
            "intrinsic : ingress { bit<1> ig_tm.copy_to_cpu; bit<3> ig_tm.icos_for_copy_to_cpu;",
        )
        .replace(
            "action seven : ingress () {",
            "action seven : ingress () { ig_tm.copy_to_cpu = 1w1; ig_tm.icos_for_copy_to_cpu = 3w4;",
        )
        .replace("intrinsic : egress {", "intrinsic : egress { bit<3> eg.egress_cos;")
        .replace("    call show;\n", "    call show;\n    if (eg.egress_cos == 3w4) { call first; }\n");
    let mut w = World::new(&ChipSpec::tofino2(), &text);
    w.control = world().control;
    let cpu = ChipSpec::tofino2().ports.cpu_dev_port as u16;
    // Alone, with a group, with a unicast port; then a program without a port loses nothing.
    for (uni, group, copies_of, made) in [
        (0, 0, vec![(cpu, 0, true)], 0),
        (0, 6, vec![(cpu, 0, true), (32, 3, true)], 1),
        (1, 0, vec![(cpu, 0, true), (8, 0, false)], 1),
    ] {
        for story in [
            w.run(&[frame(8, 0, &packet(group, 0, 0, 0, 7, uni))]),
            w.run_functional(&[frame(8, 0, &packet(group, 0, 0, 0, 7, uni))]),
        ] {
            assert_eq!(copies(&story), copies_of);
            assert_eq!((story.totals.made.multicast, story.totals.dropped), (made, 0));
        }
    }
}
