//! Strategies for packets and entries: what they draw, how they shrink, and what a failing input becomes.

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};
use sluice_asic::chip::ChipSpec;
use sluice_fuzz::strategies::{Strategies, Subject, write_pcap};
use std::collections::BTreeSet;

fn subject(program: &str) -> Subject<'static> {
    Subject::of_catalogue(&sluice_programs::catalogue(), program, &[], &ChipSpec::tofino2()).unwrap()
}

fn runner(cases: u32) -> TestRunner {
    TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(cases) })
}

fn is_ipv4(frame: &[u8]) -> bool {
    frame.get(12..14) == Some(&[8, 0]) && frame.len() >= 34
}

#[test]
fn frames_have_right_checksums_and_many_forms() {
    let subject = subject("ecn-mark");
    let strategies = Strategies::new(&subject).unwrap();
    let mut runner = runner(1);
    let draw = |_| strategies.frames().new_tree(&mut runner).unwrap().current();
    let frames: Vec<Vec<u8>> = (0..200).map(draw).collect();
    for header in frames.iter().filter(|f| is_ipv4(f)).map(|f| &f[14..34]) {
        let words = header.chunks(2).map(|w| u32::from(u16::from_be_bytes([w[0], w[1]])));
        assert_eq!(words.sum::<u32>() % 0xffff, 0, "{header:?}");
    }
    let ipv4 = frames.iter().filter(|f| is_ipv4(f)).count();
    assert!((20..180).contains(&ipv4), "{ipv4} of 200 are IPv4");
    assert!(frames.iter().collect::<BTreeSet<_>>().len() > 150);
}

#[test]
fn a_failing_input_shrinks_to_the_packets_that_it_needs() {
    let subject = subject("ecn-mark");
    let strategies = Strategies::new(&subject).unwrap();
    let result = runner(50).run(&strategies.packets(1..=30), |shots| {
        let ipv4 = shots.iter().filter(|shot| is_ipv4(&shot.bytes)).count();
        if ipv4 < 3 { Ok(()) } else { Err(TestCaseError::fail("three IPv4 packets")) }
    });
    let Err(TestError::Fail(_, shots)) = result else { panic!("{result:?}") };
    assert_eq!(shots.len(), 3);
    // The smallest choices: no gap, and the shortest of the first payload.
    assert!(
        shots.iter().all(|shot| shot.at == 0 && is_ipv4(&shot.bytes) && shot.bytes.len() == 14 + 20 + 46)
    );
}

#[test]
fn a_broken_property_shrinks_to_one_packet_without_changes() {
    let catalogue = sluice_programs::catalogue();
    let good = subject("ecn-mark");
    // This property does not hold: the default entries send every frame somewhere.
    struct NothingLeaves;
    impl sluice_switch::property::Property for NothingLeaves {
        fn name(&self) -> &'static str {
            "nothing_leaves"
        }
        fn left(&mut self, _: &sluice_switch::property::Departed<'_>) -> Result<(), String> {
            Err("left".to_owned())
        }
    }
    let own = || vec![Box::new(NothingLeaves) as Box<dyn sluice_switch::property::Property>];
    let Subject { program, placement, ports, control, .. } = &good;
    let (program, placement) = (program.clone(), placement.clone());
    let subject = Subject::new(&catalogue, program, placement, ports.clone(), control.clone(), own);
    let strategies = Strategies::new(&subject).unwrap();
    let result = runner(5).run(&strategies.inputs(1..=20), |input| strategies.properties_hold(&input));
    let Err(TestError::Fail(reason, input)) = result else { panic!("{result:?}") };
    assert!(reason.to_string().starts_with("nothing_leaves: packet 0: left"), "{reason}");
    assert_eq!((input.shots.len(), input.ops.len()), (1, 0));
}

#[test]
fn properties_of_a_shipped_program_hold() {
    let subject = subject("letflow");
    let strategies = Strategies::new(&subject).unwrap();
    let result = runner(24).run(&strategies.inputs(1..=24), |input| strategies.properties_hold(&input));
    assert!(result.is_ok(), "{result:?}");
}

#[test]
fn a_capture_has_the_packets_and_their_times() {
    let subject = subject("ecn-mark");
    let strategies = Strategies::new(&subject).unwrap();
    let shots = strategies.packets(5..=5).new_tree(&mut runner(1)).unwrap().current();
    let mut capture = Vec::new();
    write_pcap(&shots, &mut capture).unwrap();
    // A pcap with ns has a header of 24 bytes, and 16 bytes in front of each packet: seconds, ns, and the length twice.
    assert_eq!(capture[..4], 0xa1b2_3c4d_u32.to_le_bytes());
    let mut at = 24;
    for shot in &shots {
        let word = |n: usize| u32::from_le_bytes(capture[at + 4 * n..at + 4 * n + 4].try_into().unwrap());
        let ns = u64::from(word(0)) * 1_000_000_000 + u64::from(word(1));
        assert_eq!((ns, word(2) as usize), (shot.at, shot.bytes.len()));
        at += 16;
        assert_eq!(capture[at..at + shot.bytes.len()], shot.bytes);
        at += shot.bytes.len();
    }
    assert_eq!(at, capture.len());
}
