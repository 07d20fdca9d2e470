use super::super::super::message::Completion;
use super::*;
use std::net::Ipv4Addr;

fn message(pair: u32, start: u64) -> Message {
    let to = Ipv4Addr::new(10, 0, 0, 2);
    Message { pair, transport: 0, workload: 0, start: at(start), to, port: 49_152, bytes: 1 }
}

const fn at(ns: u64) -> Time {
    Time::from_ps(ns * 1000)
}

fn awaited(pair: u32, delay: u64) -> Awaited {
    Awaited { pair, delay: Duration::from_nanos(delay) }
}

fn behind(gate: u32, pair: u32, start: u64, until: Option<u64>) -> Waiting {
    Waiting { message: message(pair, start), gate, until: until.map(at) }
}

fn received(schedule: &mut Schedule, pair: u32, ns: u64) {
    schedule.settle(&MessageEvent::Received { pair, at: at(ns) });
}

fn acknowledged(schedule: &mut Schedule, pair: u32, ns: u64) {
    schedule.settle(&MessageEvent::Completed(Completion { message: message(pair, 0), end: at(ns), cuts: 0 }));
}

/// Takes all messages that start up to a time: their pairs and starts in ns.
fn started(schedule: &mut Schedule, ns: u64) -> Vec<(u32, u64)> {
    std::iter::from_fn(|| schedule.pop(at(ns))).map(|m| (m.pair, m.start.since_origin().as_nanos())).collect()
}

#[test]
fn a_gate_opens_after_the_last_message_and_its_delay() {
    let gates = vec![vec![awaited(9, 5), awaited(1, 20)]];
    let waiting = vec![behind(0, 3, 0, None), behind(0, 2, 0, None), behind(0, 4, 500, None)];
    let mut schedule =
        Schedule::new(HostMessages { starting: vec![message(1, 10)], gates, waiting, ..Default::default() });
    assert_eq!(started(&mut schedule, 1_000), [(1, 10)]);
    // Closed gates keep nobody busy, but their messages are unfinished.
    assert!(schedule.is_empty() && schedule.next_time().is_none());
    assert_eq!(schedule.iter().map(|m| m.pair).collect::<Vec<_>>(), [2, 3, 4]);
    acknowledged(&mut schedule, 1, 100);
    assert_eq!(schedule.next_time(), None);
    received(&mut schedule, 9, 103);
    // 100 + 20 is later than 103 + 5; the message with a later start waits for it.
    assert_eq!(schedule.next_time(), Some(at(120)));
    assert_eq!(started(&mut schedule, 119), []);
    assert_eq!(started(&mut schedule, 499), [(2, 120), (3, 120)]);
    assert!(!schedule.is_empty());
    assert_eq!(started(&mut schedule, 500), [(4, 500)]);
    assert!(schedule.is_empty() && schedule.iter().next().is_none());
}

#[test]
fn messages_with_equal_starts_go_by_their_pairs() {
    let waiting = vec![behind(0, 2, 0, None), behind(0, 4, 0, None)];
    let starting = vec![message(3, 50), message(5, 49), message(1, 51)];
    let mut schedule = Schedule::new(HostMessages {
        starting,
        gates: vec![vec![awaited(9, 0)]],
        waiting,
        ..Default::default()
    });
    received(&mut schedule, 9, 50);
    assert_eq!(started(&mut schedule, 60), [(5, 49), (2, 50), (3, 50), (4, 50), (1, 51)]);
}

#[test]
fn a_message_that_would_be_late_is_given_up() {
    let gates = vec![vec![awaited(8, 0)], vec![awaited(9, 0)], vec![awaited(7, 0)], Vec::new()];
    let waiting = vec![
        behind(0, 1, 0, Some(100)),
        behind(1, 2, 0, Some(100)),
        behind(2, 3, 0, Some(100)),
        behind(3, 4, 30, None),
        behind(7, 5, 0, None),
    ];
    let mut schedule =
        Schedule::new(HostMessages { starting: Vec::new(), gates, waiting, ..Default::default() });
    received(&mut schedule, 8, 99);
    received(&mut schedule, 9, 100);
    // An unknown message opens nothing.
    received(&mut schedule, 1_000, 1);
    // Pair 2 is given up, pair 3 may never be sent and pair 5 is behind a gate that does not exist.
    assert_eq!(schedule.iter().map(|m| m.pair).collect::<Vec<_>>(), [1, 4, 5]);
    assert_eq!(started(&mut schedule, 1_000), [(4, 30), (1, 99)]);
}
