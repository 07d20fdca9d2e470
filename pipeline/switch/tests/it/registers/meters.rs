//! Meters, filters, WRED and random numbers: small programs with the bytes that they must write.

use crate::registers::bench::{both_chips, placed};
use crate::registers::constructs::{Probe, frame, outs, program};
use sluice_asic::chip::ChipSpec;
use sluice_asic::units::Duration;
use sluice_build::*;
use sluice_exec::pass::State;
use sluice_ir::meter_array::{MeterArray, Origin, Question};
use sluice_ir::{MeterConfig, Program};

/// Colour, plain and after the packet's own.
#[stage_program]
fn police(ig: &GressBuilder<'_>, h: Hdr<Probe>) {
    /// Two packets per microsecond, bursts of two; twice that at peak
    let per_flow = ig.meter(MeterKind::Packets, cells(8).rates(2_000_000, 2, 4_000_000, 4));
    ig.control(|c| match h.kind {
        0 => h.out = per_flow.execute(h.slot),
        _ => h.out = per_flow.execute(h.slot).with(h.b.slice::<1, 0, 2>()),
    });
}

#[test]
fn a_meter_colours_by_two_rates_and_never_improves_a_colour() {
    let program = program(police);
    // The bench sends a packet per microsecond. Slot 0 admits its rate, and slot 1 does so independently; the last
    // access names no cell.
    let slow: Vec<_> = (0..6).map(|_| frame(0, 0, 0, 0)).collect();
    assert_eq!(outs(&program, &slow).0, [0; 6]);
    let own: Vec<_> = [0, 1, 3, 2, 0].map(|colour| frame(1, 1, 0, colour)).to_vec();
    assert_eq!(outs(&program, &own).0, [0, 1, 3, 1, 0]);
    assert_eq!(outs(&program, &[frame(1, 8, 0, 3)]).0, [0]);
}

#[stage_program]
fn bytes_policed(ig: &GressBuilder<'_>, h: Hdr<Probe>) {
    /// 8 Mb/s are one byte per microsecond: a packet of 64 bytes takes 64 of them
    let link = ig.meter(MeterKind::Bytes, cells(4).rates(8_000_000, 100, 16_000_000, 200));
    ig.control(|c| h.out = link.execute(2));
}

#[test]
fn a_byte_meter_goes_from_green_over_yellow_to_red() {
    let program = program(bytes_policed);
    let found = outs(&program, &vec![frame(0, 0, 0, 0); 9]).0;
    // Committed: 100 - 64 = 36, -28 (+1 per packet); peak: 200 - 4 * 64 + 2 per packet falls below 0 after the
    // fourth packet.
    assert_eq!(found, [0, 0, 1, 1, 3, 3, 3, 3, 3]);
}

#[stage_program]
fn per_entry_meter(ig: &GressBuilder<'_>, h: Hdr<Probe>) {
    /// Three packets, then red for a long time
    let once = ig.meter(MeterKind::Packets, meter_per_entry().rates(2_000, 2, 2_000, 2));
    let mark = ig.action(|a| h.out = once.at_entry());
    let missed = ig.action(|a| h.out = 7);
    let policed = ig
        .table([exact(h.slot)])
        .actions([mark])
        .default(missed)
        .meter(once)
        .entries(entries![(5) => mark, (6) => mark])
        .build();
    ig.control(|c| policed.apply());
}

#[test]
fn a_direct_meter_has_a_cell_per_entry() {
    let program = program(per_entry_meter);
    let frames = [5, 5, 6, 5, 5, 9, 6, 6, 5, 6].map(|slot| frame(0, slot, 0, 0));
    // Levels 2, 1, 0, -1: the fourth packet of an entry is red.
    assert_eq!(outs(&program, &frames).0, [0, 0, 0, 0, 3, 7, 0, 0, 3, 3]);
}

fn spec(mode: LpfMode, time: u64) -> LpfSpec {
    let time = Duration::from_micros(time);
    LpfSpec { mode, rise: time, fall: time, shift: 0 }
}

#[stage_program]
fn filters(ig: &GressBuilder<'_>, h: Hdr<Probe>) {
    let smooth = ig.meter(MeterKind::Lpf, cells(16).lpf(spec(LpfMode::Sample, 8)));
    let rate = ig.meter(MeterKind::Lpf, cells(16).lpf(spec(LpfMode::Rate, 1000)));
    ig.control(|c| match h.kind {
        0 => h.out = smooth.execute(h.slot).with(h.a),
        _ => h.out = rate.execute(h.slot).with(h.a),
    });
}

#[test]
fn filters_average_samples_and_sum_rates() {
    let program = program(filters);
    let samples: Vec<_> = (0..40).map(|_| frame(0, 3, 10_000, 0)).collect();
    let found = outs(&program, &samples).0;
    assert!(found.windows(2).all(|w| w[0] <= w[1]), "{found:?}");
    // After five time constants less than 2 % are missing.
    assert!((9_800..=10_000).contains(&found[39]), "{found:?}");
    let sums: Vec<_> = (0..10).map(|_| frame(1, 3, 100, 0)).collect();
    let found = outs(&program, &sums).0;
    assert_eq!(found[0], 100);
    assert!((950..=1000).contains(&found[9]), "{found:?}");
}

#[stage_program]
fn early_drop(ig: &GressBuilder<'_>, h: Hdr<Probe>) {
    let red = ig.meter(MeterKind::Wred, cells(4).wred(1_000, 9_000, 100, Some(spec(LpfMode::Sample, 1))));
    ig.control(|c| h.out = red.execute(h.slot).with(h.a));
}

#[test]
fn wred_keeps_below_drops_above_and_draws_between() {
    let program = program(early_drop);
    let share = |length: u32| {
        let frames: Vec<_> = (0..400).map(|_| frame(0, 1, length, 0)).collect();
        outs(&program, &frames).0.iter().skip(100).sum::<u32>()
    };
    assert_eq!((share(900), share(20_000)), (0, 300));
    // Half way up the slope half of 300 packets; five standard deviations are 43.
    let middle = share(5_000);
    assert!(middle.abs_diff(150) < 43, "{middle}");
}

#[stage_program]
fn dice(ig: &GressBuilder<'_>, h: Hdr<Probe>) {
    let six_bits = ig.random::<32>();
    let other = ig.random::<32>();
    ig.control(|c| {
        h.out = six_bits.get();
        if h.kind == 0 {
            h.b = other.get();
        }
    });
}

#[test]
fn a_generator_gives_its_stream_in_entry_order() {
    let program = program(dice);
    let frames: Vec<_> = (0..200).map(|i| frame(i % 3, 0, 0, 0)).collect();
    let (found, ran) = outs(&program, &frames);
    let origin = Origin::default();
    let data = program.randoms.values().next().unwrap();
    let mut stream = origin.stream(data.gress, 0);
    let expected: Vec<u32> = (0..200).map(|_| stream.draw(32) as u32).collect();
    assert_eq!(found, expected);
    // The other generator moves on in passes that do not draw from it.
    let mut stream = origin.stream(data.gress, 1);
    for (i, (_, bytes)) in ran.packets.iter().enumerate() {
        let number = stream.draw(32) as u32;
        let b = u32::from_be_bytes(bytes[7..11].try_into().unwrap());
        assert_eq!(b, if i % 3 == 0 { number } else { 0 }, "packet {i}");
    }
    assert_ne!(State::new(&program, &Origin { seed: 2, ..origin }), State::new(&program, &origin));
}

/// Two tables and two actions access one meter, so that a batch mixes them.
#[stage_program]
fn shared_meter(ig: &GressBuilder<'_>, h: Hdr<Probe>) {
    let link = ig.meter(MeterKind::Bytes, cells(4).rates(8_000_000, 100, 16_000_000, 200));
    let low = ig.action(|a| h.out = link.execute(0));
    let high = ig.action(|a| h.out = link.execute(h.slot));
    let by_kind =
        ig.table([exact(h.kind)]).actions([low, high]).entries(entries![(1) => high, (2) => low]).build();
    let by_slot = ig.table([exact(h.slot)]).actions([high]).entries(entries![(0) => high]).build();
    ig.control(|c| {
        if h.a == 0 {
            by_kind.apply();
        } else {
            by_slot.apply();
        }
    });
}

#[test]
fn tables_that_exclude_each_other_share_a_meter_of_one_stage() {
    let program = program(shared_meter);
    let frames: Vec<_> = (0..60u8).map(|i| frame(1 + i % 2, 0, u32::from(i % 3 == 0), 0)).collect();
    let (found, _) = outs(&program, &frames);
    assert_eq!(found[..6], [0, 0, 1, 1, 3, 3]);
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let placement = placed(&program, &chip);
        let report = sluice_place::report::Report::new(&program, &placement);
        let array = report.arrays.iter().find(|a| a.name == "link").unwrap();
        assert_eq!((array.kind, array.users.len(), array.alus.len()), ("meter", 2, 1));
        // One RAM and a spare, and a map RAM of colours (model: chip §5).
        assert_eq!((array.srams, array.map_rams), (2, 3));
    }
}

fn array(kind: MeterKind, initial: Option<MeterConfig>) -> MeterArray {
    let program: Program = program(|ig, h| {
        ig.named("m", "");
        let size = MeterSize::from(2);
        let meter = ig.meter(kind, size);
        ig.control(|c| c.set(h.out, meter.execute(0).with(h.a.slice::<1, 0, 2>())));
    });
    let data = sluice_ir::MeterData { initial, ..program.meters.values().next().unwrap().clone() };
    MeterArray::new(&data, 2, 0, &Origin::default())
}

#[test]
fn an_open_cell_gives_back_what_it_is_asked_with() {
    let question = Question { now: 5, bytes: 1500, input: 3 };
    assert_eq!(array(MeterKind::Bytes, None).ask(0, question), 3);
    assert_eq!(array(MeterKind::Lpf, None).ask(1, question), 3);
    assert_eq!(array(MeterKind::Wred, None).ask(1, question), 0);
    assert_eq!(array(MeterKind::Lpf, None).ask(2, question), 0);
}

#[test]
fn wred_without_an_average_is_for_tofino_2_only() {
    let text = "program p;
        header h : ingress { bit<32> a; bit<32> out; }
        meter red : ingress { kind = wred; size = 8; initial = wred(10, 20, 50); }
        action ask : ingress () { h.out = meter(red, 32w3, h.a); }
        parser ingress { start = first; state first { extract(h); transition accept; } }
        control ingress { call ask; }
        deparser ingress { emit(h); }";
    let program = sluice_ir::text::parse(text).unwrap();
    let found = |chip: &ChipSpec| sluice_ir::verify::for_chip(&program, chip);
    assert!(found(&ChipSpec::tofino2()).is_empty());
    let text = found(&ChipSpec::tofino())[0].to_string();
    assert!(
        text.contains(
            "meter `red` has an initial configuration that tofino does not support: WRED without an average"
        ),
        "{text}"
    );
}

#[test]
fn samples_of_open_filters_pass_both_engines() {
    let program = program(|ig, h| {
        ig.named("open", "");
        let filter = ig.meter(MeterKind::Lpf, 4);
        ig.control(|c| c.set(h.out, filter.execute(h.slot).with(h.a)));
    });
    let ran = both_chips(&program, &[frame(0, 1, 77, 0), frame(0, 4, 77, 0)]);
    let out = |i: usize| u32::from_be_bytes(ran.packets[i].1[11..15].try_into().unwrap());
    assert_eq!((out(0), out(1)), (77, 0));
}

/// More entries than one stage holds: each part of the table has separate cells.
#[test]
fn a_table_with_a_direct_meter_may_be_split_over_stages() {
    let source = "program split;
        header h : ingress { bit<32> key; bit<8> colour; }
        meter each : ingress { kind = bytes; direct = flows; }
        action mark : ingress () { h.colour = meter(each, @entry); }
        table flows : ingress {
            key = { h.key : exact; }
            actions = { mark; }
            default_action = mark();
            size = 60000;
        }
        parser ingress { start = first; state first { extract(h); transition accept; } }
        control ingress { apply flows; }
        deparser ingress { emit(h); }";
    let program = sluice_ir::text::parse(source).unwrap_or_else(|e| panic!("{e}"));
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let placement = placed(&program, &chip);
        assert_eq!(sluice_place::verify(&program, &placement), []);
        let parts: Vec<u32> =
            placement.gresses[0].nodes.values().flat_map(|n| &n.parts).map(|p| p.entries).collect();
        assert!(parts.len() > 1 && parts.iter().sum::<u32>() >= 60_000, "{parts:?}");
        let report = sluice_place::report::Report::new(&program, &placement);
        // One RAM holds 1024 cells (model: chip §5), and every ALU has a spare bank.
        let rams: u32 = parts.iter().map(|entries| entries.div_ceil(1024)).sum();
        let array = &report.arrays[0];
        assert_eq!(array.srams, rams + array.alus.len() as u32);
    }
}
