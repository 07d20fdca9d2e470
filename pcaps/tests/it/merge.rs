//! Merging by time: an oracle sort, ties, errors and cut tails of single inputs.

use proptest::prelude::*;
use sluice_pcaps::capture::write::PcapWriter;
use sluice_pcaps::capture::{CaptureReader, CaptureTime};
use sluice_pcaps::merge::Merge;

/// Returns a capture with one frame per timestamp; each frame holds its index.
fn capture(stamps: &[u64]) -> Vec<u8> {
    let mut writer = PcapWriter::new(Vec::new()).unwrap();
    for (index, &stamp) in (0u32..).zip(stamps) {
        writer.write(CaptureTime::from_ns(stamp), &index.to_be_bytes(), &[], 4).unwrap();
    }
    writer.finish().unwrap()
}

fn merge(captures: &[Vec<u8>]) -> Merge<'_> {
    Merge::new(captures.iter().map(|bytes| CaptureReader::from_bytes(bytes, "x").unwrap()).collect())
}

/// Returns timestamp, input and record of every frame up to the end or the first error.
fn order(merge: &mut Merge<'_>) -> (Vec<(u128, usize, u64)>, bool) {
    let mut seen = Vec::new();
    loop {
        match merge.next_frame() {
            Ok(Some((input, frame))) => seen.push((frame.time.as_ns(), input, frame.record)),
            Ok(None) => return (seen, true),
            Err(_) => return (seen, false),
        }
    }
}

#[test]
fn ties_go_by_input() {
    let captures = [capture(&[5, 7]), capture(&[5, 6]), capture(&[])];
    let (seen, ended) = order(&mut merge(&captures));
    assert!(ended);
    assert_eq!(seen, [(5, 0, 1), (5, 1, 1), (6, 1, 2), (7, 0, 2)]);
    assert_eq!(order(&mut Merge::new(Vec::new())), (vec![], true));
}

#[test]
fn a_cut_input_just_ends_and_a_damaged_one_ends_all() {
    let mut cut = capture(&[1, 3]);
    cut.pop();
    let captures = [cut, capture(&[2, 4])];
    let mut merged = merge(&captures);
    assert_eq!(order(&mut merged).0, [(1, 0, 1), (2, 1, 1), (4, 1, 2)]);
    assert!(merged.inputs()[0].truncated().is_some() && merged.inputs()[1].truncated().is_none());

    let mut damaged = capture(&[1, 3]);
    damaged[24 + 20 + 4..24 + 20 + 8].fill(0xff);
    let captures = [damaged, capture(&[2, 4])];
    let mut merged = merge(&captures);
    assert_eq!(order(&mut merged), (vec![(1, 0, 1)], false));
    assert!(merged.next_frame().unwrap().is_none());
}

proptest! {
    #[test]
    fn merging_is_a_stable_sort(mut stamps in prop::collection::vec(prop::collection::vec(0u64..30, 0..20), 0..5)) {
        let mut expected = Vec::new();
        for (input, stamps) in stamps.iter_mut().enumerate() {
            stamps.sort_unstable();
            expected.extend((1u64..).zip(&*stamps).map(|(record, &stamp)| (u128::from(stamp), input, record)));
        }
        expected.sort_unstable();
        let captures: Vec<_> = stamps.iter().map(|stamps| capture(stamps)).collect();
        prop_assert_eq!(order(&mut merge(&captures)), (expected, true));
    }
}
