//! Mirror copies and digests.

use crate::movement::device::{World, frame};
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::port::DevPort;
use sluice_asic::tm::{MirrorOverrides, MirrorSession};
use sluice_asic::units::{Cycles, Time};
use sluice_control::ControlOp;
use sluice_switch::SwitchError;

/// Packets are bridged with source 1; copies of ingress have source 2, of egress source 3. Egress sends bridged
/// packets without their bridge, and copies whole. Bits of `h.kind`: 1 mirrors at ingress, 2 drops there, 4 mirrors
/// at egress, 8 drops there, 16 makes a digest.
const MIRRORS: &str = r#"program mirrors;
header bridge : ingress { bit<8> source; bit<8> kind; }
header im : ingress { bit<8> source; bit<8> value; bit<16> port; }
header note : ingress { bit<8> value; bit<32> more; }
header h : ingress { bit<8> kind; bit<8> value; bit<16> rest; }
metadata : ingress { bit<10> m.session; }
intrinsic : ingress {
    bit<9> ig_tm.ucast_egress_port; bit<3> dprsr.drop_ctl; bit<4> dprsr.mirror_type; bit<3> dprsr.digest_type;
    bit<3> ig_tm.ingress_cos;
}
header eg_bridge : egress { bit<8> source; bit<8> kind; }
header eg_h : egress { bit<8> kind; bit<8> value; bit<16> rest; }
header em : egress { bit<8> source; bit<8> depth; }
header tag : egress { bit<8> a; bit<8> b; }
metadata : egress { bit<10> e.session; }
intrinsic : egress { bit<3> dprsr.drop_ctl; bit<4> dprsr.mirror_type; bit<3> eg.egress_cos; bit<9> eg.egress_port; }
label unwanted = drop;
label late = drop;
action bridged : ingress () {
    set_valid(bridge); bridge.source = 8w1; bridge.kind = h.kind; ig_tm.ucast_egress_port = 9wOUT;
    ig_tm.ingress_cos = 3w5;
}
action mirror_in : ingress () {
    dprsr.mirror_type = 4w1; m.session = 10w3; im.source = 8w2; im.value = h.value; im.port = 16w0xabcd;
}
action learn : ingress () { dprsr.digest_type = 3w2; note.value = h.value; note.more = 32w0x01020304; }
action discard : ingress () { drop(unwanted); }
action edit : ingress () { h.value = 8w0x99; }
action mirror_out : egress () {
    dprsr.mirror_type = 4w2; e.session = 10w4; em.source = 8w3; em.depth = 8w0x44;
}
action eg_discard : egress () { drop(late); }
action eg_edit : egress () { eg_h.rest = 16w0xbeef; set_valid(tag); tag.a = 8w0x0a; tag.b = 8w0x0b; }
parser ingress { start = parse_h; state parse_h { extract(h); transition accept; } }
parser egress {
    start = by_source;
    state by_source {
        extract(eg_bridge);
        select (eg_bridge.source) { (1) : parse_h; default : accept; }
    }
    state parse_h { extract(eg_h); transition accept; }
}
control ingress {
    call bridged;
    if (h.kind[0:0] == 1w1) { call mirror_in; }
    if (h.kind[4:4] == 1w1) { call learn; }
    if (h.kind[1:1] == 1w1) { call discard; }
    call edit;
}
control egress {
    if (valid(eg_h)) {
        if (eg_bridge.kind[2:2] == 1w1) { call mirror_out; }
        if (eg_bridge.kind[3:3] == 1w1) { call eg_discard; }
        if (eg.egress_cos == 3w5) { call eg_edit; }
    }
}
deparser ingress {
    mirror(1, m.session, im);
    digest(2, note);
    emit(bridge);
    emit(h);
}
deparser egress {
    mirror(2, e.session, em);
    emit(tag);
    emit(eg_h);
}
"#;

fn world(chip: &ChipSpec) -> World {
    let out = if chip.name == "tofino" { "4" } else { "16" };
    World::new(chip, &MIRRORS.replace("OUT", out))
}

/// Ports of the copies: of ingress (session 3) in another pipe, of egress (session 4).
fn ports(chip: &ChipSpec) -> [u16; 3] {
    if chip.name == "tofino" { [4, 128, 8] } else { [16, 136, 24] }
}

fn session(id: u16, port: u16, max_length: u16) -> ControlOp {
    let port = DevPort::new(port).unwrap();
    let session = MirrorSession { max_length, qid: 1, cos: 6, ..MirrorSession::to_port(port) };
    ControlOp::SetMirrorSession { id, session: Some(session) }
}

pub(crate) fn set_up(chip: &ChipSpec) -> World {
    let [_, i, e] = ports(chip);
    world(chip).with(session(3, i, u16::MAX)).with(session(4, e, u16::MAX))
}

fn bytes(kind: u8, len: usize) -> Vec<u8> {
    let mut list = vec![kind, 0x21, 0x12, 0x34];
    list.extend((4..len).map(|i| i as u8));
    list
}

/// The packet as egress sends it.
fn edited(kind: u8, len: usize) -> Vec<u8> {
    let mut list = bytes(kind, len);
    list[1] = 0x99;
    list[2..4].copy_from_slice(&[0xbe, 0xef]);
    [&[0x0a, 0x0b][..], &list].concat()
}

fn chips() -> [ChipSpec; 2] {
    [ChipSpec::tofino2(), ChipSpec::tofino()]
}

#[test]
fn an_ingress_copy_is_of_what_came_in() {
    for chip in chips() {
        let [out, copy, _] = ports(&chip);
        let story = set_up(&chip).run(&[frame(8, 0, &bytes(1, 600))]);
        // Egress takes the first two bytes of the copy for a bridge with source 2 and does not emit them.
        let of_copy = [&[0xab, 0xcd][..], &bytes(1, 600)].concat();
        let mut found = story.out();
        found.sort_unstable();
        let mut expected = [(out, edited(1, 600)), (copy, of_copy)];
        expected.sort_unstable();
        assert_eq!(found, expected.iter().map(|(p, b)| (*p, &**b)).collect::<Vec<_>>());
        assert_eq!((story.totals.created, story.totals.made.mirror, story.totals.sent), (1, 1, 2));
        // The copy takes the same time to the traffic manager, and keeps the packet's name and arrival.
        let left = story.passes(Gress::Ingress)[0].left;
        let wait = chip.mau.clock.span(Cycles((chip.latency.tm_enqueue + chip.latency.tm_dequeue).into()));
        for pass in story.passes(Gress::Egress) {
            assert_eq!((pass.tag, pass.cycle), (0, chip.mau.clock.first_edge_at_or_after(left + wait)));
        }
        let queues: Vec<(u16, u8)> = story.sent.iter().map(|(l, _)| (l.egress_port, l.qid)).collect();
        assert!(queues.contains(&(copy, 1)) && queues.contains(&(out, 0)));
    }
}

#[test]
fn dropped_packets_are_copied_too() {
    for chip in chips() {
        let [_, copy, eg_copy] = ports(&chip);
        let w = set_up(&chip);
        let story = w.run(&[frame(8, 0, &bytes(3, 80)), frame(8, 1000, &bytes(4 + 8, 80))]);
        // The second is copied as it would have been sent; `em` is in front and is taken for a bridge.
        let ingress = [&[0xab, 0xcd][..], &bytes(3, 80)].concat();
        let (ingress, egress) = ((copy, &*ingress), (eg_copy, &*edited(12, 80)));
        assert_eq!(story.out(), [ingress, egress]);
        let reasons: Vec<&str> = story.lost.iter().map(|(l, _)| l.reason.name(&w.program)).collect();
        assert_eq!(reasons, ["unwanted", "late"]);
        assert_eq!(story.lost[0].1, bytes(3, 80));
        assert_eq!((story.totals.received, story.totals.created, story.totals.sent), (2, 2, 2));
    }
}

#[test]
fn sessions_cut_copies_and_can_be_off() {
    let chip = ChipSpec::tofino2();
    let [out, copy, _] = ports(&chip);
    for (max_length, left) in [(64u16, 62usize), (300, 298), (1000, 602), (6, 4)] {
        let story = world(&chip).with(session(3, copy, max_length)).run(&[frame(8, 0, &bytes(1, 600))]);
        let whole = [&[0xab, 0xcd][..], &bytes(1, 600)].concat();
        let found = story.sent.iter().find(|(l, _)| l.egress_port == copy).unwrap();
        assert_eq!(found.1, whole[..left], "{max_length}");
        // The packet itself is whole: bytes are shared, lengths are not.
        let found = story.sent.iter().find(|(l, _)| l.egress_port == out).unwrap();
        assert_eq!(found.1, edited(1, 600));
    }
    let w = world(&chip);
    let story = w.run(&[frame(8, 0, &bytes(1, 100))]);
    assert_eq!(story.lost[0].0.reason.name(&w.program), "mirror_session_off");
    assert_eq!((story.totals.sent, story.totals.created, story.totals.dropped), (1, 1, 1));
}

#[test]
fn sessions_change_at_a_time() {
    let chip = ChipSpec::tofino2();
    let mut w = world(&chip);
    w.later.push((Time::from_nanos(2000), session(3, ports(&chip)[1], u16::MAX)));
    w.later.push((Time::from_nanos(4000), ControlOp::SetMirrorSession { id: 3, session: None }));
    let frames: Vec<_> = (0..6).map(|i| frame(8, 1000 * i, &bytes(1, 60))).collect();
    let story = w.run(&frames);
    let copies = story.sent.iter().filter(|(l, _)| l.egress_port == ports(&chip)[1]).map(|(l, _)| l.tag);
    assert_eq!(copies.collect::<Vec<_>>(), [2, 3]);
    assert_eq!((story.totals.made.mirror, story.lost.len()), (6, 4));
}

#[test]
fn digests_go_to_the_control_plane() {
    for chip in chips() {
        let story = set_up(&chip).run(&[frame(8, 0, &bytes(16, 60)), frame(8, 500, &bytes(18, 60))]);
        let told: Vec<(u64, u8, &[u8])> = story.digests.iter().map(|(d, b)| (d.tag, d.kind, &**b)).collect();
        let expected: &[u8] = &[0x21, 1, 2, 3, 4];
        assert_eq!(told, [(0, 2, expected), (1, 2, expected)]);
        assert_eq!(story.digests[0].0.time, story.passes(Gress::Ingress)[0].left);
        let t = &story.totals;
        assert_eq!((t.created, t.made.digest, t.absorbed, t.sent, t.dropped), (2, 2, 2, 1, 1));
    }
}

#[test]
fn without_time_copies_and_digests_are_the_same() {
    let chip = ChipSpec::tofino2();
    let frames: Vec<_> =
        (0..32).map(|i| frame(8, 3000 * u64::from(i), &bytes(i, 60 + 20 * usize::from(i)))).collect();
    let w = set_up(&chip);
    let (timed, functional) = (w.run(&frames), w.run_functional(&frames));
    let sorted = |story: &crate::movement::device::Story| {
        let mut list: Vec<(u64, u16, Vec<u8>)> =
            story.sent.iter().map(|(l, b)| (l.tag, l.egress_port, b.clone())).collect();
        list.sort_unstable();
        list
    };
    assert_eq!(sorted(&timed), sorted(&functional));
    assert_eq!(
        (timed.totals.made, timed.totals.dropped),
        (functional.totals.made, functional.totals.dropped)
    );
    assert_eq!(timed.digests.len(), 16);
    // Close together: other times, other queues, the same at every batch size.
    let close: Vec<_> =
        (0..90).map(|i| frame(8, 8 * u64::from(i), &bytes(i % 32, 60 + 9 * usize::from(i)))).collect();
    assert_eq!(w.run(&close).held, 0);
}

#[test]
fn impossible_sessions_and_groups_are_refused() {
    let chip = ChipSpec::tofino2();
    let ops = [
        (
            session(256, 16, 64),
            "mirror session 256 does not exist; this chip has 256 sessions, numbered from 0",
        ),
        (
            session(3, 300, 64),
            "mirror session 3 names dev_port 300, which the switch does not have; compare it with the port map",
        ),
        (
            ControlOp::SetMulticastGroup { id: 0, nodes: Vec::new() },
            "multicast group 0 means \"no group\" in a packet and cannot be set; number groups from 1",
        ),
        (
            ControlOp::SetExclusionPorts { id: 512, ports: vec![] },
            "level-2 exclusion id 512 is too large; expected 0 to 511",
        ),
    ];
    for (op, text) in ops {
        let error: SwitchError = world(&chip).switch().apply(op).unwrap_err();
        assert_eq!(error.to_string(), text);
    }
}

/// Each packet is mirrored once; the copy recirculates forever.
const TIMER: &str = r#"program timer;
header h : ingress { bit<8> kind; bit<8> value; }
header em : ingress { bit<8> kind; bit<8> value; }
metadata : ingress { bit<10> m.session; }
intrinsic : ingress { bit<9> ig_tm.ucast_egress_port; bit<4> dprsr.mirror_type; bit<1> dprsr.mirror_io_select; }
action start : ingress () {
    dprsr.mirror_type = 4w1; m.session = 10w2; em.kind = 8w7; em.value = h.value; ig_tm.ucast_egress_port = 9w16;
    dprsr.mirror_io_select = 1w1; h.value = 8w0x55;
}
action around : ingress () { ig_tm.ucast_egress_port = 9w6; h.value = add(h.value, 8w1); }
parser ingress { start = parse_h; state parse_h { extract(h); transition accept; } }
control ingress { if (h.kind == 8w7) { call around; } else { call start; } }
deparser ingress { mirror(1, m.session, em); emit(h); }
"#;

#[test]
fn a_run_does_not_wait_for_timers() {
    let w = World::new(&ChipSpec::tofino2(), TIMER).with(session(2, 6, 64));
    let story = w.run(&[frame(8, 0, &bytes(1, 100))]);
    assert!(!story.busy, "the timer still goes around, nothing else is inside");
    assert_eq!((story.totals.sent, story.totals.created, story.held), (1, 1, 1));
    // It counts as a timer from its eighth recirculation on, its making included; the packet was sent long before.
    assert_eq!(story.totals.recirculated, 7);
    // Its making counts as a recirculation, too. It is a copy of the sent packet: `value` after the mirror header is
    // edited.
    let story = w.run_functional(&[frame(8, 0, &bytes(1, 100))]);
    assert_eq!(story.lost[0].1[..4], [7, 0x21 + 63, 1, 0x55]);
    assert_eq!(story.lost[0].1.len(), 64);
}

/// The packet says where its copy goes.
const OVERRIDES: &str = r#"program overrides;
header h : ingress { bit<8> kind; bit<8> value; bit<16> port; }
metadata : ingress { bit<10> m.session; }
intrinsic : ingress {
    bit<9> ig_tm.ucast_egress_port; bit<4> dprsr.mirror_type; bit<9> dprsr.mirror_egress_port;
    bit<7> dprsr.mirror_qid; bit<3> dprsr.mirror_ingress_cos; bit<1> dprsr.mirror_multicast_ctrl;
}
action copy : ingress () {
    dprsr.mirror_type = 4w9; m.session = 10w2; ig_tm.ucast_egress_port = 9w16;
    dprsr.mirror_egress_port = 9w136; dprsr.mirror_qid = 7w3; dprsr.mirror_ingress_cos = 3w2;
}
action groups : ingress () { dprsr.mirror_multicast_ctrl = 1w1; }
parser ingress { start = parse_h; state parse_h { extract(h); transition accept; } }
control ingress { call copy; if (h.kind == 8w1) { call groups; } }
deparser ingress { mirror(9, m.session); emit(h); }
"#;

#[test]
fn packets_replace_what_their_session_lets_them() {
    let port = DevPort::new(24).unwrap();
    let plain = MirrorSession { qid: 1, groups: [Some(5), None], ..MirrorSession::to_port(port) };
    let with = |overrides| {
        let nodes = vec![sluice_control::MulticastNode { ports: vec![32], ..Default::default() }];
        let session = Some(MirrorSession { overrides, ..plain });
        World::new(&ChipSpec::tofino2(), OVERRIDES)
            .with(ControlOp::SetMirrorSession { id: 2, session })
            .with(ControlOp::SetMulticastGroup { id: 5, nodes })
    };
    let copies = |overrides: MirrorOverrides, kind: u8| {
        let story = with(overrides).run(&[frame(8, 0, &bytes(kind, 60))]);
        let mut list: Vec<(u16, u8)> = story.sent.iter().map(|(l, _)| (l.egress_port, l.qid)).collect();
        list.retain(|(port, _)| *port != 16);
        list.sort_unstable();
        list
    };
    let none = MirrorOverrides::default();
    assert_eq!(copies(none, 0), [(24, 1), (32, 1)]);
    let multicast = MirrorOverrides { multicast: true, ..none };
    assert_eq!((copies(multicast, 0), copies(multicast, 1)), (vec![(24, 1)], vec![(24, 1), (32, 1)]));
    let port = MirrorOverrides { port: true, multicast: true, ..none };
    assert_eq!(copies(port, 0), [(136, 3)]);
}

/// Every egress packet is copied, copies too.
const CHAIN: &str = r#"program chain;
metadata : egress { bit<10> e.session; }
intrinsic : ingress { bit<9> ig_tm.ucast_egress_port; }
intrinsic : egress { bit<4> dprsr.mirror_type; }
action forward : ingress () { ig_tm.ucast_egress_port = 9w16; }
action copy : egress () { dprsr.mirror_type = 4w1; e.session = 10w2; }
control ingress { call forward; }
control egress { call copy; }
deparser egress { mirror(1, e.session); }
"#;

#[test]
fn copies_of_copies_end_without_time_and_go_on_with_it() {
    let w = World::new(&ChipSpec::tofino(), CHAIN).with(session(2, 8, u16::MAX));
    let story = w.run_functional(&[frame(4, 0, &bytes(0, 60)), frame(4, 50, &bytes(0, 60))]);
    assert_eq!((story.totals.sent, story.totals.created, story.totals.dropped), (130, 130, 2));
    assert_eq!(story.lost[0].0.reason.name(&w.program), "too_many_laps");
    // With time, copies of a copy are timers in the end: nothing waits for them.
    let story = w.run(&[frame(4, 0, &bytes(0, 60))]);
    assert!(story.totals.created >= 8 && !story.busy, "{:?}", story.totals);
}

#[test]
fn egress_copies_what_came_in_if_it_says_so() {
    let chip = ChipSpec::tofino2();
    let text = MIRRORS
        .replace("OUT", "16")
        .replace("bit<3> eg.egress_cos;", "bit<3> eg.egress_cos; bit<1> dprsr.mirror_io_select;");
    let w = World::new(&chip, &text).with(session(4, 24, u16::MAX));
    let story = w.run(&[frame(8, 0, &bytes(4, 300))]);
    // With its bridge, as ingress left it: `em` in front was taken for a bridge and is gone.
    let mut incoming = [&[1, 4][..], &bytes(4, 300)].concat();
    incoming[3] = 0x99;
    let copy = story.sent.iter().find(|(l, _)| l.egress_port == 24).unwrap();
    assert_eq!(copy.1, incoming);
    let packet = story.sent.iter().find(|(l, _)| l.egress_port == 16).unwrap();
    assert_eq!(packet.1, edited(4, 300));
}
