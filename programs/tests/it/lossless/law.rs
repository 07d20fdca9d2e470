//! The marking probability, measured: the share of marked packets at each depth against the curve, in addition to the
//! traffic manager's own marking of the same packets.

use crate::lossless::bench::{Bench, packet, train};
use crate::switch::world::{Frame, Recorder};
use sluice_asic::chip::ChipSpec;
use sluice_asic::salu::State as Element;
use sluice_asic::units::Time;
use sluice_control::ControlOp;
use sluice_switch::RxFrame;

/// Cells of a packet of 1,056 bytes.
const CELLS: u64 = 6;
const LEN: usize = 1_056;

/// Returns, for each packet of bursts of `count` to the host, the packets after it in the queue, and its mark: port 20
/// is blocked, takes the burst, and resumes, `rounds` times.
fn bursts(bench: &Bench, count: u64, rounds: u64) -> Vec<(u64, bool)> {
    let mut switch = bench.switch();
    let mut seen = Recorder::default();
    let frame = packet([10, 9, 9, 9], 3, 2, 0, LEN);
    for round in 0..rounds {
        switch.block(bench.port(20), true).unwrap();
        let start = switch.time().as_ps() + 1_000_000;
        for (n, f) in (0..).zip(train(0, start, 30_000, count, &frame)) {
            let Frame { bytes, ps, .. } = f;
            let tag = round * count + n;
            let rx = RxFrame { bytes: &bytes, orig_len: LEN as u32, tag };
            switch.rx(bench.port(0), Time::from_ps(ps), rx).unwrap();
            switch.advance(Time::from_ps(ps), &mut seen).unwrap();
        }
        let end = switch.time().as_ps() + 5_000_000;
        switch.advance(Time::from_ps(end), &mut seen).unwrap();
        switch.block(bench.port(20), false).unwrap();
        bench.drain(&mut switch, &mut seen);
    }
    assert_eq!(seen.lost().count(), 0);
    let sent = seen.sent().filter(|(left, _)| left.egress_port == bench.port(20).number());
    let mut list: Vec<(u64, bool)> =
        sent.map(|(left, bytes)| (count - 1 - left.tag % count, bytes[15] & 3 == 3)).collect();
    list.sort_unstable();
    assert_eq!(list.len() as u64, count * rounds);
    list
}

/// Asserts that the marks among packets with `from..to` packets after them are as expected, to four deviations.
fn follows(list: &[(u64, bool)], (from, to): (u64, u64), law: impl Fn(u64) -> f64) -> (f64, f64) {
    let inside: Vec<_> = list.iter().filter(|(behind, _)| (from..to).contains(behind)).collect();
    let (mut mean, mut variance) = (0.0, 0.0);
    for (behind, _) in &inside {
        let p = law(behind * CELLS);
        (mean, variance) = (mean + p, variance + p * (1.0 - p));
    }
    let found = inside.iter().filter(|(_, marked)| *marked).count() as f64;
    let allowed = 4.0 * f64::sqrt(variance);
    assert!((found - mean).abs() <= allowed, "{from}..{to}: {found} of {}, {mean} by the law", inside.len());
    (found, mean)
}

/// Kmin 100 KB, Kmax 400 KB, Pmax 20 % at 25G (model: buffer §3.1, §3.2), in cells.
fn law(cells: u64) -> f64 {
    let (kmin, kmax) = (100_000 / 176, 400_000 / 176);
    match cells {
        _ if cells <= kmin => 0.0,
        _ if cells <= kmax => 0.2 * (cells - kmin) as f64 / (kmax - kmin) as f64,
        _ => 1.0,
    }
}

/// No mark below the ramp, the ramp in eight parts, every mark above (model: buffer §3.2, §8.5 rows 49, 50).
#[test]
fn the_program_marks_by_the_law() {
    let bench = Bench::new("ecn-mark", &[], &ChipSpec::tofino2());
    let list = bursts(&bench, 420, 60);
    // 568 cells are 94 packets, 2,272 are 378.
    let marked = |behind: &dyn Fn(u64) -> bool| list.iter().filter(|(b, m)| behind(*b) && *m).count();
    assert_eq!(marked(&|b| b <= 94), 0);
    assert_eq!(marked(&|b| b > 378), 60 * list.iter().filter(|(b, _)| *b > 378).count() / 60);
    for eighth in 0..8 {
        follows(&list, (95 + 35 * eighth, 130 + 35 * eighth), law);
    }
    follows(&list, (95, 379), law);
}

/// The same bursts with a program row that marks no packet, and the buffer's profile marking in its place.
#[test]
fn the_traffic_managers_own_marking_does_the_same_to_the_same_packets() {
    let profile = [
        ("kmin = \"1048576B\"", "kmin = \"99968B\""),
        ("kmax = \"2097152B\"", "kmax = \"399872B\""),
        ("pmax = 5", "pmax = 20"),
    ];
    let bench = Bench::new("ecn-mark", &[], &ChipSpec::tofino2());
    let kmin = bench.world.program.register_named("kmin").unwrap();
    let kmax = bench.world.program.register_named("kmax").unwrap();
    let never = Some(Element::single(1 << 20));
    let bench = [kmin, kmax]
        .into_iter()
        .fold(bench, |b, register| b.with(ControlOp::WriteRegister { register, index: None, value: never }));
    let theirs = bursts(&bench.under_buffer(&profile), 420, 60);
    let ours = bursts(&Bench::new("ecn-mark", &[], &ChipSpec::tofino2()), 420, 60);
    for part in [(95, 200), (200, 300), (300, 379)] {
        follows(&theirs, part, law);
        follows(&ours, part, law);
    }
    // Where no random draw is involved they are equal, packet by packet.
    let certain = |list: &[(u64, bool)]| -> Vec<(u64, bool)> {
        list.iter().copied().filter(|(behind, _)| !(95..=378).contains(behind)).collect()
    };
    assert_eq!(certain(&theirs), certain(&ours));
}

/// Thresholds change while packets flow: a register write, no new program. Pmax 0 marks no packet up to Kmax.
#[test]
fn thresholds_are_what_the_registers_hold() {
    let bench = Bench::new("ecn-mark", &[], &ChipSpec::tofino());
    let pmax = bench.world.program.register_named("pmax").unwrap();
    let kmax = bench.world.program.register_named("kmax").unwrap();
    let write = |register, value| ControlOp::WriteRegister {
        register,
        index: None,
        value: Some(Element::single(value)),
    };
    // Tofino's cells have 80 bytes, a packet takes 14.
    let bench = bench.with(write(pmax, 0)).with(write(kmax, 14 * 100));
    let list = bursts(&bench, 150, 3);
    assert!(list.iter().all(|(behind, marked)| *marked == (*behind > 100)), "{list:?}");
    // A row per speed: at 100G thresholds are four times those at 25G.
    let cells = |name: &str, row: u32| {
        let register = bench.world.program.register_named(name).unwrap();
        let catalogue = sluice_programs::catalogue();
        let shipped = catalogue.get("ecn-mark").unwrap();
        let setup = shipped.default_setup(&bench.world.program, &bench.world.ports).unwrap();
        setup.ops.iter().find_map(|op| match op {
            ControlOp::WriteRegister { register: r, index, value }
                if *r == register && *index == Some(row) =>
            {
                value.map(|v| v.lo)
            }
            _ => None,
        })
    };
    assert_eq!((cells("kmin", 1), cells("kmin", 4)), (Some(1_250), Some(5_000)));
    assert_eq!((cells("kmax", 1), cells("kmax", 4)), (Some(5_000), Some(20_000)));
    assert_eq!(cells("pmax", 4), Some((2_000u64 << 32) / 10_000));
}
