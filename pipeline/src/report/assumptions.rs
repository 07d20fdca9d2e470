//! What a report assumes: the chip's values that public sources do not give, and the placer's reading of
//! rules that they leave open. What may not live here: the values themselves.

use crate::ir::{Home, Intrinsic, Program};
use sluice_asic::chip::{Assumption, ChipSpec};

/// Id, text, value, why.
const PLACER: [(&str, &str, &str, &str); 9] = [
    (
        "report.action_slots",
        "Slot columns count the action bus outputs that are really used.",
        "counted",
        "the open tool prints 0 there (facts: asic §1.4)",
    ),
    (
        "report.stash",
        "No stash units are used.",
        "0",
        "they serve the driver while it moves entries; compiled tables rarely have any (facts: asic §3.1)",
    ),
    (
        "place.action_bus",
        "Output k of a size reads the bus bytes from k times its bytes.",
        "in order",
        "the only layout in which 32 outputs of 32 bits cover the 128 bytes (facts: asic §1.2)",
    ),
    (
        "place.keyless",
        "A table without key takes a logical table and an exact result bus.",
        "1 bus",
        "it is a hash-action table with a fixed result (facts: asic §3.6)",
    ),
    (
        "place.result_buses",
        "An exact table takes a result bus in its first row, ternary indirection one in every row.",
        "as counted",
        "the vendor log counts the first row of exact tables (facts: asic §1.4)",
    ),
    (
        "place.counter_format",
        "Counters have 32-bit words, or 28 + 36 bits for packets and bytes.",
        "32 / 28+36",
        "the dense formats; software reads them before they overflow (facts: asic §5)",
    ),
    (
        "place.hash_bits",
        "A hash bit belongs to one table; tables may use different bits of one group.",
        "per bit",
        "how tables may share matrix columns is not in the sources",
    ),
    (
        "place.overflow_rows",
        "Where the memory core is not split, counters and selectors span up to five rows around their ALU.",
        "5 rows",
        "the exact limit is not found (facts: asic §4.5, §12)",
    ),
    (
        "place.next_table",
        "Next-table codes and long-branch tags do not limit placement.",
        "not counted",
        "no report column shows them (facts: asic §3.7)",
    ),
];

/// Everything assumed, the chip's list first.
pub(super) fn of(program: &Program, chip: &ChipSpec) -> Vec<Assumption> {
    let words = program.fields.values().any(|f| f.home == Home::Intrinsic(Intrinsic::AdvFlowCtl));
    let ghost = !program.ghost.is_empty();
    let concerns = |a: &&Assumption| {
        ["latency.", "mau.", "phv.", "parser.", "deparser."].iter().any(|area| a.id.starts_with(area))
            || words && a.id.starts_with("tm.afc_")
            || ghost && a.id.starts_with("tm.ghost_")
    };
    let own = PLACER.iter().map(|(id, text, value, why)| Assumption {
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
    chip.assumptions.iter().filter(concerns).cloned().chain(own).chain(modulo).collect()
}
