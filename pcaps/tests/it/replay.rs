//! Order and times of the frames of a replay: ports, turns, limits, errors.

use crate::support::Order;
use sluice_pcaps::capture::{CaptureReader, Oddity};
use sluice_pcaps::replay::{Feed, Pace, Port, Schedule};

const LITTLE: Order = Order { big: false };
const G400: u64 = 400_000_000_000;

/// Returns a nanosecond capture of 60-byte frames with these timestamps.
fn capture(stamps: &[u32]) -> Vec<u8> {
    let mut bytes = LITTLE.pcap_header(0xa1b2_3c4d, 0, 1);
    for &ns in stamps {
        bytes.extend(LITTLE.pcap_record(100, ns, &[ns as u8; 60], 60));
    }
    bytes
}

fn feed<'a>(captures: &'a [Vec<u8>], ports: &[(&[usize], u64)], schedule: Schedule) -> Feed<'a> {
    let ports = ports.iter().map(|(inputs, line)| Port { inputs: inputs.to_vec(), line: *line }).collect();
    let open = |input: usize| CaptureReader::from_bytes(&captures[input], format!("input {input}"));
    Feed::new(ports, schedule, Box::new(open)).unwrap()
}

/// Returns port, turn, time and first byte of every frame sent.
fn sent(feed: &mut Feed<'_>) -> Vec<(usize, u64, u64, u8)> {
    let mut list = Vec::new();
    while let Some(s) = feed.next_frame().unwrap() {
        list.push((s.port, s.turn, s.time, s.frame.data[0]));
    }
    assert_eq!(feed.sent(), list.len() as u64);
    list
}

#[test]
fn time_zero_is_the_earliest_stamp_of_all_inputs() {
    let captures = [capture(&[30, 50]), capture(&[10, 40])];
    let mut feed = feed(&captures, &[(&[0], G400), (&[1], G400)], Schedule::default());
    assert_eq!(feed.origin().as_ns(), 100_000_000_010);
    assert_eq!(sent(&mut feed), [(1, 0, 0, 10), (0, 0, 20_000, 30), (1, 0, 30_000, 40), (0, 0, 40_000, 50)]);
}

#[test]
fn two_captures_share_a_line() {
    let captures = [capture(&[0, 10]), capture(&[0])];
    let mut feed = feed(&captures, &[(&[0, 1], G400)], Schedule::default());
    let times: Vec<_> =
        std::iter::from_fn(|| feed.next_frame().unwrap().map(|s| (s.input, s.time, s.delay))).collect();
    assert_eq!(times, [(0, 0, 0), (1, 1_680, 1_680), (0, 10_000, 0)]);
    assert_eq!(feed.reports().iter().map(|r| r.packets).collect::<Vec<_>>(), [2, 1]);
}

#[test]
fn ports_at_line_rate_do_not_wait_for_each_other() {
    let captures = [capture(&[0, 1, 2, 3]), capture(&[0, 1])];
    let schedule = Schedule { pace: Pace::LineRate, ..Schedule::default() };
    let mut feed = feed(&captures, &[(&[0], G400), (&[1], G400 / 2)], schedule);
    let times: Vec<_> = sent(&mut feed).iter().map(|s| (s.0, s.2)).collect();
    assert_eq!(times, [(0, 0), (1, 0), (0, 1_680), (0, 3_360), (1, 3_360), (0, 5_040)]);
}

#[test]
fn turns_follow_stamps_together_and_rates_alone() {
    let captures = [capture(&[0, 10]), capture(&[4])];
    let twice = Schedule { turns: 2, ..Schedule::default() };
    let seen: Vec<_> = sent(&mut feed(&captures, &[(&[0], G400), (&[1], G400)], twice))
        .iter()
        .map(|s| (s.0, s.1, s.2))
        .collect();
    // The second turn begins when the last frame has left the line: 10 ns and 84 B.
    let base = 11_680;
    assert_eq!(
        seen,
        [(0, 0, 0), (1, 0, 4_000), (0, 0, 10_000), (0, 1, base), (1, 1, base + 4_000), (0, 1, base + 10_000)]
    );
    let rate = Schedule { pace: Pace::Packets(1_000_000_000), turns: 3, ..Schedule::default() };
    let seen: Vec<_> =
        sent(&mut feed(&captures, &[(&[0], 0), (&[1], 0)], rate)).iter().map(|s| (s.0, s.1, s.2)).collect();
    assert_eq!(
        seen,
        [
            (0, 0, 0),
            (1, 0, 0),
            (0, 0, 1_000),
            (1, 1, 1_000),
            (0, 1, 2_000),
            (1, 2, 2_000),
            (0, 1, 3_000),
            (0, 2, 4_000),
            (0, 2, 5_000)
        ]
    );
}

#[test]
fn limits_and_durations_end_any_number_of_turns() {
    let captures = [capture(&[0, 10])];
    for pace in [Pace::Original, Pace::LineRate, Pace::Packets(1_000_000_000), Pace::Bits(G400)] {
        let limited = Schedule { pace, turns: 0, limit: 1_001, ..Schedule::default() };
        assert_eq!(sent(&mut feed(&captures, &[(&[0], G400)], limited)).len(), 1_001);
    }
    let until =
        Schedule { pace: Pace::Packets(1_000_000), turns: 0, duration: 5_000_000, ..Schedule::default() };
    assert_eq!(sent(&mut feed(&captures, &[(&[0], G400)], until)).len(), 6);
    let none = Schedule { limit: 0, ..Schedule::default() };
    assert!(sent(&mut feed(&captures, &[(&[0], G400)], none)).is_empty());
}

#[test]
fn captures_without_frames_end_at_once() {
    let captures = [capture(&[])];
    for pace in [Pace::Original, Pace::LineRate] {
        let forever = Schedule { pace, turns: 0, ..Schedule::default() };
        assert!(sent(&mut feed(&captures, &[(&[0], G400)], forever)).is_empty());
    }
}

#[test]
fn stamps_that_run_backwards_keep_the_order_of_the_file() {
    let captures = [capture(&[50, 20, 60])];
    let mut feed = feed(&captures, &[(&[0], 0)], Schedule::default());
    assert_eq!(
        sent(&mut feed).iter().map(|s| (s.2, s.3)).collect::<Vec<_>>(),
        [(0, 50), (0, 20), (10_000, 60)]
    );
    assert_eq!(feed.reports()[0].oddities.tally(Oddity::TimeBackwards).count, 1);
}

#[test]
fn an_error_comes_after_the_frames_before_it_and_is_final() {
    let mut bytes = capture(&[0, 10, 20]);
    let at = bytes.len() - 76 + 4;
    bytes[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    let captures = [bytes];
    let mut broken = feed(&captures, &[(&[0], G400)], Schedule::default());
    assert!(broken.next_frame().unwrap().is_some());
    assert!(broken.next_frame().unwrap().is_some());
    let error = broken.next_frame().unwrap_err();
    assert_eq!((error.record, error.offset), (3, 24 + 2 * 76));
    assert!(broken.next_frame().unwrap().is_none());
    // Records after a limit are not read.
    let limited = Schedule { limit: 2, ..Schedule::default() };
    assert_eq!(sent(&mut feed(&captures, &[(&[0], G400)], limited)).len(), 2);
}

#[test]
fn a_cut_tail_is_told_after_every_turn() {
    let mut bytes = capture(&[0, 10]);
    bytes.truncate(bytes.len() - 9);
    let captures = [bytes];
    let mut twice = feed(&captures, &[(&[0], G400)], Schedule { turns: 2, ..Schedule::default() });
    assert_eq!(sent(&mut twice).len(), 2);
    let report = twice.reports()[0];
    assert_eq!((report.packets, report.truncated.map(|t| t.record)), (2, Some(2)));
}

#[test]
fn a_frame_months_later_is_refused_unless_the_pace_is_faster() {
    // Seven months between two records.
    let mut bytes = capture(&[0]);
    bytes.extend(LITTLE.pcap_record(100 + 7 * 2_592_000, 0, &[9; 60], 60));
    let captures = [bytes];
    let mut late = feed(&captures, &[(&[0], G400)], Schedule::default());
    assert!(late.next_frame().unwrap().is_some());
    let error = late.next_frame().unwrap_err();
    assert_eq!((error.record, error.offset, &*error.file), (2, 100, "input 0"));
    assert!(error.to_string().contains("would be sent 18144000 s after"), "{error}");
    for schedule in [
        Schedule { pace: Pace::Times(10_000), ..Schedule::default() },
        Schedule { pace: Pace::LineRate, ..Schedule::default() },
    ] {
        assert_eq!(sent(&mut feed(&captures, &[(&[0], G400)], schedule)).len(), 2);
    }
    let short = Schedule { duration: 1_000, ..Schedule::default() };
    assert_eq!(sent(&mut feed(&captures, &[(&[0], G400)], short)).len(), 1);
}
