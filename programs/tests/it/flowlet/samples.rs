//! The embedded traces of `drill`, `conga` and `hula` show the state that these programs keep.

use crate::flowlet::device::{Story, run_from, world};
use sluice_asic::chip::ChipSpec;
use sluice_pcaps::capture::CaptureReader;
use sluice_pcaps::samples;
use sluice_switch::SwitchConfig;

/// Frames of a program's sample (ns, front-panel port, bytes), in order of time.
fn frames(program: &str) -> Vec<(u64, u16, Vec<u8>)> {
    let (file, bytes) = samples::of(program);
    let all = std::iter::once((0, file, bytes)).chain(samples::beside(program).iter().copied());
    let (mut list, mut origin) = (Vec::new(), None);
    for (port, file, bytes) in all {
        let mut reader = CaptureReader::from_bytes(bytes, file).unwrap();
        while let Some(frame) = reader.next_frame().unwrap() {
            let origin = *origin.get_or_insert(frame.time);
            let mut bytes = frame.data.to_vec();
            bytes.resize(frame.orig_len as usize, 0);
            list.push((frame.time.ps_since(origin).unwrap() / 1_000, port, bytes));
        }
    }
    list.sort();
    list
}

/// Runs the sample of one program through another one, which may be the same; returns arrival time, ingress port and
/// egress port of each packet.
fn through(sample: &str, program: &str) -> (Vec<(u64, u16, u16)>, Story) {
    let world = world(&ChipSpec::tofino2(), program, &[]);
    let frames = frames(sample);
    let until = frames[frames.len() - 1].0 + 100_000;
    let story = run_from(&world, SwitchConfig::default(), &frames, &[], until);
    let of = |tag: u64| frames.get(tag as usize).map(|(ns, port, _)| (*ns, *port));
    let went = story.sent.iter().filter_map(|(tag, port, _)| of(*tag).map(|(ns, from)| (ns, from, *port)));
    (went.collect(), story)
}

#[test]
fn drill_goes_around_the_queues_that_a_burst_makes() {
    // Three ports send to the first two uplinks; counts packets of port 0 that join these uplinks' queues meanwhile.
    let joined = |program: &str| {
        let (went, story) = through("drill", program);
        assert!(story.lost.iter().all(|(tag, _)| *tag == u64::MAX), "{program}: {:?}", story.lost);
        let meanwhile = went.iter().filter(|(ns, from, _)| *from == 0 && (6_000..10_000).contains(ns));
        let (mut all, mut joined) = (0, 0);
        for (_, _, port) in meanwhile {
            all += 1;
            joined += u32::from(*port < 10);
        }
        assert_eq!(all, 100);
        joined
    };
    let (drill, spray) = (joined("drill"), joined("spray"));
    assert!(spray > 15 && drill < spray / 3, "{drill} {spray}");
}

#[test]
fn conga_leaves_the_uplinks_that_the_other_leaf_tells_of_and_tells_it_of_its_own() {
    let (went, story) = through("conga", "conga");
    let frames = frames("conga");
    // To leaf 1, by round; a flow's first packet.
    let round = |n: u64| -> Vec<(Vec<u8>, u16)> {
        let of = |(tag, port, _): &(u64, u16, u64)| {
            let (ns, from, bytes) = frames.get(*tag as usize)?;
            let ours = *from == 0 && ns / 700_000 == n && bytes[31] == 7;
            ours.then(|| (bytes[26..38].to_vec(), *port))
        };
        let mut flows: Vec<_> = story.sent.iter().filter_map(of).collect();
        flows.sort();
        flows.dedup();
        flows
    };
    let [before, two, third, none] = [0, 1, 2, 3].map(round);
    let used = |round: &[(Vec<u8>, u16)]| -> Vec<u16> {
        let mut ports: Vec<u16> = round.iter().map(|(_, port)| *port).collect();
        ports.sort_unstable();
        ports.dedup();
        ports
    };
    assert_eq!(before.len(), 50, "every flow keeps to one uplink in a round");
    assert_eq!((used(&before), used(&two), used(&third)), (vec![4, 5, 6, 7], vec![6, 7], vec![4, 5, 7]));
    // A flow on one of the least congested uplinks keeps it; if no uplink is congested, all do.
    for (was, is) in before.iter().zip(&two).chain(two.iter().zip(&third)) {
        assert!(was.1 == is.1 || !matches!((was.1, is.1), (7, _)), "{was:?} {is:?}");
    }
    assert_eq!(third, none);
    // The congestion that packets of leaf 1 saw over its second uplink is sent back in packets to leaf 1.
    let told = |bytes: &[u8]| (bytes.len() > 500 && bytes[33] == 1).then(|| (bytes[43] & 3, bytes[45]));
    let mut told: Vec<(u8, u8)> = story.bytes.iter().filter_map(|(_, bytes)| told(bytes)).collect();
    told.sort_unstable();
    told.dedup();
    assert!(told.contains(&(1, 11)) && told.iter().all(|(about, ce)| *about == 1 || *ce == 0), "{told:?}");
    assert!(went.iter().all(|(_, from, port)| *from == 0 || *port == 0), "unwrapped to the host");
}

#[test]
fn hula_follows_its_probes() {
    let (went, _) = through("hula", "hula");
    let by = |from: u64, to: u64| -> Vec<u16> {
        let mut ports: Vec<u16> = went
            .iter()
            .filter(|(ns, in_by, _)| *in_by == 0 && (from * 1_000..to * 1_000).contains(ns))
            .map(|(.., port)| *port)
            .collect();
        assert!(ports.len() > 10);
        ports.sort_unstable();
        ports.dedup();
        ports
    };
    // No probe yet; the first path; the second, which is less used; that is overdue;
    // the first path again.
    assert_eq!(by(0, 99), [4, 5, 6, 7]);
    assert_eq!(by(110, 499), [4]);
    assert_eq!(by(510, 1_499), [5]);
    assert_eq!(by(1_510, 1_699), [4, 5, 6, 7]);
    assert_eq!(by(1_710, 2_500), [4]);
}
