//! The packet generator: timers, gaps, triggers, turns at the buffer, on both chips.

use proptest::prelude::*;
use sluice_asic::chip::ChipSpec;
use sluice_asic::pktgen::*;
use sluice_asic::units::{Duration, Time};

const NEVER: Time = Time::MAX;

fn ns(ns: u64) -> Duration {
    Duration::from_nanos(ns)
}

fn at(ns: u64) -> Time {
    Time::from_nanos(ns)
}

fn generator(chip: &ChipSpec, apps: &[AppConfig]) -> PacketGenerator {
    let mut generator = PacketGenerator::new(chip, 1, 0, 1);
    for (number, config) in (0..).zip(apps) {
        generator.configure(number, *config, chip).unwrap();
        generator.enable(number, Time::ORIGIN).unwrap();
    }
    generator
}

/// Everything until `until` as (application, start in ns, header bytes 1 to 5).
fn run(generator: &mut PacketGenerator, until: Time) -> Vec<(u32, u64, Vec<u8>)> {
    std::iter::from_fn(|| generator.poll(until))
        .map(|packet| (packet.app, packet.start.as_nanos(), packet.header.bytes()[1..6].to_vec()))
        .collect()
}

#[test]
fn one_shot_batches_with_gaps_of_both_kinds() {
    let config = AppConfig {
        batches: 2,
        packets: 2,
        packet_gap: ns(10),
        batch_gap: ns(100),
        offset: 32,
        ..AppConfig::new(Trigger::OneShot { after: ns(1000) }, 494, 6)
    };
    // 500 bytes with the header: 40 ns at 100 Gb/s, 10 ns at 400 Gb/s. Tofino counts from start to start, but no
    // packet starts before the one ahead has left; Tofino 2 counts from the end.
    let expected = [("tofino", [1000, 1040, 1100, 1140]), ("tofino2", [1000, 1020, 1130, 1150])];
    for (name, starts) in expected {
        let chip = ChipSpec::from_name(name).unwrap();
        let mut generator = generator(&chip, &[config]);
        assert_eq!(generator.next_time(), Some(at(1000)));
        let found = run(&mut generator, NEVER);
        let ids = [[0, 0, 0, 0, 0], [0, 0, 0, 0, 1], [0, 0, 1, 0, 0], [0, 0, 1, 0, 1]];
        let wanted: Vec<_> = starts.iter().zip(ids).map(|(start, id)| (0, *start, id.to_vec())).collect();
        assert_eq!(found, wanted, "{name}");
        assert_eq!(generator.next_time(), None);
        let counters = AppCounters { triggers: 1, lost: 0, batches: 2, packets: 4 };
        assert_eq!(generator.counters(0), Some(counters));
    }
}

#[test]
fn a_periodic_timer_keeps_its_beat() {
    let chip = ChipSpec::tofino2();
    let mut generator = generator(&chip, &[AppConfig::new(Trigger::Periodic { period: ns(250) }, 58, 0)]);
    let starts: Vec<u64> = run(&mut generator, at(1000)).iter().map(|packet| packet.1).collect();
    assert_eq!(starts, [250, 500, 750, 1000]);
    assert_eq!(generator.next_time(), Some(at(1250)));
    generator.disable(0).unwrap();
    assert_eq!((generator.next_time(), generator.counters(0).unwrap().packets), (None, 4));
    generator.enable(0, at(2000)).unwrap();
    assert_eq!(generator.next_time(), Some(at(2250)));
}

#[test]
fn a_timer_faster_than_its_packets_loses_events() {
    // 1000 bytes take 20 ns at 400 Gb/s, the timer runs every 2 ns: one packet leaves, five events wait.
    let chip = ChipSpec::tofino2();
    let mut generator = generator(&chip, &[AppConfig::new(Trigger::Periodic { period: ns(2) }, 994, 0)]);
    let packets = run(&mut generator, at(2000));
    assert_eq!(packets.len(), 100);
    assert!(packets.windows(2).all(|pair| pair[1].1 == pair[0].1 + 20));
    let counters = generator.counters(0).unwrap();
    assert_eq!((counters.triggers, counters.lost), (1000, 1000 - 100 - 5));
}

#[test]
fn ports_that_go_down_are_told_of_one_by_one() {
    let chip = ChipSpec::tofino();
    let config = AppConfig::new(Trigger::PortDown { ports: !0 }, 100, 68);
    let mut generator = generator(&chip, &[config]);
    for port in [10, 60, 5, 10, 12] {
        generator.port_down(port, at(100));
    }
    let ports: Vec<u8> = run(&mut generator, NEVER).iter().map(|packet| packet.2[2] & 0x7f).collect();
    // Round the pipe from the first one; a port that is down already says nothing new.
    assert_eq!(ports, [10, 12, 60, 5]);
    generator.port_down(5, at(200));
    assert_eq!(generator.poll(NEVER), None);
    generator.port_up(5);
    generator.port_down(5, at(300));
    // dev_port 1 << 7 | 5.
    assert_eq!(run(&mut generator, NEVER), [(0, 300, vec![0, 0, 0x85, 0, 0])]);
}

#[test]
fn recirculated_packets_match_on_their_first_bytes() {
    let mut key = Match::default();
    (key.value[0], key.mask[0]) = (0xab, 0xff);
    let config = AppConfig { batches: 2, ..AppConfig::new(Trigger::Recirculation(key), 100, 0) };
    let bytes: Vec<u8> = [0xab, 1, 2, 0xff].into_iter().chain(4..20).collect();
    let mut tofino = generator(&ChipSpec::tofino(), &[config]);
    tofino.recirculated(&[0xac, 0, 0, 0], at(5));
    tofino.recirculated(&bytes, at(10));
    let headers: Vec<Vec<u8>> = run(&mut tofino, NEVER).into_iter().map(|packet| packet.2).collect();
    // Bytes 1 to 3 of the packet; the batch number counts in the low 16 bits.
    assert_eq!(headers, [[1, 2, 0xff, 0, 0], [1, 3, 0, 0, 0]]);
    let chip = ChipSpec::tofino2();
    let mut tofino2 = generator(&chip, &[AppConfig { copy_key: true, ..config }]);
    tofino2.recirculated(&bytes, at(10));
    let packet = tofino2.poll(NEVER).unwrap();
    assert_eq!(packet.header.bytes()[..6], [0x10, 0, 0, 0, 0, 0]);
    assert_eq!(packet.header.bytes()[6..], bytes[..16]);
    // 122 bytes at 400 Gb/s.
    assert_eq!(packet.end, packet.start + Duration::from_ps(122 * 20));
}

#[test]
fn deparsers_bring_their_own_place_in_the_buffer() {
    let chip = ChipSpec::tofino2();
    let pfc = Trigger::Pfc { header: [7; 16] };
    let apps = [AppConfig::new(Trigger::Request(Match::default()), 0, 0), AppConfig::new(pfc, 64, 1)];
    let mut generator = generator(&chip, &apps);
    generator.requested(&[1; 16], 640, 200, at(50));
    generator.pfc_changed(at(60));
    let first = generator.poll(NEVER).unwrap();
    assert_eq!((first.app, first.start, first.offset, first.length), (0, at(50), 640, 200));
    let second = generator.poll(NEVER).unwrap();
    assert_eq!((second.app, second.start, second.port), (1, at(60), 1));
    assert_eq!(second.header.bytes()[6..], [7; 16]);
}

#[test]
fn source_ports_turn_within_a_batch() {
    let config = AppConfig {
        packets: 5,
        batches: 2,
        source_port_wrap: Some(10),
        ..AppConfig::new(Trigger::OneShot { after: ns(1) }, 60, 8)
    };
    let mut generator = generator(&ChipSpec::tofino2(), &[config]);
    let ports: Vec<u32> = std::iter::from_fn(|| generator.poll(NEVER)).map(|packet| packet.port).collect();
    assert_eq!(ports, [8, 9, 10, 8, 9, 8, 9, 10, 8, 9]);
}

#[test]
fn refusals() {
    let (tofino, tofino2) = (ChipSpec::tofino(), ChipSpec::tofino2());
    let texts = |chip: &ChipSpec, config: AppConfig| {
        config.validate(chip).unwrap_err().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let wide = Match { mask: [0xff; 16], ..Match::default() };
    let config = AppConfig {
        batches: 0,
        packets: 65_537,
        offset: 16_376,
        copy_key: true,
        ..AppConfig::new(Trigger::Recirculation(wide), 64, 72)
    };
    let expected = [
        "trigger compares 16 bytes; this chip compares the first 4",
        "batches: 0; 1 to 65536",
        "packets per batch: 65537",
        "packet at byte 16376",
        "packet ends at byte 16440; the buffer has 16384",
        "source port 72; a pipe has local ports 0 to 71",
        "a key after the header: this chip",
    ];
    let found = texts(&tofino, config);
    assert_eq!(found.len(), expected.len(), "{found:?}");
    assert!(found.iter().zip(expected).all(|(found, expected)| found.starts_with(expected)), "{found:?}");
    let pfc = AppConfig::new(Trigger::Pfc { header: [0; 16] }, 64, 0);
    assert_eq!(texts(&tofino, pfc).len(), 1);
    assert!(
        texts(&tofino2, AppConfig::new(Trigger::Periodic { period: ns(0) }, 64, 0))[0].contains("1ns to")
    );
    let mut generator = PacketGenerator::new(&tofino2, 1, 0, 0);
    generator.configure(0, pfc, &tofino2).unwrap();
    assert_eq!(
        generator.configure(1, pfc, &tofino2),
        Err(vec![PktgenError::SecondPfc { found: 1, other: 0 }])
    );
    assert_eq!(generator.configure(0, pfc, &tofino2), Ok(()));
    assert_eq!(generator.enable(3, Time::ORIGIN), Err(PktgenError::Unconfigured(3)));
    assert_eq!(generator.enable(16, Time::ORIGIN), Err(PktgenError::App { found: 16, limit: 16 }));
}

proptest! {
    #[test]
    fn packets_never_overlap_and_counts_are_exact(
        apps in prop::collection::vec((1u64..3000, 1u32..5, 1u32..6, 0u64..300, 0u64..300, 0u64..50, 0u32..1500), 1..8),
        tofino2: bool,
    ) {
        let chip = if tofino2 { ChipSpec::tofino2() } else { ChipSpec::tofino() };
        let configs: Vec<AppConfig> = apps
            .iter()
            .map(|&(after, batches, packets, batch_gap, packet_gap, jitter, length)| AppConfig {
                batches,
                packets,
                batch_gap: ns(batch_gap),
                packet_gap: ns(packet_gap),
                packet_jitter: ns(jitter),
                ..AppConfig::new(Trigger::OneShot { after: ns(after) }, length, 0)
            })
            .collect();
        let mut all = generator(&chip, &configs);
        let mut again = all.clone();
        let mut last = Time::ORIGIN;
        let mut sent = vec![0; configs.len()];
        while let Some(next) = all.next_time() {
            let Some(packet) = all.poll(next) else { continue };
            prop_assert_eq!(packet.start, next);
            prop_assert!(packet.start >= last && packet.end > packet.start);
            last = packet.end;
            sent[packet.app as usize] += 1;
            // Polling far ahead gives the same packets.
            prop_assert_eq!(again.poll(NEVER), Some(packet));
        }
        prop_assert_eq!(again.poll(NEVER), None);
        for (sent, config) in sent.iter().zip(&configs) {
            prop_assert_eq!(*sent, config.batches * config.packets);
        }
    }
}
