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

/// Returns a nanosecond capture of 60-byte frames at these seconds, with their number as first byte.
fn capture_of_seconds(seconds: &[u32]) -> Vec<u8> {
    let mut bytes = LITTLE.pcap_header(0xa1b2_3c4d, 0, 1);
    for (number, s) in (0..).zip(seconds) {
        bytes.extend(LITTLE.pcap_record(*s, 7, &[number; 60], 60));
    }
    bytes
}

const SECOND: u64 = 1_000_000_000_000;
/// 2^48 ns, after which the chip's timestamps repeat, in ps.
const CHIP_CLOCK: u64 = 281_474_976_710_656_000;

/// Returns number, time and timestamp of every frame, in ps.
fn stamped(feed: &mut Feed<'_>) -> Vec<(u8, u64, u128)> {
    let mut stamps = feed.stamps();
    let mut list = Vec::new();
    while let Some(s) = feed.next_frame().unwrap() {
        list.push((s.frame.data[0], s.time, stamps.at(s.time).as_ps() - s.frame.time.as_ps()));
    }
    list
}

#[test]
fn a_gap_of_any_length_keeps_the_timestamps_of_packets_and_of_the_chip() {
    // Records without a timestamp, then those of 2023: 53 years. Then 300 days, 4 days, and a second.
    const DAY: u32 = 86_400;
    let begin = 1_700_000_000;
    let late = [begin, begin + 300 * DAY, begin + 304 * DAY, begin + 304 * DAY + 1];
    let captures = [capture_of_seconds(&[&[0, 1][..], &late].concat())];
    let mut one = feed(&captures, &[(&[0], G400)], Schedule::default());
    let seen = stamped(&mut one);
    assert_eq!(one.reports()[0].gaps, 2);
    assert_eq!(seen.iter().map(|(number, ..)| *number).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    // Outputs have the timestamps of the inputs.
    assert!(seen.iter().all(|(_, _, off)| *off == 0), "{seen:?}");
    let gaps: Vec<u64> = seen.windows(2).map(|pair| pair[1].1 - pair[0].1).collect();
    let whole = [1, begin - 1, 300 * DAY, 4 * DAY, 1].map(|s| u128::from(s) * u128::from(SECOND));
    for (gap, whole) in gaps.iter().zip(whole) {
        assert_eq!(u128::from(*gap) % u128::from(CHIP_CLOCK), whole % u128::from(CHIP_CLOCK));
        assert!(u128::from(*gap) == whole || *gap >= u64::from(DAY) * SECOND);
        assert!(*gap < CHIP_CLOCK + u64::from(DAY) * SECOND);
    }
    assert_eq!(gaps[3..], [4 * u64::from(DAY) * SECOND, SECOND]);
}

#[test]
fn a_gap_is_one_of_all_ports_together() {
    // The frames of the second port fill the gap of the first one, which none shortens then.
    const DAY: u32 = 86_400;
    let captures = [capture_of_seconds(&[0, 9 * DAY]), capture_of_seconds(&[3 * DAY, 6 * DAY, 400 * DAY])];
    let mut two = feed(&captures, &[(&[0], G400), (&[1], G400)], Schedule::default());
    let times: Vec<u64> = stamped(&mut two).iter().map(|(_, time, _)| *time).collect();
    let day = u64::from(DAY) * SECOND;
    assert_eq!(times[..4], [0, 3 * day, 6 * day, 9 * day]);
    assert_eq!(
        u128::from((times[4] - times[3]) % CHIP_CLOCK),
        391 * u128::from(day) % u128::from(CHIP_CLOCK)
    );
    assert_eq!(two.reports().iter().map(|r| r.gaps).collect::<Vec<_>>(), [0, 1]);
    // A duration counts the whole gap.
    let some = Schedule { duration: 200 * day, ..Schedule::default() };
    assert_eq!(stamped(&mut feed(&captures, &[(&[0], G400), (&[1], G400)], some)).len(), 4);
}

#[test]
fn a_turn_follows_the_last_gap() {
    let captures = [capture_of_seconds(&[0, 1_000_000_000])];
    let mut twice = feed(&captures, &[(&[0], 0)], Schedule { turns: 2, ..Schedule::default() });
    let mut stamps = twice.stamps();
    let mut seen = Vec::new();
    while let Some(s) = twice.next_frame().unwrap() {
        seen.push((s.turn, stamps.at(s.time).as_secs_and_ns().0));
    }
    assert_eq!(seen, [(0, 0), (0, 1_000_000_000), (1, 1_000_000_000), (1, 2_000_000_000)]);
}

#[test]
fn a_run_without_gaps_beyond_the_clock_is_refused_with_its_length() {
    // A frame per day for 120 days.
    let seconds: Vec<u32> = (0..120).map(|day| day * 86_400).collect();
    let captures = [capture_of_seconds(&seconds)];
    let mut slow = feed(&captures, &[(&[0], G400)], Schedule::default());
    let error = std::iter::repeat_with(|| slow.next_frame().map(drop)).find_map(Result::err).unwrap();
    let text = error.to_string();
    assert!(text.contains("would be sent 9244800 s after the beginning"), "{text}");
    assert!(text.contains("at most 9223372 s"), "{text}");
    assert_eq!((error.record, error.offset, &*error.file), (108, 24 + 107 * 76, "input 0"));
    assert_eq!(slow.sent(), 107);
    assert!(slow.next_frame().unwrap().is_none());
    for schedule in [
        Schedule { pace: Pace::Times(2_000), ..Schedule::default() },
        Schedule { pace: Pace::LineRate, ..Schedule::default() },
    ] {
        assert_eq!(sent(&mut feed(&captures, &[(&[0], G400)], schedule)).len(), 120);
    }
    for ends_before in [
        Schedule { limit: 107, ..Schedule::default() },
        Schedule { duration: 106 * 86_400 * SECOND, ..Schedule::default() },
    ] {
        assert_eq!(sent(&mut feed(&captures, &[(&[0], G400)], ends_before)).len(), 107);
    }
}
