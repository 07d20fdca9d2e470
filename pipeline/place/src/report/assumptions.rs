//! Assumptions of a report: values of the chip that public sources do not give, and the placer's reading of rules that
//! these leave open.

use sluice_asic::chip::{Assumption, ChipSpec};
use sluice_ir::rows::has_ranges;
use sluice_ir::{Home, Intrinsic, Program};

/// Id, text, value and reason.
const PLACER: [(&str, &str, &str, &str); 9] = [
    (
        "report.action_slots",
        "Slot columns count the action bus outputs that are really used.",
        "counted",
        "the open tool prints 0 there (model: chip §1.4)",
    ),
    (
        "report.stash",
        "No stash units are used.",
        "0",
        "they serve the driver while it moves entries; compiled tables rarely have any (model: chip §3.1)",
    ),
    (
        "place.action_bus",
        "Output k of a size reads the bus bytes from k times its bytes.",
        "in order",
        "the only layout in which 32 outputs of 32 bits cover the 128 bytes (model: chip §1.2)",
    ),
    (
        "place.keyless",
        "A table without key takes a logical table and an exact result bus.",
        "1 bus",
        "it is a hash-action table with a fixed result (model: chip §3.6)",
    ),
    (
        "place.result_buses",
        "An exact table takes a result bus in its first row, ternary indirection one in every row.",
        "as counted",
        "the vendor log counts the first row of exact tables (model: chip §1.4)",
    ),
    (
        "place.counter_format",
        "Counters have 32-bit words, or 28 + 36 bits for packets and bytes.",
        "32 / 28+36",
        "the dense formats; software reads them before they overflow (model: chip §5)",
    ),
    (
        "place.hash_bits",
        "A hash bit belongs to one table; tables may use different bits of one group.",
        "per bit",
        "how tables may share matrix columns is not in the sources",
    ),
    (
        "place.overflow_rows",
        "Where the memory core is not split, arrays span up to six rows around their ALU.",
        "6 rows",
        "the limit is derived from the largest register of a public example (model: chip §4.5)",
    ),
    (
        "place.next_table",
        "A table or condition may have as many sets of successors as it needs.",
        "not counted",
        "the eight entries of a successor map (model: chip §3.7) serve hits; how misses and gateways use them is not public",
    ),
];

/// Assumptions for programs with registers.
const REGISTERS: [(&str, &str, &str, &str); 1] = [(
    "place.alu_hash",
    "Hash bits of a stateful ALU's operands share no byte of their hash group with others; its other bytes serve others.",
    "whole bytes",
    "the open compiler gives the group to one ALU alone while it searches; the bus is masked by bytes (model: chip §1.3)",
)];

/// Assumptions for programs with meters, low-pass filters or WRED.
const METERS: [(&str, &str, &str, &str); 2] = [
    (
        "place.meter_split",
        "A large meter is divided over at most two meter ALUs.",
        "2 ALUs",
        "the compiler splits large meters in two halves (model: chip §4.5)",
    ),
    (
        "meter.time",
        "Meters read the entry timestamp, in whole ns, as cycles; packets are charged when they enter.",
        "ns of entry",
        "the chip charges at the packet's end, whose cycle is not in the sources (model: chip §5, §12)",
    ),
];

/// Returns all assumptions, the chip's first.
pub(super) fn of(program: &Program, chip: &ChipSpec) -> Vec<Assumption> {
    let words = program.fields.values().any(|f| f.home == Home::Intrinsic(Intrinsic::AdvFlowCtl));
    let ghost = !program.ghost.is_empty();
    let concerns = |a: &&Assumption| {
        ["latency.", "mau.", "phv.", "parser.", "deparser.", "power.", "model."]
            .iter()
            .any(|area| a.id.starts_with(area))
            || words && a.id.starts_with("tm.afc_")
            || ghost && a.id.starts_with("tm.ghost_")
    };
    let registers = if program.registers.is_empty() { &[][..] } else { &REGISTERS[..] };
    let meters = if program.meters.is_empty() { &[][..] } else { &METERS[..] };
    let own = PLACER.iter().chain(registers).chain(meters).map(|(id, text, value, why)| Assumption {
        id: (*id).to_owned(),
        text: (*text).to_owned(),
        value: (*value).to_owned(),
        why: (*why).to_owned(),
    });
    let modulo = program.profiles.values().filter(|p| p.selector.as_ref().is_some_and(|s| !s.mode.on_chip()));
    let modulo = modulo.map(|p| Assumption {
        id: format!("selector.{}", p.name),
        text: format!(
            "Profile `{}` selects by plain modulo, which no chip has; it is counted as a fair selector.",
            p.name
        ),
        value: "not on the chip".to_owned(),
        why: "so that the choices of other switches can be reproduced; use fair or resilient for a chip"
            .to_owned(),
    });
    let tables = tables(program).into_iter();
    chip.assumptions.iter().filter(concerns).cloned().chain(own).chain(modulo).chain(tables).collect()
}

/// Returns the assumptions on memories that the program's tables use.
fn tables(program: &Program) -> Vec<Assumption> {
    let mut list = Vec::new();
    let mut add = |id: &str, text: &str, value: &str, why: &str| {
        let [id, text, value, why] = [id, text, value, why].map(str::to_owned);
        list.push(Assumption { id, text, value, why });
    };
    if program.tables.values().any(has_ranges) {
        add(
            "place.range_bits",
            "A field is compared by range if it has at most five nibbles; each takes a TCAM byte.",
            "20 bits",
            "a range takes 2n - 1 rows and the compiler plans no more than 8 (model: chip §3.2)",
        );
    }
    if program.tables.values().any(|t| t.idle.is_some()) {
        add(
            "place.idle_words",
            "A map RAM word holds 8, 4, 2 or 1 ages of 1, 2, 3 or 6 bits; idletime buses do not limit placement.",
            "8 / 4 / 2 / 1",
            "map RAMs of 11 bits hold the ages and 20 buses carry them (model: chip §1.2); the words are not public",
        );
    }
    if program.tables.values().any(|t| t.algorithmic.is_some()) {
        add(
            "place.atcam_bits",
            "An algorithmic TCAM stores value and mask of every key bit that is not exact, and has one chain of RAMs per \
             stage; the partition found by an ALPM's classifier crosses to the next stage without a PHV container.",
            "2 bits",
            "public sources give rows and columns, not the bits of an entry (model: chip §3.3)",
        );
    }
    list
}
