//! Stage latencies against the tables of model: cycles §1, §3, §4.

use proptest::prelude::*;
use sluice_asic::chip::ChipSpec;
use sluice_asic::latency::{
    PacketLatency, PassLatency, StageDependency, StageFeatures, StageUse, deparser_rate, egress_latency,
    gress_latency,
};
use sluice_asic::units::{Cycles, Duration};

fn uniform(chip: &ChipSpec, dependency: StageDependency, features: StageFeatures) -> u64 {
    let stages = vec![StageUse { dependency, features }; chip.mau.stages as usize];
    gress_latency(&chip.latency, &stages).total.get()
}

#[test]
fn the_range_table() {
    // model: cycles §4, every row, Tofino then Tofino 2.
    use StageDependency::{Concurrent, Match};
    let plain = StageFeatures::default();
    let tcam = StageFeatures { tcam: true, ..plain };
    let selector = StageFeatures { tcam: true, selector: true, ..plain };
    let stateful = StageFeatures { stateful: true, ..plain };
    let rows = [
        (Match, plain, [244, 460]),
        (Match, tcam, [268, 500]),
        (Match, selector, [364, 660]),
        (Concurrent, plain, [54, 61]),
        (Match, stateful, [292, 540]),
    ];
    for (dependency, features, expected) in rows {
        let found =
            [ChipSpec::tofino(), ChipSpec::tofino2()].map(|chip| uniform(&chip, dependency, features));
        assert_eq!(found, expected, "{dependency:?} {features:?}");
    }
    let tofino = ChipSpec::tofino();
    assert_eq!(tofino.mau.clock.span(Cycles(244)), Duration::from_nanos(200));
    assert_eq!(ChipSpec::tofino2().mau.clock.span(Cycles(460)).as_nanos(), 306);
}

#[test]
fn delay_classes_exclude_each_other() {
    // model: cycles §3: selector before divide before stateful before LPF.
    let chip = ChipSpec::tofino2();
    let none = StageFeatures::default();
    let cases = [
        (none, 23, 13),
        (StageFeatures { tcam: true, ..none }, 25, 15),
        (StageFeatures { lpf_wred: true, ..none }, 27, 13),
        (StageFeatures { stateful: true, lpf_wred: true, ..none }, 27, 13),
        (StageFeatures { divide: true, stateful: true, ..none }, 29, 13),
        (StageFeatures { selector: true, divide: true, stateful: true, ..none }, 31, 13),
        (StageFeatures { wide_selector: true, selector: true, ..none }, 33, 15),
    ];
    for (features, length, predication) in cases {
        let stage = StageUse { dependency: StageDependency::Match, features };
        let latency = gress_latency(&chip.latency, &[stage]).stages[0];
        assert_eq!((latency.length.get(), latency.predication.get()), (length, predication), "{features:?}");
    }
}

#[test]
fn one_tcam_lengthens_its_whole_group_and_counts_once() {
    let chip = ChipSpec::tofino2();
    let plain = StageUse { dependency: StageDependency::Match, features: StageFeatures::default() };
    let action = StageUse { dependency: StageDependency::Action, ..plain };
    let tcam = StageUse { features: StageFeatures { tcam: true, ..StageFeatures::default() }, ..action };
    let latency = gress_latency(&chip.latency, &[plain, action, tcam, plain, action]);
    let rows: Vec<(u64, u64, u64, u32)> = latency
        .stages
        .iter()
        .map(|stage| (stage.length.get(), stage.predication.get(), stage.contribution.get(), stage.group))
        .collect();
    let expected = [(25, 15, 25, 0), (25, 15, 2, 0), (25, 15, 2, 0), (23, 13, 23, 1), (23, 13, 2, 1)];
    assert_eq!(rows, expected);
    assert_eq!((latency.total.get(), latency.assembler_total.get()), (54, 29));
}

#[test]
fn tofino_egress_is_padded_to_160() {
    // model: cycles §3: stages become match-dependent from below; the assembler's sum omits stage 0.
    let chip = ChipSpec::tofino();
    let idle = StageUse { dependency: StageDependency::Concurrent, features: StageFeatures::default() };
    let latency = egress_latency(&chip.latency, &[idle; 12]);
    // 4 + stage 6 (20) + k more stages of 20 + (10 - k) of 1 >= 160 gives k = 7.
    assert_eq!(latency.assembler_total, Cycles(4 + 20 + 7 * 20 + 3));
    assert_eq!(latency.total, Cycles(187));
    let matching: Vec<usize> =
        (0..12).filter(|index| latency.stages[*index].dependency == StageDependency::Match).collect();
    assert_eq!(matching, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    let short = egress_latency(&chip.latency, &[idle; 3]);
    assert!(short.stages.iter().all(|stage| stage.dependency == StageDependency::Match));
    assert_eq!(egress_latency(&ChipSpec::tofino2().latency, &[idle; 20]).total, Cycles(61));
    assert_eq!(egress_latency(&chip.latency, &[]).total, Cycles(4));
}

#[test]
fn the_deparser_bounds_tofinos_rate_only_beyond_277_cycles() {
    let chip = ChipSpec::tofino();
    assert_eq!(deparser_rate(&chip.deparser, Cycles(277)), (1, 1));
    assert_eq!(deparser_rate(&chip.deparser, Cycles(278)), (288, 289));
    assert_eq!(deparser_rate(&ChipSpec::tofino2().deparser, Cycles(660)), (1, 1));
}

#[test]
fn a_packets_parts_add_up() {
    let chip = ChipSpec::tofino2();
    let pass = PassLatency::new(&chip.latency, 5, Cycles(460));
    assert_eq!((pass.parser, pass.total()), (Cycles(35), Cycles(530)));
    let packet = PacketLatency {
        mac_rx: Duration::from_nanos(100),
        entry_wait: Cycles(1),
        ingress: pass,
        tm: Cycles(139),
        queueing: Duration::from_nanos(7),
        egress: pass,
        mac_tx: Duration::from_nanos(50),
    };
    // 1200 cycles at 1.5 GHz are 800 ns.
    assert_eq!(packet.total(chip.mau.clock), Duration::from_nanos(957));
}

fn stage() -> impl Strategy<Value = StageUse> {
    let dependency = prop_oneof![
        Just(StageDependency::Match),
        Just(StageDependency::Action),
        Just(StageDependency::Concurrent)
    ];
    let flags = any::<[bool; 6]>();
    (dependency, flags).prop_map(
        |(dependency, [tcam, wide_selector, selector, stateful, divide, lpf_wred])| {
            let features = StageFeatures { tcam, wide_selector, selector, stateful, divide, lpf_wred };
            StageUse { dependency, features }
        },
    )
}

proptest! {
    #[test]
    fn a_stronger_dependency_never_shortens(stages in prop::collection::vec(stage(), 1..20), index in any::<prop::sample::Index>()) {
        // Splitting a group moves its features; with none, only the dependency counts.
        let plain: Vec<StageUse> =
            stages.iter().map(|stage| StageUse { features: StageFeatures::default(), ..*stage }).collect();
        for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
            let before = gress_latency(&chip.latency, &plain).total;
            let mut stronger = plain.clone();
            stronger[index.index(plain.len())].dependency = StageDependency::Match;
            prop_assert!(gress_latency(&chip.latency, &stronger).total >= before);
            prop_assert!(egress_latency(&chip.latency, &stages).total >= gress_latency(&chip.latency, &plain).total);
        }
    }

    #[test]
    fn lengths_stay_within_the_chips_range(stages in prop::collection::vec(stage(), 1..20)) {
        // model: cycles §3: 20 to 30 on Tofino, 23 to 33 on Tofino 2.
        for (chip, range) in [(ChipSpec::tofino(), 20..=30), (ChipSpec::tofino2(), 23..=33)] {
            for stage in gress_latency(&chip.latency, &stages).stages {
                prop_assert!(range.contains(&stage.length.get()));
                prop_assert!(stage.contribution <= stage.length);
            }
        }
    }
}
