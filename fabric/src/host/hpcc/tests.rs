//! Vectors of model: int §10.3: each expected value is worked out by hand from Algorithm 1.

use super::*;
use proptest::prelude::*;

const LINE: BitRate = BitRate::from_gbps(100);
/// Bytes per unit of a port's count.
const UNIT: Bytes = Bytes(128);
/// T of the paper's simulations; the bandwidth-delay product is 162,500 bytes.
const T: Duration = Duration::from_micros(13);

fn sender(config: HpccConfig) -> Hpcc {
    Hpcc::new(config, LINE)
}

/// Returns a record of a 100G port; `units` are of 128 bytes.
fn hop(time: u32, units: u32, queue: u64) -> HopRecord {
    HopRecord { speed: LINE, time: time & 0xff_ffff, sent: units & 0xf_ffff, queue }
}

fn one(hop: HopRecord) -> Records {
    Records::new(0x1001, UNIT, &[hop])
}

fn at(nanos: u64) -> Time {
    Time::from_nanos(nanos)
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-6 * expected.abs().max(1.0), "{found}, expected {expected}");
}

/// A sender whose first acknowledgement, at time 0, had this record; packets before 100 were sent then.
fn primed(config: HpccConfig, first: HopRecord) -> Hpcc {
    let mut hpcc = sender(config);
    hpcc.acknowledged(at(0), 1, 100, &one(first));
    hpcc
}

#[test]
fn the_first_acknowledgement_is_only_stored() {
    let hpcc = primed(HpccConfig::new(T), hop(7, 9, 5_000_000));
    assert_eq!((hpcc.window(), hpcc.rate(), hpcc.last_update), (162_500, LINE, 100));
}

#[test]
fn one_measurement_by_hand() {
    // 12,800 bytes in 1024 ns are the line's rate; the lesser queue is a tenth of the product. u = 1.1, tau/T = 1024/13000.
    let mut hpcc = primed(HpccConfig::new(T), hop(0, 0, 20_000));
    hpcc.acknowledged(at(1_024), 2, 101, &one(hop(1_024, 100, 16_250)));
    let u = 1.0 + 0.1 * 1_024.0 / 13_000.0;
    close(hpcc.utilisation(), u);
    close(hpcc.window, 0.95 * 162_500.0 / u + 80.0);
}

#[test]
fn a_queue_in_one_of_two_samples_does_not_count() {
    let mut hpcc = primed(HpccConfig::new(T), hop(0, 0, 0));
    hpcc.acknowledged(at(1_024), 2, 101, &one(hop(1_024, 100, 100_000)));
    close(hpcc.utilisation(), 1.0);
}

#[test]
fn samples_a_round_trip_apart_replace_the_average() {
    let mut hpcc = primed(HpccConfig::new(T), hop(0, 0, 0));
    // 128,000 bytes in 20.48 us: half of the line.
    hpcc.acknowledged(at(20_480), 2, 101, &one(hop(20_480, 1_000, 0)));
    close(hpcc.utilisation(), 0.5);
}

/// Records that show the utilisation `percent` of the line, `step` times T after the first one: T is 12.8 us here, in
/// which the line sends 1,250 units.
fn steady(step: u32, percent: u32) -> Records {
    one(hop(step * 12_800, step * 1_250 * percent / 100, 0))
}

const STEP: Duration = Duration::from_nanos(12_800);
const PRODUCT: f64 = 160_000.0;

#[test]
fn within_a_round_trip_reactions_do_not_compound() {
    let mut hpcc = primed(HpccConfig::new(STEP), hop(0, 0, 0));
    hpcc.acknowledged(at(12_800), 50, 150, &steady(1, 200));
    let once = hpcc.window;
    close(once, PRODUCT * 0.95 / 2.0 + 80.0);
    // The 100th packet was the next one at the last update: its acknowledgement says 100, and is not yet the update.
    hpcc.acknowledged(at(25_600), 100, 160, &steady(2, 200));
    close(hpcc.window, once);
    hpcc.acknowledged(at(38_400), 101, 170, &steady(3, 200));
    close(hpcc.window, once);
    assert_eq!(hpcc.last_update, 170);
    hpcc.acknowledged(at(51_200), 102, 180, &steady(4, 200));
    close(hpcc.window, once * 0.95 / 2.0 + 80.0);
}

#[test]
fn every_ack_compounds_and_every_round_trip_waits() {
    let every = HpccConfig { cadence: Cadence::EveryAck, ..HpccConfig::new(STEP) };
    let mut hpcc = primed(every, hop(0, 0, 0));
    hpcc.acknowledged(at(12_800), 2, 101, &steady(1, 200));
    hpcc.acknowledged(at(25_600), 3, 102, &steady(2, 200));
    close(hpcc.window, (PRODUCT * 0.475 + 80.0) * 0.475 + 80.0);
    let waits = HpccConfig { cadence: Cadence::EveryRoundTrip, ..HpccConfig::new(STEP) };
    let mut hpcc = primed(waits, hop(0, 0, 0));
    hpcc.acknowledged(at(12_800), 100, 150, &steady(1, 200));
    close(hpcc.window, PRODUCT);
    hpcc.acknowledged(at(25_600), 101, 160, &steady(2, 200));
    close(hpcc.window, PRODUCT * 0.475 + 80.0);
}

#[test]
fn five_additive_steps_then_a_multiplicative_one() {
    let config = HpccConfig { max_stage: 5, ..HpccConfig::new(STEP) };
    let mut hpcc = primed(config, hop(0, 0, 0));
    // To a quarter first, so that the line does not limit the steps.
    hpcc.acknowledged(at(12_800), 101, 200, &steady(1, 400));
    let low = PRODUCT * 0.95 / 4.0 + 80.0;
    close(hpcc.window, low);
    let mut units = 1_250 * 4;
    for step in 2..=6 {
        units += 625;
        let seq = u64::from(step) * 100 + 1;
        hpcc.acknowledged(at(12_800 * u64::from(step)), seq, seq + 99, &one(hop(step * 12_800, units, 0)));
        close(hpcc.window, low + 80.0 * f64::from(step - 1));
    }
    units += 625;
    hpcc.acknowledged(at(89_600), 701, 800, &one(hop(7 * 12_800, units, 0)));
    close(hpcc.window, (low + 400.0) * 0.95 / 0.5 + 80.0);
    assert_eq!(hpcc.references[0].stage, 0);
}

#[test]
fn eta_itself_is_the_multiplicative_branch() {
    let config = HpccConfig { max_stage: 5, eta: 0.5, ..HpccConfig::new(STEP) };
    let mut hpcc = primed(config, hop(0, 0, 0));
    hpcc.acknowledged(at(12_800), 101, 200, &steady(1, 200));
    let low = PRODUCT / 4.0 + 80.0;
    close(hpcc.window, low);
    let half = one(hop(2 * 12_800, 2 * 1_250 + 625, 0));
    hpcc.acknowledged(at(25_600), 201, 300, &half);
    close(hpcc.window, low + 80.0);
    assert_eq!(hpcc.references[0].stage, 0, "U is 0.5, which is eta: not an additive step");
}

#[test]
fn an_idle_path_gives_no_more_than_the_line() {
    let mut hpcc = primed(HpccConfig::new(STEP), hop(0, 0, 0));
    hpcc.acknowledged(at(12_800), 101, 200, &one(hop(12_800, 0, 0)));
    assert_eq!((hpcc.window(), hpcc.rate()), (160_000, LINE));
}

#[test]
fn the_busiest_hop_counts_with_its_own_time_and_speed() {
    let two = |a: HopRecord, b: HopRecord| Records::new(0x2003, UNIT, &[a, b]);
    let fast = |time, units| HopRecord { speed: BitRate::from_gbps(400), ..hop(time, units, 0) };
    let mut hpcc = sender(HpccConfig::new(STEP));
    hpcc.acknowledged(at(0), 1, 100, &two(hop(0, 0, 0), fast(0, 0)));
    // 60 % of 100G in T, and 120 % in T/2: U is the mean of 1 and 1.2.
    let second = hop(6_400, 750, 0);
    hpcc.acknowledged(at(12_800), 2, 101, &Records::new(0x2003, UNIT, &[hop(12_800, 750, 0), second]));
    close(hpcc.utilisation(), 1.1);
    // The line's rate is a quarter of 400G.
    let mut hpcc = sender(HpccConfig::new(STEP));
    hpcc.acknowledged(at(0), 1, 100, &two(hop(0, 0, 0), fast(0, 0)));
    hpcc.acknowledged(at(12_800), 2, 101, &two(hop(12_800, 125, 0), fast(12_800, 1_250)));
    close(hpcc.utilisation(), 0.25);
}

#[test]
fn records_of_another_path_are_only_stored() {
    for other in [
        Records::new(0x1002, UNIT, &[hop(12_800, 5_000, 0)]),
        Records::new(0x2001, UNIT, &[hop(12_800, 5_000, 0), hop(12_800, 5_000, 0)]),
    ] {
        let mut hpcc = primed(HpccConfig::new(STEP), hop(0, 0, 0));
        hpcc.acknowledged(at(12_800), 101, 200, &other);
        assert_eq!((hpcc.window(), hpcc.last), (160_000, Some(other)));
    }
}

#[test]
fn time_that_stands_still_or_an_unknown_speed_measures_nothing() {
    let mut hpcc = primed(HpccConfig::new(STEP), hop(50, 0, 0));
    hpcc.acknowledged(at(12_800), 101, 200, &one(hop(50, 5_000, 9_000_000)));
    assert_eq!((hpcc.window(), hpcc.last_update), (160_000, 100));
    assert_eq!(hpcc.last.unwrap().hops()[0].sent, 5_000, "but it is stored");
    let unknown = |time| HopRecord { speed: BitRate::from_bps(0), ..hop(time, time, 9_000_000) };
    let mut hpcc = primed(HpccConfig::new(STEP), unknown(0));
    hpcc.acknowledged(at(12_800), 101, 200, &one(unknown(12_800)));
    assert_eq!(hpcc.window(), 160_000);
}

#[test]
fn clocks_and_counters_wrap_between_two_acknowledgements() {
    let mut hpcc = primed(HpccConfig::new(STEP), hop(0xff_fff0, 0xf_fff0, 0));
    // 12,800 ns and 2,500 units later, both past the end: twice the line's rate.
    hpcc.acknowledged(at(12_800), 2, 101, &one(hop(0xff_fff0 + 12_800, 0xf_fff0 + 2_500, 0)));
    close(hpcc.utilisation(), 2.0);
}

#[test]
fn after_a_silence_records_are_only_stored() {
    // A 400G port counts through its 2^27 bytes in 2.68 ms, a 100G port in 10.7 ms. 2^20 / 10 * 9 units are 2.416 ms.
    for (gbps, trusted, late) in [(400, 2_400_000, 2_420_000), (100, 9_600_000, 9_670_000)] {
        let record = |time: u64, units| HopRecord {
            speed: BitRate::from_gbps(gbps),
            ..hop((time & 0xff_ffff) as u32, units, 50_000_000)
        };
        for (nanos, measures) in [(trusted, true), (late, false)] {
            let mut hpcc = primed(HpccConfig::new(STEP), record(0, 0));
            hpcc.acknowledged(at(nanos), 101, 200, &one(record(nanos, 1_000_000)));
            assert_eq!(hpcc.window() < 160_000, measures, "{gbps}G after {nanos} ns");
        }
    }
}

#[test]
fn a_step_of_the_rate_is_a_step_of_the_window_over_t() {
    // Half of the line, U 1.9, 50 Mb/s: 50 * 0.95 / 1.9 + 0.05 = 25.05 Gb/s, and the window in proportion.
    let mut hpcc = sender(HpccConfig::new(STEP).additive_rate(BitRate::from_bps(50_000_000)));
    hpcc.references[0].window = PRODUCT / 2.0;
    hpcc.acknowledged(at(0), 1, 100, &steady(0, 0));
    hpcc.acknowledged(at(12_800), 101, 200, &steady(1, 190));
    close(hpcc.rate().as_bps() as f64, 25.05e9);
    close(hpcc.window, PRODUCT * 0.2505);
    // The authors' 50 Mb/s over 13 us.
    close(HpccConfig::new(T).additive_rate(BitRate::from_bps(50_000_000)).additive, 81.25);
}

#[test]
fn with_a_rate_for_every_hop_the_least_counts() {
    let config = HpccConfig { multi_rate: true, additive: 0.0, eta: 1.0, ..HpccConfig::new(STEP) };
    let mut hpcc = sender(config);
    let two = |a, b| Records::new(0x2003, UNIT, &[a, b]);
    hpcc.acknowledged(at(0), 1, 100, &two(hop(0, 0, 0), hop(0, 0, 0)));
    // 250 % and 125 % of the line: 40 and 80 Gb/s.
    hpcc.acknowledged(at(12_800), 101, 200, &two(hop(12_800, 3_125, 0), hop(12_800, 1_562, 0)));
    assert_eq!(hpcc.rate().as_bps(), 40_000_000_000);
    close(hpcc.utilisation(), 2.5);
    let windows: Vec<f64> = hpcc.references[..2].iter().map(|r| r.window / PRODUCT).collect();
    close(windows[0], 0.4);
    assert!((windows[1] - 0.8).abs() < 0.001, "{windows:?}");
}

#[test]
fn the_window_never_closes() {
    let config = HpccConfig { min: BitRate::from_bps(1), additive: 0.0, ..HpccConfig::new(STEP) };
    let mut hpcc = primed(config, hop(0, 0, 10_000_000));
    for step in 1..40u32 {
        let record = one(hop(step * 12_800, step * 1_250, 10_000_000));
        hpcc.acknowledged(
            at(12_800 * u64::from(step)),
            u64::from(step) * 200,
            u64::from(step) * 200,
            &record,
        );
    }
    assert_eq!(hpcc.window(), 1);
    assert!(hpcc.cuts() > 5);
}

proptest! {
    #[test]
    fn windows_stay_between_their_limits_whatever_records_say(
        acks in prop::collection::vec(
            (0u64..40_000, 0u64..400, 0u16..3, prop::collection::vec((0usize..8, any::<u32>(), any::<u32>(), 0u64..6_000_000), 0..6)),
            1..60,
        ),
        max_stage in 0u32..6,
        multi_rate: bool,
        cadence in prop::sample::select(vec![Cadence::Combined, Cadence::EveryAck, Cadence::EveryRoundTrip]),
    ) {
        let config = HpccConfig { max_stage, multi_rate, cadence, ..HpccConfig::new(T) };
        let (mut hpcc, mut now, mut seq) = (Hpcc::new(config, LINE), Time::ORIGIN, 0);
        for (gap, more, path, hops) in acks {
            now += Duration::from_nanos(gap);
            seq += more;
            let speeds = [0, 25, 40, 50, 100, 200, 400, 10].map(BitRate::from_gbps);
            let hops: Vec<HopRecord> = hops
                .into_iter()
                .map(|(speed, time, sent, queue)| HopRecord { speed: speeds[speed], ..hop(time, sent, queue) })
                .collect();
            hpcc.acknowledged(now, seq, seq + 160, &Records::new(path, UNIT, &hops));
            prop_assert!((162..=162_500).contains(&hpcc.window()), "{}", hpcc.window());
            prop_assert!((99_000_000..=100_000_000_000).contains(&hpcc.rate().as_bps()), "{}", hpcc.rate());
            prop_assert!(hpcc.utilisation().is_finite());
        }
    }
}
