//! Counters of every kind and format: what they count, where they wrap, what they take.

use crate::registers::bench::{Ran, both_chips, placed};
use crate::registers::constructs::{Probe, frame, program};
use sluice_asic::chip::ChipSpec;
use sluice_build::*;
use sluice_exec::pass::Count;
use sluice_ir::Program;
use sluice_ir::text;
use sluice_ir::verify;
use sluice_place::report::Report;

fn cells<'r>(program: &Program, ran: &'r Ran, name: &str) -> &'r [Count] {
    let counter = program.counters.iter().find(|(_, c)| c.name == name).unwrap().0;
    &ran.state.counters[counter]
}

/// Six counters on one path: every kind, with default and with other cell settings.
#[stage_program]
fn six(ig: &GressBuilder<'_>, h: Hdr<Probe>) {
    let narrow = CounterCell { format: Some(CounterFormat::Both17And25), adjust: 8191, wraps: true };
    let packets = ig.counter(4, CounterKind::Packets);
    let bytes = ig.counter_with(4, CounterKind::Bytes, CounterCell { adjust: -4, ..CounterCell::default() });
    let wrapping = ig.counter_with(4, CounterKind::PacketsAndBytes, narrow);
    let whole = ig.counter_with(4, CounterKind::PacketsAndBytes, CounterCell { wraps: false, ..narrow });
    let first = ig.action(|a| {
        packets.count(h.slot);
        bytes.count(h.slot);
    });
    let second = ig.action(|a| {
        wrapping.count(1);
        whole.count(1);
    });
    /// Per entry, without the Ethernet header
    let entries_seen =
        ig.direct_counter_with(CounterKind::Bytes, CounterCell { adjust: -14, ..CounterCell::default() });
    let hit = ig.action(|a| entries_seen.count());
    let by_slot = ig
        .table([exact(h.slot)])
        .actions([hit])
        .counter(entries_seen)
        .entries(entries![(2) => hit, (3) => hit])
        .build();
    ig.control(|c| {
        first.call();
        second.call();
        by_slot.apply();
    });
}

#[test]
fn counters_wrap_at_their_width_only_where_cells_are_read() {
    let program = program(six);
    let frames: Vec<_> = (0..4100).map(|i| frame(0, i % 5, 0, 0)).collect();
    let ran = both_chips(&program, &frames);
    let per_slot = [820; 4].map(|packets| Count { packets, bytes: 0 });
    assert_eq!(cells(&program, &ran, "packets"), per_slot);
    assert_eq!(cells(&program, &ran, "bytes")[2], Count { packets: 0, bytes: 820 * 60 });
    let sum = 4100 * (64 + 8191);
    assert_eq!(cells(&program, &ran, "whole")[1], Count { packets: 4100, bytes: sum });
    assert_eq!(cells(&program, &ran, "wrapping")[1], Count { packets: 4100, bytes: sum - (1 << 25) });
    assert_eq!(cells(&program, &ran, "entries_seen"), [Count { packets: 0, bytes: 820 * 50 }; 2]);
}

fn declared(settings: &str) -> Program {
    let text = format!(
        "program p;
header h : ingress {{ bit<32> slot; }}
counter c : ingress {{ {settings} }}
action one : ingress () {{ count(c, h.slot); }}
parser ingress {{ start = first; state first {{ extract(h); transition accept; }} }}
control ingress {{ call one; }}
deparser ingress {{ emit(h); }}"
    );
    text::parse(&text).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn formats_take_the_rams_of_the_sheet() {
    // Entries per word 4, 2, 2, 1, 3 (model: chip §5), and a spare bank.
    for (settings, rams) in [
        ("kind = packets; size = 4096;", 2),
        ("kind = bytes; format = single_64; size = 4096;", 3),
        ("kind = packets_and_bytes; size = 4096;", 3),
        ("kind = packets_and_bytes; format = both_64; size = 4096;", 5),
        ("kind = packets_and_bytes; format = both_17_25; size = 6144;", 3),
    ] {
        for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
            let program = declared(settings);
            let report = Report::new(&program, &placed(&program, &chip));
            let [array] = &report.arrays[..] else { panic!("{:?}", report.arrays) };
            assert_eq!((array.srams, array.map_rams, array.alus.len()), (rams, rams, 1), "{settings}");
        }
    }
}

#[test]
fn formats_that_do_not_hold_what_is_counted_are_refused() {
    for (settings, golden) in [
        (
            "kind = packets_and_bytes; format = single_32; size = 4;",
            "error: counter `c`: a format of 32 bits holds one number, but the counter counts packets and bytes; use 28 + 36, 64 + 64 or 17 + 25 bits
  --> <text>:3:1
  = help: leave out the format to get the densest one",
        ),
        (
            "kind = bytes; size = 4; leaves_out = 9000;",
            "error: counter `c`: byte count adjustment -9000; it is -8192 to 8191
  --> <text>:3:1
  = help: leave out the format to get the densest one",
        ),
        (
            "kind = packets; size = 0;",
            "error: counter `c` has no cells
  --> <text>:3:1
  = help: give it at least one",
        ),
    ] {
        let found = verify::verify(&declared(settings));
        let errors: Vec<String> = found
            .iter()
            .filter(|d| d.severity == verify::Severity::Error)
            .map(ToString::to_string)
            .collect();
        assert_eq!(errors, [golden], "{}", errors.join("\n"));
    }
}
