//! Arrays in reports and traces.

use crate::registers::bench::placed;
use crate::registers::constructs::{Probe, frame, program};
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_build::*;
use sluice_control::ControlState;
use sluice_exec::packet::{HeadLayout, PacketStore};
use sluice_exec::pass::{Executor, Pass, PassIn};
use sluice_exec::reference::{Options, Reference, TextTracer};
use sluice_place::report::Report;
use sluice_report::{json, text};

#[stage_program]
fn everything(ig: &GressBuilder<'_>, h: Hdr<Probe>) {
    let flowlet = ig.register_pair::<32>(4096);
    let touch = ig.register_action(flowlet, |r| {
        if h.a - r.lo > 1000 {
            r.hi = h.b;
        }
        r.lo = h.a;
        r.out = r.hi;
    });
    let police = ig.meter(MeterKind::Bytes, cells(5000).rates(8_000_000, 100, 16_000_000, 200));
    let dice = ig.random::<8>();
    ig.control(|c| {
        h.out = touch.execute(h.slot);
        h.b = police.execute(h.slot);
        h.kind = dice.get();
    });
}

#[test]
fn the_report_lists_arrays_alus_and_instructions() {
    let program = program(everything);
    let report = Report::new(&program, &placed(&program, &ChipSpec::tofino2()));
    let shown = text(&report);
    let section: Vec<&str> =
        shown.lines().skip_while(|l| *l != "Arrays").take_while(|l| !l.is_empty()).collect();
    // 4096 pairs of 64 bits: 2 per word, 2 RAMs and a spare; 5000 meters: 5 RAMs and a spare, 2 map RAMs of colours.
    assert!(section[2].starts_with("  flowlet  ingress  register  32x2   4096"), "{section:#?}");
    assert!(section[3].starts_with("  police   ingress  meter     bytes  5000"), "{section:#?}");
    assert_eq!(
        section[4..],
        [
            "  flowlet: 1 instruction, 1 register file row",
            "    touch: 1 cmp, 2 phv, lo 1 value, hi 1 value, out = alu_hi"
        ]
    );
    let value = json(&report);
    let arrays = value["arrays"].as_array().unwrap();
    let rams = |i: usize| (arrays[i]["srams"].as_u64().unwrap(), arrays[i]["map_rams"].as_u64().unwrap());
    assert_eq!((rams(0), rams(1)), ((3, 3), (6, 8)));
    assert_eq!(arrays[0]["instructions"][0]["action"], "touch");
    assert_eq!(arrays[0]["alus"].as_array().unwrap().len(), 1);
    assert!(shown.contains("meter.time = ns of entry"));
}

#[test]
fn the_trace_shows_elements_before_and_after() {
    let program = program(everything);
    let control = ControlState::new(&program);
    let mut reference = Reference::traced(&program, &control, Options::default(), TextTracer::default());
    let mut store = PacketStore::new(HeadLayout::default());
    for (now, member) in [(5000, 7), (5500, 8)] {
        let packet = store.insert(&frame(0, 2, now, member), 0);
        let input = PassIn { port: 8, global_tstamp: u64::from(now), ..PassIn::default() };
        reference.run(Gress::Ingress, &mut [Pass::new(packet, input)], &mut store);
    }
    let text = &reference.tracer().text;
    for wanted in [
        "register 'flowlet'[2] by 'touch': (0x0, 0x0) -> (0x1388, 0x7), out 0x7",
        "register 'flowlet'[2] by 'touch': (0x1388, 0x7) -> (0x157c, 0x7), out 0x7",
        "meter 'police'[2]: green -> green",
        "random 'dice' = 0x",
    ] {
        assert!(text.contains(wanted), "{wanted}:\n{text}");
    }
}
