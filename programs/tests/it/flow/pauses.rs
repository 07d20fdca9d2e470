//! PFC in and out of the device.

use crate::flow::aim::{config, line, packet, pfc, port, switch, train, world};
use crate::switch::world::{Frame, Recorder, Seen, drain, run};
use sluice_asic::tm::buffer::Reader;
use sluice_asic::units::{Cells, Time};

/// 400G: a quantum is 1.28 ns; the reaction bound is 905 of them.
const QUANTUM: u64 = 1_280;
const REACTION: u64 = 905 * QUANTUM;

fn dequeued(seen: &Recorder) -> Vec<(u8, u64)> {
    let of = |s: &Seen| match s {
        Seen::Dequeued(e) => Some((e.qid, e.time.as_ps())),
        _ => None,
    };
    seen.seen.iter().filter_map(of).collect()
}

/// A pause of 0xffff quanta holds only its priority's queue, and ends without a resume frame
/// (model: buffer §8.3 row 28).
#[test]
fn a_received_pause_holds_its_queue() {
    let mut frames = vec![Frame::new(9, 0, pfc(0x08, 0xffff))];
    let last_bit = 64 * 20;
    let effect = last_bit + REACTION;
    frames.extend(train(0, effect, 5, &packet(9, 3, 0, 1000)));
    frames.extend(train(1, effect, 5, &packet(9, 0, 0, 1000)));
    frames.sort_by_key(|f| f.ps);
    let mut device = switch(config(&[]));
    let seen = run(world(), &mut device, &frames, 3);
    let end = effect + 0xffff * QUANTUM;
    let times = |queue: u8| dequeued(&seen).into_iter().filter(move |(q, _)| *q == queue).map(|(_, t)| t);
    assert_eq!((times(3).count(), times(1).count()), (5, 5));
    assert!(times(1).all(|t| t < end / 2));
    // A ps after the pause's end.
    assert_eq!(times(3).min(), Some(end + 1));
    let view = device.flow(device.time()).unwrap();
    let own = view.ports.iter().find(|p| p.name == "9").unwrap();
    let stats = own.received[3];
    assert_eq!((stats.frames, stats.pauses, stats.resumes, own.paused_quanta[3]), (1, 1, 1, 0xffff));
    assert_eq!((device.totals().mac_control, device.totals().absorbed, device.totals().received), (1, 1, 11));
}

/// Rows 27, 29, 31, 32: frames that replace a pause, end it, or are no pause.
#[test]
fn pauses_are_replaced_and_ended() {
    let first = |frames: Vec<Frame>| {
        let mut all = frames;
        all.extend(train(0, 2 * REACTION, 1, &packet(9, 3, 0, 1000)));
        all.sort_by_key(|f| f.ps);
        let mut device = switch(config(&[]));
        dequeued(&run(world(), &mut device, &all, 1))[0].1
    };
    let free = first(Vec::new());
    let effect = 64 * 20 + REACTION;
    let at = 20_000 * QUANTUM;
    assert_eq!(
        first(vec![Frame::new(9, 0, pfc(0x08, 60_000)), Frame::new(9, at, pfc(0x08, 5_000))]),
        effect + at + 5_000 * QUANTUM + 1
    );
    assert_eq!(
        first(vec![Frame::new(9, 0, pfc(0x08, 60_000)), Frame::new(9, at, pfc(0x08, 0))]),
        effect + at + 1
    );
    assert_eq!(first(vec![Frame::new(9, 0, pfc(0x10, 60_000))]), free);
    let mut disabled = pfc(0x08, 60_000);
    disabled[17] = 0;
    assert_eq!(first(vec![Frame::new(9, 0, disabled)]), free);
    let mut pause = pfc(0x08, 60_000);
    pause[14] = 0x00;
    assert_eq!(first(vec![Frame::new(9, 0, pause)]), free);
    // A lossy priority is not honoured; with asymmetric PFC it is.
    let lossy = |changes: &[(&str, &str)]| {
        let mut frames = vec![Frame::new(9, 0, pfc(0x02, 60_000))];
        frames.extend(train(0, 2 * REACTION, 1, &packet(9, 0, 0, 1000)));
        let mut device = switch(config(changes));
        dequeued(&run(world(), &mut device, &frames, 1))[0].1
    };
    assert_eq!(lossy(&[]), free);
    let asymmetric = ("pfc_enable = \"3-4\"", "pfc_enable = \"3-4\"\npfc = { asymmetric = true }");
    assert_eq!(lossy(&[asymmetric]), effect + 60_000 * QUANTUM + 1);
}

/// Rows 26 and 27 on the wire: an overloaded group requests a pause, refreshes it, and at last ends it.
#[test]
fn an_overloaded_group_pauses_its_sender() {
    let mut device = switch(config(&[(
        "ingress_lossless_pool\"\ndirection = \"ingress\"\nclass = \"lossless\"\nsize = \"43067728B\"",
        "ingress_lossless_pool\"\ndirection = \"ingress\"\nclass = \"lossless\"\nsize = \"1760000B\"",
    )]));
    device.block(port(9), true).unwrap();
    let mut seen = Recorder::default();
    // 10,000 cells: with alpha 2 the group is paused at 6,666 shared and 19 reserved cells, 6 per packet.
    let frames = train(0, 0, 1300, &packet(9, 3, 0, 1000));
    for (tag, f) in (0..).zip(&frames) {
        let rx = sluice_switch::RxFrame { bytes: &f.bytes, orig_len: f.bytes.len() as u32, tag };
        device.rx(port(0), Time::from_ps(f.ps), rx).unwrap();
        device.advance(Time::from_ps(f.ps), &mut seen).unwrap();
    }
    let half = 0xffff * QUANTUM / 2;
    device.advance(Time::from_ps(frames[1299].ps + 3 * half / 2), &mut seen).unwrap();
    let view = device.flow(device.time()).unwrap();
    let group = view.buffer.group(0, 3).unwrap();
    assert!(group.is_xoff());
    assert_eq!((group.reserved(), group.shared().current()), (Cells(19 - 19 % 6 + 1), Cells(6_665)));
    assert_eq!(group.headroom().watermark(Reader::User).get(), 1300 * 6 - 6_665 - 19);
    device.block(port(9), false).unwrap();
    drain(&mut device, &mut seen);
    let control: Vec<_> = seen.sent().filter(|(left, _)| left.tag == u64::MAX).collect();
    let (first, last) = (control[0], control[control.len() - 1]);
    let mut expected = pfc(0x08, 0xffff);
    expected[6..12].copy_from_slice(&[2, 0, 0, 0, 0, port(0).number() as u8]);
    assert_eq!((first.0.egress_port, first.1), (port(0).number(), &expected[..]));
    expected[24..26].copy_from_slice(&[0, 0]);
    assert_eq!(last.1, &expected[..]);
    // The first pause, one or two refreshes while blocked, the resume.
    let gaps: Vec<u64> =
        control.windows(2).map(|w| w[1].0.first_bit.as_ps() - w[0].0.first_bit.as_ps()).collect();
    assert!(control.len() >= 3 && gaps[0].abs_diff(half) < line(1000), "{gaps:?}");
    let totals = device.totals();
    assert_eq!(
        (totals.made.pfc, totals.created, totals.dropped),
        (control.len() as u64, control.len() as u64, 0)
    );
    assert!(device.is_conserved() && device.held().total() == 0);
    // Nothing is left charged or paused.
    let view = device.flow(device.time()).unwrap();
    assert_eq!(view.buffer.total().current(), Cells::ZERO);
    assert!(view.buffer.all_groups().all(|(_, _, g)| !g.is_xoff()));
}

/// Without a sender that obeys, headroom overflows, and the drop reason says so; lossy packets are dropped at egress.
#[test]
fn drops_name_their_rule() {
    let small =
        [("size = \"43067728B\"", "size = \"440000B\""), ("size = \"3153920B\"", "size = \"354304B\"")];
    let mut frames = Vec::new();
    for from in [0, 1, 2] {
        frames.extend(train(from, 0, 3000, &packet(9, 3, 0, 1000)));
        frames.extend(train(from + 4, 0, 6000, &packet(10, 0, 0, 1000)));
    }
    frames.sort_by_key(|f| f.ps);
    let mut device = switch(config(&small));
    let seen = run(world(), &mut device, &frames, 64);
    let mut names: Vec<&str> = seen.lost().map(|l| l.reason.name(&world().program)).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names, ["headroom_pool", "queue_shared"]);
    let lossless_egress = device.flow(device.time()).unwrap().buffer.queue(9, 3).unwrap().dropped().packets;
    assert_eq!(lossless_egress, 0);
}

/// Results do not depend on the size of batches.
#[test]
fn batches_do_not_matter() {
    let mut frames = Vec::new();
    for from in [0, 1, 8] {
        frames.extend(train(from, u64::from(from) * 77, 400, &packet(9, 3, 2, 700)));
        frames.extend(train(from + 2, 0, 400, &packet(9, 0, 1, 300)));
    }
    for n in 0..20u64 {
        frames.push(Frame::new(9, n * 3_000_000, pfc(0x18, if n % 3 == 2 { 0 } else { 900 })));
    }
    frames.sort_by_key(|f| (f.ps, f.front));
    let small = [
        ("size = \"43067728B\"", "size = \"220000B\""),
        ("kmin = \"1048576B\"", "kmin = \"20000B\""),
        ("kmax = \"2097152B\"", "kmax = \"200000B\""),
    ];
    let runs: Vec<Recorder> = [1, 7, 64]
        .map(|max_batch| {
            let mut device = switch(sluice_switch::SwitchConfig { max_batch, ..config(&small) });
            run(world(), &mut device, &frames, 5).sorted()
        })
        .into();
    assert!(runs[0].sent().any(|(left, _)| left.tag == u64::MAX));
    assert!(runs[0] == runs[1] && runs[1] == runs[2]);
}
