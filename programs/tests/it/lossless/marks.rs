//! The effect of a mark on a frame, on both engines and both chips: two bits, and the checksum that they change.

use crate::lossless::bench::{Bench, chips, packet};
use proptest::prelude::*;
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_exec::packet::{HeadLayout, PacketStore};
use sluice_exec::pass::{Executor, Pass, PassIn};
use std::sync::OnceLock;

/// An egress pass: frame, queue, depth in cells.
type Case = (Vec<u8>, u8, u32);

fn run(executor: &mut dyn Executor, port: u16, cases: &[Case], batch: usize) -> Vec<Vec<u8>> {
    let mut store = PacketStore::new(HeadLayout::default());
    let mut out = Vec::new();
    for cases in cases.chunks(batch) {
        let input = |qid, deq_qdepth| PassIn { port, qid, deq_qdepth, ..PassIn::default() };
        let pass = |(bytes, qid, depth): &Case| Pass::new(store.insert(bytes, 0), input(*qid, *depth));
        let mut passes: Vec<Pass> = cases.iter().map(pass).collect();
        executor.run(Gress::Egress, &mut passes, &mut store);
        for pass in passes {
            let (head, tail) = store.captured(pass.packet);
            out.push([head, tail].concat());
            store.remove(pass.packet);
        }
    }
    out
}

/// Returns the frames after egress of a port; both engines agree at every batch size, in bytes and in state.
fn egress(bench: &Bench, front: u16, cases: &[Case]) -> Vec<Vec<u8>> {
    let port = bench.port(front).number();
    let mut reference = bench.world.reference();
    bench.settle(&mut reference);
    let wanted = run(&mut reference, port, cases, 1);
    for batch in [1, 7, 64] {
        let mut engine = bench.world.engine();
        bench.settle(&mut engine);
        assert_eq!(run(&mut engine, port, cases, batch), wanted, "batch {batch}");
        assert_eq!(engine.state(), reference.state(), "batch {batch}");
    }
    wanted
}

/// Returns the frame with CE, computed as in RFC 1624: the old sum, the old word, the new word.
fn marked(frame: &[u8]) -> Vec<u8> {
    let mut out = frame.to_vec();
    let at = if frame[12..14] == [0x81, 0x00] { 18 } else { 14 };
    if frame[at - 2..at] == [0x86, 0xdd] {
        out[at + 1] |= 0x30;
        return out;
    }
    let word = |i: usize| u32::from(u16::from_be_bytes([frame[i], frame[i + 1]]));
    let (old, sum) = (word(at), word(at + 10));
    let mut total = (!sum & 0xffff) + (!old & 0xffff) + (old | 3);
    while total > 0xffff {
        total = (total & 0xffff) + (total >> 16);
    }
    out[at + 1] |= 3;
    out[at + 10..at + 12].copy_from_slice(&(!total as u16).to_be_bytes());
    out
}

fn bench(chip: usize) -> &'static Bench {
    static BENCHES: OnceLock<[Bench; 2]> = OnceLock::new();
    // A step at 100 cells on every port: marks depend on no random draw.
    let make = |chip: &ChipSpec| {
        let k = format!("{}", 100 * chip.tm.cell.get());
        let (kmin, kmax) = (format!("kmin={k}"), format!("kmax={k}"));
        Bench::new("ecn-mark", &[&kmin, &kmax, "scaled=false"], chip)
    };
    &BENCHES.get_or_init(|| chips().each_ref().map(make))[chip]
}

/// model: buffer §8.5 rows 49, 51, and the bytes that a mark must not change.
#[test]
fn only_what_understands_ecn_is_marked_and_only_behind_the_step() {
    for chip in [0, 1] {
        let mut cases: Vec<Case> = Vec::new();
        for ecn in 0..4 {
            for (queue, depth) in [(3, 100), (3, 101), (0, 101), (6, 400_000)] {
                cases.push((packet([10, 9, 9, 9], 26, ecn, 7, 90), queue, depth));
            }
        }
        let mut tagged = packet([10, 9, 9, 9], 26, 2, 7, 90);
        tagged.splice(12..12, [0x81, 0x00, 0x60, 0x64]);
        cases.push((tagged, 3, 101));
        // IPv6 with traffic class 0x31 and 0x32: DSCP 12, ECT(1) and ECT(0).
        for class in [0x10, 0x20, 0x00] {
            let mut v6 = vec![0x5a; 80];
            v6[12..16].copy_from_slice(&[0x86, 0xdd, 0x63, class | 0x07]);
            cases.push((v6, 3, 101));
        }
        let mut arp = vec![0; 60];
        arp[12..14].copy_from_slice(&[0x08, 0x06]);
        cases.push((arp, 3, 101));
        let found = egress(bench(chip), 16, &cases);
        for ((frame, queue, depth), found) in cases.iter().zip(&found) {
            let ecn = match frame[12..14] {
                [0x08, 0x00] => frame[15] & 3,
                [0x81, 0x00] => frame[19] & 3,
                [0x86, 0xdd] => frame[15] >> 4 & 3,
                _ => 0,
            };
            let mark = (ecn == 1 || ecn == 2) && *depth > 100 && *queue != 6;
            let wanted = if mark { marked(frame) } else { frame.clone() };
            assert_eq!(found, &wanted, "ecn {ecn} queue {queue} depth {depth}");
        }
    }
}

/// All values of the checksum around zero, valid or not.
#[test]
fn the_checksum_follows_the_mark_from_every_value() {
    let cases: Vec<Case> = (0..=0xffffu32)
        .step_by(251)
        .chain([0, 1, 2, 3, 0xfffd, 0xfffe, 0xffff])
        .flat_map(|sum| [1, 2].map(|ecn| (sum, ecn)))
        .map(|(sum, ecn)| {
            let mut frame = packet([10, 9, 9, 9], 26, ecn, 7, 64);
            frame[24..26].copy_from_slice(&(sum as u16).to_be_bytes());
            (frame, 3, 5_000)
        })
        .collect();
    let found = egress(bench(0), 16, &cases);
    for ((frame, ..), found) in cases.iter().zip(&found) {
        assert_eq!(found, &marked(frame), "{:02x?}", &frame[24..26]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Engines agree on any frame, random draws included; a frame is unchanged or marked.
    #[test]
    fn engines_agree_and_nothing_but_the_mark_changes(
        chip in 0..2usize,
        frames in prop::collection::vec((0..4u8, 0..64u8, 60..400usize, 0..8u8, 0..3_000u32, any::<u16>()), 1..60),
    ) {
        static BENCHES: OnceLock<[Bench; 2]> = OnceLock::new();
        let benches = BENCHES.get_or_init(|| chips().each_ref().map(|chip| Bench::new("ecn-mark", &[], chip)));
        let cases: Vec<Case> = frames
            .iter()
            .map(|&(ecn, dscp, len, queue, depth, id)| (packet([10, 9, 9, 9], dscp, ecn, id, len), queue, depth))
            .collect();
        for ((frame, ..), found) in cases.iter().zip(egress(&benches[chip], 20, &cases)) {
            let ect = matches!(frame[15] & 3, 1 | 2);
            prop_assert!(found == *frame || ect && found == marked(frame));
        }
    }
}
