//! Flow-control words of packets and requests to the packet generator: requests that deparsers of Tofino 2 can make
//! in addition to packets.

use crate::movement::device::{World, frame};
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::pktgen::{AppConfig, Match, Trigger};
use sluice_asic::port::DevPort;
use sluice_asic::tm::{AfcMode, AfcWord};
use sluice_asic::units::{Cycles, Time};
use sluice_control::{ControlOp, DeviceOp};
use sluice_ir::text;
use sluice_ir::verify;
use sluice_switch::GENERATED;

/// Kind 1: the word goes out at ingress; kind 2: at egress; kind 3: at ingress, and the packet is dropped.
const WORDS: &str = r#"program words;
label told = consume;
header h : ingress { bit<8> kind; bit<8> port; bit<32> word; }
header e : egress { bit<8> kind; bit<8> port; bit<32> word; }
intrinsic : ingress { bit<9> ig_tm.ucast_egress_port; bit<32> dprsr.adv_flow_ctl; bit<3> dprsr.drop_ctl; }
intrinsic : egress { bit<32> dprsr.adv_flow_ctl; }
action to : ingress () { ig_tm.ucast_egress_port = cast(h.port, 9); }
action send : ingress () { dprsr.adv_flow_ctl = h.word; }
action last : ingress () { drop(told); }
action send_late : egress () { dprsr.adv_flow_ctl = e.word; }
parser ingress { start = s; state s { extract(h); transition accept; } }
parser egress { start = s; state s { extract(e); transition accept; } }
control ingress {
    call to;
    if (h.kind == 8w1) { call send; } else if (h.kind == 8w3) { call send; call last; }
}
control egress { if (e.kind == 8w2) { call send_late; } }
deparser ingress { emit(h); }
deparser egress { emit(e); }
"#;

fn world(mode: Option<AfcMode>) -> World {
    let mode = ControlOp::Device(DeviceOp::SetFlowControl { port: 24, queue: 0, mode });
    World::new(&ChipSpec::tofino2(), WORDS).with(mode)
}

/// Returns a packet for `port`, with a word for queue 0 of dev_port 24.
fn packet(kind: u8, port: u8, credit: u16) -> Vec<u8> {
    let chip = ChipSpec::tofino2();
    let word = AfcWord::for_queue(&chip, DevPort::new(24).unwrap(), 0, credit).unwrap().encode();
    let mut bytes = vec![kind, port];
    bytes.extend(word.to_be_bytes());
    bytes.resize(100, 0);
    bytes
}

#[test]
fn words_of_either_gress_pause_and_resume_a_queue_after_their_way() {
    for late in [false, true] {
        let (kind, gress) = if late { (2, Gress::Egress) } else { (1, Gress::Ingress) };
        let w = world(Some(AfcMode::Xoff));
        let clock = ChipSpec::tofino2().mau.clock;
        let frames = [
            frame(8, 0, &packet(kind, 16, 1)),
            frame(8, 2_000, &packet(0, 24, 0)),
            frame(8, 9_000, &packet(kind, 16, 0)),
        ];
        let story = w.run(&frames);
        assert_eq!(story.sent.len(), 3);
        let resume = story.passes(gress).into_iter().find(|p| p.tag == 2).unwrap().left;
        let chip = ChipSpec::tofino2();
        let at = resume + clock.span(Cycles(chip.tm.afc_cycles.into()));
        let waited = story.passes(Gress::Egress).into_iter().find(|p| p.tag == 1).unwrap();
        let way = clock.span(Cycles(chip.latency.tm_dequeue.into()));
        let mut edge = clock.first_edge_at_or_after(at + way);
        // The packet that carried the word is in egress too: where it enters at that edge, the queue's is next.
        while story.passes(Gress::Egress).iter().any(|p| p.tag != 1 && p.cycle == edge) {
            edge = Cycles(edge.0 + 1);
        }
        assert_eq!(waited.cycle, edge, "{gress}");
        assert!(waited.entered > Time::from_nanos(9_000));
    }
}

#[test]
fn what_was_dequeued_before_a_pause_leaves() {
    // Sixty packets one after the other on a slow port; the fourth's egress pass pauses its own queue.
    let mut w = world(Some(AfcMode::Xoff));
    w.config.port_speeds = vec![(24, "100G".parse().unwrap())];
    let frames: Vec<_> =
        (0..60u64).map(|i| frame(8, 3 * i, &packet(if i == 3 { 2 } else { 0 }, 24, 1))).collect();
    let story = w.run_as(sluice_switch::Mode::Timed, &frames, Time::from_nanos(50_000));
    assert!(story.busy && story.sent.len() >= 4 && story.sent.len() < 60, "{}", story.sent.len());
    assert_eq!(story.held as usize, 60 - story.sent.len());
    // No other packet was dequeued after the word took effect.
    let chip = ChipSpec::tofino2();
    let (clock, passes) = (chip.mau.clock, story.passes(Gress::Egress));
    let pause =
        passes.iter().find(|p| p.tag == 3).unwrap().left + clock.span(Cycles(chip.tm.afc_cycles.into()));
    let way = clock.span(Cycles(chip.latency.tm_dequeue.into()));
    assert!(passes.iter().all(|p| p.entered <= pause + way + clock.span(Cycles(1))));
}

#[test]
fn credits_let_as_many_cells_pass() {
    let w = world(Some(AfcMode::Credit));
    // 100 bytes are one cell: the queue sends nothing, then three packets, then one more.
    let mut frames: Vec<_> = (0..6u64).map(|i| frame(8, 10 * i, &packet(0, 24, 0))).collect();
    frames.push(frame(8, 5_000, &packet(3, 16, 3)));
    frames.push(frame(8, 20_000, &packet(1, 16, 1)));
    let story = w.run_as(sluice_switch::Mode::Timed, &frames, Time::from_nanos(100_000));
    let times: Vec<u64> = story
        .sent
        .iter()
        .filter(|(l, _)| l.egress_port == 24)
        .map(|(l, _)| l.first_bit.as_nanos() / 5_000)
        .collect();
    assert_eq!(times, [1, 1, 1, 4]);
    assert_eq!((story.totals.absorbed, story.held), (1, 2));
}

#[test]
fn a_queue_without_a_mode_obeys_nothing() {
    let frames = [frame(8, 0, &packet(1, 16, 1)), frame(8, 2_000, &packet(0, 24, 0))];
    let story = world(None).run(&frames);
    assert_eq!((story.sent.len(), story.busy), (2, false));
}

#[test]
fn tofino_has_no_words() {
    let program = text::parse(WORDS).unwrap();
    let findings = verify::for_chip(&program, &ChipSpec::tofino());
    let said: Vec<String> = findings.iter().map(|d| d.text.clone()).collect();
    assert!(
        said.contains(&"`dprsr.adv_flow_ctl` is used, which tofino does not have".to_owned()),
        "{said:?}"
    );
}

/// Kind 1 requests packets from the generator, made of the buffer at the packet's own address; they are sent on port
/// 24.
const ASKS: &str = r#"program asks;
header h : ingress { bit<8> kind; bit<8> line; bit<16> value; }
header made : ingress { bit<8> app; bit<24> batch; bit<16> packet; bit<8> key; bit<8> line; bit<16> value; }
header key : ingress { bit<8> kind; bit<8> line; bit<16> value; }
intrinsic : ingress {
    bit<9> ig.ingress_port; bit<9> ig_tm.ucast_egress_port; bit<1> dprsr.pktgen; bit<14> dprsr.pktgen_address;
    bit<10> dprsr.pktgen_length;
}
action to : ingress () { ig_tm.ucast_egress_port = 9w16; }
action answer : ingress () { ig_tm.ucast_egress_port = 9w24; made.batch = 24w0xcafe; }
action ask : ingress () {
    key.kind = h.kind;
    key.line = h.line;
    key.value = h.value;
    dprsr.pktgen = 1w1;
    dprsr.pktgen_address = cast(h.line, 14);
    dprsr.pktgen_length = 10w48;
}
parser ingress {
    start = s;
    state s { select (ig.ingress_port) { (6) : parse_made; default : parse_h; } }
    state parse_made { extract(made); transition accept; }
    state parse_h { extract(h); transition accept; }
}
control ingress { if (valid(made)) { call answer; } else { call to; if (h.kind == 8w1) { call ask; } } }
deparser ingress { pktgen(1, key); emit(made); emit(h); }
"#;

#[test]
fn a_deparser_asks_for_packets_and_says_of_what() {
    let mut wanted = Match::default();
    (wanted.value[0], wanted.mask[0]) = (1, 0xff);
    let config = AppConfig { copy_key: true, packets: 2, ..AppConfig::new(Trigger::Request(wanted), 0, 6) };
    let pattern: Vec<u8> = (0..128u8).collect();
    let mut w = World::new(&ChipSpec::tofino2(), ASKS)
        .with(ControlOp::Device(DeviceOp::WritePktgenBuffer { pipe: 0, offset: 0, bytes: pattern }))
        .with(ControlOp::Device(DeviceOp::SetPktgenApp { pipe: 0, app: 2, config: Box::new(config) }))
        .with(ControlOp::Device(DeviceOp::EnablePktgenApp { pipe: 0, app: 2, enabled: true }));
    w.lasts = Time::from_nanos(10_000);
    let story = w.run(&[frame(8, 0, &[1, 16, 0xab, 0xcd]), frame(8, 100, &[2, 16, 0, 0])]);
    let made: Vec<&Vec<u8>> = story.sent.iter().filter(|(l, _)| l.tag == GENERATED).map(|(_, b)| b).collect();
    let of = |packet: u8| {
        // Header with the program's mark; the sixteen bytes of the key; bytes 16 to 63 of the buffer.
        let mut bytes = vec![2, 0x00, 0xca, 0xfe, 0, packet, 1, 16, 0xab, 0xcd];
        bytes.resize(22, 0);
        bytes.extend(16..64u8);
        bytes
    };
    assert_eq!(made, [&of(0), &of(1)]);
    assert_eq!((story.totals.made.pktgen, story.totals.sent), (2, 4));
    let said = verify::for_chip(&w.program, &ChipSpec::tofino());
    assert!(
        said.iter().any(|d| d.text.contains("carries header `key`, 4 bytes; tofino takes 0")),
        "{said:?}"
    );
}
